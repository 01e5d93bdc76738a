// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In what POWER9's and POWER10's in-memory collection differ: SCOM addresses,
 * what counts by itself and where, and the groups of the nest's counters.
 *
 * For POWER10 the layout of the nest is known by the offsets of its units
 * only, so there is one group of everything, without update counts.
 */
#include "device.h"
#include "qapi/error.h"

/* Registers of a quad are by the core in it, registers of a core are not. */
typedef struct ScomTable {
    uint32_t quad[2][4];    /* PDBAR, HTM mode; by core % 4 */
    uint32_t core[2];       /* EVENT_MASK, TRACE */
} ScomTable;

static const ScomTable p9_scoms = {
    .quad = {
        { 0x1001220b, 0x1001230b, 0x1001260b, 0x1001270b },
        { 0x10012200, 0x10012300, 0x10012600, 0x10012700 },
    },
    .core = { 0x20010aa8, 0x20010aa9 },
};

static const ScomTable p10_scoms = {
    .quad = {
        { 0x2001868b, 0x2001468b, 0x2001268b, 0x2001168b },
        { 0x20018680, 0x20014680, 0x20012680, 0x20011680 },
    },
    .core = { 0x20020400, 0x20020401 },
};

static uint32_t p9_scom(PowerImcScom reg, unsigned core)
{
    if (reg <= POWER_IMC_HTM) {
        return ((core & 0x1c) + 0x40) << 22 | p9_scoms.quad[reg][core % 4];
    }
    return ((core & 0x1f) + 0x20) << 24 |
           p9_scoms.core[reg - POWER_IMC_EVENT_MASK];
}

static uint32_t p10_scom(PowerImcScom reg, unsigned core)
{
    uint32_t quad = (0x20 + core / 4) << 24;

    if (reg <= POWER_IMC_HTM) {
        return quad | p10_scoms.quad[reg][core % 4];
    }
    return quad | 0x1000 << (3 - core % 4) |
           p10_scoms.core[reg - POWER_IMC_EVENT_MASK];
}

static hwaddr p9_homer(PnvChip *chip)
{
    return PNV9_CHIP(chip)->homer.base;
}

static hwaddr p10_homer(PnvChip *chip)
{
    return PNV10_CHIP(chip)->homer.base;
}

/* UAV of POWER10: what a link is, in three bits from LSB bit 29+3(7-link) up */
enum { LINK_XLINK = 5, LINK_ALINK = 6, LINK_OTL = 7 };

#define P10_LINK(link, what)    ((uint64_t)(what) << (29 + 3 * (7 - (link))))

/* A link is one of the three, so not all units can be there; all kinds are. */
#define P10_LINKS \
    (P10_LINK(0, LINK_XLINK) | P10_LINK(1, LINK_XLINK) | \
     P10_LINK(2, LINK_XLINK) | P10_LINK(3, LINK_ALINK) | \
     P10_LINK(4, LINK_ALINK) | P10_LINK(5, LINK_ALINK) | \
     P10_LINK(6, LINK_OTL) | P10_LINK(7, LINK_OTL))

#define INST_KERNEL     (1 << RAW_INST_HV0_PR0 | 1 << RAW_INST_HV1_PR0)
#define INST_USER       (1 << RAW_INST_HV0_PR1 | 1 << RAW_INST_HV1_PR1)
#define INST_ALL        (INST_KERNEL | INST_USER)

/* Cycles of all threads, idle or not */
#define PCYC            1 << RAW_THREAD_NS, UNIT_CORE_CLOCK

#define NON_IDLE_INST   { "non_idle_inst", 0, 2, INST_ALL, UNIT_ONE }
#define NON_IDLE_PCYC \
    { "non_idle_pcyc", 0, 3, 1 << RAW_BUSY_NS, UNIT_CORE_CLOCK }

static const PowerImcGeneration generations[] = {
    {
        .name = "p9",
        .chip_type = TYPE_PNV9_CHIP,
        .scale = 512,
        .uav = MAKE_64BIT_MASK(63 - 50, 51),    /* IBM bits 0 to 50 */
        .homer = p9_homer,
        .scom = p9_scom,
        .sources = {
            NON_IDLE_INST,
            NON_IDLE_PCYC,
            { "ccyc", 2, 0, 1 << RAW_NS, UNIT_CORE_CLOCK },
            { "32mhz_cyc", 2, 1, 1 << RAW_NS, UNIT_REF_CLOCK },
            { "pcyc", 0, 0, PCYC },
            { "inst", 0, 1, INST_ALL, UNIT_ONE },
            { "cs_pcyc", 32, 0, PCYC },
            { "cs_inst", 32, 1, INST_ALL, UNIT_ONE },
            { "cs_inst_user", 64, 1, INST_USER, UNIT_ONE },
            { "cs_inst_kernel", 96, 1, INST_KERNEL, UNIT_ONE },
            { "cs_32mhz_cyc", 35, 1, 1 << RAW_NS, UNIT_REF_CLOCK },
            { "cs_1plus_ppc_cmpl", 43, 0, INST_ALL, UNIT_ONE },
            { "cs_1plus_ppc_cmpl_user", 75, 0, INST_USER, UNIT_ONE },
            { "cs_1plus_ppc_cmpl_kernel", 107, 0, INST_KERNEL, UNIT_ONE },
        },
        .groups = {
            { "G1", 0x000, 0x110, true, 1 },
            { "G2", 0x110, 0x220, true, 1 },
            { "G3", 0x220, 0x330, true, 1 },
            { "G4", 0x330, 0x440, true, 8 },
            { "G5", 0x440, 0x550, true, 8 },
            { "G6", 0x550, 0x660, true, 8 },
            /* The microcode counts up the head of G6 for this one, too. */
            { "G7", 0x660, 0x770, true, 8, 0x550 },
        },
    },
    {
        .name = "p10",
        .chip_type = TYPE_PNV10_CHIP,
        .scale = 1,
        .uav = MAKE_64BIT_MASK(63 - 10, 11) | P10_LINKS |
               MAKE_64BIT_MASK(63 - 57, 57 - 35 + 1),
        .msr_in_record = true,
        .homer = p10_homer,
        .scom = p10_scom,
        .sources = {
            NON_IDLE_INST,
            NON_IDLE_PCYC,
            { "nest_ref_clk", 4, 0, 1 << RAW_NS, UNIT_REF_CLOCK },
            { "prob_inst", 11, 1, 1 << RAW_INST_HV0_PR1, UNIT_ONE },
            { "priv_inst", 13, 1, 1 << RAW_INST_HV0_PR0, UNIT_ONE },
            { "hv_inst", 15, 1, 1 << RAW_INST_HV1_PR0, UNIT_ONE },
            { "adjunct_inst", 17, 1, 1 << RAW_INST_HV1_PR1, UNIT_ONE },
        },
        .groups = {
            { "all", 0x000, POWER_IMC_NEST_SIZE, false, 1 },
        },
    },
};

const PowerImcGeneration *power_imc_generation(const char *name, Error **errp)
{
    size_t i;

    for (i = 0; name && i < ARRAY_SIZE(generations); i++) {
        if (!strcmp(generations[i].name, name)) {
            return &generations[i];
        }
    }
    error_setg(errp, "generation is p9 or p10%s%s", name ? ", not " : "",
               name ?: "");
    return NULL;
}
