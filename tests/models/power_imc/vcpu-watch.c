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

/* What is due has reached this; it begins at so much less. */
#define DUE     (1ULL << 63)

typedef struct VcpuCounts {
    uint64_t instructions[VCPU_WATCH_NSTATES];
    uint64_t due[VCPU_WATCH_NSTATES];
    uint64_t every;     /* of which due is made; 0: nobody wants to know */
    uint64_t wanted;    /* every, as it is soon going to be */
} VcpuCounts;

static struct qemu_plugin_scoreboard *scoreboard;
static VcpuSleepFn *sleep_fn;
static VcpuEveryFn *every_fn;
static bool watching;   /* new blocks tell when instructions are due */

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

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    unsigned state = current_state();
    size_t n = qemu_plugin_tb_n_insns(tb);

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
