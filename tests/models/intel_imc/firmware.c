// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A q35 that sleeps (S3), as far as stock QEMU and SeaBIOS leave that undone.
 *
 * QEMU resets every device when the machine wakes up, as the hardware does.
 * Firmware then has to set up the chipset again before it goes on in the
 * kernel. SeaBIOS 1.16 does that by way of the memory-mapped configuration
 * space, which it begins with switching off, so nothing else arrives: neither
 * that space nor the ACPI registers, by which a machine is switched off, are
 * there. Here these registers keep what they had, and the first is guarded.
 *
 * QEMU's own devices keep their base addresses and windows as well, or Linux
 * restores them while all CPUs run. TCG of 10.0 then sends a write that another
 * CPU makes at that moment to the neighbour of the region that it is for
 * (seen: the end of a timer interrupt, to the HPET), so that CPU's timer is
 * dead. Uncore functions forget everything: they have no base addresses.
 *
 * And somebody has to wake the machine: a timer does, that the guest set. Of a
 * machine that sleeps virtual time stands still, so it goes by the host's.
 *
 * QEMU interface: none; on a q35 with uncore functions, a model "firmware"
 *  + control keys: see firmware_keys below
 */
#include "function.h"
#include "exec/cpu-common.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "qemu/notify.h"
#include "qemu/range.h"
#include "qemu/timer.h"
#include "system/runstate.h"
#include "system/system.h"

/* What SeaBIOS sets up at boot, by type of device; all of it below 256 */
#define MCH_PCIEXBAR    0x60
#define LPC_PMBASE      0x40
#define LPC_ACPI_CTRL   0x44

typedef struct Kept {
    const char *type;
    uint32_t reg;
    PCIDevice *pci;
    uint32_t value;
} Kept;

enum { KEPT_PCIEXBAR, KEPT_PMBASE, KEPT_ACPI_CTRL, NKEPT };

/* A function of QEMU's own, with all that says what it answers to */
typedef struct Mapped {
    PCIDevice *pci;
    uint8_t header[PCI_CONFIG_HEADER_SIZE];
} Mapped;

static Kept kept[NKEPT] = {
    [KEPT_PCIEXBAR] = { "mch", MCH_PCIEXBAR },
    [KEPT_PMBASE] = { "ICH9-LPC", LPC_PMBASE },
    [KEPT_ACPI_CTRL] = { "ICH9-LPC", LPC_ACPI_CTRL },
};

static GArray *mapped;
static void (*mch_config_write)(PCIDevice *, uint32_t, uint32_t, int);
static bool guarded;
static uint64_t wake_ms;
static bool forgets;
static QEMUTimer *alarm_clock;

static void firmware_alarm(void *opaque)
{
    qemu_system_wakeup_request(QEMU_WAKEUP_REASON_OTHER, NULL);
}

static void guard_config_write(PCIDevice *mch, uint32_t addr, uint32_t value,
                               int len)
{
    if (!guarded || !ranges_overlap(addr, len, MCH_PCIEXBAR, 8)) {
        mch_config_write(mch, addr, value, len);
    }
}

static void firmware_suspend(Notifier *notifier, void *data)
{
    unsigned i;

    for (i = 0; i < NKEPT; i++) {
        kept[i].value = pci_default_read_config(kept[i].pci, kept[i].reg, 4);
    }
    for (i = 0; i < mapped->len; i++) {
        Mapped *map = &g_array_index(mapped, Mapped, i);

        memcpy(map->header, map->pci->config, sizeof(map->header));
    }
    if (wake_ms) {
        timer_mod(alarm_clock, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + wake_ms);
    }
}

/*
 * Write base addresses and windows first, then the command register that
 * switches them on
 */
static void map_again(const Mapped *map)
{
    PCIDevice *pci = map->pci;
    uint32_t reg;

    for (reg = PCI_BASE_ADDRESS_0; reg <= PCI_PREF_LIMIT_UPPER32; reg += 4) {
        pci->config_write(pci, reg, ldl_le_p(map->header + reg), 4);
    }
    pci->config_write(pci, PCI_COMMAND, lduw_le_p(map->header + PCI_COMMAND),
                      2);
}

static void firmware_wakeup(Notifier *notifier, void *data)
{
    unsigned i;

    guarded = false;
    for (i = forgets ? KEPT_PCIEXBAR + 1 : 0; i < NKEPT; i++) {
        kept[i].pci->config_write(kept[i].pci, kept[i].reg, kept[i].value, 4);
    }
    guarded = !forgets;
    for (i = 0; i < mapped->len; i++) {
        map_again(&g_array_index(mapped, Mapped, i));
    }
}

static uint64_t get_wake(PmuModel *model, unsigned arg)
{
    return wake_ms;
}

static bool set_wake(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    wake_ms = value;
    return true;
}

static uint64_t get_forgets(PmuModel *model, unsigned arg)
{
    return forgets;
}

static bool set_forgets(PmuModel *model, unsigned arg, uint64_t value,
                        Error **errp)
{
    forgets = value;
    return true;
}

static const PmuKey firmware_keys[] = {
    { "wake", "a machine that sleeps wakes up after so many ms; 0: it sleeps "
      "on", 1000000, 0, get_wake, set_wake },
    { "forgets", "1: leaves memory-mapped configuration space switched off "
      "when the machine wakes up", 1, 0, get_forgets, set_forgets },
};

static PmuModel firmware_model = {
    .description = "sleeping (S3), and what firmware does behind it",
    .keys = firmware_keys,
    .nkeys = ARRAY_SIZE(firmware_keys),
};

static Notifier suspend_notifier = { .notify = firmware_suspend };
static Notifier wakeup_notifier = { .notify = firmware_wakeup };

static int collect_mapped(Object *object, void *opaque)
{
    if (object_dynamic_cast(object, TYPE_PCI_DEVICE) &&
        !object_dynamic_cast(object, TYPE_UNCORE_FUNCTION)) {
        Mapped map = { .pci = PCI_DEVICE(object) };

        g_array_append_val(mapped, map);
    }
    return 0;
}

static void firmware_start(Notifier *notifier, void *data)
{
    unsigned i;

    if (!pmu_registry_next(NULL)) {
        return;
    }
    for (i = 0; i < NKEPT; i++) {
        Object *object = object_resolve_path_type("", kept[i].type, NULL);

        if (!object) {
            return;
        }
        kept[i].pci = PCI_DEVICE(object);
    }
    mch_config_write = kept[KEPT_PCIEXBAR].pci->config_write;
    kept[KEPT_PCIEXBAR].pci->config_write = guard_config_write;
    mapped = g_array_new(false, true, sizeof(Mapped));
    object_child_foreach_recursive(object_get_root(), collect_mapped, NULL);
    alarm_clock = timer_new_ms(QEMU_CLOCK_REALTIME, firmware_alarm, NULL);
    firmware_model.name = g_strdup("firmware");
    pmu_registry_add(&firmware_model, &error_abort);
    qemu_register_suspend_notifier(&suspend_notifier);
    qemu_register_wakeup_notifier(&wakeup_notifier);
}

static Notifier start_notifier = { .notify = firmware_start };

static void firmware_register(void)
{
    qemu_add_machine_init_done_notifier(&start_notifier);
}

type_init(firmware_register)
