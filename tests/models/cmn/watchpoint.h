/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watchpoints: which flits one counts. */
#ifndef PMU_MODELS_CMN_WATCHPOINT_H
#define PMU_MODELS_CMN_WATCHPOINT_H

#include "dtm.h"

/* Does watchpoint @wp, alone or combined with the next, count @flit? */
bool cmn_watchpoint_hits(const CmnDtm *dtm, unsigned wp, const CmnFlit *flit);

#endif
