/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The products of Arm's Coherent Mesh Network, and in what their registers
 * differ. A layout is what software has to tell apart: a product, or a range
 * of its revisions.
 */
#ifndef PMU_MODELS_CMN_PRODUCT_H
#define PMU_MODELS_CMN_PRODUCT_H

#include "qemu/osdep.h"
#include "qemu/bitops.h"

#define CMN_MAX_COLUMNS 14      /* and rows */
#define CMN_MAX_XPS     (CMN_MAX_COLUMNS * CMN_MAX_COLUMNS)
#define CMN_MAX_PORTS   6       /* of an XP; 4 where it is not the only one */
#define CMN_MAX_DTMS    3       /* of an XP, one for two ports */
#define CMN_MAX_DTCS    4
#define CMN_MAX_REV     15      /* an unknown code is taken for the last one */

/* The columns of the manuals' tables of event selectors */
typedef enum CmnColumn {
    CMN_COL_600, CMN_COL_650, CMN_COL_CI700, CMN_COL_700_R1, CMN_COL_700_R3,
    CMN_COL_S3_R0, CMN_COL_S3_R2, CMN_NCOLUMNS
} CmnColumn;

typedef uint8_t CmnColumns;     /* a set of them, bit n for column n */

/* The sets of events: what has the same ones */
typedef enum CmnEvents {
    CMN_EVENTS_600_R1 = 1 << 0, /* numbers DN events differently */
    CMN_EVENTS_600_R2 = 1 << 1,
    CMN_EVENTS_650 = 1 << 2,
    CMN_EVENTS_CI700 = 1 << 3,
    CMN_EVENTS_700 = 1 << 4,
    CMN_EVENTS_S3_R1 = 1 << 5,
    CMN_EVENTS_S3_R2 = 1 << 6,  /* has other filters */
} CmnEvents;

/* Fields of WPn_CONFIG that are not everywhere at the same place. 0: none */
typedef struct CmnWpLayout {
    uint32_t grp;
    uint32_t exclusive;
    uint32_t combine;           /* reserved in WP1 and WP3 */
    uint32_t dev_sel2;
    uint32_t chn_num;
    uint32_t pkt_gen;           /* makes a trace packet of each flit */
    uint32_t writable;          /* of WP0 and WP2 */
} CmnWpLayout;

/* INFO_GLOBAL and its continuations: masks of fields, 0 where there is none */
typedef struct CmnGlobalLayout {
    uint64_t info;              /* what is the same on every mesh */
    uint64_t multi_dtm;
    uint64_t isolation;
    uint64_t dat_vcs, rsp_vcs;
    uint64_t info_1;            /* the same of INFO_GLOBAL_1 */
    uint64_t req_vcs_1, snp_vcs_1, dat_vcs_1, rsp_vcs_1;
    bool has_info_2;
} CmnGlobalLayout;

/* Where an XP's information registers are. 0: there is none */
typedef struct CmnXpLayout {
    uint16_t connect[CMN_MAX_PORTS];
    uint16_t port_info[CMN_MAX_PORTS];
    bool has_port_vcs;          /* after port_info */
    uint16_t unit_info;         /* of DTM 0, the others follow */
    bool counts_ports;          /* NODE_INFO says how many there are */
} CmnXpLayout;

typedef struct CmnLayout {
    uint8_t first_rev;          /* from this revision of the product on */
    CmnColumn column;
    CmnEvents events;
    uint32_t pmu;               /* PMU block in the frame of a node */
    uint32_t xp_pmu;            /* and of an XP */
    bool isolated_pointers;     /* a child pointer says so in bit 30 */
    const CmnWpLayout *wp;
    const CmnGlobalLayout *global;
    const char *mesh;           /* the mesh that is built unless described */
} CmnLayout;

typedef struct CmnProduct {
    const char *name;           /* type of the QEMU device */
    const char *title;
    const char *compatible;     /* in a device tree */
    uint16_t part;
    uint8_t default_rev;
    uint8_t frame_shift;
    uint8_t block_shift;        /* of an XP's and its devices' frames */
    uint8_t max_ports;
    uint8_t max_cal;            /* devices on one port */
    bool multi_dtm;             /* unless described otherwise */
    bool has_root_node;         /* the root is not at offset 0 */
    uint8_t rnf_connect;        /* types in connect info, by version of CHI */
    uint8_t snf_connect;
    uint8_t ns_bit[2];          /* of REQ and SNP flits, in match group 0 */
    uint16_t coresight;         /* management registers of a DTC */
    uint64_t pmu_config;        /* writable bits of PMU_CONFIG */
    uint32_t pointer_mask;      /* offset in a child pointer */
    const CmnXpLayout *xp;
    const CmnLayout *layouts;   /* by revision, ascending */
    size_t nlayouts;
} CmnProduct;

/* NULL is "from the start" and "no more". */
const CmnProduct *cmn_product_next(const CmnProduct *product);

const CmnLayout *cmn_product_layout(const CmnProduct *product, unsigned rev);

#endif
