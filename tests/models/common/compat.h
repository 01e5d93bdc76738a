/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the QEMU versions that the models are compiled
 * against, and nothing else.
 */
#ifndef PMU_MODELS_COMPAT_H
#define PMU_MODELS_COMPAT_H

#include "qemu/osdep.h"

/* The class_init callback's data became const in 10.1. */
#if QEMU_VERSION_MAJOR > 10 || \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1)
typedef const void ClassInitData;
#else
typedef void ClassInitData;
#endif

/* Later versions have the device headers under hw/core. */
#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#else
#include "hw/qdev-properties.h"
#endif

/* Memory's headers went from exec to system. */
#if __has_include("exec/memory.h")
#include "exec/address-spaces.h"
#include "exec/memory.h"
#else
#include "system/address-spaces.h"
#include "system/memory.h"
#endif

/*
 * The headers of accelerators were split, and init_machine got the accelerator
 * as an argument.
 */
#if __has_include("accel/accel-cpu-ops.h")
#include "accel/accel-cpu-ops.h"
#include "accel/accel-ops.h"
#include "accel/dummy-cpus.h"
#define ACCEL_INIT_ARGS AccelState *as, MachineState *machine
#else
#include "system/accel-ops.h"
#define ACCEL_INIT_ARGS MachineState *machine
#endif

/* The front end of a character device was CharBackend until 10.2. */
#if QEMU_VERSION_MAJOR > 10 || \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 2)
#define CharBackend CharFrontend
#endif

#endif
