// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Devices of a mesh, by what is connected to the port, and the nodes that
 * each has. The first node of a device has the port's own frame, which is how
 * the root of a CMN-600 comes to be where firmware says it is.
 *
 * Where the sources leave it open: HN-V has an HN-I and nothing else, a CXG
 * is connected as CXRH, and APB is a part of HN-D, on CMN S3 alone.
 */
#include "qemu/osdep.h"
#include "device.h"

#define C(column)   (1u << CMN_COL_##column)
#define ALL         (C(S3_R2) * 2 - 1)
#define FROM_650    (ALL & ~C(600))
#define FROM_700    (C(700_R1) | C(700_R3) | C(S3_R0) | C(S3_R2))
#define FROM_S3     (C(S3_R0) | C(S3_R2))
#define HAS_HNS     (C(700_R3) | C(S3_R0) | C(S3_R2))
#define HAS_CML     (ALL & ~C(CI700))

const CmnDevice cmn_devices[CMN_NDEVICES] = {
    [CMN_DEV_HND] = { "hnd", "HN-D: HN-I, DN, DTC 0 and the root", 0x0a, ALL, {
        { CMN_NODE_CFG, ALL }, { CMN_NODE_HNI, ALL }, { CMN_NODE_DN, ALL },
        { CMN_NODE_DTC, ALL }, { CMN_NODE_APB, FROM_S3 } } },
    [CMN_DEV_HNT] = { "hnt", "HN-T: HN-I and the DTCs after 0", 0x08, ALL, {
        { CMN_NODE_DTC, ALL }, { CMN_NODE_HNI, ALL } } },
    [CMN_DEV_HNF] = { "hnf", "HN-F", 0x0e, ALL, {
        { CMN_NODE_HNF, ALL }, { CMN_NODE_MPAM_S, FROM_650 },
        { CMN_NODE_MPAM_NS, FROM_650 } } },
    [CMN_DEV_HNS] = { "hns", "HN-S", 0x1a, HAS_HNS, {
        { CMN_NODE_HNS, ALL }, { CMN_NODE_HNS_MPAM_S, ALL },
        { CMN_NODE_HNS_MPAM_NS, ALL } } },
    [CMN_DEV_RNI] = { "rni", "RN-I", 0x01, ALL, {
        { CMN_NODE_RNI, ALL }, { CMN_NODE_RNSAM, ALL } } },
    [CMN_DEV_RND] = { "rnd", "RN-D", 0x02, ALL, {
        { CMN_NODE_RND, ALL }, { CMN_NODE_RNSAM, ALL } } },
    [CMN_DEV_SBSX] = { "sbsx", "SBSX", 0x0d, ALL, { { CMN_NODE_SBSX, ALL } } },
    [CMN_DEV_HNI] = { "hni", "HN-I", 0x09, ALL, { { CMN_NODE_HNI, ALL } } },
    [CMN_DEV_HNV] = { "hnv", "HN-V, as software sees it an HN-I", 0x1d,
                      FROM_650, { { CMN_NODE_HNI, ALL } } },
    [CMN_DEV_HNP] = { "hnp", "HN-P", 0x0b, FROM_650, {
        { CMN_NODE_HNP, ALL } } },
    [CMN_DEV_MTSX] = { "mtsx", "MTSX", 0x1c, FROM_700 | C(CI700), {
        { CMN_NODE_MTSX, ALL } } },
    [CMN_DEV_CXRA] = { "cxra", "CXRA and CXLA", 0x12, HAS_CML, {
        { CMN_NODE_CXRA, ALL }, { CMN_NODE_CXLA, ALL, true } } },
    [CMN_DEV_CXHA] = { "cxha", "CXHA and CXLA", 0x11, HAS_CML, {
        { CMN_NODE_CXHA, ALL }, { CMN_NODE_CXLA, ALL, true } } },
    [CMN_DEV_CXG] = { "cxg", "CXRA, CXHA and CXLA", 0x13, HAS_CML, {
        { CMN_NODE_CXRA, ALL }, { CMN_NODE_CXHA, ALL },
        { CMN_NODE_CXLA, ALL, true } } },
    [CMN_DEV_CCG] = { "ccg", "CCG: CCRA, CCHA, CCLA", 0x1e, FROM_700, {
        { CMN_NODE_CCRA, ALL }, { CMN_NODE_CCHA, ALL },
        { CMN_NODE_CCLA, ALL } } },
    [CMN_DEV_CCGRNI] = { "ccgrni", "CCG whose CCLA has an RN-I", 0x1e,
                         FROM_700, {
        { CMN_NODE_CCRA, ALL }, { CMN_NODE_CCHA, ALL },
        { CMN_NODE_CCLA_RNI, ALL } } },
    [CMN_DEV_RNF] = { "rnf", "RN-F, its RN-SAM is external", 0, ALL, {
        { CMN_NODE_RNSAM, ALL, true } } },
    [CMN_DEV_SNF] = { "snf", "SN-F, which has no nodes", 0, ALL, { { 0 } } },
};

uint8_t cmn_device_connect(const CmnProduct *product, CmnDeviceKind kind)
{
    switch (kind) {
    case CMN_DEV_RNF:
        return product->rnf_connect;
    case CMN_DEV_SNF:
        return product->snf_connect;
    default:
        return cmn_devices[kind].connect;
    }
}

static const struct {
    uint16_t type;
    const char *name;
} node_names[] = {
    { CMN_NODE_DN, "dn" }, { CMN_NODE_CFG, "cfg" }, { CMN_NODE_DTC, "dtc" },
    { CMN_NODE_HNI, "hni" }, { CMN_NODE_HNF, "hnf" }, { CMN_NODE_XP, "mxp" },
    { CMN_NODE_SBSX, "sbsx" }, { CMN_NODE_MPAM_S, "mpam_s" },
    { CMN_NODE_MPAM_NS, "mpam_ns" }, { CMN_NODE_RNI, "rni" },
    { CMN_NODE_RND, "rnd" }, { CMN_NODE_RNSAM, "rnsam" },
    { CMN_NODE_MTSX, "mtsx" }, { CMN_NODE_HNP, "hnp" },
    { CMN_NODE_CXRA, "cxra" }, { CMN_NODE_CXHA, "cxha" },
    { CMN_NODE_CXLA, "cxla" }, { CMN_NODE_CCRA, "ccra" },
    { CMN_NODE_CCHA, "ccha" }, { CMN_NODE_CCLA, "ccla" },
    { CMN_NODE_CCLA_RNI, "ccla_rni" }, { CMN_NODE_HNS, "hns" },
    { CMN_NODE_HNS_MPAM_S, "hns_mpam_s" },
    { CMN_NODE_HNS_MPAM_NS, "hns_mpam_ns" }, { CMN_NODE_APB, "apb" },
};

const char *cmn_node_name(uint16_t type)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(node_names); i++) {
        if (node_names[i].type == type) {
            return node_names[i].name;
        }
    }
    return "unknown";
}
