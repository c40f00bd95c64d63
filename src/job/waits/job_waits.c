/* How long the job waited, and for what. See job_waits.h. */
#include "job/waits/job_waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "job/cpu/job_cpu.h"
#include "job/programs/program_table.h"
#include "job/programs/programs.h"
#include "job/waits/wait_chain.h"
#include "job/waits/wait_detail.h"

const char *wait_class_name(enum wait_class class)
{
	switch (class) {
#define WAIT_WORD(id, name) \
	case WAIT_##id: \
		return name;
		WAIT_CLASSES(WAIT_WORD)
#undef WAIT_WORD
	case WAIT_CLASS_COUNT:
		break;
	}
	return "other";
}

static const char *detail_of(const struct counted_wait *row)
{
	return row->detail ? row->detail : "";
}

/* Returns another row of the same wait with this detail, or NULL. */
static struct counted_wait *same_row_with(struct job_waits *waits, const struct counted_wait *row,
					  const char *detail)
{
	for (size_t i = 0; i < waits->count; i++)
		if (&waits->rows[i] != row && waits->rows[i].wait.class == row->wait.class &&
		    strcmp(waits->rows[i].program, row->program) == 0 &&
		    strcmp(waits->rows[i].wait.target, row->wait.target) == 0 &&
		    strcmp(detail_of(&waits->rows[i]), detail) == 0)
			return &waits->rows[i];
	return NULL;
}

static size_t detail_count(const struct job_waits *waits)
{
	size_t count = 0;

	for (size_t i = 0; i < waits->count; i++)
		count += waits->rows[i].detail != NULL;
	return count;
}

struct counted_wait *job_waits_row(struct job_waits *waits, const struct found_wait *wait,
				   const char *program, const char *detail)
{
	struct counted_wait row = {.wait = *wait};

	for (;;) {
		struct counted_wait *known;

		snprintf(row.program, sizeof row.program, "%s", program);
		known = same_row_with(waits, &row, detail);
		if (known)
			return known;
		if (*detail && detail_count(waits) >= WAIT_DETAILS_MOST) {
			detail = "";
			continue;
		}
		if (waits->count < WAIT_ROWS_MOST - (*program ? WAIT_CLASS_COUNT : 0))
			break;
		program = detail = "";
		row.wait.target[0] = '\0';
	}
	row.detail = *detail ? strdup(detail) : NULL;
	waits->rows[waits->count] = row;
	return &waits->rows[waits->count++];
}

static const char *waiting_program_of(const struct process_tree *tree, pid_t pid)
{
	const struct program *program = tree->programs ? programs_of(tree->programs, pid) : NULL;
	const struct member *member = process_tree_find(tree, pid);

	return program ? program->name : member ? member->program.comm : "?";
}

static void see_wait(struct job_waits *waits, struct process_tree *tree)
{
	struct found_wait wait;
	char detail[WAIT_DETAIL_SIZE] = "";
	int error = 0;

	/* As long as no process has run, all wait for the same. */
	if (waits->has_last && !process_tree_any_ran(tree)) {
		waits->rows[waits->last].looks++;
		return;
	}
	waits->has_last = wait_chain_end(tree, &wait, &error);
	if (waits->has_last) {
		struct counted_wait *row;

		if (waits->wants_detail)
			wait_detail(tree->root, &wait, detail);
		row = job_waits_row(waits, &wait, waiting_program_of(tree, wait.pid), detail);
		waits->last = (size_t)(row - waits->rows);
		row->looks++;
	} else if (error) {
		waits->error = error;
	}
}

void job_waits_look(struct job_waits *waits, struct process_tree *tree, int64_t began_ns, int64_t ended_ns)
{
	/* A pass after the end may be late, on a busy machine. */
	int64_t now_ns =
		ended_ns ? max_i64(waits->looked_ns, min_i64(ended_ns, tree->pass_ns)) : tree->pass_ns;
	int64_t cpu_ns = cpu_published(tree)->of[USAGE_CPU_NS];
	const struct tree_waiting *threads = &tree->cpu.waiting;
	int64_t passed_ns = now_ns - (waits->looked_ns ? waits->looked_ns : began_ns);
	int64_t ran_ns = cpu_ns - waits->cpu_ns, idle_ns = passed_ns - ran_ns;

	/* Processes that ended unread may have waited for a CPU as long as they ran. */
	if (threads->has_times)
		idle_ns -= threads->total.wait_ns - waits->delayed_ns +
			   max_i64(0, ran_ns - (threads->total.run_ns - waits->known_ns));
	waits->looked_ns = now_ns;
	waits->found_ns = 0;
	waits->cpu_ns = cpu_ns;
	waits->delayed_ns = threads->total.wait_ns;
	waits->known_ns = threads->total.run_ns;
	if (!tree->root->live)
		return;
	if (idle_ns < passed_ns / WAIT_IDLE_PARTS) {
		waits->has_last = false;
		return;
	}
	waits->idle_ns += idle_ns;
	waits->pending_ns += idle_ns;
	if (!ended_ns && process_tree_running(tree))
		see_wait(waits, tree);
	if (!waits->has_last)
		return;
	waits->rows[waits->last].ns += waits->pending_ns;
	waits->found_ns = waits->pending_ns;
	waits->pending_ns = 0;
}

static void drop_detail(struct counted_wait *row)
{
	free(row->detail);
	row->detail = NULL;
}

/* Adds the row to another and removes it. */
static void join_rows(struct job_waits *waits, struct counted_wait *row, struct counted_wait *into)
{
	drop_detail(row);
	into->ns += row->ns;
	into->looks += row->looks;
	waits->count--;
	memmove(row, row + 1, (size_t)(waits->rows + waits->count - row) * sizeof *row);
}

static void sort_rows(struct job_waits *waits)
{
	for (size_t i = 1; i < waits->count; i++) {
		struct counted_wait row = waits->rows[i];
		size_t at = i;

		for (; at && waits->rows[at - 1].ns < row.ns; at--)
			waits->rows[at] = waits->rows[at - 1];
		waits->rows[at] = row;
	}
}

/* The shortest wait behind the first `most` that has a detail loses it. False: none has one. */
static bool drop_one_detail(struct job_waits *waits, size_t most)
{
	for (size_t i = waits->count; i-- > most;) {
		struct counted_wait *row = &waits->rows[i], *same;

		if (!row->detail)
			continue;
		drop_detail(row);
		same = same_row_with(waits, row, "");
		if (same)
			join_rows(waits, row, same);
		return true;
	}
	return false;
}

void job_waits_finish(struct job_waits *waits, size_t most)
{
	/* A wait that has lost its detail may be among the first again, with those that were told apart. */
	do
		sort_rows(waits);
	while (drop_one_detail(waits, most));
	for (size_t i = most; i < waits->count; i++) {
		size_t others = most;

		/* The first of each class becomes the row of its others. */
		while (waits->rows[others].wait.class != waits->rows[i].wait.class)
			others++;
		waits->rows[others].program[0] = waits->rows[others].wait.target[0] = '\0';
		if (others != i)
			join_rows(waits, &waits->rows[i--], &waits->rows[others]);
	}
}

void job_waits_done(struct job_waits *waits)
{
	for (size_t i = 0; i < waits->count; i++)
		drop_detail(&waits->rows[i]);
	waits->count = 0;
}
