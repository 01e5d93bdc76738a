# SPDX-License-Identifier: GPL-2.0-only
#
# For people; what is built is in Kbuild.
#
#   make                       the modules, for the running kernel
#   make KDIR=/path/to/build   for another kernel (ARCH= and CROSS_COMPILE= as in the kernel)
#   make KUNIT=1               the KUnit suites, too, and modules that let them in
#   make demo                  one command from a fresh Debian 12 or 13 machine to perf stat
#   make test                  every test; make help lists the rest

KDIR ?= /lib/modules/$(shell uname -r)/build

# Type information for BPF is made by pahole; the modules work without it, so a machine
# that lacks the tool can still build them.
nobtf := $(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)

kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR) $(nobtf)

.DEFAULT_GOAL := modules

modules modules_install: headers
	+$(kbuild) $@

.PHONY: headers
headers:
	@test -f $(KDIR)/Makefile || { \
		echo "No kernel headers in $(KDIR): install linux-headers-$$(uname -r), or name another kernel's build directory with KDIR=" >&2; \
		exit 1; }

clean: headers
	+$(kbuild) clean

# What needs guests prepares the host first: scripts/setup installs what is missing.
demo:
	@scripts/setup demo
	@scripts/demo

test:
	@scripts/setup test
	@scripts/test $(TESTFLAGS)

test-kernels:
	@scripts/setup kernels
	@scripts/test $(TESTFLAGS) kernels

soak:
	@scripts/setup test
	@scripts/test $(TESTFLAGS) soak

check:
	@scripts/setup test
	@scripts/check

docs:
	@scripts/setup docs
	@$(MAKE) --no-print-directory html
	@echo "The pages are in $(HTML)/Documentation/index.html"

# What docs does, for a host that has Sphinx.
HTML ?= Documentation/html
html:
	@sphinx-build -q -W --keep-going -d $(HTML)/.doctrees -c Documentation . $(HTML)

mutate:
	@scripts/setup test
	@scripts/mutate

bench:
	@scripts/setup demo
	@scripts/bench

# Pages of the programs in tools/, made of their own help.
MANDIR ?= tools
man:
	@help2man --no-info --section=1 --name='what memory controllers, meshes and nests do, live' \
		--output=$(MANDIR)/pmu-top.1 tools/pmu-top
	@help2man --no-info --section=1 --name='see whether counters outside of the cores do what they should' \
		--output=$(MANDIR)/pmu-check.1 tools/pmu-check

help:
	@echo 'make                 build the modules for the running kernel (KDIR=, ARCH=, CROSS_COMPILE=)'
	@echo 'make KUNIT=1         with the KUnit suites, for a kernel that has KUnit'
	@echo 'make modules_install install them'
	@echo 'make clean           remove what was built'
	@echo 'make demo            perf on a modelled Xeon, POWER9 and Arm mesh, from nothing'
	@echo 'make test            static checks, models, KUnit, end-to-end tests (TESTFLAGS= for scripts/test)'
	@echo 'make test-kernels    the same guests on the oldest and the newest kernel that Debian has'
	@echo 'make soak            long runs, and tests that watch the clock: for a host with nothing else to do'
	@echo 'make check           static checks alone: warnings, sparse, checkpatch'
	@echo 'make docs            the documentation as HTML, in Documentation/html'
	@echo 'make mutate          breaks the suite on purpose, and sees that tests notice'
	@echo 'make bench           what operations cost, ours beside the in-tree driver'
	@echo 'make man             tools/*.1, made of the help of the programs in tools/ (needs help2man)'
	@echo 'scripts/vm --help    a guest with the models, for anything else'

.PHONY: modules modules_install clean man demo test test-kernels soak check docs html mutate bench help
