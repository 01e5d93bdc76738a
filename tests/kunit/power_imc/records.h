/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace records: the worked ones of Documentation/hardware/power_imc.md, 11.5, and any other; and who writes them. */
#ifndef POWER_IMC_TEST_RECORDS_H
#define POWER_IMC_TEST_RECORDS_H

#include <asm/byteorder.h>

#include <kunit/test.h>

#include <power_imc/ring.h>

#define R1_TB	0x000004d2a1b2c3d4ULL
#define R2_TB	0x000004d2a1b2d374ULL	/* 4000 ticks later */
#define LOW42	0x000003ffffffffffULL
#define SECOND	512000000ULL

static inline struct power_imc_record record_of(u64 tb, u64 ip, u64 state)
{
	return (struct power_imc_record){
		.tb = cpu_to_be64(tb), .ip = cpu_to_be64(ip), .state = cpu_to_be64(state),
		.tb_low = cpu_to_be64(tb & LOW42),
	};
}

#define REAL_SLOTS	4096

struct writer {
	struct power_imc_record *slots;
	struct power_imc_ring ring;
	unsigned int head;
	u64 tb, step;
	u64 now;			/* what the CPU's clock says, or 0: the same as tb */
	u64 lost;			/* as reported by the last drain() */
};

static inline void write_at(struct writer *w, u64 ip)
{
	w->tb += w->step;
	w->slots[w->head++ % w->ring.slots] = record_of(w->tb, ip, 0);
}

/* A ring of so many slots, empty, and who writes it. */
static inline struct writer *writer_of(struct kunit *test, unsigned int slots)
{
	struct writer *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->slots = kunit_kcalloc(test, slots, sizeof(*w->slots), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->slots);
	w->tb = R1_TB;
	w->step = R2_TB - R1_TB;
	w->ring.base = w->slots;
	w->ring.slots = slots;
	w->ring.second = SECOND;
	power_imc_ring_clear(&w->ring, w->tb);
	return w;
}

#endif /* POWER_IMC_TEST_RECORDS_H */
