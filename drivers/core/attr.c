// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs attributes made from a driver's tables: format/, events/ and cpumask.
 *
 * The text of a format file is written from the mask that the driver decodes with, and
 * the text of an event file from the formats, so the three cannot disagree.
 */
#include <linux/bitops.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "core.h"

/* An attribute and the table row it shows. */
struct pmu_attr {
	struct device_attribute attr;
	union {
		const struct pmu_format *format;
		const struct pmu_named_event *event;
		const char *text;
	};
};

struct pmu_attrs {
	struct attribute_group format;
	struct attribute_group events;
	const struct attribute_group **groups;
	struct pmu_attr *attr;		/* attributes of all files, formats first */
	struct attribute **list;	/* the two groups' NULL-terminated lists */
	struct attribute **slot;	/* the next one in the list */
	unsigned int used;
};

static const char * const pmu_word_names[] = {
	[PMU_CONFIG] = "config", [PMU_CONFIG1] = "config1", [PMU_CONFIG2] = "config2",
};

/* "config:0-7,21": the runs of set bits of @mask. */
VISIBLE_IF_KUNIT ssize_t pmu_format_text(char *buf, const struct pmu_format *format)
{
	ssize_t len = sysfs_emit(buf, "%s:", pmu_word_names[format->word]);
	u64 left = format->mask;

	while (left) {
		unsigned int first = __ffs64(left);
		unsigned int run = ~(left >> first) ? __ffs64(~(left >> first)) : 64;

		if (run == 1)
			len += sysfs_emit_at(buf, len, "%u", first);
		else
			len += sysfs_emit_at(buf, len, "%u-%u", first, first + run - 1);
		left &= ~(GENMASK_ULL(run - 1, 0) << first);
		len += sysfs_emit_at(buf, len, left ? "," : "\n");
	}
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(pmu_format_text);

/* Gather the bits of @config under @mask; FIELD_GET() for a mask that may have gaps. */
static u64 pmu_field(u64 config, u64 mask)
{
	u64 value = 0;
	unsigned int bit = 0;

	for (; mask; mask &= mask - 1, bit++)
		if (config & BIT_ULL(__ffs64(mask)))
			value |= BIT_ULL(bit);
	return value;
}

/* The bits of a word that an event's text shows under an alias. */
static u64 pmu_aliased_bits(const struct pmu_desc *desc, const struct pmu_named_event *event,
			    enum pmu_config_word word)
{
	u64 bits = 0;

	for (unsigned int i = 0; i < desc->nr_formats; i++)
		if (desc->formats[i].alias && desc->formats[i].word == word &&
		    event->shown & BIT(i))
			bits |= desc->formats[i].mask;
	return bits;
}

/* Does the event's text show field @i with a value? */
static bool pmu_field_is_shown(const struct pmu_desc *desc, const struct pmu_named_event *event,
			       unsigned int i, u64 value)
{
	const struct pmu_format *format = &desc->formats[i];

	if (format->alias)
		return event->shown & BIT(i);
	if (format->mask & pmu_aliased_bits(desc, event, format->word))
		return false;
	return value || format->always || event->shown & BIT(i);
}

/* "event=0x04,umask=0x03": the fields that are not 0, always shown, or asked of the user. */
VISIBLE_IF_KUNIT ssize_t pmu_event_text(char *buf, const struct pmu_desc *desc,
					const struct pmu_named_event *event)
{
	ssize_t len = 0;

	for (unsigned int i = 0; i < desc->nr_formats; i++) {
		const struct pmu_format *format = &desc->formats[i];
		u64 value = pmu_field(event->config[format->word], format->mask);

		if (event->asked & BIT(i))
			len += sysfs_emit_at(buf, len, "%s%s=?", len ? "," : "", format->name);
		else if (pmu_field_is_shown(desc, event, i, value))
			len += sysfs_emit_at(buf, len, "%s%s=0x%0*llx", len ? "," : "",
					     format->name, max_t(int, format->digits, 1), value);
	}
	return len + sysfs_emit_at(buf, len, "\n");
}
EXPORT_SYMBOL_IF_KUNIT(pmu_event_text);

static ssize_t format_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return pmu_format_text(buf, container_of(attr, struct pmu_attr, attr)->format);
}

static ssize_t event_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return pmu_event_text(buf, pmu_desc_of(dev),
			      container_of(attr, struct pmu_attr, attr)->event);
}

static ssize_t text_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", container_of(attr, struct pmu_attr, attr)->text);
}

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(pmu_owners_of(dev)));
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *pmu_common_attrs[] = { &dev_attr_cpumask.attr, NULL };
static const struct attribute_group pmu_common_group = { .attrs = pmu_common_attrs };

/**
 * pmu_desc_of() - the kind of PMU that a sysfs file belongs to.
 * @dev: the PMU's device
 *
 * Context: any, from the show of a file in pmu_desc.groups.
 * Return: the description that the PMU was registered with.
 */
const struct pmu_desc *pmu_desc_of(struct device *dev)
{
	return to_pmu_dev(dev_get_drvdata(dev))->desc;
}
EXPORT_SYMBOL_PMU_CORE(pmu_desc_of);

/**
 * pmu_owners_of() - which CPUs own the PMU's boxes?
 * @dev: the PMU's device
 *
 * Context: any, from a file's show.
 * Return: the CPUs, as in the file cpumask; they may change meanwhile.
 */
const struct cpumask *pmu_owners_of(struct device *dev)
{
	return &to_pmu_dev(dev_get_drvdata(dev))->owners;
}
EXPORT_SYMBOL_PMU_CORE(pmu_owners_of);

static struct pmu_attr *pmu_attr_add(struct pmu_attrs *attrs, const char *name,
				     ssize_t (*show)(struct device *dev,
						     struct device_attribute *attr, char *buf))
{
	struct pmu_attr *row = &attrs->attr[attrs->used++];

	sysfs_attr_init(&row->attr.attr);
	row->attr.attr.name = name;
	row->attr.attr.mode = 0444;
	row->attr.show = show;
	*attrs->slot++ = &row->attr.attr;
	return row;
}

/* NAME.scale and NAME.unit, if there is such a text. */
static int pmu_attr_add_text(struct pmu_attrs *attrs, const char *event, const char *suffix,
			     const char *text)
{
	char *name;

	if (!text)
		return 0;
	name = kasprintf(GFP_KERNEL, "%s.%s", event, suffix);
	if (!name)
		return -ENOMEM;
	pmu_attr_add(attrs, name, text_show)->text = text;
	return 0;
}

/* The names of formats and events are those of the tables. */
static int pmu_attrs_fill(struct pmu_attrs *attrs, const struct pmu_desc *desc)
{
	attrs->slot = attrs->list;
	attrs->format.name = "format";
	attrs->format.attrs = attrs->slot;
	for (unsigned int i = 0; i < desc->nr_formats; i++)
		pmu_attr_add(attrs, desc->formats[i].name, format_show)->format = &desc->formats[i];
	attrs->slot++;
	attrs->events.name = "events";
	attrs->events.attrs = attrs->slot;
	for (unsigned int i = 0; i < desc->nr_events; i++) {
		const struct pmu_named_event *event = &desc->events[i];

		pmu_attr_add(attrs, event->name, event_show)->event = event;
		if (pmu_attr_add_text(attrs, event->name, "scale", event->scale) ||
		    pmu_attr_add_text(attrs, event->name, "unit", event->unit))
			return -ENOMEM;
	}
	return 0;
}

/* Fill in the list of groups: the core's, then the driver's. */
static int pmu_attrs_gather(struct pmu_attrs *attrs, const struct pmu_desc *desc)
{
	const struct attribute_group * const *more = desc->groups, **slot;
	unsigned int count = 4;		/* the core's groups and the NULL at the end */

	while (more && *more++)
		count++;
	attrs->groups = kcalloc(count, sizeof(*attrs->groups), GFP_KERNEL);
	if (!attrs->groups)
		return -ENOMEM;
	slot = attrs->groups;
	*slot++ = &attrs->format;
	*slot++ = &attrs->events;
	/* A PMU that can count for tasks has no cpumask: its events may be opened on any CPU. */
	if (desc->tasks == PMU_TASKS_NEVER)
		*slot++ = &pmu_common_group;
	for (more = desc->groups; more && *more; more++)
		*slot++ = *more;
	return 0;
}

/*
 * The attributes of a PMU of kind @desc, or NULL when there is no memory. May sleep.
 * @desc has to outlive them. Sets @groups for struct pmu.
 */
struct pmu_attrs *pmu_attrs_create(const struct pmu_desc *desc,
				   const struct attribute_group ***groups)
{
	unsigned int most = desc->nr_formats + 3 * desc->nr_events;
	struct pmu_attrs *attrs = kzalloc(sizeof(*attrs), GFP_KERNEL);

	if (!attrs)
		return NULL;
	attrs->attr = kcalloc(most, sizeof(*attrs->attr), GFP_KERNEL);
	attrs->list = kcalloc(most + 2, sizeof(*attrs->list), GFP_KERNEL);
	if (!attrs->attr || !attrs->list ||
	    pmu_attrs_fill(attrs, desc) || pmu_attrs_gather(attrs, desc)) {
		pmu_attrs_free(attrs);
		return NULL;
	}
	*groups = attrs->groups;
	return attrs;
}

void pmu_attrs_free(struct pmu_attrs *attrs)
{
	for (unsigned int i = 0; i < attrs->used; i++)
		if (attrs->attr[i].attr.show == text_show)
			kfree(attrs->attr[i].attr.attr.name);
	kfree(attrs->groups);
	kfree(attrs->list);
	kfree(attrs->attr);
	kfree(attrs);
}

/* The bits of a config word that no format of @desc claims. */
u64 pmu_reserved_bits(const struct pmu_desc *desc, enum pmu_config_word word)
{
	u64 bits = U64_MAX;

	for (unsigned int i = 0; i < desc->nr_formats; i++)
		if (desc->formats[i].word == word)
			bits &= ~desc->formats[i].mask;
	return bits;
}
EXPORT_SYMBOL_IF_KUNIT(pmu_reserved_bits);
