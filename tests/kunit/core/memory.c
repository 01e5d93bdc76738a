// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PMU whose counters are words in memory.
 */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/smp.h>

#include "memory.h"

/* What holds for all verbs that touch hardware: interrupts off, not gone, awake, a CPU's box there. */
static struct memory_box *memory_box_of(struct pmu_box *box)
{
	struct memory_box *mb = pmu_box_priv(box);

	mb->box = box;
	mb->memory->misuse += !irqs_disabled() || mb->memory->gone || mb->memory->asleep ||
			      (mb->memory->desc.scope == PMU_SCOPE_CPU && mb->cpu >= 0 &&
			       mb->cpu != smp_processor_id());
	return mb;
}

static int memory_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	struct memory *memory = container_of(desc, struct memory, desc);

	memory->engaged_at_init = 0;
	for (unsigned int i = 0; i < nr_cpu_ids; i++)
		memory->engaged_at_init += memory->boxes[i].engaged;
	ev->poll_rate = memory->max_rate;
	atomic_add(!memory->init_error, &memory->inits);
	return memory->init_error;
}

static void memory_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	struct memory *memory = container_of(desc, struct memory, desc);

	if (memory->free_ms)
		msleep(memory->free_ms);
	atomic_inc(&memory->frees);
}

static int memory_engage(struct pmu_box *box)
{
	struct memory_box *mb = memory_box_of(box);

	mb->memory->misuse += mb->engaged;
	if (mb->power_error)
		return mb->power_error;
	if (mb->engaging)
		mb->engaging();
	mb->engaged = true;
	mb->on++;
	return 0;
}

static void memory_disengage(struct pmu_box *box)
{
	struct memory_box *mb = memory_box_of(box);

	mb->memory->misuse += !mb->engaged;
	mdelay(mb->off_ms);
	if (mb->disengaging)
		mb->disengaging();
	mb->engaged = false;
	mb->off++;
}

static void memory_owner_changed(struct pmu_box *box, int cpu)
{
	struct memory_box *mb = pmu_box_priv(box);

	mb->owners++;
	mb->raw += mb->between;
	mb->cpu = cpu;
	if (mb->moving)
		mb->moving(mb);
}

static void memory_begin_read(struct pmu_box *box)
{
	memory_box_of(box)->begins++;
}

static void memory_end_read(struct pmu_box *box)
{
	memory_box_of(box)->ends++;
}

static int memory_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct memory_box *mb = memory_box_of(box);

	mb->memory->misuse += mb->memory->ops.engage && !mb->engaged;
	/* Not even the timer may let an interrupt come in between. */
	mb->memory->misuse += !irqs_disabled();
	mb->reads++;
	mb->reader = smp_processor_id();
	*value = mb->raw;
	if (mb->reading)
		mb->reading(mb);
	return mb->read_error;
}

static const struct pmu_format memory_formats[] = {
	{ .name = "event", .mask = GENMASK_ULL(7, 0), .always = true },
};

/* A PMU that is not yet registered: a suite may still change ops and desc. */
struct memory *memory_create(struct kunit *test, enum pmu_scope scope)
{
	struct memory *memory = kunit_kzalloc(test, sizeof(*memory), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	memory->boxes = kunit_kcalloc(test, nr_cpu_ids, sizeof(*memory->boxes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory->boxes);
	memory->ops = (struct pmu_box_ops){
		.event_init = memory_event_init,
		.event_free = memory_event_free,
		.owner_changed = memory_owner_changed,
		.begin_read = memory_begin_read,
		.end_read = memory_end_read,
		.read = memory_read,
	};
	memory->desc = (struct pmu_desc){
		.owner = THIS_MODULE,
		.ops = &memory->ops,
		.scope = scope,
		.width = 64,
		.formats = memory_formats,
		.nr_formats = ARRAY_SIZE(memory_formats),
	};
	for (unsigned int i = 0; i < nr_cpu_ids; i++) {
		memory->boxes[i].memory = memory;
		memory->boxes[i].cpu = -1;
	}
	cpumask_copy(&memory->online, cpu_online_mask);
	return memory;
}

void memory_with_power(struct memory *memory)
{
	memory->ops.engage = memory_engage;
	memory->ops.disengage = memory_disengage;
}

void memory_plug_box(struct kunit *test, struct memory *memory, int scope_id)
{
	if (!memory->dev) {
		memory->dev = root_device_register("pmu_core_kunit_memory_device");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, memory->dev);
		memory->gone = false;
	}
	KUNIT_ASSERT_EQ(test, devm_pmu_box_register(memory->dev, &memory->desc, MEMORY_PMU,
						    scope_id, &memory->boxes[scope_id]), 0);
}

/* A box for each CPU, or the one there is. */
void memory_plug(struct kunit *test, struct memory *memory)
{
	int cpu;

	if (memory->desc.scope != PMU_SCOPE_CPU) {
		memory_plug_box(test, memory, 0);
		return;
	}
	for_each_present_cpu(cpu)
		memory_plug_box(test, memory, cpu);
}

void memory_unplug(struct memory *memory)
{
	/* A root device has no driver: what devm holds goes with the device itself. */
	root_device_unregister(memory->dev);
	memory->dev = NULL;
	memory->gone = true;
}

/* At the end of each case no misuse, event or engaged box is left. NULL if it was skipped. */
void memory_destroy(struct kunit *test, struct memory *memory)
{
	int cpu;

	if (!memory)
		return;
	for_each_cpu(cpu, &memory->online)
		if (!cpu_online(cpu))
			KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	if (!IS_ERR_OR_NULL(memory->dev))
		memory_unplug(memory);
	pmu_unregister_all(THIS_MODULE);
	KUNIT_EXPECT_EQ(test, memory->misuse, 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(&memory->inits), atomic_read(&memory->frees));
	for (unsigned int i = 0; i < nr_cpu_ids; i++)
		KUNIT_EXPECT_EQ_MSG(test, memory->boxes[i].on, memory->boxes[i].off,
				    "of box %u", i);
}

int memory_second_cpu(void)
{
	int cpu = cpumask_next(cpumask_first(cpu_online_mask), cpu_online_mask);

	return cpu < nr_cpu_ids ? cpu : -1;
}
