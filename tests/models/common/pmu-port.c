// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control commands of the models from outside the guest, on a character
 * device: for conformance tests of machines on which only firmware could make
 * the control function (pmu-ctl.c) reachable.
 *
 *   > LINE
 *   < STATUS LENGTH        STATUS 0 done, 1 failed; LENGTH in bytes
 *   < ANSWER               as many bytes
 *
 * QEMU interface: a device without a bus
 *  + property "chardev"
 */
#include "compat.h"
#include "qemu/module.h"
#include "chardev/char-fe.h"
#include "hw/qdev-properties-system.h"
#include "migration/vmstate.h"
#include "command.h"

#define TYPE_PMU_PORT "pmu-port"
OBJECT_DECLARE_SIMPLE_TYPE(PmuPort, PMU_PORT)

#define PORT_LINE_MAX 4096

struct PmuPort {
    DeviceState parent_obj;

    CharBackend chr;
    GString *line;
};

static void port_write(PmuPort *s, const char *text, size_t length)
{
    qemu_chr_fe_write_all(&s->chr, (const uint8_t *)text, length);
}

static void port_run(PmuPort *s)
{
    g_autoptr(GString) answer = g_string_new(NULL);
    bool ok = pmu_command(s->line->str, answer);
    g_autofree char *head = g_strdup_printf("%d %zu\n", !ok, answer->len);

    port_write(s, head, strlen(head));
    port_write(s, answer->str, answer->len);
    g_string_truncate(s->line, 0);
}

static int port_can_read(void *opaque)
{
    return PORT_LINE_MAX;
}

/* If a line is too long, its last part is taken for a line. */
static void port_read(void *opaque, const uint8_t *data, int length)
{
    PmuPort *s = opaque;
    int i;

    for (i = 0; i < length; i++) {
        if (data[i] != '\n') {
            g_string_append_c(s->line, data[i]);
        }
        if (data[i] == '\n' || s->line->len == PORT_LINE_MAX) {
            port_run(s);
        }
    }
}

static void port_realize(DeviceState *dev, Error **errp)
{
    PmuPort *s = PMU_PORT(dev);

    s->line = g_string_new(NULL);
    qemu_chr_fe_set_handlers(&s->chr, port_can_read, port_read, NULL, NULL, s,
                             NULL, true);
}

static const Property port_properties[] = {
    DEFINE_PROP_CHR("chardev", PmuPort, chr),
};

static const VMStateDescription port_vmstate = {
    .name = TYPE_PMU_PORT,
    .unmigratable = 1,
};

static void port_class_init(ObjectClass *klass, ClassInitData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->realize = port_realize;
    dc->desc = "control of the PMU models from outside the guest";
    dc->vmsd = &port_vmstate;
    dc->hotpluggable = false;
    device_class_set_props(dc, port_properties);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo port_type = {
    .name = TYPE_PMU_PORT,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(PmuPort),
    .class_init = port_class_init,
};

static void port_register(void)
{
    type_register_static(&port_type);
}

type_init(port_register)
