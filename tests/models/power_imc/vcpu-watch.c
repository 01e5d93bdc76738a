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
 * Sleeping is reported with thread=multi only.
 */
#include "vcpu-watch.h"
#include <dlfcn.h>
#include "qapi/error.h"
#include "qemu/plugin.h"
#include "qemu/qemu-plugin.h"
#include "system/tcg.h"
#include "cpu.h"

typedef struct VcpuCounts {
    uint64_t instructions[VCPU_WATCH_NSTATES];
} VcpuCounts;

static struct qemu_plugin_scoreboard *scoreboard;
static VcpuSleepFn *sleep_fn;

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

/* A vCPU translates what it is about to execute itself. */
static unsigned current_state(void)
{
    uint64_t msr = cpu_env(current_cpu)->msr;

    return (msr >> MSR_HV & 1) << 1 | (msr >> MSR_PR & 1);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
        tb, QEMU_PLUGIN_INLINE_ADD_U64, counter(current_state()),
        qemu_plugin_tb_n_insns(tb));
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
