# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Every access of a driver is the last one, or goes wrong: a life of a device is lived again and again, each time with a
# fault at another access. A file that sources this has
#
#   DEVICE, WANTED		the model, and what life prints where all is well
#   appear, leave		the driver takes the device, lets go of it
#   life			prints counts, a line each, "error", or a sentence or errno if nothing can be opened
#   ORDINARY			a regular expression of what the log says where all is well
#   LAST			how many of the counts are of the last read, a moment behind the others
#   BEGIN			"probe" or "open": from where on there are faults
#
# SLEEP is a command that suspends the devices and resumes them, and ASLEEP what the log says of that.
#
# A count is as wanted, or refused, or the log has a word about it; what is refused is counted again when the fault is
# over. SEED, and LIVES of each kind of fault, may be in the environment.
SEED=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
LIVES=${LIVES:-$((3 * ${SIZE:-1}))}

SLEEP='echo devices > /sys/power/pm_test; echo freeze > /sys/power/state; echo none > /sys/power/pm_test'
export SLEEP ASLEEP='PM: |Filesystems sync|Freezing |OOM killer|Restarting tasks|Suspending console|crng reseeded'
# The kernel waits so many seconds when it tests that.
[ ! -e /sys/power/pm_test ] || echo 0 > /sys/module/suspend/parameters/pm_test_delay

# A number from 1 to N, as "drawn": draw N
draw() {
	SEED=$(((SEED * 1103515245 + 12345) & 0x7fffffff))
	drawn=$(((SEED >> 8) % $1 + 1))
}

# One life, with commands for the model before it, or before the first open: sets "got", "said"
live() {
	printf '%s\n' "set $DEVICE last 0" "set $DEVICE odd 0" | pmu-model -
	dmesg -c > /dev/null
	[ "$BEGIN" = open ] || printf '%s\n' "set $DEVICE accesses 0" "$@" | pmu-model -
	appear 2> /tmp/appeared || echo "it did not appear" >> /tmp/appeared
	[ "$BEGIN" = probe ] || printf '%s\n' "set $DEVICE accesses 0" "$@" | pmu-model -
	got=$(life 2>&1 | tr '\n' ' ')
	# What a session was like is told a little behind its end.
	[ "$got" = "$WANTED" ] || sleep 0.5
	leave 2> /dev/null || :
	said=$(dmesg -c | grep -Ev "$ORDINARY" | cut -c1-200 || :)
}

# What became of the counts: exact, at the end; refused; told; or wrong
judge() {
	[ "$got" = "$WANTED" ] && { echo exact; return; }
	[ -n "$said" ] && { echo told; return; }
	# Nothing was said. So the driver has to have taken the device, no count was ever too high, and the last ones are
	# right, or errors: an event whose device has gone is in error state a moment later.
	grep -q 'did not appear' /tmp/appeared && { echo wrong; return; }
	echo "$WANTED/$got" | awk -F/ -v LAST="$LAST" '{
		n = split($1, wanted, " ")
		if (split($2, got, " ") < n) { print "refused"; exit }
		verdict = "exact"
		for (i = 1; i <= n; i++) {
			if (got[i] !~ /^[0-9]+$/)
				verdict = "refused"
			else if (got[i] > wanted[i] + 0 || (i > n - LAST && got[i] != wanted[i])) {
				print "wrong"; exit
			}
		}
		print verdict
	}'
}

# The fault at one access: fault KIND N
fault() {
	case $1 in
	last) echo "set $DEVICE last $2" ;;
	zeroes) echo "set $DEVICE odd_as 0
set $DEVICE odd $2" ;;
	ones) echo "set $DEVICE odd_as 1
set $DEVICE odd $2" ;;
	bit) draw 64; echo "set $DEVICE odd_as $((drawn + 1))
set $DEVICE odd $2" ;;
	esac
}

# A life with each fault at each access, or at one in each of LIVES parts of the life: lives LEAST KIND...
lives() {
	least=$1
	shift
	live
	equal "a life, of which was said: $said" "$got" "$WANTED"
	accesses=$(pmu-model get "$DEVICE" accesses)
	within "accesses in a life" "$accesses" "$least" 1000000
	for kind; do
		first=$SEED
		parts=$LIVES
		[ "$accesses" -gt "$parts" ] || parts=$accesses
		within "faults" "$parts" 1 1000000
		: > /tmp/verdicts
		for part in $(seq 0 $((parts - 1))); do
			from=$((accesses * part / parts)) to=$((accesses * (part + 1) / parts))
			draw $((to - from))
			n=$((from + drawn))
			fault "$kind" $n > /tmp/fault
			live "$(cat /tmp/fault)"
			verdict=$(judge)
			echo "$verdict" >> /tmp/verdicts
			if [ $verdict = wrong ]; then
				echo "$kind at access $n ($(tr '\n' ' ' < /tmp/fault)): $got, and no word: $(cat /tmp/appeared)"
			fi
			[ $verdict = exact ] && continue
			live
			equal "after $kind at access $n, of which was said: $said" "$got" "$WANTED"
		done
		pmu-model set "$DEVICE" last 0
		pmu-model set "$DEVICE" odd 0
		show "$kind: at $parts of $accesses accesses (seed $first): $(sort /tmp/verdicts | uniq -c | tr -s ' \n' ' ')"
		grep -q wrong /tmp/verdicts && bad=1
	done
	[ -z "${bad:-}" ]
}
