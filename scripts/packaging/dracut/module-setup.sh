#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For dracut, which calls this after its own modules: an initramfs for this machine gets all that is in /etc/modprobe.d
# and /etc/modules-load.d, and would miss the modules named there at each boot.

check() {
	return 0
}

install() {
	rm -f "${initdir:?}"/etc/modprobe.d/pmu-suite.conf "${initdir:?}"/etc/modules-load.d/pmu-suite.conf
}
