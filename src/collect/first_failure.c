/* The rows of failed processes. See first_failure.h; job/failures/failures.h has the search. */
#include "collect/first_failure.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/signal_names.h"
#include "job/programs/program_table.h"
#include "job/programs/programs.h"

enum { FAILURE_ROWS_MOST = 16, PARENTS_BYTES = 1024 };

struct failure_search {
	const struct collect_context *context;
	struct frame *frame;
	const struct failures *failures;
	int64_t oom_kills; /* -1: unknown */
	int64_t killed;    /* processes that died of SIGKILL */
};

static const char *failure_text(struct frame *frame, const char *text)
{
	return text ? frame_text(frame, text, strlen(text)) : no_text(ABSENT_NOT_YET);
}

static bool died_of_kill(const struct failure *failure)
{
	return WIFSIGNALED(failure->wait_status) && WTERMSIG(failure->wait_status) == SIGKILL;
}

/* The sender of a SIGKILL is unknown. As many kills for lack of memory as processes that died of it are a proof. */
static int64_t out_of_memory(const struct failure_search *search, const struct failure *failure)
{
	if (!died_of_kill(failure) || search->oom_kills == 0)
		return 0;
	return search->oom_kills >= search->killed ? 1 : no_count(ABSENT_NO_ATTRIBUTION);
}

static void fill_failure(const struct failure_search *search, const struct failure *failure,
			 struct failure_row *row)
{
	row->program = failure_text(search->frame, failure->program);
	row->pid = failure->pid;
	row->exit_code = row->signal = row->core_dumped = no_count(ABSENT_NOT_THIS_END);
	if (WIFEXITED(failure->wait_status))
		row->exit_code = WEXITSTATUS(failure->wait_status);
	if (WIFSIGNALED(failure->wait_status)) {
		row->signal = WTERMSIG(failure->wait_status);
		row->core_dumped = WCOREDUMP(failure->wait_status) ? 1 : 0;
	}
	row->out_of_memory = out_of_memory(search, failure);
	row->elapsed_secs = ns_to_secs(failure->ended_ns - search->context->progress.started_ns);
	row->cpu_secs = failure->cpu_ns < 0 ? no_real(ABSENT_NOT_YET) : ns_to_secs(failure->cpu_ns);
	row->memory_mib = row->sample_age_secs = no_real(ABSENT_NOT_YET);
	if (failure->sampled_ns) {
		row->memory_mib = (double)failure->resident_kib / 1024;
		row->sample_age_secs = ns_to_secs(failure->ended_ns - failure->sampled_ns);
	}
	row->parents = failure_text(search->frame, failure->parent);
}

/* ---- the first one --------------------------------------------------------------------------------------------- */

/* Adds "make (exit status 2)". */
static int write_end(char *text, size_t size, const struct failure *failure)
{
	const char *program = failure->program ? failure->program : "unknown";
	char name[SIGNAL_NAME_SIZE];

	if (WIFSIGNALED(failure->wait_status))
		return snprintf(text, size, "%s (%s)", program,
				signal_name(WTERMSIG(failure->wait_status), name));
	return snprintf(text, size, "%s (exit status %d)", program, WEXITSTATUS(failure->wait_status));
}

static const char *write_parents(const struct first_failure *first, struct frame *frame)
{
	char text[PARENTS_BYTES];
	size_t length = 0;

	for (size_t i = 0; i + 1 < first->depth && length < sizeof text; i++) {
		length += (size_t)snprintf(text + length, sizeof text - length, "%s", i ? " > " : "");
		if (length < sizeof text)
			length += (size_t)write_end(text + length, sizeof text - length, first->path[i]);
	}
	return length ? frame_text(frame, text, length < sizeof text ? length : sizeof text - 1)
		      : no_text(ABSENT_NOT_THIS_END);
}

static void add_first(const struct failure_search *search, const struct first_failure *first,
		      struct run_end_row *end, int64_t ended_ns)
{
	struct first_failure_row *row = ADD_ROW(search->frame, first_failure, &end->row);
	const struct failure *leaf = first->path[first->depth - 1];
	struct failure_row like;

	fill_failure(search, leaf, &like);
	row->program = like.program;
	row->pid = like.pid;
	row->exit_code = like.exit_code;
	row->signal = like.signal;
	row->core_dumped = like.core_dumped;
	row->out_of_memory = like.out_of_memory;
	row->elapsed_secs = like.elapsed_secs;
	row->cpu_secs = like.cpu_secs;
	row->memory_mib = like.memory_mib;
	row->sample_age_secs = like.sample_age_secs;
	row->parents = write_parents(first, search->frame);
	row->before_end_secs = ended_ns > leaf->ended_ns ? ns_to_secs(ended_ns - leaf->ended_ns) : 0;
	row->certainty = first->is_sure ? "sure" : "probably";
	row->other_program = no_text(ABSENT_NOT_THIS_END);
	row->other_pid = no_count(ABSENT_NOT_THIS_END);
	if (first->other) {
		row->other_program = failure_text(search->frame, first->other->program);
		row->other_pid = first->other->pid;
	}
}

/* The event of its end may have come too late, or not at all. Its status is then that of wait4(). */
static struct failure failed_root(const struct collect_context *context, int64_t ended_ns)
{
	struct failure root = context->tree->programs->root;
	const struct program *program = programs_of(context->tree->programs, context->tree->root_pid);

	root.pid = context->tree->root_pid;
	if (context->ending->has_status)
		root.wait_status = context->ending->wait_status;
	if (!root.ended_ns || root.ended_ns > ended_ns)
		root.ended_ns = ended_ns;
	if (!root.program && program)
		root.program = program->name;
	return root;
}

static void add_failures(const struct failure_search *search, struct run_end_row *end)
{
	const struct failures *failures = search->failures;
	size_t left = FAILURE_ROWS_MOST;

	for (int crashes = 1; crashes >= 0; crashes--)
		for (size_t i = 0; i < failures->count && left; i++)
			if (failure_is_crash(&failures->at[i]) == crashes) {
				fill_failure(search, &failures->at[i],
					     ADD_ROW(search->frame, failure, &end->row));
				left--;
			}
}

RUNS_ONCE void first_failure_fill(const struct collect_context *context, struct frame *frame,
				  struct run_end_row *end, int64_t ended_ns, int64_t oom_kills)
{
	static const int REASONS[] = {ABSENT_NOT_THIS_END, ABSENT_NO_EVENTS, ABSENT_EVENTS_LOST};
	const struct programs *programs = context->tree ? context->tree->programs : NULL;
	struct failure_search search = {.context = context, .frame = frame, .oom_kills = oom_kills};
	struct first_failure first;
	struct failure root;
	int reason = !context->tree ? ABSENT_NOT_TRACKED
		     : !programs    ? ABSENT_NOT_WANTED
				    : REASONS[programs_hear_failures(programs)];

	frame_set_missing(frame, ROW_first_failure, reason);
	end->failure_count = no_count(reason);
	if (reason != ABSENT_NOT_THIS_END)
		frame_set_missing(frame, ROW_failure, reason);
	if (reason != ABSENT_NOT_THIS_END && reason != ABSENT_NO_EVENTS)
		return;
	search.failures = &programs->failures;
	for (size_t i = 0; i < search.failures->count; i++)
		search.killed += died_of_kill(&search.failures->at[i]);
	add_failures(&search, end);
	root = failed_root(context, ended_ns);
	if (reason == ABSENT_NO_EVENTS) {
		/* Others may have been killed unseen. */
		search.killed = INT64_MAX;
		failures_first_seen(search.failures, &root,
				    (int64_t)(context->facts->interval_seconds * 2e9) + NSEC_PER_SEC / 2,
				    &first);
	} else {
		end->failure_count = search.failures->total;
		failures_first(search.failures, &root, &first);
	}
	/* A command that could not be started has failed in the recorder's hands. */
	if (first.depth && !context->ending->exec_errno)
		add_first(&search, &first, end, ended_ns);
}
