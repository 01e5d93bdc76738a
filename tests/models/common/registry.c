// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registry of models: a list, and the rules by which names match.
 */
#include "qemu/osdep.h"
#include <fnmatch.h>
#include "qapi/error.h"
#include "registry.h"

static QTAILQ_HEAD(, PmuModel) models = QTAILQ_HEAD_INITIALIZER(models);

bool pmu_registry_add(PmuModel *model, Error **errp)
{
    PmuModel *other;

    QTAILQ_FOREACH(other, &models, next) {
        if (!strcmp(other->name, model->name)) {
            error_setg(errp, "there is a model named '%s' already",
                       model->name);
            return false;
        }
    }
    QTAILQ_INSERT_TAIL(&models, model, next);
    return true;
}

void pmu_registry_remove(PmuModel *model)
{
    QTAILQ_REMOVE(&models, model, next);
}

PmuModel *pmu_registry_next(PmuModel *model)
{
    return model ? QTAILQ_NEXT(model, next) : QTAILQ_FIRST(&models);
}

bool pmu_registry_is_pattern(const char *pattern)
{
    return !strcmp(pattern, "all") || strpbrk(pattern, "*?[");
}

bool pmu_model_matches(const PmuModel *model, const char *pattern)
{
    size_t len = strlen(pattern);

    if (!strcmp(pattern, "all")) {
        return true;
    }
    if (pmu_registry_is_pattern(pattern)) {
        return fnmatch(pattern, model->name, 0) == 0;
    }
    if (!strcmp(pattern, model->name)) {
        return true;
    }
    return !strncmp(pattern, model->name, len) &&
           !strcmp(model->name + len, "@0");
}

const PmuKey *pmu_model_key(const PmuModel *model, const char *name,
                            Error **errp)
{
    g_autoptr(GString) names = g_string_new(NULL);
    size_t i;

    for (i = 0; i < model->nkeys; i++) {
        if (!strcmp(model->keys[i].name, name)) {
            return &model->keys[i];
        }
        g_string_append_printf(names, " %s", model->keys[i].name);
    }
    error_setg(errp, "%s has no key '%s': it has%s", model->name, name,
               names->len ? names->str : " none");
    return NULL;
}
