/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What vCPUs do under TCG: how many instructions they have executed, in which
 * state of the machine, and when they sleep.
 */
#ifndef PMU_MODELS_VCPU_WATCH_H
#define PMU_MODELS_VCPU_WATCH_H

#include "qemu/osdep.h"
#include "hw/core/cpu.h"

/* MSR[HV] MSR[PR]: 2 is a hypervisor, 3 its user programs */
#define VCPU_WATCH_NSTATES 4

/* The vCPU falls asleep, or wakes up. Called under the BQL. */
typedef void VcpuSleepFn(unsigned cpu_index, bool asleep);

/*
 * Call this before any vCPU runs. A second call with the same function is
 * harmless. With an accelerator that executes nothing there is nothing to
 * watch.
 */
bool vcpu_watch_start(VcpuSleepFn *slept, Error **errp);

/*
 * @pc: of the block that the vCPU is about to execute. Called by the vCPU
 * itself, not under the BQL.
 */
typedef void VcpuEveryFn(unsigned cpu_index, uint64_t pc);

/*
 * Call @reached after every @instructions that @cpu executes in one state, for
 * each state on its own; 0: no more. The same function for all vCPUs. Under
 * the BQL; takes effect a moment later.
 */
void vcpu_watch_every(CPUState *cpu, uint64_t instructions,
                      VcpuEveryFn *reached);

/* What a vCPU has executed in the measured functions. */
typedef struct VcpuMeasured {
    uint64_t calls;         /* that have returned */
    uint64_t instructions;  /* in them, with what they called */
    uint64_t most;          /* in one of them */
    uint64_t quartile;      /* the lower one of the last VCPU_WATCH_LAST */
} VcpuMeasured;

#define VCPU_WATCH_LAST 256

/*
 * Measure the function at @address, too; 0: none any more, and count from 0.
 * False if these are too many. Under the BQL; takes effect a moment later.
 */
bool vcpu_watch_measure(CPUState *cpu, uint64_t address);
VcpuMeasured vcpu_watch_measured(const CPUState *cpu);

/* Since the machine was started. */
uint64_t vcpu_watch_instructions(const CPUState *cpu, unsigned state);

#endif
