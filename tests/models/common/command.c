// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text commands that a guest gives to the models:
 *
 *   list [DEVICE]                 devices; events and keys of a device
 *   add DEVICE EVENT N [INC]      N clocks with an increment of INC (1) each
 *   stats DEVICE [--reset]        CLASS READS WRITES, one line a class
 *   set DEVICE KEY VALUE
 *   get DEVICE KEY
 *
 * DEVICE may be a shell pattern or "all"; the lines of an answer then start
 * with the device's name. Numbers are in C notation.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/ctype.h"
#include "qemu/cutils.h"
#include "command.h"
#include "registry.h"

typedef bool CommandFn(PmuModel *model, char **argv, GString *out,
                       Error **errp);

typedef struct Command {
    const char *name;
    const char *usage;
    guint min_args;     /* after the command's name */
    guint max_args;
    CommandFn *run;     /* for each device that matches the first argument */
} Command;

/*
 * Digits first: strtoull() would take "-1" and turn it into a large number,
 * and skip blanks.
 */
static bool parse_number(const char *text, const char *what, uint64_t max,
                         uint64_t *value, Error **errp)
{
    if (!qemu_isdigit(text[0]) || qemu_strtou64(text, NULL, 0, value) < 0) {
        error_setg(errp, "%s '%s' is not a number (decimal, 0x... or 0...) "
                   "of 64 bits", what, text);
        return false;
    }
    if (*value > max) {
        error_setg(errp, "%s %s is too large: at most %" PRIu64
                   " (0x%" PRIx64 ")", what, text, max, max);
        return false;
    }
    return true;
}

static bool run_list(PmuModel *model, char **argv, GString *out, Error **errp)
{
    size_t i;

    if (!argv[0]) {
        g_string_append_printf(out, "%s %s\n", model->name,
                               model->description);
        return true;
    }
    if (model->list_events) {
        model->list_events(model, out);
    }
    for (i = 0; i < model->nkeys; i++) {
        g_string_append_printf(out, "key %s%s: %s\n", model->keys[i].name,
                               model->keys[i].set ? "" : " (read only)",
                               model->keys[i].help);
    }
    return true;
}

static bool run_add(PmuModel *model, char **argv, GString *out, Error **errp)
{
    uint64_t n, inc = 1;

    if (!model->add) {
        error_setg(errp, "%s has no events", model->name);
        return false;
    }
    if (!parse_number(argv[2], "N", PMU_ADD_MAX, &n, errp) ||
        (argv[3] && !parse_number(argv[3], "INC", UINT64_MAX, &inc, errp))) {
        return false;
    }
    return model->add(model, argv[1], n, inc, errp);
}

static bool run_stats(PmuModel *model, char **argv, GString *out, Error **errp)
{
    bool many = pmu_registry_is_pattern(argv[0]);
    size_t i;

    if (argv[1] && strcmp(argv[1], "--reset")) {
        error_setg(errp, "stats knows only --reset, not '%s'", argv[1]);
        return false;
    }
    for (i = 0; i < model->nstats; i++) {
        PmuStat *stat = &model->stats[i];

        g_string_append_printf(out, "%s%s%s %" PRIu64 " %" PRIu64 "\n",
                               many ? model->name : "", many ? " " : "",
                               stat->name, stat->reads, stat->writes);
        if (argv[1]) {
            stat->reads = 0;
            stat->writes = 0;
        }
    }
    return true;
}

static bool run_set(PmuModel *model, char **argv, GString *out, Error **errp)
{
    const PmuKey *key = pmu_model_key(model, argv[1], errp);
    uint64_t value;

    if (!key) {
        return false;
    }
    if (!key->set) {
        error_setg(errp, "%s of %s is read only", key->name, model->name);
        return false;
    }
    return parse_number(argv[2], key->name, key->max, &value, errp) &&
           key->set(model, key->arg, value, errp);
}

static bool run_get(PmuModel *model, char **argv, GString *out, Error **errp)
{
    const PmuKey *key = pmu_model_key(model, argv[1], errp);
    bool many = pmu_registry_is_pattern(argv[0]);

    if (!key) {
        return false;
    }
    g_string_append_printf(out, "%s%s%" PRIu64 "\n", many ? model->name : "",
                           many ? " " : "", key->get(model, key->arg));
    return true;
}

static const Command commands[] = {
    { "list", "list [DEVICE]", 0, 1, run_list },
    { "add", "add DEVICE EVENT N [INC]", 3, 4, run_add },
    { "stats", "stats DEVICE [--reset]", 1, 2, run_stats },
    { "set", "set DEVICE KEY VALUE", 3, 3, run_set },
    { "get", "get DEVICE KEY", 2, 2, run_get },
};

static const Command *find_command(const char *name, Error **errp)
{
    g_autoptr(GString) usages = g_string_new(NULL);
    size_t i;

    for (i = 0; i < ARRAY_SIZE(commands); i++) {
        if (name && !strcmp(commands[i].name, name)) {
            return &commands[i];
        }
        g_string_append_printf(usages, "%s%s", i ? " | " : "",
                               commands[i].usage);
    }
    error_setg(errp, "%s%s%s: use %s", name ? "there is no command '" :
               "no command given", name ?: "", name ? "'" : "", usages->str);
    return NULL;
}

static void no_device(const char *pattern, Error **errp)
{
    g_autoptr(GString) names = g_string_new(NULL);
    PmuModel *model = NULL;

    while ((model = pmu_registry_next(model))) {
        g_string_append_printf(names, " %s", model->name);
    }
    error_setg(errp, "there is no device '%s': there %s%s", pattern,
               names->len ? "are" : "is", names->len ? names->str : " none");
}

static bool run(const Command *command, char **argv, GString *out, Error **errp)
{
    PmuModel *model = NULL;
    bool found = !argv[0];

    while ((model = pmu_registry_next(model))) {
        if (argv[0] && !pmu_model_matches(model, argv[0])) {
            continue;
        }
        found = true;
        if (!command->run(model, argv, out, errp)) {
            return false;
        }
    }
    if (!found) {
        no_device(argv[0], errp);
    }
    return found;
}

/* Words between blanks; unlike with g_strsplit() several blanks are one. */
static char **split(const char *line)
{
    char **words = g_strsplit_set(line, " \t\r\n", -1);
    char **from, **to = words;

    for (from = words; *from; from++) {
        if (**from) {
            *to++ = *from;
        } else {
            g_free(*from);
        }
    }
    *to = NULL;
    return words;
}

bool pmu_command(const char *line, GString *out)
{
    g_auto(GStrv) words = split(line);
    guint nargs = g_strv_length(words);
    const Command *command;
    Error *err = NULL;
    bool ok = false;

    command = find_command(words[0], &err);
    if (command) {
        nargs--;
        if (nargs < command->min_args || nargs > command->max_args) {
            error_setg(&err, "usage: %s", command->usage);
        } else {
            ok = run(command, words + 1, out, &err);
        }
    }
    if (!ok) {
        g_string_printf(out, "%s\n", error_get_pretty(err));
        error_free(err);
    }
    return ok;
}
