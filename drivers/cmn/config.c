// SPDX-License-Identifier: GPL-2.0-only
/*
 * From an event's config words to where it counts, or a sentence that says why it cannot.
 */
#include <linux/bitfield.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cmn.h"

/* Which port of an XP the event counts at, or -1. */
static int cmn_event_port(const struct cmn *cmn, const struct cmn_event *ce)
{
	if (ce->type == CMN_TYPE_WP)
		return ce->wp.port;
	return ce->type == CMN_TYPE_XP ? cmn_xp_event_port(cmn, ce->id) : -1;
}

/* Is the port in use? Then it has a DTM. */
static bool cmn_xp_uses(const struct cmn *cmn, const struct cmn_xp *xp, unsigned int port)
{
	return port < xp->nr_ports && xp->connect[port] &&
	       (!cmn->multi_dtm || port / 2 < xp->nr_dtms);
}

/* Add the node to the event if the event counts there. */
static void cmn_event_add(const struct cmn *cmn, struct cmn_event *ce, unsigned int n, int id)
{
	const struct cmn_node *node = &cmn->nodes[n];
	struct cmn_member *m = &ce->member[ce->nr];
	int port = cmn_event_port(cmn, ce);

	if (!cmn_type_counts(ce->type, node->type) || (id >= 0 && id != node->id))
		return;
	if (port >= 0 && !cmn_xp_uses(cmn, &cmn->xps[node->xp], port))
		return;
	m->node = n;
	m->dtm = node->dtm;
	if (ce->type == CMN_TYPE_WP && cmn->multi_dtm)
		m->dtm += port / 2;
	ce->dtcs |= cmn->known_domains ? BIT(cmn->dtms[m->dtm].dtc) : BIT(cmn->nr_dtcs) - 1;
	ce->nr++;
}

/* Fields that mean nothing to this type of event are refused, as unknown bits are. */
static bool cmn_fields_fit(const struct cmn *cmn, const u64 *config)
{
	u64 word = config[PMU_CONFIG];
	u16 type = FIELD_GET(CMN_CONFIG_TYPE, word);

	if (type != CMN_TYPE_WP && (word & CMN_CONFIG_WP & ~CMN_CONFIG_FILTER2 ||
				    config[PMU_CONFIG1] || config[PMU_CONFIG2]))
		cmn_refuse(cmn, "wp_ fields are for type 0x%x", CMN_TYPE_WP);
	else if (word & CMN_CONFIG_NODEID && !(word & CMN_CONFIG_BYNODEID))
		cmn_refuse(cmn, "nodeid wants bynodeid=1");
	else if (type == CMN_TYPE_DTC && word & ~CMN_CONFIG_TYPE)
		cmn_refuse(cmn, "there is one cycles event, without any other field");
	else
		return true;
	return false;
}

/* Set filter @i of the event. @names describes it; users call it @field. */
static bool cmn_filter_fits(const struct cmn *cmn, struct cmn_event *ce, unsigned int i,
			    const struct cmn_filter_names *names, const char *field,
			    unsigned int value)
{
	u64 mask;

	if (names)
		ce->filter[i] = names->filter;
	mask = cmn_filter_mask(cmn, ce->type, ce->filter[i]);
	ce->filter_value[i] = value;
	if (value && !mask)
		cmn_refuse(cmn, "eventid 0x%x of %s has nothing that %s could select",
			   ce->id, cmn_type_name(ce->type), field);
	else if (value > cmn_field(~0ULL, mask))
		cmn_refuse(cmn, "%s=%u: there is no such filter for eventid 0x%x of %s",
			   field, value, ce->id, cmn_type_name(ce->type));
	else
		return true;
	return false;
}

/* Set the event id, and the filters of an event with this id. */
static bool cmn_id_fits(const struct cmn *cmn, const u64 *config, struct cmn_event *ce)
{
	unsigned int bits = cmn_selector_bits(cmn, ce->type);
	unsigned int occupid = FIELD_GET(CMN_CONFIG_OCCUPID, config[PMU_CONFIG]);
	unsigned int filter2 = FIELD_GET(CMN_CONFIG_FILTER2, config[PMU_CONFIG]);
	const struct cmn_event_row *row = cmn_event_row_find(cmn, ce->type, ce->id);

	if (!ce->id)
		cmn_refuse(cmn, "eventid 0 is no event");
	else if (ce->id >= BIT(bits))
		cmn_refuse(cmn, "eventid 0x%x: %s's have %u bits", ce->id,
			   cmn_type_name(ce->type), bits);
	else
		return (ce->type != CMN_TYPE_XP || cmn_xp_event_fits(cmn, ce->id)) &&
		       cmn_filter_fits(cmn, ce, 0, row ? row->filter : NULL, "occupid", occupid) &&
		       cmn_filter_fits(cmn, ce, 1, row ? row->filter2 : NULL,
				       "filter2 (of watchpoints: wp_dev_sel)", filter2);
	return false;
}

/* Add all nodes that the event counts at. */
static int cmn_event_place(const struct cmn *cmn, const u64 *config, struct cmn_event *ce)
{
	u64 word = config[PMU_CONFIG];
	int id = word & CMN_CONFIG_BYNODEID ? FIELD_GET(CMN_CONFIG_NODEID, word) : -1;
	const char *what = cmn_type_name(ce->type);

	if (!what || !cmn_has_node(cmn, ce->type, -1)) {
		cmn_refuse(cmn, what ? "type 0x%x: there is no %s in this mesh" :
			   "type 0x%x is not known", ce->type, what);
		return -EINVAL;
	}
	if (id >= 0 && !cmn_has_node(cmn, ce->type, id)) {
		cmn_refuse(cmn, "there is no %s with nodeid 0x%x",
			   ce->type == CMN_TYPE_WP ? "XP" : what, id);
		return -EINVAL;
	}
	if (ce->type == CMN_TYPE_WP ? cmn_wp_decode(cmn, word, &ce->wp) :
				      !cmn_id_fits(cmn, config, ce))
		return -EINVAL;
	for (unsigned int i = 0; i < cmn->nr_nodes; i++)
		cmn_event_add(cmn, ce, i, id);
	if (!ce->nr) {
		cmn_refuse(cmn, "nothing is connected to port %d of %s to be counted",
			   cmn_event_port(cmn, ce), id < 0 ? "any XP" : "this XP");
		return -EINVAL;
	}
	return 0;
}

/**
 * cmn_event_create() - an event from its config words.
 * @cmn: the mesh
 * @config: the words
 *
 * Context: event_init, may sleep.
 * Return: the event, to be freed with kvfree(); -EINVAL, with a message, for what
 * cannot be counted; -ENOMEM.
 */
struct cmn_event *cmn_event_create(const struct cmn *cmn, const u64 *config)
{
	u16 type = FIELD_GET(CMN_CONFIG_TYPE, config[PMU_CONFIG]);
	struct cmn_event *ce;
	int err;

	if (!cmn_fields_fit(cmn, config))
		return ERR_PTR(-EINVAL);
	ce = kvzalloc(struct_size(ce, member, type == CMN_TYPE_DTC ? 0 : cmn->nr_nodes),
		      GFP_KERNEL);
	if (!ce)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&ce->fresh);
	ce->type = type;
	ce->id = FIELD_GET(CMN_CONFIG_EVENTID, config[PMU_CONFIG]);
	memset(ce->filter, CMN_FILTER_NONE, sizeof(ce->filter));
	if (type == CMN_TYPE_WP) {
		ce->wp_val = config[PMU_CONFIG1];
		ce->wp_mask = config[PMU_CONFIG2];
	}
	err = type == CMN_TYPE_DTC ? 0 : cmn_event_place(cmn, config, ce);
	if (err) {
		kvfree(ce);
		return ERR_PTR(err);
	}
	return ce;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_event_create);
