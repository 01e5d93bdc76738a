// SPDX-License-Identifier: GPL-2.0-only
/*
 * A drawing of the mesh for people, in debugfs: cmn_pmu/arm_cmn_N.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>

#include "cmn.h"

/* Columns of a cell: as many as the longest line needs. */
#define CMN_CELL_LEAST	26
#define CMN_CELL_MOST	120

/*
 * Lines of a cell go to @text, one after the other, and only number @wanted is kept. A number
 * beyond the last line keeps none: then the lines are only measured.
 */
#define CMN_CELL_MEASURE	UINT_MAX

struct cmn_cell {
	char text[CMN_CELL_MOST + 1];
	unsigned int wanted, nr, width;
};

static __printf(2, 3) void cmn_cell_line(struct cmn_cell *cell, const char *fmt, ...)
{
	va_list args;

	if (cell->nr++ != cell->wanted && cell->wanted != CMN_CELL_MEASURE)
		return;
	va_start(args, fmt);
	cell->width = max_t(unsigned int, cell->width,
			    vscnprintf(cell->text, sizeof(cell->text), fmt, args));
	va_end(args);
}

/* A second line for the nodes of a device: "HN-I#1 DN#0 DTC#1". */
static void cmn_cell_nodes(struct cmn_cell *cell, const struct cmn *cmn, unsigned int x, u16 id)
{
	char text[CMN_CELL_MOST + 1] = "";
	unsigned int len = 0;

	for (unsigned int i = 0; i < cmn->nr_nodes; i++) {
		const struct cmn_node *node = &cmn->nodes[i];

		if (node->xp == x && node->id == id && node->type != CMN_TYPE_XP)
			len += scnprintf(text + len, sizeof(text) - len, " %s#%u",
					 cmn_type_name(node->type), node->logical);
	}
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++)
		if (cmn->dtc[i].id == id)
			len += scnprintf(text + len, sizeof(text) - len, " DTC#%u", i);
	cmn_cell_line(cell, "    %s", text);
}

static void cmn_cell_port(struct cmn_cell *cell, const struct cmn *cmn, unsigned int x,
			  unsigned int port)
{
	const struct cmn_xp *xp = &cmn->xps[x];
	const char *name = cmn_connected_name(xp->connect[port]);
	unsigned int devices = 0;
	int last = -1;

	for (unsigned int dev = 0; dev < 4; dev++) {
		for (unsigned int i = 0; i < cmn->nr_nodes; i++) {
			const struct cmn_node *node = &cmn->nodes[i];

			if (node->xp != x || node->type == CMN_TYPE_XP || node->port != port ||
			    node->dev != dev || node->id == last)
				continue;
			last = node->id;
			cmn_cell_line(cell, " p%u %s 0x%03x", port, name, node->id);
			cmn_cell_nodes(cell, cmn, x, node->id);
			devices++;
		}
	}
	/* A processor or memory has no nodes of the mesh. */
	if (!devices && xp->connect[port])
		cmn_cell_line(cell, " p%u %s", port, name);
}

/* Write the line of an XP that @cell->wanted selects. Returns the number of lines. */
static unsigned int cmn_cell_fill(struct cmn_cell *cell, const struct cmn *cmn, unsigned int x)
{
	const struct cmn_xp *xp = &cmn->xps[x];
	char domain[16] = "";

	/* It is not known on CMN-600, nor on a Graviton5 without quarters. */
	if (cmn->known_domains)
		snprintf(domain, sizeof(domain), " DTC %u", cmn->dtms[xp->first_dtm].dtc);
	cell->nr = 0;
	cmn_cell_line(cell, "XP 0x%03x%s", xp->id, domain);
	for (unsigned int port = 0; port < CMN_MAX_PORTS; port++)
		cmn_cell_port(cell, cmn, x, port);
	return cell->nr;
}

/* Returns the number of lines of a row of XPs, and widens @width for the longest. */
static unsigned int cmn_row_measure(const struct cmn *cmn, unsigned int y, unsigned int *width)
{
	struct cmn_cell cell = { .wanted = CMN_CELL_MEASURE, .width = *width };
	unsigned int most = 0;

	for (unsigned int x = 0; x < cmn->width; x++)
		most = max(most, cmn_cell_fill(&cell, cmn, y * cmn->width + x));
	*width = cell.width;
	return most;
}

static void cmn_drawing_rule(struct seq_file *s, const struct cmn *cmn, unsigned int width)
{
	seq_puts(s, "     ");
	for (unsigned int x = 0; x < cmn->width; x++) {
		seq_putc(s, '+');
		for (unsigned int i = 0; i < width + 2; i++)
			seq_putc(s, '-');
	}
	seq_puts(s, "+\n");
}

static void cmn_drawing_row(struct seq_file *s, const struct cmn *cmn, unsigned int y,
			    unsigned int width)
{
	unsigned int lines = cmn_row_measure(cmn, y, &width);

	cmn_drawing_rule(s, cmn, width);
	for (unsigned int line = 0; line < lines; line++) {
		if (line)
			seq_puts(s, "     ");
		else
			seq_printf(s, "y=%-2u ", y);
		for (unsigned int x = 0; x < cmn->width; x++) {
			struct cmn_cell cell = { .wanted = line };

			cmn_cell_fill(&cell, cmn, y * cmn->width + x);
			seq_printf(s, "| %-*s ", width, cell.text);
		}
		seq_puts(s, "|\n");
	}
}

static int cmn_drawing_show(struct seq_file *s, void *unused)
{
	const struct cmn *cmn = s->private;
	unsigned int width = CMN_CELL_LEAST;

	for (unsigned int y = 0; y < cmn->height; y++)
		cmn_row_measure(cmn, y, &width);
	seq_printf(s, "%s: %s %s, %ux%u, %u DTC%s, %s for each XP%s%s\n", cmn->name,
		   cmn->part->name, cmn_revision_name(cmn), cmn->width, cmn->height, cmn->nr_dtcs,
		   cmn->nr_dtcs > 1 ? "s" : "", cmn->multi_dtm ? "DTMs by ports" : "one DTM",
		   cmn->no_niden ? ", NIDEN off" : "", cmn->no_spniden ? ", SPNIDEN off" : "");
	seq_puts(s, "XPs with node id and DTC domain; ports with what is connected and its node id;\n"
		 "what counts there, #logical id\n\n");
	for (unsigned int y = cmn->height; y--; )
		cmn_drawing_row(s, cmn, y, width);
	cmn_drawing_rule(s, cmn, width);
	seq_puts(s, "     ");
	for (unsigned int x = 0; x < cmn->width; x++)
		seq_printf(s, "  x=%-*u", width - 1, x);
	seq_putc(s, '\n');
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cmn_drawing);

static struct dentry *cmn_drawings;

/* The name differs from that of the in-tree driver, which may be loaded as well. */
void cmn_drawing_init(void)
{
	cmn_drawings = debugfs_create_dir("cmn_pmu", NULL);
}

void cmn_drawing_exit(void)
{
	debugfs_remove(cmn_drawings);
}

void cmn_drawing_create(struct cmn *cmn)
{
	cmn->drawing = debugfs_create_file(cmn->name, 0444, cmn_drawings, cmn, &cmn_drawing_fops);
}
