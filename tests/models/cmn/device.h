/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be connected to a port of an XP, and the configuration nodes that
 * discovery finds behind it.
 */
#ifndef PMU_MODELS_CMN_DEVICE_H
#define PMU_MODELS_CMN_DEVICE_H

#include "product.h"

/* Node types, by the number in NODE_INFO */
#define CMN_NODE_DN             0x0001
#define CMN_NODE_CFG            0x0002
#define CMN_NODE_DTC            0x0003
#define CMN_NODE_HNI            0x0004
#define CMN_NODE_HNF            0x0005
#define CMN_NODE_XP             0x0006
#define CMN_NODE_SBSX           0x0007
#define CMN_NODE_MPAM_S         0x0008
#define CMN_NODE_MPAM_NS        0x0009
#define CMN_NODE_RNI            0x000a
#define CMN_NODE_RND            0x000d
#define CMN_NODE_RNSAM          0x000f
#define CMN_NODE_MTSX           0x0010
#define CMN_NODE_HNP            0x0011
#define CMN_NODE_CXRA           0x0100
#define CMN_NODE_CXHA           0x0101
#define CMN_NODE_CXLA           0x0102
#define CMN_NODE_CCRA           0x0103
#define CMN_NODE_CCHA           0x0104
#define CMN_NODE_CCLA           0x0105
#define CMN_NODE_CCLA_RNI       0x0106
#define CMN_NODE_HNS            0x0200
#define CMN_NODE_HNS_MPAM_S     0x0201
#define CMN_NODE_HNS_MPAM_NS    0x0202
#define CMN_NODE_APB            0x1000

/* The kinds of devices, in the order in which they get free ports */
typedef enum CmnDeviceKind {
    CMN_DEV_HND, CMN_DEV_HNT, CMN_DEV_HNF, CMN_DEV_HNS, CMN_DEV_RNI,
    CMN_DEV_RND, CMN_DEV_SBSX, CMN_DEV_HNI, CMN_DEV_HNV, CMN_DEV_HNP,
    CMN_DEV_MTSX, CMN_DEV_CXRA, CMN_DEV_CXHA, CMN_DEV_CXG, CMN_DEV_CCG,
    CMN_DEV_CCGRNI, CMN_DEV_RNF, CMN_DEV_SNF, CMN_NDEVICES
} CmnDeviceKind;

#define CMN_DEVICE_NODES 5

typedef struct CmnDeviceNode {
    uint16_t type;
    CmnColumns in;
    bool external;      /* outside the mesh: its pointer says so */
} CmnDeviceNode;

typedef struct CmnDevice {
    const char *name;   /* also its key in the description of a mesh */
    const char *help;
    uint8_t connect;    /* type in connect info; 0: the product's row has it */
    CmnColumns in;
    CmnDeviceNode nodes[CMN_DEVICE_NODES];  /* type 0 ends the list */
} CmnDevice;

extern const CmnDevice cmn_devices[CMN_NDEVICES];

uint8_t cmn_device_connect(const CmnProduct *product, CmnDeviceKind kind);

const char *cmn_node_name(uint16_t type);

#endif
