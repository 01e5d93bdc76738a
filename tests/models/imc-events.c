// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events of Intel's memory controllers.
 *
 * Only what happens is listed: sub-events, one umask bit each. What users
 * call CAS_COUNT.RD is a counter that looks at two of them.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "imc-events.h"

#define RANKS(name, code, max) \
    { name ".rank0", NULL, code, 0x01, max }, \
    { name ".rank1", NULL, code, 0x02, max }, \
    { name ".rank2", NULL, code, 0x04, max }, \
    { name ".rank3", NULL, code, 0x08, max }, \
    { name ".rank4", NULL, code, 0x10, max }, \
    { name ".rank5", NULL, code, 0x20, max }, \
    { name ".rank6", NULL, code, 0x40, max }, \
    { name ".rank7", NULL, code, 0x80, max }

/* Sandy Bridge-EP: the 24 codes of the E5-2600 uncore guide. */
static const ImcEvent snbep[] = {
    { "act_count", "act", 0x01, 0, 1 },
    { "pre_count.page_miss", "pre_miss", 0x02, 0x01, 1 },
    { "pre_count.page_close", "pre_close", 0x02, 0x02, 1 },
    { "cas_count.rd_reg", "cas_rd", 0x04, 0x01, 1 },
    { "cas_count.rd_underfill", "cas_rd_underfill", 0x04, 0x02, 1 },
    { "cas_count.wr_wmm", "cas_wr", 0x04, 0x04, 1 },
    { "cas_count.wr_rmm", "cas_wr_rmm", 0x04, 0x08, 1 },
    { "dram_refresh.panic", "refresh_panic", 0x05, 0x02, 1 },
    { "dram_refresh.high", "refresh_high", 0x05, 0x04, 1 },
    { "dram_pre_all", "pre_all", 0x06, 0, 1 },
    { "major_modes.read", "mode_read", 0x07, 0x01, 1 },
    { "major_modes.write", "mode_write", 0x07, 0x02, 1 },
    { "major_modes.partial", "mode_partial", 0x07, 0x04, 1 },
    { "major_modes.isoch", "mode_isoch", 0x07, 0x08, 1 },
    { "preemption.rd_preempt_rd", "preempt_rd", 0x08, 0x01, 1 },
    { "preemption.rd_preempt_wr", "preempt_wr", 0x08, 0x02, 1 },
    { "ecc_correctable_errors", "ecc", 0x09, 0, 1 },
    { "rpq_inserts", NULL, 0x10, 0, 1 },
    { "rpq_cycles_ne", NULL, 0x11, 0, 1 },
    { "rpq_cycles_full", NULL, 0x12, 0, 1 },
    { "wpq_inserts", NULL, 0x20, 0, 1 },
    { "wpq_cycles_ne", NULL, 0x21, 0, 1 },
    { "wpq_cycles_full", NULL, 0x22, 0, 1 },
    { "wpq_read_hit", NULL, 0x23, 0, 1 },
    { "wpq_write_hit", NULL, 0x24, 0, 1 },
    RANKS("power_throttle_cycles", 0x41, 1),
    { "power_self_refresh", "self_refresh", 0x43, 0, 1 },
    { "rpq_occupancy", "rpq_occ", 0x80, 0, 22 },
    { "wpq_occupancy", "wpq_occ", 0x81, 0, 32 },
    /* The published bound, though one rank ought to count one at a time. */
    RANKS("power_cke_cycles", 0x83, 16),
    { "power_channel_dlloff", "dlloff", 0x84, 0, 1 },
    { "power_channel_ppd", "ppd", 0x85, 0, 4 },
    { "power_critical_throttle_cycles", "critical_throttle", 0x86, 0, 1 },
};

const ImcEventTable imc_events_snbep = { snbep, ARRAY_SIZE(snbep) };

/*
 * For an event without sub-events the event lists use umask 0, and one
 * datasheet wants bit 0. Both count here, and nothing else does.
 */
bool imc_umask_selects(uint8_t umask, uint8_t bit)
{
    return bit ? umask & bit : umask == 0 || umask & 1;
}

const ImcEvent *imc_event_find(const ImcEventTable *table, const char *name,
                               Error **errp)
{
    g_autoptr(GString) names = g_string_new(NULL);
    size_t i;

    for (i = 0; i < table->nevents; i++) {
        const ImcEvent *event = &table->events[i];

        if (!strcmp(event->name, name) || !g_strcmp0(event->alias, name)) {
            return event;
        }
        g_string_append_printf(names, " %s", event->name);
    }
    error_setg(errp, "there is no event '%s': there are%s", name, names->str);
    return NULL;
}
