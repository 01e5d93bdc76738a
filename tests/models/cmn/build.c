// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the short description of a mesh to its nodes, their ids and frames.
 *
 * Frames: every XP has a block, at the address that its coordinates make. The
 * first frames of the block belong to the ports, one each, and the first node
 * on a port has it; all other nodes come after, the XP's own first. The root
 * has the frame of its port on CMN-600 and is at offset 0 on all others; it is
 * no child of its XP.
 *
 * Where the sources leave it open: domains of DTCs are groups of columns, or
 * of XPs where there are fewer columns than DTCs. In ids at an XP with more than
 * four ports among others all three bits are the port's.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/units.h"
#include "mesh.h"
#include "place.h"

#define MIN_ID_BITS         2
#define MAX_CAL_WIDE        2       /* devices on a port where there are > 2 */
#define XP_FRAME            8       /* in its block */
#define DEFAULT_SIZE        "4x2"
#define DEFAULT_PORTS       2
#define SMALL_REGION        (64 * MiB)
#define LARGE_REGION        (256 * MiB)

static CmnXp *xp_at(const CmnMesh *mesh, unsigned x, unsigned y)
{
    return x < mesh->columns && y < mesh->rows ?
           &mesh->xps[y * mesh->columns + x] : NULL;
}

static bool is_alone(const CmnMesh *mesh)
{
    return mesh->nxps == 1;
}

static unsigned id_bits(unsigned columns, unsigned rows)
{
    return MAX(MIN_ID_BITS, 32 - clz32(MAX(columns, rows) - 1));
}

static uint32_t block_address(const CmnMesh *mesh, const CmnXp *xp)
{
    unsigned shift = mesh->product->block_shift;

    return xp->y << shift | xp->x << (shift + mesh->id_bits);
}

static unsigned xp_domain(const CmnMesh *mesh, const CmnXp *xp)
{
    if (mesh->quartered) {
        return xp->x * 2 / mesh->columns + xp->y * 2 / mesh->rows * 2;
    }
    return mesh->columns >= mesh->ndtcs ?
           xp->x * mesh->ndtcs / mesh->columns :
           xp->node.logical * mesh->ndtcs / mesh->nxps;
}

/*
 * The number of ports that node ids go by: all of them, or those up to the last
 * one that something is connected to. No source says which.
 */
static unsigned id_ports(const CmnMesh *mesh, const CmnXp *xp)
{
    unsigned ports = xp->nports;

    while (mesh->ids_by_use && ports && !xp->port[ports - 1].ndevs) {
        ports--;
    }
    return ports;
}

static uint16_t device_id(const CmnMesh *mesh, const CmnXp *xp, unsigned port,
                          unsigned dev)
{
    unsigned ports = is_alone(mesh) ? 1 : id_ports(mesh, xp);
    unsigned dev_bits = ports > 4 ? 0 : ports > 2 ? 1 : 2;

    return xp->node.id | port << dev_bits | dev;
}

static void make_xps(CmnMesh *mesh)
{
    unsigned i;

    mesh->nxps = mesh->columns * mesh->rows;
    mesh->id_bits = id_bits(mesh->columns, mesh->rows);
    mesh->xps = g_new0(CmnXp, mesh->nxps);
    for (i = 0; i < mesh->nxps; i++) {
        CmnXp *xp = &mesh->xps[i];

        xp->x = i % mesh->columns;
        xp->y = i / mesh->columns;
        xp->nports = DEFAULT_PORTS;
        xp->next_frame = XP_FRAME + 1;
        xp->node = (CmnNode) {
            .type = CMN_NODE_XP,
            .id = xp->x << (3 + mesh->id_bits) | xp->y << 3,
            .logical = i,
            .xp = xp,
            .frame = block_address(mesh, xp) |
                     XP_FRAME << mesh->product->frame_shift,
        };
        cmn_selectors_init(xp->node.sel, CMN_NODE_XP, mesh->layout->column);
    }
}

/* @text is one part of what ports= says. */
static bool set_ports(CmnMesh *mesh, const char *text, Error **errp)
{
    unsigned n, x = 0, y = 0, i;
    bool everywhere;

    if (!cmn_ports_parse(text, &n, &everywhere, &x, &y)) {
        error_setg(errp, "'%s' in ports is neither N nor N@X.Y", text);
        return false;
    }
    if (n < 1 || n > mesh->product->max_ports || !xp_at(mesh, x, y)) {
        error_setg(errp, "'%s' in ports is not possible: XPs of this %s have 1 "
                   "to %u ports, X is below %u and Y below %u", text,
                   mesh->product->title, mesh->product->max_ports,
                   mesh->columns,
                   mesh->rows);
        return false;
    }
    for (i = 0; everywhere && i < mesh->nxps; i++) {
        mesh->xps[i].nports = n;
    }
    if (!everywhere) {
        xp_at(mesh, x, y)->nports = n;
    }
    return true;
}

static bool make_ports(CmnMesh *mesh, const char *text, Error **errp)
{
    g_auto(GStrv) parts = g_strsplit(text ?: "", "+", -1);
    char **part;

    for (part = parts; *part; part++) {
        if (!set_ports(mesh, *part, errp)) {
            return false;
        }
    }
    return true;
}

static unsigned max_cal(const CmnMesh *mesh, const CmnXp *xp)
{
    if (is_alone(mesh) || xp->nports <= 2) {
        return mesh->product->max_cal;
    }
    return xp->nports > 4 ? 1 : MAX_CAL_WIDE;
}

/* Plug a device in, and nothing else yet: logical ids go by place. */
static bool plug(CmnMesh *mesh, CmnDeviceKind kind, const CmnPlace *place,
                 Error **errp)
{
    CmnXp *xp = xp_at(mesh, place->x, place->y);
    const char *name = cmn_devices[kind].name;
    CmnPort *port;

    if (!xp || place->port >= xp->nports) {
        error_setg(errp, "there is no %u.%u.%u for a %s: the mesh is %ux%u%s",
                   place->x, place->y, place->port, name, mesh->columns,
                   mesh->rows, xp ? " and this XP has fewer ports" : "");
        return false;
    }
    port = &xp->port[place->port];
    if (place->dev >= max_cal(mesh, xp)) {
        error_setg(errp, "there is no device %u for a %s at %u.%u.%u: a port "
                   "has at most %u", place->dev, name, place->x, place->y,
                   place->port, max_cal(mesh, xp));
        return false;
    }
    if (port->taken[place->dev] || (port->ndevs && port->kind != kind)) {
        error_setg(errp, "%u.%u.%u cannot be a %s: a %s is there already",
                   place->x, place->y, place->port, name,
                   cmn_devices[port->kind].name);
        return false;
    }
    port->kind = kind;
    port->ndevs++;
    port->cal |= place->has_dev;
    port->taken[place->dev] = true;
    return true;
}

/*
 * Look at the first port of every XP before any second port, so that devices
 * are spread over the mesh.
 */
static bool find_free(const CmnMesh *mesh, int domain, CmnPlace *place)
{
    unsigned port, i;

    for (port = 0; port < CMN_MAX_PORTS; port++) {
        for (i = 0; i < mesh->nxps; i++) {
            const CmnXp *xp = &mesh->xps[i];

            if (port < xp->nports && !xp->port[port].ndevs &&
                (domain < 0 || xp->domain == (unsigned)domain)) {
                *place = (CmnPlace) { .x = xp->x, .y = xp->y, .port = port };
                return true;
            }
        }
    }
    return false;
}

static bool plug_anywhere(CmnMesh *mesh, CmnDeviceKind kind, unsigned count,
                          Error **errp)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        /* Each HN-T has the DTC of the domain it is in. */
        int domain = kind == CMN_DEV_HNT ? (int)i + 1 : -1;
        CmnPlace place;

        if (!find_free(mesh, domain, &place)) {
            error_setg(errp, "no free port is left for %s %u of %u",
                       cmn_devices[kind].name, i + 1, count);
            return false;
        }
        if (!plug(mesh, kind, &place, errp)) {
            return false;
        }
    }
    return true;
}

static bool plug_at(CmnMesh *mesh, CmnDeviceKind kind,
                    const CmnPlaces *places, Error **errp)
{
    unsigned i;

    for (i = 0; i < places->count; i++) {
        if (!plug(mesh, kind, &places->at[i], errp)) {
            return false;
        }
    }
    return true;
}

/* There is one HN-D, and an HN-T for every other DTC. */
static bool check_count(const CmnMesh *mesh, CmnDeviceKind kind,
                        unsigned count, Error **errp)
{
    const CmnDevice *device = &cmn_devices[kind];
    unsigned right = kind == CMN_DEV_HND ? 1 : mesh->ndtcs - 1;

    if (count && !(device->in & 1u << mesh->layout->column)) {
        error_setg(errp, "this %s has no %s", mesh->product->title,
                   device->name);
        return false;
    }
    if ((kind == CMN_DEV_HND || kind == CMN_DEV_HNT) && count != right) {
        error_setg(errp, "%s: there %s %u with %u DTCs, not %u", device->name,
                   right == 1 ? "is" : "are", right, mesh->ndtcs, count);
        return false;
    }
    return true;
}

static bool parse_devices(const CmnMesh *mesh, const CmnDescription *d,
                          CmnPlaces *places, Error **errp)
{
    unsigned kind;

    places[CMN_DEV_HND].count = 1;
    places[CMN_DEV_HNT].count = mesh->ndtcs - 1;
    for (kind = 0; kind < CMN_NDEVICES; kind++) {
        if (d->devices[kind] &&
            !cmn_places_parse(cmn_devices[kind].name, d->devices[kind],
                              &places[kind], errp)) {
            return false;
        }
        if (!check_count(mesh, kind, places[kind].count, errp)) {
            return false;
        }
    }
    return true;
}

/*
 * Devices with a given place are plugged in first. The others take what is
 * left.
 */
static bool plug_devices(CmnMesh *mesh, const CmnDescription *d,
                         Error **errp)
{
    CmnPlaces places[CMN_NDEVICES] = { };
    bool ok = parse_devices(mesh, d, places, errp);
    unsigned kind;

    for (kind = 0; ok && kind < CMN_NDEVICES; kind++) {
        ok = !places[kind].at || plug_at(mesh, kind, &places[kind], errp);
    }
    for (kind = 0; ok && kind < CMN_NDEVICES; kind++) {
        ok = places[kind].at ||
             plug_anywhere(mesh, kind, places[kind].count, errp);
    }
    for (kind = 0; kind < CMN_NDEVICES; kind++) {
        cmn_places_free(&places[kind]);
    }
    return ok;
}

static uint32_t take_frame(CmnMesh *mesh, CmnXp *xp, const CmnNode *node)
{
    unsigned shift = mesh->product->frame_shift;
    uint32_t own = block_address(mesh, xp) | (uint32_t)node->port << shift;

    if (node->type == CMN_NODE_CFG && !mesh->product->has_root_node) {
        return 0;
    }
    if (!mesh->frames[own >> shift] &&
        (own || mesh->product->has_root_node)) {
        return own;
    }
    return block_address(mesh, xp) | xp->next_frame++ << shift;
}

static CmnNode *make_node(CmnMesh *mesh, CmnXp *xp, unsigned port,
                          unsigned dev, const CmnDeviceNode *row)
{
    CmnNode *node = g_new0(CmnNode, 1);

    *node = (CmnNode) {
        .type = row->type,
        .id = device_id(mesh, xp, port, dev),
        .port = port,
        .dev = dev,
        .xp = xp,
        .external = row->external,
    };
    node->frame = take_frame(mesh, xp, node);
    mesh->frames[node->frame >> mesh->product->frame_shift] = node;
    cmn_selectors_init(node->sel, node->type, mesh->layout->column);
    return node;
}

static bool make_nodes(CmnMesh *mesh, CmnXp *xp, unsigned port, unsigned dev,
                       Error **errp)
{
    const CmnDeviceNode *row = cmn_devices[xp->port[port].kind].nodes;
    const CmnDeviceNode *end = row + CMN_DEVICE_NODES;

    for (; row < end && row->type; row++) {
        if (!(row->in & 1u << mesh->layout->column)) {
            continue;
        }
        if (xp->nchildren == CMN_MAX_CHILDREN) {
            error_setg(errp, "the devices on XP %u.%u have more than %u nodes",
                       xp->x, xp->y, CMN_MAX_CHILDREN);
            return false;
        }
        if (row->type == CMN_NODE_CFG) {
            mesh->root = make_node(mesh, xp, port, dev, row);
        } else {
            xp->child[xp->nchildren++] = make_node(mesh, xp, port, dev, row);
        }
    }
    return true;
}

/* The ports' own frames go to whoever is first: ascending devices. */
static bool make_children(CmnMesh *mesh, CmnXp *xp, Error **errp)
{
    unsigned port, dev;

    mesh->frames[xp->node.frame >> mesh->product->frame_shift] = &xp->node;
    for (port = 0; port < xp->nports; port++) {
        for (dev = 0; dev < CMN_MAX_CAL; dev++) {
            if (xp->port[port].taken[dev] &&
                !make_nodes(mesh, xp, port, dev, errp)) {
                return false;
            }
        }
    }
    return true;
}

/*
 * A DTC's logical id is its domain; Graviton5's are where their domains are.
 * RN-SAMs have none.
 */
static bool number_nodes(CmnMesh *mesh, Error **errp)
{
    g_autofree uint16_t *next = g_new0(uint16_t, UINT16_MAX + 1);
    unsigned domain = 1, there = 0;
    CmnNode *node;

    for (node = cmn_mesh_next(mesh, NULL); node;
         node = cmn_mesh_next(mesh, node)) {
        switch (node->type) {
        case CMN_NODE_XP:
        case CMN_NODE_RNSAM:
            break;
        case CMN_NODE_DTC:
            node->logical = mesh->quartered ? node->xp->domain :
                            node->xp->port[node->port].kind == CMN_DEV_HND ?
                            0 : domain++;
            node->dtc = &mesh->dtc[node->logical];
            there |= 1u << node->logical;
            break;
        default:
            node->logical = next[node->type]++;
        }
    }
    if (ctpop32(there) != mesh->ndtcs) {
        error_setg(errp, "graviton5=on: each quarter has a DTC of its own");
        return false;
    }
    return true;
}

static void make_dtms(CmnMesh *mesh, CmnXp *xp)
{
    unsigned i;

    xp->ndtms = mesh->multi_dtm ? DIV_ROUND_UP(xp->nports, 2) : 1;
    for (i = 0; i < xp->ndtms; i++) {
        xp->dtm[i] = (CmnDtm) {
            .product = mesh->product,
            .layout = mesh->layout,
            .first = &mesh->dtc[0],
            .dtc = &mesh->dtc[xp->domain],
        };
    }
}

static bool isolate(CmnMesh *mesh, const char *text, Error **errp)
{
    CmnPlaces places;
    unsigned i, j;
    bool ok = true;

    if (!cmn_places_parse("isolated", text, &places, errp)) {
        return false;
    }
    for (i = 0; ok && places.at && i < places.count; i++) {
        CmnXp *xp = xp_at(mesh, places.at[i].x, places.at[i].y);

        ok = xp && places.at[i].port < xp->nports;
        for (j = 0; ok && j < xp->nchildren; j++) {
            if (xp->child[j]->port == places.at[i].port) {
                xp->child[j]->isolated = true;
            }
        }
    }
    if (!ok || !places.at) {
        error_setg(errp, "isolated=%s: each place is X.Y.PORT of this mesh",
                   text);
    }
    ok = ok && places.at;
    cmn_places_free(&places);
    return ok;
}

static void make_region(CmnMesh *mesh)
{
    const CmnXp *last = &mesh->xps[mesh->nxps - 1];
    uint64_t end = block_address(mesh, last) +
                   (1ull << mesh->product->block_shift);

    if (mesh->product->has_root_node && mesh->columns <= 4 &&
        mesh->rows <= 4) {
        mesh->size = SMALL_REGION;
    } else {
        mesh->size = MAX(LARGE_REGION, pow2ceil(end));
    }
    mesh->frames = g_new0(CmnNode *,
                          mesh->size >> mesh->product->frame_shift);
}

static bool build(CmnMesh *mesh, const CmnDescription *d, Error **errp)
{
    unsigned i;

    if (!cmn_size_parse(d->mesh ?: DEFAULT_SIZE, CMN_MAX_COLUMNS,
                        &mesh->columns, &mesh->rows)) {
        error_setg(errp, "mesh=%s is not COLUMNSxROWS, each 1 to %u", d->mesh,
                   CMN_MAX_COLUMNS);
        return false;
    }
    make_xps(mesh);
    mesh->ndtcs = d->ndtcs ?: 1;
    if (mesh->quartered &&
        (mesh->columns < 2 || mesh->rows < 2 || mesh->ndtcs != 4)) {
        error_setg(errp, "graviton5=on goes with mesh=10x14, or at least "
                   "2x2, and dtc=4");
        return false;
    }
    if (mesh->ndtcs > MIN(mesh->nxps, CMN_MAX_DTCS)) {
        error_setg(errp, "%u DTCs are too many: at most %u, each with an XP "
                   "of its own", mesh->ndtcs, CMN_MAX_DTCS);
        return false;
    }
    for (i = 0; i < mesh->nxps; i++) {
        mesh->xps[i].domain = xp_domain(mesh, &mesh->xps[i]);
    }
    make_region(mesh);
    if (!make_ports(mesh, d->ports, errp) || !plug_devices(mesh, d, errp)) {
        return false;
    }
    for (i = 0; i < mesh->nxps; i++) {
        if (!make_children(mesh, &mesh->xps[i], errp)) {
            return false;
        }
        make_dtms(mesh, &mesh->xps[i]);
    }
    return number_nodes(mesh, errp) &&
           (!d->isolated || isolate(mesh, d->isolated, errp));
}

/* The text's field of a description that its key names */
static char **description_field(CmnDescription *d, const char *key)
{
    unsigned kind;

    for (kind = 0; kind < CMN_NDEVICES; kind++) {
        if (!strcmp(key, cmn_devices[kind].name)) {
            return &d->devices[kind];
        }
    }
    return !strcmp(key, "ports") ? &d->ports : &d->mesh;
}

/* A layout's own mesh is a description too, without mistakes. */
static bool build_own(CmnMesh *mesh, char *isolated, Error **errp)
{
    g_auto(GStrv) pairs = g_strsplit(mesh->layout->mesh, " ", -1);
    CmnDescription d = { .isolated = isolated };
    char **pair;

    for (pair = pairs; *pair; pair++) {
        char *text = strchr(*pair, '=');

        *text++ = '\0';
        if (!strcmp(*pair, "dtc")) {
            d.ndtcs = atoi(text);
        } else {
            *description_field(&d, *pair) = text;
        }
    }
    return build(mesh, &d, errp);
}

bool cmn_mesh_build(CmnMesh *mesh, const CmnDescription *d, Error **errp)
{
    bool described = d->mesh || d->ports || d->ndtcs;
    unsigned kind;

    for (kind = 0; kind < CMN_NDEVICES; kind++) {
        described |= !!d->devices[kind];
    }
    if (described ? build(mesh, d, errp) :
                    build_own(mesh, d->isolated, errp)) {
        return true;
    }
    cmn_mesh_free(mesh);
    return false;
}

void cmn_mesh_free(CmnMesh *mesh)
{
    unsigned i, j;

    for (i = 0; mesh->xps && i < mesh->nxps; i++) {
        for (j = 0; j < mesh->xps[i].nchildren; j++) {
            g_free(mesh->xps[i].child[j]);
        }
    }
    g_free(mesh->root);
    g_free(mesh->xps);
    g_free(mesh->frames);
    mesh->root = NULL;
    mesh->xps = NULL;
    mesh->frames = NULL;
}
