/* The table of programs, and of the processes that run them. programs.h says how it is filled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/cpu/process_account.h"
#include "job/failures/failures.h"
#include "job/programs/program_listener.h"
#include "job/programs/program_name.h"
#include "job/programs/program_names.h"
#include "job/programs/program_tuning.h"
#include "job/programs/root_waiter.h"

/* CPU time is published in these units, so that rounded values add up to the rounded total. */
#define PROGRAM_CPU_UNIT_NS INT64_C(100000)

enum { PROGRAM_IO_COUNT = USAGE_COUNT - USAGE_READ_BYTES };
_Static_assert((int)PROGRAM_IO_COUNT == (int)TASKSTATS_IO, "records have the same amounts");

/* The CPU time of ended processes whose time is known, and how long they lived. */
struct known_use {
	int64_t cpu_ns, life_ns;
};

/* Its ended processes whose names were read, and how long they lived. */
struct named_ends {
	size_t parent; /* the program that forked the last one */
	int64_t count, life_ns;
};

struct program {
	char name[PROGRAM_NAME_BYTES + 32];
	int64_t cpu_units;                      /* published; never goes down */
	int64_t estimated_units;                /* the part of it that is estimated */
	int64_t io[PROGRAM_IO_COUNT];           /* published, from USAGE_READ_BYTES on */
	int64_t io_estimated[PROGRAM_IO_COUNT]; /* the part of it that is estimated */
	int64_t exited_count;
	bool is_unseen; /* some of its processes came and went without an event: exited_count lacks these */

	/* Within the account. */
	int64_t credited_ns;    /* known to be its: by clocks and exit records */
	int64_t unpublished_ns; /* known to be its, but not published; negative: published too early */
	int64_t grown_ns;       /* of its living processes in this pass */
	int64_t io_grown[PROGRAM_IO_COUNT];  /* known to be its since the last pass */
	int64_t io_late[PROGRAM_IO_COUNT];   /* the same, but the totals had not grown by as much yet */
	int64_t io_reaped[PROGRAM_IO_COUNT]; /* growth that includes the bytes of ended children */
	double io_weight;
	double ended_ns;  /* weight of processes that ended in this pass */
	double missed_ns; /* the same of those whose time is unknown */
	double parent_ns; /* waited-for time of its living processes that grew in this pass */
	struct known_use known;
	struct named_ends named;

	/* In this pass. */
	int64_t process_count;

	/* For the reader of the account: what it was told before. */
	int64_t told_units;
	int64_t told_io[PROGRAM_IO_COUNT];
	int64_t told_io_estimated[PROGRAM_IO_COUNT];
	double memory_peak_mib;
};

struct program_process {
	pid_t pid;
	int64_t start_ticks;
	size_t program;
	uint64_t identity; /* changes with exec */
	int64_t cpu_ns;    /* what was credited so far */
	int64_t grown_ns;  /* in the last pass */
	int64_t io[PROGRAM_IO_COUNT];
	int64_t own_io[PROGRAM_IO_COUNT]; /* the part of it that was credited */
	bool has_reaped; /* the rest is that of its ended children, or was shared with them */
	int64_t waited_ns, waited_faults;
	int64_t read_ns;        /* when */
	int64_t resident_pages; /* then */
	int64_t named_ns;       /* when a pass read its name */
	size_t seen_pass;
	int end_fd;                   /* see end_descriptor.h; negative: none */
	pid_t parent_pid, reaper_pid; /* its parent when it was seen first and last */
	bool is_final;                /* all of it was credited */
	bool is_exited;               /* and its end was counted */
	bool lives_on;                /* without its first thread: no event tells its end */
	bool has_final_io;            /* all its bytes were credited */
};

struct programs {
	struct program *at;
	size_t count, capacity;
	struct program_process *processes; /* by pid */
	size_t process_count, process_capacity;
	size_t next_place; /* behind the process that was found last */
	struct failures failures;
	bool ends_untold; /* descriptors of processes do not tell how they end */
	/* Of failed processes that passes have seen, where no events are heard. NULL: there was none. */
	struct program_names *seen_names;
	struct failure root; /* how the job's first process ended; ended_ns 0: no event has told it */
	struct root_waiter waiter;
	struct program_listener *listener; /* NULL: events cannot be had */
	bool exact;                        /* no event was lost since the last pass */
	bool has_ended_io;                 /* nor any exit record */
	struct known_use known[2];         /* of all programs: processes without and with children */
	size_t pass;
	int64_t last_ns, pass_ns; /* when the last pass was, and how long before this one */
	int64_t published_units;
	int64_t published_io[PROGRAM_IO_COUNT];
	bool started;
	bool is_finished; /* the next pass is the last: exit events that have not come by then never will */
};
