// SPDX-License-Identifier: GPL-2.0-only
/*
 * The firmware's catalog: a device tree of units and their events. The driver does not trust it. A
 * bad unit is left out, and so are bad events of a unit, each with a line in the log. The others
 * stay.
 */
#include <linux/ctype.h>
#include <linux/of.h>
#include <linux/slab.h>

#include <pmu/compat.h>

#include "power_imc.h"

/* Longest name of a PMU or an event, so that it and ".scale" are a file name. */
#define POWER_IMC_NAME_MAX	200
/* Longest scale or unit. */
#define POWER_IMC_TEXT_MAX	63

static bool power_imc_name_is_good(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > POWER_IMC_NAME_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isascii(name[i]) || !(isalnum(name[i]) || strchr("_.-", name[i])))
			return false;
	return name[0] != '.';
}

/* perf reads the scale with strtod() and multiplies by it. */
static bool power_imc_scale_is_good(const char *scale)
{
	return *scale && strlen(scale) <= POWER_IMC_TEXT_MAX && strpbrk(scale, "0123456789") &&
	       strspn(scale, "0123456789.eE+-") == strlen(scale);
}

static bool power_imc_unit_text_is_good(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > POWER_IMC_TEXT_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isascii(text[i]) || !isprint(text[i]))
			return false;
	return true;
}

/*
 * Read an optional string, or take the inherited one if the node has none. Returns 0, or -EINVAL if
 * the string is bad.
 */
static int power_imc_optional_text(const struct device_node *np, const char *property,
				   bool (*is_good)(const char *text), const char *inherited,
				   const char **text)
{
	*text = inherited;
	if (!of_find_property(np, property, NULL))
		return 0;
	if (of_property_read_string(np, property, text) || !is_good(*text))
		return -EINVAL;
	return 0;
}

static bool power_imc_name_is_taken(const struct power_imc_unit *unit, const char *name)
{
	for (unsigned int i = 0; i < unit->desc.nr_events; i++)
		if (!strcmp(unit->desc.events[i].name, name))
			return true;
	return false;
}

/* The scale and the unit of an event are in files beside it, with its name and a suffix. */
static bool power_imc_name_is_suffixed(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".scale") || !strcmp(dot, ".unit"));
}

/* What all events of a unit inherit. */
struct power_imc_defaults {
	const char *prefix, *scale, *unit;
};

/* Read one event to @event. Returns NULL, or what is wrong with it. */
static const char *power_imc_event_read(struct device *dev, const struct power_imc_unit *unit,
					struct device_node *np,
					const struct power_imc_defaults *defaults,
					struct pmu_named_event *event)
{
	const char *name, *scale, *text;
	u32 offset;

	if (of_property_read_string(np, "event-name", &name) || !*name)
		return "has no event-name";
	name = devm_kasprintf(dev, GFP_KERNEL, "%s%s", defaults->prefix, name);
	if (!name)
		return "found no memory";
	if (!power_imc_name_is_good(name) || power_imc_name_is_suffixed(name))
		return "has a name that cannot be a file name";
	if (power_imc_name_is_taken(unit, name))
		return "has the name of an earlier one";
	if (of_property_read_u32(np, "reg", &offset))
		return "has no reg";
	event->config[PMU_CONFIG] = (u64)unit->base + offset;
	if (unit->type != POWER_IMC_TYPE_TRACE &&
	    power_imc_offset_check(unit, event->config[PMU_CONFIG]))
		return "is not where its unit can have a counter";
	if (power_imc_optional_text(np, "scale", power_imc_scale_is_good, defaults->scale, &scale))
		return "has a scale that is no number";
	if (power_imc_optional_text(np, "unit", power_imc_unit_text_is_good, defaults->unit, &text))
		return "has a unit that cannot be shown";

	event->name = name;
	event->scale = scale ? devm_kstrdup(dev, scale, GFP_KERNEL) : NULL;
	event->unit = text ? devm_kstrdup(dev, text, GFP_KERNEL) : NULL;
	/* Without the scale, perf would show another number for the event. */
	if ((scale && !event->scale) || (text && !event->unit))
		return "found no memory";
	return NULL;
}

/*
 * Find a unit's list of events. Look only at the catalog's own nodes, since a bad catalog may refer
 * to any other node.
 */
static struct device_node *power_imc_event_list(struct device_node *top,
						const struct device_node *np)
{
	struct device_node *list;
	u32 phandle;

	if (of_property_read_u32(np, "events", &phandle) || !phandle)
		return NULL;
	for_each_child_of_node(top, list)
		if (list->phandle == phandle)
			return list;
	return NULL;
}

static int power_imc_events_read(struct power_imc_unit *unit, struct device_node *list,
				 const struct power_imc_defaults *defaults)
{
	struct device *dev = unit->imc->dev;
	unsigned int count = of_get_child_count(list), bad = 0;
	unsigned int before = unit->desc.nr_events;
	struct pmu_named_event *events;
	struct device_node *np;
	const char **abouts;

	events = devm_kcalloc(dev, before + count, sizeof(*events), GFP_KERNEL);
	abouts = devm_kcalloc(dev, before + count, sizeof(*abouts), GFP_KERNEL);
	if (!events || !abouts)
		return -ENOMEM;
	for (unsigned int i = 0; i < before; i++) {
		events[i] = unit->desc.events[i];
		abouts[i] = unit->about[i];
	}
	unit->desc.events = events;
	unit->about = abouts;
	for_each_child_of_node(list, np) {
		unsigned int i = unit->desc.nr_events;
		const char *wrong, *about;

		wrong = power_imc_event_read(dev, unit, np, defaults, &events[i]);
		if (wrong) {
			if (!bad++)
				dev_warn(dev, "%s: the event %pOFn %s\n", unit->name, np, wrong);
			continue;
		}
		if (!of_property_read_string(np, "desc", &about))
			unit->about[i] = devm_kstrdup(dev, about, GFP_KERNEL);
		unit->desc.nr_events++;
	}
	if (bad)
		dev_warn(dev, "%s: %u of %u events left out\n", unit->name, bad, count);
	return 0;
}

static int power_imc_unit_events(struct power_imc_unit *unit, struct device_node *top,
				 struct device_node *np)
{
	struct power_imc_defaults defaults;
	struct device_node *list;
	int err;

	/* Without a prefix or a list a unit has no named events; offsets can be counted. */
	if (of_property_read_string(np, "events-prefix", &defaults.prefix))
		return 0;
	if (power_imc_optional_text(np, "scale", power_imc_scale_is_good, NULL, &defaults.scale) ||
	    power_imc_optional_text(np, "unit", power_imc_unit_text_is_good, NULL,
				    &defaults.unit)) {
		dev_warn(unit->imc->dev, "%s: its scale or unit is invalid: left out\n",
			 unit->name);
		return -EINVAL;
	}
	list = power_imc_event_list(top, np);
	if (!list) {
		dev_warn(unit->imc->dev, "%s: its list of events is not there\n", unit->name);
		return 0;
	}
	err = power_imc_events_read(unit, list, &defaults);
	of_node_put(list);
	return err;
}

/* Read where a nest unit's counters are. Returns NULL, or what is wrong with it. */
static const char *power_imc_nest_unit_read(struct power_imc_unit *unit,
					    const struct device_node *np)
{
	struct device *dev = unit->imc->dev;
	int chips = of_property_count_elems_of_size(np, "base-addr", sizeof(u64));

	unit->control_offset = POWER_IMC_NEST_CB_OFFSET;
	of_property_read_u32(np, "cb_offset", &unit->control_offset);
	if (of_property_read_u32(np, "offset", &unit->area_offset))
		return "has no offset";
	if (unit->area_offset % sizeof(u64) || unit->size > POWER_IMC_HOMER_SIZE ||
	    unit->area_offset > POWER_IMC_HOMER_SIZE - unit->size)
		return "has an area that is not inside of HOMER";
	if (unit->control_offset % sizeof(u64) || unit->size < POWER_IMC_NEST_CB_SIZE ||
	    unit->control_offset > unit->size - POWER_IMC_NEST_CB_SIZE)
		return "has a control block that is not inside of its area";
	if (chips <= 0 || of_property_count_elems_of_size(np, "chip-id", sizeof(u32)) != chips)
		return "does not name as many addresses as chips";

	unit->nr_chips = chips;
	unit->chip_ids = devm_kcalloc(dev, chips, sizeof(*unit->chip_ids), GFP_KERNEL);
	unit->homers = devm_kcalloc(dev, chips, sizeof(*unit->homers), GFP_KERNEL);
	if (!unit->chip_ids || !unit->homers)
		return "found no memory";
	if (of_property_read_u32_array(np, "chip-id", unit->chip_ids, chips) ||
	    of_property_read_u64_array(np, "base-addr", unit->homers, chips))
		return "has no base-addr or chip-id";
	return NULL;
}

static const char *power_imc_unit_name(struct power_imc_unit *unit, const struct device_node *np)
{
	const char *prefix = unit->type == POWER_IMC_TYPE_NEST ? "nest_" : "";

	unit->name = devm_kasprintf(unit->imc->dev, GFP_KERNEL, "%s%pOFn_imc", prefix, np);
	if (!unit->name)
		return "found no memory";
	if (!power_imc_name_is_good(unit->name))
		return "has a name that cannot be a file name";
	return NULL;
}

static struct power_imc_unit *power_imc_unit_named(const struct power_imc_unit *unit)
{
	for (struct power_imc_unit *other = unit->imc->units; other != unit; other++)
		if (!strcmp(other->name, unit->name))
			return other;
	return NULL;
}

/*
 * Two nest units may share a name and an area, as in POWER10's catalog 800100: then their events
 * are those of one PMU.
 */
static bool power_imc_unit_joins(const struct power_imc_unit *unit,
				 const struct power_imc_unit *other)
{
	return unit->type == POWER_IMC_TYPE_NEST && other->type == POWER_IMC_TYPE_NEST &&
	       unit->size == other->size && unit->area_offset == other->area_offset &&
	       unit->control_offset == other->control_offset &&
	       unit->nr_chips == other->nr_chips &&
	       !memcmp(unit->chip_ids, other->chip_ids, unit->nr_chips * sizeof(u32)) &&
	       !memcmp(unit->homers, other->homers, unit->nr_chips * sizeof(u64));
}

/*
 * A thread's LDBAR has one address, so a second unit of this type would overwrite the first one's.
 */
static bool power_imc_type_is_taken(const struct power_imc_unit *unit)
{
	if (unit->type != POWER_IMC_TYPE_THREAD && unit->type != POWER_IMC_TYPE_TRACE)
		return false;
	for (const struct power_imc_unit *other = unit->imc->units; other != unit; other++)
		if (other->type == unit->type)
			return true;
	return false;
}

/* Read all of a unit but its events. Returns NULL, or what is wrong with it. */
static const char *power_imc_unit_read(struct power_imc_unit *unit, const struct device_node *np)
{
	const char *wrong;
	u32 type;

	if (of_property_read_u32(np, "type", &type))
		return "has no type";
	if (type != POWER_IMC_TYPE_NEST && type != POWER_IMC_TYPE_CORE &&
	    type != POWER_IMC_TYPE_THREAD && type != POWER_IMC_TYPE_TRACE)
		return "has a type that is not known";
	unit->type = type;
	if (type == POWER_IMC_TYPE_TRACE && !PMU_SAMPLES_OF_THE_PAST)
		return "needs perf to take a sample's time from a driver, as it does from 6.1 on";
	if (power_imc_type_is_taken(unit))
		return "is the second of its type";
	wrong = power_imc_unit_name(unit, np);
	if (wrong)
		return wrong;
	if (of_property_read_u32(np, "size", &unit->size))
		return "has no size";
	if (of_property_read_u32(np, "reg", &unit->base))
		return "has no reg";
	if (type == POWER_IMC_TYPE_NEST)
		return power_imc_nest_unit_read(unit, np);
	/* The hardware writes a ring of this size, even if the buffer were smaller. */
	if (type == POWER_IMC_TYPE_TRACE)
		return unit->size == POWER_IMC_TRACE_SIZE ? NULL :
						      "has a buffer that is not of 0x40000 bytes";
	if (unit->size > POWER_IMC_PAGE_SIZE)
		return "is larger than the page that a core has for it";
	return NULL;
}

/* Add a unit, or its events to those of an earlier one. Returns 0 or -ENOMEM. */
static int power_imc_unit_add(struct power_imc_unit *unit, struct device_node *top,
			      struct device_node *np)
{
	struct power_imc_unit *other = power_imc_unit_named(unit);
	int err;

	if (other && !power_imc_unit_joins(unit, other)) {
		dev_warn(unit->imc->dev, "the unit %pOFn %s: left out\n", np,
			 "has the name of an earlier one");
		return 0;
	}
	if (other) {
		other->base = unit->base;
		err = power_imc_unit_events(other, top, np);
	} else {
		unit->desc = (struct pmu_desc){
			.owner = THIS_MODULE, .width = 64,
			.formats = power_imc_formats, .nr_formats = power_imc_nr_formats,
		};
		err = power_imc_unit_events(unit, top, np);
		unit->imc->nr_units += !err;
	}
	return err == -ENOMEM ? err : 0;
}

/* Read the catalog to imc->units. What is left out is reported. */
int power_imc_catalog_read(struct power_imc *imc, struct device_node *top)
{
	struct device_node *np;

	imc->units = devm_kcalloc(imc->dev, of_get_child_count(top), sizeof(*imc->units),
				  GFP_KERNEL);
	if (!imc->units)
		return -ENOMEM;
	for_each_child_of_node(top, np) {
		struct power_imc_unit *unit = &imc->units[imc->nr_units];
		const char *wrong;
		int err;

		if (!of_device_is_compatible(np, "ibm,imc-counters"))
			continue;
		*unit = (struct power_imc_unit){ .imc = imc };
		wrong = power_imc_unit_read(unit, np);
		if (wrong) {
			dev_warn(imc->dev, "the unit %pOFn %s: left out\n", np, wrong);
			continue;
		}
		err = power_imc_unit_add(unit, top, np);
		if (err) {
			of_node_put(np);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_catalog_read);
