# SPDX-License-Identifier: GPL-2.0-only
"""Take out of a text what tells one machine from another of its kind: names, addresses, serial numbers.

Slots of PCI functions (3f:10.0) stay: they are the same in each machine of a type, and tell channel and socket.
"""
import os
import re

_PATTERNS = (
    (r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "UUID"),
    (r"(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", "MAC"),
    (r"\b(?:\d{1,3}\.){3}\d{1,3}(?:/\d+)?\b", "IP"),
    (r"(?i)(\b(?:serial|s/n|asset|uuid)\b[^:=\n]{0,20}[:=]\s*)\S+", r"\1SERIAL"),
    # Of the kernel, of devices: with as many digits no number of an event.
    (r"(?i)\b(?:0x)?[0-9a-f]{9,16}\b", "ADDRESS"),
)


def scrub(text, names=None):
    """@text without what its owner may not want to show; @names: of the host, what uname says if not given."""
    for name in names if names is not None else host_names():
        text = re.sub(rf"(?i)(?<![\w-]){re.escape(name)}(?![\w-])", "HOST", text)
    for pattern, put in _PATTERNS:
        text = re.sub(pattern, put, text)
    return re.sub(r"(?i)(?<![\w:])[0-9a-f:]*:[0-9a-f]*:[0-9a-f:]*(?!\w)", _version_6, text)


def _version_6(found):
    import ipaddress
    try:
        ipaddress.IPv6Address(found[0])
        return "IP"
    except ValueError:      # a time, a PCI function
        return found[0]


def host_names():
    """The host's name with and without its domain. "localhost" and names of one letter say nothing."""
    name = os.uname().nodename
    return [one for one in dict.fromkeys((name, name.split(".")[0])) if len(one) > 1 and one not in ("localhost",
                                                                                                     "(none)")]
