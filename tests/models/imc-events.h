/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of Intel's memory controllers, as the hardware codes them. */
#ifndef PMU_MODELS_IMC_EVENTS_H
#define PMU_MODELS_IMC_EVENTS_H

/* The generations that differ in events. An event has a set of them. */
typedef enum ImcEvents {
    IMC_EVENTS_SNBEP = 1 << 0,
    IMC_EVENTS_IVBEP = 1 << 1,
    IMC_EVENTS_HSWEP = 1 << 2,
    IMC_EVENTS_BDXEP = 1 << 3,
    IMC_EVENTS_BDXDE = 1 << 4,
    IMC_EVENTS_SKX = 1 << 5,
    IMC_EVENTS_CLX = 1 << 6,
} ImcEvents;

typedef struct ImcEvent {
    const char *name;
    const char *alias;  /* NULL: none */
    uint8_t code;
    uint8_t umask;      /* the sub-event's bit; 0: the event has none */
    uint8_t max_inc;    /* largest increment in one clock */
    uint8_t in;         /* set of ImcEvents */
    bool bank;          /* umask is the number of a bank, not a bit */
} ImcEvent;

/* The clock on a general counter. It happens by itself, so nobody adds it. */
extern const ImcEvent imc_event_clock;

/* Does a counter that is programmed with @code and @umask see @event? */
bool imc_event_seen(const ImcEvent *event, uint8_t code, uint8_t umask);

/* The next event of a generation; NULL is "from the start" and "no more". */
const ImcEvent *imc_event_next(ImcEvents of, const ImcEvent *event);

const ImcEvent *imc_event_find(ImcEvents of, const char *name, Error **errp);

#endif
