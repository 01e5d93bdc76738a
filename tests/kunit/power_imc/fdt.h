/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device trees made in memory, word by word, so that they can be wrong in any way that
 * firmware can have them wrong.
 */
#ifndef POWER_IMC_FDT_H
#define POWER_IMC_FDT_H

#include <kunit/test.h>
#include <linux/of.h>

#define FDT_DEPTH	4
#define FDT_NAMES_ROOM	512

/*
 * A change to one property: another value, or, if @length is negative, none. Without a
 * @property it is another name for the node.
 */
struct fdt_edit {
	const char *node, *property;
	const void *value;
	int length;
};

#define FDT_SET(node_, property_, bytes)	\
	{ .node = node_, .property = property_, .value = bytes, .length = sizeof(bytes) - 1 }
#define FDT_TEXT(node_, property_, text)	\
	{ .node = node_, .property = property_, .value = text, .length = sizeof(text) }
#define FDT_NAME(node_, name)			\
	{ .node = node_, .value = name }
#define FDT_CUT(node_, property_)		\
	{ .node = node_, .property = property_, .length = -1 }

/* A tree in the making. */
struct fdt {
	struct kunit *test;
	void *structure;
	size_t used, room;		/* of the structure, in bytes */
	char names[FDT_NAMES_ROOM];	/* of properties */
	size_t names_used;
	const struct fdt_edit *edits;
	unsigned int nr_edits;
	unsigned long done;		/* edits that were made, by number */
	const char *node[FDT_DEPTH];	/* the open nodes */
	bool closed[FDT_DEPTH];		/* has all its properties */
	unsigned int depth;
};

struct fdt *fdt_create(struct kunit *test, const struct fdt_edit *edits, unsigned int nr_edits);
void fdt_begin(struct fdt *fdt, const char *node);
void fdt_property(struct fdt *fdt, const char *name, const void *value, int length);
void fdt_u32(struct fdt *fdt, const char *name, u32 value);
void fdt_u64(struct fdt *fdt, const char *name, u64 value);
void fdt_cells(struct fdt *fdt, const char *name, u32 first, u32 second);
void fdt_text(struct fdt *fdt, const char *name, const char *text);
void fdt_end(struct fdt *fdt);
bool fdt_spoil(struct fdt *fdt, unsigned int n, u32 (*spoilt)(u32 word));
struct device_node *fdt_tree(struct fdt *fdt);

#endif /* POWER_IMC_FDT_H */
