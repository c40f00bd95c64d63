/*
 * The sample's position in its run, the facts about the run (first sample), and how it ended (last sample:
 * run_end.c).
 */
#include "collect/run_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "job/cpu/job_cpu.h"
#include "collect/run_end.h"
#include "kernel/figures_from.h"
#include "kernel/os_release.h"
#include "kernel/proc_cpuinfo.h"
#include "kernel/proc_sys_kernel.h"
#include "resource_tracker.h"
#include "metric/typed_rows.h"

/* Facts that stay the same during a run. Texts are "" if unknown. */
struct machine {
	bool known; /* was read */
	struct proc_sys_kernel kernel;
	struct os_release release;
	struct proc_cpuinfo cpu;
	int64_t cpu_count; /* -1: unknown */
	char server[128];  /* product name, from the firmware */
	char architecture[65];
	char figures_from[64];
};

struct run_state {
	struct run_end_state end;
	struct machine machine;
};

static const char *given_run_text(struct frame *frame, const char *text)
{
	return text ? frame_text(frame, text, strlen(text)) : no_text(ABSENT_NOT_GIVEN);
}

/* Kernel readers leave an absent text empty. */
static const char *found_text(struct frame *frame, const char *text)
{
	return *text ? frame_text(frame, text, strlen(text)) : no_text(ENOENT);
}

static void fill_run_sample(struct collect_context *context, struct frame *frame)
{
	const struct run_progress *progress = &context->progress;
	struct sample_row *row = frame->sample;

	row->timestamp_secs = frame->realtime_ns / NSEC_PER_SEC;
	row->timestamp = ns_to_secs(frame->realtime_ns / NSEC_PER_USEC * NSEC_PER_USEC);
	row->elapsed_secs = ns_to_secs(frame->monotonic_ns - progress->started_ns);
	row->actual_interval_ms = (double)(frame->monotonic_ns - progress->previous_ns) / 1e6;
	row->sample = progress->number;
	row->missed_ticks = progress->missed;
	row->host = given_run_text(frame, context->facts->host);
	row->rank = context->facts->rank < 0 ? no_count(ABSENT_NOT_GIVEN) : context->facts->rank;
	row->job_name = given_run_text(frame, context->facts->job_name);
	row->tracked_pid = context->tree ? context->tree->root_pid : no_count(ABSENT_NOT_TRACKED);
}

static void read_machine_row(struct machine *machine, struct root *root)
{
	struct utsname names;

	*machine = (struct machine){.known = true, .cpu_count = -1};
	(void)read_proc_sys_kernel(root, &machine->kernel);
	(void)read_os_release(root, &machine->release);
	(void)root_read_word(root, "sys/class/dmi/id/product_name", machine->server, sizeof machine->server);
	if (read_proc_cpuinfo(root, &machine->cpu) == 0)
		machine->cpu_count = machine->cpu.cpu_count;
	read_figures_from(root, machine->figures_from, sizeof machine->figures_from);
	if (root->live && uname(&names) == 0)
		snprintf(machine->architecture, sizeof machine->architecture, "%s", names.machine);
}

static void fill_machine(const struct machine *machine, struct frame *frame, struct run_start_row *row)
{
	if (!machine->known) {
		row->kernel = row->boot_id = row->os = row->server = no_text(ABSENT_NOT_YET);
		row->cpu_model = row->architecture = row->figures_from = no_text(ABSENT_NOT_YET);
		row->cpu_count = no_count(ABSENT_NOT_YET);
		return;
	}
	row->kernel = found_text(frame, machine->kernel.release);
	row->boot_id = found_text(frame, machine->kernel.boot_id);
	row->os = found_text(frame, *machine->release.pretty_name ? machine->release.pretty_name
								  : machine->release.name);
	row->figures_from = found_text(frame, machine->figures_from);
	row->server = found_text(frame, machine->server);
	row->cpu_model = found_text(frame, machine->cpu.model);
	row->architecture = found_text(frame, machine->architecture);
	row->cpu_count = machine->cpu_count < 0 ? no_count(ABSENT_NOT_A_VALUE) : machine->cpu_count;
}

static void fill_pairs(struct frame *frame, enum row_kind kind, struct row *parent,
		       const struct name_value *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct row *row = frame_add(frame, kind, parent);

		*row_text(row, metric_offset(0)) = given_run_text(frame, pairs[i].name);
		*row_text(row, metric_offset(1)) = given_run_text(frame, pairs[i].value);
	}
}

void run_start_add(void *state, const struct collect_context *context, struct frame *frame)
{
	const struct machine *machine = &((const struct run_state *)state)->machine;
	const struct run_facts *facts = context->facts;
	struct run_start_row *row = ADD_ROW(frame, run_start, NULL);
	const struct memory_row *memory = (const struct memory_row *)(const void *)frame->first[ROW_memory];
	const struct limits_row *limits = (const struct limits_row *)(const void *)frame->first[ROW_limits];

	row->schema_version = RT_SCHEMA_VERSION;
	fill_machine(machine, frame, row);
	if (memory)
		row->memory_total_mib = memory->total_mib;
	if (limits) {
		row->cpu_limit_cores = context->first_cpu_limit_cores;
		row->memory_limit_mib = context->first_memory_limit_mib;
		row->cpuset_cores = limits->cpuset_cores;
	}
#define JOB_SETTING(field, ...) row->field = given_run_text(frame, facts->field);
#include "options/job_settings.def"
	row->executable = given_run_text(frame, facts->executable);
	row->program = given_run_text(frame, facts->program);
	row->argument_count = facts->argc > 0 ? facts->argc : no_count(ABSENT_NOT_GIVEN);
	row->command = given_run_text(frame, facts->command);
	row->input_bytes = facts->input_source ? (int64_t)facts->input_size : no_count(ABSENT_NOT_GIVEN);
	row->input_source = given_run_text(frame, facts->input_source);
	row->run_id = given_run_text(frame, facts->run_id);
	row->folder = given_run_text(frame, facts->folder);
	row->mode = given_run_text(frame, facts->mode);
	row->interval_secs = facts->interval_seconds;
	row->carbon_g_per_kwh = facts->carbon_factor > 0 ? facts->carbon_factor : no_real(ABSENT_NOT_GIVEN);
	row->children = facts->children;
	row->aligned = facts->aligned;
	row->cpu_source = context->tree ? cpu_source(context->tree) : no_text(ABSENT_NOT_TRACKED);
	if (frame->missing[ROW_gpu])
		frame_set_missing(frame, ROW_run_start_gpu, frame->missing[ROW_gpu]);
	for (const struct row *gpu = frame->first[ROW_gpu]; gpu; gpu = gpu->next)
		ADD_ROW(frame, run_start_gpu, &row->row)->name =
			((const struct gpu_row *)(const void *)gpu)->name;
	fill_pairs(frame, ROW_run_start_tag, &row->row, facts->tags, facts->tag_count);
	fill_pairs(frame, ROW_run_start_scheduler, &row->row, facts->scheduler, facts->scheduler_count);
}

static int run_open(struct collect_context *context, void **ret_state)
{
	struct run_state *state = calloc(1, sizeof *state);

	(void)context;
	if (!state)
		return -ENOMEM;
	run_end_open(&state->end);
	*ret_state = state;
	return 0;
}

static void run_prepare(void *state_, struct collect_context *context)
{
	struct run_state *state = state_;

	read_machine_row(&state->machine, context->root);
	run_end_prepare(&state->end, context->root);
}

static void run_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct run_state *state = state_;

	fill_run_sample(context, frame);
	if (context->progress.baseline) {
		run_end_baseline(&state->end, context, frame);
		return;
	}
	run_end_follow(&state->end, context, frame);
	if (context->progress.number == 0)
		run_start_add(state, context, frame);
	if (context->ending->reason)
		run_end_fill(&state->end, context, frame);
}

static void run_close(void *state_)
{
	struct run_state *state = state_;

	run_end_close(&state->end);
	free(state);
}

const struct collector RUN_COLLECTOR = {
	.name = "run",
	.open = run_open,
	.collect = run_collect,
	.prepare = run_prepare,
	.close = run_close,
	.fills = (const enum row_kind[]){ROW_sample, ROW_KINDS},
};
