// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Seeing a thread write LDBAR. In QEMU the register is storage, and a write is
 * a store in translated code; here a call is added after it. So the write is
 * seen when it happens, also if it changes nothing, which reading the storage
 * now and then would not tell.
 */
#include "device.h"
#include "qemu/main-loop.h"
#include "system/tcg.h"
#include "tcg/tcg.h"
#include "tcg/helper-info.h"
#include "exec/helper-head.h.inc"

static void (*written_fn)(PowerPCCPU *cpu);
static void (*store)(DisasContext *ctx, int sprn, int gprn);

static void ldbar_written(CPUPPCState *env)
{
    BQL_LOCK_GUARD();
    written_fn(env_archcpu(env));
}

static TCGHelperInfo ldbar_written_info = {
    .func = ldbar_written,
    .name = "ldbar_written",
    .typemask = dh_typemask(void, 0) | dh_typemask(env, 1),
};

static void translate_mtspr(DisasContext *ctx, int sprn, int gprn)
{
    store(ctx, sprn, gprn);
    tcg_gen_call1(ldbar_written_info.func, &ldbar_written_info, NULL,
                  tcgv_ptr_temp(tcg_env));
}

void power_imc_ldbar_watch(PowerPCCPU *cpu, void (*written)(PowerPCCPU *cpu))
{
    ppc_spr_t *spr = &cpu->env.spr_cb[SPR_LDBAR];

    if (tcg_enabled()) {
        written_fn = written;
        store = spr->hea_write;
        spr->hea_write = translate_mtspr;
    }
}
