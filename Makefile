# SPDX-License-Identifier: GPL-2.0-only
#
# For people; what is built is in Kbuild.
#
#   make                       the modules, for the running kernel
#   make KDIR=/path/to/build   for another kernel (ARCH= and CROSS_COMPILE= as in the kernel)
#   make KUNIT=1               the KUnit suites, too, and modules that let them in
#   make demo                  one command from a fresh Debian 12 or 13 machine to perf stat
#   make test                  what each change must pass; make help lists the rest
#   make install               what was built, for that kernel; make dkms-install: for every one

ifneq ($(words $(CURDIR))$(findstring :,$(CURDIR)),1)
$(error The kernel's build takes no directory with a space or a colon in its name: move "$(CURDIR)")
endif

ifeq ($(origin KDIR),undefined)
KDIR := /lib/modules/$(shell uname -r)/build
no_headers := install them (Debian, Ubuntu: linux-headers-$(shell uname -r); Fedora, RHEL: kernel-devel-$(shell uname -r)), \
	or name another kernel's build directory with KDIR=
else
no_headers := KDIR= has to name a kernel's build directory, such as /lib/modules/RELEASE/build
endif

# Type information for BPF is made by pahole; the modules work without it, so a machine
# that lacks the tool can still build them.
nobtf := $(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)

kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR) $(nobtf)

.DEFAULT_GOAL := modules

modules modules_install: headers
	+$(kbuild) $@

.PHONY: headers
headers:
	@test -f $(KDIR)/Makefile || { echo "No kernel headers in $(KDIR): $(no_headers)" >&2; exit 1; }
	@test -w . || { echo "Cannot write to $(CURDIR), where the modules are built: make a copy that you can write to" >&2; exit 1; }

# Without a kernel, whose headers need not be there.
clean:
	@find . \( -path ./.git -o -path ./dist \) -prune -o -type f \( -name '*.o' -o -name '*.ko' \
		-o -name '*.mod' -o -name '*.mod.c' -o -name '*.cmd' -o -name '.*.d' -o -name modules.order \
		-o -name Module.symvers -o -name pmu_conftest.h -o -name pmu-check.pyz -o -path './tools/*.1' \) \
		-exec rm -f {} +

# Installing: Documentation/install.md. DESTDIR is the root of all files, INSTALL_MOD_PATH that of modules.
PREFIX ?= /usr/local
INSTALL_MOD_PATH ?= $(DESTDIR)
packaging := scripts/packaging
version = $(shell sed -n 's/^.define PMU_SUITE_VERSION "\(.*\)"$$/\1/p' include/pmu/version.h)
with_version = sed 's/\#MODULE_VERSION\#/$(version)/'
release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"$$/\1/p' $(KDIR)/include/generated/utsrelease.h)
built = $$(sed 's/[.]o$$/.ko/' modules.order)
# Not by kbuild, which would sign with the key of who built the kernel.
module_dir = $(INSTALL_MOD_PATH)/lib/modules/$(release)/updates/pmu-suite

install: modules install-driver
	@install -d $(module_dir)
	install -m 644 $(built) $(module_dir)
	@$(packaging)/depmod "$(INSTALL_MOD_PATH)" $(release)

# For every kernel that has them.
uninstall: uninstall-driver
	@for directory in $(INSTALL_MOD_PATH)/lib/modules/*/updates/pmu-suite; do \
		test -d $$directory || continue; echo "rm -r $$directory"; rm -r $$directory; \
		updates=$${directory%/*}; rmdir --ignore-fail-on-non-empty $$updates; \
		release=$${updates%/*}; $(packaging)/depmod "$(INSTALL_MOD_PATH)" $${release##*/}; done

# The command that says who drives at boot: installing does not. An initramfs of dracut is to have nothing of the suite.
dracut_conf = $(DESTDIR)/usr/lib/dracut/dracut.conf.d/50-pmu-suite.conf
dracut_module = $(DESTDIR)/usr/lib/dracut/modules.d/99pmu-suite

install-driver:
	@install -D -m 644 $(packaging)/dracut/50-pmu-suite.conf $(dracut_conf)
	@install -D -m 755 $(packaging)/dracut/module-setup.sh $(dracut_module)/module-setup.sh
	@install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/share/man/man8
	@$(with_version) $(packaging)/pmu-driver > $(DESTDIR)$(PREFIX)/sbin/pmu-driver
	@chmod 755 $(DESTDIR)$(PREFIX)/sbin/pmu-driver
	@install -m 644 $(packaging)/pmu-driver.8 $(DESTDIR)$(PREFIX)/share/man/man8/

# What it gave us is given back. A package's files stay.
driver_files = $(DESTDIR)$(PREFIX)/sbin/pmu-driver $(DESTDIR)$(PREFIX)/share/man/man8/pmu-driver.8 \
	$(dracut_conf) $(dracut_module)/module-setup.sh
# rpm makes a database where it finds none.
is_packaged = { dpkg -S $(1) || { [ "$$(ls -A "$$(rpm -E '%{_dbpath}')")" ] && rpm -qf $(1); }; } > /dev/null 2>&1

uninstall-driver:
	$(if $(DESTDIR),,@driver=$(PREFIX)/sbin/pmu-driver; test ! -x $$driver || $(call is_packaged,$$driver) || $$driver in-tree)
	@for file in $(driver_files); do $(if $(DESTDIR),,$(call is_packaged,$$file) ||) rm -f $$file || exit; done
	@rmdir -p --ignore-fail-on-non-empty $(dir $(dracut_conf)) $(dracut_module) 2> /dev/null || :

# The programs of tools/, which stand alone, with their pages.
tools_dir = $(DESTDIR)$(PREFIX)/share/pmu-suite
tools_unit = $(DESTDIR)$(PREFIX)/lib/systemd/system/pmu-top.service
programs := $(notdir $(wildcard tools/pmu-*[a-z]))
library := $(wildcard $(addprefix tools/pmutools/,*.py */*.py */*.c */*.json) tools/prometheus/*)

# A package's programs are its own, whatever PREFIX says.
tools_are_packaged = $(if $(DESTDIR),,@! $(call is_packaged,$(tools_dir)/pmu-top) || { \
	echo "$(tools_dir) is of a package: remove pmu-suite-tools first, or name another PREFIX=" >&2; exit 1; })

install-tools:
	$(tools_are_packaged)
	@install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	@umask 022; $(MAKE) --no-print-directory man MANDIR=$(DESTDIR)$(PREFIX)/share/man/man1
	@rm -rf $(tools_dir)
	@for file in $(library); do install -D -m 644 $$file $(tools_dir)/$${file#tools/} || exit; done
	@for program in $(programs); do install tools/$$program $(tools_dir)/ && \
		ln -sf ../share/pmu-suite/$$program $(DESTDIR)$(PREFIX)/bin/ || exit; done
	@install -d $(dir $(tools_unit))
	@sed 's,@PREFIX@,$(PREFIX),' $(packaging)/pmu-top.service > $(tools_unit)
	@chmod 644 $(tools_unit)

uninstall-tools:
	$(tools_are_packaged)
	$(if $(DESTDIR),,@test "$$(systemctl show -p FragmentPath --value pmu-top.service 2> /dev/null)" != $(tools_unit) || \
		systemctl disable --now pmu-top.service)
	@rm -rf $(tools_dir) $(tools_unit) $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(programs)) \
		$(patsubst %,$(DESTDIR)$(PREFIX)/share/man/man1/%.1,$(programs))

# pmu-check as one file, for a machine that has nothing but Python.
alone := tools/pmu-check $(filter-out %/metrics.py,$(wildcard tools/pmutools/*.py tools/pmutools/check/*.[cp]*)) \
	$(addprefix tools/pmutools/top/,__init__.py icelake.py places.py rapids.py)

pmu-check.pyz: $(alone)
	@stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && for file in $^; do \
		install -D -m 644 $$file $$stage/all/$${file#tools/} || exit; done && mv $$stage/all/pmu-check $$stage/all/__main__.py && \
		python3 -m zipapp -p '/usr/bin/env python3' $$stage/all && install $$stage/all.pyz $@

# What DKMS needs to build, and no more.
dkms_dir = $(DESTDIR)/usr/src/pmu-suite-$(version)
dkms_files = Kbuild Makefile scripts/conftest.sh $(sort $(wildcard $(addprefix drivers/*/,Kbuild *.c *.h) include/*/*.h))

dkms-source:
	@rm -rf $(dkms_dir)
	@for file in $(dkms_files); do install -D -m 644 $$file $(dkms_dir)/$$file || exit; done
	@$(with_version) $(packaging)/dkms.conf > $(dkms_dir)/dkms.conf
	@chmod 644 $(dkms_dir)/dkms.conf

# What packages have DKMS build with.
dkms-builder:
	@install -D -m 755 $(packaging)/dkms-build $(DESTDIR)/usr/lib/pmu-suite/dkms-build

# For Debian's kernel packages.
dkms_hooks = $(addprefix $(DESTDIR)/etc/kernel/,header_postinst.d/pmu-suite postinst.d/pmu-suite)
dkms-hooks: dkms-builder
	@for hook in $(dkms_hooks); do install -D -m 755 $(packaging)/dkms-hook $$hook && \
		$(with_version) -i $$hook || exit; done

# For every kernel that is installed now or later; another version goes.
dkms-install:
	@command -v dkms > /dev/null || { echo "There is no dkms: install the package dkms" >&2; exit 1; }
	@$(packaging)/dkms-remove
	@$(MAKE) --no-print-directory dkms-source install-driver $(if $(wildcard /etc/kernel/header_postinst.d),dkms-hooks)
	@$(packaging)/dkms-build pmu-suite/$(version)

# Refused where a package has these files, so first.
dkms-uninstall:
	@$(packaging)/dkms-remove
	@$(MAKE) --no-print-directory uninstall-driver

# By a key of one's own, as kernel and machine have to know it: KEY= CERT=. Without: DKMS's.
KEY ?= /var/lib/dkms/mok.key
CERT ?= /var/lib/dkms/mok.pub
sign: headers
	@test -r $(KEY) -a -r $(CERT) || { echo "No key: name it with KEY= and its certificate with CERT=" >&2; exit 1; }
	@for module in $(built); do \
		echo "  SIGN    $$module"; $(KDIR)/scripts/sign-file sha256 $(KEY) $(CERT) $$module || exit; done

# Into dist/: from what is committed, or of a tarball from what it has.
dist deb rpm:
	@$(packaging)/$@

# The same three of a tree that is ready, twice and with checksums, in dist/VERSION.
release:
	@$(packaging)/release "$(VERSION)"

# What needs guests prepares the host first: scripts/setup installs what is missing.
demo:
	@scripts/setup start
	@scripts/demo

test:
	@scripts/setup test
	@scripts/test $(TESTFLAGS)

test-all:
	@scripts/setup all
	@scripts/test --all $(TESTFLAGS)

test-kernels:
	@scripts/setup all
	@scripts/test $(TESTFLAGS) kernels

soak:
	@scripts/setup all
	@scripts/test $(TESTFLAGS) soak

hostile:
	@scripts/setup all
	@scripts/test $(TESTFLAGS) $(if $(HOURS),--hours $(HOURS)) $(if $(SEED),--seed $(SEED)) $(if $(SIZE),--size $(SIZE)) 'hostile/*'

coverage:
	@scripts/setup coverage
	@scripts/coverage --begin --html dist/coverage

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
	@scripts/setup all
	@scripts/test $(TESTFLAGS) mutations

bench:
	@scripts/setup demo
	@scripts/bench

# Pages of the programs in tools/, made of their own help.
MANDIR ?= tools
help2man = PYTHONDONTWRITEBYTECODE=1 help2man --no-info --section=1
man:
	@command -v help2man > /dev/null || { echo "The pages need help2man: install the package of that name" >&2; exit 1; }
	@$(help2man) --name='what memory controllers, meshes and nests do, live' \
		--output=$(MANDIR)/pmu-top.1 tools/pmu-top
	@$(help2man) --name='see whether counters outside of the cores do what they should' \
		--output=$(MANDIR)/pmu-check.1 tools/pmu-check

help:
	@echo 'make                 build the modules for the running kernel (KDIR=, ARCH=, CROSS_COMPILE=)'
	@echo 'make KUNIT=1         with the KUnit suites (Documentation/testing.md)'
	@echo 'make sign            sign them (KEY=, CERT=)'
	@echo 'make install         install them for that kernel, and pmu-driver (DESTDIR=, PREFIX=, INSTALL_MOD_PATH=)'
	@echo 'make dkms-install    have DKMS build and install them for every kernel'
	@echo 'make install-tools   install the programs of tools/ and their pages (DESTDIR=, PREFIX=)'
	@echo 'make pmu-check.pyz   pmu-check as one file, for any machine with Python 3.6 or newer'
	@echo 'make uninstall, uninstall-tools, dkms-uninstall     remove what these installed'
	@echo 'make deb, rpm, dist  packages and a tarball, in dist/'
	@echo 'make release         is the tree ready? its tarball and packages, each byte the same again (VERSION=)'
	@echo 'make clean           remove what was built'
	@echo 'make demo            perf on a modelled Xeon, POWER9 and Arm mesh, from nothing'
	@echo 'make test            static checks, models, KUnit, end-to-end tests (TESTFLAGS= for scripts/test)'
	@echo 'make test-all        also debug kernels, 6.1, packages, pages, kexec, and all other tests of these'
	@echo 'make test-kernels    the same guests on other kernels from 5.10 to the newest, and those of the in-tree driver'
	@echo 'make soak            long runs, and tests that watch the clock: for a host with nothing else to do'
	@echo 'make hostile         what can fail is made to, and random calls and programs, on the debug kernel (HOURS=, SEED=, SIZE=)'
	@echo 'make coverage        which lines of the drivers the tests reach: a table, and pages in dist/coverage'
	@echo 'make check           static checks alone: warnings, sparse, checkpatch'
	@echo 'make docs            the documentation as HTML, in Documentation/html'
	@echo 'make mutate          breaks the suite on purpose, and sees that tests notice'
	@echo 'make bench           what operations cost, ours beside the in-tree driver'
	@echo 'make man             tools/*.1, made of the help of the programs in tools/ (needs help2man)'
	@echo 'scripts/vm --help    a guest with the models, for anything else'

.PHONY: modules modules_install clean install uninstall install-driver uninstall-driver install-tools uninstall-tools
.PHONY: dkms-source dkms-builder dkms-hooks dkms-install dkms-uninstall sign dist deb rpm release
.PHONY: man demo test test-all test-kernels soak hostile coverage check docs html mutate bench help
