// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What vCPUs do under TCG, by means of QEMU's plugin interface: this shared
 * object, which is preloaded, is its own plugin.
 *
 * Instructions are counted by translation block, one addition for each that is
 * entered. A block that an exception leaves halfway is counted as a whole; most
 * blocks have fewer than ten instructions, and few are left so. The MSR bits
 * are part of what QEMU tells blocks apart by, so those of the moment of
 * translation are those of every execution.
 *
 * To call somebody every so many instructions is asked of each block only while
 * anybody wants it: blocks are translated anew when that begins and ends. The
 * call comes at the first block's beginning at which so many, with the block's
 * own, have been executed, and what is too many counts for the next.
 *
 * A function that is measured is known by its address, at which a block begins
 * when it is called, and its end by the return address, at which the next block
 * begins: each block compares itself with that, while anything is measured. A
 * measured function that is called by another one is part of it.
 *
 * Sleeping is reported with thread=multi only.
 */
#include "vcpu-watch.h"
#include <dlfcn.h>
#include "qapi/error.h"
#include "qemu/plugin.h"
#include "qemu/qemu-plugin.h"
#include "exec/tb-flush.h"
#include "system/tcg.h"
#include "cpu.h"

#define MEASURED_MAX    16

/*
 * ELFv2: a call from the same module enters a function after the set-up of its
 * TOC.
 */
#define LOCAL_ENTRY     8

/*
 * A count that is due has reached this. It begins at this less the number of
 * instructions to wait for.
 */
#define DUE     (1ULL << 63)

typedef struct VcpuCounts {
    uint64_t instructions[VCPU_WATCH_NSTATES];
    uint64_t due[VCPU_WATCH_NSTATES];
    uint64_t every;     /* instructions between two calls; 0: no calls */
    uint64_t wanted;    /* every, as it is soon going to be */
    uint64_t leave;     /* where a measured function returns to; 0: in none */
    uint64_t entered;   /* instructions when it was called */
    VcpuMeasured measured;  /* but the quartile */
    uint64_t last[VCPU_WATCH_LAST];
} VcpuCounts;

static struct qemu_plugin_scoreboard *scoreboard;
static VcpuSleepFn *sleep_fn;
static VcpuEveryFn *every_fn;
static bool watching;   /* new blocks tell when instructions are due */
static uint64_t measured[MEASURED_MAX];
static unsigned nmeasured;

/* What the plugin interface asks for, by name */
QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info, int argc,
                                           char **argv);

static qemu_plugin_u64 counter(unsigned state)
{
    return (qemu_plugin_u64) {
        scoreboard, offsetof(VcpuCounts, instructions[state])
    };
}

static VcpuCounts *counts_of(unsigned cpu_index)
{
    return qemu_plugin_scoreboard_find(scoreboard, cpu_index);
}

static qemu_plugin_u64 due(unsigned state)
{
    return (qemu_plugin_u64) {
        scoreboard, offsetof(VcpuCounts, due[state])
    };
}

/* A vCPU translates what it is about to execute itself. */
static unsigned current_state(void)
{
    uint64_t msr = cpu_env(current_cpu)->msr;

    return (msr >> MSR_HV & 1) << 1 | (msr >> MSR_PR & 1);
}

static void are_due(unsigned cpu_index, void *pc)
{
    VcpuCounts *counts = counts_of(cpu_index);

    counts->due[current_state()] -= counts->every;
    every_fn(cpu_index, (uintptr_t)pc);
}

static uint64_t executed(unsigned cpu_index)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < VCPU_WATCH_NSTATES; i++) {
        sum += qemu_plugin_u64_get(counter(i), cpu_index);
    }
    return sum;
}

static void enters(unsigned cpu_index, void *unused)
{
    VcpuCounts *counts = counts_of(cpu_index);

    if (!counts->leave) {
        counts->leave = cpu_env(current_cpu)->lr;
        counts->entered = executed(cpu_index);
    }
}

static void leaves(unsigned cpu_index, void *unused)
{
    VcpuCounts *counts = counts_of(cpu_index);
    uint64_t instructions = executed(cpu_index) - counts->entered;

    counts->leave = 0;
    counts->last[counts->measured.calls++ % VCPU_WATCH_LAST] = instructions;
    counts->measured.instructions += instructions;
    counts->measured.most = MAX(counts->measured.most, instructions);
}

static bool is_measured(uint64_t pc)
{
    unsigned i;

    for (i = 0; i < nmeasured; i++) {
        if (pc == measured[i] || pc == measured[i] + LOCAL_ENTRY) {
            return true;
        }
    }
    return false;
}

static void translated_to_measure(struct qemu_plugin_tb *tb)
{
    qemu_plugin_u64 leave = { scoreboard, offsetof(VcpuCounts, leave) };
    uint64_t pc = qemu_plugin_tb_vaddr(tb);

    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, leaves,
        QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_COND_EQ, leave, pc, NULL);
    if (is_measured(pc)) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, enters,
                                             QEMU_PLUGIN_CB_R_REGS, NULL);
    }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    unsigned state = current_state();
    size_t n = qemu_plugin_tb_n_insns(tb);

    if (nmeasured) {
        translated_to_measure(tb);
    }
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
        tb, QEMU_PLUGIN_INLINE_ADD_U64, counter(state), n);
    if (watching) {
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
            tb, QEMU_PLUGIN_INLINE_ADD_U64, due(state), n);
        qemu_plugin_register_vcpu_tb_exec_cond_cb(
            tb, are_due, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_COND_GE,
            due(state), DUE, (void *)(uintptr_t)qemu_plugin_tb_vaddr(tb));
    }
}

/* By the vCPU, which is between two blocks. */
static void set_every(CPUState *cpu, run_on_cpu_data data)
{
    VcpuCounts *counts = counts_of(cpu->cpu_index);
    unsigned i;

    counts->every = counts->wanted;
    for (i = 0; i < VCPU_WATCH_NSTATES; i++) {
        counts->due[i] = counts->every ? DUE - counts->every : 0;
    }
}

static bool anybody_wants(void)
{
    CPUState *cpu;

    CPU_FOREACH(cpu) {
        if (counts_of(cpu->cpu_index)->wanted) {
            return true;
        }
    }
    return false;
}

void vcpu_watch_every(CPUState *cpu, uint64_t instructions,
                      VcpuEveryFn *reached)
{
    bool before = watching;

    if (!scoreboard) {
        return;
    }
    every_fn = reached;
    counts_of(cpu->cpu_index)->wanted = instructions;
    watching = anybody_wants();
    async_run_on_cpu(cpu, set_every, RUN_ON_CPU_NULL);
    if (watching != before) {
        tb_flush(cpu);
    }
}

bool vcpu_watch_measure(CPUState *cpu, uint64_t address)
{
    CPUState *other;

    if (!scoreboard || (address && nmeasured == MEASURED_MAX)) {
        return !scoreboard;
    }
    if (address) {
        measured[nmeasured++] = address;
    } else {
        nmeasured = 0;
        CPU_FOREACH(other) {
            counts_of(other->cpu_index)->leave = 0;
            counts_of(other->cpu_index)->measured = (VcpuMeasured) { 0 };
        }
    }
    tb_flush(cpu);
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

VcpuMeasured vcpu_watch_measured(const CPUState *cpu)
{
    VcpuMeasured found = { 0 };
    uint64_t last[VCPU_WATCH_LAST];
    size_t n;

    if (scoreboard) {
        found = counts_of(cpu->cpu_index)->measured;
        n = MIN(found.calls, VCPU_WATCH_LAST);
        memcpy(last, counts_of(cpu->cpu_index)->last, sizeof(last));
        qsort(last, n, sizeof(last[0]), compare);
        found.quartile = n ? last[n / 4] : 0;
    }
    return found;
}

static void fell_asleep(qemu_plugin_id_t id, unsigned cpu_index)
{
    sleep_fn(cpu_index, true);
}

static void woke_up(qemu_plugin_id_t id, unsigned cpu_index)
{
    sleep_fn(cpu_index, false);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                        char **argv)
{
    scoreboard = qemu_plugin_scoreboard_new(sizeof(VcpuCounts));
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_idle_cb(id, fell_asleep);
    qemu_plugin_register_vcpu_resume_cb(id, woke_up);
    return 0;
}

/* In options, a comma is written twice. */
static char *own_path(void)
{
    g_auto(GStrv) parts = NULL;
    Dl_info info;

    if (!dladdr(own_path, &info)) {
        return NULL;
    }
    parts = g_strsplit(info.dli_fname, ",", -1);
    return g_strjoinv(",,", parts);
}

bool vcpu_watch_start(VcpuSleepFn *slept, Error **errp)
{
    QemuPluginList list = QTAILQ_HEAD_INITIALIZER(list);
    g_autofree char *path = NULL;

    if (!tcg_enabled() || scoreboard) {
        return true;
    }
    sleep_fn = slept;
    path = own_path();
    if (!path) {
        error_setg(errp, "the models' shared object does not know its path");
        return false;
    }
    qemu_plugin_opt_parse(path, &list);
    return !qemu_plugin_load_list(&list, errp);
}

uint64_t vcpu_watch_instructions(const CPUState *cpu, unsigned state)
{
    return scoreboard ? qemu_plugin_u64_get(counter(state), cpu->cpu_index) :
           0;
}
