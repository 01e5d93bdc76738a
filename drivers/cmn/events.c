// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the nodes of a mesh can count, and the names of these events.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>

#include "cmn.h"

/* Events that a product has only since a later revision. */
struct cmn_missing {
	u16 events;
	u16 revs;			/* bit per revision that lacks them */
	enum cmn_type type;
	u8 first, last;			/* ids */
};

static_assert(CMN_REVISIONS <= 8 * sizeof_field(struct cmn_missing, revs));

static const struct cmn_missing cmn_missing[] = {
	/* CMN-600 r1p0 to r1p2, r1p0 to r1p1 */
	{ CMN_600_R1, GENMASK(2, 0), CMN_TYPE_CXRA, 0x11, 0xff },
	{ CMN_600_R1, GENMASK(1, 0), CMN_TYPE_CXRA, 0x00, 0xff },
	{ CMN_600_R1, GENMASK(1, 0), CMN_TYPE_CXHA, 0x00, 0xff },
	{ CMN_600_R1, GENMASK(1, 0), CMN_TYPE_HNF, 0x1b, 0x1b },
	/* CMN-650 before r2p0, and r1p2, which came after it and has a higher number */
	{ CMN_650, GENMASK(2, 0) | BIT(4), CMN_TYPE_HNF, 0x23, 0xff },
	{ CMN_650, GENMASK(2, 0) | BIT(4), CMN_TYPE_SBSX, 0x17, 0x17 },
	{ CMN_650, GENMASK(2, 0) | BIT(4), CMN_TYPE_RNI, 0x11, 0xff },
	/* CMN-700 r0p0 and r1p0, r0p0 */
	{ CMN_700, GENMASK(1, 0), CMN_TYPE_HNF, 0x2d, 0xff },
	{ CMN_700, GENMASK(1, 0), CMN_TYPE_CCHA, 0x75, 0xff },
	{ CMN_700, GENMASK(1, 0), CMN_TYPE_CCLA, 0x28, 0xff },
	{ CMN_700, BIT(0), CMN_TYPE_HNF, 0x2c, 0xff },
};

static const struct { enum cmn_type type; const char *name; } cmn_types[] = {
	{ CMN_TYPE_DN, "DN" }, { CMN_TYPE_DTC, "DTC" }, { CMN_TYPE_HNI, "HN-I" },
	{ CMN_TYPE_HNF, "HN-F" }, { CMN_TYPE_XP, "XP" }, { CMN_TYPE_SBSX, "SBSX" },
	{ CMN_TYPE_RNI, "RN-I" }, { CMN_TYPE_RND, "RN-D" }, { CMN_TYPE_MTSX, "MTSX" },
	{ CMN_TYPE_HNP, "HN-P" }, { CMN_TYPE_CXRA, "CXRA" }, { CMN_TYPE_CXHA, "CXHA" },
	{ CMN_TYPE_CCRA, "CCRA" }, { CMN_TYPE_CCHA, "CCHA" }, { CMN_TYPE_CCLA, "CCLA" },
	{ CMN_TYPE_CCLA_RNI, "CCLA_RNI" }, { CMN_TYPE_HNS, "HN-S" },
	{ CMN_TYPE_WP, "watchpoint" },
};

/* What an event of @type counts, or NULL for a type that has no events. */
const char *cmn_type_name(u16 type)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cmn_types); i++)
		if (cmn_types[i].type == type)
			return cmn_types[i].name;
	return NULL;
}

/* Where an XP sends flits: to its neighbours, and to its ports. */
struct cmn_interface {
	const char *name;
	s8 port;
	u8 code, code_1x1;		/* in an event id; code_1x1 in a mesh of one XP */
};

#define CMN_NO_CODE	0xff

static const struct cmn_interface cmn_interfaces[] = {
	{ "e", -1, 0, 0 }, { "w", -1, 1, 1 }, { "n", -1, 2, 2 }, { "s", -1, 3, 3 },
	{ "p0", 0, 4, 0 }, { "p1", 1, 5, 1 }, { "p2", 2, 6, 2 }, { "p3", 3, 7, 3 },
	{ "p4", 4, CMN_NO_CODE, 4 }, { "p5", 5, CMN_NO_CODE, 5 },
};

struct cmn_xp_channel {
	const char *name;
	s8 channel;			/* the channel that needs two virtual channels; -1: none */
	u8 code;
	u16 events;			/* CMN_600 and so on */
	bool partial;			/* DAT flits can be partial */
};

static const struct cmn_xp_channel cmn_xp_channels[] = {
	{ "req", -1, 0, CMN_ANY }, { "rsp", -1, 1, CMN_ANY }, { "snp", -1, 2, CMN_ANY },
	{ "dat", -1, 3, CMN_ANY, true }, { "pub", -1, 4, CMN_ANY & ~CMN_600 },
	{ "rsp2", CMN_RSP, 5, CMN_ANY }, { "dat2", CMN_DAT, 6, CMN_ANY, true },
	{ "req2", CMN_REQ, 7, CMN_ANY }, { "snp2", CMN_SNP, 8, CMN_ANY },
};

/* What happens to a flit, by code. */
static const char * const cmn_xp_whats[] = {
	NULL, "txflit_valid", "txflit_stall", "partial_dat_flit",
};

#define CMN_XP_ID_WHAT		GENMASK(1, 0)
#define CMN_XP_ID_INTERFACE	GENMASK(4, 2)
#define CMN_XP_ID_CHANNEL	GENMASK(10, 5)
#define CMN_XP_PARTIAL		3
#define CMN_XP_LINKS		4	/* codes of interfaces before those of ports */
#define CMN_XP_MOST_PORTS	6	/* of the XP of a 1x1 mesh, as far as ids have room */

/* Room for all rows and all values of their filters. */
#define CMN_MOST_EVENTS		1024

/* perf_event_open() only returns a number, so the log gets a sentence. */
void cmn_refuse(const struct cmn *cmn, const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	if (!pmu_may_log())
		return;
	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	dev_notice_ratelimited(cmn->dev, "%s: event refused: %pV\n", cmn->name, &vaf);
	va_end(args);
}

/* Do nodes of @node_type count in an event of @type? */
bool cmn_type_counts(u16 type, u16 node_type)
{
	switch (type) {
	case CMN_TYPE_WP:
		return node_type == CMN_TYPE_XP;
	case CMN_TYPE_RNI:
	case CMN_TYPE_RND:
		return node_type == CMN_TYPE_RNI || node_type == CMN_TYPE_RND;
	case CMN_TYPE_CCLA:
		return node_type == CMN_TYPE_CCLA || node_type == CMN_TYPE_CCLA_RNI;
	default:
		return node_type == type;
	}
}

/* Is there a node of @type, and with this @id unless that is negative? */
bool cmn_has_node(const struct cmn *cmn, u16 type, int id)
{
	for (unsigned int i = 0; i < cmn->nr_nodes; i++)
		if (cmn_type_counts(type, cmn->nodes[i].type) &&
		    (id < 0 || id == cmn->nodes[i].id))
			return true;
	return false;
}

static bool cmn_port_used(const struct cmn *cmn, unsigned int port)
{
	for (unsigned int i = 0; i < cmn->nr_xps; i++)
		if (cmn->xps[i].connect[port])
			return true;
	return false;
}

static bool cmn_is_missing(const struct cmn *cmn, u16 type, u8 id)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cmn_missing); i++) {
		const struct cmn_missing *m = &cmn_missing[i];

		if (m->events & cmn->events && m->revs & BIT(cmn->rev) && m->type == type &&
		    m->first <= id && id <= m->last)
			return true;
	}
	return false;
}

/* The row of an event id, to know its filter; NULL for ids without a name. */
const struct cmn_event_row *cmn_event_row_find(const struct cmn *cmn, u16 type, u16 id)
{
	for (unsigned int t = 0; t < cmn_nr_event_tables; t++) {
		const struct cmn_event_table *table = &cmn_event_tables[t];

		if (table->type != type)
			continue;
		for (unsigned int i = 0; i < table->nr; i++) {
			const struct cmn_event_row *row = &table->rows[i];

			if (row->id == id + table->below && row->events & cmn->events)
				return row;
		}
	}
	return NULL;
}

/* The port of an XP's event, by its id; -1 if it counts a link to a neighbour. */
int cmn_xp_event_port(const struct cmn *cmn, u16 id)
{
	int code = FIELD_GET(CMN_XP_ID_INTERFACE, id);

	if (cmn->nr_xps == 1)
		return code;
	return code < CMN_XP_LINKS ? -1 : code - CMN_XP_LINKS;
}

static const struct cmn_xp_channel *cmn_xp_channel(unsigned int code)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cmn_xp_channels); i++)
		if (cmn_xp_channels[i].code == code)
			return &cmn_xp_channels[i];
	return NULL;
}

static bool cmn_xp_has_channel(const struct cmn *cmn, const struct cmn_xp_channel *channel)
{
	return channel->events & cmn->events &&
	       (channel->channel < 0 || cmn->vcs[channel->channel] >= 2);
}

/*
 * Has an XP of this mesh an event with this id? If not, a message says why. Channels that no source
 * describes are let through, since they may exist.
 */
bool cmn_xp_event_fits(const struct cmn *cmn, u16 id)
{
	const struct cmn_xp_channel *channel = cmn_xp_channel(FIELD_GET(CMN_XP_ID_CHANNEL, id));
	unsigned int what = FIELD_GET(CMN_XP_ID_WHAT, id);
	int port = cmn_xp_event_port(cmn, id);

	if (!what)
		cmn_refuse(cmn, "eventid 0x%x of XP: 0 in the low two bits is nothing that happens",
			   id);
	else if (port >= CMN_XP_MOST_PORTS)
		cmn_refuse(cmn, "eventid 0x%x of XP: one that is alone has ports 0 to %u, not %d",
			   id, CMN_XP_MOST_PORTS - 1, port);
	else if (channel && !cmn_xp_has_channel(cmn, channel))
		cmn_refuse(cmn, "eventid 0x%x of XP: there is no channel %s in this mesh", id,
			   channel->name);
	else if (what == CMN_XP_PARTIAL && (port < 0 || (channel && !channel->partial)))
		cmn_refuse(cmn, "eventid 0x%x of XP: partial flits are those of dat at a port", id);
	else
		return true;
	return false;
}

/* Add a named event, which takes over @name. Returns its row, or NULL with @name freed. */
static struct pmu_named_event *cmn_name(struct cmn *cmn, char *name, u16 type, u16 id)
{
	struct pmu_named_event *event;

	if (!name || cmn->desc.nr_events == CMN_MOST_EVENTS) {
		kfree(name);
		return NULL;
	}
	event = &cmn->named[cmn->desc.nr_events++];
	event->name = name;
	event->config[PMU_CONFIG] = FIELD_PREP(CMN_CONFIG_TYPE, type) |
				    FIELD_PREP(CMN_CONFIG_EVENTID, id);
	return event;
}

/* The number of values of a filter. Each has a name, or NULL if it selects nothing. */
static unsigned int cmn_filter_values(const struct cmn_filter_names *filter)
{
	return filter ? filter->nr : 1;
}

static const char *cmn_value_name(const struct cmn_filter_names *filter, unsigned int value)
{
	return filter ? filter->names[value] : "";
}

/* Add an event for one value of each of its filters. */
static int cmn_name_values(struct cmn *cmn, const struct cmn_event_table *table,
			   const struct cmn_event_row *row, unsigned int value, unsigned int value2)
{
	const char *name = cmn_value_name(row->filter, value);
	const char *name2 = cmn_value_name(row->filter2, value2);
	struct pmu_named_event *event;

	if (!name || !name2)
		return 0;
	event = cmn_name(cmn, kasprintf(GFP_KERNEL, "%s%s%s%s%s%s", table->prefix, row->name,
					row->filter ? "_" : "", name, row->filter2 ? "_" : "",
					name2),
			 table->type, row->id - table->below);
	if (!event)
		return -ENOMEM;
	event->config[PMU_CONFIG] |= FIELD_PREP(CMN_CONFIG_OCCUPID, value) |
				     FIELD_PREP(CMN_CONFIG_FILTER2, value2);
	if (row->filter)
		event->shown |= BIT(CMN_FORMAT_OCCUPID);
	if (row->filter2)
		event->shown |= BIT(CMN_FORMAT_FILTER2);
	return 0;
}

static int cmn_name_row(struct cmn *cmn, const struct cmn_event_table *table,
			const struct cmn_event_row *row)
{
	int err = 0;

	for (unsigned int value = 0; value < cmn_filter_values(row->filter); value++)
		for (unsigned int other = 0; other < cmn_filter_values(row->filter2); other++)
			err = err ?: cmn_name_values(cmn, table, row, value, other);
	return err;
}

static int cmn_name_devices(struct cmn *cmn)
{
	for (unsigned int t = 0; t < cmn_nr_event_tables; t++) {
		const struct cmn_event_table *table = &cmn_event_tables[t];

		if (!cmn_has_node(cmn, table->type, -1))
			continue;
		for (unsigned int i = 0; i < table->nr; i++) {
			const struct cmn_event_row *row = &table->rows[i];

			if (row->events & cmn->events &&
			    !cmn_is_missing(cmn, table->type, row->id - table->below) &&
			    cmn_name_row(cmn, table, row))
				return -ENOMEM;
		}
	}
	return 0;
}

static int cmn_name_flits(struct cmn *cmn, const struct cmn_interface *interface, unsigned int code,
			  const struct cmn_xp_channel *channel)
{
	for (unsigned int what = 1; what < ARRAY_SIZE(cmn_xp_whats); what++) {
		unsigned int id = FIELD_PREP(CMN_XP_ID_WHAT, what) |
				  FIELD_PREP(CMN_XP_ID_INTERFACE, code) |
				  FIELD_PREP(CMN_XP_ID_CHANNEL, channel->code);

		if (what == CMN_XP_PARTIAL && !(channel->partial && interface->port >= 0))
			continue;
		if (!cmn_name(cmn, kasprintf(GFP_KERNEL, "mxp_%s_%s_%s", interface->name,
					     channel->name, cmn_xp_whats[what]),
			      CMN_TYPE_XP, id))
			return -ENOMEM;
	}
	return 0;
}

static int cmn_name_xps(struct cmn *cmn)
{
	bool alone = cmn->nr_xps == 1;

	for (unsigned int i = 0; i < ARRAY_SIZE(cmn_interfaces); i++) {
		const struct cmn_interface *interface = &cmn_interfaces[i];
		unsigned int code = alone ? interface->code_1x1 : interface->code;
		int port = alone ? code : interface->port;

		if (code == CMN_NO_CODE || (port >= 0 && !cmn_port_used(cmn, port)))
			continue;
		for (unsigned int c = 0; c < ARRAY_SIZE(cmn_xp_channels); c++) {
			const struct cmn_xp_channel *channel = &cmn_xp_channels[c];

			if (cmn_xp_has_channel(cmn, channel) &&
			    cmn_name_flits(cmn, interface, code, channel))
				return -ENOMEM;
		}
	}
	return 0;
}

static int cmn_name_others(struct cmn *cmn)
{
	static const struct { const char *name; u16 id; } watchpoints[] = {
		{ "watchpoint_up", CMN_WP_UP }, { "watchpoint_down", CMN_WP_DOWN },
	};

	if (!cmn_name(cmn, kstrdup("dtc_cycles", GFP_KERNEL), CMN_TYPE_DTC, 0))
		return -ENOMEM;
	for (unsigned int i = 0; i < ARRAY_SIZE(watchpoints); i++) {
		struct pmu_named_event *event;

		event = cmn_name(cmn, kstrdup(watchpoints[i].name, GFP_KERNEL), CMN_TYPE_WP,
				 watchpoints[i].id);
		if (!event)
			return -ENOMEM;
		event->shown = BIT(CMN_FORMAT_EVENTID);
		event->asked = BIT(CMN_FORMAT_WP_DEV_SEL) | BIT(CMN_FORMAT_WP_CHN_SEL) |
			       BIT(CMN_FORMAT_WP_GRP) | BIT(CMN_FORMAT_WP_VAL) |
			       BIT(CMN_FORMAT_WP_MASK);
	}
	return 0;
}

/**
 * cmn_events_build() - name what a mesh can count.
 * @cmn: the mesh, discovered
 *
 * Context: probe, may sleep.
 * Return: 0 or -ENOMEM; cmn_events_free() is due in either case.
 */
int cmn_events_build(struct cmn *cmn)
{
	int err;

	cmn->named = kvcalloc(CMN_MOST_EVENTS, sizeof(*cmn->named), GFP_KERNEL);
	if (!cmn->named)
		return -ENOMEM;
	cmn->desc.events = cmn->named;
	err = cmn_name_others(cmn);
	err = err ?: cmn_name_devices(cmn);
	return err ?: cmn_name_xps(cmn);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_events_build);

void cmn_events_free(struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->desc.nr_events; i++)
		kfree(cmn->named[i].name);
	kvfree(cmn->named);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_events_free);
