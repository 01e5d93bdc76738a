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

#endif
