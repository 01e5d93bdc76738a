/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of an XP: something that happens to a channel at one of its
 * interfaces, all three in the event's id.
 */
#ifndef PMU_MODELS_CMN_XP_EVENT_H
#define PMU_MODELS_CMN_XP_EVENT_H

#include "event.h"

/* CHI's channels, by the number that watchpoints have for them */
typedef enum CmnChannel {
    CMN_REQ, CMN_RSP, CMN_SNP, CMN_DAT, CMN_NCHANNELS
} CmnChannel;

extern const char *const cmn_channel_names[CMN_NCHANNELS];

/* What decides which events an XP has */
typedef struct CmnXpPorts {
    bool alone;                 /* a mesh of one XP has no links, more ports */
    bool has_pub;
    unsigned nports;
    unsigned vcs[CMN_NCHANNELS];
} CmnXpPorts;

/* From a name such as "mxp_p1_dat_txflit_valid" */
bool cmn_xp_event_parse(const CmnXpPorts *xp, const char *name,
                        CmnEvent *event);

/*
 * A flit of virtual channel @vc leaves on device port @port. False: events
 * have no code for it.
 */
bool cmn_xp_event_flit(const CmnXpPorts *xp, unsigned port, CmnChannel channel,
                       unsigned vc, CmnEvent *event);

void cmn_xp_event_list(const CmnXpPorts *xp, GString *out);

#endif
