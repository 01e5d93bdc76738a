// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "regfile.h"

#define REGION		0x10000000	/* 256 MB */

static struct cmn_regfile *current_file;

/* Never dereferenced: every access goes through the bus. */
static char __iomem *region_start(void)
{
	return (char __iomem *)0x100000000000UL;
}

static u64 *word_of(struct cmn_regfile *file, u64 offset)
{
	u64 *page = xa_load(&file->pages, offset / PAGE_SIZE);

	if (!page) {
		page = kzalloc(PAGE_SIZE, GFP_KERNEL);
		xa_store(&file->pages, offset / PAGE_SIZE, page, GFP_KERNEL);
	}
	return &page[offset % PAGE_SIZE / 8];
}

u64 cmn_regfile_get(struct cmn_regfile *file, u64 offset)
{
	return *word_of(file, offset);
}

void cmn_regfile_set(struct cmn_regfile *file, u64 offset, u64 value)
{
	*word_of(file, offset) = value;
}

static u64 record(bool write, const void __iomem *reg, unsigned int bytes, u64 value)
{
	struct cmn_regfile *file = current_file;
	u64 offset = (const char __iomem *)reg - region_start();
	unsigned int n = file->reads + file->writes;

	if (n < REGFILE_LOG)
		file->log[n] = (struct cmn_access){ write, bytes, offset, value };
	if (write)
		file->writes++;
	else
		file->reads++;
	if (offset >= file->cmn.size || offset % bytes)
		file->outside++;
	return offset;
}

static u64 regfile_read(const void __iomem *reg, unsigned int bytes)
{
	u64 offset, value;

	if (current_file->before_read)
		current_file->before_read(current_file, current_file->reads);
	offset = record(false, reg, bytes, 0);

	if (offset >= current_file->cmn.size)
		return ~0ULL;
	value = cmn_regfile_get(current_file, offset);
	return bytes == 8 ? value : (u32)(value >> 8 * (offset & 4));
}

static void regfile_write(void __iomem *reg, unsigned int bytes, u64 value)
{
	u64 offset = record(true, reg, bytes, value);
	unsigned int shift = 8 * (offset & 4);
	u64 *word;

	if (offset >= current_file->cmn.size || (current_file->stuck &&
						 offset == current_file->stuck))
		return;
	word = word_of(current_file, offset);
	if (bytes == 8)
		*word = value;
	else
		*word = (*word & ~(0xffffffffULL << shift)) | (u64)(u32)value << shift;
}

static const struct cmn_bus regfile_bus = { .read = regfile_read, .write = regfile_write };

void cmn_regfile_forget(struct cmn_regfile *file)
{
	file->reads = 0;
	file->writes = 0;
}

/* How often a register was accessed. */
unsigned int cmn_regfile_count(const struct cmn_regfile *file, bool write, u64 offset)
{
	unsigned int count = 0;

	for (unsigned int n = 0; n < min(file->reads + file->writes, REGFILE_LOG + 0U); n++)
		count += file->log[n].write == write && file->log[n].offset == offset;
	return count;
}

/* Frames in the order in which they are asked for; the first is not at 0 on CMN-600. */
static u32 new_frame(struct cmn_regfile *file)
{
	return file->frame * (file->frames++ + (file->frame == 0x4000));
}

static void add_child(struct cmn_regfile *file, u32 parent, u32 child)
{
	u64 info = cmn_regfile_get(file, parent + 0x80);

	info = 0x01000000 | ((info & 0xffff) + 1);
	cmn_regfile_set(file, parent + 0x80, info);
	cmn_regfile_set(file, parent + 0x100 + 8 * ((info & 0xffff) - 1), child);
}

/* Where an XP says what is connected to its ports, and in which domain its DTMs are; 0: nowhere. */
struct xp_layout {
	u16 connect[6], domain[4];
};

static const struct xp_layout layout_600 = { { 0x08, 0x10 } };
static const struct xp_layout layout_650 = {
	{ 0x08, 0x10, 0x28, 0x30, 0x38, 0x40 }, { 0x910, 0x918, 0x920 },
};

static const struct xp_layout layout_700 = {
	{ 0x08, 0x10, 0x18, 0x20, 0x28, 0x30 }, { 0x960, 0x968, 0x970, 0x978 },
};

static const struct xp_layout *layout_of(u16 part)
{
	switch (part) {
	case 0x434:
	case 0x438:
		return &layout_600;
	case 0x436:
	case 0x43a:
		return &layout_650;
	default:
		return &layout_700;
	}
}

static void build_xp(struct cmn_regfile *file, const struct cmn_fake_mesh *mesh, unsigned int i)
{
	const struct xp_layout *at = layout_of(mesh->part);
	u64 x = i % mesh->width, y = i / mesh->width;
	u32 frame = new_frame(file);

	file->xp[i] = frame;
	cmn_regfile_set(file, frame, (u64)mesh->ports << 48 | (u64)i << 32 |
			(x << mesh->id_bits | y) << 19 | 6);
	for (unsigned int p = 0; p < ARRAY_SIZE(at->connect) && at->connect[p]; p++)
		cmn_regfile_set(file, frame + at->connect[p], mesh->connect[p]);
	for (unsigned int d = 0; d < ARRAY_SIZE(at->domain) && at->domain[d]; d++)
		cmn_regfile_set(file, frame + at->domain[d], x % mesh->domains);
	add_child(file, file->cmn.root, frame);
}

static void build(struct cmn_regfile *file, const struct cmn_fake_mesh *mesh)
{
	file->cmn.root = new_frame(file);
	cmn_regfile_set(file, file->cmn.root, 2);
	cmn_regfile_set(file, file->cmn.root + 0x08,
			(0xb0ULL | mesh->part >> 8) << 32 | (mesh->part & 0xff));
	cmn_regfile_set(file, file->cmn.root + 0x10, mesh->rev << 4 | 0xb);
	cmn_regfile_set(file, file->cmn.root + 0x900, mesh->info);
	cmn_regfile_set(file, file->cmn.root + 0x908, mesh->info1);
	for (unsigned int i = 0; i < mesh->width * mesh->height; i++)
		build_xp(file, mesh, i);
	for (unsigned int i = 0; i < mesh->nr; i++) {
		const struct cmn_fake_node *node = &mesh->nodes[i];

		file->node[i] = new_frame(file);
		cmn_regfile_set(file, file->node[i], (u64)node->logical << 32 |
				(u64)node->id << 16 | node->type);
		add_child(file, file->xp[node->y * mesh->width + node->x], file->node[i]);
	}
}

static void tear_down(void *data)
{
	struct cmn_regfile *file = data;
	unsigned long index;
	void *page;

	cmn_regfile_undiscover(file);
	cmn_kunit_bus = NULL;
	xa_for_each(&file->pages, index, page)
		kfree(page);
	xa_destroy(&file->pages);
	root_device_unregister(file->cmn.dev);
}

static int file_init(struct kunit_resource *res, void *context)
{
	res->data = context;
	return 0;
}

static void file_free(struct kunit_resource *res)
{
	tear_down(res->data);
}

/* The mesh as a machine comes up with it, not discovered yet. */
struct cmn_regfile *cmn_regfile(struct kunit *test, const struct cmn_fake_mesh *mesh)
{
	struct cmn_regfile *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	static unsigned int number;
	struct device *dev;
	char name[24];

	snprintf(name, sizeof(name), "cmn_kunit_%u", number++);
	dev = root_device_register(name);
	KUNIT_ASSERT_NOT_NULL(test, file);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	xa_init(&file->pages);
	file->cmn.dev = dev;
	file->cmn.base = region_start();
	file->cmn.size = REGION;
	file->frame = (mesh->part == 0x434 || mesh->part == 0x438) ? 0x4000 : 0x10000;
	strscpy(file->cmn.name, "arm_cmn_kunit", sizeof(file->cmn.name));
	cmn_carries_init(&file->cmn);
	build(file, mesh);
	current_file = file;
	cmn_kunit_bus = &regfile_bus;
	KUNIT_ASSERT_NOT_NULL(test, kunit_alloc_resource(test, file_init, file_free, GFP_KERNEL,
							 file));
	return file;
}

int cmn_regfile_discover(struct cmn_regfile *file)
{
	return cmn_discover(&file->cmn);
}

/* Go back to the state before cmn_regfile_discover(). */
void cmn_regfile_undiscover(struct cmn_regfile *file)
{
	struct cmn *cmn = &file->cmn;
	struct device *dev = cmn->dev;
	resource_size_t size = cmn->size;
	u32 root = cmn->root;

	irq_work_sync(&cmn->complaint);
	cmn_undiscover(cmn);
	memset(cmn, 0, sizeof(*cmn));
	cmn->dev = dev;
	cmn->base = region_start();
	cmn->size = size;
	cmn->root = root;
	strscpy(cmn->name, "arm_cmn_kunit", sizeof(cmn->name));
	cmn_carries_init(cmn);
}

/* Discovered and taken over, with nothing recorded yet. */
struct cmn_regfile *cmn_regfile_ready(struct kunit *test, const struct cmn_fake_mesh *mesh)
{
	struct cmn_regfile *file = cmn_regfile(test, mesh);

	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_ASSERT_EQ(test, cmn_reset(&file->cmn), 0);
	/* Selectors are first written when an event starts, where no memory can be had. */
	for (unsigned int i = 0; i < file->cmn.nr_nodes; i++)
		cmn_regfile_get(file, (const char __iomem *)file->cmn.nodes[i].sel - region_start());
	cmn_regfile_forget(file);
	return file;
}

/* Make an empty set of claims for the mesh. */
struct cmn_claims *cmn_regfile_claims(struct kunit *test, struct cmn_regfile *file)
{
	struct cmn_claims *claims = kunit_kzalloc(test, cmn_claims_size(&file->cmn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, claims);
	return claims;
}

/* An event, which the caller gives back by kvfree(). */
struct cmn_event *cmn_regfile_event(struct kunit *test, struct cmn_regfile *file, u64 config,
				    u64 config1, u64 config2)
{
	const u64 words[] = { config, config1, config2 };
	struct cmn_event *ce = cmn_event_create(&file->cmn, words);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ce);
	return ce;
}

const struct cmn_fake_node cmn_fake_dtc[1] = { { 0, 0, 0x0003, 0x00, 0 } };

static const struct cmn_fake_node nodes_600[] = {
	{ 0, 1, 0x0002, 0x0c, 0 }, { 0, 1, 0x0004, 0x0c, 0 }, { 0, 1, 0x0001, 0x0c, 0 },
	{ 0, 1, 0x0003, 0x0c, 0 }, { 3, 1, 0x0003, 0x68, 1 }, { 3, 1, 0x0004, 0x68, 1 },
	{ 1, 0, 0x0005, 0x20, 0 }, { 1, 0, 0x0005, 0x24, 1 }, { 1, 0, 0x0005, 0x25, 2 },
	{ 2, 0, 0x000a, 0x40, 0 }, { 3, 0, 0x000d, 0x60, 0 }, { 1, 1, 0x0007, 0x28, 0 },
	{ 2, 1, 0x0100, 0x4c, 0 }, { 2, 1, 0x0101, 0x4c, 0 },
};

const struct cmn_fake_mesh cmn_fake_600 = {
	.part = 0x434, .rev = 3, .width = 4, .height = 2, .id_bits = 2,
	.info = 0x3303008, .connect = { 0x0e, 0x8e }, .domains = 1,
	.nodes = nodes_600, .nr = ARRAY_SIZE(nodes_600),
};

static const struct cmn_fake_node nodes_700[] = {
	{ 0, 1, 0x0004, 0x0c, 0 }, { 0, 1, 0x0003, 0x0c, 0 }, { 3, 1, 0x0003, 0x68, 1 },
	{ 1, 0, 0x0005, 0x20, 0 }, { 1, 0, 0x0005, 0x22, 1 }, { 2, 0, 0x0005, 0x42, 2 },
	{ 3, 0, 0x0011, 0x60, 0 }, { 2, 1, 0x0106, 0x4e, 0 }, { 2, 1, 0x0105, 0x4c, 1 },
	{ 0, 0, 0x000a, 0x00, 0 }, { 1, 1, 0x0001, 0x28, 0 },
};

/* CHI version 4, 2 RSP and 2 DAT channels, a DTM for two ports; 2 REQ channels. */
const struct cmn_fake_mesh cmn_fake_700 = {
	.part = 0x43c, .rev = 2, .width = 4, .height = 2, .id_bits = 2,
	.info = 0xc028000003303008, .info1 = 0x24206, .ports = 4,
	.connect = { 0x0e, 0x0e, 0x0e, 0x1e }, .domains = 2,
	.nodes = nodes_700, .nr = ARRAY_SIZE(nodes_700),
};

/* Claim and start an event; @claims has what it takes. */
struct cmn_event *cmn_regfile_start(struct kunit *test, struct cmn_regfile *file,
				    struct cmn_claims *claims, u64 config, u64 config1,
				    u64 config2)
{
	struct cmn_event *ce = cmn_regfile_event(test, file, config, config1, config2);

	KUNIT_ASSERT_NULL(test, cmn_claim(&file->cmn, claims, ce, false));
	cmn_event_start(&file->cmn, ce);
	return ce;
}

/* As at the end of a transaction. */
void cmn_regfile_run(struct cmn_regfile *file)
{
	cmn_events_begin(&file->cmn);
	cmn_mesh_run(&file->cmn, true);
}
