// SPDX-License-Identifier: GPL-2.0-only
/*
 * Node ids: X and Y, and in the low three bits port and device. A mesh of one XP has five bits for
 * these. Whether one of the three bits is the device's or two are, the XP's number of ports
 * decides. If an XP is built with more ports than are in use, or than it tells, that number is a
 * guess. Then the types of connected devices tell which of the two is right.
 */
#include <linux/bits.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "cmn.h"

#define CMN_ID_LOW_BITS		3
#define CMN_ID_LOW_BITS_1X1	5

/* Bits for X, and as many for Y. There are at least two: a 2x2 mesh has ids like a 4x4 one. */
u8 cmn_id_bits(unsigned int width, unsigned int height)
{
	unsigned int most = max(width, height);

	return most <= 4 ? 2 : most <= 8 ? 3 : 4;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_id_bits);

static unsigned int cmn_id_low_bits(const struct cmn *cmn)
{
	return cmn->nr_xps == 1 ? CMN_ID_LOW_BITS_1X1 : CMN_ID_LOW_BITS;
}

/* Is a node of this id at that XP? */
bool cmn_id_is_at(const struct cmn *cmn, u16 id, const struct cmn_xp *xp)
{
	return !((id ^ xp->id) >> cmn_id_low_bits(cmn));
}

/* Bits for the device at a port of an XP that has @ports of them. */
unsigned int cmn_id_dev_bits(const struct cmn *cmn, unsigned int ports)
{
	return cmn->nr_xps == 1 || ports <= 2 ? 2 : 1;
}

/*
 * Where @id is, if the XP there has @ports ports. Each XP has a number of its own: ids at an XP
 * with two ports have two bits for the device even if the next XP has three ports.
 */
struct cmn_place cmn_id_place(const struct cmn *cmn, u16 id, unsigned int ports)
{
	unsigned int dev_bits = cmn_id_dev_bits(cmn, ports);
	unsigned int low_bits = cmn_id_low_bits(cmn);
	unsigned int low = id & (BIT(low_bits) - 1);
	unsigned int high = id >> low_bits;

	return (struct cmn_place){
		.x = high >> cmn->id_bits,
		.y = high & (BIT(cmn->id_bits) - 1),
		.port = low >> dev_bits,
		.dev = low & (BIT(dev_bits) - 1),
	};
}
EXPORT_SYMBOL_IF_KUNIT(cmn_id_place);

#define CMN_CODE(_code)		BIT_ULL(0x ## _code)

/* What has to be connected to the port of a node with events, by the codes of connect info. */
static const struct { u16 type; u64 codes; } cmn_connects[] = {
	{ CMN_TYPE_DN, CMN_CODE(08) | CMN_CODE(0a) | CMN_CODE(1d) },
	/* An HN-P has an HN-I, too, and a CCLA_RNI an RN-I. */
	{ CMN_TYPE_HNI, CMN_CODE(08) | CMN_CODE(09) | CMN_CODE(0a) | CMN_CODE(0b) | CMN_CODE(1d) },
	{ CMN_TYPE_HNP, CMN_CODE(0b) },
	{ CMN_TYPE_HNF, CMN_CODE(0e) | CMN_CODE(1a) },
	{ CMN_TYPE_HNS, CMN_CODE(0e) | CMN_CODE(1a) },
	{ CMN_TYPE_SBSX, CMN_CODE(0d) },
	{ CMN_TYPE_MTSX, CMN_CODE(1c) },
	{ CMN_TYPE_RNI, CMN_CODE(01) | CMN_CODE(1e) | CMN_CODE(1f) },
	{ CMN_TYPE_RND, CMN_CODE(02) },
	{ CMN_TYPE_CXRA, CMN_CODE(12) | CMN_CODE(13) },
	{ CMN_TYPE_CXHA, CMN_CODE(11) | CMN_CODE(13) },
	{ CMN_TYPE_CCRA, CMN_CODE(1e) | CMN_CODE(1f) },
	{ CMN_TYPE_CCHA, CMN_CODE(1e) | CMN_CODE(1f) },
	{ CMN_TYPE_CCLA, CMN_CODE(1e) | CMN_CODE(1f) },
	{ CMN_TYPE_CCLA_RNI, CMN_CODE(1e) | CMN_CODE(1f) },
};

/* Codes that are known. Behind any other one there may be everything. */
#define CMN_CODES_KNOWN		(GENMASK_ULL(0x22, 0) & ~(CMN_CODE(03) | CMN_CODE(1b)))

/* A gateway has agents, and may have an RN-I, each of which may be a device of its own. */
#define CMN_CODES_GATEWAYS	(CMN_CODE(11) | CMN_CODE(12) | CMN_CODE(13) | CMN_CODE(1e) | \
				 CMN_CODE(1f))

/*
 * Can a node of @type be there? A port has more devices than the first only behind a CAL, unless
 * it is a gateway's.
 */
bool cmn_node_fits(const struct cmn_xp *xp, u16 type, struct cmn_place at)
{
	u64 code = BIT_ULL(xp->connect[at.port]);

	if (at.dev && !(xp->cals & BIT(at.port)) && !(code & CMN_CODES_GATEWAYS))
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(cmn_connects); i++)
		if (cmn_connects[i].type == type)
			return code & (cmn_connects[i].codes | ~CMN_CODES_KNOWN);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_node_fits);

/* Does a device have nodes with events? */
static bool cmn_code_counts(u8 code)
{
	u64 codes = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(cmn_connects); i++)
		codes |= cmn_connects[i].codes;
	return codes & BIT_ULL(code);
}

/*
 * How much speaks against ids as of an XP with @ports ports: nodes at a port with nothing or with
 * another kind of device, or behind a CAL that is not there. If that does not decide, ports whose
 * device would have no node.
 */
static unsigned int cmn_id_misfits(const struct cmn *cmn, const struct cmn_xp *xp,
				   const struct cmn_node *nodes, unsigned int nr,
				   unsigned int ports)
{
	unsigned int misfits = 0, empty = 0;
	u8 seen = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct cmn_place at = cmn_id_place(cmn, nodes[i].id, ports);

		seen |= BIT(at.port);
		misfits += !cmn_node_fits(xp, nodes[i].type, at);
	}
	for (unsigned int port = 0; port < CMN_MAX_PORTS; port++)
		empty += cmn_code_counts(xp->connect[port]) && !(seen & BIT(port));
	return misfits * (CMN_MAX_PORTS + 1) + empty;
}

/**
 * cmn_id_ports() - the number of ports that the ids at an XP go by.
 * @cmn: the mesh
 * @xp: the XP, with what is connected
 * @nodes: its nodes with events, with types and ids
 * @nr: how many
 *
 * No port of a CMN-600, nor of an XP that is alone, is in doubt.
 *
 * Context: probe. No access.
 * Return: a number for cmn_id_place(); that of the XP unless another one fits better.
 */
unsigned int cmn_id_ports(const struct cmn *cmn, const struct cmn_xp *xp,
			  const struct cmn_node *nodes, unsigned int nr)
{
	unsigned int ports = xp->nr_ports, other = ports > 2 ? 2 : 4;

	if (cmn->nr_xps == 1 || !cmn->part->connect[2])
		return ports;
	return cmn_id_misfits(cmn, xp, nodes, nr, other) <
	       cmn_id_misfits(cmn, xp, nodes, nr, ports) ? other : ports;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_id_ports);
