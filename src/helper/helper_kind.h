/* The work of a helper. There is one kind: kind_gpu.c makes surveys of GPUs. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * All of it runs in the worker process and may hang, crash and leak. The sizes of setup, request and answer
 * must match those of the recorder.
 */
struct helper_kind {
	const char *name;
	size_t setup_bytes;
	size_t request_bytes;
	size_t answer_bytes;
	int64_t pass_limit_ns; /* a longer pass counts as hanging: the worker is replaced */

	/* Returns 0 and the state, or a negative errno. */
	int (*open)(const void *setup, void **ret_state);
	/*
	 * One pass: fills the answer (answer_bytes) and returns its length. request_length is 0 while there is
	 * no request. ret_next_ns (CLOCK_MONOTONIC) is the time of the next call; INT64_MAX: never, there is
	 * nothing to do. After a negative errno nothing is published.
	 */
	ssize_t (*pass)(void *state, const void *request, size_t request_length, void *answer,
			int64_t *ret_next_ns);
};

extern const struct helper_kind GPU_HELPER;
