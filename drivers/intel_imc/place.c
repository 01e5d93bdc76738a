// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which controller and channel a PMU is, and which NUMA node that belongs to on each socket: files
 * of the PMU in sysfs. Facts: Documentation/hardware/intel_imc.md, 16.
 */
#include <linux/device.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/nodemask.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>
#include <linux/topology.h>

#include "intel_imc.h"

#define INTEL_IMC_CHANNELS_OF_A_PAIR	2

/**
 * intel_imc_cluster_of() - the cluster that a channel belongs to.
 * @kind: the generation's
 * @number: of the channel, as in the PMU's name
 * @nr: how many clusters, which are NUMA nodes, the socket has
 *
 * Context: any.
 * Return: the cluster, from 0; -1 if no source says it.
 */
int intel_imc_cluster_of(const struct intel_imc_kind *kind, unsigned int number, unsigned int nr)
{
	const struct intel_imc_clusters *clusters = kind->clusters;

	if (nr == 1)
		return 0;
	for (; clusters && clusters->nr; clusters++)
		if (clusters->nr == nr)
			return clusters->order[number / INTEL_IMC_CHANNELS_OF_A_PAIR % nr];
	return -1;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_cluster_of);

/*
 * The NUMA node of a channel on the socket of @cpu, or NUMA_NO_NODE. Clusters are the nodes of the
 * socket's CPUs, in ascending order. If CPUs are offline, a node of the socket may be missing. So
 * the number of nodes is believed only if that many for each socket make the machine's total.
 */
static int intel_imc_node_of(const struct intel_imc_kind *kind, unsigned int number, int cpu)
{
	int socket = intel_imc_cpu_socket(cpu), cluster, other, node;
	nodemask_t own = NODE_MASK_NONE, all = NODE_MASK_NONE;

	for_each_present_cpu(other) {
		node = cpu_to_node(other);
		if (node == NUMA_NO_NODE)
			return NUMA_NO_NODE;
		node_set(node, all);
		if (cpu_online(other) && intel_imc_cpu_socket(other) == socket)
			node_set(node, own);
	}
	if (nodes_weight(all) == 1)
		return first_node(all);
	if (nodes_weight(own) * kind->sockets != nodes_weight(all))
		return NUMA_NO_NODE;
	cluster = intel_imc_cluster_of(kind, number, nodes_weight(own));
	if (cluster < 0)
		return NUMA_NO_NODE;
	for_each_node_mask(node, own)
		if (!cluster--)
			break;
	return node;
}

static const struct intel_imc_kind *intel_imc_kind_of(struct device *dev)
{
	return container_of(pmu_desc_of(dev), struct intel_imc_kind, desc);
}

/* The number in the PMU's name */
static unsigned int intel_imc_number_of(struct device *dev)
{
	const struct pmu *pmu = dev_get_drvdata(dev);
	unsigned int number = 0;

	return sscanf(pmu->name, "uncore_imc_%u", &number) == 1 ? number : 0;
}

static ssize_t controller_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", intel_imc_number_of(dev) / intel_imc_kind_of(dev)->numbers);
}
static DEVICE_ATTR_RO(controller);

static ssize_t channel_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", intel_imc_number_of(dev) % intel_imc_kind_of(dev)->numbers);
}
static DEVICE_ATTR_RO(channel);

static ssize_t nodes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	unsigned int number = intel_imc_number_of(dev);
	ssize_t len = 0;
	int cpu, node;

	for_each_cpu(cpu, pmu_owners_of(dev)) {
		node = intel_imc_node_of(intel_imc_kind_of(dev), number, cpu);
		len += sysfs_emit_at(buf, len, "socket %d: ", intel_imc_cpu_socket(cpu));
		len += node == NUMA_NO_NODE ? sysfs_emit_at(buf, len, "unknown\n") :
					      sysfs_emit_at(buf, len, "node %d\n", node);
	}
	return len;
}
static DEVICE_ATTR_RO(nodes);

static struct attribute *intel_imc_place_attrs[] = {
	&dev_attr_controller.attr, &dev_attr_channel.attr, &dev_attr_nodes.attr, NULL
};

static const struct attribute_group intel_imc_place_group = { .attrs = intel_imc_place_attrs };

const struct attribute_group * const intel_imc_place_groups[] = { &intel_imc_place_group, NULL };

/*
 * The in-tree driver's other name for a unit that a table lists: its type and number, for perf. If
 * that driver does not know the processor, and is loaded behind this one, it has PMUs of the name.
 */
static ssize_t alias_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	if (intel_imc_has_rivals())
		return -ENODATA;
	return sysfs_emit(buf, "uncore_type_6_%u\n", intel_imc_number_of(dev));
}
static DEVICE_ATTR_RO(alias);

static struct attribute *intel_imc_alias_attrs[] = { &dev_attr_alias.attr, NULL };

static const struct attribute_group intel_imc_alias_group = { .attrs = intel_imc_alias_attrs };

/* Also the alias, on processors that the in-tree driver knows */
const struct attribute_group * const intel_imc_place_alias_groups[] = {
	&intel_imc_place_group, &intel_imc_alias_group, NULL
};
