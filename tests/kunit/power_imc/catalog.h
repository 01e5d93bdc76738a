/* SPDX-License-Identifier: GPL-2.0-only */
/* A good catalog with a unit of each type, and what the driver has to read from it. */
#ifndef POWER_IMC_CATALOG_H
#define POWER_IMC_CATALOG_H

#include <power_imc/power_imc.h>

#include "fdt.h"

/* Nodes of the catalog. */
#define NEST_NODE	"mcs01@c8"
#define CORE_NODE	"core@18"
#define THREAD_NODE	"thread@18"
#define TRACE_NODE	"trace@0"

/* What its units are. */
#define NEST_UNIT	"nest_mcs01_imc"
#define OTHER_UNIT	"nest_xlink0_imc"
#define CORE_UNIT	"core_imc"
#define THREAD_UNIT	"thread_imc"
#define TRACE_UNIT	"trace_imc"

/* What a change to the catalog costs. */
enum catalog_loss {
	LOSS_NOTHING,
	LOSS_UNIT,		/* the unit of this name */
	LOSS_EVENTS,		/* all events of the unit of this name */
	LOSS_EVENT,		/* the events that end in this name, wherever they are */
};

struct power_imc *catalog_read(struct kunit *test, struct fdt *fdt);
struct fdt *catalog_create(struct kunit *test, const struct fdt_edit *edits, unsigned int nr_edits);
const struct power_imc_unit *catalog_unit(const struct power_imc *imc, const char *name);
void catalog_expect(struct kunit *test, const struct power_imc *imc, enum catalog_loss loss,
		    const char *name);

#endif /* POWER_IMC_CATALOG_H */
