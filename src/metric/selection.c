/* Which metrics are wanted; see selection.h. */
#include "metric/selection.h"

#include <fnmatch.h>
#include <string.h>

#include "metric/typed_rows.h"

#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) \
	_Static_assert(sizeof(struct kind##_row) <= sizeof(struct row) + METRICS_PER_KIND_MOST * 8, \
		       "too many");
#include "metric/catalogue.def"

enum { NAME_SIZE = 160 };

static bool is_kept(enum row_kind kind, size_t index)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[kind];

	if (kind == ROW_sample || (description->key_offset && index == 0))
		return true;
	while (kind != ROW_sample) {
		if (kind == ROW_run_start || kind == ROW_run_end || kind == ROW_cloud)
			return true;
		kind = ROW_DESCRIPTIONS[kind].parent;
	}
	return false;
}

/*
 * Matches the full name, its last part, or the name of a group that contains it ("disk" for
 * disk.mounts.used_pct).
 */
static bool glob_matches(const char *glob, enum row_kind kind, size_t index)
{
	char name[NAME_SIZE];
	size_t length = strlen(glob);

	metric_full_name(kind, index, name, sizeof name);
	return fnmatch(glob, name, 0) == 0 || (strncmp(name, glob, length) == 0 && name[length] == '.') ||
	       fnmatch(glob, ROW_DESCRIPTIONS[kind].metrics[index].name, 0) == 0;
}

static bool is_picked(enum row_kind kind, size_t index, char *const *globs, size_t glob_count)
{
	for (size_t i = 0; i < glob_count; i++)
		if (glob_matches(globs[i], kind, index))
			return true;
	return glob_count == 0;
}

static bool is_switched_off(enum row_kind kind, bool no_system, bool no_process)
{
	switch (kind) {
	case ROW_tree:
	case ROW_program:
	case ROW_run_end_program:
	case ROW_run_end_wait:
	case ROW_wait:
	case ROW_job_disk:
		return no_process;
	case ROW_host_cpu:
	case ROW_cpu_core:
	case ROW_memory:
	case ROW_network:
	case ROW_disk:
	case ROW_mount:
	case ROW_gpu:
	case ROW_gpu_detail:
	case ROW_gpu_process:
	case ROW_totals:
	case ROW_energy:
	case ROW_numa:
		return no_system;
	default:
		return false;
	}
}

/* The collector of one kind reads rows of another one. */
static const struct {
	enum row_kind wanted, needed;
} NEEDS[] = {
	{ROW_program, ROW_tree},     {ROW_run_end_program, ROW_tree}, {ROW_run_end_wait, ROW_tree},
	{ROW_wait, ROW_tree},        {ROW_run_end, ROW_tree},         {ROW_run_end, ROW_cgroup},
	{ROW_run_start, ROW_memory}, {ROW_run_start, ROW_limits},     {ROW_signal_at, ROW_tree},
	{ROW_signal_at, ROW_memory}, {ROW_signal_at, ROW_limits},
};

void selection_init(struct selection *selection, bool no_system, bool no_process, char *const *globs,
		    size_t glob_count)
{
	bool all = !no_system && !no_process && glob_count == 0;

	memset(selection, all, sizeof *selection);
	if (all)
		return;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		bool off = is_switched_off(kind, no_system, no_process);

		for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++) {
			bool picked = !off && is_picked(kind, i, globs, glob_count), kept = is_kept(kind, i);

			selection->metrics[kind][i] = picked || kept;
			/* A row that keeps only its key is not worth recording, unless that is what was asked for. */
			if (picked ? !kept || glob_count || selection->all : kind == ROW_sample)
				selection->kinds[kind] = true;
		}
	}
	/* Sums need the rows that they add up. */
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++)
			if (selection->kinds[kind] && selection->metrics[kind][i] &&
			    ROW_DESCRIPTIONS[kind].metrics[i].nature == SUM_OF_DELTAS)
				selection->kinds[ROW_DESCRIPTIONS[kind].metrics[i].from_kind] = true;
	for (size_t i = 0; i < sizeof NEEDS / sizeof NEEDS[0]; i++)
		if (!is_switched_off(NEEDS[i].needed, no_system, no_process))
			selection->kinds[NEEDS[i].needed] |= selection->kinds[NEEDS[i].wanted];
	for (enum row_kind kind = ROW_KINDS; kind-- > 1;)
		if (selection->kinds[kind] && ROW_DESCRIPTIONS[kind].shape != INLINE)
			selection->kinds[ROW_DESCRIPTIONS[kind].parent] = true;
}

const char *selection_unmatched(char *const *globs, size_t glob_count)
{
	for (size_t g = 0; g < glob_count; g++) {
		bool matches = false;

		for (enum row_kind kind = 0; kind < ROW_KINDS && !matches; kind++)
			for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count && !matches; i++)
				matches = ROW_DESCRIPTIONS[kind].metrics[i].nature != RAW &&
					  glob_matches(globs[g], kind, i);
		if (!matches)
			return globs[g];
	}
	return NULL;
}

void selection_apply(const struct selection *selection, struct frame *frame)
{
	if (selection->all)
		return;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (struct row *row = frame->first[kind]; row; row = row->next)
			for (size_t i = 0; i < ROW_DESCRIPTIONS[kind].metric_count; i++)
				if (!selection->metrics[kind][i] &&
				    ROW_DESCRIPTIONS[kind].metrics[i].nature != RAW)
					field_set_absent(row, ROW_DESCRIPTIONS[kind].metrics[i].type,
							 metric_offset(i), ABSENT_NOT_WANTED);
}
