// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which socket a PCI bus belongs to. Each socket's UBOX function knows its node id, and
 * a map from sockets to node ids.
 *
 * A socket is a package. If packages have several dies, a socket is a die: each die has a
 * UBOX, and dies are counted over all packages.
 */
#include <linux/bitfield.h>
#include <linux/pci.h>
#include <linux/topology.h>

#include "intel_imc.h"

#define UBOX_NODEID		GENMASK(2, 0)
#define UBOX_MAP_FIELDS		8
#define UBOX_MAP_FIELD(i)	(GENMASK(2, 0) << (3 * (i)))

/**
 * intel_imc_socket_from_map() - decode a UBOX's registers.
 * @nodeid: CPUNODEID
 * @map: GIDNIDMAP: field i, 3 bits, is the node id of socket i
 *
 * Context: any.
 * Return: the socket, 0 to 7; -ENXIO if the map does not have the node.
 */
int intel_imc_socket_from_map(u32 nodeid, u32 map)
{
	for (int i = 0; i < UBOX_MAP_FIELDS; i++)
		if ((map & UBOX_MAP_FIELD(i)) >> (3 * i) == FIELD_GET(UBOX_NODEID, nodeid))
			return i;
	return -ENXIO;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_socket_from_map);

/**
 * intel_imc_sockets_are_dies() - is a socket of the UBOX one die of a package?
 *
 * Return: true if a socket's number is a topology_logical_die_id(), false if it is a
 * topology_physical_package_id().
 */
bool intel_imc_sockets_are_dies(void)
{
	return topology_max_dies_per_package() > 1;
}

/**
 * intel_imc_cpu_socket() - the socket of a CPU.
 * @cpu: a CPU that is online
 *
 * Return: the socket, as intel_imc_socket_of() counts them.
 */
int intel_imc_cpu_socket(int cpu)
{
	return intel_imc_sockets_are_dies() ? topology_logical_die_id(cpu) :
	       topology_physical_package_id(cpu);
}

/**
 * intel_imc_socket_cpu() - a CPU of a socket, an isolated one only if there is no other.
 * @socket: as intel_imc_socket_of() returned it
 *
 * Context: any. The CPU may go offline any time.
 * Return: an online CPU; -ENODEV if there is none.
 */
int intel_imc_socket_cpu(int socket)
{
	int cpu, found = -ENODEV;

	for_each_online_cpu(cpu) {
		if (intel_imc_cpu_socket(cpu) != socket)
			continue;
		if (!pmu_cpu_is_isolated(cpu))
			return cpu;
		if (found < 0)
			found = cpu;
	}
	return found;
}

/* Where to look for the UBOX, from a function's bus */
enum intel_imc_side { INTEL_IMC_HERE, INTEL_IMC_BELOW, INTEL_IMC_ABOVE };

/*
 * The UBOX on @pdev's bus or, for functions that have it there, on the nearest lower or higher bus.
 * Any other UBOX belongs to another socket. The caller has to put the device.
 */
static struct pci_dev *intel_imc_ubox_of(struct pci_dev *pdev, const struct intel_imc_part *part,
					 enum intel_imc_side side)
{
	struct pci_dev *ubox = NULL, *best = NULL;
	int distance, shortest = INT_MAX;

	while ((ubox = pci_get_device(PCI_VENDOR_ID_INTEL, part->ubox, ubox))) {
		if (pci_domain_nr(ubox->bus) != pci_domain_nr(pdev->bus))
			continue;
		distance = pdev->bus->number - ubox->bus->number;
		if (side == INTEL_IMC_ABOVE)
			distance = -distance;
		if (distance < 0 || distance >= shortest || (distance && side == INTEL_IMC_HERE))
			continue;
		shortest = distance;
		pci_dev_put(best);
		best = pci_dev_get(ubox);
	}
	return best;
}

/**
 * intel_imc_sockets() - how many sockets the machine has.
 * @part: the generation
 *
 * Each socket has a UBOX. What the kernel knows of packages includes CPUs that do not exist, and
 * may lack those that never were online.
 *
 * Context: may sleep.
 * Return: the number of sockets, or dies; too few if firmware hides a UBOX.
 */
unsigned int intel_imc_sockets(const struct intel_imc_part *part)
{
	struct pci_dev *ubox = NULL;
	unsigned int nr = 0;

	while ((ubox = pci_get_device(PCI_VENDOR_ID_INTEL, part->ubox, ubox)))
		nr++;
	return nr;
}

/*
 * The map has room for 8 sockets. If there are more, the NUMA node that firmware gives for the bus
 * has to do.
 */
static int intel_imc_socket_by_numa(struct pci_dev *pdev)
{
	int node = dev_to_node(&pdev->dev);
	unsigned int cpu = node < 0 ? nr_cpu_ids : cpumask_first(cpumask_of_node(node));

	if (cpu >= nr_cpu_ids)
		return dev_err_probe(&pdev->dev, -ENXIO,
			"more than 8 sockets, and firmware does not tell this device's NUMA node, or that has no CPU: its socket is unknown\n");
	return intel_imc_cpu_socket(cpu);
}

/* The socket of a UBOX; -ENXIO if its registers do not say, or if @ubox is NULL. Puts @ubox. */
static int intel_imc_socket_of_ubox(struct pci_dev *ubox, const struct intel_imc_part *part)
{
	u32 nodeid, map;
	int socket = -ENXIO;

	if (!ubox)
		return -ENXIO;
	/* The map has 24 bits, so all ones mean that the UBOX is gone. */
	if (!pci_read_config_dword(ubox, part->ubox_nodeid, &nodeid) &&
	    !pci_read_config_dword(ubox, part->ubox_map, &map) && !PCI_POSSIBLE_ERROR(map))
		socket = intel_imc_socket_from_map(nodeid, map);
	pci_dev_put(ubox);
	return socket;
}

/**
 * intel_imc_socket_of_table() - the socket that a table of units is of.
 * @pdev: the function with the table, on any bus of the socket
 * @part: the generation
 * @alone: no other function has one
 *
 * Firmware says which NUMA node, unless the machine has no NUMA or the node has no CPU. Then a UBOX
 * says it, if it is of a kind that is known. A single socket with a single table needs neither.
 *
 * Context: may sleep.
 * Return: the socket; -ENXIO if nothing says it.
 */
int intel_imc_socket_of_table(struct pci_dev *pdev, const struct intel_imc_part *part, bool alone)
{
	int node = dev_to_node(&pdev->dev);
	unsigned int cpu = node < 0 ? nr_cpu_ids : cpumask_first(cpumask_of_node(node));
	int socket;

	if (cpu < nr_cpu_ids)
		return intel_imc_cpu_socket(cpu);
	socket = intel_imc_socket_of_ubox(intel_imc_ubox_of(pdev, part, INTEL_IMC_ABOVE), part);
	if (socket >= 0 || !alone)
		return socket;
	socket = intel_imc_cpu_socket(cpumask_first(cpu_online_mask));
	for_each_online_cpu(cpu)
		if (intel_imc_cpu_socket(cpu) != socket)
			return -ENXIO;
	return socket;
}

/**
 * intel_imc_socket_of() - the socket that a channel's function belongs to.
 * @pdev: the function
 * @part: its generation
 *
 * Context: may sleep.
 * Return: the socket, see intel_imc_sockets_are_dies(); -ENXIO, with a message, if it cannot
 * be found.
 */
int intel_imc_socket_of(struct pci_dev *pdev, const struct intel_imc_part *part)
{
	struct pci_dev *ubox;
	int socket;

	if (intel_imc_sockets(part) > UBOX_MAP_FIELDS)
		return intel_imc_socket_by_numa(pdev);
	ubox = intel_imc_ubox_of(pdev, part, part->ubox_below ? INTEL_IMC_BELOW :
				 part->ubox_above ? INTEL_IMC_ABOVE : INTEL_IMC_HERE);
	if (!ubox)
		return dev_err_probe(&pdev->dev, -ENXIO,
			"no UBOX %04x:%04x on this bus%s, so its socket is unknown: does firmware hide it?\n",
			PCI_VENDOR_ID_INTEL, part->ubox, part->ubox_below ? " or a lower one" :
			part->ubox_above ? " or a higher one" : "");
	socket = intel_imc_socket_of_ubox(pci_dev_get(ubox), part);
	if (socket < 0)
		dev_err(&pdev->dev, "UBOX %s does not tell its socket\n", pci_name(ubox));
	pci_dev_put(ubox);
	return socket;
}
