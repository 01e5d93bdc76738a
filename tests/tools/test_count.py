# SPDX-License-Identifier: GPL-2.0-only
"""Counting: what is handed to the kernel, what is made of what it says. No event is opened here: guests do."""
import ctypes
import errno
import os
import struct
import unittest
from unittest import mock

import tree
from pmutools import count, errors
from pmutools.count import Reading
from pmutools.errors import ToolError


class FakeKernel:
    """perf events that are pipes: what a test writes is what a read gives."""

    def __init__(self, test, refuse=None):
        self.opened, self.ends, self.refuse = [], [], refuse or {}
        for name, fake in (("_open", self.open), ("_libc", mock.Mock(ioctl=mock.Mock(return_value=0)))):
            patch = mock.patch.object(count, name, fake)
            patch.start()
            test.addCleanup(patch.stop)
        test.addCleanup(lambda: [os.close(end) for end in self.ends if end is not None])

    def open(self, attributes, pid, cpu, leader):
        if (number := self.refuse.get(len(self.opened))):
            raise OSError(number, os.strerror(number))
        reader, writer = os.pipe()
        self.opened.append((attributes, cpu, leader))
        self.ends.append(writer)
        return reader

    def says(self, index, *values):
        os.write(self.ends[index], struct.pack(f"={len(values)}Q", *values))

    def vanishes(self, index):
        os.close(self.ends[index])
        self.ends[index] = None


class TestAttr(unittest.TestCase):
    def test_layout(self):
        packed = count.attr(7, config=0x304, config1=5, config2=6)
        self.assertEqual(len(packed), 112)
        self.assertEqual(struct.unpack_from("=IIQ", packed), (7, 112, 0x304))
        self.assertEqual(struct.unpack_from("=Q", packed, 32), (1 | 2 | 8,))      # read_format
        self.assertEqual(struct.unpack_from("=Q", packed, 40), (1,))              # disabled
        self.assertEqual(struct.unpack_from("=QQ", packed, 56), (5, 6))


class TestSamples(unittest.TestCase):
    def test_a_ring_that_wraps(self):
        """Samples with raw data and without, and a record of another kind; one is half at the ring's end."""
        def sample(moment, raw):
            return struct.pack("=IHHQI", 9, 0, 20 + len(raw), moment, len(raw)) + raw
        said = sample(7, b"abcd") + struct.pack("=IHHQ", 2, 0, 16, 0) + sample(8, b"") + sample(9, b"0123456789ab")
        for tail in (0, 64, 70, 127, 1 << 40):
            ring = bytearray(2048 + 128)
            struct.pack_into("=4Q", ring, 1024, tail + len(said), tail, 2048, 128)
            for at, byte in enumerate(said, tail):
                ring[2048 + at % 128] = byte
            self.assertEqual(list(count._samples_of(ring)), [(7, b"abcd"), (8, b""), (9, b"0123456789ab")])
            self.assertEqual(struct.unpack_from("=2Q", ring, 1024), (tail + len(said),) * 2)
            self.assertEqual(list(count._samples_of(ring)), [])


class TestCounting(unittest.TestCase):
    def setUp(self):
        pmu = tree.machine(self, "snbep").pmus["uncore_imc_0"]
        self.wants = [count.want(name, pmu, name, 1) for name in ("cas_count_read", "cas_count_write")]

    def test_a_group_is_read_at_once(self):
        kernel = FakeKernel(self)
        with count.Group(self.wants) as group:
            kernel.says(0, 2, 1000, 500, 7, 8)
            self.assertEqual(group.read(), {"cas_count_read": Reading(7, 1000, 500),
                                            "cas_count_write": Reading(8, 1000, 500)})
            self.assertEqual([leader for _, _, leader in kernel.opened], [-1, group.fds[0]])
        self.assertEqual([struct.unpack_from("=Q", packed, 40)[0] for packed, _, _ in kernel.opened], [1, 0])

    def test_the_share_of_the_time(self):
        reading = Reading(10, 3000, 1500).since(Reading(4, 1000, 500))
        self.assertEqual((reading.value, reading.share), (6, 0.5))
        self.assertIsNone(Reading(0, 0, 0).share)

    def test_a_device_that_vanishes(self):
        kernel = FakeKernel(self)
        with count.Session([self.wants]) as session:
            kernel.says(0, 2, 1000, 1000, 7, 8)
            self.assertEqual(len(session.read()[0]), 2)
            kernel.vanishes(0)
            self.assertEqual(session.read()[0], {})
            self.assertEqual([one.key for one in session.gone()], ["cas_count_read", "cas_count_write"])

    def test_a_device_that_vanishes_before_it_is_enabled(self):
        """From Linux 6.15 on an event whose PMU was unregistered has no ioctls."""
        def refuse(*_):
            ctypes.set_errno(number)
            return -1

        kernel = FakeKernel(self)
        count._libc.ioctl.side_effect = refuse
        for call in "enable", "disable":
            with self.subTest(call), count.Session([self.wants]) as session:
                number = errno.ENODEV
                getattr(session, call)()
                self.assertEqual([one.key for one in session.gone()], ["cas_count_read", "cas_count_write"])
                self.assertEqual(session.read()[0], {})
                number = errno.EINVAL
                self.assertRaisesRegex(ToolError, "the driver refuses it", getattr(session, call))
        self.assertEqual(len(kernel.opened), 4)

    def test_no_right(self):
        FakeKernel(self, {0: errno.EACCES})
        with self.assertRaises(ToolError) as caught:
            count.Session([self.wants], paranoid="3")
        self.assertEqual(caught.exception.what, "Cannot count uncore_imc_0/cas_count_read/: this user may not count "
                                                "system-wide (kernel.perf_event_paranoid is 3).")
        self.assertIn("CAP_PERFMON", caught.exception.do)

    def test_what_is_refused_costs_no_other(self):
        kernel = FakeKernel(self, {1: errno.EINVAL})
        with count.Session([self.wants[:1], self.wants[1:]], tolerate=(errno.EINVAL,)) as session:
            self.assertEqual(len(session.groups), 1)
            self.assertEqual([wants[0].key for wants, _ in session.refused], ["cas_count_write"])
        self.assertEqual(len(kernel.opened), 1)

    def test_nothing_stays_open_behind_an_error(self):
        kernel = FakeKernel(self, {1: errno.EBUSY})
        with self.assertRaises(ToolError):
            count.Group(self.wants)
        with self.assertRaises(BrokenPipeError):        # nobody has the other end
            kernel.says(0, 1)

    def test_every_error_says_what_to_do(self):
        for number in errno.errorcode:
            with self.subTest(errno.errorcode[number]):
                error = errors.opening("x/y/", number, "2")
                self.assertTrue(error.what.endswith(".") or error.what.endswith(")."), error.what)
                self.assertTrue(error.do.endswith("."), error.do)
