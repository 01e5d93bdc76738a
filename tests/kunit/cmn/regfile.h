/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mesh of registers that record how they are used: the tree of nodes, and memory. Nothing
 * counts by itself. Offsets and words are from the manuals, not from the driver's headers.
 */
#ifndef CMN_REGFILE_H
#define CMN_REGFILE_H

#include <linux/xarray.h>

#include <cmn/cmn.h>

struct kunit;

#define REGFILE_LOG	4096

/* Offsets in the frame of an XP; the same for CMN-600 and CMN-700. */
#define SEL		0x2000
#define DTM_CONTROL	0x2100
#define WP0_CONFIG	0x21a0
#define PMU_CONFIG	0x2210
#define PMEVCNT		0x2220

/* Offsets in the frame of a DTC. */
#define DTC_CTL		0x0a00
#define TRACE_CONTROL	0x0a30
#define PMEVCNT_AB	0x2000
#define PMCCNTR		0x2040
#define PMCR		0x2100
#define PMOVSR		0x2118
#define PMOVSR_CLR	0x2120

struct cmn_access {
	bool write;
	u8 bytes;
	u64 offset;
	u64 value;
};

/* A device's node: on a port of the XP at x, y. */
struct cmn_fake_node {
	u8 x, y;
	u16 type, id, logical;
};

struct cmn_fake_mesh {
	u16 part;
	u8 rev, width, height, id_bits;
	u64 info, info1;
	u32 connect[CMN_MAX_PORTS];	/* of all XPs */
	u8 ports;			/* in XPs' NODE_INFO */
	const struct cmn_fake_node *nodes;
	unsigned int nr;
	u8 domains;			/* of XPs, by column: x % domains */
};

struct cmn_regfile {
	struct cmn cmn;
	struct xarray pages;
	struct cmn_access log[REGFILE_LOG];
	unsigned int reads, writes, outside;
	u64 stuck;			/* a register that keeps nothing, unless 0 */
	/* What happens before each read: @n were made since cmn_regfile_forget(). */
	void (*before_read)(struct cmn_regfile *file, unsigned int n);
	u32 frame;
	u32 xp[CMN_MAX_XPS];		/* offsets of frames */
	u32 node[64];
	unsigned int frames;
};

struct cmn_regfile *cmn_regfile(struct kunit *test, const struct cmn_fake_mesh *mesh);
struct cmn_regfile *cmn_regfile_ready(struct kunit *test, const struct cmn_fake_mesh *mesh);
void cmn_regfile_forget(struct cmn_regfile *file);
u64 cmn_regfile_get(struct cmn_regfile *file, u64 offset);
void cmn_regfile_set(struct cmn_regfile *file, u64 offset, u64 value);
unsigned int cmn_regfile_count(const struct cmn_regfile *file, bool write, u64 offset);
struct cmn_claims *cmn_regfile_claims(struct kunit *test, struct cmn_regfile *file);
struct cmn_event *cmn_regfile_event(struct kunit *test, struct cmn_regfile *file, u64 config,
				    u64 config1, u64 config2);
struct cmn_event *cmn_regfile_start(struct kunit *test, struct cmn_regfile *file,
				    struct cmn_claims *claims, u64 config, u64 config1,
				    u64 config2);
void cmn_regfile_run(struct cmn_regfile *file);
int cmn_regfile_discover(struct cmn_regfile *file);
void cmn_regfile_undiscover(struct cmn_regfile *file);

/* All that a mesh needs which counts nothing but at its XPs: DTC 0, at the first XP. */
extern const struct cmn_fake_node cmn_fake_dtc[1];

/* Meshes: 4x2 CMN-600 with two domains, 4x2 CMN-700 with an HN-P and a CCLA_RNI. */
extern const struct cmn_fake_mesh cmn_fake_600, cmn_fake_700;

extern struct kunit_suite cmn_count_suite;
extern struct kunit_suite cmn_discover_suite;
extern struct kunit_suite cmn_claim_suite;
extern struct kunit_suite cmn_flush_suite;
extern struct kunit_suite cmn_group_suite;
extern struct kunit_suite cmn_image_suite;
extern struct kunit_suite cmn_irq_suite;
extern struct kunit_suite cmn_stop_suite;

#endif /* CMN_REGFILE_H */
