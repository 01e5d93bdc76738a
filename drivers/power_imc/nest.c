// SPDX-License-Identifier: GPL-2.0-only
/*
 * nest_*_imc: what a microcode of each chip collects outside the cores and adds to
 * counters in HOMER. A box per chip; all units of a chip share its microcode, which runs
 * while one of them is used.
 */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <asm/reg.h>
#include <asm/smp.h>
#include <asm/time.h>

#include "power_imc.h"

/*
 * How long a read waits, with interrupts off, for the microcode to finish an update, which is some
 * tens of additions. After that the read goes on: each counter is whole, but counters that are read
 * together may be of two updates.
 */
#define POWER_IMC_NEST_PATIENCE_US	100

/* Of a chip without threads. */
#define POWER_IMC_NO_PIR	U32_MAX

/*
 * Within this time the microcode posts every group at least once at speed 0: a phb of POWER9 takes
 * 12 ms. The next speeds take at most twice as long each; those behind the last also change scales.
 * POWER10 posts as often at each speed, with the same scales.
 */
#define POWER_IMC_NEST_POST_MS	20
#define POWER_IMC_NEST_LAST_SPEED	3

/* A unit on a chip. */
struct power_imc_nest {
	struct power_imc_chip *chip;
	enum power_imc_generation generation;
	u32 size;			/* of the unit */
	int group;			/* the group that snapshot has in this pass, or -1 */
	__be64 snapshot[POWER_IMC_NEST_GROUP_SIZE / sizeof(u64)];
};

/*
 * The group that a nest counter is posted with, or -1 if the microcode does not tell when it
 * updates it. @size is the unit's by the catalog, which may cut a group.
 */
int power_imc_nest_group(enum power_imc_generation generation, u32 offset, u64 size)
{
	u32 group = offset / POWER_IMC_NEST_GROUP_SIZE, inside = offset % POWER_IMC_NEST_GROUP_SIZE;

	if (generation != POWER_IMC_P9 || group >= POWER_IMC_NEST_GROUPS ||
	    (group + 1) * POWER_IMC_NEST_GROUP_SIZE > size ||
	    !inside || inside == POWER_IMC_NEST_GROUP_TAIL)
		return -1;
	return group;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_nest_group);

/*
 * Which units a chip's microcode collects: bits of its availability, by the first of a kind.
 * POWER10 has no bits for kinds of links, but for each link what it is.
 */
struct power_imc_nest_kind {
	const char *name;
	u8 first, number;
	u8 link;		/* what the link has to be, or 0 */
	u8 each;		/* how many one has, of names with two numbers, or 0 */
};

static const struct power_imc_nest_kind power_imc_p9_kinds[] = {
	{ "powerbus", 0, 1 }, { "mcs", 1, 8 }, { "mba", 9, 8 }, { "centaur", 17, 8 },
	{ "xlink", 25, 3 }, { "mcd", 28, 2 }, { "phb", 30, 6 }, { "nx", 36, 1 }, { "capp", 37, 2 },
	{ "vas", 39, 1 }, { "int", 40, 1 }, { "alink", 41, 4 }, { "nvlink", 45, 6 },
	{ }
};

static const struct power_imc_nest_kind power_imc_p10_kinds[] = {
	{ "pb", 0, 1 }, { "mcs", 1, 8 }, { "pec", 9, 2 }, { "phb", 35, 6, .each = 3 },
	{ "ocmb", 41, 16 }, { "nx", 57, 1 }, { "xlink", 0, 8, 5 }, { "alink", 0, 8, 6 },
	{ "otl", 0, 8, 7 },
	{ }
};

static bool power_imc_nest_has_one(const struct power_imc_nest_kind *kind, unsigned int i,
				   u64 available)
{
	if (i >= kind->number)
		return false;
	return kind->link ? POWER_IMC_NEST_LINK(available, i) == kind->link :
			    available & POWER_IMC_NEST_HAS(kind->first + i);
}

/*
 * Does a chip have any of what a unit such as nest_mcs01_imc counts, by the availability of its
 * control block? If that is 0 or the unit or processor is not known, it counts as there.
 */
bool power_imc_nest_has(enum power_imc_generation generation, const char *name, u64 available)
{
	const struct power_imc_nest_kind *kind = generation == POWER_IMC_P9 ? power_imc_p9_kinds :
						 power_imc_p10_kinds;
	size_t letters, digits;
	unsigned int which = 0;
	bool has = false;

	name += strlen("nest_");
	letters = strcspn(name, "0123456789_");
	digits = strspn(name + letters, "0123456789");
	while (kind->name && (strlen(kind->name) != letters || strncmp(kind->name, name, letters)))
		kind++;
	if (generation == POWER_IMC_UNKNOWN || !available || !kind->name ||
	    name[letters + digits] != '_')
		return true;
	for (size_t i = letters; i < letters + digits; i++)
		which = 10 * which + name[i] - '0';
	/* phb1_2 is the third of the second controller. */
	if (kind->each && isdigit(name[letters + digits + 1]))
		which = kind->each * which + name[letters + digits + 1] - '0';
	/* Two digits are one number, or two: mcs01, but ocmb10. */
	if (digits == 2 && kind->number <= 10)
		return power_imc_nest_has_one(kind, which / 10, available) ||
		       power_imc_nest_has_one(kind, which % 10, available);
	if (digits)
		return power_imc_nest_has_one(kind, which, available);
	for (unsigned int i = 0; i < kind->number; i++)
		has |= power_imc_nest_has_one(kind, i, available);
	return has;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_nest_has);

/* Copy a group. Returns false if an update was under way. */
static bool power_imc_nest_copy(struct power_imc_nest *nest, const __be64 *group)
{
	const unsigned int last = ARRAY_SIZE(nest->snapshot) - 1;
	__be64 done = READ_ONCE(group[last]);

	dma_rmb();	/* the microcode writes this in the opposite order */
	for (unsigned int i = 1; i < last; i++)
		nest->snapshot[i] = READ_ONCE(group[i]);
	dma_rmb();	/* as above */
	return READ_ONCE(group[0]) == done;
}

static void power_imc_nest_take_snapshot(struct power_imc_nest *nest, int group)
{
	const void *from = nest->chip->area + group * POWER_IMC_NEST_GROUP_SIZE;
	u64 limit = get_tb() + POWER_IMC_NEST_PATIENCE_US * tb_ticks_per_usec;

	nest->group = group;
	while (!power_imc_nest_copy(nest, from)) {
		if (get_tb() > limit) {
			atomic_inc(&nest->chip->torn);
			return;
		}
		cpu_relax();
	}
}

static struct power_imc_chip *power_imc_chip_find(struct power_imc *imc, u32 id)
{
	struct power_imc_chip *chip;

	list_for_each_entry(chip, &imc->chips, node)
		if (chip->id == id)
			return chip;
	return NULL;
}

/* A word of a chip's control block, by its offset there. */
u64 power_imc_control_word(const struct power_imc_chip *chip, unsigned int offset)
{
	const __be64 *word = chip->control + offset;

	return be64_to_cpu(READ_ONCE(*word));
}

/* What is wrong with a chip's microcode, or NULL. */
static const char *power_imc_nest_state(const struct power_imc_chip *chip)
{
	switch (power_imc_control_word(chip, POWER_IMC_NEST_CB_STATUS)) {
	case POWER_IMC_NEST_RUNNING:
	case POWER_IMC_NEST_PAUSED:
		if (power_imc_generation() == POWER_IMC_P10 ||
		    power_imc_control_word(chip, POWER_IMC_NEST_CB_SPEED) <=
		    POWER_IMC_NEST_LAST_SPEED)
			return NULL;
		return "collects at a speed that changes scales";
	case POWER_IMC_NEST_INITIALISING:
		return "has not started";
	case POWER_IMC_NEST_BAD_SPEED:
		return "refused its collection speed";
	case POWER_IMC_NEST_BAD_MODE:
		return "refused its mode";
	}
	return "is in a state that is not known";
}

/* By now the microcode has taken the command, unless the controller that runs it does not. */
static void power_imc_nest_look(const struct power_imc_chip *chip)
{
	const char *wrong = power_imc_nest_state(chip);

	if (!wrong && power_imc_control_word(chip, POWER_IMC_NEST_CB_STATUS) ==
	    POWER_IMC_NEST_PAUSED)
		wrong = "does not resume";
	if (wrong && pmu_may_log())
		dev_warn_ratelimited(chip->imc->dev, "chip %u: the nest's microcode %s: its events may count 0, or at another scale; is the OCC in its safe state?\n",
				     chip->id, wrong);
}

/*
 * No source says that counters stand during a pause. So the microcode posts everything once before
 * the event starts.
 */
static int power_imc_nest_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	struct power_imc_unit *unit = to_imc_unit(desc);
	int err = power_imc_offset_check(unit, ev->event->attr.config);
	struct power_imc_chip *chip;
	unsigned long flags;
	u64 speed;

	if (err)
		return err;
	chip = power_imc_chip_find(unit->imc, topology_physical_package_id(ev->event->cpu));
	raw_spin_lock_irqsave(&chip->lock, flags);
	if (chip->imc->halted)
		err = -ENODEV;
	else if (!chip->users)
		err = chip->imc->firmware->nest(chip, true);
	speed = power_imc_control_word(chip, POWER_IMC_NEST_CB_SPEED);
	if (!err && !chip->users++)
		chip->ready = ktime_get_ns() + (POWER_IMC_NEST_POST_MS * NSEC_PER_MSEC <<
						min_t(u64, speed, POWER_IMC_NEST_LAST_SPEED));
	raw_spin_unlock_irqrestore(&chip->lock, flags);
	if (err)
		return err;
	ev->priv = chip;
	power_imc_sleep_until(chip->ready);
	power_imc_nest_look(chip);
	return 0;
}

static void power_imc_nest_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	struct power_imc_chip *chip = ev->priv;
	unsigned long flags;

	raw_spin_lock_irqsave(&chip->lock, flags);
	if (!--chip->users)
		chip->imc->firmware->nest(chip, false);
	raw_spin_unlock_irqrestore(&chip->lock, flags);
}

/* The open of an event resumes the microcode. The core asks for the right to that. */
static int power_imc_nest_engage(struct pmu_box *box)
{
	return 0;
}

static void power_imc_nest_disengage(struct pmu_box *box)
{
}

static void power_imc_nest_begin_read(struct pmu_box *box)
{
	struct power_imc_nest *nest = pmu_box_priv(box);

	nest->group = -1;
}

static int power_imc_nest_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct power_imc_nest *nest = pmu_box_priv(box);
	u32 offset = ev->event->attr.config;
	int group = power_imc_nest_group(nest->generation, offset, nest->size);

	if (group < 0)
		return power_imc_counter_read(nest->chip->area, ev, value);
	if (nest->group != group)
		power_imc_nest_take_snapshot(nest, group);
	offset -= group * POWER_IMC_NEST_GROUP_SIZE;
	*value = be64_to_cpu(nest->snapshot[offset / sizeof(u64)]);
	return 0;
}

static const struct pmu_box_ops power_imc_nest_ops = {
	.event_init = power_imc_nest_event_init,
	.event_free = power_imc_nest_event_free,
	.engage = power_imc_nest_engage,
	.disengage = power_imc_nest_disengage,
	.begin_read = power_imc_nest_begin_read,
	.read = power_imc_nest_read,
	.restarted = power_imc_counter_restarted,
};

/* HOMER may be outside of the linear map, so it is always mapped. */
static int power_imc_chip_map(struct power_imc_chip *chip, u32 size)
{
	struct device *dev = chip->imc->dev;
	u64 last = chip->address + size - 1;

	/* The firmware's numbers may wrap where the area begins, or where it ends. */
	if (chip->address % sizeof(u64) || chip->address < chip->area_offset ||
	    last < chip->address || last >> MAX_PHYSMEM_BITS ||
	    region_intersects(chip->address, size, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) == REGION_MIXED) {
		dev_warn(dev, "chip %u: there can be no nest counters at %#llx\n",
			 chip->id, chip->address);
		return -EINVAL;
	}
	chip->area = devm_memremap(dev, chip->address, size, MEMREMAP_WB);
	if (IS_ERR(chip->area)) {
		dev_warn(dev, "chip %u: the nest counters at %#llx could not be mapped (%pe)\n",
			 chip->id, chip->address, chip->area);
		return PTR_ERR(chip->area);
	}
	chip->control = chip->area + chip->control_offset;
	return 0;
}

static struct power_imc_chip *power_imc_chip_create(struct power_imc *imc, u32 id)
{
	struct power_imc_chip *chip = devm_kzalloc(imc->dev, sizeof(*chip), GFP_KERNEL);
	int cpu;

	if (!chip)
		return NULL;
	chip->imc = imc;
	chip->id = id;
	chip->pir = POWER_IMC_NO_PIR;
	for_each_present_cpu(cpu)
		if (cpu_to_chip_id(cpu) == id)
			chip->pir = get_hard_smp_processor_id(cpu);
	raw_spin_lock_init(&chip->lock);
	list_add_tail(&chip->node, &imc->chips);
	return chip;
}

/* Does a unit have a chip's nest where it was looked for last? */
static bool power_imc_chip_is_at(const struct power_imc_chip *chip,
				 const struct power_imc_unit *unit, u64 address)
{
	return chip->address == address && chip->area_offset == unit->area_offset &&
	       chip->control_offset == unit->control_offset;
}

/*
 * A chip that cannot be used has no area. Its place is kept, so that it is reported once. Units may
 * say different sizes of an area, which is mapped up to the end of HOMER for all of them.
 */
static void power_imc_chip_look(struct power_imc_chip *chip, const struct power_imc_unit *unit,
				u64 address)
{
	const char *wrong = NULL;
	int err;

	if (chip->address && power_imc_chip_is_at(chip, unit, address))
		return;
	chip->address = address;
	chip->control_offset = unit->control_offset;
	chip->area_offset = unit->area_offset;
	err = power_imc_chip_map(chip, POWER_IMC_HOMER_SIZE - unit->area_offset);
	if (!err)
		wrong = power_imc_nest_state(chip);
	if (wrong)
		dev_warn(chip->imc->dev, "chip %u: its nest is not counted: the microcode %s\n",
			 chip->id, wrong);
	if (err || wrong)
		chip->area = NULL;
}

/*
 * Find the nest of every chip that a unit names. If a unit has a wrong address or control block for
 * a chip, the next unit's are tried.
 */
int power_imc_chips_create(struct power_imc *imc)
{
	for (unsigned int i = 0; i < imc->nr_units; i++) {
		struct power_imc_unit *unit = &imc->units[i];

		for (unsigned int j = 0; j < unit->nr_chips; j++) {
			u32 id = unit->chip_ids[j];
			struct power_imc_chip *chip = power_imc_chip_find(imc, id) ?:
						      power_imc_chip_create(imc, id);

			if (!chip)
				return -ENOMEM;
			if (!chip->area)
				power_imc_chip_look(chip, unit,
						    unit->homers[j] + unit->area_offset);
		}
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_chips_create);

static int power_imc_nest_register_chip(struct power_imc_unit *unit, u32 id, u64 address)
{
	struct device *dev = unit->imc->dev;
	struct power_imc_chip *chip = power_imc_chip_find(unit->imc, id);
	struct power_imc_nest *nest;

	if (!chip->area)
		return 0;
	if (!power_imc_chip_is_at(chip, unit, address)) {
		dev_warn(dev, "%s: has another area on chip %u than other units: left out there\n",
			 unit->name, id);
		return 0;
	}
	if (!power_imc_nest_has(power_imc_generation(), unit->name,
				power_imc_control_word(chip, POWER_IMC_NEST_CB_AVAILABLE))) {
		dev_notice(dev, "%s: chip %u has no such unit\n", unit->name, id);
		return 0;
	}
	nest = devm_kzalloc(dev, sizeof(*nest), GFP_KERNEL);
	if (!nest)
		return -ENOMEM;
	nest->chip = chip;
	nest->generation = power_imc_generation();
	nest->size = unit->size;
	return devm_pmu_box_register(dev, &unit->desc, unit->name, id, nest);
}

/* Does a unit name a chip for the second time, with the same address? */
static bool power_imc_nest_names_again(const struct power_imc_unit *unit, unsigned int which)
{
	for (unsigned int i = 0; i < which; i++)
		if (unit->chip_ids[i] == unit->chip_ids[which] &&
		    unit->homers[i] == unit->homers[which])
			return true;
	return false;
}

int power_imc_nest_register(struct power_imc_unit *unit)
{
	int err = 0;

	unit->desc.ops = &power_imc_nest_ops;
	unit->desc.scope = PMU_SCOPE_PACKAGE;
	for (unsigned int i = 0; i < unit->nr_chips && !err; i++) {
		if (power_imc_nest_names_again(unit, i)) {
			dev_warn(unit->imc->dev, "%s: names chip %u twice: the second time is left out\n",
				 unit->name, unit->chip_ids[i]);
			continue;
		}
		err = power_imc_nest_register_chip(unit, unit->chip_ids[i],
						   unit->homers[i] + unit->area_offset);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_nest_register);

/* Pause the microcode of every chip of @data, the device. */
void power_imc_nests_quiesce(void *data)
{
	struct power_imc *imc = data;
	struct power_imc_chip *chip;

	list_for_each_entry(chip, &imc->chips, node)
		if (chip->area && chip->pir != POWER_IMC_NO_PIR)
			imc->firmware->nest(chip, false);
}

/* Pause all microcodes for good. power_imc_engines_halt() has set imc->halted before. */
void power_imc_nests_halt(struct power_imc *imc)
{
	struct power_imc_chip *chip;
	unsigned long flags;

	/* Taking a lock waits for a CPU that has not seen imc->halted and resumes a microcode. */
	list_for_each_entry(chip, &imc->chips, node) {
		raw_spin_lock_irqsave(&chip->lock, flags);
		raw_spin_unlock_irqrestore(&chip->lock, flags);
	}
	power_imc_nests_quiesce(imc);
}
