# SPDX-License-Identifier: GPL-2.0-only
"""Any kernel for guests, by the name of its series: one of Debian's, or the debug kernel."""
from . import debug_kernel, kernel
from .cache import Error, Lost


def get(arch, series):
    if (series, arch.name) in kernel.NOWHERE:
        raise Lost(f"there is no kernel {series} for {arch.name}: {kernel.NOWHERE[series, arch.name]}")
    if series in (*kernel.STOCK, kernel.CLOUD, *kernel.OTHERS):
        return kernel.stock(arch, series)
    if series == "kunit":
        return debug_kernel.get(arch)
    raise Error(f"unknown kernel {series}; there is {', '.join((*kernel.STOCK, kernel.CLOUD, *kernel.OTHERS))} and kunit")
