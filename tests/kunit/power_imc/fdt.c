// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flattened device trees, version 17: see the Devicetree Specification, chapter 5.
 */
#include <linux/of_fdt.h>
#include <linux/slab.h>

#include "fdt.h"

#define FDT_MAGIC		0xd00dfeed
#define FDT_TOKEN_BEGIN_NODE	1
#define FDT_TOKEN_END_NODE	2
#define FDT_TOKEN_PROP		3
#define FDT_TOKEN_END		9

/* The header's words, and an empty list of reserved memory. */
enum { FDT_WORD_MAGIC, FDT_WORD_SIZE, FDT_WORD_STRUCT, FDT_WORD_STRINGS, FDT_WORD_RESERVED,
       FDT_WORD_VERSION, FDT_WORD_COMPATIBLE, FDT_WORD_BOOT_CPU, FDT_WORD_SIZE_STRINGS,
       FDT_WORD_SIZE_STRUCT, FDT_WORDS };
#define FDT_RESERVED		ALIGN(FDT_WORDS * sizeof(u32), 8)
#define FDT_STRUCT		(FDT_RESERVED + 16)

/* Room for a catalog; a long one gets more. */
#define FDT_FIRST_ROOM		0x1000

struct fdt *fdt_create(struct kunit *test, const struct fdt_edit *edits, unsigned int nr_edits)
{
	struct fdt *fdt = kunit_kzalloc(test, sizeof(*fdt), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fdt);
	fdt->test = test;
	fdt->room = FDT_FIRST_ROOM;
	fdt->structure = kunit_kzalloc(test, fdt->room, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fdt->structure);
	fdt->edits = edits;
	fdt->nr_edits = nr_edits;
	fdt_begin(fdt, "");
	return fdt;
}

static void fdt_grow(struct fdt *fdt)
{
	void *larger = kunit_kzalloc(fdt->test, 2 * fdt->room, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(fdt->test, larger);
	memcpy(larger, fdt->structure, fdt->used);
	kunit_kfree(fdt->test, fdt->structure);
	fdt->structure = larger;
	fdt->room *= 2;
}

static void fdt_put(struct fdt *fdt, const void *data, size_t length)
{
	while (fdt->used + ALIGN(length, 4) > fdt->room)
		fdt_grow(fdt);
	memcpy(fdt->structure + fdt->used, data, length);
	fdt->used += ALIGN(length, 4);
}

static void fdt_put_word(struct fdt *fdt, u32 word)
{
	__be32 cell = cpu_to_be32(word);

	fdt_put(fdt, &cell, sizeof(cell));
}

/* A property's name is put where names are: each once. */
static u32 fdt_name(struct fdt *fdt, const char *name)
{
	size_t at = 0;

	while (at < fdt->names_used && strcmp(fdt->names + at, name))
		at += strlen(fdt->names + at) + 1;
	if (at == fdt->names_used) {
		KUNIT_ASSERT_LT(fdt->test, at + strlen(name), sizeof(fdt->names));
		strcpy(fdt->names + at, name);
		fdt->names_used += strlen(name) + 1;
	}
	return at;
}

static void fdt_put_property(struct fdt *fdt, const char *name, const void *value, int length)
{
	if (length < 0)
		return;
	fdt_put_word(fdt, FDT_TOKEN_PROP);
	fdt_put_word(fdt, length);
	fdt_put_word(fdt, fdt_name(fdt, name));
	fdt_put(fdt, value, length);
}

static void fdt_put_edit(struct fdt *fdt, unsigned int i)
{
	const struct fdt_edit *edit = &fdt->edits[i];

	__set_bit(i, &fdt->done);
	fdt_put_property(fdt, edit->property, edit->value, edit->length);
}

/* Edits of properties that the node does not have are made at its properties' end. */
static void fdt_close_properties(struct fdt *fdt)
{
	unsigned int top = fdt->depth - 1;

	if (!fdt->depth || fdt->closed[top])
		return;
	fdt->closed[top] = true;
	for (unsigned int i = 0; i < fdt->nr_edits; i++)
		if (!test_bit(i, &fdt->done) && !strcmp(fdt->edits[i].node, fdt->node[top]))
			fdt_put_edit(fdt, i);
}

static const char *fdt_node_name(struct fdt *fdt, const char *node)
{
	for (unsigned int i = 0; i < fdt->nr_edits; i++) {
		if (!fdt->edits[i].property && !strcmp(fdt->edits[i].node, node)) {
			__set_bit(i, &fdt->done);
			return fdt->edits[i].value;
		}
	}
	return node;
}

void fdt_begin(struct fdt *fdt, const char *node)
{
	const char *name = fdt_node_name(fdt, node);

	KUNIT_ASSERT_LT(fdt->test, fdt->depth, FDT_DEPTH);
	fdt_close_properties(fdt);
	fdt->node[fdt->depth] = node;
	fdt->closed[fdt->depth++] = false;
	fdt_put_word(fdt, FDT_TOKEN_BEGIN_NODE);
	fdt_put(fdt, name, strlen(name) + 1);
}

void fdt_end(struct fdt *fdt)
{
	fdt_close_properties(fdt);
	fdt->depth--;
	fdt_put_word(fdt, FDT_TOKEN_END_NODE);
}

void fdt_property(struct fdt *fdt, const char *name, const void *value, int length)
{
	for (unsigned int i = 0; i < fdt->nr_edits; i++) {
		if (!strcmp(fdt->edits[i].node, fdt->node[fdt->depth - 1]) &&
		    fdt->edits[i].property && !strcmp(fdt->edits[i].property, name)) {
			fdt_put_edit(fdt, i);
			return;
		}
	}
	fdt_put_property(fdt, name, value, length);
}

void fdt_u32(struct fdt *fdt, const char *name, u32 value)
{
	__be32 cell = cpu_to_be32(value);

	fdt_property(fdt, name, &cell, sizeof(cell));
}

void fdt_cells(struct fdt *fdt, const char *name, u32 first, u32 second)
{
	__be32 cells[] = { cpu_to_be32(first), cpu_to_be32(second) };

	fdt_property(fdt, name, cells, sizeof(cells));
}

void fdt_u64(struct fdt *fdt, const char *name, u64 value)
{
	fdt_cells(fdt, name, upper_32_bits(value), lower_32_bits(value));
}

void fdt_text(struct fdt *fdt, const char *name, const char *text)
{
	fdt_property(fdt, name, text, strlen(text) + 1);
}

static u32 fdt_word(const struct fdt *fdt, size_t at)
{
	return be32_to_cpu(*(__be32 *)(fdt->structure + at));
}

/* Make another one of the @n-th word of the properties' values, from 0. False if there are not so many. */
bool fdt_spoil(struct fdt *fdt, unsigned int n, u32 (*spoilt)(u32 word))
{
	for (size_t at = 0; at < fdt->used; ) {
		u32 token = fdt_word(fdt, at), words;

		at += sizeof(token);
		if (token == FDT_TOKEN_BEGIN_NODE)
			at += ALIGN(strlen(fdt->structure + at) + 1, 4);
		if (token != FDT_TOKEN_PROP)
			continue;
		words = ALIGN(fdt_word(fdt, at), 4) / 4;
		at += 2 * sizeof(u32);
		if (n < words) {
			at += 4 * n;
			*(__be32 *)(fdt->structure + at) = cpu_to_be32(spoilt(fdt_word(fdt, at)));
			return true;
		}
		n -= words;
		at += 4 * words;
	}
	return false;
}

static void fdt_free_tree(void *memory)
{
	kfree(memory);
}

/* The parts together: header, no reserved memory, structure, names. */
static void *fdt_blob(struct fdt *fdt)
{
	size_t names = FDT_STRUCT + fdt->used, size = names + fdt->names_used;
	const u32 header[FDT_WORDS] = {
		[FDT_WORD_MAGIC] = FDT_MAGIC, [FDT_WORD_SIZE] = size,
		[FDT_WORD_STRUCT] = FDT_STRUCT, [FDT_WORD_STRINGS] = names,
		[FDT_WORD_RESERVED] = FDT_RESERVED, [FDT_WORD_VERSION] = 17,
		[FDT_WORD_COMPATIBLE] = 16, [FDT_WORD_SIZE_STRINGS] = fdt->names_used,
		[FDT_WORD_SIZE_STRUCT] = fdt->used,
	};
	__be32 *blob = kunit_kzalloc(fdt->test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(fdt->test, blob);
	for (unsigned int i = 0; i < FDT_WORDS; i++)
		blob[i] = cpu_to_be32(header[i]);
	memcpy((void *)blob + FDT_STRUCT, fdt->structure, fdt->used);
	memcpy((void *)blob + names, fdt->names, fdt->names_used);
	return blob;
}

/* The tree, as the kernel makes it of the blob; it lives as long as the test. */
struct device_node *fdt_tree(struct fdt *fdt)
{
	struct device_node *top = NULL;
	void *memory;

	fdt_end(fdt);
	fdt_put_word(fdt, FDT_TOKEN_END);
	/* An edit that found no place would make a case of it that shows nothing. */
	KUNIT_ASSERT_EQ(fdt->test, hweight_long(fdt->done), (unsigned long)fdt->nr_edits);
	memory = of_fdt_unflatten_tree(fdt_blob(fdt), NULL, &top);
	KUNIT_ASSERT_NOT_NULL(fdt->test, memory);
	KUNIT_ASSERT_EQ(fdt->test, kunit_add_action_or_reset(fdt->test, fdt_free_tree, memory), 0);
	KUNIT_ASSERT_NOT_NULL(fdt->test, top);
	return top;
}
