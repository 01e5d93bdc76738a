// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of events of a mesh's devices, by their published names.
 *
 * An event with a filter happens in one of several kinds, which the last part
 * of its name says: "all" is then a kind that no narrower filter counts.
 * Events that came with a later revision are there from the first, but for
 * those of HN-S on S3, which has other filters from r2 on. What is evicted
 * there is of a state as well, which the very last part says.
 */
#include "qemu/osdep.h"
#include "device.h"
#include "event.h"

typedef struct EventRow {
    uint16_t type;
    uint8_t id;
    uint8_t in;         /* set of CmnEvents */
    CmnFilter filter;
    const char *name;   /* without the type's prefix */
    bool evicts;        /* names end with the state of what is evicted */
} EventRow;

#define A       CMN_EVENTS_600_R1
#define R       CMN_EVENTS_600_R2
#define B       CMN_EVENTS_650
#define I       CMN_EVENTS_CI700
#define C       CMN_EVENTS_700
#define S1      CMN_EVENTS_S3_R1
#define S2      CMN_EVENTS_S3_R2
#define S       (S1 | S2)
#define BICS    (B | I | C | S)
#define ALL     (A | R | BICS)
#define TO_S3_R1 (ALL & ~S2)

#define ROW(type, id, name, in, filter, ...) \
    { CMN_NODE_##type, id, in, CMN_FILTER_##filter, name, __VA_ARGS__ }
#define EVENT(type, id, name, in)       ROW(type, id, name, in, NONE)
#define OCCUP1(type, id, name, in)      ROW(type, id, name, in, OCCUP1)
#define CLASS(type, id, name, in)       ROW(type, id, name, in, CLASS)
#define HBT_LBT(type, id, name, in)     ROW(type, id, name, in, HBT_LBT)
#define SN_HOME(type, id, name, in)     ROW(type, id, name, in, SN_HOME)
#define SN_THROTTLE(type, id, name, in) ROW(type, id, name, in, SN_THROTTLE)
#define SNP_VC(type, id, name, in)      ROW(type, id, name, in, SNP_VC)
#define SOURCE(type, id, name, in)      ROW(type, id, name, in, SOURCE)
#define EVICT(type, id, name, in)       ROW(type, id, name, in, HBT_LBT, true)

static const EventRow rows[] = {
    EVENT(DN, 0x01, "rxreq_dvmop", A),
    EVENT(DN, 0x02, "rxreq_dvmsync", A),
    EVENT(DN, 0x03, "rxreq_dvmop_vmid_filtered", A),
    EVENT(DN, 0x04, "rxreq_retried", A),
    OCCUP1(DN, 0x05, "rxreq_trk_occupancy", A),
    EVENT(DN, 0x01, "dvmop_tlbi", R | BICS),
    EVENT(DN, 0x02, "dvmop_bpi", R | BICS),
    EVENT(DN, 0x03, "dvmop_pici", R | BICS),
    EVENT(DN, 0x04, "dvmop_vici", R | BICS),
    EVENT(DN, 0x05, "dvmsync", R | BICS),
    EVENT(DN, 0x06, "vmid_filtered", R | BICS),
    EVENT(DN, 0x07, "rndop_filtered", R | BICS),
    EVENT(DN, 0x08, "retry", R | BICS),
    EVENT(DN, 0x09, "txsnp_flitv", R | BICS),
    EVENT(DN, 0x0a, "txsnp_stall", R | BICS),
    EVENT(DN, 0x0b, "trkfull", R | BICS),
    OCCUP1(DN, 0x0c, "trk_occupancy", R | BICS),
    OCCUP1(DN, 0x0d, "trk_occupancy_cxha", C | S),
    OCCUP1(DN, 0x0e, "trk_occupancy_pdn", C | S),
    EVENT(DN, 0x0f, "trk_alloc", C | S),
    EVENT(DN, 0x10, "trk_cxha_alloc", C | S),
    EVENT(DN, 0x11, "trk_pdn_alloc", C | S),
    EVENT(DN, 0x12, "txsnp_stall_limit", C | S),
    EVENT(DN, 0x13, "rxsnp_stall_starv", C | S),
    EVENT(DN, 0x14, "txsnp_sync_stall_op", C | S),
    EVENT(HNF, 0x01, "cache_miss", ALL),
    EVENT(HNF, 0x02, "slc_sf_cache_access", ALL),
    EVENT(HNF, 0x03, "cache_fill", ALL),
    EVENT(HNF, 0x04, "pocq_retry", ALL),
    EVENT(HNF, 0x05, "pocq_reqs_recvd", ALL),
    EVENT(HNF, 0x06, "sf_hit", ALL),
    EVENT(HNF, 0x07, "sf_evictions", ALL),
    EVENT(HNF, 0x08, "dir_snoops_sent", ALL),
    EVENT(HNF, 0x09, "brd_snoops_sent", ALL),
    EVENT(HNF, 0x0a, "slc_eviction", ALL),
    EVENT(HNF, 0x0b, "slc_fill_invalid_way", ALL),
    EVENT(HNF, 0x0c, "mc_retries", ALL),
    EVENT(HNF, 0x0d, "mc_reqs", ALL),
    EVENT(HNF, 0x0e, "qos_hh_retry", ALL),
    OCCUP1(HNF, 0x0f, "qos_pocq_occupancy", ALL),
    EVENT(HNF, 0x10, "pocq_addrhaz", ALL),
    EVENT(HNF, 0x11, "pocq_atomic_addrhaz", ALL),
    EVENT(HNF, 0x12, "ld_st_swp_adq_full", ALL),
    EVENT(HNF, 0x13, "cmp_adq_full", ALL),
    EVENT(HNF, 0x14, "txdat_stall", ALL),
    EVENT(HNF, 0x15, "txrsp_stall", ALL),
    EVENT(HNF, 0x16, "seq_full", ALL),
    EVENT(HNF, 0x17, "seq_hit", ALL),
    EVENT(HNF, 0x18, "snp_sent", ALL),
    EVENT(HNF, 0x19, "sfbi_dir_snp_sent", ALL),
    EVENT(HNF, 0x1a, "sfbi_brd_snp_sent", ALL),
    EVENT(HNF, 0x1b, "snp_sent_untrk", ALL),
    EVENT(HNF, 0x1c, "intv_dirty", ALL),
    EVENT(HNF, 0x1d, "stash_snp_sent", ALL),
    EVENT(HNF, 0x1e, "stash_data_pull", ALL),
    EVENT(HNF, 0x1f, "snp_fwded", ALL),
    EVENT(HNF, 0x20, "atomic_fwd", BICS),
    EVENT(HNF, 0x21, "mpam_hardlim", BICS),
    EVENT(HNF, 0x22, "mpam_softlim", BICS),
    EVENT(HNF, 0x23, "snp_sent_cluster", B | C | S),
    EVENT(HNF, 0x24, "sf_imprecise_evict", B | C | S),
    EVENT(HNF, 0x25, "sf_evict_shared_line", B | C | S),
    CLASS(HNF, 0x26, "pocq_class_occup", C | S),
    CLASS(HNF, 0x27, "pocq_class_retry", C | S),
    CLASS(HNF, 0x28, "class_mc_reqs", C | S),
    CLASS(HNF, 0x29, "class_cgnt_cmin", C | S),
    SN_THROTTLE(HNF, 0x2a, "sn_throttle", C | S),
    SN_THROTTLE(HNF, 0x2b, "sn_throttle_min", C | S),
    EVENT(HNF, 0x2c, "sf_precise_to_imprecise", C | S),
    EVENT(HNF, 0x2d, "snp_intv_cln", C | S),
    EVENT(HNF, 0x2e, "nc_excl", C | S),
    EVENT(HNF, 0x2f, "excl_mon_ovfl", C | S),
    EVENT(HNI, 0x20, "rrt_rd_occ_cnt_ovfl", ALL),
    EVENT(HNI, 0x21, "rrt_wr_occ_cnt_ovfl", ALL),
    EVENT(HNI, 0x22, "rdt_rd_occ_cnt_ovfl", ALL),
    EVENT(HNI, 0x23, "rdt_wr_occ_cnt_ovfl", ALL),
    EVENT(HNI, 0x24, "wdb_occ_cnt_ovfl", ALL),
    EVENT(HNI, 0x25, "rrt_rd_alloc", ALL),
    EVENT(HNI, 0x26, "rrt_wr_alloc", ALL),
    EVENT(HNI, 0x27, "rdt_rd_alloc", ALL),
    EVENT(HNI, 0x28, "rdt_wr_alloc", ALL),
    EVENT(HNI, 0x29, "wdb_alloc", ALL),
    EVENT(HNI, 0x2a, "txrsp_retryack", ALL),
    EVENT(HNI, 0x2b, "arvalid_no_arready", ALL),
    EVENT(HNI, 0x2c, "arready_no_arvalid", ALL),
    EVENT(HNI, 0x2d, "awvalid_no_awready", ALL),
    EVENT(HNI, 0x2e, "awready_no_awvalid", ALL),
    EVENT(HNI, 0x2f, "wvalid_no_wready", ALL),
    EVENT(HNI, 0x30, "txdat_stall", ALL),
    EVENT(HNI, 0x31, "nonpcie_serialization", ALL),
    EVENT(HNI, 0x32, "pcie_serialization", ALL),
    EVENT(HNP, 0x01, "rrt_wr_occ_cnt_ovfl", ALL),
    EVENT(HNP, 0x02, "rdt_wr_occ_cnt_ovfl", ALL),
    EVENT(HNP, 0x03, "wdb_occ_cnt_ovfl", ALL),
    EVENT(HNP, 0x04, "rrt_wr_alloc", ALL),
    EVENT(HNP, 0x05, "rdt_wr_alloc", ALL),
    EVENT(HNP, 0x06, "wdb_alloc", ALL),
    EVENT(HNP, 0x07, "awvalid_no_awready", ALL),
    EVENT(HNP, 0x08, "awready_no_awvalid", ALL),
    EVENT(HNP, 0x09, "wvalid_no_wready", ALL),
    EVENT(HNP, 0x11, "rrt_rd_occ_cnt_ovfl", ALL),
    EVENT(HNP, 0x12, "rdt_rd_occ_cnt_ovfl", ALL),
    EVENT(HNP, 0x13, "rrt_rd_alloc", ALL),
    EVENT(HNP, 0x14, "rdt_rd_alloc", ALL),
    EVENT(HNP, 0x15, "arvalid_no_arready", ALL),
    EVENT(HNP, 0x16, "arready_no_arvalid", ALL),
    EVENT(SBSX, 0x01, "rd_req", ALL),
    EVENT(SBSX, 0x02, "wr_req", ALL),
    EVENT(SBSX, 0x03, "cmo_req", ALL),
    EVENT(SBSX, 0x04, "txrsp_retryack", ALL),
    EVENT(SBSX, 0x05, "txdat_flitv", ALL),
    EVENT(SBSX, 0x06, "txrsp_flitv", ALL),
    EVENT(SBSX, 0x11, "rd_req_trkr_occ_cnt_ovfl", ALL),
    EVENT(SBSX, 0x12, "wr_req_trkr_occ_cnt_ovfl", ALL),
    EVENT(SBSX, 0x13, "cmo_req_trkr_occ_cnt_ovfl", ALL),
    EVENT(SBSX, 0x14, "wdb_occ_cnt_ovfl", ALL),
    EVENT(SBSX, 0x15, "rd_axi_trkr_occ_cnt_ovfl", ALL),
    EVENT(SBSX, 0x16, "cmo_axi_trkr_occ_cnt_ovfl", ALL),
    EVENT(SBSX, 0x17, "rdb_occ_cnt_ovfl", BICS),
    EVENT(SBSX, 0x21, "arvalid_no_arready", ALL),
    EVENT(SBSX, 0x22, "awvalid_no_awready", ALL),
    EVENT(SBSX, 0x23, "wvalid_no_wready", ALL),
    EVENT(SBSX, 0x24, "txdat_stall", ALL),
    EVENT(SBSX, 0x25, "txrsp_stall", ALL),
    EVENT(RNI, 0x01, "s0_rdata_beats", ALL),
    EVENT(RNI, 0x02, "s1_rdata_beats", ALL),
    EVENT(RNI, 0x03, "s2_rdata_beats", ALL),
    EVENT(RNI, 0x04, "rxdat_flits", ALL),
    EVENT(RNI, 0x05, "txdat_flits", ALL),
    EVENT(RNI, 0x06, "txreq_flits_total", ALL),
    EVENT(RNI, 0x07, "txreq_flits_retried", ALL),
    EVENT(RNI, 0x08, "rrt_occ_ovfl", ALL),
    EVENT(RNI, 0x09, "wrt_occ_ovfl", ALL),
    EVENT(RNI, 0x0a, "txreq_flits_replayed", ALL),
    EVENT(RNI, 0x0b, "wrcancel_sent", ALL),
    EVENT(RNI, 0x0c, "s0_wdata_beats", ALL),
    EVENT(RNI, 0x0d, "s1_wdata_beats", ALL),
    EVENT(RNI, 0x0e, "s2_wdata_beats", ALL),
    EVENT(RNI, 0x0f, "rrt_alloc", ALL),
    EVENT(RNI, 0x10, "wrt_alloc", ALL),
    EVENT(RNI, 0x11, "rdb_unord", A | R),
    EVENT(RNI, 0x12, "rdb_replay", A | R),
    EVENT(RNI, 0x13, "rdb_hybrid", A | R),
    EVENT(RNI, 0x14, "rdb_ord", A | R),
    EVENT(RNI, 0x11, "padb_occ_ovfl", BICS),
    EVENT(RNI, 0x12, "rpdb_occ_ovfl", BICS),
    EVENT(RNI, 0x13, "rrt_occup_ovfl_slice1", BICS),
    EVENT(RNI, 0x14, "rrt_occup_ovfl_slice2", BICS),
    EVENT(RNI, 0x15, "rrt_occup_ovfl_slice3", BICS),
    EVENT(RNI, 0x16, "wrt_throttled", BICS),
    EVENT(RNI, 0x17, "ldb_full", C | S),
    EVENT(RNI, 0x18, "rrt_rd_req_occup_ovfl_slice0", C | S),
    EVENT(RNI, 0x19, "rrt_rd_req_occup_ovfl_slice1", C | S),
    EVENT(RNI, 0x1a, "rrt_rd_req_occup_ovfl_slice2", C | S),
    EVENT(RNI, 0x1b, "rrt_rd_req_occup_ovfl_slice3", C | S),
    EVENT(RNI, 0x1c, "rrt_burst_occup_ovfl_slice0", C | S),
    EVENT(RNI, 0x1d, "rrt_burst_occup_ovfl_slice1", C | S),
    EVENT(RNI, 0x1e, "rrt_burst_occup_ovfl_slice2", C | S),
    EVENT(RNI, 0x1f, "rrt_burst_occup_ovfl_slice3", C | S),
    EVENT(RNI, 0x20, "rrt_burst_alloc", C | S),
    EVENT(RNI, 0x21, "awid_hash", C | S),
    EVENT(RNI, 0x22, "atomic_alloc", C | S),
    EVENT(RNI, 0x23, "atomic_occ_ovfl", C | S),
    EVENT(MTSX, 0x01, "tc_lookup", ALL),
    EVENT(MTSX, 0x02, "tc_fill", ALL),
    EVENT(MTSX, 0x03, "tc_miss", ALL),
    EVENT(MTSX, 0x04, "tdb_forward", ALL),
    EVENT(MTSX, 0x05, "tcq_hazard", ALL),
    EVENT(MTSX, 0x06, "tcq_rd_alloc", ALL),
    EVENT(MTSX, 0x07, "tcq_wr_alloc", ALL),
    EVENT(MTSX, 0x08, "tcq_cmo_alloc", ALL),
    EVENT(MTSX, 0x09, "axi_rd_req", ALL),
    EVENT(MTSX, 0x0a, "axi_wr_req", ALL),
    EVENT(MTSX, 0x0b, "tcq_occ_cnt_ovfl", ALL),
    EVENT(MTSX, 0x0c, "tdb_occ_cnt_ovfl", ALL),
    EVENT(CXRA, 0x01, "rht_occ", ALL),
    EVENT(CXRA, 0x02, "sht_occ", ALL),
    EVENT(CXRA, 0x03, "rdb_occ", ALL),
    EVENT(CXRA, 0x04, "wdb_occ", ALL),
    EVENT(CXRA, 0x05, "ssb_occ", ALL),
    EVENT(CXRA, 0x06, "snp_bcasts", ALL),
    EVENT(CXRA, 0x07, "req_chains", ALL),
    EVENT(CXRA, 0x08, "req_chain_avglen", ALL),
    EVENT(CXRA, 0x09, "chirsp_stalls", ALL),
    EVENT(CXRA, 0x0a, "chidat_stalls", ALL),
    EVENT(CXRA, 0x0b, "cxreq_pcrd_stalls_link0", ALL),
    EVENT(CXRA, 0x0c, "cxreq_pcrd_stalls_link1", ALL),
    EVENT(CXRA, 0x0d, "cxreq_pcrd_stalls_link2", ALL),
    EVENT(CXRA, 0x0e, "cxdat_pcrd_stalls_link0", ALL),
    EVENT(CXRA, 0x0f, "cxdat_pcrd_stalls_link1", ALL),
    EVENT(CXRA, 0x10, "cxdat_pcrd_stalls_link2", ALL),
    EVENT(CXRA, 0x11, "external_chirsp_stalls", ALL),
    EVENT(CXRA, 0x12, "external_chidat_stalls", ALL),
    EVENT(CXRA, 0x13, "cxmisc_pcrd_stalls_link0", BICS),
    EVENT(CXRA, 0x14, "cxmisc_pcrd_stalls_link1", BICS),
    EVENT(CXRA, 0x15, "cxmisc_pcrd_stalls_link2", BICS),
    EVENT(CXHA, 0x21, "rddatbyp", ALL),
    EVENT(CXHA, 0x22, "chirsp_up_stall", ALL),
    EVENT(CXHA, 0x23, "chidat_up_stall", ALL),
    EVENT(CXHA, 0x24, "snppcrd_link0_stall", ALL),
    EVENT(CXHA, 0x25, "snppcrd_link1_stall", ALL),
    EVENT(CXHA, 0x26, "snppcrd_link2_stall", ALL),
    EVENT(CXHA, 0x27, "reqtrk_occ", ALL),
    EVENT(CXHA, 0x28, "rdb_occ", ALL),
    EVENT(CXHA, 0x29, "rdbyp_occ", ALL),
    EVENT(CXHA, 0x2a, "wdb_occ", ALL),
    EVENT(CXHA, 0x2b, "snptrk_occ", ALL),
    EVENT(CXHA, 0x2c, "sdb_occ", ALL),
    EVENT(CXHA, 0x2d, "snphaz_occ", ALL),
    EVENT(CCRA, 0x41, "rht_occ", ALL),
    EVENT(CCRA, 0x42, "sht_occ", ALL),
    EVENT(CCRA, 0x43, "rdb_occ", ALL),
    EVENT(CCRA, 0x44, "wdb_occ", ALL),
    EVENT(CCRA, 0x45, "ssb_occ", ALL),
    EVENT(CCRA, 0x46, "snp_bcasts", ALL),
    EVENT(CCRA, 0x47, "req_chains", ALL),
    EVENT(CCRA, 0x48, "req_chain_avglen", ALL),
    EVENT(CCRA, 0x49, "chirsp_stalls", ALL),
    EVENT(CCRA, 0x4a, "chidat_stalls", ALL),
    EVENT(CCRA, 0x4b, "cxreq_pcrd_stalls_link0", ALL),
    EVENT(CCRA, 0x4c, "cxreq_pcrd_stalls_link1", ALL),
    EVENT(CCRA, 0x4d, "cxreq_pcrd_stalls_link2", ALL),
    EVENT(CCRA, 0x4e, "cxdat_pcrd_stalls_link0", ALL),
    EVENT(CCRA, 0x4f, "cxdat_pcrd_stalls_link1", ALL),
    EVENT(CCRA, 0x50, "cxdat_pcrd_stalls_link2", ALL),
    EVENT(CCRA, 0x51, "external_chirsp_stalls", ALL),
    EVENT(CCRA, 0x52, "external_chidat_stalls", ALL),
    EVENT(CCRA, 0x53, "cxmisc_pcrd_stalls_link0", ALL),
    EVENT(CCRA, 0x54, "cxmisc_pcrd_stalls_link1", ALL),
    EVENT(CCRA, 0x55, "cxmisc_pcrd_stalls_link2", ALL),
    EVENT(CCRA, 0x56, "rht_alloc", ALL),
    EVENT(CCRA, 0x57, "sht_alloc", ALL),
    EVENT(CCRA, 0x58, "rdb_alloc", ALL),
    EVENT(CCRA, 0x59, "wdb_alloc", ALL),
    EVENT(CCRA, 0x5a, "ssb_alloc", ALL),
    EVENT(CCHA, 0x61, "rddatbyp", ALL),
    EVENT(CCHA, 0x62, "chirsp_up_stall", ALL),
    EVENT(CCHA, 0x63, "chidat_up_stall", ALL),
    EVENT(CCHA, 0x64, "snppcrd_link0_stall", ALL),
    EVENT(CCHA, 0x65, "snppcrd_link1_stall", ALL),
    EVENT(CCHA, 0x66, "snppcrd_link2_stall", ALL),
    EVENT(CCHA, 0x67, "reqtrk_occ", ALL),
    EVENT(CCHA, 0x68, "rdb_occ", ALL),
    EVENT(CCHA, 0x69, "rdbyp_occ", ALL),
    EVENT(CCHA, 0x6a, "wdb_occ", ALL),
    EVENT(CCHA, 0x6b, "snptrk_occ", ALL),
    EVENT(CCHA, 0x6c, "sdb_occ", ALL),
    EVENT(CCHA, 0x6d, "snphaz_occ", ALL),
    EVENT(CCHA, 0x6e, "reqtrk_alloc", ALL),
    EVENT(CCHA, 0x6f, "rdb_alloc", ALL),
    EVENT(CCHA, 0x70, "rdbyp_alloc", ALL),
    EVENT(CCHA, 0x71, "wdb_alloc", ALL),
    EVENT(CCHA, 0x72, "snptrk_alloc", ALL),
    EVENT(CCHA, 0x73, "db_alloc", ALL),
    EVENT(CCHA, 0x74, "snphaz_alloc", ALL),
    EVENT(CCHA, 0x75, "pb_rhu_req_occ", ALL),
    EVENT(CCHA, 0x76, "pb_rhu_req_alloc", ALL),
    EVENT(CCHA, 0x77, "pb_rhu_pcie_req_occ", ALL),
    EVENT(CCHA, 0x78, "pb_rhu_pcie_req_alloc", ALL),
    EVENT(CCHA, 0x79, "pb_pcie_wr_req_occ", ALL),
    EVENT(CCHA, 0x7a, "pb_pcie_wr_req_alloc", ALL),
    EVENT(CCHA, 0x7b, "pb_pcie_reg_req_occ", ALL),
    EVENT(CCHA, 0x7c, "pb_pcie_reg_req_alloc", ALL),
    EVENT(CCHA, 0x7d, "pb_pcie_rsvd_req_occ", ALL),
    EVENT(CCHA, 0x7e, "pb_pcie_rsvd_req_alloc", ALL),
    EVENT(CCHA, 0x7f, "pb_rhu_dat_occ", ALL),
    EVENT(CCHA, 0x80, "pb_rhu_dat_alloc", ALL),
    EVENT(CCHA, 0x81, "pb_rhu_pcie_dat_occ", ALL),
    EVENT(CCHA, 0x82, "pb_rhu_pcie_dat_alloc", ALL),
    EVENT(CCHA, 0x83, "pb_pcie_wr_dat_occ", ALL),
    EVENT(CCHA, 0x84, "pb_pcie_wr_dat_alloc", ALL),
    EVENT(CCHA, 0x85, "chirsp1_up_stall", S),
    EVENT(CCLA, 0x21, "rx_cxs", ALL),
    EVENT(CCLA, 0x22, "tx_cxs", ALL),
    EVENT(CCLA, 0x23, "rx_cxs_avg_size", ALL),
    EVENT(CCLA, 0x24, "tx_cxs_avg_size", ALL),
    EVENT(CCLA, 0x25, "tx_cxs_lcrd_backpressure", ALL),
    EVENT(CCLA, 0x26, "link_crdbuf_occ", ALL),
    EVENT(CCLA, 0x27, "link_crdbuf_alloc", ALL),
    EVENT(CCLA, 0x28, "pfwd_rcvr_cxs", ALL),
    EVENT(CCLA, 0x29, "pfwd_sndr_num_flits", ALL),
    EVENT(CCLA, 0x2a, "pfwd_sndr_stalls_static_crd", ALL),
    EVENT(CCLA, 0x2b, "pfwd_sndr_stalls_dynmaic_crd", ALL),
    HBT_LBT(HNS, 0x01, "cache_miss", TO_S3_R1),
    SOURCE(HNS, 0x01, "cache_miss", S2),
    HBT_LBT(HNS, 0x02, "slc_sf_cache_access", TO_S3_R1),
    SOURCE(HNS, 0x02, "slc_sf_cache_access", S2),
    HBT_LBT(HNS, 0x03, "cache_fill", TO_S3_R1),
    SOURCE(HNS, 0x03, "cache_fill", S2),
    HBT_LBT(HNS, 0x04, "pocq_retry", TO_S3_R1),
    OCCUP1(HNS, 0x04, "pocq_retry", S2),
    HBT_LBT(HNS, 0x05, "pocq_reqs_recvd", TO_S3_R1),
    OCCUP1(HNS, 0x05, "pocq_reqs_recvd", S2),
    HBT_LBT(HNS, 0x06, "sf_hit", TO_S3_R1),
    SOURCE(HNS, 0x06, "sf_hit", S2),
    HBT_LBT(HNS, 0x07, "sf_evictions", TO_S3_R1),
    EVICT(HNS, 0x07, "sf_evictions", S2),
    EVENT(HNS, 0x08, "dir_snoops_sent", TO_S3_R1),
    SNP_VC(HNS, 0x08, "dir_snoops_sent", S2),
    EVENT(HNS, 0x09, "brd_snoops_sent", TO_S3_R1),
    SNP_VC(HNS, 0x09, "brd_snoops_sent", S2),
    HBT_LBT(HNS, 0x0a, "slc_eviction", TO_S3_R1),
    EVICT(HNS, 0x0a, "slc_eviction", S2),
    HBT_LBT(HNS, 0x0b, "slc_fill_invalid_way", TO_S3_R1),
    SOURCE(HNS, 0x0b, "slc_fill_invalid_way", S2),
    EVENT(HNS, 0x0c, "mc_retries_local", TO_S3_R1),
    SN_HOME(HNS, 0x0c, "mc_retries_local", S2),
    SN_HOME(HNS, 0x0d, "mc_reqs_local", ALL),
    EVENT(HNS, 0x0e, "qos_hh_retry", ALL),
    OCCUP1(HNS, 0x0f, "qos_pocq_occupancy", ALL),
    EVENT(HNS, 0x10, "pocq_addrhaz", TO_S3_R1),
    SOURCE(HNS, 0x10, "pocq_addrhaz", S2),
    EVENT(HNS, 0x11, "pocq_atomic_addrhaz", TO_S3_R1),
    SOURCE(HNS, 0x11, "pocq_atomic_addrhaz", S2),
    EVENT(HNS, 0x12, "ld_st_swp_adq_full", TO_S3_R1),
    EVENT(HNS, 0x13, "cmp_adq_full", TO_S3_R1),
    EVENT(HNS, 0x14, "txdat_stall", ALL),
    EVENT(HNS, 0x15, "txrsp_stall", ALL),
    EVENT(HNS, 0x16, "seq_full", TO_S3_R1),
    EVENT(HNS, 0x17, "seq_hit", ALL),
    EVENT(HNS, 0x18, "snp_sent", TO_S3_R1),
    SNP_VC(HNS, 0x18, "snp_sent", S2),
    EVENT(HNS, 0x19, "sfbi_dir_snp_sent", TO_S3_R1),
    SNP_VC(HNS, 0x19, "sfbi_dir_snp_sent", S2),
    EVENT(HNS, 0x1a, "sfbi_brd_snp_sent", TO_S3_R1),
    SNP_VC(HNS, 0x1a, "sfbi_brd_snp_sent", S2),
    EVENT(HNS, 0x1c, "intv_dirty", ALL),
    EVENT(HNS, 0x1d, "stash_snp_sent", TO_S3_R1),
    EVENT(HNS, 0x1e, "stash_data_pull", TO_S3_R1),
    EVENT(HNS, 0x1f, "snp_fwded", TO_S3_R1),
    SNP_VC(HNS, 0x1f, "snp_fwded", S2),
    EVENT(HNS, 0x20, "atomic_fwd", TO_S3_R1),
    EVENT(HNS, 0x21, "mpam_hardlim", ALL),
    EVENT(HNS, 0x22, "mpam_softlim", ALL),
    EVENT(HNS, 0x23, "snp_sent_cluster", TO_S3_R1),
    SNP_VC(HNS, 0x23, "snp_sent_cluster", S2),
    EVENT(HNS, 0x24, "sf_imprecise_evict", TO_S3_R1),
    HBT_LBT(HNS, 0x24, "sf_imprecise_evict", S2),
    EVENT(HNS, 0x25, "sf_evict_shared_line", ALL),
    CLASS(HNS, 0x26, "pocq_class_occup", ALL),
    CLASS(HNS, 0x27, "pocq_class_retry", ALL),
    CLASS(HNS, 0x28, "class_mc_reqs_local", ALL),
    CLASS(HNS, 0x29, "class_cgnt_cmin", TO_S3_R1),
    SN_THROTTLE(HNS, 0x2a, "sn_throttle", ALL),
    SN_THROTTLE(HNS, 0x2b, "sn_throttle_min", ALL),
    EVENT(HNS, 0x2c, "sf_precise_to_imprecise", ALL),
    EVENT(HNS, 0x2d, "snp_intv_cln", ALL),
    EVENT(HNS, 0x2e, "nc_excl", ALL),
    EVENT(HNS, 0x2f, "excl_mon_ovfl", TO_S3_R1),
    EVENT(HNS, 0x30, "snp_req_recvd", ALL),
    EVENT(HNS, 0x31, "snp_req_byp_pocq", ALL),
    EVENT(HNS, 0x32, "dir_ccgha_snp_sent", ALL),
    EVENT(HNS, 0x33, "brd_ccgha_snp_sent", ALL),
    EVENT(HNS, 0x34, "ccgha_snp_stall", TO_S3_R1),
    EVENT(HNS, 0x35, "lbt_req_hardlim", ALL),
    EVENT(HNS, 0x36, "hbt_req_hardlim", ALL),
    EVENT(HNS, 0x37, "sf_reupdate", ALL),
    EVENT(HNS, 0x38, "excl_sf_imprecise", TO_S3_R1),
    HBT_LBT(HNS, 0x38, "excl_sf_imprecise", S2),
    EVENT(HNS, 0x39, "snp_pocq_addrhaz", ALL),
    EVENT(HNS, 0x3a, "mc_retries_remote", TO_S3_R1),
    SN_HOME(HNS, 0x3a, "mc_retries_remote", S2),
    SN_HOME(HNS, 0x3b, "mc_reqs_remote", ALL),
    CLASS(HNS, 0x3c, "class_mc_reqs_remote", ALL),
    SOURCE(HNS, 0x3d, "readonce_hazard_detected", S2),
    SOURCE(HNS, 0x3e, "readonce_fwd_data_completed", S2),
    SN_THROTTLE(HNS, 0x40, "cbusy00", S2),
    SN_THROTTLE(HNS, 0x41, "cbusy01", S2),
    SN_THROTTLE(HNS, 0x42, "cbusy10", S2),
    SN_THROTTLE(HNS, 0x43, "cbusy11", S2),
    SOURCE(HNS, 0x44, "ro_rnsd_new_alloc_hint", S2),
};

static const struct {
    uint16_t type;
    const char *prefix;
} prefixes[] = {
    { CMN_NODE_DN, "dn_" }, { CMN_NODE_HNI, "hni_" }, { CMN_NODE_HNF, "hnf_" },
    { CMN_NODE_SBSX, "sbsx_" }, { CMN_NODE_RNI, "rnid_" },
    { CMN_NODE_MTSX, "mtsx_" }, { CMN_NODE_HNP, "hnp_" },
    { CMN_NODE_CXRA, "cxra_" }, { CMN_NODE_CXHA, "cxha_" },
    { CMN_NODE_CCRA, "ccra_" }, { CMN_NODE_CCHA, "ccha_" },
    { CMN_NODE_CCLA, "ccla_" }, { CMN_NODE_HNS, "hns_" },
};

/* The kinds that a filter tells apart, by the value of its field */
#define MAX_KINDS 16

enum { THROTTLE_GROUP0_READ = 1, THROTTLE_GROUP0_WRITE, THROTTLE_GROUP1_READ,
       THROTTLE_GROUP1_WRITE, THROTTLE_READ, THROTTLE_WRITE,
       THROTTLE_LBT_READ = 11, THROTTLE_LBT_WRITE, THROTTLE_LBT };

static const struct {
    CmnFilter filter;
    uint16_t type;          /* of the node, 0: any */
    uint8_t in;             /* set of CmnEvents */
    const char *kinds[MAX_KINDS];   /* NULL: not used */
} filters[] = {
    { CMN_FILTER_OCCUP1, CMN_NODE_HNF, ALL,
      { "all", "read", "write", "atomic", "stash" } },
    { CMN_FILTER_OCCUP1, CMN_NODE_HNS, TO_S3_R1,
      { "all", "read", "write", "atomic", "stash", "rxsnp", "lbt", "hbt" } },
    { CMN_FILTER_OCCUP1, CMN_NODE_HNS, S2,
      { "all", "read", "write", "atomic", "stash", "rxsnp", "lbt", "hbt",
        "rnf", "rni", "ccglcn", "ccgrn" } },
    { CMN_FILTER_OCCUP1, CMN_NODE_DN, ALL, { "all", "dvmop", "dvmsync" } },
    { CMN_FILTER_CLASS, 0, ALL, { "class0", "class1", "class2", "class3" } },
    { CMN_FILTER_HBT_LBT, 0, ALL, { "all", "hbt", "lbt" } },
    { CMN_FILTER_SN_HOME, 0, ALL, { "all", "sn", "home" } },
    { CMN_FILTER_SN_THROTTLE, CMN_NODE_HNS, S2,
      { "all", "group0_read", "group0_write", "group1_read", "group1_write",
        "read", "write", NULL, NULL, "ccg_read", "ccg_write",
        [THROTTLE_LBT_READ] = "lbt_read", "lbt_write", "lbt" } },
    { CMN_FILTER_SN_THROTTLE, 0, ALL,
      { "all", "group0_read", "group0_write", "group1_read", "group1_write",
        "read", "write" } },
    { CMN_FILTER_SNP_VC, 0, ALL, { "vc0", "vc1", "vc2" } },
    { CMN_FILTER_SOURCE, 0, ALL,
      { "all", "hbt", "lbt", "rnf", "rni", "ccglcn", "ccgrn" } },
};

/* The values of CMN_FILTER_EVICT_STATE */
static const char *const states[] = {
    "all", "eu", "en", "su", "sn", "mu", "mn",
};

static bool throttle_includes(unsigned selected, unsigned kind)
{
    switch (selected) {
    case THROTTLE_READ:
        return kind == THROTTLE_GROUP0_READ || kind == THROTTLE_GROUP1_READ;
    case THROTTLE_WRITE:
        return kind == THROTTLE_GROUP0_WRITE || kind == THROTTLE_GROUP1_WRITE;
    case THROTTLE_LBT:
        return kind == THROTTLE_LBT_READ || kind == THROTTLE_LBT_WRITE;
    default:
        return false;
    }
}

bool cmn_event_passes(const CmnEvent *event, unsigned selected,
                      unsigned state)
{
    if (event->evicts && state && state != event->state) {
        return false;
    }
    switch (event->filter) {
    case CMN_FILTER_NONE:
        return true;
    case CMN_FILTER_CLASS:      /* there is no value for all */
    case CMN_FILTER_SNP_VC:
        return selected == event->kind;
    case CMN_FILTER_SN_THROTTLE:
        if (throttle_includes(selected, event->kind)) {
            return true;
        }
        /* fallthrough */
    default:
        return selected == 0 || selected == event->kind;
    }
}

static const char *const *row_kinds(const EventRow *row, CmnEvents in)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(filters); i++) {
        if (filters[i].filter == row->filter && filters[i].in & in &&
            (!filters[i].type || filters[i].type == row->type)) {
            return filters[i].kinds;
        }
    }
    return NULL;
}

/* @rest is the end of a name: true if it names the state, where there is one */
static bool state_matches(const EventRow *row, const char *rest,
                          uint8_t *state)
{
    if (!row->evicts) {
        return !*rest;
    }
    for (*state = 0; *rest == '_' && *state < ARRAY_SIZE(states); ++*state) {
        if (!strcmp(rest + 1, states[*state])) {
            return true;
        }
    }
    return false;
}

/* @name without the prefix; true if it is the row's, of some kind */
static bool row_matches(const EventRow *row, CmnEvents in, const char *name,
                        uint8_t *kind, uint8_t *state)
{
    const char *const *kinds = row_kinds(row, in);
    const char *rest;
    unsigned i;

    *kind = 0;
    *state = 0;
    if (!g_str_has_prefix(name, row->name)) {
        return false;
    }
    rest = name + strlen(row->name);
    if (!kinds) {
        return !*rest;
    }
    for (i = 0; *rest == '_' && i < MAX_KINDS; i++) {
        if (kinds[i] && g_str_has_prefix(rest + 1, kinds[i]) &&
            state_matches(row, rest + 1 + strlen(kinds[i]), state)) {
            *kind = i;
            return true;
        }
    }
    return false;
}

static const char *type_prefix(uint16_t type)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
        if (prefixes[i].type == type) {
            return prefixes[i].prefix;
        }
    }
    g_assert_not_reached();
}

bool cmn_event_parse(CmnEvents in, const char *name, CmnEvent *event)
{
    uint8_t kind, state;
    const char *prefix;
    size_t i;

    for (i = 0; i < ARRAY_SIZE(rows); i++) {
        prefix = type_prefix(rows[i].type);
        if (rows[i].in & in && g_str_has_prefix(name, prefix) &&
            row_matches(&rows[i], in, name + strlen(prefix), &kind,
                        &state)) {
            *event = (CmnEvent) {
                .type = rows[i].type,
                .id = rows[i].id,
                .filter = rows[i].filter,
                .kind = kind,
                .evicts = rows[i].evicts,
                .state = state,
            };
            return true;
        }
    }
    return false;
}

static void row_list(const EventRow *row, CmnEvents in, GString *out)
{
    const char *const *kinds = row_kinds(row, in);
    unsigned i, j;

    for (i = 0; i < (kinds ? MAX_KINDS : 1); i++) {
        for (j = 0; j < (row->evicts ? ARRAY_SIZE(states) : 1); j++) {
            if (kinds && !kinds[i]) {
                continue;
            }
            g_string_append_printf(out, "event %s%s%s%s%s%s type=0x%x "
                                   "eventid=0x%x", type_prefix(row->type),
                                   row->name, kinds ? "_" : "",
                                   kinds ? kinds[i] : "",
                                   row->evicts ? "_" : "",
                                   row->evicts ? states[j] : "", row->type,
                                   row->id);
            if (kinds) {
                g_string_append_printf(out, " occupid=%u", i);
            }
            if (row->evicts) {
                g_string_append_printf(out, " filter2=%u", j);
            }
            g_string_append_c(out, '\n');
        }
    }
}

void cmn_event_list(CmnEvents in, uint16_t type, GString *out)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(rows); i++) {
        if (rows[i].in & in && rows[i].type == type) {
            row_list(&rows[i], in, out);
        }
    }
}
