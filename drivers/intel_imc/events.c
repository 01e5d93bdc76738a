// SPDX-License-Identifier: GPL-2.0-only
/*
 * The named events of each processor generation. A name without a suffix is all of an
 * event's sub-events. Sources: Intel 327043-001 (E5-2600), 329468-002 (v2), and for the
 * later ones Intel's event lists, as in perf's own tables.
 */
#include <linux/bitfield.h>
#include <linux/export.h>
#include <linux/module.h>

#include "intel_imc.h"

#define EVENT_SCALED(_name, _event, _umask, _scale, _unit) {		\
	.name = _name,							\
	.config = { FIELD_PREP_CONST(INTEL_IMC_CONFIG_EVENT, _event) |	\
		    FIELD_PREP_CONST(INTEL_IMC_CONFIG_UMASK, _umask) },	\
	.scale = _scale, .unit = _unit,					\
}

#define EVENT(_name, _event, _umask) EVENT_SCALED(_name, _event, _umask, NULL, NULL)

/* Each of these moves one 64-byte line; 64 / 2^20 MiB. */
#define EVENT_LINES(_name, _event, _umask) \
	EVENT_SCALED(_name, _event, _umask, "6.103515625e-5", "MiB")

/* One umask bit per rank of the channel, and all of them together. */
#define EVENT_RANKS(_name, _event)	\
	EVENT(_name, _event, 0xff),	\
	EVENT(_name "_rank0", _event, 0x01), EVENT(_name "_rank1", _event, 0x02), \
	EVENT(_name "_rank2", _event, 0x04), EVENT(_name "_rank3", _event, 0x08), \
	EVENT(_name "_rank4", _event, 0x10), EVENT(_name "_rank5", _event, 0x20), \
	EVENT(_name "_rank6", _event, 0x40), EVENT(_name "_rank7", _event, 0x80)

/* What all generations have; the first two are the in-tree driver's names. */
#define EVENTS_ALL						\
	EVENT_LINES("cas_count_read", 0x04, 0x03),		\
	EVENT_LINES("cas_count_write", 0x04, 0x0c),		\
	EVENT_LINES("cas_count", 0x04, 0x0f),			\
	EVENT_LINES("cas_count_rd_reg", 0x04, 0x01),		\
	EVENT_LINES("cas_count_rd_underfill", 0x04, 0x02),	\
	EVENT_LINES("cas_count_wr_wmm", 0x04, 0x04),		\
	EVENT_LINES("cas_count_wr_rmm", 0x04, 0x08),		\
	EVENT("pre_count_page_miss", 0x02, 0x01),		\
	EVENT("pre_count_page_close", 0x02, 0x02),		\
	EVENT("dram_pre_all", 0x06, 0x00),			\
	EVENT("major_modes", 0x07, 0x0f),			\
	EVENT("major_modes_read", 0x07, 0x01),			\
	EVENT("major_modes_write", 0x07, 0x02),			\
	EVENT("major_modes_partial", 0x07, 0x04),		\
	EVENT("major_modes_isoch", 0x07, 0x08),			\
	EVENT("preemption", 0x08, 0x03),			\
	EVENT("preemption_rd_preempt_rd", 0x08, 0x01),		\
	EVENT("preemption_rd_preempt_wr", 0x08, 0x02),		\
	EVENT("ecc_correctable_errors", 0x09, 0x00),		\
	EVENT("rpq_inserts", 0x10, 0x00),			\
	EVENT("rpq_cycles_ne", 0x11, 0x00),			\
	EVENT("wpq_cycles_ne", 0x21, 0x00),			\
	EVENT("wpq_cycles_full", 0x22, 0x00),			\
	EVENT("wpq_read_hit", 0x23, 0x00),			\
	EVENT("wpq_write_hit", 0x24, 0x00),			\
	EVENT_RANKS("power_throttle_cycles", 0x41),		\
	EVENT("power_self_refresh", 0x43, 0x00),		\
	EVENT_RANKS("power_cke_cycles", 0x83),			\
	EVENT("power_channel_dlloff", 0x84, 0x00),		\
	EVENT("power_channel_ppd", 0x85, 0x00),			\
	EVENT("power_critical_throttle_cycles", 0x86, 0x00)

/* DRAM clocks: on the fixed counter, or on a general one. */
#define EVENTS_CLOCK_FIXED \
	EVENT("clockticks", INTEL_IMC_CONFIG_FIXED, 0x00)
#define EVENTS_CLOCK_GENERAL \
	EVENT("clockticks", 0x00, 0x00), EVENT("clockticks_f", INTEL_IMC_CONFIG_FIXED, 0x00)

#define EVENTS_REFRESH				\
	EVENT("dram_refresh", 0x05, 0x06),	\
	EVENT("dram_refresh_panic", 0x05, 0x02), \
	EVENT("dram_refresh_high", 0x05, 0x04)

/* Occupancy of the pending queues; gone in v2 and back with Skylake. */
#define EVENTS_QUEUES				\
	EVENT("rpq_cycles_full", 0x12, 0x00),	\
	EVENT("rpq_occupancy", 0x80, 0x00),	\
	EVENT("wpq_occupancy", 0x81, 0x00)

/* From v2 on. */
#define EVENTS_V2					\
	EVENT("act_count", 0x01, 0x0b),			\
	EVENT("act_count_rd", 0x01, 0x01),		\
	EVENT("act_count_wr", 0x01, 0x02),		\
	EVENT("act_count_byp", 0x01, 0x08),		\
	EVENT("pre_count", 0x02, 0x1f),			\
	EVENT("pre_count_rd", 0x02, 0x04),		\
	EVENT("pre_count_wr", 0x02, 0x08),		\
	EVENT("pre_count_byp", 0x02, 0x10),		\
	EVENT_LINES("cas_count_rd_wmm", 0x04, 0x10),	\
	EVENT_LINES("cas_count_rd_rmm", 0x04, 0x20),	\
	EVENT("power_pcu_throttling", 0x42, 0x00),	\
	EVENT("rd_cas_prio_low", 0xa0, 0x01),		\
	EVENT("rd_cas_prio_med", 0xa0, 0x02),		\
	EVENT("rd_cas_prio_high", 0xa0, 0x04),		\
	EVENT("rd_cas_prio_panic", 0xa0, 0x08),		\
	EVENT("byp_cmds_act", 0xa1, 0x01),		\
	EVENT("byp_cmds_cas", 0xa1, 0x02),		\
	EVENT("byp_cmds_pre", 0xa1, 0x04),		\
	EVENT("wmm_to_rmm_low_thresh", 0xc0, 0x01),	\
	EVENT("wmm_to_rmm_starve", 0xc0, 0x02),		\
	EVENT("wmm_to_rmm_vmse_retry", 0xc0, 0x04),	\
	EVENT("wrong_mm", 0xc1, 0x00)

/* Memory buffers of the E7 line, v2 to v4. */
#define EVENTS_VMSE				\
	EVENT("vmse_wr_push_wmm", 0x90, 0x01),	\
	EVENT("vmse_wr_push_rmm", 0x90, 0x02),	\
	EVENT("vmse_mxb_wr_occupancy", 0x91, 0x00)

/* Skylake's and Cascade Lake's own. */
#define EVENTS_ISOCH					\
	EVENT_LINES("cas_count_rd_isoch", 0x04, 0x40),	\
	EVENT_LINES("cas_count_wr_isoch", 0x04, 0x80)

/* An event whose eight sub-events are the eight bits of the umask. */
#define EVENT_BITS(_name, _event, _0, _1, _2, _3, _4, _5, _6, _7)		\
	EVENT(_name "_" _0, _event, 0x01), EVENT(_name "_" _1, _event, 0x02),	\
	EVENT(_name "_" _2, _event, 0x04), EVENT(_name "_" _3, _event, 0x08),	\
	EVENT(_name "_" _4, _event, 0x10), EVENT(_name "_" _5, _event, 0x20),	\
	EVENT(_name "_" _6, _event, 0x40), EVENT(_name "_" _7, _event, 0x80)

static const struct pmu_named_event intel_imc_snbep_events[] = {
	EVENTS_CLOCK_FIXED, EVENTS_ALL, EVENTS_REFRESH, EVENTS_QUEUES,
	EVENT("act_count", 0x01, 0x00),
	EVENT("pre_count", 0x02, 0x03),
	EVENT("wpq_inserts", 0x20, 0x00),
};

static const struct pmu_named_event intel_imc_ivbep_events[] = {
	EVENTS_CLOCK_FIXED, EVENTS_ALL, EVENTS_REFRESH, EVENTS_V2, EVENTS_VMSE,
	EVENT("wpq_inserts", 0x20, 0x00),
};

/* Haswell and Broadwell. */
static const struct pmu_named_event intel_imc_hswep_events[] = {
	EVENTS_CLOCK_GENERAL, EVENTS_ALL, EVENTS_REFRESH, EVENTS_V2, EVENTS_VMSE,
};

static const struct pmu_named_event intel_imc_skx_events[] = {
	EVENTS_CLOCK_GENERAL, EVENTS_ALL, EVENTS_REFRESH, EVENTS_QUEUES, EVENTS_V2, EVENTS_ISOCH,
	EVENT("wpq_inserts", 0x20, 0x00),
};

/* With persistent memory behind the channel, and DRAM as its cache. */
static const struct pmu_named_event intel_imc_clx_events[] = {
	EVENTS_CLOCK_GENERAL, EVENTS_ALL, EVENTS_QUEUES, EVENTS_V2, EVENTS_ISOCH,
	EVENT("wpq_inserts", 0x20, 0x00),
	EVENT("sb_cycles_ne", 0xd0, 0x00),
	EVENT("sb_cycles_full", 0xd1, 0x00),
	EVENT_BITS("sb_accesses", 0xd2, "rd_accepts", "rd_rejects", "wr_accepts", "wr_rejects",
		   "nm_rd_cmps", "nm_wr_cmps", "fm_rd_cmps", "fm_wr_cmps"),
	EVENT("tagchk_hit", 0xd3, 0x01),
	EVENT("tagchk_miss_clean", 0xd3, 0x02),
	EVENT("tagchk_miss_dirty", 0xd3, 0x04),
	EVENT("sb_reject_nm_set_cnflt", 0xd4, 0x01),
	EVENT("sb_reject_fm_addr_cnflt", 0xd4, 0x02),
	EVENT("sb_reject_patrol_set_cnflt", 0xd4, 0x04),
	EVENT("sb_occupancy_rds", 0xd5, 0x01),
	EVENT("sb_occupancy_wrs", 0xd5, 0x02),
	EVENT("sb_occupancy_pmm_rds", 0xd5, 0x04),
	EVENT("sb_occupancy_pmm_wrs", 0xd5, 0x08),
	EVENT("sb_occupancy_block_rds", 0xd5, 0x20),
	EVENT("sb_occupancy_block_wrs", 0xd5, 0x40),
	EVENT("sb_occupancy_patrol", 0xd5, 0x80),
	EVENT_BITS("sb_inserts", 0xd6, "rds", "wrs", "pmm_rds", "pmm_wrs",
		   "block_rds", "block_wrs", "dealloc", "patrol"),
	EVENT_BITS("sb_strv_alloc", 0xd7, "nmrd_set", "fmrd_set", "nmwr_set", "fmwr_set",
		   "nmrd_clr", "fmrd_clr", "nmwr_clr", "fmwr_clr"),
	EVENT("sb_strv_occ_nmrd", 0xd8, 0x01),
	EVENT("sb_strv_occ_fmrd", 0xd8, 0x02),
	EVENT("sb_strv_occ_nmwr", 0xd8, 0x04),
	EVENT("sb_strv_occ_fmwr", 0xd8, 0x08),
	EVENT_BITS("sb_canary", 0xd9, "alloc", "dealloc", "rej", "vld",
		   "nmrd_starved", "nmwr_starved", "fmrd_starved", "fmwr_starved"),
	EVENT_BITS("sb_tagged", 0xdd, "new", "rd_hit", "rd_miss", "ddr4_cmp",
		   "pmm0_cmp", "pmm1_cmp", "pmm2_cmp", "occ"),
	EVENT("pmm_rpq_occupancy_all", 0xe0, 0x01),
	EVENT("pmm_rpq_occupancy_gnt_wait", 0xe0, 0x04),
	EVENT("pmm_rpq_cycles_ne", 0xe1, 0x00),
	EVENT("pmm_rpq_cycles_full", 0xe2, 0x00),
	EVENT_LINES("pmm_rpq_inserts", 0xe3, 0x00),
	EVENT("pmm_wpq_occupancy_all", 0xe4, 0x01),
	EVENT("pmm_wpq_occupancy_cas", 0xe4, 0x02),
	EVENT("pmm_wpq_occupancy_pwr", 0xe4, 0x04),
	EVENT("pmm_wpq_cycles_ne", 0xe5, 0x00),
	EVENT("pmm_wpq_cycles_full", 0xe6, 0x00),
	EVENT_LINES("pmm_wpq_inserts", 0xe7, 0x00),
	EVENT("pmm_wpq_pcommit", 0xe8, 0x00),
	EVENT("pmm_wpq_pcommit_cyc", 0xe9, 0x00),
	EVENT_BITS("pmm_cmd1", 0xea, "all", "rd", "wr", "ufill_rd",
		   "rpq_gnts", "wpq_gnts", "misc_gnt", "misc"),
	EVENT("pmm_cmd2_opp_rd", 0xeb, 0x01),
	EVENT("pmm_cmd2_nodata_exp", 0xeb, 0x02),
	EVENT("pmm_cmd2_nodata_unexp", 0xeb, 0x04),
	EVENT("pmm_cmd2_reqs_slot0", 0xeb, 0x08),
	EVENT("pmm_cmd2_reqs_slot1", 0xeb, 0x10),
	EVENT("pmm_cmd2_pmm_ecc_error", 0xeb, 0x20),
	EVENT("pmm_cmd2_pmm_erid_error", 0xeb, 0x40),
	EVENT("pmm_majmode1_rd_cyc", 0xec, 0x01),
	EVENT("pmm_majmode1_wr_cyc", 0xec, 0x02),
	EVENT("pmm_majmode1_partial_wr_cyc", 0xec, 0x04),
	EVENT("pmm_majmode1_partial_wr_enter", 0xec, 0x20),
	EVENT("pmm_majmode1_partial_wr_exit", 0xec, 0x40),
	EVENT("majmode2_pmm_cyc", 0xed, 0x01),
	EVENT("majmode2_dram_cyc", 0xed, 0x02),
	EVENT("majmode2_pmm_enter", 0xed, 0x04),
	EVENT("majmode2_dram_enter", 0xed, 0x08),
};

/*
 * The most counts per DRAM clock, by event code, as far as published; a counter takes 8 bits.
 * For Skylake and Cascade Lake nothing is published, but the clock's increment is 1.
 */
static const u8 intel_imc_snbep_increments[256] = {
	[0x00 ... 0x02] = 1, [0x04 ... 0x09] = 1, [0x10 ... 0x12] = 1, [0x20 ... 0x24] = 1,
	[0x41] = 1, [0x43] = 1, [0x80] = 22, [0x81] = 32, [0x83] = 16, [0x84] = 1, [0x85] = 4,
	[0x86] = 1,
};

static const u8 intel_imc_v2_increments[256] = {
	[0x00 ... 0x02] = 1, [0x04 ... 0x09] = 1, [0x10 ... 0x11] = 1, [0x20 ... 0x24] = 1,
	[0x41 ... 0x43] = 1, [0x83] = 16, [0x84] = 1, [0x85] = 4, [0x86] = 1, [0x90] = 1,
	[0x91] = 32, [0xa0 ... 0xa1] = 1, [0xb0 ... 0xbf] = 1, [0xc0 ... 0xc1] = 1,
};

static const u8 intel_imc_skx_increments[256] = { [0x00] = 1 };

#define INTEL_IMC_DESC(_events) {		\
	.owner = THIS_MODULE,			\
	.ops = &intel_imc_box_ops,		\
	.scope = PMU_SCOPE_PACKAGE,		\
	.live = true,				\
	.width = INTEL_IMC_COUNTER_WIDTH,	\
	.formats = intel_imc_formats,		\
	.nr_formats = INTEL_IMC_FORMATS,	\
	.events = _events,			\
	.nr_events = ARRAY_SIZE(_events),	\
}

struct intel_imc_kind intel_imc_snbep_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_snbep_events),
	.increments = intel_imc_snbep_increments,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_snbep_kind);

/* The in-tree driver also offers inv here, and drops it. We offer it, too, and refuse it. */
struct intel_imc_kind intel_imc_ivbep_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_ivbep_events),
	.increments = intel_imc_v2_increments,
	.refused = INTEL_IMC_CONFIG_INV,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_ivbep_kind);

struct intel_imc_kind intel_imc_hswep_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_hswep_events),
	.increments = intel_imc_v2_increments,
};

struct intel_imc_kind intel_imc_skx_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_skx_events),
	.increments = intel_imc_skx_increments,
};

struct intel_imc_kind intel_imc_clx_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_clx_events),
	.increments = intel_imc_skx_increments,
};
