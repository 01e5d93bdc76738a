# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests of Arm's mesh share, beside what all do. A guest may have several meshes: cmn0, cmn1 in the
# order of its --model options. Their PMUs are numbered as the kernel finds them.
. ./lib.sh

# find_meshes: which PMU is which mesh. It is the one whose DTC is written to when an event of the PMU starts.
# A PMU whose mesh was unbound while somebody counted has no CPU.
find_meshes() {
	for pmu in "$PMUS"/arm_cmn_*; do
		grep -qs . "$pmu/cpumask" || continue
		pmu-model stats 'cmn*' --reset > /dev/null
		pmu-event "${pmu##*/}/type=3/"
		pmu-model stats 'cmn*' | awk -v pmu="${pmu##*/}" '$2 ~ /^dtc_control/ && $4 { print $1, pmu; exit }'
	done > /tmp/meshes
}

# The meshes that have a PMU.
meshes() {
	sort -tn -k2n /tmp/meshes | cut -d' ' -f1
}

# use_mesh cmnN: what follows is about this one: $MODEL, its PMU as $PMU and $MESH, what it has as $LIST.
use_mesh() {
	MODEL=$1 LIST=/tmp/list.$1
	PMU=$(sed -n "s/^$1 //p" /tmp/meshes)
	MESH=$PMUS/$PMU
	[ -n "$PMU" ]
	pmu-model list "$1" > "$LIST"
	rm -f /tmp/wanted /tmp/lines
}

# bound Y|N: is a difference counted (N) that no mesh can have in the time? Tests make 2^47 events at once.
bound() {
	[ ! -e /sys/module/pmu_core ] || echo "$1" > /sys/module/pmu_core/parameters/bound
}
bound Y

# Does the in-tree driver of this kernel know meshes later than CMN-600? That of 5.10 does not, nor draws it a map.
in_tree_knows_all() {
	aliases=/lib/modules/$(uname -r)/modules.alias
	grep -q arm,cmn-600 "$aliases" || { echo "there is no in-tree driver"; exit 1; }
	grep -q arm,cmn-700 "$aliases"
}

load_ours() {
	insmod /vm/modules.d/pmu_core.ko
	insmod /vm/modules.d/cmn_pmu.ko
}

unload_ours() {
	rmmod cmn_pmu
	rmmod pmu_core
}

# Ids of the nodes of some types, in the order of the list: nodes TYPE...
nodes() {
	for type; do
		sed -n "s/^node $type \(0x[0-9a-f]*\) .*/\1/p" "$LIST"
	done
}

# Lines of the second file that are in the first, or are not: both FILE FILE, lacking FILE FILE. With hundreds of
# lines "grep -f" compares each with each.
both() {
	awk 'NR == FNR { first[$0]; next } $0 in first' "$1" "$2"
}

lacking() {
	awk 'NR == FNR { first[$0]; next } !($0 in first)' "$1" "$2"
}

# A doubleword of the mesh, which is not accessed for it: word OFFSET
word() {
	echo "set $MODEL address $(($1))
get $MODEL word" | pmu-model -
}

# Count one event after the other, and only then say which counted something else:
# expect 'COUNT COUNT...' EVENT... -- 'COMMAND[; COMMAND]...', those of pmu-model
expect() {
	wanted=$1 line=''
	shift
	while [ "$1" != -- ]; do
		line="$line $PMU/$1/"
		shift
	done
	echo "$wanted" >> /tmp/wanted
	# shellcheck disable=SC2086 # commands may be in several lines
	echo "$line -- @model" $2 >> /tmp/lines
}

# counted: what was expected since the mesh was chosen; if counts may lack multiples of $LOST, but for these
counted() {
	pmu-event --lines < /tmp/lines > /tmp/got
	paste /tmp/wanted /tmp/got /tmp/lines |
		awk -F'\t' -v lost="${LOST:-0}" '{
			n = split($1, wanted, " ")
			wrong = split($2, got, " ") != n
			for (i = 1; i <= n; i++)
				wrong += lost ? (wanted[i] - got[i]) % lost != 0 : wanted[i] != got[i]
			sub(/ -- .*/, "", $3)
		} wrong { print $3 ": got " $2 ", wanted " $1; bad = 1 } END { exit bad }'
	rm /tmp/wanted /tmp/lines
}
