// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which lines of our modules have run: what gcc's -fprofile-arcs counts, for any kernel.
 *
 * CONFIG_GCOV_KERNEL would do it in a kernel built for that. Here the modules are built with
 * -fprofile-info-section, so that no constructor has to run: first.c and last.c, linked into each,
 * are the ends of the table, and a parameter that nobody can set says where it is. The counts are
 * kept when a module goes, and read by all who read debugfs' file: a line for each function.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

/* Of gcc 12 and later, which has the number of kinds of counters in no header. */
#define KINDS (__GNUC__ >= 14 ? 9 : 8)
#define MODULES_MAX 8

struct gcov_function {
	const void *key;
	u32 ident, lineno_checksum, cfg_checksum;
	struct {
		u32 count;
		s64 *values;
	} arcs;
};

struct gcov_info {
	u32 version;
	struct gcov_info *next;
	u32 stamp, checksum;
	const char *filename;
	void (*merge[KINDS])(s64 *values, u32 count);
	u32 n_functions;
	struct gcov_function **functions;
};

/* What a file of a module has counted; the module may have gone. */
struct counted {
	struct list_head node;
	char *filename;
	u32 version, stamp, checksum, n_functions;
	struct counted_function {
		u32 ident, lineno_checksum, cfg_checksum, count;
		s64 *values;
	} functions[];
};

static DEFINE_MUTEX(mutex);
static LIST_HEAD(files);
static struct module *present[MODULES_MAX];

/* The modules refer to it; it is for programs that add to a file. */
void __gcov_merge_add(s64 *values, u32 count);
void __gcov_merge_add(s64 *values, u32 count)
{
}
EXPORT_SYMBOL_GPL(__gcov_merge_add);

/* No test that has allocations fail is to have one of these. */
static void *allocate(size_t size)
{
	return kzalloc(size, GFP_KERNEL | __GFP_NOFAIL);
}

static struct counted *counted_of(const struct gcov_info *info)
{
	struct counted *file;
	u32 i;

	list_for_each_entry(file, &files, node)
		if (!strcmp(file->filename, info->filename))
			return file;
	file = allocate(struct_size(file, functions, info->n_functions));
	file->filename = allocate(strlen(info->filename) + 1);
	strcpy(file->filename, info->filename);
	file->version = info->version;
	file->stamp = info->stamp;
	file->checksum = info->checksum;
	file->n_functions = info->n_functions;
	for (i = 0; i < info->n_functions; i++) {
		const struct gcov_function *from = info->functions[i];
		struct counted_function *function = &file->functions[i];

		function->ident = from->ident;
		function->lineno_checksum = from->lineno_checksum;
		function->cfg_checksum = from->cfg_checksum;
		function->count = from->arcs.count;
		function->values = allocate(from->arcs.count * sizeof(s64) ?: 1);
	}
	list_add_tail(&file->node, &files);
	return file;
}

/* The module's table; NULL if it is none of ours. */
static struct gcov_info **table_of(const struct module *mod)
{
	u32 i;

	for (i = 0; i < mod->num_kp; i++)
		if (!strcmp(mod->kp[i].name, "pmu_gcov"))
			return (struct gcov_info **)mod->kp[i].arg + 1;
	return NULL;
}

/* Take what a module has counted. */
static void take(const struct module *mod)
{
	struct gcov_info **info;
	struct counted *file;
	u32 i, j;

	for (info = table_of(mod); *info; info++) {
		file = counted_of(*info);
		for (i = 0; i < file->n_functions; i++)
			for (j = 0; j < file->functions[i].count; j++)
				file->functions[i].values[j] +=
					xchg(&(*info)->functions[i]->arcs.values[j], 0);
	}
}

static int module_event(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *from = NULL, *to = data;
	int i;

	if (state == MODULE_STATE_LIVE || !table_of(data))
		return NOTIFY_DONE;
	mutex_lock(&mutex);
	if (state == MODULE_STATE_GOING) {
		take(data);
		swap(from, to);
	}
	for (i = 0; i < MODULES_MAX; i++)
		if (present[i] == from) {
			present[i] = to;
			break;
		}
	mutex_unlock(&mutex);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = module_event };

static int counts_show(struct seq_file *s, void *unused)
{
	struct counted *file;
	u32 i, j;

	mutex_lock(&mutex);
	for (i = 0; i < MODULES_MAX; i++)
		if (present[i])
			take(present[i]);
	list_for_each_entry(file, &files, node)
		for (i = 0; i < file->n_functions; i++) {
			struct counted_function *function = &file->functions[i];

			seq_printf(s, "%s %u %u %u %u %u %u", file->filename, file->version,
				   file->stamp, file->checksum, function->ident,
				   function->lineno_checksum, function->cfg_checksum);
			for (j = 0; j < function->count; j++)
				seq_printf(s, " %lld", function->values[j]);
			seq_putc(s, '\n');
		}
	mutex_unlock(&mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

/* There is no exit: it stays as long as the guest runs. */
static int __init pmu_gcov_init(void)
{
	debugfs_create_file("pmu_gcov", 0400, NULL, NULL, &counts_fops);
	return register_module_notifier(&notifier);
}
module_init(pmu_gcov_init);

MODULE_DESCRIPTION("Which lines of pmu-suite's modules have run");
MODULE_LICENSE("GPL");
