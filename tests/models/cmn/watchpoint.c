// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watchpoints. A flit is seen by one whose direction, port, channel and
 * virtual channel are its own; then its view in the selected match group is
 * compared, and "exclusive" turns the result around.
 *
 * Where the sources leave it open: the odd one of two combined watchpoints
 * goes on counting what it sees itself; the reserved match group sees no flit.
 * Whether chn_num selects, and what exclusive turns around in a pair, are keys.
 *
 * Where secure flits are not to be observed, only those can be that say they
 * are not secure, in REQ and SNP. Left out: that DVM messages count as secure.
 */
#include "qemu/osdep.h"
#include "watchpoint.h"

/* Fields that are the same on all products; the others are in CmnWpLayout. */
#define WP_CONFIG_DEV_SEL   (1u << 0)
#define WP_CONFIG_CHN_SEL   (7u << 1)

#define FIRST_DOWNLOAD      2

static unsigned field(uint64_t config, uint32_t mask)
{
    return mask ? (config & mask) >> ctz32(mask) : 0;
}

static bool is_observable(const CmnDtm *dtm, const CmnFlit *flit)
{
    const uint8_t *ns_bit = dtm->product->ns_bit;

    if (dtm->sees_secure) {
        return true;
    }
    switch (flit->channel) {
    case CMN_REQ:
        return flit->group[0] >> ns_bit[0] & 1;
    case CMN_SNP:
        return flit->group[0] >> ns_bit[1] & 1;
    default:
        return false;
    }
}

static bool sees(const CmnDtm *dtm, unsigned wp, const CmnFlit *flit)
{
    const CmnWpLayout *layout = dtm->layout->wp;
    uint64_t config = dtm->wp[wp].config;
    unsigned port = field(config, WP_CONFIG_DEV_SEL) |
                    field(config, layout->dev_sel2) << 1;

    return flit->down == (wp >= FIRST_DOWNLOAD) && flit->port == port &&
           (unsigned)flit->channel == field(config, WP_CONFIG_CHN_SEL) &&
           (dtm->any_vc || flit->vc == field(config, layout->chn_num)) &&
           field(config, layout->grp) < CMN_NGROUPS;
}

static bool is_exclusive(const CmnDtm *dtm, unsigned wp)
{
    return dtm->wp[wp].config & dtm->layout->wp->exclusive;
}

static bool matches(const CmnDtm *dtm, unsigned wp, const CmnFlit *flit)
{
    const CmnWatchpoint *w = &dtm->wp[wp];
    uint64_t view = flit->group[field(w->config, dtm->layout->wp->grp)];

    return !((view ^ w->val) & ~w->mask);
}

bool cmn_watchpoint_hits(const CmnDtm *dtm, unsigned wp, const CmnFlit *flit)
{
    bool combined = wp % 2 == 0 &&
                    dtm->wp[wp].config & dtm->layout->wp->combine;
    bool first, second;

    if (!is_observable(dtm, flit) || !sees(dtm, wp, flit) ||
        (combined && !sees(dtm, wp + 1, flit))) {
        return false;
    }
    first = matches(dtm, wp, flit);
    if (!combined) {
        return first != is_exclusive(dtm, wp);
    }
    second = matches(dtm, wp + 1, flit);
    if (dtm->inverts_pair) {
        return (first && second) != is_exclusive(dtm, wp);
    }
    return first != is_exclusive(dtm, wp) &&
           second != is_exclusive(dtm, wp + 1);
}
