/* Divides the growth of totals among programs. See program_share.h. */
#include "job/programs/program_share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/min_max.h"
#include "base/runs_once.h"

void program_begin_pass(struct program *program)
{
	program->grown_ns = 0;
	memset(program->io_grown, 0, sizeof program->io_grown);
	memset(program->io_reaped, 0, sizeof program->io_reaped);
	/* missed_ns is kept until there is something to divide. */
	program->process_count = 0;
}

#define MORE_PROGRAMS "more programs"

size_t programs_index(struct programs *programs, const char *name)
{
	struct program *at;

	for (size_t i = 0; i < programs->count; i++)
		if (strcmp(programs->at[i].name, name) == 0)
			return i;
	if (programs->count == PROGRAMS_MOST)
		return PROGRAMS_MOST - 1;
	if (programs->count == programs->capacity) {
		size_t capacity = programs->capacity * 2;

		at = realloc(programs->at, capacity * sizeof *at);
		if (!at) {
			at = &programs->at[programs->count - 1];
			snprintf(at->name, sizeof at->name, "%s", MORE_PROGRAMS);
			return programs->count - 1;
		}
		programs->at = at;
		programs->capacity = capacity;
	}
	programs->at[programs->count] = (struct program){0};
	snprintf(programs->at[programs->count].name, sizeof programs->at->name, "%s",
		 programs->count == PROGRAMS_MOST - 1 ? MORE_PROGRAMS : name);
	return programs->count++;
}

/* As the outputs round it. */
static int64_t rounded_units(int64_t ns)
{
	return (int64_t)(ns_to_secs(ns) * 1e4 + 0.5);
}

int64_t program_estimated_units(const struct program *program)
{
	int64_t early_ns = max_i64(0, -program->unpublished_ns - RACE_NS);

	return min_i64(program->cpu_units, program->estimated_units + early_ns / PROGRAM_CPU_UNIT_NS);
}

typedef double (*weight_of)(const struct program *program);

static double missed_weight(const struct program *program)
{
	return program->missed_ns;
}

static double parent_weight(const struct program *program)
{
	return program->parent_ns;
}

static double grown_weight(const struct program *program)
{
	return (double)program->grown_ns;
}

static double published_weight(const struct program *program)
{
	return (double)program->cpu_units;
}

static double unpublished_weight(const struct program *program)
{
	return (double)max_i64(0, program->unpublished_ns);
}

static double ended_weight(const struct program *program)
{
	return program->ended_ns + program->missed_ns;
}

static double sum_weights(const struct programs *programs, weight_of weight)
{
	double sum = 0;

	for (size_t i = 0; i < programs->count; i++)
		sum += weight(&programs->at[i]);
	return sum;
}

/* A part of an amount for each program in turn. The last one with a weight, or else the first, gets what rounding has left. */
struct divider {
	double left_weight;
	int64_t left;
	size_t last;
};

static struct divider divider_of(const struct programs *programs, weight_of weight, double sum,
				 int64_t amount)
{
	struct divider divider = {.left_weight = sum, .left = amount};

	for (size_t i = 0; i < programs->count; i++)
		if (weight(&programs->at[i]) > 0)
			divider.last = i;
	return divider;
}

static int64_t next_part(struct divider *divider, size_t index, double weight)
{
	int64_t part = 0;

	/* A sum does not show a weight that is very small beside the others. */
	if (index == divider->last || (weight > 0 && weight >= divider->left_weight))
		part = divider->left;
	else if (weight > 0)
		part = (int64_t)((double)divider->left * weight / divider->left_weight);
	divider->left -= part;
	divider->left_weight -= weight;
	return part;
}

static SELDOM size_t short_lived_of(struct programs *programs, size_t parent)
{
	char name[sizeof programs->at->name];

	snprintf(name, sizeof name, "short-lived children of %s", programs->at[parent].name);
	return programs_index(programs, name);
}

/* Processes that were never seen: their parents have waited for them. */
static SELDOM void give_to_children_of(struct programs *programs, weight_of weight, double sum, int64_t units)
{
	struct divider divider = divider_of(programs, weight, sum, units);
	size_t count = programs->count;

	for (size_t i = 0; i < count; i++) {
		int64_t part = next_part(&divider, i, weight(&programs->at[i]));
		struct program *child;

		if (!part)
			continue;
		child = &programs->at[short_lived_of(programs, i)];
		child->is_unseen = true;
		child->cpu_units += part;
		child->estimated_units += part;
	}
}

static void give_units(struct programs *programs, weight_of weight, double sum, int64_t units, bool estimated)
{
	struct divider divider = divider_of(programs, weight, sum, units);

	for (size_t i = 0; i < programs->count; i++) {
		struct program *program = &programs->at[i];
		int64_t part = next_part(&divider, i, weight(program));

		program->cpu_units += part;
		if (estimated)
			program->estimated_units += part;
		else
			program->unpublished_ns -= part * PROGRAM_CPU_UNIT_NS;
	}
}

/*
 * The total of the tree may have the time of an ended process only in a later pass, once its parent has waited for it. Until then its
 * weight stays, or another process that ends meanwhile would get that time. It goes little by little, because it may be too
 * high.
 */
static void keep_missed(struct programs *programs, double part)
{
	double kept = 1 - ns_to_secs(programs->pass_ns) / MISSED_KEPT_SECS;

	for (size_t i = 0; i < programs->count; i++)
		programs->at[i].missed_ns *= part > 0 && kept > 0 ? part * kept : 0;
}

/* The time that no clock has shown. */
static void share_rest(struct programs *programs, int64_t units, size_t running)
{
	int64_t race = (RACE_NS + (int64_t)running * RACE_OF_PROCESS_NS) / PROGRAM_CPU_UNIT_NS;
	double missed = sum_weights(programs, missed_weight), parents = sum_weights(programs, parent_weight),
	       grown = sum_weights(programs, grown_weight),
	       published = sum_weights(programs, published_weight),
	       ended = sum_weights(programs, ended_weight);
	int64_t most = units;

	/* Without events there may be others, which nothing names: a missed process had the time that it was likely to use. */
	if (!programs->exact && parents > 0)
		most = min_i64(units, (int64_t)(missed / PROGRAM_CPU_UNIT_NS) + 1);
	if (missed > 0) {
		give_units(programs, missed_weight, missed, most, true);
		keep_missed(programs, 1 - (double)most * PROGRAM_CPU_UNIT_NS / missed);
		units -= most;
	}
	if (units > race && parents > 0 && !programs->exact) {
		give_to_children_of(programs, parent_weight, parents, units);
		return;
	}
	/* All that ended were told, so none is unseen: more than a race is an estimate for these. */
	if (units > race && ended > 0) {
		give_units(programs, ended_weight, ended, units, true);
		return;
	}
	/* It will show up in their clocks. */
	if (grown > 0)
		give_units(programs, grown_weight, grown, units, false);
	else
		give_units(programs, published_weight, published, units, false);
}

static void share_cpu(struct programs *programs, const struct usages *published, size_t running)
{
	int64_t user_ns = published->of[USAGE_UTIME_NS];
	int64_t total = rounded_units(user_ns) + rounded_units(published->of[USAGE_CPU_NS] - user_ns);
	int64_t units = total - programs->published_units, known_units;
	double unpublished = sum_weights(programs, unpublished_weight);

	if (units <= 0 || !programs->count)
		return;
	programs->published_units = total;
	known_units = min_i64(units, (int64_t)(unpublished / PROGRAM_CPU_UNIT_NS));
	give_units(programs, unpublished_weight, unpublished, known_units, false);
	if (units > known_units)
		share_rest(programs, units - known_units, running);
}

static double io_weight(const struct program *program)
{
	return program->io_weight;
}

/* Returns whether any program has a weight. */
static bool give_io(struct programs *programs, int usage, int64_t amount, bool estimated)
{
	double sum = sum_weights(programs, io_weight);
	struct divider divider = divider_of(programs, io_weight, sum, amount);

	for (size_t i = 0; i < programs->count && sum > 0; i++) {
		struct program *program = &programs->at[i];
		int64_t part = next_part(&divider, i, program->io_weight);

		program->io[usage] += part;
		program->io_estimated[usage] += estimated ? part : 0;
	}
	return sum > 0;
}

static void weigh_io(struct programs *programs, weight_of weight)
{
	for (size_t i = 0; i < programs->count; i++)
		programs->at[i].io_weight = weight(&programs->at[i]);
}

/* A single program has all bytes, unless children of it may have come and gone unseen. */
static bool is_io_uncertain(const struct programs *programs, int usage)
{
	bool reaped = false;

	for (size_t i = 0; i < programs->count; i++)
		reaped |= programs->at[i].io_reaped[usage] > 0 || programs->at[i].parent_ns > 0;
	return programs->count > 1 || (reaped && !programs->exact);
}

/*
 * Exit records tell the bytes of each ended process. The remaining bytes belong to the parents that waited for these processes.
 * One parent gets all of it. Several parents share it, and their parts are estimates.
 */
static void share_rest_of_io(struct programs *programs, int usage, int64_t amount)
{
	static const weight_of RESTS[] = {ended_weight, grown_weight, published_weight};
	bool estimated = is_io_uncertain(programs, usage);
	size_t parents = 0;

	for (size_t i = 0; i < programs->count; i++) {
		programs->at[i].io_weight =
			programs->has_ended_io ? (double)programs->at[i].io_reaped[usage] : 0;
		parents += programs->at[i].io_weight > 0;
	}
	if (give_io(programs, usage, amount, parents > 1))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(RESTS); i++) {
		weigh_io(programs, RESTS[i]);
		if (give_io(programs, usage, amount, estimated))
			return;
	}
	programs->at[0].io[usage] += amount;
	programs->at[0].io_estimated[usage] += estimated ? amount : 0;
}

/* The total may lag behind a reading, until the next pass at most. */
static void share_io(struct programs *programs, int usage, int64_t total)
{
	int64_t amount = total - programs->published_io[usage], known = 0, left;

	if (amount <= 0 || !programs->count)
		return;
	programs->published_io[usage] = total;
	for (size_t i = 0; i < programs->count; i++)
		known += programs->at[i].io_late[usage] + programs->at[i].io_grown[usage];
	left = amount;
	for (size_t i = 0; i < programs->count; i++) {
		struct program *program = &programs->at[i];
		int64_t all = program->io_late[usage] + program->io_grown[usage], part = all;

		/* The last program with bytes gets what rounding has left. */
		if (known > left)
			part = (int64_t)((double)all / (double)known * (double)left);
		known -= all;
		program->io[usage] += part;
		program->io_late[usage] = min_i64(all - part, program->io_grown[usage]);
		left -= part;
	}
	if (left > 0)
		share_rest_of_io(programs, usage, left);
}

void programs_share(struct programs *programs, const struct usages *published, size_t running)
{
	/* The I/O first: it is spread by the ended processes, and what they missed is settled with their time. */
	for (int i = 0; i < PROGRAM_IO_COUNT; i++)
		share_io(programs, i, published->of[USAGE_READ_BYTES + i]);
	share_cpu(programs, published, running);
	for (size_t i = 0; i < programs->count; i++)
		programs->at[i].ended_ns = programs->at[i].parent_ns = 0;
}
