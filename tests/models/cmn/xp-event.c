// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ids of an XP's events: what in bits 1:0, at which interface in 4:2, on
 * which channel from 5 on.
 */
#include "qemu/osdep.h"
#include "device.h"
#include "xp-event.h"

typedef enum XpWhat {
    WHAT_VALID = 1, WHAT_STALL, WHAT_PARTIAL, NWHATS
} XpWhat;

#define NINTERFACES 8
#define NLINKS      4           /* interfaces to the neighbours come first */

static const char *const whats[NWHATS] = {
    [WHAT_VALID] = "txflit_valid",
    [WHAT_STALL] = "txflit_stall",
    [WHAT_PARTIAL] = "partial_dat_flit",
};

static const char *const interfaces[NINTERFACES] = {
    "e", "w", "n", "s", "p0", "p1", "p2", "p3",
};

/* Alone it has no neighbours, and the ports start where the links were. */
static const char *const interfaces_alone[NINTERFACES] = {
    "p0", "p1", "p2", "p3", "p4", "p5",
};

const char *const cmn_channel_names[CMN_NCHANNELS] = {
    "req", "rsp", "snp", "dat",
};

/* Channels of XP events: the second virtual ones have codes of their own. */
static const struct {
    const char *name;
    int channel;                /* -1: not one of CHI's */
    unsigned vc;
} channels[] = {
    { "req", CMN_REQ, 0 }, { "rsp", CMN_RSP, 0 }, { "snp", CMN_SNP, 0 },
    { "dat", CMN_DAT, 0 }, { "pub", -1, 0 }, { "rsp2", CMN_RSP, 1 },
    { "dat2", CMN_DAT, 1 }, { "req2", CMN_REQ, 1 }, { "snp2", CMN_SNP, 1 },
};

static const char *interface_name(const CmnXpPorts *xp, unsigned code)
{
    return xp->alone ? interfaces_alone[code] : interfaces[code];
}

static bool interface_exists(const CmnXpPorts *xp, unsigned code)
{
    unsigned first = xp->alone ? 0 : NLINKS;

    return code < first || code - first < xp->nports;
}

static bool channel_exists(const CmnXpPorts *xp, unsigned code)
{
    int channel = channels[code].channel;

    return channel < 0 ? xp->has_pub : channels[code].vc < xp->vcs[channel];
}

static bool event_exists(const CmnXpPorts *xp, unsigned interface,
                         unsigned channel, XpWhat what)
{
    bool port = xp->alone || interface >= NLINKS;

    return interface_exists(xp, interface) && channel_exists(xp, channel) &&
           (what != WHAT_PARTIAL ||
            (port && channels[channel].channel == CMN_DAT));
}

static CmnEvent make_event(unsigned interface, unsigned channel, XpWhat what)
{
    return (CmnEvent) {
        .type = CMN_NODE_XP,
        .id = what | interface << 2 | channel << 5,
        .filter = CMN_FILTER_NONE,
    };
}

typedef bool XpEventFn(const char *name, const CmnEvent *event, void *opaque);

/* Call @fn for each event until it returns true. Returns whether it did. */
static bool for_each_event(const CmnXpPorts *xp, XpEventFn *fn, void *opaque)
{
    unsigned i, ch, what;

    for (ch = 0; ch < ARRAY_SIZE(channels); ch++) {
        for (i = 0; i < NINTERFACES; i++) {
            for (what = WHAT_VALID; what < NWHATS; what++) {
                g_autofree char *name = NULL;
                CmnEvent event = make_event(i, ch, what);

                if (!event_exists(xp, i, ch, what)) {
                    continue;
                }
                name = g_strdup_printf("mxp_%s_%s_%s", interface_name(xp, i),
                                       channels[ch].name, whats[what]);
                if (fn(name, &event, opaque)) {
                    return true;
                }
            }
        }
    }
    return false;
}

typedef struct XpSearch {
    const char *name;
    CmnEvent *found;
} XpSearch;

static bool is_searched(const char *name, const CmnEvent *event, void *opaque)
{
    XpSearch *search = opaque;

    if (strcmp(name, search->name)) {
        return false;
    }
    *search->found = *event;
    return true;
}

bool cmn_xp_event_parse(const CmnXpPorts *xp, const char *name,
                        CmnEvent *event)
{
    XpSearch search = { name, event };

    return for_each_event(xp, is_searched, &search);
}

static bool append_line(const char *name, const CmnEvent *event, void *opaque)
{
    g_string_append_printf(opaque, "event %s type=0x%x eventid=0x%x\n", name,
                           event->type, event->id);
    return false;
}

void cmn_xp_event_list(const CmnXpPorts *xp, GString *out)
{
    for_each_event(xp, append_line, out);
}

bool cmn_xp_event_flit(const CmnXpPorts *xp, unsigned port, CmnChannel channel,
                       unsigned vc, CmnEvent *event)
{
    unsigned interface = xp->alone ? port : NLINKS + port;
    unsigned ch;

    for (ch = 0; ch < ARRAY_SIZE(channels); ch++) {
        if (channels[ch].channel == (int)channel && channels[ch].vc == vc &&
            interface < NINTERFACES &&
            event_exists(xp, interface, ch, WHAT_VALID)) {
            *event = make_event(interface, ch, WHAT_VALID);
            return true;
        }
    }
    return false;
}
