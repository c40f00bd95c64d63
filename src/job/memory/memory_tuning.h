/*
 * The constants of the memory of a job: each with its unit, and the reason for its value. The kernel's own numbers and formats
 * stand where they are used.
 *
 * Measured on kernel 6.18 with pages of 4 KiB, if nothing else is said (docs/decisions/17-memory-of-forks.md).
 */
#pragma once

#include "base/clock.h"

#define MSEC_NS(ms) ((ms) * (double)NSEC_PER_MSEC)

/* ---- how long a reading may take ---------------------------------------------------------------------------------- */

/* smaps_rollup holds a process's memory map for 11-14 ms per GiB of small pages. Used until the process was read. */
#define ROLLUP_TAKES_NS(kib) (20e3 + (double)(kib) / 1048576 * 13e6)
/* A reading that would hold a process for longer is not started: a millisecond of a stall is beyond notice. */
#define HOLD_MOST_NS MSEC_NS(1.0)
/*
 * The same limit once the time was measured. Opening and formatting take a part of it, and the kernel releases the map
 * between areas if another thread waits for it.
 */
#define MEASURED_MOST_NS MSEC_NS(1.5)
/* A sampled family returns to the rollup below this part of the limit, so that noise does not switch the way to and fro. */
#define BACK_TO_ROLLUP 0.6
/* An interrupted reading, or one on a shared core, seems longer than it was: so many times the expected time count at most. */
#define SLOWER_MOST 1.25
/* One correction by shares reads a whole family at one moment, seldom enough that a longer hold is worth it. */
#define CORRECTION_HOLD_MOST_NS MSEC_NS(3.5)

/* ---- how much time all readings may take -------------------------------------------------------------------------- */

/*
 * The part of the wall-clock time that readings may take: for one process, per member of a tree, and in total. In a tree of
 * more than a hundred members it falls again, because the tracker needs up to 1 % for the other files of 1,000 members.
 */
#define READINGS_FOR_ONE 0.0005
#define READINGS_FOR_EACH 0.001
#define READINGS_FOR_ALL 0.005
enum { MANY_MEMBERS = 100 };
/*
 * The allowance at the start, per member, so that the second sample is right also where a page map is slow to read. No more than
 * this can accumulate (25 ms was too little: 421 of 630 MiB in a second sample). Later readings have the last limit: they do not
 * spend the rest of it.
 */
#define ALLOWANCE_FOR_ONE_NS MSEC_NS(4.0)
#define ALLOWANCE_FOR_EACH_NS MSEC_NS(7.0)
#define ALLOWANCE_MOST_NS MSEC_NS(60.0)
#define ALLOWANCE_SAVED_NS MSEC_NS(10.0)
/* With less than this for each member that is due, all are read, but none again for a smaller error. */
#define EXACT_READING_NS MSEC_NS(0.7)
/* Corrections have an allowance of their own, because one takes as long as many readings, which follow what changes. */
#define CORRECTIONS_PART 0.001
#define CORRECTIONS_MOST_NS MSEC_NS(25.0)
/* A search of descriptors takes a millisecond of a tick and 0.1 % of the time, and some hundred processes at once if it is urgent. */
#define SCAN_TICK_NS NSEC_PER_MSEC
#define SCANS_MOST_NS (16 * NSEC_PER_MSEC)
enum { EARNED_BY_SCANS = 1000 }; /* 1 ns for so many ns */

/* ---- how old a figure may be --------------------------------------------------------------------------------------- */

/* A reading is repeated at this age. Its turn may come later, but the oldest that counts stays below ten seconds. */
#define REFRESH_NS (8 * NSEC_PER_SEC)
#define READING_AGE_NS (10 * NSEC_PER_SEC)
/* Time that the kernel has to free the pages of an object after it has cleared their page tables. */
#define REMOVAL_NS (2 * NSEC_PER_SEC)
/* After a failure: permissions and kernels rarely change. */
#define RETRY_NS (10 * NSEC_PER_SEC)
#define CORRECTED_NS (8 * NSEC_PER_SEC)
#define SCAN_AGE_NS (10 * NSEC_PER_SEC)
/* Reading the table of mounts takes 30 us, and a job rarely mounts. */
#define MOUNTS_AGE_NS (60 * NSEC_PER_SEC)

/* ---- which change is worth a reading ------------------------------------------------------------------------------- */

enum {
	WORTH_READING_KIB = 32, /* tolerates the rounding of resident sets */
	MOVED_PART = 256,       /* less than this part of a member need not be read again */
	LONE_TOLERANCE =
		20, /* one part in so many of a process without relatives, such as a JVM that loads classes */
	GROWN_PART = 64,       /* grown by less while it was read, and the sample is good enough */
	MANY_FILES_KIB = 4096, /* that a member maps: more than a C library */
	FEW_FILES = 40,        /* a part of the family's largest member */
	SIBLINGS_READ =
		16, /* forks without forks of their own to read per family: the others resemble them */
	PAGES_BEHIND = 128,        /* stat may tell another size than statm by this much */
	SMALL_PAGES = 64,          /* how far apart two readings of a growing process may be */
	WORTH_LEARNING_KIB = 1024, /* fewer faulted pages tell nothing: that is within the sampling error */
};

/* ---- samples of pages ---------------------------------------------------------------------------------------------- */

/* The standard deviation of a family's sampling error: 1.2 % of its memory, and 256 KiB for small ones. */
#define TOLERABLE_ERROR 0.012
enum {
	LEAST_ERROR_KIB = 256,
	ANON_SAMPLES = 512, /* resident pages to sample, as far as can be predicted: 2 % of error in a half */
	ANON_REFINEMENTS = 2, /* each samples twice as many */
	FILE_SAMPLES = 128,
	OBJECT_SAMPLES = 512,
	FOUND_LEAST = 4,     /* a sample has to find one in so many resident pages */
	ENTRIES_MOST = 4096, /* places to look at in sparse areas: some milliseconds */
	ALONE_MOST =
		192, /* the same in the files of a job of one process, of which all pages count in any case */
	WINDOW = 256,    /* entries per read where samples are close together: 2 KiB */
	CLOSE_LEVEL = 3, /* up to one sample in 8 pages, a window is cheaper than single reads */
	CLUSTER = 8,     /* pages around a sampled one, read in the same system call */
};

/* ---- families of forks --------------------------------------------------------------------------------------------- */

enum {
	LEFT_PART =
		32, /* pages that a process replaced between its forks matter from this part of the family on */
	OWN_PART = 16,   /* less than this part of a fork's memory is hardly any of its own */
	ORIGINS = 16,    /* parents that have gone whose forks are told apart: a table on the stack */
	DOUBT_PART = 32, /* a doubt below this part of a family's memory needs no correction */
	COPIES_LEAST_KIB = 16 << 10, /* a smaller rise of the machine's memory is that of other programs */
	SETTLED_PART = 64,    /* fewer faults than this part of its pages: two readings are of one moment */
	MOVED_PAGES = 64,     /* the same for a member's size */
	SHARER_READINGS = 4,  /* in so many, a fork may prove to share the memory of another, and */
	SHARERS_COMPARED = 8, /* is then compared with so many: 0.3 us each */
	NEIGHBOURS = 64,      /* among which those of a fork are: a pool may have thousands */
};

/* ---- shared memory with a name ------------------------------------------------------------------------------------- */

enum {
	SHMEM_STEP_KIB = 64, /* least change of the machine's shared memory before descriptors are searched */
	MAPPED_STEP_KIB = 4096,  /* the same before mappings are, and before a search is urgent */
	GROWN_LEAST_KIB = 1024,  /* less growth of shared memory may be that of files */
	OBJECTS_MOST = 8192,     /* a MiB of the tracker's memory */
	REFRESHED_MOST = 512,    /* sizes that are asked for in a tick: 8 us each */
	DESCRIPTORS_MOST = 4096, /* for each process */
	CUT_DOUBT_PART = 4,      /* this part of an estimate for objects beyond the table may be wrong */
	TMPFS_MOST = 256,        /* mounts: each is compared with the path of each descriptor */
};

/* ---- the sum ------------------------------------------------------------------------------------------------------- */

/* If more than this part of an estimate rests on the bound alone, it is reported as a bound. */
#define BOUND_SHARE 0.02
/* Libraries that programs outside the job map as well: which part of their pages is the job's is unknown. */
enum { FILES_IN_DOUBT_KIB = 4096 };

/* ---- between two samples ------------------------------------------------------------------------------------------- */

enum {
	BESIDE_WORTH_KIB = 8 << 10, /* less beside the largest member is not worth reading its mark */
	MARK_SLACK_KIB = 2 << 10,   /* the kernel's marks are this exact: its counters are batched per CPU */
	FAULTS_LEAST =
		256,   /* a process that takes much memory has as many page faults, even with huge pages */
	FEW_EXITS = 3, /* of so many processes, one may have had all page faults */
	MARK_READINGS = 128,       /* about this many per pass: 6 us each */
	MARK_READINGS_WRAPPED = 8, /* wait4(2) tells the marks of a wrapped job at the end */
};
