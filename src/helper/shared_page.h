/*
 * The memory that the recorder and its helper share: the question, the answer, and the state of the helper. The
 * recorder makes it (memfd) and the helper maps it. Either side may die at any moment, and neither waits for
 * the other. A crashing vendor library may have overwritten it. So both sides take the layout from here once,
 * before any such library runs, and the recorder checks every value that it reads.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "helper/latest.h"

/* "rthelp" and the version of this layout: a helper of another version refuses to start. */
#define HELPER_MAGIC UINT64_C(0x727468656c700002)

struct helper_page {
	uint64_t magic;
	uint64_t total_bytes;
	uint64_t setup_offset;
	uint64_t setup_bytes;
	uint64_t request_offset; /* latest-value box, written by the recorder */
	uint64_t request_bytes;
	uint64_t answer_offset; /* latest-value box, written by the helper */
	uint64_t answer_bytes;
	int64_t recorder_pid;

	_Atomic int64_t supervisor_pid; /* written by the process that forked it, before that ends */
	_Atomic int64_t start_error;    /* errno of that fork */
	_Atomic int64_t worker_pid;     /* 0: no worker */
	_Atomic int64_t pass_began_ns;  /* CLOCK_MONOTONIC. 0: the worker waits for its next pass */
	_Atomic int64_t pass_count;
	_Atomic int64_t cpu_ns;        /* of the helper, including exited workers */
	_Atomic int64_t failure_count; /* workers that crashed, hung or gave up */
	_Atomic int64_t ended;         /* 1: there is nothing to do here, and the last answer stays true */
};
