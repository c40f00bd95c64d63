#!/bin/sh
# Any language, by the command line alone: the recorder runs the job, the job marks its phases with
# `resource-tracker mark`, and the output is text that every language reads.
#
#	examples/any_language.sh FOLDER        writes numbers, run.jsonl and run.csv there, prints what each phase used
#
# The job is this script, run again with the argument "job"; awk stands for the language of your choice.
set -e
tracker=${TRACKER:-resource-tracker}

phase() { # NAME COMMAND ARG...: runs the command as a phase of the job; unrecorded, just the command
	name=$1
	shift
	"$tracker" mark "$name" start
	"$@"
	"$tracker" mark "$name" stop
}

if [ "$1" = job ]; then
	phase generate awk 'BEGIN { srand(1); for (i = 0; i < 200000; i++) print rand() > "numbers" }'
	phase sort sort -g -o numbers numbers
	exit
fi

script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
cd "${1:-.}"
"$tracker" -i 0.02 --no-summary -o run.jsonl -o run.csv -- sh "$script" job

# The CSV has a header: find columns by their names.
awk -F , '
	NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{ memory = $column["process_memory_mib"]; if (memory > most) most = memory
	  seconds += $column["process_utime"] + $column["process_stime"] }
	END { printf "%d samples, %.2f s of CPU time, at most %d MiB\n", NR - 1, seconds, most }' run.csv

# Prints a table of the use of each phase; add --json for programs.
if [ -z "$NO_ANALYSIS" ]; then
	"$tracker" regions run.jsonl
fi
