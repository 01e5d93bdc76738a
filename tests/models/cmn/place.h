/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places in a mesh, as text: "X.Y", "X.Y.PORT" or "X.Y.PORT.DEVICE". */
#ifndef PMU_MODELS_CMN_PLACE_H
#define PMU_MODELS_CMN_PLACE_H

#include "qemu/osdep.h"

typedef struct CmnPlace {
    unsigned x, y, port, dev;
    bool has_dev;           /* said, so there are several on the port */
} CmnPlace;

/* What "key=text" asks for: a number of devices anywhere, or certain places */
typedef struct CmnPlaces {
    unsigned count;
    CmnPlace *at;           /* count of them; NULL: anywhere */
} CmnPlaces;

/* A number, or places of a port or device joined by "+" */
bool cmn_places_parse(const char *key, const char *text, CmnPlaces *places,
                      Error **errp);
void cmn_places_free(CmnPlaces *places);

/* COLUMNSxROWS */
bool cmn_size_parse(const char *text, unsigned max, unsigned *columns,
                    unsigned *rows);

/* "N" or "N@X.Y". False: something else */
bool cmn_ports_parse(const char *text, unsigned *n, bool *everywhere,
                     unsigned *x, unsigned *y);

#endif
