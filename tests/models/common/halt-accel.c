// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An accelerator that executes nothing: vCPUs never run, and virtual time
 * stands still unless a test moves it by the clock_step command of -qtest.
 *
 * QEMU's own accelerator of this kind, qtest, is a module that distributions
 * do not ship. Conformance tests need it: a count that is computed from
 * virtual time can be compared with a number only if the test owns the time.
 *
 * QEMU interface: -accel pmu-halt
 */
#include "compat.h"
#include "qemu/accel.h"
#include "qemu/module.h"
#include "system/cpus.h"
#include "system/qtest.h"

static int64_t halt_clock;

static int64_t halt_get_clock(void)
{
    return qatomic_read_i64(&halt_clock);
}

static void halt_set_clock(int64_t ns)
{
    qatomic_set_i64(&halt_clock, ns);
}

static int halt_init(ACCEL_INIT_ARGS)
{
    return 0;
}

static void halt_class_init(ObjectClass *klass, ClassInitData *data)
{
    AccelClass *ac = ACCEL_CLASS(klass);

    ac->name = "halt";
    ac->init_machine = halt_init;
    /* Lets the qtest port have its clock commands. */
    ac->allowed = &qtest_allowed;
}

static void halt_ops_class_init(ObjectClass *klass, ClassInitData *data)
{
    AccelOpsClass *ops = ACCEL_OPS_CLASS(klass);

    ops->create_vcpu_thread = dummy_start_vcpu_thread;
    ops->get_virtual_clock = halt_get_clock;
    ops->set_virtual_clock = halt_set_clock;
}

static const TypeInfo halt_types[] = {
    {
        .name = ACCEL_CLASS_NAME("pmu-halt"),
        .parent = TYPE_ACCEL,
        .class_init = halt_class_init,
    }, {
        .name = ACCEL_OPS_NAME("pmu-halt"),
        .parent = TYPE_ACCEL_OPS,
        .class_init = halt_ops_class_init,
        .abstract = true,
    },
};

static void halt_register(void)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(halt_types); i++) {
        type_register_static(&halt_types[i]);
    }
}

type_init(halt_register)
