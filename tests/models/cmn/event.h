/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a mesh's devices, as the nodes' selectors code them. Those of
 * the XPs are in xp-event.h.
 */
#ifndef PMU_MODELS_CMN_EVENT_H
#define PMU_MODELS_CMN_EVENT_H

#include "product.h"

/* Fields in a selector's upper half, which choose among an event's kinds */
typedef enum CmnFilter {
    CMN_FILTER_OCCUP1, CMN_FILTER_CLASS, CMN_FILTER_HBT_LBT,
    CMN_FILTER_SN_HOME, CMN_FILTER_SN_THROTTLE, CMN_FILTER_SNP_VC,
    CMN_FILTER_SOURCE, CMN_FILTER_EVICT_STATE, CMN_NFILTERS,
    CMN_FILTER_NONE = CMN_NFILTERS
} CmnFilter;

/* Something that happens at a node */
typedef struct CmnEvent {
    uint16_t type;      /* of the nodes that have it, or share its table */
    uint16_t id;        /* in the selector */
    CmnFilter filter;
    uint8_t kind;       /* of which kind it is, a value of the filter's field */
    bool evicts;        /* something of a state, which a filter selects, too */
    uint8_t state;
} CmnEvent;

/* Does a selector whose filter fields are these count @event? */
bool cmn_event_passes(const CmnEvent *event, unsigned selected,
                      unsigned state);

/* From a name such as "hnf_qos_pocq_occupancy_read" */
bool cmn_event_parse(CmnEvents in, const char *name, CmnEvent *event);

/* One line for each event of @type: "event NAME type=... eventid=..." */
void cmn_event_list(CmnEvents in, uint16_t type, GString *out);

#endif
