/* Packs the runs of a group. See fleet_store.h. */
#include "history/fleet_store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 128, CHUNK_MOST = 16 << 10, DECIMALS_MOST = 6 };
/* Codes in place of a number of decimals. */
enum { CODE_RAW = 7, CODE_UNKNOWN = 15 };
enum { AT_LIMIT = 4, ENDED = 8, HAS_JOB = 16, IS_STEP = 32, ASKED_BY_CPU = 64, ASKED_AGAIN = 128 };
/* Beside the index of the reason. Most runs have no GPU. */
enum { HAS_GPU_HOURS = 128 };

struct run_chunk {
	struct run_chunk *next;
	size_t used, size;
	unsigned char bytes[];
};

static void pack_number(unsigned char **at, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*(*at)++ = (unsigned char)(0x80 | (number & 0x7f));
	*(*at)++ = (unsigned char)number;
}

static uint64_t unpack_number(const unsigned char **at)
{
	uint64_t number = 0;
	int shift = 0;

	for (; **at & 0x80; shift += 7)
		number |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return number | (uint64_t) * (*at)++ << shift;
}

static void pack_bytes(unsigned char **at, const void *bytes, size_t length)
{
	memcpy(*at, bytes, length);
	*at += length;
}

static void unpack_bytes(const unsigned char **at, void *ret_bytes, size_t length)
{
	memcpy(ret_bytes, *at, length);
	*at += length;
}

/* A whole number below 2^53 divided by a power of ten is the double nearest to the decimal, as the line's text was read. */
static void pack_real(unsigned char **at, double value)
{
	static const double MOST_WHOLE = 9007199254740992.0;
	double scale = 1;

	if (isnan(value)) {
		pack_number(at, CODE_UNKNOWN);
		return;
	}
	for (unsigned decimals = 0; decimals <= DECIMALS_MOST; decimals++, scale *= 10) {
		double whole = round(value * scale);

		if (whole >= 0 && whole < MOST_WHOLE && whole / scale == value && !signbit(value)) {
			pack_number(at, (uint64_t)whole << 3 | decimals);
			return;
		}
	}
	pack_number(at, CODE_RAW);
	pack_bytes(at, &value, sizeof(value));
}

static double unpack_real(const unsigned char **at)
{
	static const double SCALES[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
	uint64_t code = unpack_number(at);
	double value = NAN;

	if (code == CODE_RAW)
		unpack_bytes(at, &value, sizeof(value));
	else if (code != CODE_UNKNOWN)
		value = (double)(code >> 3) / SCALES[code & 7];
	return value;
}

/* The reals of a run that are stored, by their places. */
static const size_t REALS[] = {
#define FLEET(field, ...) offsetof(struct fleet_run, field),
#include "figures/run_figures.def"
	offsetof(struct fleet_run, started),
	offsetof(struct fleet_run, oom_had_mib),
	offsetof(struct fleet_run, cores_asked),
	offsetof(struct fleet_run, memory_asked_mib),
};
/* A real takes at most 10 bytes. */
enum {
	REAL_COUNT = sizeof(REALS) / sizeof(REALS[0]),
	REQUEST_REALS = 2,
	RUN_MOST = 48 + 10 * (REAL_COUNT + 1)
}; /* the last ones are the request */

static double *real_at(const struct fleet_run *run, size_t place)
{
	return (double *)((char *)(uintptr_t)run + place);
}

int packed_runs_add(struct packed_runs *runs, uint32_t number, const struct fleet_run *run)
{
	unsigned char bytes[RUN_MOST], *at = bytes;
	struct run_chunk *chunk = runs->last;
	bool again = chunk && run->cores_asked == runs->cores_asked &&
		     run->memory_asked_mib == runs->memory_asked_mib;
	size_t length;

	*at++ = (unsigned char)(run->end | (run->at_limit ? AT_LIMIT : 0) | (run->ended ? ENDED : 0) |
				(run->job ? HAS_JOB : 0) | (run->is_step ? IS_STEP : 0) |
				(run->asked_by_cpu ? ASKED_BY_CPU : 0) | (again ? ASKED_AGAIN : 0));
	*at++ = (unsigned char)(run->reason | (isnan(run->gpu_idle_hours) ? 0 : HAS_GPU_HOURS));
	pack_number(&at, number - runs->last_number);
	for (size_t i = 0; i < REAL_COUNT - (again ? REQUEST_REALS : 0); i++)
		pack_real(&at, *real_at(run, REALS[i]));
	if (!isnan(run->gpu_idle_hours))
		pack_real(&at, run->gpu_idle_hours);
	if (run->job) {
		pack_bytes(&at, &run->job, sizeof(run->job));
		pack_bytes(&at, &run->host, sizeof(run->host));
	}
	length = (size_t)(at - bytes);
	if (!chunk || chunk->size - chunk->used < length) {
		size_t size = chunk ? 2 * chunk->size : FIRST_CHUNK;

		size = size > CHUNK_MOST ? CHUNK_MOST : size;
		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return -ENOMEM;
		*chunk = (struct run_chunk){.size = size};
		if (runs->last)
			runs->last->next = chunk;
		else
			runs->first = chunk;
		runs->last = chunk;
	}
	memcpy(chunk->bytes + chunk->used, bytes, length);
	chunk->used += length;
	runs->last_number = number;
	runs->cores_asked = run->cores_asked;
	runs->memory_asked_mib = run->memory_asked_mib;
	return 0;
}

bool packed_runs_next(struct run_cursor *cursor, struct fleet_run *ret_run)
{
	const unsigned char *at;
	bool again, has_gpu_hours;

	while (cursor->chunk && cursor->at == cursor->chunk->used) {
		cursor->chunk = cursor->chunk->next;
		cursor->at = 0;
	}
	if (!cursor->chunk)
		return false;
	at = cursor->chunk->bytes + cursor->at;
	*ret_run = (struct fleet_run){
		.end = *at & (AT_LIMIT - 1),
		.at_limit = *at & AT_LIMIT,
		.ended = *at & ENDED,
		.job = *at & HAS_JOB,
		.is_step = *at & IS_STEP,
		.asked_by_cpu = *at & ASKED_BY_CPU,
		.reason = at[1] & (HAS_GPU_HOURS - 1),
		.cores_asked = cursor->cores_asked,
		.memory_asked_mib = cursor->memory_asked_mib,
	};
	again = *at & ASKED_AGAIN;
	has_gpu_hours = at[1] & HAS_GPU_HOURS;
	at += 2;
	cursor->number += (uint32_t)unpack_number(&at);
	for (size_t i = 0; i < REAL_COUNT - (again ? REQUEST_REALS : 0); i++)
		*real_at(ret_run, REALS[i]) = unpack_real(&at);
	ret_run->gpu_idle_hours = has_gpu_hours ? unpack_real(&at) : (double)NAN;
	cursor->cores_asked = ret_run->cores_asked;
	cursor->memory_asked_mib = ret_run->memory_asked_mib;
	if (ret_run->job) {
		unpack_bytes(&at, &ret_run->job, sizeof(ret_run->job));
		unpack_bytes(&at, &ret_run->host, sizeof(ret_run->host));
	}
	ret_run->spare_gib = (ret_run->memory_asked_mib - ret_run->memory_mib) / 1024;
	cursor->at = (size_t)(at - cursor->chunk->bytes);
	return true;
}

void packed_runs_done(struct packed_runs *runs)
{
	for (struct run_chunk *chunk = runs->first, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*runs = (struct packed_runs){0};
}
