/* Writes what a replay of runs found. See replay.h. */
#include "recommend/replay.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/grid.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "table/units.h"

enum { NOTE_MOST = 4096, USD_COLUMN = 3 };

static const char *rule_name(const struct replay *replay, enum replay_rule rule)
{
	static const char *const NAMES[REPLAY_RULES] = {
		[REPLAY_ASKED] = "as asked",
		[REPLAY_LARGEST_20] = "largest + 20 %",
		[REPLAY_LARGEST_15] = "largest + 15 %",
	};

	return rule == REPLAY_POLICY ? policy_name(replay->policy) : NAMES[rule];
}

/* The advice and what it is compared with, of the runs that have both. */
struct saving {
	const struct replay_tally *advised, *other;
	bool has_asked;
};

static struct saving saving_of(const struct replay *replay)
{
	const struct replayed_job *all = &replay->all;

	if (all->where_asked.reserved_gib_hours > 0)
		return (struct saving){&all->where_asked, &all->rules[REPLAY_ASKED], true};
	return (struct saving){&all->rules[REPLAY_POLICY], &all->rules[REPLAY_LARGEST_20], false};
}

static double saved_hours(const struct saving *saving)
{
	return saving->other->reserved_gib_hours - saving->advised->reserved_gib_hours;
}

/* "max would have reserved 41 % less memory than was asked, with 0 of 214 runs killed" */
static void add_replay_sentence(struct buffer *out, const struct replay *replay)
{
	struct saving saving = saving_of(replay);
	double percent = 100 * saved_hours(&saving) / saving.other->reserved_gib_hours;

	buffer_printf(out, "%s would have reserved ", policy_name(replay->policy));
	if (fabs(percent) < 0.5)
		buffer_add_text(out, "as much memory as ");
	else
		buffer_printf(out, "%.0f %% %s memory than ", fabs(percent), percent > 0 ? "less" : "more");
	buffer_add_text(out, saving.has_asked ? "was asked" : "the largest peak and 20 %");
	buffer_printf(out, ", with %zu of %zu runs killed", saving.advised->killed, saving.advised->runs);
	if (saving.has_asked && saving.other->killed)
		buffer_printf(out, " instead of %zu", saving.other->killed);
}

void replay_add_saving(struct buffer *out, const struct replay *replay)
{
	struct saving saving = saving_of(replay);
	double saved = saved_hours(&saving);

	add_replay_sentence(out, replay);
	buffer_add_text(out, saved < 0 ? "\nit would have cost " : "\nit would have saved ");
	add_figure(out, fabs(saved));
	buffer_add_text(out, " GiB h");
	if (replay->usd_per_gib_hour > 0)
		buffer_printf(out, ", %.4g USD", fabs(saved) * replay->usd_per_gib_hour);
	buffer_add_char(out, '\n');
}

void replay_saving_json(struct json_writer *json, const struct replay *replay)
{
	CLEANUP_BUFFER struct buffer sentence = BUFFER(NOTE_MOST);
	struct saving saving = saving_of(replay);
	double saved = saved_hours(&saving);

	add_replay_sentence(&sentence, replay);
	json_key(json, "sentence");
	json_text(json, sentence.data);
	json_key(json, "saved_gib_hours");
	json_decimal(json, saved, 6);
	json_key(json, "saved_usd");
	json_decimal(json, replay->usd_per_gib_hour > 0 ? saved * replay->usd_per_gib_hour : (double)NAN, 6);
}

static void add_job_rows(struct grid *grid, const struct replay *replay, const struct replayed_job *job)
{
	for (enum replay_rule rule = 0; rule < REPLAY_RULES; rule++) {
		const struct replay_tally *tally = &job->rules[rule];
		struct buffer *name;

		if (!tally->runs)
			continue;
		name = grid_cell(grid);
		if (rule == REPLAY_POLICY)
			buffer_add_printable(name, job->name ? job->name : "all jobs");
		grid_add_cell(grid, rule_name(replay, rule));
		buffer_printf(grid_cell(grid), "%zu", tally->runs);
		add_figure(grid_cell(grid), tally->reserved_gib_hours);
		add_figure(grid_cell(grid), tally->wasted_gib_hours);
		if (replay->usd_per_gib_hour > 0)
			buffer_printf(grid_cell(grid), "%.4g",
				      tally->reserved_gib_hours * replay->usd_per_gib_hour);
		buffer_printf(grid_cell(grid), "%zu", tally->killed);
	}
}

/* Notes about lines that do not count. */
static void add_replay_notes(struct buffer *out, const struct replay *replay)
{
	CLEANUP_BUFFER struct buffer left_out = BUFFER(NOTE_MOST);

	if (replay->ranks)
		buffer_printf(out, "left out: %zu %s of ranks\n", replay->ranks,
			      replay->ranks == 1 ? "line" : "lines");
	lines_left_out_text(&left_out, &replay->left_out);
	if (left_out.length && !buffer_error(&left_out))
		buffer_printf(out, "left out: %s\n", left_out.data);
}

void replay_add_text(struct buffer *out, const struct replay *replay, const struct screen *screen)
{
	static const char *const NUMBERS[] = {"RUNS", "GIB H RESERVED", "GIB H WASTED", "USD RESERVED",
					      "KILLED"};
	CLEANUP_BUFFER struct buffer below = BUFFER(NOTE_MOST);
	CLEANUP_GRID struct grid grid = {.keys = 2};

	grid_add_shrinking(&grid, "JOB");
	grid_add_column(&grid, "RULE", false);
	for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++)
		if (i != USD_COLUMN || replay->usd_per_gib_hour > 0)
			grid_add_column(&grid, NUMBERS[i], true);
	for (size_t i = 0; i < replay->job_count; i++)
		add_job_rows(&grid, replay, &replay->jobs[i]);
	if (replay->job_count > 1)
		add_job_rows(&grid, replay, &replay->all);
	grid_print(&grid, out, screen);
	replay_add_saving(&below, replay);
	add_replay_notes(&below, replay);
	screen_add(out, below.data ? below.data : "", screen, 2);
}

static void add_job_json(struct json_writer *json, const struct replay *replay,
			 const struct replayed_job *job)
{
	json_open(json, '{');
	json_key(json, "job");
	json_text(json, job->name);
	json_key(json, "rules");
	json_open(json, '[');
	for (enum replay_rule rule = 0; rule < REPLAY_RULES; rule++) {
		const struct replay_tally *tally = &job->rules[rule];

		if (!tally->runs)
			continue;
		json_open(json, '{');
		json_key(json, "rule");
		json_text(json, rule_name(replay, rule));
		json_key(json, "runs");
		json_count(json, (int64_t)tally->runs);
		json_key(json, "killed");
		json_count(json, (int64_t)tally->killed);
		json_key(json, "reserved_gib_hours");
		json_decimal(json, tally->reserved_gib_hours, 6);
		json_key(json, "wasted_gib_hours");
		json_decimal(json, tally->wasted_gib_hours, 6);
		json_key(json, "reserved_usd");
		json_decimal(json,
			     replay->usd_per_gib_hour > 0
				     ? tally->reserved_gib_hours * replay->usd_per_gib_hour
				     : (double)NAN,
			     6);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

void replay_add_json(struct buffer *out, const struct replay *replay)
{
	struct json_writer json = JSON_WRITER(out);

	json_open(&json, '{');
	json_key(&json, "policy");
	json_text(&json, policy_name(replay->policy));
	json_key(&json, "jobs");
	json_open(&json, '[');
	for (size_t i = 0; i < replay->job_count; i++)
		add_job_json(&json, replay, &replay->jobs[i]);
	json_close(&json, ']');
	json_key(&json, "all");
	add_job_json(&json, replay, &replay->all);
	json_key(&json, "lines_left_out");
	json_count(&json, (int64_t)(replay->ranks + replay->left_out.damaged + replay->left_out.newer));
	replay_saving_json(&json, replay);
	json_close(&json, '}');
	buffer_add_char(out, '\n');
}
