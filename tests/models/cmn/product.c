// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of the products: CMN-600, CMN-650, CI-700, CMN-700, CMN S3.
 *
 * Where the sources leave it open: CI-700 is as CMN-650 except where its own
 * facts are known; the widths of CMN-700's selectors are those of r3 from r2
 * on, which has events that do not fit in those of r1.
 */
#include "qemu/osdep.h"
#include "product.h"

/* 2 ports, all there is on CMN-600 */
static const CmnXpLayout xp_600 = {
    .connect = { 0x08, 0x10 },
    .port_info = { 0x900, 0x908 },
};

static const CmnXpLayout xp_650 = {
    .connect = { 0x08, 0x10, 0x28, 0x30, 0x38, 0x40 },
    .port_info = { 0x900, 0x908, 0x928, 0x930, 0x938, 0x940 },
    .unit_info = 0x910,
};

static const CmnXpLayout xp_700 = {
    .connect = { 0x08, 0x10, 0x18, 0x20, 0x28, 0x30 },
    .port_info = { 0x900, 0x910, 0x920, 0x930, 0x940, 0x950 },
    .has_port_vcs = true,
    .unit_info = 0x960,
    .counts_ports = true,
};

static const CmnWpLayout wp_600 = {
    .grp = 1 << 4,
    .exclusive = 1 << 5,
    .combine = 1 << 6,
    .pkt_gen = 1 << 8,
    .writable = 0x7f7f,
};

static const CmnWpLayout wp_650 = {
    .grp = 3 << 4,
    .exclusive = 1 << 8,
    .combine = 1 << 9,
    .pkt_gen = 1 << 10,
    .dev_sel2 = 3 << 17,
    .writable = 0x7ffff,
};

static const CmnWpLayout wp_700 = {
    .grp = 3 << 4,
    .exclusive = 1 << 8,
    .combine = 1 << 9,
    .pkt_gen = 1 << 10,
    .dev_sel2 = 3 << 17,
    .chn_num = 3 << 19,
    .writable = 0x1fffff,
};

/* In all of them: addresses of 48 bits, parity, data check */
#define INFO_GLOBAL     0x03303008ull

static const CmnGlobalLayout global_600 = {
    .info = INFO_GLOBAL,
};

static const CmnGlobalLayout global_650 = {
    .info = INFO_GLOBAL | 4ull << 60,
    .multi_dtm = 1ull << 63,
    .dat_vcs = 3ull << 50,
    .rsp_vcs = 3ull << 52,
};

static const CmnGlobalLayout global_700 = {
    .info = INFO_GLOBAL | 4ull << 60,
    .multi_dtm = 1ull << 63,
    .dat_vcs = 3ull << 50,
    .rsp_vcs = 3ull << 52,
    .info_1 = 0x24200,
    .req_vcs_1 = 3 << 0,
    .snp_vcs_1 = 3 << 2,
};

static const CmnGlobalLayout global_s3_r0 = {
    .info = INFO_GLOBAL | 4ull << 60,
    .multi_dtm = 1ull << 63,
    .isolation = 1ull << 44,
    .dat_vcs = 3ull << 50,
    .rsp_vcs = 3ull << 52,
    .info_1 = 0x24200,
    .req_vcs_1 = 3 << 0,
    .snp_vcs_1 = 3 << 2,
};

static const CmnGlobalLayout global_s3_r2 = {
    .info = INFO_GLOBAL | 4ull << 56,
    .multi_dtm = 1ull << 59,
    .isolation = 1ull << 44,
    .info_1 = 0x1000908000,
    .req_vcs_1 = 7 << 0,
    .snp_vcs_1 = 7 << 3,
    .dat_vcs_1 = 7 << 6,
    .rsp_vcs_1 = 7 << 9,
    .has_info_2 = true,
};

/*
 * The meshes that are built unless described: every type of node that has
 * events, HN-Fs in both DTC domains and two on one port, and where the
 * product allows it, XPs with three and four ports beside those with two.
 */
#define MESH_COMMON \
    "mesh=4x2 dtc=2 hnd=0.1.1 hnt=3.1.0 rnd=3.0.0 rni=2.0.0 "

static const char mesh_600[] = MESH_COMMON
    "hnf=0.0.1.0+0.0.1.1+1.0.0+1.0.1+2.0.1+3.0.1 sbsx=1.1.0+1.1.1 "
    "hni=2.1.1 cxg=3.1.1 rnf=0.0.0+0.1.0+2.1.0";

static const char mesh_650[] = MESH_COMMON
    "hnf=0.0.1.0+0.0.1.1+1.0.0+1.0.1+2.0.1+3.0.1 sbsx=1.1.0 hnp=1.1.1 "
    "hni=2.1.1 cxg=3.1.1 rnf=0.0.0+0.1.0+2.1.0";

static const char mesh_ci700[] = MESH_COMMON
    "hnf=0.0.1.0+0.0.1.1+1.0.0+1.0.1+2.0.1+3.0.1 sbsx=1.1.0 hnp=1.1.1 "
    "hni=2.1.1 mtsx=3.1.1 rnf=0.0.0+0.1.0+2.1.0";

static const char mesh_700_r0[] = MESH_COMMON
    "ports=2+3@1.0+4@2.1 hnf=0.0.1.0+0.0.1.1+1.0.0+1.0.1+1.0.2.0+1.0.2.1+3.0.1 "
    "sbsx=1.1.0 hnp=1.1.1 mtsx=2.1.0 hni=2.1.1 ccg=2.1.2 ccgrni=2.1.3 "
    "cxg=3.1.1 snf=2.0.1 rnf=0.0.0+0.1.0";

static const char mesh_700_r3[] = MESH_COMMON
    "ports=2+3@1.0+4@2.1 hnf=0.0.1.0+0.0.1.1+1.0.0+1.0.1+3.0.1 "
    "hns=1.0.2.0+1.0.2.1+2.0.1 sbsx=1.1.0 hnp=1.1.1 mtsx=2.1.0 hni=2.1.1 "
    "ccg=2.1.2 ccgrni=2.1.3 cxg=3.1.1 rnf=0.0.0+0.1.0";

static const CmnLayout layouts_600[] = {
    { .first_rev = 0, .column = CMN_COL_600, .events = CMN_EVENTS_600_R1,
      .pmu = 0x2000, .xp_pmu = 0x2000, .wp = &wp_600, .global = &global_600,
      .mesh = mesh_600 },
    { .first_rev = 4, .column = CMN_COL_600, .events = CMN_EVENTS_600_R2,
      .pmu = 0x2000, .xp_pmu = 0x2000, .wp = &wp_600, .global = &global_600,
      .mesh = mesh_600 },
};

static const CmnLayout layouts_600ae[] = {
    { .column = CMN_COL_600, .events = CMN_EVENTS_600_R2,
      .pmu = 0x2000, .xp_pmu = 0x2000, .wp = &wp_600, .global = &global_600,
      .mesh = mesh_600 },
};

static const CmnLayout layouts_650[] = {
    { .column = CMN_COL_650, .events = CMN_EVENTS_650,
      .pmu = 0x2000, .xp_pmu = 0x2000, .wp = &wp_650, .global = &global_650,
      .mesh = mesh_650 },
};

static const CmnLayout layouts_ci700[] = {
    { .column = CMN_COL_CI700, .events = CMN_EVENTS_CI700,
      .pmu = 0x2000, .xp_pmu = 0x2000, .wp = &wp_650, .global = &global_650,
      .mesh = mesh_ci700 },
};

static const CmnLayout layouts_700[] = {
    { .first_rev = 0, .column = CMN_COL_700_R1, .events = CMN_EVENTS_700,
      .pmu = 0x2000, .xp_pmu = 0x2000, .wp = &wp_700, .global = &global_700,
      .mesh = mesh_700_r0 },
    { .first_rev = 2, .column = CMN_COL_700_R3, .events = CMN_EVENTS_700,
      .pmu = 0x2000, .xp_pmu = 0x2000, .wp = &wp_700, .global = &global_700,
      .mesh = mesh_700_r0 },
    { .first_rev = 3, .column = CMN_COL_700_R3, .events = CMN_EVENTS_700,
      .pmu = 0x2000, .xp_pmu = 0x2000, .wp = &wp_700, .global = &global_700,
      .mesh = mesh_700_r3 },
};

static const CmnLayout layouts_s3[] = {
    { .first_rev = 0, .column = CMN_COL_S3_R0, .events = CMN_EVENTS_S3_R1,
      .pmu = 0xd900, .xp_pmu = 0xd900, .wp = &wp_700, .global = &global_s3_r0,
      .mesh = mesh_700_r3 },
    { .first_rev = 2, .column = CMN_COL_S3_R0, .events = CMN_EVENTS_S3_R1,
      .pmu = 0xd900, .xp_pmu = 0xa000, .wp = &wp_700, .global = &global_s3_r0,
      .mesh = mesh_700_r3 },
    { .first_rev = 3, .column = CMN_COL_S3_R2, .events = CMN_EVENTS_S3_R2,
      .pmu = 0xd900, .xp_pmu = 0xa000, .isolated_pointers = true,
      .wp = &wp_700, .global = &global_s3_r2, .mesh = mesh_700_r3 },
};

#define LAYOUTS(table) .layouts = table, .nlayouts = ARRAY_SIZE(table)

static const CmnProduct products[] = {
    {
        .name = "cmn600", .title = "CMN-600", .compatible = "arm,cmn-600",
        .part = 0x434, .default_rev = 3,
        .frame_shift = 14, .block_shift = 20, .max_ports = 2, .max_cal = 2,
        .has_root_node = true, .rnf_connect = 0x05, .snf_connect = 0x0c,
        .ns_bit = { 40, 24 }, .coresight = 0x2da0,
        .pmu_config = 0x3f3f3f3f777701ff, .pointer_mask = 0x0fffffff,
        .xp = &xp_600, LAYOUTS(layouts_600),
    }, {
        /* revisions of its own, all with the events of CMN-600 r2p0 */
        .name = "cmn600ae", .title = "CMN-600AE", .compatible = "arm,cmn-600",
        .part = 0x438, .default_rev = 0,
        .frame_shift = 14, .block_shift = 20, .max_ports = 2, .max_cal = 2,
        .has_root_node = true, .rnf_connect = 0x05, .snf_connect = 0x0c,
        .ns_bit = { 40, 24 }, .coresight = 0x2da0,
        .pmu_config = 0x3f3f3f3f777701ff, .pointer_mask = 0x0fffffff,
        .xp = &xp_600, LAYOUTS(layouts_600ae),
    }, {
        .name = "cmn650", .title = "CMN-650", .compatible = "arm,cmn-650",
        .part = 0x436, .default_rev = 3,
        .frame_shift = 16, .block_shift = 22, .max_ports = 6, .max_cal = 2,
        .rnf_connect = 0x15, .snf_connect = 0x10,
        .ns_bit = { 39, 35 }, .coresight = 0xfa0,
        .pmu_config = 0xffffffff777701ff, .pointer_mask = 0x3fffffff,
        .xp = &xp_650, LAYOUTS(layouts_650),
    }, {
        .name = "ci700", .title = "CI-700", .compatible = "arm,ci-700",
        .part = 0x43a, .default_rev = 2,
        .frame_shift = 16, .block_shift = 22, .max_ports = 6, .max_cal = 4,
        .rnf_connect = 0x19, .snf_connect = 0x0f,
        .ns_bit = { 39, 35 }, .coresight = 0xfa0,
        .pmu_config = 0xffffffff777701ff, .pointer_mask = 0x3fffffff,
        .xp = &xp_650, LAYOUTS(layouts_ci700),
    }, {
        .name = "cmn700", .title = "CMN-700", .compatible = "arm,cmn-700",
        .part = 0x43c, .default_rev = 2,
        .frame_shift = 16, .block_shift = 22, .max_ports = 6, .max_cal = 4,
        .multi_dtm = true, .rnf_connect = 0x19, .snf_connect = 0x0f,
        .ns_bit = { 39, 35 }, .coresight = 0xfa0,
        .pmu_config = 0xffffffff777701ff, .pointer_mask = 0x3fffffff,
        .xp = &xp_700, LAYOUTS(layouts_700),
    }, {
        .name = "cmns3", .title = "CMN S3", .compatible = "arm,cmn-s3",
        .part = 0x43e, .default_rev = 1,
        .frame_shift = 16, .block_shift = 22, .max_ports = 6, .max_cal = 4,
        .multi_dtm = true, .rnf_connect = 0x21, .snf_connect = 0x22,
        .ns_bit = { 39, 35 }, .coresight = 0xfa0,
        .pmu_config = 0xffffffff777701ff, .pointer_mask = 0x3fffffff,
        .xp = &xp_700, LAYOUTS(layouts_s3),
    },
};

const CmnProduct *cmn_product_next(const CmnProduct *product)
{
    product = product ? product + 1 : products;
    return product < products + ARRAY_SIZE(products) ? product : NULL;
}

const CmnLayout *cmn_product_layout(const CmnProduct *product, unsigned rev)
{
    const CmnLayout *layout = product->layouts;
    size_t i;

    for (i = 0; i < product->nlayouts; i++) {
        if (rev >= product->layouts[i].first_rev) {
            layout = &product->layouts[i];
        }
    }
    return layout;
}
