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
#define EVENT_RANKS(_name, _event)						\
	EVENT(_name, _event, 0xff), EVENT_BITS(_name, _event, "rank0", "rank1",	\
	"rank2", "rank3", "rank4", "rank5", "rank6", "rank7")

/* Events of all generations. The first two have the in-tree driver's names. */
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
	EVENT_BITS4("major_modes", 0x07, "read",		\
		    "write", "partial", "isoch"),		\
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
	EVENT_BITS4("rd_cas_prio", 0xa0, "low", "med", "high", "panic"),	\
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

/* Only on Skylake and Cascade Lake. */
#define EVENTS_ISOCH					\
	EVENT_LINES("cas_count_rd_isoch", 0x04, 0x40),	\
	EVENT_LINES("cas_count_wr_isoch", 0x04, 0x80)

/* An event whose eight sub-events are the eight bits of the umask. */
#define EVENT_BITS(_name, _event, _0, _1, _2, _3, _4, _5, _6, _7)		\
	EVENT(_name "_" _0, _event, 0x01), EVENT(_name "_" _1, _event, 0x02),	\
	EVENT(_name "_" _2, _event, 0x04), EVENT(_name "_" _3, _event, 0x08),	\
	EVENT(_name "_" _4, _event, 0x10), EVENT(_name "_" _5, _event, 0x20),	\
	EVENT(_name "_" _6, _event, 0x40), EVENT(_name "_" _7, _event, 0x80)

/* The same of four */
#define EVENT_BITS4(_name, _event, _0, _1, _2, _3)				\
	EVENT(_name "_" _0, _event, 0x01), EVENT(_name "_" _1, _event, 0x02),	\
	EVENT(_name "_" _2, _event, 0x04), EVENT(_name "_" _3, _event, 0x08)

/* An event of each of a channel's DIMMs */
#define EVENT_SLOTS(_name, _event) \
	EVENT(_name "_slot0", _event, 0x01), EVENT(_name "_slot1", _event, 0x02)

/* Cascade Lake to Emerald Rapids */
#define EVENTS_TAGGED								\
	EVENT_BITS("sb_tagged", 0xdd, "new", "rd_hit", "rd_miss", "ddr4_cmp",	\
		   "pmm0_cmp", "pmm1_cmp", "pmm2_cmp", "occ")
#define EVENTS_CMD1								\
	EVENT_BITS("pmm_cmd1", 0xea, "all", "rd", "wr", "ufill_rd",		\
		   "rpq_gnts", "wpq_gnts", "misc_gnt", "misc")

/* Intel's list for Ice Lake has these under two names. */
#define EVENTS_STRV(_name, _event, _dash)					\
	EVENT("sb_strv_" _name "_nm" _dash "rd", _event, 0x01),			\
	EVENT("sb_strv_" _name "_fm" _dash "rd", _event, 0x02),			\
	EVENT("sb_strv_" _name "_nm" _dash "wr", _event, 0x04),			\
	EVENT("sb_strv_" _name "_fm" _dash "wr", _event, 0x08),			\
	EVENT("sb_strv_" _name "_fm" _dash "tgr", _event, 0x10)

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

/* For channels with persistent memory, and DRAM as its cache. */
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
	EVENT_BITS4("sb_occupancy", 0xd5, "rds", "wrs", "pmm_rds", "pmm_wrs"),
	EVENT("sb_occupancy_block_rds", 0xd5, 0x20),
	EVENT("sb_occupancy_block_wrs", 0xd5, 0x40),
	EVENT("sb_occupancy_patrol", 0xd5, 0x80),
	EVENT_BITS("sb_inserts", 0xd6, "rds", "wrs", "pmm_rds", "pmm_wrs",
		   "block_rds", "block_wrs", "dealloc", "patrol"),
	EVENT_BITS("sb_strv_alloc", 0xd7, "nmrd_set", "fmrd_set", "nmwr_set", "fmwr_set",
		   "nmrd_clr", "fmrd_clr", "nmwr_clr", "fmwr_clr"),
	EVENT_BITS4("sb_strv_occ", 0xd8, "nmrd", "fmrd", "nmwr", "fmwr"),
	EVENT_BITS("sb_canary", 0xd9, "alloc", "dealloc", "rej", "vld",
		   "nmrd_starved", "nmwr_starved", "fmrd_starved", "fmwr_starved"),
	EVENTS_TAGGED, EVENTS_CMD1,
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
	EVENT_BITS4("pmm_cmd2", 0xeb, "opp_rd", "nodata_exp", "nodata_unexp", "reqs_slot0"),
	EVENT("pmm_cmd2_reqs_slot1", 0xeb, 0x10),
	EVENT("pmm_cmd2_pmm_ecc_error", 0xeb, 0x20),
	EVENT("pmm_cmd2_pmm_erid_error", 0xeb, 0x40),
	EVENT("pmm_majmode1_rd_cyc", 0xec, 0x01),
	EVENT("pmm_majmode1_wr_cyc", 0xec, 0x02),
	EVENT("pmm_majmode1_partial_wr_cyc", 0xec, 0x04),
	EVENT("pmm_majmode1_partial_wr_enter", 0xec, 0x20),
	EVENT("pmm_majmode1_partial_wr_exit", 0xec, 0x40),
	EVENT_BITS4("majmode2", 0xed, "pmm_cyc", "dram_cyc", "pmm_enter", "dram_enter"),
};

/* Ice Lake-SP, Sapphire and Emerald Rapids */
#define EVENTS_ICX_SPR							\
	EVENT("rpq_inserts_pch0", 0x10, 0x01),				\
	EVENT("rpq_inserts_pch1", 0x10, 0x02),				\
	EVENT("rdb_full", 0x19, 0x00),					\
	EVENT("rdb_occupancy", 0x1a, 0x00),				\
	EVENT("wpq_inserts_pch0", 0x20, 0x01),				\
	EVENT("wpq_inserts_pch1", 0x20, 0x02),				\
	EVENT("power_self_refresh", 0x43, 0x00),			\
	EVENT_SLOTS("power_throttle_cycles", 0x46),			\
	EVENT_BITS4("power_cke_cycles_low", 0x47, "0", "1", "2", "3"),	\
	EVENT("rpq_occupancy_pch0", 0x80, 0x00),			\
	EVENT("rpq_occupancy_pch1", 0x81, 0x00),			\
	EVENT("wpq_occupancy_pch0", 0x82, 0x00),			\
	EVENT("wpq_occupancy_pch1", 0x83, 0x00),			\
	EVENT("power_channel_ppd", 0x85, 0x00),				\
	EVENT_SLOTS("power_crit_throttle_cycles", 0x86),		\
	EVENT("sb_cycles_ne", 0xd0, 0x00),				\
	EVENT("sb_cycles_full", 0xd1, 0x00),				\
	EVENT_BITS("sb_accesses", 0xd2, "rd_accepts", "rd_rejects",	\
		   "wr_accepts", "wr_rejects", "nm_rd_cmps", "nm_wr_cmps",	\
		   "fm_rd_cmps", "fm_wr_cmps"),				\
	EVENT("sb_accesses_accepts", 0xd2, 0x05),			\
	EVENT("sb_accesses_rejects", 0xd2, 0x0a),			\
	EVENT_BITS4("tagchk", 0xd3, "hit", "miss_clean",		\
		    "miss_dirty", "nm_rd_hit"),				\
	EVENT("tagchk_nm_wr_hit", 0xd3, 0x10),				\
	EVENT_BITS4("sb_reject", 0xd4, "nm_set_cnflt", "fm_addr_cnflt",	\
		    "patrol_set_cnflt", "canary"),			\
	EVENT("sb_reject_ddr_early_cmp", 0xd4, 0x20),			\
	EVENT("sb_occupancy_rds", 0xd5, 0x01),				\
	EVENT("sb_occupancy_pmm_rds", 0xd5, 0x04),			\
	EVENT("sb_occupancy_pmm_wrs", 0xd5, 0x08),			\
	EVENT("sb_occupancy_block_rds", 0xd5, 0x20),			\
	EVENT("sb_occupancy_block_wrs", 0xd5, 0x40),			\
	EVENT_BITS4("sb_inserts", 0xd6, "rds", "wrs", "pmm_rds", "pmm_wrs"),	\
	EVENT("sb_inserts_block_rds", 0xd6, 0x10),			\
	EVENT("sb_inserts_block_wrs", 0xd6, 0x20),			\
	EVENTS_STRV("alloc", 0xd7, "_"),				\
	EVENTS_STRV("occ", 0xd8, "_"),					\
	EVENT_BITS("sb_canary", 0xd9, "alloc", "dealloc", "vld",	\
		   "nm_rd_starved", "nm_wr_starved", "fm_rd_starved",	\
		   "fm_wr_starved", "fm_tgr_wr_starved"),		\
	EVENT("sb_pref_inserts_all", 0xda, 0x01),			\
	EVENT("sb_pref_inserts_ddr", 0xda, 0x02),			\
	EVENT("sb_pref_inserts_pmm", 0xda, 0x04),			\
	EVENT("sb_pref_occupancy_all", 0xdb, 0x01),			\
	EVENT("sb_pref_occupancy_ddr", 0xdb, 0x02),			\
	EVENT("sb_pref_occupancy_pmm", 0xdb, 0x04),			\
	EVENTS_TAGGED,							\
	EVENTS_STRV("dealloc", 0xde, "_"),				\
	EVENT_LINES("pmm_rpq_inserts", 0xe3, 0x00),			\
	EVENT("pmm_wpq_cycles_ne", 0xe5, 0x00),				\
	EVENT_LINES("pmm_wpq_inserts", 0xe7, 0x00)

/*
 * Ice Lake-SP has other numbers for most events, and pseudo-channels. Intel's list has some of them
 * under two names.
 */
static const struct pmu_named_event intel_imc_icx_events[] = {
	EVENT("clockticks", 0x00, 0x00),
	EVENT("hclockticks", INTEL_IMC_CONFIG_FIXED, 0x00),
	EVENT("act_count_rd", 0x01, 0x01),
	EVENT("act_count_wr", 0x01, 0x02),
	EVENT("act_count_byp", 0x01, 0x08),
	EVENT("act_count", 0x01, 0x0b),
	EVENT("act_count_all", 0x01, 0x0b),
	EVENT("pre_count_rd", 0x02, 0x04),
	EVENT("pre_count_wr", 0x02, 0x08),
	EVENT("pre_count_page_miss", 0x02, 0x0c),
	EVENT("pre_count_pgt", 0x02, 0x10),
	EVENT("pre_count", 0x02, 0x1c),
	EVENT("pre_count_all", 0x02, 0x1c),
	EVENT_LINES("cas_count_read", 0x04, 0x0f),
	EVENT_LINES("cas_count_write", 0x04, 0x30),
	EVENT_LINES("cas_count", 0x04, 0x3f),
	EVENT_LINES("cas_count_rd_reg", 0x04, 0x01),
	EVENT_LINES("cas_count_rd_pre_reg", 0x04, 0x02),
	EVENT_LINES("cas_count_rd_underfill", 0x04, 0x04),
	EVENT_LINES("cas_count_rd_pre_underfill", 0x04, 0x08),
	EVENT_LINES("cas_count_wr_nonpre", 0x04, 0x10),
	EVENT_LINES("cas_count_wr_pre", 0x04, 0x20),
	EVENT("rpq_inserts", 0x10, 0x03),
	EVENT("rpq_cycles_ne_pch0", 0x11, 0x01),
	EVENT("rpq_cycles_ne_pch1", 0x11, 0x02),
	EVENT("rpq_cycles_full_pch0", 0x12, 0x00),
	EVENT("rpq_cycles_full_pch1", 0x15, 0x00),
	EVENT("wpq_cycles_full_pch1", 0x16, 0x00),
	EVENT("rdb_inserts", 0x17, 0x00),
	EVENT("rdb_not_empty", 0x18, 0x00),
	EVENT("wpq_inserts", 0x20, 0x03),
	EVENT("wpq_cycles_ne_pch0", 0x21, 0x01),
	EVENT("wpq_cycles_ne_pch1", 0x21, 0x02),
	EVENT("wpq_cycles_full_pch0", 0x22, 0x00),
	EVENT("wpq_read_hit_pch0", 0x23, 0x01),
	EVENT("wpq_read_hit_pch1", 0x23, 0x02),
	EVENT("wpq_write_hit_pch0", 0x24, 0x01),
	EVENT("wpq_write_hit_pch1", 0x24, 0x02),
	EVENT("parity_errors", 0x2c, 0x00),
	EVENT("dram_pre_all", 0x44, 0x00),
	EVENT("dram_refresh_opportunistic", 0x45, 0x01),
	EVENT("dram_refresh_panic", 0x45, 0x02),
	EVENT("dram_refresh_high", 0x45, 0x04),
	EVENT("pcls_rd", 0xa0, 0x01),
	EVENT("pcls_wr", 0xa0, 0x02),
	EVENT("pcls_total", 0xa0, 0x04),
	EVENT("sb_accesses_nmrd_cmps", 0xd2, 0x10),
	EVENT("sb_accesses_nmwr_cmps", 0xd2, 0x20),
	EVENT("sb_accesses_fmrd_cmps", 0xd2, 0x40),
	EVENT("sb_accesses_fmwr_cmps", 0xd2, 0x80),
	EVENTS_STRV("alloc", 0xd7, ""),
	EVENTS_STRV("occ", 0xd8, ""),
	EVENT("sb_canary_nmrd_starved", 0xd9, 0x08),
	EVENT("sb_canary_nmwr_starved", 0xd9, 0x10),
	EVENT("sb_canary_fmrd_starved", 0xd9, 0x20),
	EVENT("sb_canary_fmwr_starved", 0xd9, 0x40),
	EVENT("sb_canary_fmtgrwr_starved", 0xd9, 0x80),
	EVENT("sb_pref_occupancy_pmem", 0xdb, 0x04),
	EVENTS_STRV("dealloc", 0xde, ""),
	EVENT("pmm_rpq_occupancy_all", 0xe0, 0x01),
	EVENT("pmm_rpq_occupancy_no_gnt", 0xe0, 0x02),
	EVENT("pmm_rpq_occupancy_gnt_wait", 0xe0, 0x04),
	EVENT("pmm_rpq_cycles_ne", 0xe1, 0x00),
	EVENT("pmm_rpq_cycles_full", 0xe2, 0x00),
	EVENT("pmm_wpq_occupancy_all", 0xe4, 0x01),
	EVENT("pmm_wpq_occupancy_cas", 0xe4, 0x02),
	EVENT("pmm_wpq_occupancy_pwr", 0xe4, 0x04),
	EVENT("pmm_wpq_cycles_full", 0xe6, 0x00),
	EVENT("pmm_wpq_flush", 0xe8, 0x00),
	EVENT("pmm_wpq_flush_cyc", 0xe9, 0x00),
	EVENTS_CMD1,
	EVENT_BITS("pmm_cmd2", 0xeb, "opp_rd", "nodata_exp", "nodata_unexp", "reqs_slot0",
		   "reqs_slot1", "pmm_ecc_error", "pmm_erid_error", "pmm_erid_starved"),
	EVENTS_ICX_SPR,
};

/*
 * Sapphire and Emerald Rapids. clockticks is HCLK, half of DCLK, as in the in-tree driver. In
 * Intel's list that name is DCLK.
 */
static const struct pmu_named_event intel_imc_spr_events[] = {
	EVENT("clockticks", 0x01, 0x00),
	EVENT("hclockticks", 0x01, 0x00),
	EVENT("dclockticks", 0x01, 0x01),
	EVENT("clockticks_f", INTEL_IMC_CONFIG_FIXED, 0x00),
	EVENT_LINES("cas_count_read", 0x05, 0xcf),
	EVENT_LINES("cas_count_write", 0x05, 0xf0),
	EVENT_LINES("cas_count", 0x05, 0xff),
	EVENT("act_count", 0x02, 0xff),
	EVENT("pre_count", 0x03, 0xff),
	EVENT("act_count_all", 0x02, 0xff),
	EVENT_BITS("pre_count", 0x03, "rd_pch0", "wr_pch0", "ufill_pch0", "pgt_pch0",
		   "rd_pch1", "wr_pch1", "ufill_pch1", "pgt_pch1"),
	EVENT("pre_count_rd", 0x03, 0x11),
	EVENT("pre_count_wr", 0x03, 0x22),
	EVENT("pre_count_ufill", 0x03, 0x44),
	EVENT("pre_count_pgt", 0x03, 0x88),
	EVENT("pre_count_all", 0x03, 0xff),
	EVENT_LINES("cas_count_pch0", 0x05, 0x40),
	EVENT_LINES("cas_count_pch1", 0x05, 0x80),
	EVENT_LINES("cas_count_rd_reg", 0x05, 0xc1),
	EVENT_LINES("cas_count_rd_pre_reg", 0x05, 0xc2),
	EVENT_LINES("cas_count_rd_underfill", 0x05, 0xc4),
	EVENT_LINES("cas_count_rd_pre_underfill", 0x05, 0xc8),
	EVENT_LINES("cas_count_wr_nonpre", 0x05, 0xd0),
	EVENT_LINES("cas_count_wr_pre", 0x05, 0xe0),
	EVENT("cas_issued_req_len_pch0", 0x06, 0x40),
	EVENT("cas_issued_req_len_pch1", 0x06, 0x80),
	EVENT("cas_issued_req_len_rd_64b", 0x06, 0xc1),
	EVENT("cas_issued_req_len_rd_ufill_64b", 0x06, 0xc2),
	EVENT("cas_issued_req_len_wr_64b", 0x06, 0xc4),
	EVENT("cas_issued_req_len_rd_32b", 0x06, 0xc8),
	EVENT("cas_issued_req_len_rd_ufill_32b", 0x06, 0xd0),
	EVENT("cas_issued_req_len_wr_32b", 0x06, 0xe0),
	EVENT("ecc_correctable_errors", 0x09, 0x00),
	EVENT("rdb_inserts_pch0", 0x17, 0x01),
	EVENT("rdb_inserts_pch1", 0x17, 0x02),
	EVENT("rdb_inserts", 0x17, 0x03),
	EVENT("rdb_ne_pch0", 0x18, 0x01),
	EVENT("rdb_ne_pch1", 0x18, 0x02),
	EVENT("rdb_ne", 0x18, 0x03),
	EVENT("rdb_not_empty", 0x18, 0x03),
	EVENT("wpq_read_hit", 0x23, 0x00),
	EVENT("wpq_write_hit", 0x24, 0x00),
	EVENT("dram_pre_all", 0x44, 0x03),
	EVENT("dram_refresh_panic_pch0", 0x45, 0x02),
	EVENT("dram_refresh_high_pch0", 0x45, 0x04),
	EVENT("dram_refresh_panic_pch1", 0x45, 0x10),
	EVENT("dram_refresh_panic", 0x45, 0x12),
	EVENT("dram_refresh_panic_all", 0x45, 0x12),
	EVENT("dram_refresh_high_pch1", 0x45, 0x20),
	EVENT("dram_refresh_high", 0x45, 0x24),
	EVENT("dram_refresh_high_all", 0x45, 0x24),
	EVENT("pcls_rd", 0xa0, 0x05),
	EVENT("pcls_wr", 0xa0, 0x0a),
	EVENT("pcls_total", 0xa0, 0x0f),
	EVENT_BITS4("pmm_rpq_occupancy", 0xe0, "all_sch0",
		    "all_sch1", "no_gnt_sch0", "no_gnt_sch1"),
	EVENT("pmm_rpq_occupancy_gnt_wait_sch0", 0xe0, 0x10),
	EVENT("pmm_rpq_occupancy_gnt_wait_sch1", 0xe0, 0x20),
	EVENT("pmm_wpq_occupancy_all_sch0", 0xe4, 0x01),
	EVENT("pmm_wpq_occupancy_all_sch1", 0xe4, 0x02),
	EVENT("pmm_wpq_occupancy_all", 0xe4, 0x03),
	EVENT("pmm_wpq_occupancy_cas", 0xe4, 0x0c),
	EVENT("pmm_wpq_occupancy_pwr", 0xe4, 0x30),
	EVENTS_ICX_SPR,
};

/* An event of the first sub-channel, counted in both: it takes two counters. */
#define EVENT_BOTH(_name, _umask) {						\
	.name = _name,								\
	.config = { FIELD_PREP_CONST(INTEL_IMC_CONFIG_EVENT, INTEL_IMC_CAS_SCH0) |	\
		    FIELD_PREP_CONST(INTEL_IMC_CONFIG_UMASK, _umask),		\
		    INTEL_IMC_CONFIG1_BOTH },					\
	.scale = "6.103515625e-5", .unit = "MiB",				\
}

/* Reads and writes of a sub-channel */
#define EVENTS_CAS(_name, _event)				\
	EVENT_LINES(_name "_rd_reg", _event, 0xc1),		\
	EVENT_LINES(_name "_rd_pre_reg", _event, 0xc2),		\
	EVENT_LINES(_name "_rd_non_underfill", _event, 0xc3),	\
	EVENT_LINES(_name "_rd_underfill", _event, 0xc4),	\
	EVENT_LINES(_name "_rd_pre_underfill", _event, 0xc8),	\
	EVENT_LINES(_name "_rd_underfill_all", _event, 0xcc),	\
	EVENT_LINES(_name "_rd", _event, 0xcf),			\
	EVENT_LINES(_name "_wr_nonpre", _event, 0xd0),		\
	EVENT_LINES(_name "_wr_pre", _event, 0xe0),		\
	EVENT_LINES(_name "_wr", _event, 0xf0),			\
	EVENT_LINES(_name "_all", _event, 0xff)

/* Granite Rapids, and those that the in-tree driver serves by the same code */
#define EVENTS_GNR_LIKE						\
	EVENT("clockticks", 0x01, 0x00),	\
	EVENT("hclockticks", 0x01, 0x00),	\
	EVENT("dclockticks", 0x01, 0x01),	\
	EVENT("clockticks_f", INTEL_IMC_CONFIG_FIXED, 0x00),	\
	EVENT_BOTH("cas_count_read", 0xcf),	\
	EVENT_BOTH("cas_count_write", 0xf0),	\
	EVENT_BOTH("cas_count", 0xff),	\
	EVENT_LINES("cas_count_read_sch0", 0x05, 0xcf),	\
	EVENT_LINES("cas_count_write_sch0", 0x05, 0xf0),	\
	EVENT_LINES("cas_count_read_sch1", 0x06, 0xcf),	\
	EVENT_LINES("cas_count_write_sch1", 0x06, 0xf0)

/* Granite Rapids: a channel has two sub-channels, with an event each for reads and writes. */
static const struct pmu_named_event intel_imc_gnr_events[] = {
	EVENTS_GNR_LIKE,
	EVENT("act_count", 0x02, 0xf7),
	EVENT("pre_count", 0x03, 0xff),
	EVENT("act_count_rd", 0x02, 0xf1),
	EVENT("act_count_wr", 0x02, 0xf2),
	EVENT("act_count_ufill", 0x02, 0xf4),
	EVENT("act_count_all", 0x02, 0xf7),
	EVENT("pre_count_rd", 0x03, 0xf1),
	EVENT("pre_count_wr", 0x03, 0xf2),
	EVENT("pre_count_ufill", 0x03, 0xf4),
	EVENT("pre_count_pgt", 0x03, 0xf8),
	EVENT("pre_count_all", 0x03, 0xff),
	EVENTS_CAS("cas_count_sch0", INTEL_IMC_CAS_SCH0),
	EVENTS_CAS("cas_count_sch1", INTEL_IMC_CAS_SCH1),
	EVENT("rpq_inserts_sch0_pch0", 0x10, 0x10),
	EVENT("rpq_inserts_sch0_pch1", 0x10, 0x20),
	EVENT("rpq_inserts_sch1_pch0", 0x10, 0x40),
	EVENT("rpq_inserts_pch0", 0x10, 0x50),
	EVENT("rpq_inserts_sch1_pch1", 0x10, 0x80),
	EVENT("rpq_inserts_pch1", 0x10, 0xa0),
	EVENT("rdb_inserts_sch0", 0x17, 0x40),
	EVENT("rdb_inserts_sch1", 0x17, 0x80),
	EVENT("rdb_occupancy_sch0", 0x1a, 0x00),
	EVENT("rdb_occupancy_sch1", 0x1b, 0x00),
	EVENT("wpq_inserts_sch0_pch0", 0x22, 0x10),
	EVENT("wpq_inserts_sch0_pch1", 0x22, 0x20),
	EVENT("wpq_inserts_sch1_pch0", 0x22, 0x40),
	EVENT("wpq_inserts_pch0", 0x22, 0x50),
	EVENT("wpq_inserts_sch1_pch1", 0x22, 0x80),
	EVENT("wpq_inserts_pch1", 0x22, 0xa0),
	EVENT("self_refresh_enter_success_cycles", 0x43, 0x01),
	EVENT("self_refresh_enter_success", 0x43, 0x02),
	EVENT_SLOTS("power_throttle_cycles_bw", 0x46),
	EVENT("power_throttle_cycles_raplblk", 0x46, 0x04),
	EVENT("power_throttle_cycles_mr4blken", 0x46, 0x08),
	EVENT_BITS("powerdown_cycles", 0x47, "sch0_rank0", "sch0_rank1", "sch0_rank2", "sch0_rank3",
		   "sch1_rank0", "sch1_rank1", "sch1_rank2", "sch1_rank3"),
	EVENT_BITS4("mntcmd_refrate", 0x72, "refab1x", "refsb1x", "refab2x", "refsb2x"),
	EVENT("rpq_occupancy_sch0_pch0", 0x80, 0x00),
	EVENT("rpq_occupancy_sch0_pch1", 0x81, 0x00),
	EVENT("rpq_occupancy_sch1_pch0", 0x82, 0x00),
	EVENT("rpq_occupancy_sch1_pch1", 0x83, 0x00),
	EVENT("wpq_occupancy_sch0_pch0", 0x84, 0x00),
	EVENT("wpq_occupancy_sch0_pch1", 0x85, 0x00),
	EVENT("wpq_occupancy_sch1_pch0", 0x86, 0x00),
	EVENT("wpq_occupancy_sch1_pch1", 0x87, 0x00),
	EVENT("power_channel_ppd_cycles", 0x88, 0x00),
	EVENT_SLOTS("power_critical_throttle_cycles", 0x89),
	EVENT_SLOTS("throttle_low_cycles", 0x8b),
	EVENT_SLOTS("throttle_mid_cycles", 0x8c),
	EVENT_SLOTS("throttle_high_cycles", 0x8d),
	EVENT_SLOTS("throttle_crit_cycles", 0x8e),
	EVENT_BITS4("pdc_mr4active_cycles", 0xa6, "sch0_dimm0",
		    "sch0_dimm1", "sch1_dimm0", "sch1_dimm1"),
	EVENT_BITS4("mr4_2xref_cycles", 0xa7, "sch0_dimm0",
		    "sch0_dimm1", "sch1_dimm0", "sch1_dimm1"),
};

static const struct pmu_named_event intel_imc_gnr_like_events[] = { EVENTS_GNR_LIKE };

/* Snow Ridge: the in-tree driver's names */
static const struct pmu_named_event intel_imc_snr_events[] = {
	EVENTS_CLOCK_GENERAL,
	EVENT_LINES("cas_count_read", 0x04, 0x0f),
	EVENT_LINES("cas_count_write", 0x04, 0x30),
	EVENT_LINES("cas_count", 0x04, 0x3f),
};

/* A processor that is in no list: its table says which counters it has, and not what they count. */
static const struct pmu_named_event intel_imc_table_events[] = {
	EVENT("clockticks_f", INTEL_IMC_CONFIG_FIXED, 0x00),
};

/*
 * The most counts per DRAM clock, by event code, as far as published; a counter takes 8 bits.
 * From Skylake on nothing is published, but the clock's increment is 1.
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
static const u8 intel_imc_spr_increments[256] = { [0x01] = 1 };
static const u8 intel_imc_no_increments[256];

/* Documentation/hardware/intel_imc.md, 16 */
static const struct intel_imc_clusters intel_imc_spr_clusters[] = {
	{ .nr = 2, .order = { 0, 1 } }, { }
};

static const struct intel_imc_clusters intel_imc_gnr_clusters[] = {
	{ .nr = 2, .order = { 1, 0 } }, { .nr = 3, .order = { 1, 0, 2 } }, { }
};

#define INTEL_IMC_DESC_COMMON(_events, _groups)	\
	.owner = THIS_MODULE,			\
	.scope = PMU_SCOPE_PACKAGE,		\
	.live = true,				\
	.engage_at_start = true,		\
	.width = INTEL_IMC_COUNTER_WIDTH,	\
	.events = _events,			\
	.nr_events = ARRAY_SIZE(_events),	\
	.groups = _groups

#define INTEL_IMC_DESC(_events) {		\
	INTEL_IMC_DESC_COMMON(_events, intel_imc_place_groups), \
	.ops = &intel_imc_box_ops,		\
	.formats = intel_imc_formats,		\
	.nr_formats = INTEL_IMC_FORMATS,	\
}

struct intel_imc_kind intel_imc_snbep_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_snbep_events),
	.numbers = 4,
	.clock_unsure = true,
	.umask = INTEL_IMC_UMASK_UNSURE,
	.increments = intel_imc_snbep_increments,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_snbep_kind);

/*
 * The in-tree driver offers inv here and silently ignores it. This driver offers it, too, but
 * refuses an event that sets it.
 */
struct intel_imc_kind intel_imc_ivbep_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_ivbep_events),
	.numbers = 4,
	.increments = intel_imc_v2_increments,
	.refused = INTEL_IMC_CONFIG_INV,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_ivbep_kind);

struct intel_imc_kind intel_imc_hswep_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_hswep_events),
	.numbers = 4,
	.increments = intel_imc_v2_increments,
};

struct intel_imc_kind intel_imc_skx_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_skx_events),
	.numbers = 3,
	.increments = intel_imc_skx_increments,
};

struct intel_imc_kind intel_imc_clx_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_clx_events),
	.numbers = 3,
	.increments = intel_imc_skx_increments,
};

struct intel_imc_kind intel_imc_icx_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_icx_events),
	.numbers = 3,
	.increments = intel_imc_skx_increments,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_icx_kind);

/*
 * The in-tree driver offers umask bits that no channel's control has. Refuse events that set them.
 */
struct intel_imc_kind intel_imc_spr_kind = {
	.desc = {
		INTEL_IMC_DESC_COMMON(intel_imc_spr_events, intel_imc_place_alias_groups),
		.ops = &intel_imc_box_ops,
		.formats = intel_imc_spr_formats,
		.nr_formats = INTEL_IMC_FORMATS,
	},
	.numbers = 2,
	.clusters = intel_imc_spr_clusters,
	.increments = intel_imc_spr_increments,
	.clock = INTEL_IMC_SPR_CLOCK,
	.clock_hz = INTEL_IMC_DDR5_CLOCK_HZ,
	.refused = INTEL_IMC_CONFIG_UMASK_MORE,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_spr_kind);

#define INTEL_IMC_GNR_KIND(_events)						\
	.desc = {								\
		INTEL_IMC_DESC_COMMON(_events, intel_imc_place_alias_groups),	\
		.ops = &intel_imc_pair_ops,					\
		.formats = intel_imc_spr_formats,				\
		.nr_formats = INTEL_IMC_FORMATS + 1,				\
		.state_size = sizeof(u8),					\
		.event_size = sizeof(struct intel_imc_pair),			\
	},									\
	.numbers = 1,								\
	.increments = intel_imc_spr_increments,					\
	.clock = INTEL_IMC_SPR_CLOCK,						\
	.clock_hz = INTEL_IMC_DDR5_CLOCK_HZ,					\
	.refused = INTEL_IMC_CONFIG_UMASK_MORE

struct intel_imc_kind intel_imc_gnr_kind = {
	INTEL_IMC_GNR_KIND(intel_imc_gnr_events),
	.clusters = intel_imc_gnr_clusters,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_gnr_kind);

struct intel_imc_kind intel_imc_gnr_like_kind = { INTEL_IMC_GNR_KIND(intel_imc_gnr_like_events) };

struct intel_imc_kind intel_imc_snr_kind = {
	.desc = INTEL_IMC_DESC(intel_imc_snr_events),
	.numbers = 2,
	.increments = intel_imc_skx_increments,
};

struct intel_imc_kind intel_imc_table_kind = {
	.desc = {
		INTEL_IMC_DESC_COMMON(intel_imc_table_events, intel_imc_place_groups),
		.ops = &intel_imc_box_ops,
		.formats = intel_imc_spr_formats,
		.nr_formats = INTEL_IMC_FORMATS,
	},
	.numbers = 1,
	.increments = intel_imc_no_increments,
	.clock = INTEL_IMC_SPR_CLOCK,
	.clock_unsure = true,
	.clock_hz = INTEL_IMC_DDR5_CLOCK_HZ,
	.refused = INTEL_IMC_CONFIG_UMASK_MORE,
};
