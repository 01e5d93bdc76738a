# SPDX-License-Identifier: GPL-2.0-only
"""Files that are written, and text from files that others wrote."""
import os
import re
from pathlib import Path


def replace(path, text):
    """Write @path in one go: who reads it has the old text or the new one."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file():        # /dev/null, a pipe: no file may take its place
            path.write_text(text, encoding="utf-8")
            return
        target = Path(os.path.realpath(path))           # a link stays one
        partial = target.with_name(f".{target.name}.{os.getpid()}")     # node_exporter takes *.prom alone
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:        # of a full disk Python names no file
        raise OSError(error.errno, error.strerror, str(path)) from error


def printable(value):
    """@value, as JSON has it, with "?" for what a terminal would take for a command, and for bytes of a name that are no text."""
    if isinstance(value, str):
        return re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "?", value)
    if isinstance(value, list):
        return [printable(one) for one in value]
    if isinstance(value, dict):
        return {printable(key): printable(one) for key, one in value.items()}
    return value
