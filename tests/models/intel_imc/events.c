// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events of Intel's memory controllers.
 *
 * Only what happens is listed: sub-events, one umask bit each, and banks. What
 * users call CAS_COUNT.RD is a counter that looks at two bits, and what they
 * call ALLBANKS one that looks at all banks.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "events.h"

/* The letters by which lists of events call the generations */
#define J INTEL_IMC_EVENTS_SNBEP
#define I INTEL_IMC_EVENTS_IVBEP
#define H INTEL_IMC_EVENTS_HSWEP
#define B INTEL_IMC_EVENTS_BDXEP
#define D INTEL_IMC_EVENTS_BDXDE
#define S INTEL_IMC_EVENTS_SKX
#define C INTEL_IMC_EVENTS_CLX
#define X INTEL_IMC_EVENTS_ICX
#define P INTEL_IMC_EVENTS_SPR
#define G INTEL_IMC_EVENTS_GNR
#define HBD (H | B | D)
#define IHBDSC (I | HBD | S | C)
#define JIHBDSC (J | IHBDSC)

/* Where no largest increment is published: what 8 bits can hold */
#define ANY 255

#define RANKS(name, code, max, in) \
    { name ".rank0", NULL, code, 0x01, max, in, false, 0, 0 }, \
    { name ".rank1", NULL, code, 0x02, max, in, false, 0, 0 }, \
    { name ".rank2", NULL, code, 0x04, max, in, false, 0, 0 }, \
    { name ".rank3", NULL, code, 0x08, max, in, false, 0, 0 }, \
    { name ".rank4", NULL, code, 0x10, max, in, false, 0, 0 }, \
    { name ".rank5", NULL, code, 0x20, max, in, false, 0, 0 }, \
    { name ".rank6", NULL, code, 0x40, max, in, false, 0, 0 }, \
    { name ".rank7", NULL, code, 0x80, max, in, false, 0, 0 }

/* Ivy Bridge has a umask bit for each of 8 banks, */
#define BANK_BIT(name, code, n) \
    { name ".bank" #n, NULL, code, 1 << n, 1, I, false, 0, 0 }
#define BANK_BITS(name, code) \
    BANK_BIT(name, code, 0), BANK_BIT(name, code, 1), \
    BANK_BIT(name, code, 2), BANK_BIT(name, code, 3), \
    BANK_BIT(name, code, 4), BANK_BIT(name, code, 5), \
    BANK_BIT(name, code, 6), BANK_BIT(name, code, 7)

/* and later parts a number for each of 16. */
#define BANK(name, code, n, in) \
    { name ".bank" #n, NULL, code, n, 1, in, true, 0, 0 }
#define BANKS_BUT_0(name, code, in) \
    BANK(name, code, 1, in), BANK(name, code, 2, in), \
    BANK(name, code, 3, in), BANK(name, code, 4, in), \
    BANK(name, code, 5, in), BANK(name, code, 6, in), \
    BANK(name, code, 7, in), BANK(name, code, 8, in), \
    BANK(name, code, 9, in), BANK(name, code, 10, in), \
    BANK(name, code, 11, in), BANK(name, code, 12, in), \
    BANK(name, code, 13, in), BANK(name, code, 14, in), \
    BANK(name, code, 15, in)
#define BANKS(name, code, in) \
    BANK(name, code, 0, in), BANKS_BUT_0(name, code, in)

#define EVENT(name, alias, code, max, in) \
    { name, alias, code, 0, max, in, false, 0, 0 }
#define SUB(name, alias, code, umask, max, in) \
    { name, alias, code, umask, max, in, false, 0, 0 }

/*
 * From Sapphire Rapids on some events have umask bits for what happens and
 * others for the half of the channel, or quarter, in which it does. A counter
 * sees it if it looks at both. PLACES has it in each half.
 */
#define IN(name, alias, code, umask, place, places, in) \
    { name, alias, code, umask, 1, in, false, place, places }
#define PLACES(name, alias, code, umask, in) \
    IN(name, alias, code, umask, 0x40, 0xc0, in), \
    IN(name "_pch1", NULL, code, umask, 0x80, 0xc0, in)

/* The two sub-channels of Granite Rapids have events of their own. */
#define SUBCHANNELS(what, alias, umask) \
    PLACES("cas_count_sch0." what, alias, 0x05, umask, G), \
    PLACES("cas_count_sch1." what, alias "_sch1", 0x06, umask, G)
#define QUARTERS(name, alias, code, umask) \
    IN(name, alias, code, umask, 0x10, 0xf0, G), \
    IN(name "_sch0_pch1", NULL, code, umask, 0x20, 0xf0, G), \
    IN(name "_sch1_pch0", NULL, code, umask, 0x40, 0xf0, G), \
    IN(name "_sch1_pch1", NULL, code, umask, 0x80, 0xf0, G)

static const IntelImcEvent events[] = {
    EVENT("act_count", "act", 0x01, 1, J),
    SUB("act_count.rd", "act_rd", 0x01, 0x01, 1, IHBDSC | X),
    SUB("act_count.wr", "act_wr", 0x01, 0x02, 1, IHBDSC | X),
    SUB("act_count.byp", "act_byp", 0x01, 0x08, 1, IHBDSC | X),
    SUB("pre_count.page_miss", "pre_miss", 0x02, 0x01, 1, JIHBDSC),
    SUB("pre_count.page_close", "pre_close", 0x02, 0x02, 1, JIHBDSC),
    SUB("pre_count.rd", "pre_rd", 0x02, 0x04, 1, IHBDSC | X),
    SUB("pre_count.wr", "pre_wr", 0x02, 0x08, 1, IHBDSC | X),
    SUB("pre_count.byp", "pre_byp", 0x02, 0x10, 1, IHBDSC),
    SUB("cas_count.rd_reg", "cas_rd", 0x04, 0x01, 1, JIHBDSC | X),
    SUB("cas_count.rd_underfill", "cas_rd_underfill", 0x04, 0x02, 1, JIHBDSC),
    SUB("cas_count.wr_wmm", "cas_wr", 0x04, 0x04, 1, JIHBDSC),
    SUB("cas_count.wr_rmm", "cas_wr_rmm", 0x04, 0x08, 1, JIHBDSC),
    SUB("cas_count.rd_wmm", "cas_rd_wmm", 0x04, 0x10, 1, IHBDSC),
    SUB("cas_count.rd_rmm", "cas_rd_rmm", 0x04, 0x20, 1, IHBDSC),
    SUB("cas_count.rd_isoch", "cas_rd_isoch", 0x04, 0x40, 1, S | C),
    SUB("cas_count.wr_isoch", "cas_wr_isoch", 0x04, 0x80, 1, S | C),
    SUB("dram_refresh.panic", "refresh_panic", 0x05, 0x02, 1, JIHBDSC & ~C),
    SUB("dram_refresh.high", "refresh_high", 0x05, 0x04, 1, JIHBDSC & ~C),
    EVENT("dram_pre_all", "pre_all", 0x06, 1, JIHBDSC),
    SUB("major_modes.read", "mode_read", 0x07, 0x01, 1, JIHBDSC),
    SUB("major_modes.write", "mode_write", 0x07, 0x02, 1, JIHBDSC),
    SUB("major_modes.partial", "mode_partial", 0x07, 0x04, 1, JIHBDSC),
    SUB("major_modes.isoch", "mode_isoch", 0x07, 0x08, 1, JIHBDSC),
    SUB("preemption.rd_preempt_rd", "preempt_rd", 0x08, 0x01, 1, JIHBDSC),
    SUB("preemption.rd_preempt_wr", "preempt_wr", 0x08, 0x02, 1, JIHBDSC),
    EVENT("ecc_correctable_errors", "ecc", 0x09, 1, JIHBDSC),
    EVENT("rpq_inserts", NULL, 0x10, 1, JIHBDSC),
    EVENT("rpq_cycles_ne", NULL, 0x11, 1, JIHBDSC),
    EVENT("rpq_cycles_full", NULL, 0x12, 1, J | S | C),
    EVENT("wpq_inserts", NULL, 0x20, 1, J | I | S | C),
    EVENT("wpq_cycles_ne", NULL, 0x21, 1, JIHBDSC),
    EVENT("wpq_cycles_full", NULL, 0x22, 1, JIHBDSC),
    EVENT("wpq_read_hit", NULL, 0x23, 1, JIHBDSC),
    EVENT("wpq_write_hit", NULL, 0x24, 1, JIHBDSC),
    RANKS("power_throttle_cycles", 0x41, 1, JIHBDSC),
    EVENT("power_pcu_throttling", "pcu_throttling", 0x42, 1, IHBDSC),
    EVENT("power_self_refresh", "self_refresh", 0x43, 1, JIHBDSC | X | P),
    EVENT("rpq_occupancy", "rpq_occ", 0x80, 22, J),
    EVENT("rpq_occupancy", "rpq_occ", 0x80, ANY, S | C),
    EVENT("wpq_occupancy", "wpq_occ", 0x81, 32, J),
    EVENT("wpq_occupancy", "wpq_occ", 0x81, ANY, S | C),
    /* The published bound, though one rank ought to count one at a time. */
    RANKS("power_cke_cycles", 0x83, 16, JIHBDSC),
    EVENT("power_channel_dlloff", "dlloff", 0x84, 1, JIHBDSC),
    EVENT("power_channel_ppd", "ppd", 0x85, 4, JIHBDSC | X | P),
    EVENT("power_critical_throttle_cycles", "critical_throttle", 0x86, 1,
          JIHBDSC),
    SUB("vmse_wr_push.wmm", NULL, 0x90, 0x01, 1, I | HBD),
    SUB("vmse_wr_push.rmm", NULL, 0x90, 0x02, 1, I | HBD),
    EVENT("vmse_mxb_wr_occupancy", NULL, 0x91, 32, I | HBD),
    SUB("rd_cas_prio.low", NULL, 0xa0, 0x01, 1, IHBDSC),
    SUB("rd_cas_prio.med", NULL, 0xa0, 0x02, 1, IHBDSC),
    SUB("rd_cas_prio.high", NULL, 0xa0, 0x04, 1, IHBDSC),
    SUB("rd_cas_prio.panic", NULL, 0xa0, 0x08, 1, IHBDSC),
    SUB("byp_cmds.act", NULL, 0xa1, 0x01, 1, IHBDSC),
    SUB("byp_cmds.cas", NULL, 0xa1, 0x02, 1, IHBDSC),
    SUB("byp_cmds.pre", NULL, 0xa1, 0x04, 1, IHBDSC),
    BANK_BITS("rd_cas_rank0", 0xb0),
    BANK_BITS("rd_cas_rank1", 0xb1),
    BANK_BITS("rd_cas_rank2", 0xb2),
    BANK_BITS("rd_cas_rank3", 0xb3),
    BANK_BITS("rd_cas_rank4", 0xb4),
    BANK_BITS("rd_cas_rank5", 0xb5),
    BANK_BITS("rd_cas_rank6", 0xb6),
    BANK_BITS("rd_cas_rank7", 0xb7),
    BANK_BITS("wr_cas_rank0", 0xb8),
    BANK_BITS("wr_cas_rank1", 0xb9),
    BANK_BITS("wr_cas_rank2", 0xba),
    BANK_BITS("wr_cas_rank3", 0xbb),
    BANK_BITS("wr_cas_rank4", 0xbc),
    BANK_BITS("wr_cas_rank5", 0xbd),
    BANK_BITS("wr_cas_rank6", 0xbe),
    BANK_BITS("wr_cas_rank7", 0xbf),
    /* Of ranks 2 and 3 the lists before Skylake have one bank, for reads. */
    BANKS("rd_cas_rank0", 0xb0, HBD | S | C),
    BANKS("rd_cas_rank1", 0xb1, HBD | S | C),
    BANK("rd_cas_rank2", 0xb2, 0, HBD | S | C),
    BANKS_BUT_0("rd_cas_rank2", 0xb2, S | C),
    BANKS("rd_cas_rank3", 0xb3, S | C),
    BANKS("rd_cas_rank4", 0xb4, HBD | S | C),
    BANKS("rd_cas_rank5", 0xb5, HBD | S | C),
    BANKS("rd_cas_rank6", 0xb6, HBD | S | C),
    BANKS("rd_cas_rank7", 0xb7, HBD | S | C),
    BANKS("wr_cas_rank0", 0xb8, HBD | S | C),
    BANKS("wr_cas_rank1", 0xb9, HBD | S | C),
    BANKS("wr_cas_rank2", 0xba, S | C),
    BANKS("wr_cas_rank3", 0xbb, S | C),
    BANKS("wr_cas_rank4", 0xbc, HBD | S | C),
    BANKS("wr_cas_rank5", 0xbd, HBD | S | C),
    BANKS("wr_cas_rank6", 0xbe, HBD | S | C),
    BANKS("wr_cas_rank7", 0xbf, HBD | S | C),
    SUB("wmm_to_rmm.low_thresh", NULL, 0xc0, 0x01, 1, IHBDSC),
    SUB("wmm_to_rmm.starve", NULL, 0xc0, 0x02, 1, IHBDSC),
    SUB("wmm_to_rmm.vmse_retry", NULL, 0xc0, 0x04, 1, IHBDSC),
    EVENT("wrong_mm", NULL, 0xc1, 1, IHBDSC),
    EVENT("sb_cycles_ne", NULL, 0xd0, ANY, C | X | P),
    EVENT("sb_cycles_full", NULL, 0xd1, ANY, C | X | P),
    SUB("sb_accesses.rd_accepts", NULL, 0xd2, 0x01, ANY, C | X | P),
    SUB("sb_accesses.rd_rejects", NULL, 0xd2, 0x02, ANY, C | X | P),
    SUB("sb_accesses.wr_accepts", NULL, 0xd2, 0x04, ANY, C | X | P),
    SUB("sb_accesses.wr_rejects", NULL, 0xd2, 0x08, ANY, C | X | P),
    SUB("sb_accesses.nm_rd_cmps", NULL, 0xd2, 0x10, ANY, C | X | P),
    SUB("sb_accesses.nm_wr_cmps", NULL, 0xd2, 0x20, ANY, C | X | P),
    SUB("sb_accesses.fm_rd_cmps", NULL, 0xd2, 0x40, ANY, C | X | P),
    SUB("sb_accesses.fm_wr_cmps", NULL, 0xd2, 0x80, ANY, C | X | P),
    SUB("tagchk.hit", NULL, 0xd3, 0x01, ANY, C | X | P),
    SUB("tagchk.miss_clean", NULL, 0xd3, 0x02, ANY, C | X | P),
    SUB("tagchk.miss_dirty", NULL, 0xd3, 0x04, ANY, C | X | P),
    SUB("sb_reject.nm_set_cnflt", NULL, 0xd4, 0x01, ANY, C | X | P),
    SUB("sb_reject.fm_addr_cnflt", NULL, 0xd4, 0x02, ANY, C | X | P),
    SUB("sb_reject.patrol_set_cnflt", NULL, 0xd4, 0x04, ANY, C | X | P),
    SUB("sb_occupancy.rds", NULL, 0xd5, 0x01, ANY, C | X | P),
    SUB("sb_occupancy.wrs", NULL, 0xd5, 0x02, ANY, C),
    SUB("sb_occupancy.pmm_rds", NULL, 0xd5, 0x04, ANY, C | X | P),
    SUB("sb_occupancy.pmm_wrs", NULL, 0xd5, 0x08, ANY, C | X | P),
    SUB("sb_occupancy.block_rds", NULL, 0xd5, 0x20, ANY, C | X | P),
    SUB("sb_occupancy.block_wrs", NULL, 0xd5, 0x40, ANY, C | X | P),
    SUB("sb_occupancy.patrol", NULL, 0xd5, 0x80, ANY, C),
    SUB("sb_inserts.rds", NULL, 0xd6, 0x01, ANY, C | X | P),
    SUB("sb_inserts.wrs", NULL, 0xd6, 0x02, ANY, C | X | P),
    SUB("sb_inserts.pmm_rds", NULL, 0xd6, 0x04, ANY, C | X | P),
    SUB("sb_inserts.pmm_wrs", NULL, 0xd6, 0x08, ANY, C | X | P),
    SUB("sb_inserts.block_rds", NULL, 0xd6, 0x10, ANY, C | X | P),
    SUB("sb_inserts.block_wrs", NULL, 0xd6, 0x20, ANY, C | X | P),
    SUB("sb_inserts.dealloc", NULL, 0xd6, 0x40, ANY, C),
    SUB("sb_inserts.patrol", NULL, 0xd6, 0x80, ANY, C),
    SUB("sb_strv_alloc.nmrd_set", NULL, 0xd7, 0x01, ANY, C),
    SUB("sb_strv_alloc.fmrd_set", NULL, 0xd7, 0x02, ANY, C),
    SUB("sb_strv_alloc.nmwr_set", NULL, 0xd7, 0x04, ANY, C),
    SUB("sb_strv_alloc.fmwr_set", NULL, 0xd7, 0x08, ANY, C),
    SUB("sb_strv_alloc.nmrd_clr", NULL, 0xd7, 0x10, ANY, C),
    SUB("sb_strv_alloc.fmrd_clr", NULL, 0xd7, 0x20, ANY, C),
    SUB("sb_strv_alloc.nmwr_clr", NULL, 0xd7, 0x40, ANY, C),
    SUB("sb_strv_alloc.fmwr_clr", NULL, 0xd7, 0x80, ANY, C),
    SUB("sb_strv_occ.nmrd", NULL, 0xd8, 0x01, ANY, C | X | P),
    SUB("sb_strv_occ.fmrd", NULL, 0xd8, 0x02, ANY, C | X | P),
    SUB("sb_strv_occ.nmwr", NULL, 0xd8, 0x04, ANY, C | X | P),
    SUB("sb_strv_occ.fmwr", NULL, 0xd8, 0x08, ANY, C | X | P),
    SUB("sb_canary.alloc", NULL, 0xd9, 0x01, ANY, C | X | P),
    SUB("sb_canary.dealloc", NULL, 0xd9, 0x02, ANY, C | X | P),
    SUB("sb_canary.rej", NULL, 0xd9, 0x04, ANY, C),
    SUB("sb_canary.vld", NULL, 0xd9, 0x08, ANY, C),
    SUB("sb_canary.nmrd_starved", NULL, 0xd9, 0x10, ANY, C),
    SUB("sb_canary.nmwr_starved", NULL, 0xd9, 0x20, ANY, C),
    SUB("sb_canary.fmrd_starved", NULL, 0xd9, 0x40, ANY, C),
    SUB("sb_canary.fmwr_starved", NULL, 0xd9, 0x80, ANY, C),
    SUB("sb_tagged.new", NULL, 0xdd, 0x01, ANY, C | X | P),
    SUB("sb_tagged.rd_hit", NULL, 0xdd, 0x02, ANY, C | X | P),
    SUB("sb_tagged.rd_miss", NULL, 0xdd, 0x04, ANY, C | X | P),
    SUB("sb_tagged.ddr4_cmp", NULL, 0xdd, 0x08, ANY, C | X | P),
    SUB("sb_tagged.pmm0_cmp", NULL, 0xdd, 0x10, ANY, C | X | P),
    SUB("sb_tagged.pmm1_cmp", NULL, 0xdd, 0x20, ANY, C | X | P),
    SUB("sb_tagged.pmm2_cmp", NULL, 0xdd, 0x40, ANY, C | X | P),
    SUB("sb_tagged.occ", NULL, 0xdd, 0x80, ANY, C | X | P),
    SUB("pmm_rpq_occupancy.all", NULL, 0xe0, 0x01, ANY, C | X),
    SUB("pmm_rpq_occupancy.gnt_wait", NULL, 0xe0, 0x04, ANY, C | X),
    EVENT("pmm_rpq_cycles_ne", NULL, 0xe1, ANY, C | X),
    EVENT("pmm_rpq_cycles_full", NULL, 0xe2, ANY, C | X),
    EVENT("pmm_rpq_inserts", NULL, 0xe3, ANY, C | X | P),
    SUB("pmm_wpq_occupancy.all", NULL, 0xe4, 0x01, ANY, C | X),
    SUB("pmm_wpq_occupancy.cas", NULL, 0xe4, 0x02, ANY, C | X),
    SUB("pmm_wpq_occupancy.pwr", NULL, 0xe4, 0x04, ANY, C | X),
    EVENT("pmm_wpq_cycles_ne", NULL, 0xe5, ANY, C | X | P),
    EVENT("pmm_wpq_cycles_full", NULL, 0xe6, ANY, C | X),
    EVENT("pmm_wpq_inserts", NULL, 0xe7, ANY, C | X | P),
    EVENT("pmm_wpq_pcommit", NULL, 0xe8, ANY, C),
    EVENT("pmm_wpq_pcommit_cyc", NULL, 0xe9, ANY, C),
    SUB("pmm_cmd1.all", NULL, 0xea, 0x01, ANY, C | X),
    SUB("pmm_cmd1.rd", NULL, 0xea, 0x02, ANY, C | X),
    SUB("pmm_cmd1.wr", NULL, 0xea, 0x04, ANY, C | X),
    SUB("pmm_cmd1.ufill_rd", NULL, 0xea, 0x08, ANY, C | X),
    SUB("pmm_cmd1.rpq_gnts", NULL, 0xea, 0x10, ANY, C | X),
    SUB("pmm_cmd1.wpq_gnts", NULL, 0xea, 0x20, ANY, C | X),
    SUB("pmm_cmd1.misc_gnt", NULL, 0xea, 0x40, ANY, C | X),
    SUB("pmm_cmd1.misc", NULL, 0xea, 0x80, ANY, C | X),
    SUB("pmm_cmd2.opp_rd", NULL, 0xeb, 0x01, ANY, C | X),
    SUB("pmm_cmd2.nodata_exp", NULL, 0xeb, 0x02, ANY, C | X),
    SUB("pmm_cmd2.nodata_unexp", NULL, 0xeb, 0x04, ANY, C | X),
    SUB("pmm_cmd2.reqs_slot0", NULL, 0xeb, 0x08, ANY, C | X),
    SUB("pmm_cmd2.reqs_slot1", NULL, 0xeb, 0x10, ANY, C | X),
    SUB("pmm_cmd2.pmm_ecc_error", NULL, 0xeb, 0x20, ANY, C | X),
    SUB("pmm_cmd2.pmm_erid_error", NULL, 0xeb, 0x40, ANY, C | X),
    SUB("pmm_majmode1.rd_cyc", NULL, 0xec, 0x01, ANY, C),
    SUB("pmm_majmode1.wr_cyc", NULL, 0xec, 0x02, ANY, C),
    SUB("pmm_majmode1.partial_wr_cyc", NULL, 0xec, 0x04, ANY, C),
    SUB("pmm_majmode1.partial_wr_enter", NULL, 0xec, 0x20, ANY, C),
    SUB("pmm_majmode1.partial_wr_exit", NULL, 0xec, 0x40, ANY, C),
    SUB("majmode2.pmm_cyc", NULL, 0xed, 0x01, ANY, C),
    SUB("majmode2.dram_cyc", NULL, 0xed, 0x02, ANY, C),
    SUB("majmode2.pmm_enter", NULL, 0xed, 0x04, ANY, C),
    SUB("majmode2.dram_enter", NULL, 0xed, 0x08, ANY, C),
    /* Ice Lake: other numbers for much of this, and pseudo-channels */
    SUB("pre_count.pgt", "pre_pgt", 0x02, 0x10, 1, X),
    SUB("cas_count.rd_pre_reg", "cas_rd_pre", 0x04, 0x02, 1, X),
    SUB("cas_count.rd_underfill", "cas_rd_underfill", 0x04, 0x04, 1, X),
    SUB("cas_count.rd_pre_underfill", "cas_rd_pre_underfill", 0x04, 0x08, 1, X),
    SUB("cas_count.wr_nonpre", "cas_wr", 0x04, 0x10, 1, X),
    SUB("cas_count.wr_pre", "cas_wr_pre", 0x04, 0x20, 1, X),
    SUB("rpq_inserts.pch0", "rpq_inserts", 0x10, 0x01, 1, X | P),
    SUB("rpq_inserts.pch1", NULL, 0x10, 0x02, 1, X | P),
    SUB("rpq_cycles_ne.pch0", NULL, 0x11, 0x01, 1, X),
    SUB("rpq_cycles_ne.pch1", NULL, 0x11, 0x02, 1, X),
    EVENT("rpq_cycles_full_pch0", NULL, 0x12, 1, X),
    EVENT("rpq_cycles_full_pch1", NULL, 0x15, 1, X),
    EVENT("wpq_cycles_full_pch1", NULL, 0x16, 1, X),
    EVENT("rdb_inserts", NULL, 0x17, ANY, X),
    EVENT("rdb_not_empty", NULL, 0x18, 1, X),
    EVENT("rdb_full", NULL, 0x19, 1, X | P),
    EVENT("rdb_occupancy", NULL, 0x1a, ANY, X | P),
    SUB("wpq_inserts.pch0", NULL, 0x20, 0x01, 1, X | P),
    SUB("wpq_inserts.pch1", NULL, 0x20, 0x02, 1, X | P),
    SUB("wpq_cycles_ne.pch0", NULL, 0x21, 0x01, 1, X),
    SUB("wpq_cycles_ne.pch1", NULL, 0x21, 0x02, 1, X),
    EVENT("wpq_cycles_full_pch0", NULL, 0x22, 1, X),
    SUB("wpq_read_hit.pch0", NULL, 0x23, 0x01, 1, X),
    SUB("wpq_read_hit.pch1", NULL, 0x23, 0x02, 1, X),
    SUB("wpq_write_hit.pch0", NULL, 0x24, 0x01, 1, X),
    SUB("wpq_write_hit.pch1", NULL, 0x24, 0x02, 1, X),
    EVENT("parity_errors", NULL, 0x2c, ANY, X),
    EVENT("dram_pre_all", "pre_all", 0x44, 1, X),
    SUB("dram_refresh.opportunistic", NULL, 0x45, 0x01, 1, X),
    SUB("dram_refresh.panic", NULL, 0x45, 0x02, 1, X),
    SUB("dram_refresh.high", NULL, 0x45, 0x04, 1, X),
    SUB("power_throttle_cycles.slot0", NULL, 0x46, 0x01, 1, X | P),
    SUB("power_throttle_cycles.slot1", NULL, 0x46, 0x02, 1, X | P),
    SUB("power_cke_cycles.low_0", NULL, 0x47, 0x01, ANY, X | P),
    SUB("power_cke_cycles.low_1", NULL, 0x47, 0x02, ANY, X | P),
    SUB("power_cke_cycles.low_2", NULL, 0x47, 0x04, ANY, X | P),
    SUB("power_cke_cycles.low_3", NULL, 0x47, 0x08, ANY, X | P),
    EVENT("rpq_occupancy_pch0", "rpq_occ", 0x80, ANY, X | P),
    EVENT("rpq_occupancy_pch1", NULL, 0x81, ANY, X | P),
    EVENT("wpq_occupancy_pch0", "wpq_occ", 0x82, ANY, X | P),
    EVENT("wpq_occupancy_pch1", NULL, 0x83, ANY, X | P),
    SUB("power_crit_throttle_cycles.slot0", NULL, 0x86, 0x01, 1, X | P),
    SUB("power_crit_throttle_cycles.slot1", NULL, 0x86, 0x02, 1, X | P),
    SUB("pcls.rd", NULL, 0xa0, 0x01, ANY, X),
    SUB("pcls.wr", NULL, 0xa0, 0x02, ANY, X),
    SUB("pcls.total", NULL, 0xa0, 0x04, ANY, X),
    SUB("tagchk.nm_rd_hit", NULL, 0xd3, 0x08, ANY, X | P),
    SUB("tagchk.nm_wr_hit", NULL, 0xd3, 0x10, ANY, X | P),
    SUB("sb_reject.canary", NULL, 0xd4, 0x08, ANY, X | P),
    SUB("sb_reject.ddr_early_cmp", NULL, 0xd4, 0x20, ANY, X | P),
    SUB("sb_strv_alloc.nmrd", NULL, 0xd7, 0x01, ANY, X | P),
    SUB("sb_strv_alloc.fmrd", NULL, 0xd7, 0x02, ANY, X | P),
    SUB("sb_strv_alloc.nmwr", NULL, 0xd7, 0x04, ANY, X | P),
    SUB("sb_strv_alloc.fmwr", NULL, 0xd7, 0x08, ANY, X | P),
    SUB("sb_strv_alloc.fmtgr", NULL, 0xd7, 0x10, ANY, X | P),
    SUB("sb_strv_occ.fmtgr", NULL, 0xd8, 0x10, ANY, X | P),
    SUB("sb_canary.vld", NULL, 0xd9, 0x04, ANY, X | P),
    SUB("sb_canary.nmrd_starved", NULL, 0xd9, 0x08, ANY, X | P),
    SUB("sb_canary.nmwr_starved", NULL, 0xd9, 0x10, ANY, X | P),
    SUB("sb_canary.fmrd_starved", NULL, 0xd9, 0x20, ANY, X | P),
    SUB("sb_canary.fmwr_starved", NULL, 0xd9, 0x40, ANY, X | P),
    SUB("sb_canary.fmtgrwr_starved", NULL, 0xd9, 0x80, ANY, X | P),
    SUB("sb_pref_inserts.all", NULL, 0xda, 0x01, ANY, X | P),
    SUB("sb_pref_inserts.ddr", NULL, 0xda, 0x02, ANY, X | P),
    SUB("sb_pref_inserts.pmm", NULL, 0xda, 0x04, ANY, X | P),
    SUB("sb_pref_occupancy.all", NULL, 0xdb, 0x01, ANY, X | P),
    SUB("sb_pref_occupancy.ddr", NULL, 0xdb, 0x02, ANY, X | P),
    SUB("sb_pref_occupancy.pmm", NULL, 0xdb, 0x04, ANY, X | P),
    SUB("sb_strv_dealloc.nmrd", NULL, 0xde, 0x01, ANY, X | P),
    SUB("sb_strv_dealloc.fmrd", NULL, 0xde, 0x02, ANY, X | P),
    SUB("sb_strv_dealloc.nmwr", NULL, 0xde, 0x04, ANY, X | P),
    SUB("sb_strv_dealloc.fmwr", NULL, 0xde, 0x08, ANY, X | P),
    SUB("sb_strv_dealloc.fmtgr", NULL, 0xde, 0x10, ANY, X | P),
    SUB("pmm_rpq_occupancy.no_gnt", NULL, 0xe0, 0x02, ANY, X),
    EVENT("pmm_wpq_flush", NULL, 0xe8, ANY, X),
    EVENT("pmm_wpq_flush_cyc", NULL, 0xe9, ANY, X),
    SUB("pmm_cmd2.pmm_erid_starved", NULL, 0xeb, 0x80, ANY, X),
    /* Sapphire Rapids */
    SUB("act_count.all", "act", 0x02, 0xff, 1, P),
    SUB("pre_count.rd_pch0", "pre_rd", 0x03, 0x01, 1, P),
    SUB("pre_count.wr_pch0", "pre_wr", 0x03, 0x02, 1, P),
    SUB("pre_count.ufill_pch0", NULL, 0x03, 0x04, 1, P),
    SUB("pre_count.pgt_pch0", "pre_pgt", 0x03, 0x08, 1, P),
    SUB("pre_count.rd_pch1", NULL, 0x03, 0x10, 1, P),
    SUB("pre_count.wr_pch1", NULL, 0x03, 0x20, 1, P),
    SUB("pre_count.ufill_pch1", NULL, 0x03, 0x40, 1, P),
    SUB("pre_count.pgt_pch1", NULL, 0x03, 0x80, 1, P),
    PLACES("cas_count.rd_reg", "cas_rd", 0x05, 0x01, P),
    PLACES("cas_count.rd_pre_reg", "cas_rd_pre", 0x05, 0x02, P),
    PLACES("cas_count.rd_underfill", "cas_rd_underfill", 0x05, 0x04, P),
    PLACES("cas_count.rd_pre_underfill", "cas_rd_pre_underfill", 0x05, 0x08, P),
    PLACES("cas_count.wr_nonpre", "cas_wr", 0x05, 0x10, P),
    PLACES("cas_count.wr_pre", "cas_wr_pre", 0x05, 0x20, P),
    PLACES("cas_issued_req_len.rd_64b", NULL, 0x06, 0x01, P),
    PLACES("cas_issued_req_len.rd_ufill_64b", NULL, 0x06, 0x02, P),
    PLACES("cas_issued_req_len.wr_64b", NULL, 0x06, 0x04, P),
    PLACES("cas_issued_req_len.rd_32b", NULL, 0x06, 0x08, P),
    PLACES("cas_issued_req_len.rd_ufill_32b", NULL, 0x06, 0x10, P),
    PLACES("cas_issued_req_len.wr_32b", NULL, 0x06, 0x20, P),
    EVENT("ecc_correctable_errors", "ecc", 0x09, 1, P),
    SUB("rdb_inserts.pch0", NULL, 0x17, 0x01, ANY, P),
    SUB("rdb_inserts.pch1", NULL, 0x17, 0x02, ANY, P),
    SUB("rdb_ne.pch0", NULL, 0x18, 0x01, 1, P),
    SUB("rdb_ne.pch1", NULL, 0x18, 0x02, 1, P),
    EVENT("wpq_read_hit", NULL, 0x23, 1, P),
    EVENT("wpq_write_hit", NULL, 0x24, 1, P),
    SUB("dram_pre_all", "pre_all", 0x44, 0x03, 1, P),
    SUB("dram_refresh.panic_pch0", NULL, 0x45, 0x02, 1, P),
    SUB("dram_refresh.high_pch0", NULL, 0x45, 0x04, 1, P),
    SUB("dram_refresh.panic_pch1", NULL, 0x45, 0x10, 1, P),
    SUB("dram_refresh.high_pch1", NULL, 0x45, 0x20, 1, P),
    SUB("pcls.rd", NULL, 0xa0, 0x05, ANY, P),
    SUB("pcls.wr", NULL, 0xa0, 0x0a, ANY, P),
    SUB("pmm_rpq_occupancy.all_sch0", NULL, 0xe0, 0x01, ANY, P),
    SUB("pmm_rpq_occupancy.all_sch1", NULL, 0xe0, 0x02, ANY, P),
    SUB("pmm_rpq_occupancy.no_gnt_sch0", NULL, 0xe0, 0x04, ANY, P),
    SUB("pmm_rpq_occupancy.no_gnt_sch1", NULL, 0xe0, 0x08, ANY, P),
    SUB("pmm_rpq_occupancy.gnt_wait_sch0", NULL, 0xe0, 0x10, ANY, P),
    SUB("pmm_rpq_occupancy.gnt_wait_sch1", NULL, 0xe0, 0x20, ANY, P),
    SUB("pmm_wpq_occupancy.all_sch0", NULL, 0xe4, 0x01, ANY, P),
    SUB("pmm_wpq_occupancy.all_sch1", NULL, 0xe4, 0x02, ANY, P),
    SUB("pmm_wpq_occupancy.cas", NULL, 0xe4, 0x0c, ANY, P),
    SUB("pmm_wpq_occupancy.pwr", NULL, 0xe4, 0x30, ANY, P),
    /* Granite Rapids */
    QUARTERS("act_count.rd", "act_rd", 0x02, 0x01),
    QUARTERS("act_count.wr", "act_wr", 0x02, 0x02),
    QUARTERS("act_count.ufill", NULL, 0x02, 0x04),
    QUARTERS("pre_count.rd", "pre_rd", 0x03, 0x01),
    QUARTERS("pre_count.wr", "pre_wr", 0x03, 0x02),
    QUARTERS("pre_count.ufill", NULL, 0x03, 0x04),
    QUARTERS("pre_count.pgt", "pre_pgt", 0x03, 0x08),
    SUBCHANNELS("rd_reg", "cas_rd", 0x01),
    SUBCHANNELS("rd_pre_reg", "cas_rd_pre", 0x02),
    SUBCHANNELS("rd_underfill", "cas_rd_underfill", 0x04),
    SUBCHANNELS("rd_pre_underfill", "cas_rd_pre_underfill", 0x08),
    SUBCHANNELS("wr_nonpre", "cas_wr", 0x10),
    SUBCHANNELS("wr_pre", "cas_wr_pre", 0x20),
    SUB("rpq_inserts.sch0_pch0", "rpq_inserts", 0x10, 0x10, 1, G),
    SUB("rpq_inserts.sch0_pch1", NULL, 0x10, 0x20, 1, G),
    SUB("rpq_inserts.sch1_pch0", NULL, 0x10, 0x40, 1, G),
    SUB("rpq_inserts.sch1_pch1", NULL, 0x10, 0x80, 1, G),
    SUB("rdb_inserts.sch0", NULL, 0x17, 0x40, ANY, G),
    SUB("rdb_inserts.sch1", NULL, 0x17, 0x80, ANY, G),
    EVENT("rdb_occupancy_sch0", NULL, 0x1a, ANY, G),
    EVENT("rdb_occupancy_sch1", NULL, 0x1b, ANY, G),
    SUB("wpq_inserts.sch0_pch0", "wpq_inserts", 0x22, 0x10, 1, G),
    SUB("wpq_inserts.sch0_pch1", NULL, 0x22, 0x20, 1, G),
    SUB("wpq_inserts.sch1_pch0", NULL, 0x22, 0x40, 1, G),
    SUB("wpq_inserts.sch1_pch1", NULL, 0x22, 0x80, 1, G),
    SUB("self_refresh.enter_success_cycles", NULL, 0x43, 0x01, 1, G),
    SUB("self_refresh.enter_success", NULL, 0x43, 0x02, 1, G),
    SUB("power_throttle_cycles.bw_slot0", NULL, 0x46, 0x01, 1, G),
    SUB("power_throttle_cycles.bw_slot1", NULL, 0x46, 0x02, 1, G),
    SUB("power_throttle_cycles.raplblk", NULL, 0x46, 0x04, 1, G),
    SUB("power_throttle_cycles.mr4blken", NULL, 0x46, 0x08, 1, G),
    SUB("powerdown_cycles.sch0_rank0", NULL, 0x47, 0x01, ANY, G),
    SUB("powerdown_cycles.sch0_rank1", NULL, 0x47, 0x02, ANY, G),
    SUB("powerdown_cycles.sch0_rank2", NULL, 0x47, 0x04, ANY, G),
    SUB("powerdown_cycles.sch0_rank3", NULL, 0x47, 0x08, ANY, G),
    SUB("powerdown_cycles.sch1_rank0", NULL, 0x47, 0x10, ANY, G),
    SUB("powerdown_cycles.sch1_rank1", NULL, 0x47, 0x20, ANY, G),
    SUB("powerdown_cycles.sch1_rank2", NULL, 0x47, 0x40, ANY, G),
    SUB("powerdown_cycles.sch1_rank3", NULL, 0x47, 0x80, ANY, G),
    SUB("mntcmd_refrate.refab1x", NULL, 0x72, 0x01, 1, G),
    SUB("mntcmd_refrate.refsb1x", NULL, 0x72, 0x02, 1, G),
    SUB("mntcmd_refrate.refab2x", NULL, 0x72, 0x04, 1, G),
    SUB("mntcmd_refrate.refsb2x", NULL, 0x72, 0x08, 1, G),
    EVENT("rpq_occupancy_sch0_pch0", "rpq_occ", 0x80, ANY, G),
    EVENT("rpq_occupancy_sch0_pch1", NULL, 0x81, ANY, G),
    EVENT("rpq_occupancy_sch1_pch0", NULL, 0x82, ANY, G),
    EVENT("rpq_occupancy_sch1_pch1", NULL, 0x83, ANY, G),
    EVENT("wpq_occupancy_sch0_pch0", "wpq_occ", 0x84, ANY, G),
    EVENT("wpq_occupancy_sch0_pch1", NULL, 0x85, ANY, G),
    EVENT("wpq_occupancy_sch1_pch0", NULL, 0x86, ANY, G),
    EVENT("wpq_occupancy_sch1_pch1", NULL, 0x87, ANY, G),
    EVENT("power_channel_ppd_cycles", "ppd", 0x88, 4, G),
    SUB("power_critical_throttle_cycles.slot0", NULL, 0x89, 0x01, 1, G),
    SUB("power_critical_throttle_cycles.slot1", NULL, 0x89, 0x02, 1, G),
    SUB("throttle_low_cycles.slot0", NULL, 0x8b, 0x01, 1, G),
    SUB("throttle_low_cycles.slot1", NULL, 0x8b, 0x02, 1, G),
    SUB("throttle_mid_cycles.slot0", NULL, 0x8c, 0x01, 1, G),
    SUB("throttle_mid_cycles.slot1", NULL, 0x8c, 0x02, 1, G),
    SUB("throttle_high_cycles.slot0", NULL, 0x8d, 0x01, 1, G),
    SUB("throttle_high_cycles.slot1", NULL, 0x8d, 0x02, 1, G),
    SUB("throttle_crit_cycles.slot0", NULL, 0x8e, 0x01, 1, G),
    SUB("throttle_crit_cycles.slot1", NULL, 0x8e, 0x02, 1, G),
    SUB("pdc_mr4active_cycles.sch0_dimm0", NULL, 0xa6, 0x01, 1, G),
    SUB("pdc_mr4active_cycles.sch0_dimm1", NULL, 0xa6, 0x02, 1, G),
    SUB("pdc_mr4active_cycles.sch1_dimm0", NULL, 0xa6, 0x04, 1, G),
    SUB("pdc_mr4active_cycles.sch1_dimm1", NULL, 0xa6, 0x08, 1, G),
    SUB("mr4_2xref_cycles.sch0_dimm0", NULL, 0xa7, 0x01, 1, G),
    SUB("mr4_2xref_cycles.sch0_dimm1", NULL, 0xa7, 0x02, 1, G),
    SUB("mr4_2xref_cycles.sch1_dimm0", NULL, 0xa7, 0x04, 1, G),
    SUB("mr4_2xref_cycles.sch1_dimm1", NULL, 0xa7, 0x08, 1, G),
};

const IntelImcEvent intel_imc_event_clock =
    EVENT("clockticks", NULL, 0x00, 1, JIHBDSC | X);
const IntelImcEvent intel_imc_event_dclk =
    SUB("clockticks", NULL, 0x01, 0x01, 1, P | G);
const IntelImcEvent intel_imc_event_hclk =
    EVENT("hclockticks", NULL, 0x01, 1, P | G);

/* A umask beyond the banks' numbers selects several: all, or four in a row. */
#define UMASK_ALLBANKS  0x10
#define UMASK_BANKG(n)  (0x11 + (n))

static bool bank_seen(uint8_t bank, uint8_t umask)
{
    return umask == bank || umask == UMASK_ALLBANKS ||
           umask == UMASK_BANKG(bank / 4);
}

/*
 * For an event without sub-events the event lists use umask 0, and one
 * datasheet wants bit 0. Both count here, and nothing else does.
 */
bool intel_imc_event_seen(const IntelImcEvent *event, uint8_t code,
                          uint8_t umask)
{
    if (code != event->code) {
        return false;
    }
    if (event->bank) {
        return bank_seen(event->umask, umask);
    }
    if (event->places && !(umask & event->place)) {
        return false;
    }
    /* Places alone are listed, too, and mean all that happens there. */
    if (event->places && !(umask & ~event->places)) {
        return true;
    }
    return event->umask ? umask & event->umask : umask == 0 || umask & 1;
}

const IntelImcEvent *intel_imc_event_next(IntelImcEvents of,
                                          const IntelImcEvent *event)
{
    for (event = event ? event + 1 : events;
         event < events + ARRAY_SIZE(events); event++) {
        if (event->in & of) {
            return event;
        }
    }
    return NULL;
}

const IntelImcEvent *intel_imc_event_find(IntelImcEvents of, const char *name,
                                          Error **errp)
{
    g_autoptr(GString) names = g_string_new(NULL);
    const IntelImcEvent *event = NULL;

    while ((event = intel_imc_event_next(of, event))) {
        if (!strcmp(event->name, name) || !g_strcmp0(event->alias, name)) {
            return event;
        }
        g_string_append_printf(names, " %s", event->name);
    }
    error_setg(errp, "there is no event '%s': there are%s", name, names->str);
    return NULL;
}
