/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of Intel's memory controllers, as the hardware codes them. */
#ifndef PMU_MODELS_IMC_EVENTS_H
#define PMU_MODELS_IMC_EVENTS_H

typedef struct ImcEvent {
    const char *name;
    const char *alias;  /* NULL: none */
    uint8_t code;
    uint8_t umask;      /* the sub-event's bit; 0: the event has none */
    uint8_t max_inc;    /* largest increment in one clock */
} ImcEvent;

typedef struct ImcEventTable {
    const ImcEvent *events;
    size_t nevents;
} ImcEventTable;

extern const ImcEventTable imc_events_snbep;

/* The clock's code on a general counter. It has no sub-events. */
#define IMC_EVENT_CLOCK 0x00

/*
 * Does a counter that is programmed with @umask see sub-event @bit (0: an
 * event without sub-events)?
 */
bool imc_umask_selects(uint8_t umask, uint8_t bit);

const ImcEvent *imc_event_find(const ImcEventTable *table, const char *name,
                               Error **errp);

#endif
