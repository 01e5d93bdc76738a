# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# A campaign: each case_* of a file, which counts something, is done for each answer that hardware may have for an open
# question. What becomes of the counts is
#
#	exact	as it should be; with STRICT=yes the log has none of the words of rows that are told. Without, it may have them
#		whatever the answer, since the driver cannot know it
#	refused	an event that cannot be right does not open, or the device has no PMU
#	told	wrong, and the kernel's log says so: "told: WORDS of the line"
#	silent	wrong without a word
#
# The answers are rows "# number | answer | commands | ours | in-tree" of the file: commands are "[DEVICE] KEY VALUE" of the model's
# devices, before the driver is loaded; none is what the drivers assume, "not run" what no model can answer. A case that this
# driver has not exact there, or cannot count, says nothing of the other rows. A row is not run with a driver of which it
# says "not run".
#
# A file that sources this has load and unload, and as_at_first, which ends what an answer began.

# exactly COUNTS ARGUMENT...: of pmu-event
exactly() {
	wanted=$1
	shift
	same "$(pmu-event "$@" 2>&1 | tr '\n' ' ' | sed 's/ *$//')" "$wanted"
}

# same GOT WANTED: what a case has counted
same() {
	case $1 in
	"$2") echo exact ;;
	E[A-Z]* | *'no such PMU'*) echo "refused ($1)" ;;
	*) echo "wrong: $1, not $2" ;;
	esac >> /tmp/case
}

# cases: the worst of all cases that count, and what is in the log
cases() {
	: > /tmp/found
	sed -n 's/^\(case_[a-z0-9_]*\)() {$/\1/p' "$0" | grep -vxf /tmp/unfit | while read -r case; do
		: > /tmp/case
		("$case") < /dev/null || echo "wrong: it failed" >> /tmp/case
		sed "s/^/$case: /" /tmp/case >> /tmp/found
	done
}

# verdict WANTED: of /tmp/found and the log
verdict() {
	if grep -q ': wrong' /tmp/found; then
		case $1 in
		told:*) if log_since_mark | grep -F "${1#told: }"; then echo told; else echo silent; fi ;;
		*) echo silent ;;
		esac
	elif grep -q ': refused' /tmp/found; then
		echo refused
	elif [ "${STRICT-},$1" = yes,exact ] && log_since_mark | grep -Ff /tmp/words; then
		echo "told for nothing"
	else
		echo exact
	fi
}

# row COMMANDS WANTED: what becomes of counts there
row() {
	unload 2> /dev/null
	as_at_first
	echo "$1" | tr ';' '\n' | awk -v devices="$DEVICES" 'NF == 2 { print "set", devices, $0 } NF == 3 { print "set", $0 }' | pmu-model -
	log_mark
	if load; then
		cases
		verdict "$2"
	else
		echo "all: refused" > /tmp/found
		echo refused
	fi
	as_at_first
}

# answers DRIVER DEVICES: each row, against what it says of the driver, "ours" or "in-tree". The rows are about these devices
# of the model.
answers() {
	DRIVER=$1 DEVICES=$2
	set +e		# a case that fails is one more count that is wrong
	: > /tmp/unfit
	number=0 failed=0
	sed -n '/| not run |/d; s/^# \([0-9]*[.][0-9]* |\)/\1/p' "$0" > /tmp/rows
	sed -n 's/.*| told: \([^|]*[^| ]\) |.*/\1/p' /tmp/rows > /tmp/words
	while IFS='|' read -r question answer commands ours in_tree; do
		number=$((number + 1))
		[ "$DRIVER" = ours ] && wanted=$ours || wanted=$in_tree
		wanted=$(echo "$wanted" | sed 's/^ *//; s/ *$//')
		[ "$wanted" != 'not run' ] || continue
		row "$(echo "$commands" | sed 's/^ *-* *$//')" "$wanted" > /tmp/verdict
		got=$(tail -n 1 /tmp/verdict)
		# What the drivers assume is the first row: the cases that are wrong there say nothing of this driver.
		[ $number != 1 ] || sed -n 's/^\(case_[a-z0-9_]*\): [^e].*/\1/p' /tmp/found | sort -u > /tmp/unfit
		# Cases that are refused there are so with each answer, and not run.
		[ $number != 1 ] || always=$(sed -n 's/^\(case_[a-z0-9_]*\): refused.*/\1/p' /tmp/found)
		case $number,$DRIVER,$got,$wanted,$always in 1,in-tree,* | 1,*,refused,*,case_*) got=exact ;; *,exact,'refused: always',case_*) got=refused ;; esac
		show "$(echo "$question" | tr -d ' '):$answer: $got"
		# Some counts are wrong only if something happens at a certain moment. Ours is silent only where that is not so.
		case $DRIVER,$got,$wanted in *,"${wanted%%:*},"* | *,exact,told* | in-tree,exact,silent) continue ;; esac
		echo "wanted: $wanted"
		sed '$d' /tmp/verdict
		grep -v ': exact' /tmp/found
		failed=$((failed + 1))
	done < /tmp/rows
	[ ! -s /tmp/unfit ] || show "left out: $(xargs < /tmp/unfit)"
	[ $failed = 0 ]
}
