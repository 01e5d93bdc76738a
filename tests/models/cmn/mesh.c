// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What happens in a mesh, and which counters see it.
 */
#include "qemu/osdep.h"
#include "mesh.h"

CmnNode *cmn_mesh_node(const CmnMesh *mesh, uint64_t addr)
{
    return addr < mesh->size ?
           mesh->frames[addr >> mesh->product->frame_shift] : NULL;
}

static CmnNode *next_xp(const CmnMesh *mesh, CmnXp *xp)
{
    return xp + 1 < mesh->xps + mesh->nxps ? &xp[1].node : NULL;
}

CmnNode *cmn_mesh_next(const CmnMesh *mesh, CmnNode *node)
{
    CmnXp *xp;
    unsigned i = 0;

    if (!node) {
        return &mesh->xps[0].node;
    }
    xp = node->xp;
    if (node != &xp->node) {
        while (xp->child[i++] != node) {
        }
    }
    return i < xp->nchildren ? xp->child[i] : next_xp(mesh, xp);
}

CmnXpPorts cmn_mesh_xp_ports(const CmnMesh *mesh, const CmnXp *xp)
{
    CmnXpPorts ports = {
        .alone = mesh->nxps == 1,
        .has_pub = mesh->layout->column != CMN_COL_600,
        .nports = xp->nports,
    };

    memcpy(ports.vcs, mesh->vcs, sizeof(ports.vcs));
    return ports;
}

/* The DTM that serves a port, and the port's number there */
static CmnDtm *port_dtm(CmnMesh *mesh, CmnXp *xp, unsigned *port)
{
    unsigned dtm = mesh->multi_dtm ? *port / 2 : 0;

    *port -= 2 * dtm;
    return &xp->dtm[dtm];
}

/* An XP's own events go to all its DTMs. */
static void xp_line(CmnXp *xp, unsigned line, uint64_t n)
{
    unsigned i;

    for (i = 0; i < xp->ndtms; i++) {
        cmn_dtm_count(&xp->dtm[i], CMN_SOURCE_XP(line), n);
    }
}

static void device_line(CmnMesh *mesh, CmnNode *node, unsigned line,
                        uint64_t n)
{
    unsigned port = node->port;
    CmnDtm *dtm = port_dtm(mesh, node->xp, &port);

    cmn_dtm_count(dtm, CMN_SOURCE_DEVICE(port, node->dev, line), n);
}

/* Is it the first with events of a device, or an XP? */
static bool is_first(const CmnNode *node)
{
    CmnNode *const *child = node->xp->child;

    if (node->type == CMN_NODE_XP) {
        return true;
    }
    while ((*child)->id != node->id ||
           !((*child)->sel[0].type || (*child)->sel[1].type)) {
        child++;
    }
    return *child == node;
}

void cmn_mesh_event(CmnMesh *mesh, CmnNode *node, const CmnEvent *event,
                    uint64_t n)
{
    unsigned lines = cmn_selector_lines(&node->sel[0], event) |
                     cmn_selector_lines(&node->sel[1], event);
    unsigned line;

    if (mesh->lone_lines && !is_first(node)) {
        return;
    }
    for (line = 0; line < CMN_NLINES; line++) {
        if (!(lines & 1u << line)) {
            continue;
        }
        if (node->type == CMN_NODE_XP) {
            xp_line(node->xp, line, n);
        } else {
            device_line(mesh, node, line, n);
        }
    }
}

void cmn_mesh_flits(CmnMesh *mesh, CmnXp *xp, const CmnFlit *flit, uint64_t n)
{
    CmnXpPorts ports = cmn_mesh_xp_ports(mesh, xp);
    CmnFlit seen = *flit;
    CmnEvent event;
    CmnDtm *dtm;

    dtm = port_dtm(mesh, xp, &seen.port);
    cmn_dtm_flits(dtm, &seen, n);
    /* The XP has transmitted a flit that goes down to a device. */
    if (flit->down && cmn_xp_event_flit(&ports, flit->port, flit->channel,
                                        flit->vc, &event)) {
        cmn_mesh_event(mesh, &xp->node, &event, n);
    }
}

void cmn_mesh_sync(CmnMesh *mesh)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    unsigned i, j;

    for (i = 0; mesh->traffic && i < mesh->nxps; i++) {
        for (j = 0; j < mesh->xps[i].ndtms; j++) {
            cmn_dtm_sync(&mesh->xps[i].dtm[j], now);
        }
    }
    for (i = 0; i < mesh->ndtcs; i++) {
        cmn_dtc_sync(&mesh->dtc[i]);
        mesh->dtc[i].synced = now;
    }
}

void cmn_mesh_set_traffic(CmnMesh *mesh, uint64_t traffic)
{
    unsigned i, j;

    cmn_mesh_sync(mesh);
    mesh->traffic = traffic;
    for (i = 0; i < mesh->nxps; i++) {
        for (j = 0; j < mesh->xps[i].ndtms; j++) {
            CmnDtm *dtm = &mesh->xps[i].dtm[j];

            dtm->traffic = traffic;
            dtm->synced = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        }
    }
}

void cmn_mesh_reset(CmnMesh *mesh)
{
    CmnNode *node;
    unsigned i;

    for (node = cmn_mesh_next(mesh, NULL); node;
         node = cmn_mesh_next(mesh, node)) {
        cmn_selector_reset(&node->sel[0]);
        cmn_selector_reset(&node->sel[1]);
    }
    for (i = 0; i < mesh->nxps * CMN_MAX_DTMS; i++) {
        cmn_dtm_reset(&mesh->xps[i / CMN_MAX_DTMS].dtm[i % CMN_MAX_DTMS]);
    }
    for (i = 0; i < mesh->ndtcs; i++) {
        cmn_dtc_reset(&mesh->dtc[i]);
    }
}
