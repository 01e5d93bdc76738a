# SPDX-License-Identifier: GPL-2.0-only
"""Roots of Debian: how they are made."""
import os
import tempfile
import unittest
from unittest import mock

from pmusuite import roots


class Proxies(unittest.TestCase):
    def proxies(self, text):
        with tempfile.NamedTemporaryFile("w") as config:
            config.write(text)
            config.flush()
            with mock.patch.dict(os.environ, APT_CONFIG=config.name):
                return roots.proxies()

    def test_the_proxy_of_the_host_is_the_root_s(self):
        """A host that reaches a mirror only by apt's proxy."""
        found = self.proxies('Acquire::http::Proxy "http://cache:3142";\nAcquire::http::Proxy::here "DIRECT";\nAcquire::Retries "3";\n')
        self.assertIn('--aptopt=Acquire::http::Proxy "http://cache:3142";', found)
        self.assertIn('--aptopt=Acquire::http::Proxy::here "DIRECT";', found)
        self.assertFalse([option for option in found if "Retries" in option])
