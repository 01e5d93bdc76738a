// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flits as a test describes them.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/ctype.h"
#include "qemu/cutils.h"
#include "flit.h"

#define FLIT_USAGE "port=N,dir=up|down,chn=req|rsp|snp|dat[,vc=N][,g0=WORD]" \
                   "[,g1=WORD][,g2=WORD]"

enum { SAID_PORT = 1, SAID_DIR = 2, SAID_CHN = 4, SAID_ALL = 7 };

static bool parse_word(const char *text, uint64_t max, uint64_t *value)
{
    return qemu_isdigit(text[0]) && !qemu_strtou64(text, NULL, 0, value) &&
           *value <= max;
}

static bool parse_unsigned(const char *text, unsigned max, unsigned *value)
{
    uint64_t word;

    if (!parse_word(text, max, &word)) {
        return false;
    }
    *value = word;
    return true;
}

static bool parse_direction(const char *text, bool *down)
{
    *down = !strcmp(text, "down");
    return *down || !strcmp(text, "up");
}

static bool parse_channel(const char *text, CmnChannel *channel)
{
    unsigned i;

    for (i = 0; i < CMN_NCHANNELS; i++) {
        if (!strcmp(text, cmn_channel_names[i])) {
            *channel = i;
            return true;
        }
    }
    return false;
}

static bool parse_pair(const char *key, const char *text, CmnFlit *flit,
                       unsigned *said)
{
    if (!strcmp(key, "port")) {
        *said |= SAID_PORT;
        return parse_unsigned(text, CMN_MAX_PORTS - 1, &flit->port);
    }
    if (!strcmp(key, "dir")) {
        *said |= SAID_DIR;
        return parse_direction(text, &flit->down);
    }
    if (!strcmp(key, "chn")) {
        *said |= SAID_CHN;
        return parse_channel(text, &flit->channel);
    }
    if (!strcmp(key, "vc")) {
        return parse_unsigned(text, 3, &flit->vc);
    }
    if (key[0] == 'g' && key[1] >= '0' && key[1] < '0' + CMN_NGROUPS &&
        !key[2]) {
        return parse_word(text, UINT64_MAX, &flit->group[key[1] - '0']);
    }
    return false;
}

bool cmn_flit_parse(const char *text, CmnFlit *flit, Error **errp)
{
    g_auto(GStrv) pairs = g_strsplit(text, ",", -1);
    unsigned said = 0;
    char **pair;

    *flit = (CmnFlit) { };
    for (pair = pairs; *pair; pair++) {
        char *equals = strchr(*pair, '=');

        if (equals) {
            *equals = '\0';
        }
        if (!equals || !parse_pair(*pair, equals + 1, flit, &said)) {
            error_setg(errp, "a flit is %s: '%s%s%s' is not possible",
                       FLIT_USAGE, *pair, equals ? "=" : "",
                       equals ? equals + 1 : "");
            return false;
        }
    }
    if (said != SAID_ALL) {
        error_setg(errp, "a flit is %s: port, dir and chn have to be said",
                   FLIT_USAGE);
        return false;
    }
    return true;
}
