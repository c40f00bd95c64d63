/* The use of the job by program: rows for the programs that used most, and one for the others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "collect/collector.h"
#include "job/programs/program_share.h"
#include "job/programs/programs.h"
#include "metric/typed_rows.h"

/* Memory is divided in the unit in which it is written, so that the parts add up. */
#define UNITS_OF_MIB 1000

struct ranked {
	size_t index;
	int64_t cpu_units; /* since the last sample, in the run for its end */
	double memory_kib;
	int64_t memory_units;
	int64_t vram_bytes;
};

struct program_usage {
	struct ranked *ranked; /* scratch */
	size_t capacity;
};

static int program_usage_open(struct collect_context *context, void **ret_state)
{
	(void)context;
	*ret_state = calloc(1, sizeof(struct program_usage));
	return *ret_state ? 0 : -ENOMEM;
}

static void program_usage_close(void *state_)
{
	struct program_usage *state = state_;

	free(state->ranked);
	free(state);
}

static bool reserve_programs(struct program_usage *state, size_t count)
{
	struct ranked *ranked;

	if (count <= state->capacity)
		return true;
	ranked = realloc(state->ranked, count * 2 * sizeof *ranked);
	if (!ranked)
		return false;
	state->ranked = ranked;
	state->capacity = count * 2;
	return true;
}

static int most_used_first(const void *a_, const void *b_)
{
	const struct ranked *a = a_, *b = b_;

	if (a->cpu_units != b->cpu_units)
		return a->cpu_units < b->cpu_units ? 1 : -1;
	if (a->memory_kib < b->memory_kib || a->memory_kib > b->memory_kib)
		return a->memory_kib < b->memory_kib ? 1 : -1;
	return a->index > b->index ? 1 : -1;
}

enum {
	READ_BYTES = 0,
	WRITE_BYTES = USAGE_WRITE_BYTES - USAGE_READ_BYTES,
	READ_CHARS = USAGE_READ_CHARS - USAGE_READ_BYTES,
	WRITTEN_CHARS = USAGE_WRITTEN_CHARS - USAGE_READ_BYTES,
};

static int64_t change_of(const struct program *program, int usage)
{
	return program->io[usage] - program->told_io[usage];
}

/* The rows of the end have the totals of the run and the peak of memory, but no bytes of calls. */
static bool has_nothing(const struct program *program, const struct ranked *ranked, bool is_end)
{
	for (int i = 0; i < PROGRAM_IO_COUNT; i++)
		if (is_end ? i <= WRITE_BYTES && program->io[i] : change_of(program, i) != 0)
			return false;
	return !program->cpu_units && !program->exited_count && !program->process_count &&
	       !ranked->memory_units && !ranked->vram_bytes && (!is_end || program->memory_peak_mib <= 0);
}

/* A name that was in use only until a better one was known has nothing. Returns how many programs are left. */
static size_t leave_empty_out(const struct programs *programs, struct program_usage *state, size_t count,
			      bool is_end)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!has_nothing(&programs->at[state->ranked[i].index], &state->ranked[i], is_end))
			state->ranked[kept++] = state->ranked[i];
	return kept;
}

static const struct tree_row *tree_of(const struct frame *frame)
{
	return (const void *)frame->first[ROW_tree];
}

static void add_program_memory(const struct collect_context *context, const struct frame *frame,
			       struct program_usage *state, size_t count)
{
	const struct process_tree *tree = context->tree;
	struct programs *programs = tree->programs;
	double total_mib = tree_of(frame)->process_memory_mib, sum_kib = 0;
	int64_t told = 0;

	if (real_absent(total_mib))
		return;
	for (size_t i = 0; i < tree->count; i++) {
		const struct program *program = programs_of(programs, tree->members[i].pid);

		if (program)
			state->ranked[program - programs->at].memory_kib += tree->members[i].memory.share;
	}
	for (size_t i = 0; i < count; i++) {
		int64_t upto;

		sum_kib += state->ranked[i].memory_kib;
		upto = (int64_t)(sum_kib / 1024 * UNITS_OF_MIB + 0.5);
		state->ranked[i].memory_units = upto - told;
		told = upto;
	}
	/* A member without a program has none of it, and sums of real numbers may differ in the last digit. */
	if (count)
		state->ranked[0].memory_units = max_i64(
			0, state->ranked[0].memory_units + (int64_t)(total_mib * UNITS_OF_MIB + 0.5) - told);
}

static void add_vram(const struct collect_context *context, const struct frame *frame,
		     struct program_usage *state)
{
	struct programs *programs = context->tree->programs;

	for (const struct row *row = frame->first[ROW_gpu_process]; row; row = row->next) {
		const struct gpu_process_row *process = (const void *)row;
		const struct program *program = programs_of(programs, (pid_t)process->pid);

		if (program && !count_absent(process->vram_bytes))
			state->ranked[program - programs->at].vram_bytes += process->vram_bytes;
	}
}

static int64_t estimated_change_of(const struct program *program, int usage)
{
	return program->io_estimated[usage] - program->told_io_estimated[usage];
}

/* The number is unknown if some processes of this program ended without an event. */
static int64_t exited_count_of(const struct program *program)
{
	return program->is_unseen ? no_count(ABSENT_UNSEEN_EXITS) : program->exited_count;
}

/* An unknown number makes the sum unknown. */
static int64_t sum_of_counts(int64_t sum, int64_t count)
{
	return count_absent(sum) ? sum : count_absent(count) ? count : sum + count;
}

/* A figure that is unknown for the tree is unknown for its programs. */
static void hide_unknown(const struct tree_row *tree, struct program_row *row)
{
	if (count_absent(tree->read_bytes_total)) {
		row->disk_read_bytes = row->disk_write_bytes = tree->read_bytes_total;
		row->read_chars = row->written_chars = tree->read_bytes_total;
		row->disk_estimated_bytes = row->estimated_chars = tree->read_bytes_total;
	}
	if (count_absent(tree->process_child_count))
		row->process_count = tree->process_child_count;
	if (real_absent(tree->process_memory_mib))
		row->memory_mib = tree->process_memory_mib;
	if (real_absent(tree->process_gpu_vram_mib))
		row->gpu_vram_mib = tree->process_gpu_vram_mib;
}

static void add_up_programs(struct program_row *row, const struct program *program,
			    const struct ranked *ranked)
{
	row->cpu_secs += (double)(program->cpu_units - program->told_units) / 1e4;
	row->cpu_total_secs += (double)program->cpu_units / 1e4;
	row->cpu_estimated_secs += (double)program_estimated_units(program) / 1e4;
	row->memory_mib += (double)ranked->memory_units / UNITS_OF_MIB;
	row->disk_read_bytes += change_of(program, READ_BYTES);
	row->disk_write_bytes += change_of(program, WRITE_BYTES);
	row->disk_estimated_bytes +=
		estimated_change_of(program, READ_BYTES) + estimated_change_of(program, WRITE_BYTES);
	row->read_chars += change_of(program, READ_CHARS);
	row->written_chars += change_of(program, WRITTEN_CHARS);
	row->estimated_chars +=
		estimated_change_of(program, READ_CHARS) + estimated_change_of(program, WRITTEN_CHARS);
	row->process_count += program->process_count;
	row->exited_count = sum_of_counts(row->exited_count, exited_count_of(program));
	row->gpu_vram_mib += (double)ranked->vram_bytes / 1048576;
}

/* A command that could not be started has not got its name from the kernel. */
static const char *program_name_of(const struct collect_context *context, const struct program *program)
{
	bool not_started = context->ending->exec_errno && context->facts && context->facts->executable;

	return not_started ? context->facts->executable : program->name;
}

/* The first `most` programs in the order of `ranked` get a row each, the others one together. */
static void add_program_rows(const struct collect_context *context, struct frame *frame,
			     const struct program_usage *state, size_t count)
{
	const struct programs *programs = context->tree->programs;
	size_t most = (size_t)context->program_rows;
	struct program_row *row = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct program *program = &programs->at[state->ranked[i].index];

		if (i <= most) {
			const char *name = i < most ? program_name_of(context, program) : "others";
			const struct row *header;

			row = ADD_ROW(frame, program, NULL);
			header = &row->row;
			for (size_t j = 1; j < ROW_DESCRIPTIONS[ROW_program].metric_count; j++) {
				if (ROW_DESCRIPTIONS[ROW_program].metrics[j].type == TYPE_REAL)
					*row_real(header, metric_offset(j)) = 0;
				else
					*row_count(header, metric_offset(j)) = 0;
			}
			row->name = frame_text(frame, name, strlen(name));
		}
		add_up_programs(row, program, &state->ranked[i]);
		if (i < most || i + 1 == count)
			hide_unknown(tree_of(frame), row);
	}
}

static void add_totals(const struct collect_context *context, struct frame *frame,
		       const struct program_usage *state, size_t count)
{
	const struct programs *programs = context->tree->programs;
	const struct tree_row *tree = tree_of(frame);
	size_t most = (size_t)context->program_rows;
	struct run_end_program_row *row = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct program *program = &programs->at[state->ranked[i].index];

		if (i <= most) {
			const char *name = i < most ? program_name_of(context, program) : "others";

			row = ADD_ROW(frame, run_end_program, frame->first[ROW_run_end]);
			row->name = frame_text(frame, name, strlen(name));
			row->cpu_secs = row->cpu_estimated_secs = 0;
			row->disk_read_bytes = row->disk_write_bytes = row->process_count = 0;
			row->disk_read_estimated_bytes = row->disk_write_estimated_bytes = 0;
			/* The peaks of several programs need not have been at the same time. */
			row->memory_peak_mib = i < most && program->memory_peak_mib > 0
						       ? program->memory_peak_mib
						       : no_real(ABSENT_NOT_YET);
		}
		row->cpu_secs += (double)program->cpu_units / 1e4;
		row->cpu_estimated_secs += (double)program_estimated_units(program) / 1e4;
		row->disk_read_bytes += program->io[READ_BYTES];
		row->disk_read_estimated_bytes += program->io_estimated[READ_BYTES];
		row->disk_write_bytes += program->io[WRITE_BYTES];
		row->disk_write_estimated_bytes += program->io_estimated[WRITE_BYTES];
		row->process_count = sum_of_counts(
			row->process_count, sum_of_counts(exited_count_of(program), program->process_count));
		if (count_absent(tree->read_bytes_total))
			row->disk_read_bytes = row->disk_write_bytes = row->disk_read_estimated_bytes =
				row->disk_write_estimated_bytes = tree->read_bytes_total;
	}
}

static void remember_totals(struct programs *programs, const struct program_usage *state, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct ranked *ranked = &state->ranked[i];
		struct program *program = &programs->at[ranked->index];
		double memory_mib = (double)ranked->memory_units / UNITS_OF_MIB;

		program->told_units = program->cpu_units;
		memcpy(program->told_io, program->io, sizeof program->told_io);
		memcpy(program->told_io_estimated, program->io_estimated, sizeof program->told_io_estimated);
		if (memory_mib > program->memory_peak_mib)
			program->memory_peak_mib = memory_mib;
	}
}

static void program_usage_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct program_usage *state = state_;
	struct programs *programs = context->tree ? context->tree->programs : NULL;
	size_t count;

	if (!programs || !tree_of(frame)) {
		int reason = context->tree ? ABSENT_NOT_WANTED : ABSENT_NOT_TRACKED;

		frame_set_missing(frame, ROW_program, reason);
		frame_set_missing(frame, ROW_run_end_program, reason);
		return;
	}
	count = programs->count;
	if (!reserve_programs(state, count)) {
		frame_set_missing(frame, ROW_program, ENOMEM);
		return;
	}
	for (size_t i = 0; i < count; i++)
		state->ranked[i] = (struct ranked){
			.index = i, .cpu_units = programs->at[i].cpu_units - programs->at[i].told_units};
	add_program_memory(context, frame, state, count);
	add_vram(context, frame, state);
	if (!context->ending->exec_errno)
		count = leave_empty_out(programs, state, count, false);
	if (count)
		qsort(state->ranked, count, sizeof *state->ranked, most_used_first);
	add_program_rows(context, frame, state, count);
	remember_totals(programs, state, count);
	if (!frame->first[ROW_run_end])
		return;
	count = programs->count;
	for (size_t i = 0; i < count; i++)
		state->ranked[i] = (struct ranked){.index = i, .cpu_units = programs->at[i].cpu_units};
	if (!context->ending->exec_errno)
		count = leave_empty_out(programs, state, count, true);
	if (count)
		qsort(state->ranked, count, sizeof *state->ranked, most_used_first);
	add_totals(context, frame, state, count);
}

const struct collector PROGRAM_USAGE_COLLECTOR = {
	.name = "program_usage",
	.open = program_usage_open,
	.collect = program_usage_collect,
	.close = program_usage_close,
	.fills = (const enum row_kind[]){ROW_program, ROW_run_end_program, ROW_KINDS},
};
