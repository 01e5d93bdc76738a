// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Places in a mesh, as the description of one has them.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "place.h"

/* sscanf() takes signs and skips blanks. Neither is part of a place. */
static bool is_clean(const char *text)
{
    return strspn(text, "0123456789.x@") == strlen(text);
}

/* All of @text has to be what @format says, which ends with "%n". */
#define SCAN(text, format, ...) \
    ({ \
        int end_ = -1; \
        (void)sscanf(text, format "%n", __VA_ARGS__, &end_); \
        end_ >= 0 && !(text)[end_]; \
    })

static bool parse_place(const char *text, CmnPlace *place)
{
    *place = (CmnPlace) { };
    if (!is_clean(text)) {
        return false;
    }
    place->has_dev = SCAN(text, "%3u.%3u.%3u.%3u", &place->x, &place->y,
                          &place->port, &place->dev);
    return place->has_dev ||
           SCAN(text, "%3u.%3u.%3u", &place->x, &place->y, &place->port);
}

static bool parse_places(char **texts, CmnPlaces *places)
{
    unsigned i;

    places->count = g_strv_length(texts);
    places->at = g_new(CmnPlace, places->count);
    for (i = 0; i < places->count; i++) {
        if (!parse_place(texts[i], &places->at[i])) {
            cmn_places_free(places);
            return false;
        }
    }
    return true;
}

bool cmn_places_parse(const char *key, const char *text, CmnPlaces *places,
                      Error **errp)
{
    g_auto(GStrv) texts = g_strsplit(text, "+", -1);

    *places = (CmnPlaces) { };
    if (is_clean(text) && SCAN(text, "%3u", &places->count)) {
        return true;
    }
    if (*texts && parse_places(texts, places)) {
        return true;
    }
    error_setg(errp, "%s=%s is neither a number nor places, each X.Y.PORT or "
               "X.Y.PORT.DEVICE, joined by +", key, text);
    return false;
}

void cmn_places_free(CmnPlaces *places)
{
    g_free(places->at);
    *places = (CmnPlaces) { };
}

bool cmn_size_parse(const char *text, unsigned max, unsigned *columns,
                    unsigned *rows)
{
    return is_clean(text) && SCAN(text, "%3ux%3u", columns, rows) &&
           *columns >= 1 && *columns <= max && *rows >= 1 && *rows <= max;
}

bool cmn_ports_parse(const char *text, unsigned *n, bool *everywhere,
                     unsigned *x, unsigned *y)
{
    if (!is_clean(text)) {
        return false;
    }
    *everywhere = SCAN(text, "%3u", n);
    return *everywhere || SCAN(text, "%3u@%3u.%3u", n, x, y);
}
