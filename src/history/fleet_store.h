/*
 * Runs of one group, packed: about 30 bytes each, so that a million of them fit beside their ids into 64 MiB.
 *
 * A number is a whole multiple of a power of ten, as lines have them, and comes back exactly. All others take 9 bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NaN: unknown */
struct fleet_run {
#define FLEET(field, ...) double field;
#include "figures/run_figures.def"
	double started, cores_asked, memory_asked_mib, oom_had_mib;
	double gpu_idle_hours; /* of GPUs without work of the job */
	double spare_gib;      /* asked for, and not used at the peak: of all hosts together */
	uint64_t job,
		host; /* hashes, of a line that may be one of several of its job (fleet_jobs.c), else 0 */
	uint8_t end, reason;  /* enum fleet_end, and the index of its words */
	bool at_limit, ended; /* the peak reached the limit, and: the end is known */
	bool is_step;         /* of a job: not the batch script, which has the whole allocation */
	bool asked_by_cpu;    /* memory was asked for each CPU, not for the node */
};

struct run_chunk;

struct packed_runs {
	struct run_chunk *first, *last;
	uint32_t last_number;
	double cores_asked, memory_asked_mib; /* of the last run: most runs of a group ask for the same */
};

struct run_cursor {
	const struct run_chunk *chunk;
	size_t at;
	uint32_t number;
	double cores_asked, memory_asked_mib;
};

/* Adds a run. Numbers grow. Returns 0 or -ENOMEM. */
int packed_runs_add(struct packed_runs *runs, uint32_t number, const struct fleet_run *run);
static inline struct run_cursor packed_runs_begin(const struct packed_runs *runs)
{
	return (struct run_cursor){.chunk = runs->first};
}
/* Returns false behind the last run. */
bool packed_runs_next(struct run_cursor *cursor, struct fleet_run *ret_run);
void packed_runs_done(struct packed_runs *runs);
