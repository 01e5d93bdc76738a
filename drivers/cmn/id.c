// SPDX-License-Identifier: GPL-2.0-only
/*
 * Node ids: X and Y, and in the low three bits port and device. A mesh of one XP has five bits for
 * these.
 */
#include <linux/export.h>
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
