// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of a socket's units, from Sapphire Rapids on: which memory channels there are, and
 * where their registers are. A PCI capability, mostly of 8086:09a7, leads to it. The kernel's
 * intel_vsec may have that function, so here it is only read:
 * Documentation/hardware/intel_imc.md, 15.
 *
 * The table is written by firmware, so it is not trusted. If a record cannot be right, the reason
 * is logged and its channel gets no PMU; the other channels do.
 */
#include <linux/bitfield.h>
#include <linux/export.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/pci.h>

#include <pmu/compat.h>

#include "intel_imc.h"

/* Words of 64 bits. The first record is the socket's, the others are of a unit each. */
#define TABLE_STRIDE		GENMASK_ULL(15, 8)	/* words that a record has */
#define TABLE_RECORDS		GENMASK_ULL(25, 16)	/* after the first */
#define RECORD_WORDS		3			/* words of a record that have a meaning */
#define UNIT_COUNTERS		GENMASK_ULL(7, 0)
#define UNIT_CTL		GENMASK_ULL(15, 8)
#define UNIT_WIDTH		GENMASK_ULL(23, 16)
#define UNIT_CTR		GENMASK_ULL(31, 24)
#define UNIT_ACCESS		GENMASK_ULL(63, 62)
#define   UNIT_ACCESS_MEMORY		1
#define UNIT_TYPE		GENMASK_ULL(15, 0)
#define   UNIT_TYPE_CHANNEL		6
#define UNIT_NUMBER		GENMASK_ULL(31, 16)

/* Physical addresses from here on do not exist on any processor */
#define MAX_ADDRESS		BIT_ULL(52)

/* The capability */
#define TABLE_VENDOR		0x04
#define   TABLE_VENDOR_ID		GENMASK(15, 0)
#define TABLE_ENTRY		0x08
#define   TABLE_ENTRY_KIND		GENMASK(15, 0)
#define   TABLE_ENTRY_UNITS		1
#define TABLE_BAR		0x0c

/* As many capabilities as there is room for */
#define MAX_CAPABILITIES	((PCI_CFG_SPACE_EXP_SIZE - PCI_CFG_SPACE_SIZE) / 8)

/* As large as a table can be: 1024 records of 255 words */
#define MAX_TABLE_SIZE		(1024 * 255 * sizeof(u64))

struct intel_imc_pci_table {
	struct intel_imc_table table;
	struct pci_dev *pdev;
	void __iomem *regs;
};

/* Returns what is wrong with a record of a memory channel, or NULL. */
static const char *intel_imc_unit_fault(u64 registers, u64 address, u64 number)
{
	if (FIELD_GET(UNIT_ACCESS, registers) != UNIT_ACCESS_MEMORY)
		return "its registers are not in memory";
	if (FIELD_GET(UNIT_COUNTERS, registers) != INTEL_IMC_GENERAL_COUNTERS ||
	    FIELD_GET(UNIT_CTL, registers) != INTEL_IMC_ICX_CTL0 ||
	    FIELD_GET(UNIT_CTR, registers) != INTEL_IMC_ICX_CTR0 ||
	    FIELD_GET(UNIT_WIDTH, registers) != INTEL_IMC_COUNTER_WIDTH)
		return "its registers are not those of a channel";
	if (!address || address % sizeof(u64) || address >= MAX_ADDRESS - INTEL_IMC_BLOCK_SIZE)
		return "its address cannot be right";
	if (number > INTEL_IMC_MAX_NUMBER)
		return "its number is too large";
	return NULL;
}

/* Returns why a channel contradicts those that were found before it, or NULL. */
static const char *intel_imc_unit_clash(const struct intel_imc_units *units, u64 address,
					u64 number)
{
	for (unsigned int i = 0; i < units->nr; i++) {
		if (units->unit[i].number == number)
			return "another one has its number";
		if (address < units->unit[i].block + INTEL_IMC_BLOCK_SIZE &&
		    units->unit[i].block < address + INTEL_IMC_BLOCK_SIZE)
			return "another one has its address";
	}
	return units->nr < INTEL_IMC_MAX_UNITS ? NULL : "there are too many";
}

/* @bad: how many records of channels in this table cannot be right */
static void intel_imc_parse_record(const struct intel_imc_table *table, unsigned int record,
				   size_t at, struct intel_imc_units *units, unsigned int *bad)
{
	u64 kind = table->word(table, at + 2);
	u64 registers, address, number = FIELD_GET(UNIT_NUMBER, kind);
	const char *why;

	if (FIELD_GET(UNIT_TYPE, kind) != UNIT_TYPE_CHANNEL)
		return;
	registers = table->word(table, at);
	address = table->word(table, at + 1);
	why = intel_imc_unit_fault(registers, address, number) ?:
	      intel_imc_unit_clash(units, address, number);
	if (why) {
		if (++*bad == INTEL_IMC_MAX_UNITS)
			why = "it is one of many that cannot be right: no more is said of these";
		if (*bad <= INTEL_IMC_MAX_UNITS)
			table->complain(table, record, why);
		return;
	}
	units->unit[units->nr++] = (struct intel_imc_unit){ .block = address, .number = number };
}

/**
 * intel_imc_table_parse() - the memory channels of a table.
 * @table: the table
 * @units: the channels are added to these; some may be of an earlier table
 *
 * No word outside the table is read. A table full of bad records does not fill the log.
 *
 * Context: any, if the table's verbs are for any.
 */
void intel_imc_table_parse(const struct intel_imc_table *table, struct intel_imc_units *units)
{
	unsigned int bad = 0;
	size_t stride, records;
	u64 first;

	if (table->words < RECORD_WORDS) {
		table->complain(table, 0, "there is no room for it");
		return;
	}
	first = table->word(table, 0);
	stride = FIELD_GET(TABLE_STRIDE, first);
	records = FIELD_GET(TABLE_RECORDS, first);
	if (first == U64_MAX || stride < RECORD_WORDS) {
		table->complain(table, 0, "it is not a table");
		return;
	}
	for (size_t n = 1; n <= records; n++) {
		if (n * stride + RECORD_WORDS > table->words) {
			table->complain(table, n, "it is outside the memory, as are all after it");
			return;
		}
		intel_imc_parse_record(table, n, n * stride, units, &bad);
	}
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_table_parse);

static u64 intel_imc_pci_table_word(const struct intel_imc_table *table, size_t n)
{
	const struct intel_imc_pci_table *pci =
		container_of(table, struct intel_imc_pci_table, table);

	return readq(pci->regs + n * sizeof(u64));
}

static void intel_imc_pci_table_complain(const struct intel_imc_table *table, unsigned int record,
					 const char *why)
{
	struct pci_dev *pdev = container_of(table, struct intel_imc_pci_table, table)->pdev;

	if (record)
		pci_err(pdev, "table of counters, record %u: %s: no PMU for this channel\n",
			record, why);
	else
		pci_err(pdev, "table of counters: %s: no PMU for the memory channels in it\n", why);
}

/* The table that the capability at @cap leads to */
static void intel_imc_read_table(struct pci_dev *pdev, int cap, struct intel_imc_units *units)
{
	struct intel_imc_pci_table table = {
		.table = {
			.word = intel_imc_pci_table_word, .complain = intel_imc_pci_table_complain,
		},
		.pdev = pdev,
	};
	resource_size_t size;
	u16 command;
	u32 bar;

	if (pci_read_config_dword(pdev, cap + TABLE_BAR, &bar) || bar >= PCI_STD_NUM_BARS ||
	    !(pci_resource_flags(pdev, bar) & IORESOURCE_MEM) || !pci_resource_start(pdev, bar)) {
		table.table.complain(&table.table, 0, "it is in no base address register");
		return;
	}
	if (pci_read_config_word(pdev, PCI_COMMAND, &command) || !(command & PCI_COMMAND_MEMORY)) {
		table.table.complain(&table.table, 0, "the function's memory is off");
		return;
	}
	size = min_t(resource_size_t, pci_resource_len(pdev, bar), MAX_TABLE_SIZE);
	table.regs = ioremap(pci_resource_start(pdev, bar), size);
	if (!table.regs)
		return;
	table.table.words = size / sizeof(u64);
	intel_imc_table_parse(&table.table, units);
	iounmap(table.regs);
}

/* The function that has the table on most processors. It is another driver's. */
#define TABLE_DEVICE		0x09a7

/* Any other function may have a capability that another vendor defines, with the same number. */
static bool intel_imc_is_entry(struct pci_dev *pdev, int cap)
{
	u32 vendor, entry;

	return !pci_read_config_dword(pdev, cap + TABLE_VENDOR, &vendor) &&
	       (pdev->device == TABLE_DEVICE ||
		FIELD_GET(TABLE_VENDOR_ID, vendor) == PCI_VENDOR_ID_INTEL) &&
	       !pci_read_config_dword(pdev, cap + TABLE_ENTRY, &entry) &&
	       FIELD_GET(TABLE_ENTRY_KIND, entry) == TABLE_ENTRY_UNITS;
}

/*
 * The next capability of a table, by its offset, beyond @cap; or 0. The list of capabilities may
 * be in any order, and lead back to an earlier one.
 */
static int intel_imc_next_entry(struct pci_dev *pdev, int cap)
{
	int at = 0, next = 0;

	for (int left = MAX_CAPABILITIES; left; left--) {
		at = pci_find_next_ext_capability(pdev, at, PCI_EXT_CAP_ID_DVSEC);
		if (!at)
			break;
		if (at > cap && (!next || at < next) && intel_imc_is_entry(pdev, at))
			next = at;
	}
	return next;
}

/**
 * intel_imc_next_table() - go through the functions that have a table.
 * @pdev: the last one, which is put; NULL: begin
 *
 * If none has the id that is known, the table may be in any function of Intel, as for the in-tree
 * driver.
 *
 * Context: may sleep.
 * Return: the next one, or NULL.
 */
struct pci_dev *intel_imc_next_table(struct pci_dev *pdev)
{
	struct pci_dev *known = pci_get_device(PCI_VENDOR_ID_INTEL, TABLE_DEVICE, NULL);
	unsigned int id = known && intel_imc_next_entry(known, 0) ? TABLE_DEVICE : PCI_ANY_ID;

	pci_dev_put(known);
	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL, id, pdev)))
		if (intel_imc_next_entry(pdev, 0))
			break;
	return pdev;
}

/**
 * intel_imc_table_socket() - the socket of a function with a table.
 * @pdev: the function
 * @part: the generation
 *
 * Context: may sleep.
 * Return: as intel_imc_socket_of_table()
 */
int intel_imc_table_socket(struct pci_dev *pdev, const struct intel_imc_part *part)
{
	struct pci_dev *second = intel_imc_next_table(intel_imc_next_table(NULL));

	pci_dev_put(second);
	return intel_imc_socket_of_table(pdev, part, !second);
}

/**
 * intel_imc_discover() - the memory channels of a socket, as its tables have them.
 * @part: the generation
 * @socket: as intel_imc_socket_of() returned it
 * @units: set to the channels; none if no table has one
 *
 * Context: may sleep.
 */
void intel_imc_discover(const struct intel_imc_part *part, int socket,
			struct intel_imc_units *units)
{
	struct pci_dev *pdev = NULL;

	units->nr = 0;
	while ((pdev = intel_imc_next_table(pdev)))
		if (intel_imc_table_socket(pdev, part) == socket)
			for (int cap = 0; (cap = intel_imc_next_entry(pdev, cap));)
				intel_imc_read_table(pdev, cap, units);
}
