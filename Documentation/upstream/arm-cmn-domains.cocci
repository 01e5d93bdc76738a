// SPDX-License-Identifier: GPL-2.0-only
// An event takes its number in each DTC from DTC 0, where an event of another domain has none. So take one that is free in each
// DTC, and tell a crosspoint that of its own domain. Only CMN-600 does not tell domains. arm-cmn-domains.md; for 6.1.y.
//
//	spatch --smpl-spacing --sp-file arm-cmn-domains.cocci --in-place drivers/perf/arm-cmn.c
@number@
symbol cmn;
identifier hw, j, idx;
statement S;
@@
-if (j > 0)
+if (j > 0 && cmn->part == PART_CMN600)
 { idx = hw->dtc_idx[0]; } else S

@domain depends on number@
symbol dn, dtm, d;
identifier dtm_idx;
statement S;
@@
 dtm_idx = 0;
+d = dn->dtc < 0 ? 0 : dn->dtc;
 while (dtm->pmu_config_low & CMN__PMEVCNT_PAIRED(dtm_idx)) S
