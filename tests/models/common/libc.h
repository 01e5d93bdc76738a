/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Before all else: the QEMU that loads the models may have an older C library
 * than the host that compiles them. From 2.38 on, glibc's headers turn
 * strtol(), sscanf() and the like into functions that an older one lacks.
 */
#ifndef PMU_MODELS_COMMON_LIBC_H
#define PMU_MODELS_COMMON_LIBC_H

#include <features.h>

/* The name in glibc 2.38 and 2.39, and the one since. */
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#endif
