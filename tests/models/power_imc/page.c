// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A page of accumulating counters, of a core (at PDBAR) or of a thread (at
 * LDBAR): 128 lines, each with four counters of 64 bits, big-endian. What was
 * counted since the last post is added to what memory holds.
 *
 * Counters count in units of several events (512 on POWER9). A post adds whole
 * units; the rest waits for the next, so nothing is lost and nothing drifts.
 */
#include "device.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/ctype.h"

#define REF_CLOCK_HZ    32000000
#define CORE_CLOCK_HZ   2000000000

uint64_t power_imc_source_hz(const PowerImcSource *source)
{
    switch (source->unit) {
    case UNIT_REF_CLOCK:
        return REF_CLOCK_HZ;
    case UNIT_CORE_CLOCK:
        return CORE_CLOCK_HZ;
    default:
        return 0;
    }
}

uint64_t power_imc_source_events(const PowerImcSource *source,
                                 const uint64_t *raw)
{
    unsigned __int128 ticks;
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < POWER_IMC_NRAWS; i++) {
        if (source->raws & 1 << i) {
            sum += raw[i];
        }
    }
    if (source->unit == UNIT_ONE) {
        return sum;
    }
    /* ns * Hz needs more than 64 bits after 9 s at 2 GHz. */
    ticks = (unsigned __int128)sum * power_imc_source_hz(source);
    return ticks / NANOSECONDS_PER_SECOND;
}

const PowerImcSource *power_imc_source_at(const PowerImc *imc, unsigned line,
                                          unsigned slot)
{
    const PowerImcSource *source = imc->gen->sources;

    for (; source->name; source++) {
        if (source->line == line && source->slot == slot) {
            return source;
        }
    }
    return NULL;
}

bool power_imc_parse_offset(const PowerImc *imc, const char *text, bool sources,
                            uint64_t *offset, Error **errp)
{
    const PowerImcSource *source = imc->gen->sources;

    for (; sources && source->name; source++) {
        if (!strcmp(source->name, text)) {
            *offset = POWER_IMC_OFFSET(source->line, source->slot);
            return true;
        }
    }
    if (!qemu_isdigit(text[0]) || qemu_strtou64(text, NULL, 0, offset) < 0) {
        error_setg(errp, "event '%s' is not the offset of a counter in "
                   "memory%s", text, sources ? ", nor the name of one that "
                   "counts by itself" : "");
        return false;
    }
    return true;
}

/* All sources have a place at PowerImcPage's posted, by their index. */
static unsigned source_index(const PowerImc *imc, const PowerImcSource *source)
{
    return source - imc->gen->sources;
}

static void page_sync(PowerImcPage *page, const uint64_t *raw)
{
    unsigned i;

    for (i = 0; i < POWER_IMC_NRAWS; i++) {
        if (page->running) {
            page->counted[i] += raw[i] - page->seen[i];
        }
        page->seen[i] = raw[i];
    }
}

void power_imc_page_set_running(PowerImcPage *page, const uint64_t *raw,
                                bool running)
{
    page_sync(page, raw);
    page->running = running;
}

bool power_imc_page_add(PowerImcPage *page, uint64_t offset, uint64_t units,
                        Error **errp)
{
    uint64_t line = offset / 64, in_line = offset % 64;

    if (line >= POWER_IMC_NLINES || offset % 8 || in_line < 0x18 ||
        in_line >= 0x18 + 8 * POWER_IMC_NSLOTS) {
        error_setg(errp, "there is no counter at 0x%" PRIx64 ": they are at "
                   "0x18, 0x20, 0x28 and 0x30 of each 64 bytes, up to 0x%x",
                   offset, POWER_IMC_OFFSET(POWER_IMC_NLINES - 1,
                                            POWER_IMC_NSLOTS - 1));
        return false;
    }
    page->added[line * POWER_IMC_NSLOTS + (in_line - 0x18) / 8] += units;
    return true;
}

/* Turn what the sources have counted into units, each of them once. */
static void page_collect(PowerImcPage *page, const PowerImc *imc,
                         const uint64_t *raw)
{
    const PowerImcSource *source = imc->gen->sources;

    page_sync(page, raw);
    for (; source->name; source++) {
        uint64_t *posted = &page->posted[source_index(imc, source)];
        uint64_t units = power_imc_source_events(source, page->counted) /
                         imc->gen->scale;

        page->added[source->line * POWER_IMC_NSLOTS + source->slot] +=
            units - *posted;
        *posted = units;
    }
}

bool power_imc_page_post(PowerImcPage *page, const PowerImc *imc,
                         const uint64_t *raw, hwaddr base)
{
    bool ok = true;
    unsigned i;

    page_collect(page, imc, raw);
    for (i = 0; i < POWER_IMC_NCOUNTERS; i++) {
        if (page->added[i]) {
            ok &= power_imc_add(base + POWER_IMC_OFFSET(i / POWER_IMC_NSLOTS,
                                                        i % POWER_IMC_NSLOTS),
                                page->added[i]);
            page->added[i] = 0;
        }
    }
    return ok;
}

void power_imc_page_drop(PowerImcPage *page, const PowerImc *imc,
                         const uint64_t *raw)
{
    page_collect(page, imc, raw);
    memset(page->added, 0, sizeof(page->added));
}

void power_imc_page_list(const PowerImc *imc, GString *out)
{
    const PowerImcSource *source = imc->gen->sources;

    for (; source->name; source++) {
        g_string_append_printf(out, "event %s 0x%x counts by itself, in units "
                               "of %u\n", source->name,
                               POWER_IMC_OFFSET(source->line, source->slot),
                               imc->gen->scale);
    }
    g_string_append_printf(out, "event 0x%x to 0x%x any counter, of line n "
                           "and slot s at 64n+8s+0x18\n",
                           POWER_IMC_OFFSET(0, 0),
                           POWER_IMC_OFFSET(POWER_IMC_NLINES - 1,
                                            POWER_IMC_NSLOTS - 1));
}
