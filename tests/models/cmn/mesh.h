/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mesh: XPs in rows and columns, the devices on their ports, the nodes of
 * those, and where the register frame of each is.
 */
#ifndef PMU_MODELS_CMN_MESH_H
#define PMU_MODELS_CMN_MESH_H

#include "device.h"
#include "dtm.h"
#include "selector.h"

#define CMN_MAX_CHILDREN    32      /* nodes of an XP */
#define CMN_MAX_CAL         4       /* devices on one port */

typedef struct CmnXp CmnXp;

typedef struct CmnNode {
    uint16_t type;
    uint16_t id;
    uint16_t logical;
    uint8_t port, dev;      /* not of XPs */
    CmnXp *xp;
    CmnDtc *dtc;            /* of a DTC's node, else NULL */
    uint32_t frame;         /* offset of its registers */
    bool external;          /* not in the mesh; may be off */
    bool isolated;
    CmnSelector sel[2];
} CmnNode;

typedef struct CmnPort {
    CmnDeviceKind kind;
    unsigned ndevs;         /* 0: nothing is connected */
    bool cal;
    bool taken[CMN_MAX_CAL];
} CmnPort;

struct CmnXp {
    CmnNode node;
    unsigned x, y;
    unsigned domain;        /* the DTC it reports to */
    unsigned nports;
    CmnPort port[CMN_MAX_PORTS];
    unsigned ndtms;
    CmnDtm dtm[CMN_MAX_DTMS];
    CmnNode *child[CMN_MAX_CHILDREN];
    unsigned nchildren;
    unsigned next_frame;    /* in its block, for what has no port's own */
};

/* What a mesh is built from; texts may be NULL */
typedef struct CmnDescription {
    char *mesh;             /* COLUMNSxROWS */
    char *ports;            /* N, and N@X.Y for XPs that differ, joined by + */
    char *isolated;         /* X.Y.PORT, joined by + */
    char *devices[CMN_NDEVICES];    /* how many, or where */
    uint32_t ndtcs;
} CmnDescription;

typedef struct CmnMesh {
    const CmnProduct *product;
    const CmnLayout *layout;
    unsigned rev;
    bool isolation;         /* the product's option, for some nodes or none */
    unsigned columns, rows;
    unsigned id_bits;       /* of each coordinate in a node id */
    bool ids_by_use;        /* ports that are not in use do not count in ids */
    bool multi_dtm;
    bool lone_lines;        /* of a device's nodes only the first has lines */
    bool quartered;         /* Graviton5: only an XP's place tells its domain */
    unsigned vcs[CMN_NCHANNELS];
    CmnXp *xps;             /* by logical id */
    unsigned nxps;
    CmnNode *root;
    CmnDtc dtc[CMN_MAX_DTCS];
    unsigned ndtcs;
    uint64_t traffic;       /* in a second, at each paired counter */
    uint64_t size;          /* of the configuration space */
    CmnNode **frames;       /* the node of each frame, or NULL */
} CmnMesh;

/*
 * product, layout, rev, isolation, multi_dtm and vcs are set before; DTCs are
 * initialized after. Without a description it is the layout's own mesh.
 */
bool cmn_mesh_build(CmnMesh *mesh, const CmnDescription *description,
                    Error **errp);
void cmn_mesh_free(CmnMesh *mesh);

void cmn_mesh_reset(CmnMesh *mesh);

/* Bring all counters up to the present time. */
void cmn_mesh_sync(CmnMesh *mesh);

/* Each paired counter counts @traffic in a second while it counts. */
void cmn_mesh_set_traffic(CmnMesh *mesh, uint64_t traffic);

/* The node whose registers are at @addr, or NULL */
CmnNode *cmn_mesh_node(const CmnMesh *mesh, uint64_t addr);

/* XPs come first, then each XP's children; NULL: from the start, no more. */
CmnNode *cmn_mesh_next(const CmnMesh *mesh, CmnNode *node);

/* What decides which events an XP has */
CmnXpPorts cmn_mesh_xp_ports(const CmnMesh *mesh, const CmnXp *xp);

/* @event happens @n times at @node. */
void cmn_mesh_event(CmnMesh *mesh, CmnNode *node, const CmnEvent *event,
                    uint64_t n);

/* @n flits pass one of the ports of @xp. */
void cmn_mesh_flits(CmnMesh *mesh, CmnXp *xp, const CmnFlit *flit, uint64_t n);

#endif
