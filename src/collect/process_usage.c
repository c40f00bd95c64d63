/* The use of the tracked process tree: the rows for the figures of the member table. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/debug.h"
#include "collect/collector.h"
#include "collect/process_usage.h"
#include "job/cpu/job_cpu.h"
#include "job/member_lines.h"
#include "job/memory/process_memory.h"
#include "job/pass.h"
#include "job/programs/programs.h"
#include "metric/typed_rows.h"

struct process_usage {
	struct process_memory memory;
	double main_utime_secs; /* the last known value, for after the root has exited */
	double main_stime_secs;
};

static int process_usage_open(struct collect_context *context, void **ret_state)
{
	struct process_usage *state = calloc(1, sizeof *state);

	if (!state)
		return -ENOMEM;
	process_memory_open(&state->memory, context->root);
	*ret_state = state;
	return 0;
}

static void process_usage_close(void *state_)
{
	struct process_usage *state = state_;

	process_memory_close(&state->memory);
	free(state);
}

static void fill_totals(struct tree_row *row, const struct usages *published, int io_error)
{
	row->cpu_total_secs = ns_to_secs(published->of[USAGE_CPU_NS]);
	row->utime_total_secs = ns_to_secs(published->of[USAGE_UTIME_NS]);
	row->stime_total_secs = ns_to_secs(published->of[USAGE_CPU_NS] - published->of[USAGE_UTIME_NS]);
	row->minor_faults_total = published->of[USAGE_MINOR_FAULTS];
	row->major_faults_total = published->of[USAGE_MAJOR_FAULTS];
	row->read_bytes_total = io_error ? no_count(io_error) : published->of[USAGE_READ_BYTES];
	row->write_bytes_total = io_error ? no_count(io_error) : published->of[USAGE_WRITE_BYTES];
	row->cancelled_bytes_total = io_error ? no_count(io_error) : published->of[USAGE_CANCELLED_BYTES];
	row->read_chars_total = io_error ? no_count(io_error) : published->of[USAGE_READ_CHARS];
	row->written_chars_total = io_error ? no_count(io_error) : published->of[USAGE_WRITTEN_CHARS];
}

/* If the main process could not be read either, the kernel does not count this. */
static void fill_waiting(struct tree_row *row, const struct process_tree *tree)
{
	const struct tree_waiting *waiting = &tree->cpu.waiting;
	int reason = !waiting->is_followed                                   ? ABSENT_NOT_WANTED
		     : waiting->error == ENOENT || waiting->error == ENODATA ? ABSENT_NO_SUCH_COUNTER
		     : waiting->error                                        ? waiting->error
									     : ABSENT_NOT_YET;
	const struct thread_counters *total = &waiting->total;

	row->cpu_wait_total_secs = waiting->has_times ? ns_to_secs(total->wait_ns) : no_real(reason);
	row->cpu_wait_known_total_secs = waiting->has_times ? ns_to_secs(total->run_ns) : no_real(reason);
	row->voluntary_switches_total = waiting->has_switches ? total->voluntary : no_count(reason);
	row->involuntary_switches_total = waiting->has_switches ? total->involuntary : no_count(reason);
}

bool process_usage_follows_waiting(const struct selection *selection)
{
	return selection->kinds[ROW_run_end] || IS_WANTED(selection, tree, process_cpu_wait_secs) ||
	       IS_WANTED(selection, tree, process_cpu_wait_known_secs) ||
	       IS_WANTED(selection, tree, process_voluntary_switches) ||
	       IS_WANTED(selection, tree, process_involuntary_switches);
}

static void fill_counts(struct tree_row *row, struct process_tree *tree)
{
	int64_t running = (int64_t)process_tree_running(tree), unreadable = 0, threads = 0;
	const struct member *root = process_tree_root(tree);
	int64_t exits = programs_exits(tree);

	for (size_t i = 0; i < tree->count; i++) {
		unreadable += tree->members[i].unreadable || tree->members[i].memory.is_refused;
		threads += tree->members[i].is_zombie ? 0 : tree->members[i].thread_count;
	}
	row->process_child_count = running - (root && !root->is_zombie ? 1 : 0);
	row->process_thread_count = threads;
	row->process_unreadable_count = unreadable;
	if (tree->cpu.turns.left_out)
		row->process_child_count = row->process_thread_count = row->process_unreadable_count =
			no_count(ABSENT_LEFT_OUT);
	row->process_exited_count = exits < 0 ? no_count(ABSENT_UNSEEN_EXITS) : exits;
}

static void fill_main(struct process_usage *state, struct tree_row *row, const struct process_tree *tree)
{
	const struct member *root = process_tree_root(tree);

	if (root) {
		const struct account *account = &root->cpu.account;
		int64_t user_ns = account->own.of[USAGE_UTIME_NS] - account->own_before.of[USAGE_UTIME_NS];
		int64_t all_ns = account->own.of[USAGE_CPU_NS] - account->own_before.of[USAGE_CPU_NS];

		/* The split is an estimate that may go down a little, but totals must not. */
		if (ns_to_secs(user_ns) > state->main_utime_secs)
			state->main_utime_secs = ns_to_secs(user_ns);
		if (ns_to_secs(all_ns - user_ns) > state->main_stime_secs)
			state->main_stime_secs = ns_to_secs(all_ns - user_ns);
	}
	row->main_utime_total_secs = state->main_utime_secs;
	row->main_stime_total_secs = state->main_stime_secs;
	if (!root || root->is_zombie) {
		row->process_main_rss_mib = no_real(ABSENT_ZOMBIE);
		row->process_main_thread_count = 0;
		return;
	}
	row->process_main_thread_count = root->thread_count;
	row->process_main_rss_mib =
		root->memory.is_being_freed
			? no_real(ABSENT_ZOMBIE)
			: (double)(root->memory.resident_pages * tree->root->page_bytes) / 1048576;
}

static void fill_memory(struct process_usage *state, struct tree_row *row, struct collect_context *context,
			struct frame *frame)
{
	static const char *const SOURCES[] = {
		[MEMORY_PSS] = "pss",     [MEMORY_SAMPLED] = "sampled", [MEMORY_CGROUP] = "cgroup",
		[MEMORY_BOUND] = "bound", [MEMORY_RSS] = "rss",
	};
	struct tree_memory memory;
	int pss_reason;

	debug_say_member("sample %lld", (long long)context->progress.number);
	process_memory_measure(&state->memory, context->tree, context->pss, &memory);
	context->meminfo = memory.machine;
	if ((context->tree->programs || debug_has_members()) && !memory.reason)
		process_memory_divide(&state->memory, context->tree,
				      (double)((memory.best_bytes + 512) / 1024));
	if (debug_has_members())
		member_lines_say(context->tree, &state->memory);
	pss_reason = memory.reason ? memory.reason : memory.pss_reason;
	if (memory.reason) {
		row->process_rss_mib = row->process_memory_mib = no_real(memory.reason);
		row->process_memory_source = no_text(memory.reason);
		row->process_memory_error_mib = no_real(memory.reason);
	} else {
		row->process_rss_mib = context->tree->cpu.turns.left_out ? no_real(ABSENT_LEFT_OUT)
									 : (double)memory.rss_bytes / 1048576;
		/* The kernel counts in KiB: a finer estimate has no meaning. */
		row->process_memory_mib = (double)((memory.best_bytes + 512) / 1024) / 1024;
		row->process_memory_source = SOURCES[memory.best_source];
		row->process_memory_error_mib =
			memory.error_kib < 0 ? no_real(ABSENT_NOT_SAMPLED) : (double)memory.error_kib / 1024;
	}
	if (pss_reason) {
		row->process_pss_mib = row->process_private_mib = no_real(pss_reason);
		row->process_shared_mib = row->process_swap_mib = no_real(pss_reason);
		row->process_file_mib = row->process_hugetlb_mib = no_real(pss_reason);
		row->process_main_private_mib = no_real(pss_reason);
		SINGLE_ROW(frame, tracker)->pss_age_secs = no_real(pss_reason);
		return;
	}
	row->process_pss_mib = (double)memory.pss_kib / 1024;
	row->process_private_mib = (double)memory.private_kib / 1024;
	row->process_main_private_mib =
		memory.main_private_kib < 0 ? no_real(ABSENT_ZOMBIE) : (double)memory.main_private_kib / 1024;
	row->process_shared_mib = (double)memory.shared_kib / 1024;
	row->process_swap_mib = (double)memory.swap_kib / 1024;
	row->process_file_mib = (double)memory.file_kib / 1024;
	row->process_hugetlb_mib = (double)memory.huge_kib / 1024;
	SINGLE_ROW(frame, tracker)->pss_age_secs = ns_to_secs(memory.pss_age_ns);
}

void process_usage_begin(struct frame *frame)
{
	struct tree_row *row = (struct tree_row *)(void *)frame->first[ROW_tree];

	if (!row)
		return;
	fill_totals(row, &(struct usages){0}, 0);
	row->main_utime_total_secs = row->main_stime_total_secs = 0;
	row->cpu_wait_total_secs = row->cpu_wait_known_total_secs = 0;
	row->voluntary_switches_total = row->involuntary_switches_total = 0;
	row->cpu_energy_total_joules = 0;
	row->net_received_total = row->net_sent_total = 0;
	row->net_received_bound_total = row->net_sent_bound_total = 0;
	row->net_retransmits_total = row->net_connections_total = 0;
}

static void process_usage_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct process_usage *state = state_;
	/* An inline row is added below its parent. */
	struct tree_row *row = ADD_ROW(frame, tree, frame_single(frame, ROW_host_cpu));
	int io_error;

	if (!context->tree) {
		row_set_absent(&row->row, ABSENT_NOT_TRACKED);
		SINGLE_ROW(frame, tracker)->process_age_secs = no_real(ABSENT_NOT_TRACKED);
		SINGLE_ROW(frame, tracker)->pss_age_secs = no_real(ABSENT_NOT_TRACKED);
		return;
	}
	row->process_cpu_source = cpu_source(context->tree);
	if (context->ending->reason)
		process_tree_finish(context->tree);
	process_tree_touch(context->tree);
	row->row.read_ns = root_monotonic_ns(context->root);
	SINGLE_ROW(frame, tracker)->process_age_secs = ns_to_secs(context->tree->cpu.turns.oldest_age_ns);
	io_error = context->tree->cpu.io_error;
	/* The process exists but the file does not: this kernel does not count it. */
	fill_totals(row, cpu_published(context->tree),
		    io_error == ENOENT ? ABSENT_NO_SUCH_COUNTER : io_error);
	fill_waiting(row, context->tree);
	fill_counts(row, context->tree);
	fill_main(state, row, context->tree);
	fill_memory(state, row, context, frame);
}

const struct collector PROCESS_USAGE_COLLECTOR = {
	.name = "process_usage",
	.open = process_usage_open,
	.collect = process_usage_collect,
	.close = process_usage_close,
	.fills = (const enum row_kind[]){ROW_tree, ROW_KINDS},
};
