// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a mesh consists of: the root lists the XPs, and an XP lists the nodes of its devices.
 */
#include <linux/bitmap.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "cmn.h"

/* What has been visited, and what was ignored. */
struct cmn_survey {
	unsigned long *seen;
	unsigned int unknown;
	u16 unknown_type, unknown_xp;
};

/* A field of the global information, or @absent if the product has none. */
static unsigned int cmn_info(const struct cmn *cmn, const struct cmn_info_field *field,
			     unsigned int absent)
{
	return field->mask ? cmn_field(cmn->info[field->word], field->mask) : absent;
}

char *cmn_assume_revision = "";
EXPORT_SYMBOL_IF_KUNIT(cmn_assume_revision);
module_param_named(assume_revision, cmn_assume_revision, charp, 0444);
MODULE_PARM_DESC(assume_revision, "revision to take every mesh for, such as r3p0, whatever it says; \"no\": none for one that is not known");

/* The revision that the module parameter names. */
static int cmn_assume_named(struct cmn *cmn, u16 number)
{
	cmn->part = cmn_part_named(number, cmn_assume_revision, &cmn->rev);
	if (!cmn->part)
		return dev_err_probe(cmn->dev, -ENODEV,
			"%s has no revision %s that could be assumed\n",
			cmn_part_newest(number)->name, cmn_assume_revision);
	if (cmn->rev != cmn->code)
		dev_warn(cmn->dev, "revision code %u of %s is taken for %s, as assume_revision says\n",
			 cmn->code, cmn->part->name, cmn_assume_revision);
	return 0;
}

/*
 * A revision that is newer than this driver. Most revisions have their registers where the one
 * before has them. Where registers decide what may be touched at all, a guess is not good enough.
 */
static int cmn_assume_newest(struct cmn *cmn, u16 number)
{
	const struct cmn_part *part = cmn_part_newest(number);
	u8 rev = part->newest_rev ?: part->last_rev;

	if (part->may_hang || !strcmp(cmn_assume_revision, "no"))
		return dev_err_probe(cmn->dev, -ENODEV,
			"revision code %u of %s is unknown to this driver, and registers may have moved%s: to take it for another, load the module with assume_revision=%s\n",
			cmn->code, part->name,
			part->may_hang ? ", among them what must not be touched" : "",
			part->revisions[rev]);
	cmn->part = part;
	cmn->rev = rev;
	dev_warn(cmn->dev, "revision code %u of %s is unknown to this driver and taken for %s; please report this line, and whether counts are right, to the maintainers of pmu-suite. assume_revision= says otherwise\n",
		 cmn->code, part->name, cmn_revision_name(cmn));
	return 0;
}

/* Find the row that describes the mesh. */
static int cmn_find_part(struct cmn *cmn)
{
	u64 low = cmn_read64(cmn->base + cmn->root + CMN_PERIPH_ID_01);
	u16 number = FIELD_GET(CMN_PERIPH_ID_01_PART_HIGH, low) << 8 |
		     FIELD_GET(CMN_PERIPH_ID_01_PART_LOW, low);

	cmn->code = FIELD_GET(CMN_PERIPH_ID_23_REVISION,
			      cmn_read64(cmn->base + cmn->root + CMN_PERIPH_ID_23));
	if (!cmn_part_newest(number))
		return dev_err_probe(cmn->dev, -ENODEV,
			"part 0x%03x is not known to this driver\n", number);
	if (*cmn_assume_revision && strcmp(cmn_assume_revision, "no"))
		return cmn_assume_named(cmn, number);
	cmn->part = cmn_part_find(number, cmn->code);
	cmn->rev = cmn->code;
	return cmn->part ? 0 : cmn_assume_newest(cmn, number);
}

static int cmn_identify(struct cmn *cmn)
{
	int err = cmn_root_check(cmn);

	err = err ?: cmn_find_part(cmn);
	if (err)
		return err;
	err = cmn_root_fits(cmn);
	if (err)
		return err;
	cmn->events = cmn->part->events;
	cmn->info[0] = cmn_read64(cmn->base + cmn->root + CMN_INFO_GLOBAL);
	cmn->info[1] = cmn_read64(cmn->base + cmn->root + CMN_INFO_GLOBAL_1);
	cmn->multi_dtm = cmn_info(cmn, &cmn->part->multi_dtm, 0);
	for (unsigned int i = 0; i < CMN_CHANNELS; i++)
		cmn->vcs[i] = cmn_info(cmn, &cmn->part->vcs[i], 1);
	if (cmn_info(cmn, &cmn->part->isolation, 0) && !cmn->part->isolates)
		return dev_err_probe(cmn->dev, -ENODEV,
			"devices may be isolated, which this revision does not tell, and to touch one would hang the system\n");
	return 0;
}

static int cmn_xp_order(const void *one, const void *other)
{
	return (int)((const struct cmn_xp *)one)->logical -
	       (int)((const struct cmn_xp *)other)->logical;
}

/* The XPs that the root lists, sorted by logical id. */
static int cmn_find_xps(struct cmn *cmn, struct cmn_survey *survey)
{
	u32 array;
	int count = cmn_children(cmn, cmn->root, "root node", CMN_MAX_XPS, &array);

	if (count < 0)
		return count;
	cmn->xps = kcalloc(max(count, 1), sizeof(*cmn->xps), GFP_KERNEL);
	if (!cmn->xps)
		return -ENOMEM;
	for (int i = 0; i < count; i++) {
		struct cmn_xp *xp = &cmn->xps[cmn->nr_xps];
		u32 offset;
		u64 info;
		int found = cmn_child(cmn, cmn->root, array, i, survey->seen, &offset);

		if (found < 0)
			return found;
		if (!found)
			continue;
		xp->base = cmn->base + offset;
		info = cmn_read64(xp->base + CMN_NODE_INFO);
		if (FIELD_GET(CMN_NODE_INFO_TYPE, info) != CMN_TYPE_XP)
			return dev_err_probe(cmn->dev, -EINVAL,
				"child %d of the root, at 0x%x, is of type 0x%llx, not an XP\n",
				i, offset, FIELD_GET(CMN_NODE_INFO_TYPE, info));
		xp->id = FIELD_GET(CMN_NODE_INFO_ID, info);
		xp->logical = FIELD_GET(CMN_NODE_INFO_LOGICAL, info);
		if (cmn->part->counts_ports)
			xp->nr_ports = FIELD_GET(CMN_NODE_INFO_PORTS, info);
		cmn->nr_xps++;
	}
	if (!cmn->nr_xps)
		return dev_err_probe(cmn->dev, -EINVAL, "the root node lists no XP\n");
	sort(cmn->xps, cmn->nr_xps, sizeof(*cmn->xps), cmn_xp_order, NULL);
	return 0;
}

static bool cmn_ids_fit(const struct cmn *cmn, unsigned int bits)
{
	for (unsigned int i = 0; i < cmn->nr_xps; i++)
		if (cmn->xps[i].id != ((i % cmn->width) << bits | i / cmn->width) << 3)
			return false;
	return true;
}

/*
 * No register has the width of X and Y, and for meshes up to 2x2 the sources disagree. The width is
 * found by trial: the ids of XPs have to fit their logical ids.
 */
static bool cmn_find_id_bits(struct cmn *cmn)
{
	u8 expected = cmn_id_bits(cmn->width, cmn->height);

	cmn->id_bits = expected;
	if (cmn_ids_fit(cmn, cmn->id_bits))
		return true;
	for (cmn->id_bits = 1; cmn->id_bits <= 4; cmn->id_bits++)
		if (max(cmn->width, cmn->height) <= BIT(cmn->id_bits) &&
		    cmn_ids_fit(cmn, cmn->id_bits))
			return true;
	cmn->id_bits = expected;
	return false;
}

/*
 * Logical ids go row by row, and the first XP of the second row has id 8. Only the map and the
 * drawing depend on that. Each XP itself says which devices it has and which domain it is in.
 */
static void cmn_find_grid(struct cmn *cmn)
{
	bool fits = true;

	cmn->width = cmn->nr_xps;
	for (unsigned int i = 0; i < cmn->nr_xps; i++) {
		fits = fits && cmn->xps[i].logical == i;
		if (cmn->xps[i].id == 8 && i)
			cmn->width = i;
	}
	if (cmn->nr_xps % cmn->width) {
		fits = false;
		cmn->width = cmn->nr_xps;
	}
	cmn->height = cmn->nr_xps / cmn->width;
	if (!cmn_find_id_bits(cmn) || !fits)
		dev_warn(cmn->dev, "the numbers and ids of the %u XPs make no grid of %ux%u: the map is not what the mesh looks like\n",
			 cmn->nr_xps, cmn->width, cmn->height);
}

/*
 * The number of ports: as many as the XP says, or else as many as are connected. An XP may be built
 * with more ports than are in use, which only some products report. DTMs whose ports are not in use
 * have nothing to count, and are not touched.
 */
static int cmn_find_ports(struct cmn *cmn, struct cmn_xp *xp)
{
	unsigned int used = 0;

	if (xp->nr_ports > CMN_MAX_PORTS)
		return dev_err_probe(cmn->dev, -EINVAL, "XP 0x%x says that it has %u ports\n",
				     xp->id, xp->nr_ports);
	for (unsigned int port = 0; port < CMN_MAX_PORTS; port++) {
		u32 info;

		if (!cmn->part->connect[port])
			break;
		info = cmn_read32(xp->base + cmn->part->connect[port]);
		xp->connect[port] = FIELD_GET(CMN_CONNECT_TYPE, info);
		if (info & CMN_CONNECT_CAL)
			xp->cals |= BIT(port);
		if (xp->connect[port])
			used = port + 1;
	}
	xp->nr_ports = max_t(u8, xp->nr_ports, used);
	xp->nr_dtms = cmn->multi_dtm ? max(1U, DIV_ROUND_UP(used, 2)) : 1;
	xp->first_dtm = cmn->nr_dtms;
	cmn->nr_dtms += xp->nr_dtms;
	return 0;
}

/*
 * Graviton5's S3 of 10x14 has zeros where others have domains and numbers of DTCs. Each quarter of
 * the mesh is a domain, west before east and south before north.
 */
#define CMN_QUARTERED_WIDTH	10
#define CMN_QUARTERED_HEIGHT	14

static unsigned int cmn_quarter(const struct cmn *cmn, const struct cmn_xp *xp)
{
	struct cmn_place place = cmn_id_place(cmn, xp->id, xp->nr_ports);

	return place.x / (CMN_QUARTERED_WIDTH / 2) + place.y / (CMN_QUARTERED_HEIGHT / 2) * 2;
}

/*
 * Is each quarter the domain of the DTC that is in it? DTCs are numbered by the logical ids of
 * their XPs, as the kernel's driver does. If not, or if the mesh has another size, the domains are
 * unknown, and a carry into a DTC that is not read would be lost.
 */
static bool cmn_has_quarters(const struct cmn *cmn)
{
	if (cmn->width != CMN_QUARTERED_WIDTH || cmn->height != CMN_QUARTERED_HEIGHT)
		return false;
	for (unsigned int i = 0; i < CMN_MAX_DTCS; i++)
		if (!cmn->dtc[i].base || cmn_quarter(cmn, &cmn->xps[cmn->dtc[i].xp]) != i)
			return false;
	return true;
}

static void cmn_find_quarters(struct cmn *cmn)
{
	cmn->known_domains = cmn_has_quarters(cmn);
	if (!cmn->known_domains)
		dev_warn(cmn->dev, "Graviton5 with %ux%u XPs and these DTCs is unknown to this driver: each event takes a counter of every DTC; please report this line and the drawing to the maintainers of pmu-suite\n",
			 cmn->width, cmn->height);
	for (unsigned int i = 0; i < cmn->nr_dtms; i++)
		cmn->dtms[i].dtc = cmn->known_domains ?
				   cmn_quarter(cmn, &cmn->xps[cmn->dtms[i].xp]) : 0;
}

/*
 * All DTMs of an XP are in one domain. Each has a register for that, but the hardware has one
 * parameter for all of them, so only the first is read.
 */
static void cmn_add_dtms(struct cmn *cmn, unsigned int x)
{
	struct cmn_xp *xp = &cmn->xps[x];
	u8 domain = 0;

	if (cmn->part->unit_info)
		domain = FIELD_GET(CMN_UNIT_INFO_DOMAIN,
				   cmn_read32(xp->base + cmn->part->unit_info));
	for (unsigned int i = 0; i < xp->nr_dtms; i++) {
		struct cmn_dtm *dtm = &cmn->dtms[xp->first_dtm + i];

		dtm->base = xp->base + cmn->part->xp_pmu + i * CMN_DTM_STRIDE;
		dtm->xp = x;
		dtm->dtc = domain;
	}
}

static int cmn_find_dtms(struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->nr_xps; i++) {
		int err = cmn_find_ports(cmn, &cmn->xps[i]);

		if (err)
			return err;
	}
	cmn->dtms = kcalloc(cmn->nr_dtms, sizeof(*cmn->dtms), GFP_KERNEL);
	if (!cmn->dtms)
		return -ENOMEM;
	for (unsigned int i = 0; i < cmn->nr_xps; i++)
		cmn_add_dtms(cmn, i);
	return 0;
}

static struct cmn_node *cmn_add_node(struct cmn *cmn, u64 info, unsigned int x,
				     void __iomem *sel)
{
	struct cmn_node *node = &cmn->nodes[cmn->nr_nodes++];

	node->sel = sel;
	node->type = FIELD_GET(CMN_NODE_INFO_TYPE, info);
	node->id = FIELD_GET(CMN_NODE_INFO_ID, info);
	node->logical = FIELD_GET(CMN_NODE_INFO_LOGICAL, info);
	node->xp = x;
	node->dtm = cmn->xps[x].first_dtm;
	return node;
}

/* Add a node with events, or its two sets. The second set is that of HN-I or RN-I. */
static void cmn_add_device(struct cmn *cmn, u64 info, unsigned int x, void __iomem *base)
{
	void __iomem *sel = base + cmn->part->pmu + CMN_EVENT_SEL;
	u16 type = FIELD_GET(CMN_NODE_INFO_TYPE, info);
	bool two = type == CMN_TYPE_HNP || type == CMN_TYPE_CCLA_RNI;
	bool second = two || type == CMN_TYPE_CCLA;

	/* Trust the XP that lists the node, not the node's id. */
	if (!cmn_id_is_at(cmn, FIELD_GET(CMN_NODE_INFO_ID, info), &cmn->xps[x]))
		dev_warn_once(cmn->dev, "node 0x%llx is listed by XP 0x%x, where it is not by its id\n",
			      FIELD_GET(CMN_NODE_INFO_ID, info), cmn->xps[x].id);
	cmn_add_node(cmn, info, x, sel + (second ? CMN_EVENT_SEL_2 : 0));
	if (two)
		cmn_add_node(cmn, info, x, sel)->type = type == CMN_TYPE_HNP ? CMN_TYPE_HNI :
									     CMN_TYPE_RNI;
}

/* Find out at which port the nodes from @first on are, which are an XP's devices. */
static void cmn_place_devices(struct cmn *cmn, unsigned int x, unsigned int first)
{
	struct cmn_xp *xp = &cmn->xps[x];
	unsigned int ports = cmn_id_ports(cmn, xp, &cmn->nodes[first], cmn->nr_nodes - first);
	bool fit = true;

	for (unsigned int i = first; i < cmn->nr_nodes; i++) {
		struct cmn_node *node = &cmn->nodes[i];
		struct cmn_place place = cmn_id_place(cmn, node->id, ports);

		if (fit && !cmn_node_fits(xp, node->type, place))
			dev_warn_ratelimited(cmn->dev, "node 0x%x of type 0x%x is device %u at port %u of XP 0x%x by its id, and connect info has type 0x%x there, %s CAL: its events may count 0\n",
					     node->id, node->type, place.dev, place.port, xp->id,
					     xp->connect[place.port],
					     xp->cals & BIT(place.port) ? "with a" : "no");
		fit = fit && cmn_node_fits(xp, node->type, place);
		xp->nr_ports = max(xp->nr_ports, (u8)(place.port + 1));
		node->port = place.port;
		node->dev = place.dev;
		for (unsigned int j = first; j < cmn->nr_nodes; j++)
			node->beside |= j != i && cmn->nodes[j].id == node->id;
		/* Where nothing is connected there may be no DTM; then one counts 0. */
		if (cmn->multi_dtm)
			node->dtm += min(place.port / 2, xp->nr_dtms - 1);
	}
}

/*
 * DTCs are numbered by the domain that they control; on CMN-600 that is the logical id, and on
 * Graviton5 they are found in the right order.
 */
static unsigned int cmn_dtc_number(const struct cmn *cmn, u64 info)
{
	unsigned int number = 0;

	if (!cmn->quartered)
		return cmn->part->unit_info ? FIELD_GET(CMN_NODE_INFO_DOMAIN, info) :
					      FIELD_GET(CMN_NODE_INFO_LOGICAL, info);
	while (number < CMN_MAX_DTCS && cmn->dtc[number].base)
		number++;
	return number;
}

static int cmn_add_dtc(struct cmn *cmn, u64 info, unsigned int x, u32 offset)
{
	unsigned int number = cmn_dtc_number(cmn, info);
	struct cmn_dtc *dtc;

	if (number >= CMN_MAX_DTCS || cmn->dtc[number].base)
		return dev_err_probe(cmn->dev, -EINVAL,
			"the DTC at 0x%x is number %u, which %s\n", offset, number,
			number >= CMN_MAX_DTCS ? "cannot be" : "another is");
	dtc = &cmn->dtc[number];
	dtc->base = cmn->base + offset;
	dtc->pmu = dtc->base + cmn->part->pmu;
	dtc->offset = offset;
	dtc->id = FIELD_GET(CMN_NODE_INFO_ID, info);
	dtc->xp = x;
	return 0;
}

static int cmn_add_child(struct cmn *cmn, struct cmn_survey *survey, unsigned int x, u32 offset)
{
	void __iomem *base = cmn->base + offset;
	u64 info = cmn_read64(base + CMN_NODE_INFO);
	u16 type = FIELD_GET(CMN_NODE_INFO_TYPE, info);

	switch (type) {
	case CMN_TYPE_DTC:
		return cmn_add_dtc(cmn, info, x, offset);
	/* An XP is no child of another, and no node is a watchpoint. */
	case CMN_TYPE_XP:
	case CMN_TYPE_WP:
		break;
	/* Nodes without events, or with counters that are not of the mesh. */
	case CMN_TYPE_CFG:
	case CMN_TYPE_RNSAM:
	case CMN_TYPE_HNF_MPAM_S:
	case CMN_TYPE_HNF_MPAM_NS:
	case CMN_TYPE_HNS_MPAM_S:
	case CMN_TYPE_HNS_MPAM_NS:
	case CMN_TYPE_CXLA:
	case CMN_TYPE_APB:
		return 0;
	default:
		if (!cmn_type_name(type))
			break;
		cmn_add_device(cmn, info, x, base);
		return 0;
	}
	if (!survey->unknown++) {
		survey->unknown_type = type;
		survey->unknown_xp = cmn->xps[x].id;
	}
	return 0;
}

static int cmn_find_children(struct cmn *cmn, struct cmn_survey *survey, unsigned int x)
{
	struct cmn_xp *xp = &cmn->xps[x];
	u32 offset = xp->base - cmn->base, array;
	int count = cmn_children(cmn, offset, "XP", CMN_MAX_CHILDREN, &array);
	unsigned int first;
	u64 info = FIELD_PREP(CMN_NODE_INFO_TYPE, CMN_TYPE_XP) |
		   FIELD_PREP(CMN_NODE_INFO_ID, xp->id) |
		   FIELD_PREP(CMN_NODE_INFO_LOGICAL, xp->logical);

	if (count < 0)
		return count;
	cmn_add_node(cmn, info, x, xp->base + cmn->part->xp_pmu + CMN_EVENT_SEL);
	first = cmn->nr_nodes;
	for (int i = 0; i < count; i++) {
		u32 child;
		int found = cmn_child(cmn, offset, array, i, survey->seen, &child);

		if (found > 0)
			found = cmn_add_child(cmn, survey, x, child);
		if (found < 0)
			return found;
	}
	cmn_place_devices(cmn, x, first);
	return 0;
}

static int cmn_find_nodes(struct cmn *cmn, struct cmn_survey *survey)
{
	/* Each child may make two nodes, and the XP itself makes one. */
	unsigned int most = cmn->nr_xps * (2 * CMN_MAX_CHILDREN + 1);
	struct cmn_node *fitting;

	cmn->nodes = kvcalloc(most, sizeof(*cmn->nodes), GFP_KERNEL);
	if (!cmn->nodes)
		return -ENOMEM;
	for (unsigned int i = 0; i < cmn->nr_xps; i++) {
		int err = cmn_find_children(cmn, survey, i);

		if (err)
			return err;
	}
	if (survey->unknown)
		dev_info(cmn->dev, "%u nodes of unknown type ignored; the first, type 0x%x, is at XP 0x%x\n",
			 survey->unknown, survey->unknown_type, survey->unknown_xp);
	fitting = kvcalloc(cmn->nr_nodes, sizeof(*fitting), GFP_KERNEL);
	if (!fitting)
		return -ENOMEM;
	memcpy(fitting, cmn->nodes, cmn->nr_nodes * sizeof(*fitting));
	kvfree(cmn->nodes);
	cmn->nodes = fitting;
	return 0;
}

/* What the machine allows of debugging. */
static void cmn_find_auth(struct cmn *cmn)
{
	u32 auth = cmn_read32(cmn->dtc[0].base + cmn->part->authstatus);

	cmn->no_niden = FIELD_GET(CMN_AUTHSTATUS_NSNID, auth) == CMN_AUTHSTATUS_OFF;
	cmn->no_spniden = FIELD_GET(CMN_AUTHSTATUS_SNID, auth) == CMN_AUTHSTATUS_OFF;
	if (cmn->no_niden)
		dev_warn(cmn->dev, "AUTHSTATUS says that NIDEN is off: all counts may be 0; firmware has to allow non-secure debugging\n");
	else if (cmn->no_spniden)
		dev_info(cmn->dev, "AUTHSTATUS says that SPNIDEN is off: secure traffic may not be counted, nor RSP, DAT and DVM flits by watchpoints\n");
}

/* Each domain with a DTM has to have a DTC, and DTCs are numbered from 0. */
static int cmn_check_domains(struct cmn *cmn)
{
	while (cmn->nr_dtcs < CMN_MAX_DTCS && cmn->dtc[cmn->nr_dtcs].base)
		cmn->nr_dtcs++;
	for (unsigned int i = cmn->nr_dtcs; i < CMN_MAX_DTCS; i++)
		if (cmn->dtc[i].base || !i)
			return dev_err_probe(cmn->dev, -EINVAL, "there is no DTC %u%s\n",
					     cmn->nr_dtcs, i ? ", but one after it" : "");
	for (unsigned int i = 0; i < cmn->nr_dtms; i++)
		if (cmn->dtms[i].dtc >= cmn->nr_dtcs)
			return dev_err_probe(cmn->dev, -EINVAL,
				"XP 0x%x is in the domain of DTC %u, and there are %u\n",
				cmn->xps[cmn->dtms[i].xp].id, cmn->dtms[i].dtc, cmn->nr_dtcs);
	return 0;
}

static int cmn_survey(struct cmn *cmn, struct cmn_survey *survey)
{
	int err = cmn_find_xps(cmn, survey);

	if (err)
		return err;
	cmn_find_grid(cmn);
	err = cmn_find_dtms(cmn);
	err = err ?: cmn_find_nodes(cmn, survey);
	if (err)
		return err;
	cmn->known_domains = cmn->part->unit_info;
	if (cmn->quartered)
		cmn_find_quarters(cmn);
	err = cmn_check_domains(cmn);
	if (!err)
		cmn_find_auth(cmn);
	return err;
}

/* Undo cmn_discover(). Does no harm if that failed, or was not called. */
void cmn_undiscover(struct cmn *cmn)
{
	bitmap_free(cmn->stale_dtms);
	bitmap_free(cmn->stale_nodes);
	bitmap_free(cmn->started_xps);
	kvfree(cmn->nodes);
	kfree(cmn->dtms);
	kfree(cmn->xps);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_undiscover);

/**
 * cmn_discover() - find out what a mesh consists of.
 * @cmn: with dev, base, size and root
 *
 * Context: probe; may sleep.
 * Return: 0; -ENODEV, with a message, for a part that the driver does not know;
 * -EINVAL, with a message, if what the registers say cannot be; -ENOMEM.
 */
int cmn_discover(struct cmn *cmn)
{
	struct cmn_survey survey = { };
	int err = cmn_identify(cmn);

	if (err)
		return err;
	survey.seen = bitmap_zalloc(cmn_frames(cmn), GFP_KERNEL);
	if (!survey.seen)
		return -ENOMEM;
	err = cmn_survey(cmn, &survey);
	bitmap_free(survey.seen);
	if (err)
		return err;
	cmn->pass = 1;		/* not 0, which DTMs and DTCs have: none was read */
	cmn->stale_dtms = bitmap_zalloc(cmn->nr_dtms, GFP_KERNEL);
	cmn->stale_nodes = bitmap_zalloc(cmn->nr_nodes, GFP_KERNEL);
	cmn->started_xps = bitmap_zalloc(cmn->nr_xps, GFP_KERNEL);
	return cmn->stale_dtms && cmn->stale_nodes && cmn->started_xps ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_discover);
