// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-kexec KERNEL INITRAMFS ARGUMENTS: start this kernel now, as "kexec -l" and "kexec -e" do. Nobody is told before,
 * so what is open stays open.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/reboot.h>

int main(int argc, char **argv)
{
	int kernel, root;

	if (argc != 4) {
		fprintf(stderr, "pmu-kexec: KERNEL INITRAMFS ARGUMENTS\n");
		return 2;
	}
	kernel = open(argv[1], O_RDONLY);
	root = open(argv[2], O_RDONLY);
	if (syscall(SYS_kexec_file_load, kernel, root, strlen(argv[3]) + 1, argv[3], 0L) ||
	    syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL))
		fprintf(stderr, "pmu-kexec: %s\n", strerror(errno));
	return 1;
}
