// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map in debugfs, for programs: arm-cmn/map, and map_N for arm_cmn_N. Arm's tools read it, so
 * it is byte for byte that of the in-tree driver. drawing.c has a better one for people.
 */
#include <linux/bitops.h>
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "cmn.h"

#define CMN_MAP_CELL	8	/* columns */
#define CMN_MAP_DEVICES	2	/* of a port that have a line */

/* Names of devices in the map, by the code in the connect info of their port. */
static const char * const cmn_connected[] = {
	[0x00] = "", [0x01] = "RN-I", [0x02] = "RN-D", [0x04] = "RN-F_B", [0x05] = "RN-F_B_E",
	[0x06] = "RN-F_A", [0x07] = "RN-F_A_E", [0x08] = "HN-T", [0x09] = "HN-I", [0x0a] = "HN-D",
	[0x0b] = "HN-P", [0x0c] = "SN-F", [0x0d] = "SBSX", [0x0e] = "HN-F", [0x0f] = "SN-F_E",
	[0x10] = "SN-F_D", [0x11] = "CXHA", [0x12] = "CXRA", [0x13] = "CXRH", [0x14] = "RN-F_D",
	[0x15] = "RN-F_D_E", [0x16] = "RN-F_C", [0x17] = "RN-F_C_E", [0x18] = "RN-F_E",
	[0x19] = "RN-F_E_E", [0x1a] = "HN-S", [0x1b] = "LCN", [0x1c] = "MTSX", [0x1d] = "HN-V",
	[0x1e] = "CCG", [0x20] = "RN-F_F", [0x21] = "RN-F_F_E", [0x22] = "SN-F_F",
};

/* The name of the device that @code stands for; "" for nothing. */
const char *cmn_connected_name(u8 code)
{
	const char *name = code < ARRAY_SIZE(cmn_connected) ? cmn_connected[code] : NULL;

	return name ?: "????";
}

static void cmn_map_port(struct seq_file *s, u8 code)
{
	const char *name = cmn_connected_name(code);
	int before = (CMN_MAP_CELL - strlen(name)) / 2;

	seq_printf(s, "%*s%-*s|", before, "", CMN_MAP_CELL - before, name);
}

/*
 * The logical id of a device is that of its node of the lowest type. Types that come with others do
 * not count. Ids are looked for in the whole mesh, as the in-tree driver does: at a port that an XP
 * lacks, this may find a device of a neighbour.
 */
static void cmn_map_device(struct seq_file *s, const struct cmn *cmn, u16 id)
{
	const struct cmn_node *found = NULL;
	int before;

	for (unsigned int i = 0; i < cmn->nr_nodes; i++) {
		const struct cmn_node *node = &cmn->nodes[i];

		if (node->id != id || node->type < CMN_TYPE_HNI || node->type == CMN_TYPE_XP)
			continue;
		if (!found || node->type < found->type ||
		    (node->type == found->type && node->logical < found->logical))
			found = node;
	}
	if (!found) {
		seq_printf(s, "%*s|", CMN_MAP_CELL, "");
		return;
	}
	before = found->logical < 10 ? 3 : 2;
	seq_printf(s, "%*s#%-*u|", before, "", CMN_MAP_CELL - 1 - before, found->logical);
}

/* The domain of an XP. Where domains are not known, only that of an XP with a DTC is shown. */
static int cmn_map_domain(const struct cmn *cmn, const struct cmn_xp *xp)
{
	if (cmn->known_domains)
		return cmn->dtms[xp->first_dtm].dtc;
	for (unsigned int i = cmn->nr_dtcs; cmn->nr_dtcs > 1 && i--; )
		if (cmn->dtc[i].xp == xp - cmn->xps)
			return i;
	return -1;
}

/* The number of ports up to the last one in use. */
static unsigned int cmn_map_ports(const struct cmn_xp *xp)
{
	unsigned int ports = CMN_MAX_PORTS;

	while (ports && !xp->connect[ports - 1])
		ports--;
	return ports;
}

static u16 cmn_map_id(const struct cmn *cmn, const struct cmn_xp *xp, unsigned int port,
		      unsigned int dev)
{
	return xp->id | port << cmn_id_dev_bits(cmn, cmn_map_ports(xp)) | dev;
}

static void cmn_map_line(struct seq_file *s, const struct cmn *cmn)
{
	for (unsigned int x = 0; x < cmn->width; x++)
		seq_puts(s, "--------+");
	seq_putc(s, '\n');
}

static void cmn_map_row(struct seq_file *s, const struct cmn *cmn, unsigned int y,
			unsigned int ports)
{
	const struct cmn_xp *xps = &cmn->xps[y * cmn->width];

	seq_printf(s, "%-2d   |", y);
	for (unsigned int x = 0; x < cmn->width; x++)
		seq_printf(s, " XP #%-3u|", y * cmn->width + x);
	seq_puts(s, "\n     |");
	for (unsigned int x = 0; x < cmn->width; x++) {
		int domain = cmn_map_domain(cmn, &xps[x]);

		if (domain < 0)
			seq_puts(s, " DTC ?? |");
		else
			seq_printf(s, " DTC %d  |", domain);
	}
	seq_puts(s, "\n     |");
	for (unsigned int x = 0; x < cmn->width; x++)
		seq_puts(s, "........|");
	for (unsigned int port = 0; port < ports; port++) {
		seq_printf(s, "\n  %u  |", port);
		for (unsigned int x = 0; x < cmn->width; x++)
			cmn_map_port(s, xps[x].connect[port]);
		for (unsigned int dev = 0; dev < CMN_MAP_DEVICES; dev++) {
			seq_printf(s, "\n    %u|", dev);
			for (unsigned int x = 0; x < cmn->width; x++)
				cmn_map_device(s, cmn, cmn_map_id(cmn, &xps[x], port, dev));
		}
	}
	seq_putc(s, '\n');
}

static int cmn_map_show(struct seq_file *s, void *unused)
{
	const struct cmn *cmn = s->private;
	unsigned int ports = 0;

	for (unsigned int i = 0; i < cmn->nr_xps; i++)
		ports = max(ports, cmn_map_ports(&cmn->xps[i]));
	seq_puts(s, "     X");
	for (unsigned int x = 0; x < cmn->width; x++)
		seq_printf(s, "    %-2u   ", x);
	seq_puts(s, "\nY P D+");
	for (unsigned int y = cmn->height; y--; ) {
		cmn_map_line(s, cmn);
		cmn_map_row(s, cmn, y, ports);
		seq_puts(s, "-----+");
	}
	cmn_map_line(s, cmn);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cmn_map);

static struct dentry *cmn_maps;

/*
 * The in-tree module has a directory of the same name as long as it is loaded. Our files do not go
 * there, since they would be removed with it. If the parent is an error, debugfs creates no files.
 */
void cmn_map_init(void)
{
	cmn_maps = debugfs_create_dir("arm-cmn", NULL);
	if (cmn_maps == ERR_PTR(-EEXIST))
		pr_notice("cmn_pmu: arm-cmn/map in debugfs is the in-tree driver's, and not of these meshes: they are in cmn_pmu\n");
}

void cmn_map_exit(void)
{
	debugfs_remove(cmn_maps);
}

void cmn_map_create(struct cmn *cmn)
{
	char name[16] = "map";

	if (cmn->number)
		snprintf(name, sizeof(name), "map_%d", cmn->number);
	cmn->map = debugfs_create_file(name, 0444, cmn_maps, cmn, &cmn_map_fops);
}
