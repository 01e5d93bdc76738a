/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flit on its way through a device port of an XP. */
#ifndef PMU_MODELS_CMN_FLIT_H
#define PMU_MODELS_CMN_FLIT_H

#include "xp-event.h"

#define CMN_NGROUPS 3       /* match groups: primary, secondary, tertiary */

typedef struct CmnFlit {
    unsigned port;
    bool down;              /* from the XP to the device; else upload */
    CmnChannel channel;
    unsigned vc;
    uint64_t group[CMN_NGROUPS];    /* what each match group shows of it */
} CmnFlit;

/*
 * From words such as "port=1,dir=up,chn=req,vc=0,g0=0x1,g1=0,g2=0", in any
 * order; what is not said is 0, port, dir and chn have to be.
 */
bool cmn_flit_parse(const char *text, CmnFlit *flit, Error **errp);

#endif
