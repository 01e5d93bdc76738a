// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A virtio port for what a guest says, which is heard again behind a sleep.
 *
 * A driver that wakes up tells the device that a port is ready, and the device
 * answers whether somebody listens to it. The answer goes into a buffer that the
 * driver has queued, and is dropped where there is none. Linux 7.3 queues its
 * buffers only when it has told of all ports: it takes the host for gone, and
 * nobody can write to a port any more. This port answers once more when there
 * is a buffer.
 *
 * QEMU interface: -device pmu-guest-port, otherwise as virtserialport
 */
#include "compat.h"
#include "hw/virtio/virtio-serial.h"
#include "qemu/module.h"
#include "qemu/timer.h"

#define RETRY_MS 10

static VirtIOSerial *waits;
static QEMUTimer *retry_timer;

static void retry_later(void)
{
    timer_mod(retry_timer, qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + RETRY_MS);
}

static void answer_again(void *opaque)
{
    VirtIOSerialPort *port;

    /* A driver that sleeps now asks again when it wakes up. */
    if (!(VIRTIO_DEVICE(waits)->status & VIRTIO_CONFIG_S_DRIVER_OK)) {
        return;
    }
    if (virtio_queue_empty(waits->c_ivq)) {
        retry_later();
        return;
    }
    QTAILQ_FOREACH(port, &waits->ports, next) {
        if (port->host_connected) {
            port->host_connected = false;
            virtio_serial_open(port);
        }
    }
}

static void guest_port_ready(VirtIOSerialPort *port)
{
    if (!virtio_queue_empty(port->vser->c_ivq)) {
        return;
    }
    if (!retry_timer) {
        retry_timer = timer_new_ms(QEMU_CLOCK_VIRTUAL, answer_again, NULL);
    }
    /* A guest has one device with ports. */
    waits = port->vser;
    retry_later();
}

static void guest_port_class_init(ObjectClass *klass, ClassInitData *data)
{
    VIRTIO_SERIAL_PORT_CLASS(klass)->guest_ready = guest_port_ready;
}

static const TypeInfo guest_port_type = {
    .name = "pmu-guest-port",
    .parent = "virtserialport",
    .class_init = guest_port_class_init,
};

static void guest_port_register(void)
{
    type_register_static(&guest_port_type);
}

type_init(guest_port_register)
