/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of Intel's memory controllers, as the hardware codes them. */
#ifndef PMU_MODELS_INTEL_IMC_EVENTS_H
#define PMU_MODELS_INTEL_IMC_EVENTS_H

/* The generations that differ in events. An event has a set of them. */
typedef enum IntelImcEvents {
    INTEL_IMC_EVENTS_SNBEP = 1 << 0,
    INTEL_IMC_EVENTS_IVBEP = 1 << 1,
    INTEL_IMC_EVENTS_HSWEP = 1 << 2,
    INTEL_IMC_EVENTS_BDXEP = 1 << 3,
    INTEL_IMC_EVENTS_BDXDE = 1 << 4,
    INTEL_IMC_EVENTS_SKX = 1 << 5,
    INTEL_IMC_EVENTS_CLX = 1 << 6,
    INTEL_IMC_EVENTS_ICX = 1 << 7,
    INTEL_IMC_EVENTS_SPR = 1 << 8,
    INTEL_IMC_EVENTS_GNR = 1 << 9,
} IntelImcEvents;

typedef struct IntelImcEvent {
    const char *name;
    const char *alias;  /* NULL: none */
    uint8_t code;
    uint8_t umask;      /* the sub-event's bits; 0: the event has none */
    uint8_t max_inc;    /* largest increment in one clock */
    uint16_t in;        /* set of IntelImcEvents */
    bool bank;          /* umask is the number of a bank, not a bit */
    uint8_t place;      /* the umask bit of the half it happens in; 0: none */
    uint8_t places;     /* the bits of all halves */
} IntelImcEvent;

/*
 * Clocks on a general counter: up to Ice Lake; after it; and half of the
 * latter. They happen by themselves, so no test adds them.
 */
extern const IntelImcEvent intel_imc_event_clock, intel_imc_event_dclk,
    intel_imc_event_hclk;

/* Does a counter that is programmed with @code and @umask see @event? */
bool intel_imc_event_seen(const IntelImcEvent *event, uint8_t code,
                          uint8_t umask);

/* The next event of a generation; NULL is "from the start" and "no more". */
const IntelImcEvent *intel_imc_event_next(IntelImcEvents of,
                                          const IntelImcEvent *event);

const IntelImcEvent *intel_imc_event_find(IntelImcEvents of, const char *name,
                                          Error **errp);

#endif
