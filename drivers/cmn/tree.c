// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walking the tree of nodes without trusting it: firmware's region may be too small, and frames may
 * be powered down, hidden or damaged.
 */
#include <linux/bitops.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/kernel.h>

#include "cmn.h"

/* May the frame at an offset, in bytes from the start of the region, be touched? */
static bool cmn_frame_fits(const struct cmn *cmn, u32 offset)
{
	return !(offset % CMN_FRAME_ALIGN) && offset < cmn->size &&
	       cmn->size - offset >= cmn->part->frame;
}

/**
 * cmn_children() - how many pointers to children a node has.
 * @cmn: the mesh
 * @offset: of the node's frame, bytes
 * @what: what the node is, for messages
 * @most: the most that there can be
 * @array: set to where they are, from the start of the region, bytes
 *
 * Context: probe. 1 read.
 * Return: the number, or -EINVAL with a message.
 */
int cmn_children(struct cmn *cmn, u32 offset, const char *what, unsigned int most, u32 *array)
{
	u64 info = cmn_read64(cmn->base + offset + CMN_CHILD_INFO);
	unsigned int count = FIELD_GET(CMN_CHILD_INFO_COUNT, info);
	unsigned int start = FIELD_GET(CMN_CHILD_INFO_ARRAY, info);

	if (count > most)
		return dev_err_probe(cmn->dev, -EINVAL,
			"the %s at 0x%x says that it has %u children; %u are possible\n",
			what, offset, count, most);
	if (count && (!start || start % CMN_CHILD_SIZE ||
		      start + count * CMN_CHILD_SIZE > cmn->part->frame))
		return dev_err_probe(cmn->dev, -EINVAL,
			"the %s at 0x%x says that its children are listed at 0x%x, which cannot be\n",
			what, offset, start);
	*array = offset + start;
	return count;
}

/**
 * cmn_child() - follow a pointer to a child.
 * @cmn: the mesh
 * @offset: of the parent's frame, bytes
 * @array: where cmn_children() said that its pointers are
 * @n: which pointer; below what cmn_children() said
 * @seen: the frames that were reached, a bit for each CMN_FRAME_ALIGN bytes of the region
 * @child: set to the offset of the child's frame
 *
 * Passes over frames that must not be touched: nodes outside of the mesh's power domain; isolated
 * nodes, whatever the part; empty entries (on AmpereOneX some XPs list more children than they
 * have, erratum AC04_MESH_1; on CMN-600 a node can be at offset 0); and frames that were reached
 * before.
 *
 * Context: probe. 1 read.
 * Return: 1; 0 to pass over the pointer; -EINVAL, with a message, if it leads out of the
 * region.
 */
int cmn_child(struct cmn *cmn, u32 offset, u32 array, unsigned int n, unsigned long *seen,
	      u32 *child)
{
	u32 pointer = cmn_read64(cmn->base + array + n * CMN_CHILD_SIZE);

	*child = pointer & cmn->part->pointer;
	if (pointer & CMN_CHILD_EXTERNAL || (!pointer && !cmn->part->rooted))
		return 0;
	if (pointer & CMN_CHILD_ISOLATED) {
		dev_info(cmn->dev, "the node at 0x%x is isolated: left alone\n", *child);
		return 0;
	}
	if (*child != pointer || !cmn_frame_fits(cmn, *child))
		return dev_err_probe(cmn->dev, -EINVAL,
			"child %u of the node at 0x%x is at 0x%x: not in the region of 0x%llx bytes, is that too small?\n",
			n, offset, pointer, (u64)cmn->size);
	if (test_and_set_bit(*child / CMN_FRAME_ALIGN, seen)) {
		dev_warn(cmn->dev, "child %u of the node at 0x%x is at 0x%x, as another is: ignored\n",
			 n, offset, *child);
		return 0;
	}
	return 1;
}

/* The bits for cmn_child() to set. */
unsigned int cmn_frames(const struct cmn *cmn)
{
	return DIV_ROUND_UP_ULL(cmn->size, CMN_FRAME_ALIGN);
}

/*
 * Is the root where firmware or the part says? The part's number, and with it the size of frames,
 * is yet to be read there, so only registers that all parts have are touched.
 */
int cmn_root_check(struct cmn *cmn)
{
	u64 info;

	if ((cmn->start | cmn->root) % CMN_FRAME_ALIGN || cmn->root >= cmn->size ||
	    cmn->size - cmn->root < CMN_FRAME_ALIGN)
		return dev_err_probe(cmn->dev, -EINVAL,
			"the root node at 0x%x is not in the region of 0x%llx bytes at 0x%llx, or these are no multiples of 0x%x\n",
			cmn->root, (u64)cmn->size, (u64)cmn->start, CMN_FRAME_ALIGN);
	info = cmn_read64(cmn->base + cmn->root + CMN_NODE_INFO);
	if (FIELD_GET(CMN_NODE_INFO_TYPE, info) != CMN_TYPE_CFG)
		return dev_err_probe(cmn->dev, -ENODEV,
			"the node at 0x%x is of type 0x%llx, not the root: is the root node's offset right?\n",
			cmn->root, FIELD_GET(CMN_NODE_INFO_TYPE, info));
	return 0;
}

/* Is all of the root's frame in the region, now that the part is known? */
int cmn_root_fits(struct cmn *cmn)
{
	if (cmn_frame_fits(cmn, cmn->root))
		return 0;
	return dev_err_probe(cmn->dev, -EINVAL,
		"the root node at 0x%x has 0x%x bytes of registers, and the region of 0x%llx bytes ends before: is that too small?\n",
		cmn->root, cmn->part->frame, (u64)cmn->size);
}
