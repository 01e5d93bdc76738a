/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guests' programs that load BPF programs share: maps of one array, and instructions.
 */
#ifndef PMU_BPF_H
#define PMU_BPF_H

#include <linux/bpf.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSN(OP, DST, SRC, OFF, IMM) \
	((struct bpf_insn){ .code = (OP), .dst_reg = (DST), .src_reg = (SRC), .off = (OFF), .imm = (IMM) })

/* DST = the map whose file descriptor is FD: two instructions */
#define INSN_MAP(DST, FD) \
	INSN(BPF_LD | BPF_DW | BPF_IMM, DST, BPF_PSEUDO_MAP_FD, 0, FD), INSN(0, 0, 0, 0, 0)

static inline int bpf_call(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A map with @entries values of @size bytes, from 0 on; or -1, as all of these with errno. */
static inline int bpf_map(int type, int size, int entries)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = 4, .value_size = size, .max_entries = entries,
	};

	return bpf_call(BPF_MAP_CREATE, &attr);
}

static inline int bpf_map_get(int map, uint32_t key, void *value)
{
	union bpf_attr attr = {
		.map_fd = map, .key = (uintptr_t)&key, .value = (uintptr_t)value,
	};

	return bpf_call(BPF_MAP_LOOKUP_ELEM, &attr);
}

static inline int bpf_map_set(int map, uint32_t key, const void *value)
{
	union bpf_attr attr = {
		.map_fd = map, .key = (uintptr_t)&key, .value = (uintptr_t)value,
	};

	return bpf_call(BPF_MAP_UPDATE_ELEM, &attr);
}

static inline int bpf_load(int type, const struct bpf_insn *insns, int n)
{
	union bpf_attr attr = {
		.prog_type = type, .insns = (uintptr_t)insns, .insn_cnt = n, .license = (uintptr_t)"GPL",
	};

	return bpf_call(BPF_PROG_LOAD, &attr);
}

#endif /* PMU_BPF_H */
