# SPDX-License-Identifier: GPL-2.0-only
"""Certificates in the variables of a guest's firmware, and guests that cannot have Secure Boot."""
import tempfile
import unittest
import uuid

from pmusuite import cache, options, secure_boot

SHIM = "605dab50-e046-4300-abb6-3dd810dd8b23"
X509 = "a5c059a1-94e4-4aa7-87b5-ab155c2bf072"


def number(data, offset):
    return int.from_bytes(data[offset:offset + 4], "little")


def variable(name, data):
    name = f"{name}\0".encode("utf-16-le")
    header = b"\xaa\x55\x3f\0" + bytes(32) + len(name).to_bytes(4, "little") + len(data).to_bytes(4, "little") + bytes(16)
    return header + name + data + b"\xff" * (-(len(header) + len(name) + len(data)) % 4)


def store(*variables, room=1000):
    """A volume's header, which says how long it is, the store's, what is in it, and room for more."""
    return bytes(48) + (72).to_bytes(2, "little") + bytes(22 + 28) + b"".join(variables) + b"\xff" * room


class Enrolled(unittest.TestCase):
    def test_behind_what_is_there(self):
        before = store(variable("Lang", b"eng"), variable("Timeout", b"\0\0"))
        end = len(before) - 1000
        after = secure_boot.enrol(before, [b"first", b"another"])
        self.assertEqual((after[:end], len(after)), (before[:end], len(before)))
        name, size = "MokList\0".encode("utf-16-le"), 44 + 5 + 44 + 7
        self.assertEqual(after[end:end + 8], b"\xaa\x55\x3f\0\3\0\0\0")
        self.assertEqual((number(after, end + 36), number(after, end + 40)), (len(name), size))
        self.assertEqual(after[end + 44:end + 60 + len(name)], uuid.UUID(SHIM).bytes_le + name)
        lists, found = after[end + 60 + len(name):][:size], []
        while lists:
            length, header, signature = (number(lists, at) for at in (16, 20, 24))
            self.assertEqual((lists[:16], length, header), (uuid.UUID(X509).bytes_le, 28 + signature, 0))
            found.append(lists[44:length])
            lists = lists[length:]
        self.assertEqual(found, [b"first", b"another"])
        self.assertEqual(set(after[end + 60 + len(name) + size:]), {0xff})
        self.assertEqual(secure_boot.enrol(before, []), before)

    def test_a_store_that_is_full(self):
        with self.assertRaisesRegex(cache.Error, "no room for the certificates"):
            secure_boot.enrol(store(room=120) + b"what lies behind it", [b"certificate"])


class Guests(unittest.TestCase):
    def guest(self, *words):
        return options.guest(options.parser().parse_args(words), ("true",))

    def test_keys_are_for_secure_boot(self):
        with self.assertRaisesRegex(cache.Error, "--mok is for --secure-boot"):
            self.guest("--mok", "key")

    def test_another_architecture(self):
        with self.assertRaisesRegex(cache.Error, "no Secure Boot in guests of arm64"):
            secure_boot.qemu_args(self.guest("--arch", "arm64", "--secure-boot"), None, None, "")

    def test_what_is_no_certificate(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"-----BEGIN CERTIFICATE-----")
            file.flush()
            for path in file.name, "/nowhere/key":
                with self.assertRaisesRegex(cache.Error, f"--mok {path}: this is no certificate in DER"):
                    self.guest("--secure-boot", "--mok", path)

    def test_those_with_other_keys_share_no_guest(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\x30")
            file.flush()
            guests = self.guest(), self.guest("--secure-boot"), self.guest("--secure-boot", "--mok", file.name)
        self.assertEqual(len({guest.machine() for guest in guests}), 3)


if __name__ == "__main__":
    unittest.main()
