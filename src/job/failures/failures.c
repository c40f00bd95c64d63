/* Which process failed first. See failures.h. */
#include "job/failures/failures.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/failures/failure_tuning.h"

/* ---- one process ------------------------------------------------------------------------------------------------- */

/* Whether the first word of a program's name is in a list of words, each with a blank before and after it. */
static bool begins_with_listed(const char *program, const char *list)
{
	size_t length = program ? strcspn(program, " ") : 0;

	for (const char *at = list; length && (at = strchr(at, ' ')) && at[1]; at++)
		if (strncmp(at + 1, program, length) == 0 && at[1 + length] == ' ')
			return true;
	return false;
}

static int signal_in(const struct failure *failure)
{
	return WIFSIGNALED(failure->wait_status) ? WTERMSIG(failure->wait_status) : 0;
}

/* The status that a shell would tell. */
static int told_status(const struct failure *failure)
{
	return WIFSIGNALED(failure->wait_status) ? 128 + WTERMSIG(failure->wait_status)
						 : WEXITSTATUS(failure->wait_status);
}

bool failure_is_crash(const struct failure *failure)
{
	int number = signal_in(failure);

	return number && number < 32 && (CRASH_SIGNALS >> number) & 1;
}

/* Programs that answer "no" by their status, and commands that were not found, which scripts try. */
static bool is_question(const struct failure *failure)
{
	int status = told_status(failure);

	if (signal_in(failure))
		return false;
	return (status <= 2 && begins_with_listed(failure->program, QUESTIONS)) ||
	       (status == 127 && !failure->last_fork_ns);
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

static int failure_weight(const struct failure *failure)
{
	return failure_is_crash(failure) ? 2 : !is_question(failure) && !signal_in(failure);
}

/* Makes place where the oldest of the least telling ones stands. */
static SELDOM void evict_failure(struct failures *failures)
{
	size_t least = 0;

	for (size_t i = 1; i < failures->count; i++)
		if (failure_weight(&failures->at[i]) < failure_weight(&failures->at[least]))
			least = i;
	failures->count--;
	memmove(&failures->at[least], &failures->at[least + 1],
		(failures->count - least) * sizeof *failures->at);
}

/* Several threads tell the end of a process whose first thread has ended before. */
static bool is_told_again(const struct failures *failures, const struct failure *failure)
{
	const struct failure *last = failures->count ? &failures->at[failures->count - 1] : NULL;

	return last && last->pid == failure->pid && failure->ended_ns - last->ended_ns < TOLD_AGAIN_NS;
}

void failures_add(struct failures *failures, const struct failure *failure)
{
	if (!failure->wait_status || is_told_again(failures, failure))
		return;
	failures->total++;
	if (failures->count == failures->capacity) {
		size_t capacity = failures->capacity ? failures->capacity * 2 : 16;
		struct failure *at =
			capacity > FAILURES_MOST ? NULL : realloc(failures->at, capacity * sizeof *at);

		if (at) {
			failures->at = at;
			failures->capacity = capacity;
		} else if (!failures->count) {
			return;
		} else {
			evict_failure(failures);
		}
	}
	failures->at[failures->count++] = *failure;
}

void failures_done(struct failures *failures)
{
	free(failures->at);
}

/* ---- the search ---------------------------------------------------------------------------------------------------- */

/* Marks of a child's end beside its parent's. */
enum {
	ANY = 0,
	SAME = 1,   /* it ended with the same status, or its parent tells its signal */
	QUIET = 2,  /* its parent forked nothing after it had ended */
	STRONG = 4, /* it did not only say "no" */
	CRASH = 8,
	HARD = 16, /* a crash that no other process sends */
};

/* A shell that got its signal tells so by its status. */
static bool has_same_status(const struct failure *child, const struct failure *parent)
{
	return told_status(child) == told_status(parent);
}

static bool is_child_of(const struct failure *child, const struct failure *parent)
{
	return child != parent && (child->parent_pid == parent->pid || child->reaper_pid == parent->pid) &&
	       child->pid != parent->pid && child->ended_ns <= parent->ended_ns &&
	       (!child->forked_ns || child->forked_ns >= parent->forked_ns);
}

/* Signals that processes get in the course of their work, and SIGKILL for those that lived when another one had failed. */
static bool was_ended_on_purpose(const struct failures *failures, const struct failure *child,
				 const struct failure *parent)
{
	int number = signal_in(child);

	if (!number || has_same_status(child, parent))
		return false;
	if (number < 32 && (POLITE_SIGNALS >> number) & 1)
		return !begins_with_listed(parent->program, LIMITERS);
	if (number != SIGKILL || begins_with_listed(parent->program, SHELLS))
		return false;
	for (const struct failure *before = failures->at; before < child; before++)
		if (is_child_of(before, parent) && failure_weight(before) > 0 &&
		    before->ended_ns >= child->forked_ns)
			return true;
	return false;
}

static int marks_of(const struct failure *child, const struct failure *parent)
{
	return (has_same_status(child, parent) ? SAME : 0) |
	       (child->ended_ns >= parent->last_fork_ns ? QUIET : 0) | (is_question(child) ? 0 : STRONG) |
	       (failure_is_crash(child) ? CRASH : 0) |
	       (failure_is_crash(child) && signal_in(child) != SIGKILL ? HARD : 0);
}

/* Returns the first or last child with all the marks, NULL for none. */
static const struct failure *pick_child(const struct failures *failures, const struct failure *parent,
					int marks, bool takes_last, size_t *ret_count)
{
	const struct failure *picked = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < failures->count; i++) {
		const struct failure *child = &failures->at[i];

		if (!is_child_of(child, parent) || (marks_of(child, parent) & marks) != marks ||
		    was_ended_on_purpose(failures, child, parent))
			continue;
		++*ret_count;
		if (!picked || takes_last == (child->ended_ns >= picked->ended_ns))
			picked = child;
	}
	return picked;
}

struct step {
	int marks;
	bool takes_last;
};

/* A shell ends with the status of its last command, unless it says otherwise. */
static const struct step OF_SHELL[] = {
	{SAME | QUIET, true}, {SAME | STRONG, true}, {STRONG | QUIET, true}, {STRONG, true}, {ANY, true}};
/* These end when a process has failed, after the others of that moment. */
static const struct step OF_MAKER[] = {{STRONG | QUIET | CRASH, false},
				       {STRONG | QUIET, false},
				       {STRONG | CRASH, false},
				       {STRONG, false},
				       {ANY, false}};
static const struct step OF_OTHER[] = {{STRONG | QUIET, false}, {SAME | STRONG, true}, {STRONG, true}};
/* A program may kill a child and go on. */
static const struct step CRASHES[] = {{HARD, false}, {CRASH | QUIET, false}};

static const struct failure *take_steps(const struct failures *failures, const struct failure *parent,
					const struct step *steps, size_t count, size_t *ret_count)
{
	const struct failure *child = NULL;

	for (size_t i = 0; i < count && !child; i++)
		child = pick_child(failures, parent, steps[i].marks, steps[i].takes_last, ret_count);
	return child;
}

/* In a pipeline, the reader fails because the writer has crashed. */
static const struct failure *earlier_in_pipeline(const struct failures *failures,
						 const struct failure *parent, const struct failure *last)
{
	for (const struct failure *child = failures->at; child < last; child++)
		if (is_child_of(child, parent) && failure_is_crash(child) &&
		    child->ended_ns >= last->forked_ns && child->forked_ns <= last->ended_ns)
			return child;
	return last;
}

/* When the last child of a process has ended, whatever its status: later it failed by itself. */
static bool went_on_alone(const struct failures *failures, const struct failure *parent)
{
	size_t count;
	const struct failure *last = pick_child(failures, parent, ANY, true, &count);

	return last && parent->ended_ns - max_i64(last->ended_ns, parent->last_fork_ns) > WENT_ON_NS;
}

/* Returns the child that explains the end of a process, NULL: it failed by itself. */
static const struct failure *child_that_explains(const struct failures *failures,
						 const struct failure *parent, size_t *ret_count)
{
	const struct failure *child;

	if (signal_in(parent))
		return pick_child(failures, parent, SAME, true, ret_count);
	if (begins_with_listed(parent->program, SHELLS)) {
		child = take_steps(failures, parent, OF_SHELL, ARRAY_SIZE(OF_SHELL), ret_count);
		return child ? earlier_in_pipeline(failures, parent, child) : NULL;
	}
	if (begins_with_listed(parent->program, MAKERS))
		return take_steps(failures, parent, OF_MAKER, ARRAY_SIZE(OF_MAKER), ret_count);
	child = take_steps(failures, parent, CRASHES, ARRAY_SIZE(CRASHES), ret_count);
	if (child || went_on_alone(failures, parent))
		return child;
	return take_steps(failures, parent, OF_OTHER, ARRAY_SIZE(OF_OTHER), ret_count);
}

/* `count`: of the children that are alike by the marks of the step that took this one. */
static bool is_sure_step(const struct failures *failures, const struct failure *parent,
			 const struct failure *child, size_t count)
{
	int marks = marks_of(child, parent);

	if (marks & HARD || (marks & CRASH && marks & QUIET))
		return true;
	if (!child->program || !(marks & STRONG) || !(marks & QUIET))
		return false;
	(void)pick_child(failures, parent, STRONG | QUIET, true, &count);
	return count == 1 || (marks & SAME && begins_with_listed(parent->program, SHELLS));
}

/* Another child that did not only say "no". */
static const struct failure *other_child(const struct failures *failures, const struct failure *parent,
					 const struct failure *child)
{
	size_t count;
	const struct failure *last = pick_child(failures, parent, STRONG, true, &count);

	if (last == child)
		last = pick_child(failures, parent, STRONG, false, &count);
	return last != child ? last : NULL;
}

/* A process whose parent has ended before it: no process of the path has waited for it. */
static const struct failure *crashed_orphan(const struct failures *failures, const struct failure *before)
{
	for (size_t i = 0; i < failures->count; i++) {
		const struct failure *at = &failures->at[i];

		if (failure_is_crash(at) && signal_in(at) != SIGKILL && at->reaper_pid && at->parent_pid &&
		    at->reaper_pid != at->parent_pid && at->ended_ns <= before->ended_ns)
			return at;
	}
	return NULL;
}

static bool path_has_pid(const struct first_failure *first, pid_t pid)
{
	for (size_t i = 0; i < first->depth; i++)
		if (first->path[i]->pid == pid)
			return true;
	return false;
}

static bool has_failed_pid(const struct failures *failures, pid_t pid)
{
	for (size_t i = 0; i < failures->count; i++)
		if (failures->at[i].pid == pid)
			return true;
	return false;
}

/*
 * Finds a process that failed shortly before the last one of the path, and whose parent did not fail. If that parent ended without waiting for
 * it, the last process may have heard of it as its new parent.
 */
static const struct failure *failed_unheard(const struct failures *failures,
					    const struct first_failure *first)
{
	const struct failure *last = first->path[first->depth - 1];

	for (size_t i = 0; i < failures->count && last->last_fork_ns; i++) {
		const struct failure *at = &failures->at[i];

		if (!path_has_pid(first, at->pid) && failure_weight(at) > 0 &&
		    at->ended_ns <= last->ended_ns && last->ended_ns - at->ended_ns <= WENT_ON_NS &&
		    !is_child_of(at, last) && !path_has_pid(first, at->parent_pid) &&
		    !has_failed_pid(failures, at->parent_pid) && at->forked_ns >= last->forked_ns)
			return at;
	}
	return NULL;
}

/* A subshell that ends its shell with its own status is a part of that shell. */
static bool is_subshell(const struct failure *child, const struct failure *parent)
{
	return child->is_fork && has_same_status(child, parent) && !signal_in(child) &&
	       begins_with_listed(parent->program, SHELLS);
}

void failures_first(const struct failures *failures, const struct failure *root,
		    struct first_failure *ret_first)
{
	struct first_failure first = {.is_sure = failures->total == (int64_t)failures->count};
	const struct failure *child = root->wait_status ? root : NULL;
	size_t count = 0;

	while (child && first.depth < FAILURE_DEPTH) {
		const struct failure *parent = child;

		first.path[first.depth++] = parent;
		child = child_that_explains(failures, parent, &count);
		if (child && !is_sure_step(failures, parent, child, count)) {
			first.is_sure = false;
			first.other = other_child(failures, parent, child);
		} else if (!child && pick_child(failures, parent, ANY, true, &count) && !signal_in(parent)) {
			/* It had children that failed, but went on. */
			first.is_sure = false;
			first.other = pick_child(failures, parent, STRONG, true, &count);
		}
	}
	if (first.depth && !failure_is_crash(first.path[first.depth - 1])) {
		const struct failure *orphan = crashed_orphan(failures, first.path[first.depth - 1]);

		if (orphan && (first.depth == 1 || !first.is_sure)) {
			first.other = first.path[first.depth - 1];
			first.path[first.depth == 1 ? first.depth++ : first.depth - 1] = orphan;
			first.is_sure = false;
		}
	}
	while (first.depth > 1 && is_subshell(first.path[first.depth - 1], first.path[first.depth - 2]))
		first.depth--;
	if (first.is_sure && first.depth) {
		first.other = failed_unheard(failures, &first);
		first.is_sure = !first.other;
	}
	*ret_first = first;
}

void failures_first_seen(const struct failures *failures, const struct failure *root, int64_t window_ns,
			 struct first_failure *ret_first)
{
	const struct failure *last, *parent;

	failures_first(failures, root, ret_first);
	ret_first->is_sure = false;
	if (ret_first->depth > 1) {
		last = ret_first->path[ret_first->depth - 1];
		parent = ret_first->path[ret_first->depth - 2];
		if (failure_is_crash(last) ||
		    (root->ended_ns - last->ended_ns <= window_ns && !is_question(last) && !signal_in(last) &&
		     (has_same_status(last, parent) || begins_with_listed(parent->program, MAKERS))))
			return;
	}
	ret_first->depth = 0;
}
