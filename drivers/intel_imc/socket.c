// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which socket a PCI bus belongs to. Each socket's UBOX function knows its node id, and
 * a map from packages to node ids; it sits on the same bus as the memory channels or on
 * the next higher one.
 */
#include <linux/bitfield.h>
#include <linux/pci.h>

#include "imc.h"

#define UBOX_NODEID		GENMASK(2, 0)
#define UBOX_MAP_FIELDS		8
#define UBOX_MAP_FIELD(i)	(GENMASK(2, 0) << (3 * (i)))

/**
 * imc_socket_from_map() - decode a UBOX's registers.
 * @nodeid: CPUNODEID
 * @map: GIDNIDMAP: field i, 3 bits, is the node id of package i
 *
 * Context: any.
 * Return: the physical package id, 0 to 7; -ENXIO if the map does not have the node.
 */
int imc_socket_from_map(u32 nodeid, u32 map)
{
	for (int i = 0; i < UBOX_MAP_FIELDS; i++)
		if ((map & UBOX_MAP_FIELD(i)) >> (3 * i) == FIELD_GET(UBOX_NODEID, nodeid))
			return i;
	return -ENXIO;
}
EXPORT_SYMBOL_IF_KUNIT(imc_socket_from_map);

/* The UBOX on @pdev's bus, or else on the next higher one. The caller puts it. */
static struct pci_dev *imc_ubox_of(struct pci_dev *pdev, u16 device)
{
	struct pci_dev *ubox = NULL, *best = NULL;

	while ((ubox = pci_get_device(PCI_VENDOR_ID_INTEL, device, ubox))) {
		if (pci_domain_nr(ubox->bus) != pci_domain_nr(pdev->bus) ||
		    ubox->bus->number < pdev->bus->number ||
		    (best && best->bus->number <= ubox->bus->number))
			continue;
		pci_dev_put(best);
		best = pci_dev_get(ubox);
	}
	return best;
}

/**
 * imc_socket_of() - the socket that a channel's function belongs to.
 * @pdev: the function
 * @part: its generation
 *
 * Context: may sleep.
 * Return: physical package id; -ENXIO, with a message, if it cannot be found.
 */
int imc_socket_of(struct pci_dev *pdev, const struct imc_part *part)
{
	struct pci_dev *ubox = imc_ubox_of(pdev, part->ubox);
	u32 nodeid, map;
	int socket;

	if (!ubox)
		return dev_err_probe(&pdev->dev, -ENXIO,
			"no UBOX %04x:%04x on this bus or above it, so its socket is unknown: the firmware may hide it\n",
			PCI_VENDOR_ID_INTEL, part->ubox);
	if (pci_read_config_dword(ubox, part->nodeid_reg, &nodeid) ||
	    pci_read_config_dword(ubox, part->map_reg, &map))
		socket = -ENXIO;
	else
		socket = imc_socket_from_map(nodeid, map);
	if (socket < 0)
		dev_err(&pdev->dev, "UBOX %s does not tell its socket\n", pci_name(ubox));
	pci_dev_put(ubox);
	return socket;
}
