/* The programs of a run. See summary_programs.h. */
#include "summary/summary_programs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/typed_rows.h"
#include "summary/launcher.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "base/sized.h"
#include "base/screen.h"

static const char OTHERS[] = "others";

void summary_programs_want(struct metric_set *wanted)
{
	metric_set_add_kind(wanted, ROW_program);
	metric_set_add_kind(wanted, ROW_run_end_program);
}

/* Returns NULL for "others", and if there are too many. */
static struct program_figures *program_place(struct summary_programs *programs, const char *name)
{
	if (text_absent(name) || strcmp(name, OTHERS) == 0)
		return NULL;
	for (size_t i = 0; i < programs->count; i++)
		if (strncmp(programs->list[i].name, name, sizeof programs->list[i].name - 1) == 0)
			return &programs->list[i];
	if (programs->count == SUMMARY_PROGRAMS_MOST)
		return NULL;
	programs->list[programs->count] = (struct program_figures){0};
	snprintf(programs->list[programs->count].name, sizeof programs->list->name, "%s", name);
	return &programs->list[programs->count++];
}

static double secs_or_zero(double value)
{
	return real_absent(value) ? 0 : value;
}

static int64_t known_count(int64_t value)
{
	return count_absent(value) ? 0 : value;
}

static void add_end_programs(struct summary_programs *programs, const struct frame *frame)
{
	programs->count = 0;
	programs->cpu_secs = programs->estimated_secs = 0;
	for (const struct run_end_program_row *row = FIRST(frame, run_end_program); row;
	     row = NEXT(row, run_end_program)) {
		struct program_figures *program = program_place(programs, row->name);

		programs->cpu_secs += secs_or_zero(row->cpu_secs);
		programs->estimated_secs += secs_or_zero(row->cpu_estimated_secs);
		if (!program)
			continue;
		program->cpu_secs = secs_or_zero(row->cpu_secs);
		program->estimated_secs = secs_or_zero(row->cpu_estimated_secs);
		program->memory_peak_mib = secs_or_zero(row->memory_peak_mib);
		program->process_count = count_absent(row->process_count) ? -1 : row->process_count;
	}
}

/* A script or a shell of an engine may have started the launcher. */
static void look_for_launcher(struct summary_programs *programs, const struct frame *frame)
{
	double secs = frame->sample->actual_interval_ms / 1000;

	for (const struct program_row *row = FIRST(frame, program); row; row = NEXT(row, program)) {
		const struct launcher *launcher;

		if (text_absent(row->name) || known_count(row->process_count) < 1)
			continue;
		launcher = find_launcher(row->name);
		if (!launcher || (programs->launcher && programs->launcher != launcher))
			continue;
		programs->launcher = launcher;
		programs->launcher_secs += secs_or_zero(secs);
	}
}

void summary_programs_add(struct summary_programs *programs, const struct frame *frame)
{
	double sum = 0, estimated = 0;

	look_for_launcher(programs, frame);
	if (FIRST(frame, run_end_program)) {
		add_end_programs(programs, frame);
		return;
	}
	for (const struct program_row *row = FIRST(frame, program); row; row = NEXT(row, program)) {
		struct program_figures *program = program_place(programs, row->name);

		sum += secs_or_zero(row->cpu_total_secs);
		estimated += secs_or_zero(row->cpu_estimated_secs);
		if (!program)
			continue;
		program->cpu_secs = secs_or_zero(row->cpu_total_secs);
		program->estimated_secs = secs_or_zero(row->cpu_estimated_secs);
		program->process_count =
			count_absent(row->exited_count)
				? -1
				: count_sum(row->exited_count, known_count(row->process_count));
		if (row->memory_mib > program->memory_peak_mib)
			program->memory_peak_mib = row->memory_mib;
	}
	if (sum > programs->cpu_secs) {
		programs->cpu_secs = sum;
		programs->estimated_secs = estimated;
	}
}

static int most_first(const void *a_, const void *b_)
{
	const struct program_figures *a = a_, *b = b_;

	if (a->cpu_secs < b->cpu_secs || a->cpu_secs > b->cpu_secs)
		return a->cpu_secs < b->cpu_secs ? 1 : -1;
	return strcmp(a->name, b->name);
}

void summary_programs_finish(struct summary_programs *programs)
{
	double rest = programs->cpu_secs, estimated = programs->estimated_secs;

	for (size_t i = 0; i < programs->count; i++) {
		rest -= programs->list[i].cpu_secs;
		estimated -= programs->list[i].estimated_secs;
	}
	if (programs->count)
		qsort(programs->list, programs->count, sizeof programs->list[0], most_first);
	if (rest < 0.00005)
		return;
	programs->list[programs->count] = (struct program_figures){
		.cpu_secs = rest, .estimated_secs = fmin(fmax(estimated, 0), rest), .process_count = -1};
	snprintf(programs->list[programs->count++].name, sizeof programs->list->name, "%s", OTHERS);
}

static double percent_of_total(const struct summary_programs *programs, double secs)
{
	return programs->cpu_secs > 0 ? 100 * secs / programs->cpu_secs : 0;
}

void summary_programs_line(struct buffer *out, const struct summary_programs *programs, int label_columns)
{
	enum { SHOWN = 5 };
	double shown = 0, estimated = 0;
	size_t count = 0;

	if (programs->count < 2 || programs->cpu_secs <= 0)
		return;
	buffer_printf(out, "\n  " STYLE_STRONG "%-*s" STYLE_END, label_columns, "Programs");
	for (size_t i = 0; i < programs->count; i++) {
		const struct program_figures *program = &programs->list[i];

		estimated += program->estimated_secs;
		if (count == SHOWN || strcmp(program->name, OTHERS) == 0 ||
		    (count && percent_of_total(programs, program->cpu_secs) < 0.5))
			continue;
		buffer_add_text(out, count++ ? ", " : "");
		buffer_add_printable(out, program->name);
		buffer_printf(out, " %.0f %%", percent_of_total(programs, program->cpu_secs));
		shown += program->cpu_secs;
	}
	if (percent_of_total(programs, programs->cpu_secs - shown) >= 0.5)
		buffer_printf(out, ", others %.0f %%",
			      percent_of_total(programs, programs->cpu_secs - shown));
	buffer_add_text(out, " of the CPU time");
	if (percent_of_total(programs, estimated) >= 1)
		buffer_printf(out, " (%.0f %% of it estimated)", percent_of_total(programs, estimated));
}

static void add_program_real(struct json_writer *json, const char *key, double value, int decimals)
{
	json_key(json, key);
	json_decimal(json, value, decimals);
}

void summary_programs_json(struct buffer *out, const struct summary_programs *programs)
{
	struct json_writer json = JSON_WRITER(out);

	buffer_add_text(out, "\"programs\":");
	json_open(&json, '[');
	for (size_t i = 0; i < programs->count; i++) {
		const struct program_figures *program = &programs->list[i];

		json_open(&json, '{');
		json_key(&json, "name");
		json_text(&json, program->name);
		add_program_real(&json, "cpu_secs", program->cpu_secs, 4);
		add_program_real(&json, "cpu_pct", percent_of_total(programs, program->cpu_secs), 2);
		add_program_real(&json, "cpu_estimated_secs", program->estimated_secs, 4);
		json_key(&json, "memory_peak_mib");
		if (program->memory_peak_mib > 0)
			json_decimal(&json, program->memory_peak_mib, 3);
		else
			json_absent(&json);
		json_key(&json, "processes");
		if (program->process_count < 0)
			json_absent(&json);
		else
			json_count(&json, program->process_count);
		json_close(&json, '}');
	}
	json_close(&json, ']');
}

int summary_programs_get(const struct summary_programs *programs, size_t index,
			 struct rt_program_use *ret_use)
{
	const struct program_figures *program;
	struct rt_program_use use;

	if (index >= programs->count)
		return -ENOENT;
	program = &programs->list[index];
	use = (struct rt_program_use){
		.size = sizeof use,
		.name = program->name,
		.cpu_secs = program->cpu_secs,
		.cpu_pct = percent_of_total(programs, program->cpu_secs),
		.cpu_estimated_secs = program->estimated_secs,
		.memory_peak_mib = program->memory_peak_mib > 0 ? program->memory_peak_mib : (double)NAN,
		.process_count = program->process_count,
	};
	return copy_sized(ret_use, &use, sizeof use, SIZE_UP_TO(struct rt_program_use, process_count));
}
