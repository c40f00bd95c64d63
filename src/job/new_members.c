/* Finds new members. See new_members.h. */
#include "job/new_members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/min_max.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "job/cpu/process_turns.h"
#include "job/programs/programs.h"
#include "job/tree/process_files.h"
#include "job/tree/tree_tuning.h"
#include "kernel/pid_list.h"
#include "kernel/proc_loadavg.h"
#include "kernel/proc_pid_children.h"

enum {
	PATH_SIZE = 64,
	SEARCH_ROUNDS = 64,
	FORKED_MOST = 4096,
	FOREIGN_BITS = 8 * sizeof((struct process_tree){0}.discovery.foreign),
	COST_WITHOUT_ROOM = INT32_MAX,
	PROC_MAGIC = 0x9fa0,
};

/* ---- one process ----------------------------------------------------------------------------------------- */

/* Fills a member from its first reading. On failure (-ESRCH, -EACCES, ...) it leaves nothing open. */
static int open_member(struct process_tree *tree, pid_t pid, struct member *ret_member)
{
	struct member member = {
		.pid = pid,
		.seen_pass = tree->passes,
		.files = {-1, -1, -1, -1, -1},
		.cpu = NEW_MEMBER_CPU,
		.memory = NEW_MEMBER_MEMORY,
	};
	struct proc_pid_stat stat;
	int error = member_read_stat(tree, &member, &stat);

	if (error < 0) {
		member_close_files(tree, &member);
		return error == -ENOENT ? -ESRCH : error;
	}
	member.parent_pid = stat.parent_pid;
	member.start_ticks = stat.start_ticks;
	member.state = stat.state;
	member.thread_count = max_i64(0, stat.thread_count);
	member.is_zombie = stat.state == 'Z' && member.thread_count <= 1;
	*ret_member = member;
	return 0;
}

int discover_process(struct process_tree *tree, pid_t pid)
{
	struct member member, *parent;
	int error;

	if (process_tree_find(tree, pid))
		return -EEXIST;
	if (!turns_have_room(tree)) {
		turns_leave_out(tree);
		return -EAGAIN;
	}
	error = process_tree_reserve(tree);
	if (!error)
		error = open_member(tree, pid, &member);
	if (error < 0)
		return error;
	turns_take_room(tree);
	parent = process_tree_find(tree, member.parent_pid);
	if (parent)
		parent->is_parent = parent->has_forked = true;
	process_tree_append(tree, &member);
	return 0;
}

/* ---- lists of children ------------------------------------------------------------------------------------- */

/*
 * Adds all processes in the text of a children file, as it was read: its length or a negative errno. Adding overwrites that text, so
 * their numbers are copied first.
 */
static void add_listed(struct process_tree *tree, ssize_t length)
{
	enum { BATCH = 256 };
	pid_t batch[BATCH];
	struct scan text = parse_proc_pid_children(tree->root->text.data, length > 0 ? (size_t)length : 0);
	CLEANUP_BUFFER struct buffer rest = BUFFER(16 << 20);

	for (bool is_first = true;; is_first = false) {
		size_t count = 0;

		while (count < BATCH && scan_pid(&text, &batch[count]))
			count++;
		if (is_first && count == BATCH) {
			buffer_add(&rest, text.at, scan_left(&text));
			text = scan_bytes(rest.data, rest.length);
		}
		for (size_t i = 0; i < count; i++)
			if (!process_tree_excludes(tree, batch[i]))
				(void)discover_process(tree, batch[i]);
		if (count < BATCH)
			return;
	}
}

static void discover_children_of_thread(struct process_tree *tree, pid_t pid, pid_t tid)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "task/%d/children", (int)tid);
	add_listed(tree, root_read_pid(tree->root, pid, path));
}

static void discover_children_of_threads(struct process_tree *tree, pid_t pid)
{
	char path[PATH_SIZE];
	DIR *directory;
	pid_t tid;

	snprintf(path, sizeof path, "%d/task", (int)pid);
	directory = process_folder_open(tree->root, path);
	if (!directory)
		return;
	while ((tid = process_folder_next(directory)) > 0)
		discover_children_of_thread(tree, pid, tid);
	closedir(directory);
}

static void discover_children(struct process_tree *tree, size_t index, bool was_listed)
{
	struct member *member = &tree->members[index];

	/* The numbers show the children of all threads. The list of the main thread is cheap, and a check. */
	if (member->thread_count > 1 &&
	    !(tree->discovery.tried_numbers && (was_listed || member->by_number))) {
		discover_children_of_threads(tree, member->pid);
		return;
	}
	add_listed(tree, member_read_file(tree, member, FILE_CHILDREN));
}

/* The kernel counts the threads as links, beside the two of any folder. The thread of the listener never forks. */
static bool has_one_thread(const struct process_tree *tree, pid_t pid)
{
	nlink_t ours = programs_have_thread(tree->programs);
	char path[PATH_SIZE];
	struct stat status;

	snprintf(path, sizeof path, "%d/task", (int)pid);
	return fstatat(tree->root->proc_fd, path, &status, 0) == 0 && status.st_nlink == 3 + ours;
}

static void discover_orphans(struct process_tree *tree)
{
	const pid_t own = getpid();

	if (has_one_thread(tree, own)) {
		char path[sizeof tree->discovery.own_children_path] = "";

		snprintf(path, sizeof path, "proc/%d/task/%d/children", (int)own, (int)own);
		/* A program with a tracker may have forked. */
		if (strcmp(path, tree->discovery.own_children_path) != 0)
			kept_file_close(&tree->discovery.own_children_file);
		tree->discovery.own_children_file.path =
			memcpy(tree->discovery.own_children_path, path, sizeof path);
		add_listed(tree, root_reread(tree->root, &tree->discovery.own_children_file));
		return;
	}
	/* Any of our threads may have forked, and the kernel may give orphans to any of them. */
	discover_children_of_threads(tree, own);
}

/* ---- numbers of new processes ------------------------------------------------------------------------------ */

/*
 * The cost of the lists of children that this pass would read: one per thread, and that of a single thread is kept open.
 *
 * Much may be paid to do without the lists of threads. Each leaves an entry below /proc/PID/task in the kernel's cache of names, which
 * the thread drops as it ends. A thread that is kept from the CPU while it does that makes the parent of its process wait actively
 * in wait4(2): 10 to 60 ms at the end of a JVM, with 13 runnable processes for two CPUs.
 */
static int64_t lists_cost(const struct process_tree *tree)
{
	int64_t cost = 0;
	bool any_threads = false;

	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->members[i];

		if (member->is_zombie)
			continue;
		any_threads |= member->thread_count > 1;
		if (member->quiet_ticks <= TREE_QUIET_PASSES_LISTED)
			cost += member->thread_count > 1 ? member->thread_count * COST_OF_THREAD_LIST
							 : COST_OF_LIST;
	}
	return any_threads ? max_i64(cost, COST_TO_SPARE_THREADS) : cost;
}

/* The file may be a replacement of lxcfs, which does not know the newest process. */
static int64_t newest_pid(struct process_tree *tree)
{
	bool is_new = tree->discovery.loadavg_file.fd < 0;
	struct proc_loadavg loadavg;
	struct statfs filesystem;

	if (tree->discovery.numbers_unknown ||
	    read_proc_loadavg(tree->root, &tree->discovery.loadavg_file, &loadavg) < 0)
		return 0;
	if (is_new &&
	    (fstatfs(tree->discovery.loadavg_file.fd, &filesystem) < 0 || filesystem.f_type != PROC_MAGIC))
		tree->discovery.numbers_unknown = true;
	return tree->discovery.numbers_unknown ? 0 : loadavg.last_pid;
}

/*
 * A bit for each of the last numbers: its process was seen, and its parent is outside the job. That parent is visible, so it has been
 * tried as well, and the process need not be tried again.
 */
static uint64_t *foreign_bits(struct process_tree *tree, pid_t pid, uint64_t *ret_bit)
{
	*ret_bit = UINT64_C(1) << (unsigned)pid % 64;
	return &tree->discovery.foreign[(unsigned)pid / 64 % ARRAY_SIZE(tree->discovery.foreign)];
}

static bool is_foreign(struct process_tree *tree, pid_t pid)
{
	uint64_t bit;

	return *foreign_bits(tree, pid, &bit) & bit;
}

static void note_foreign(struct process_tree *tree, pid_t pid, bool is_foreign)
{
	uint64_t bit, *bits = foreign_bits(tree, pid, &bit);

	*bits = is_foreign ? *bits | bit : *bits & ~bit;
}

/* Returns the cost. `was_tried`: a pass before has tried it. */
static int64_t try_number(struct process_tree *tree, pid_t pid, bool was_tried)
{
	struct proc_pid_stat stat;
	const struct member *parent;

	if (was_tried && is_foreign(tree, pid))
		return 0;
	note_foreign(tree, pid, false);
	/* Threads and processes that have gone have no process clock. */
	if (process_tree_find(tree, pid) || process_tree_excludes(tree, pid) || process_clock_ns(pid) < 0)
		return COST_OF_NUMBER;
	/* The lists of children tell whether it belongs to the job. */
	if (!turns_have_room(tree))
		return COST_WITHOUT_ROOM;
	if (read_proc_pid_stat(tree->root, pid, &stat) < 0)
		return COST_OF_STAT;
	parent = process_tree_find(tree, stat.parent_pid);
	note_foreign(tree, pid, !parent);
	if (parent && parent->pid != pid && stat.start_ticks >= parent->start_ticks &&
	    discover_process(tree, pid) == 0)
		tree->members[tree->count - 1].by_number = true;
	return COST_OF_STAT;
}

/*
 * The events of the kernel leave out processes of others, of which a busy machine has many. Returns false if they may have missed a
 * fork, or if there are so many new processes that the lists cost less.
 */
static bool discover_by_events(struct process_tree *tree, int64_t lists_cost)
{
	int64_t left = max_i64(lists_cost, COST_OF_EVENTS_LEAST);
	pid_t *pids = programs_are_exact(tree->programs) ? malloc(FORKED_MOST * sizeof *pids) : NULL;
	ssize_t count = pids ? programs_forked(tree->programs, pids, FORKED_MOST) : -1;
	size_t known = SIZE_MAX;

	/* A child may stand before its parent. */
	while (tree->count != known) {
		known = tree->count;
		for (ssize_t i = 0; i < count && left >= 0; i++)
			left -= try_number(tree, pids[i], false);
		if (left < 0)
			count = -1;
	}
	free(pids);
	return count >= 0;
}

static void discover_by_number(struct process_tree *tree)
{
	int64_t first = tree->discovery.newest_pids[1], before = tree->discovery.newest_pids[0], last, left;
	bool is_recent = tree->touched_ns - tree->discovery.newest_ns <= NEWEST_AGE_NS;

	if (tree->discovery.looked_at_numbers || !tree->uses_clock || !tree->discovery.knows_children ||
	    !tree->with_children)
		return;
	left = lists_cost(tree);
	if (left <= COST_OF_LISTS_LEAST && !tree->reads_all)
		return;
	tree->discovery.looked_at_numbers = true;
	if (discover_by_events(tree, left)) {
		tree->discovery.tried_numbers = true;
		memset(tree->discovery.foreign, 0, sizeof tree->discovery.foreign);
		return;
	}
	last = newest_pid(tree);
	tree->discovery.newest_pids[1] = before;
	tree->discovery.newest_pids[0] = last;
	tree->discovery.newest_ns = tree->touched_ns;
	/* The kernel assigns a number a moment before its process becomes visible: each is tried in two passes. */
	if (first <= 0 || before < first || last < before || !is_recent ||
	    (last - first) * COST_OF_NUMBER > left)
		left = -1;
	for (int64_t pid = first + 1; pid <= last && left >= 0; pid++)
		left -= try_number(tree, (pid_t)pid, pid <= before && before - first <= FOREIGN_BITS);
	tree->discovery.tried_numbers = left >= 0;
	/* The next pass tries all of these numbers for the first time. */
	if (!tree->discovery.tried_numbers)
		memset(tree->discovery.foreign, 0, sizeof tree->discovery.foreign);
}

/* ---- everything ------------------------------------------------------------------------------------------------ */

/* Reads all of /proc once. Returns how many members it found. */
static int search_once(struct process_tree *tree)
{
	DIR *directory = process_folder_open(tree->root, ".");
	int found = 0;
	pid_t pid;

	if (!directory)
		return 0;
	while ((pid = process_folder_next(directory)) > 0) {
		struct proc_pid_stat stat;
		const struct member *parent;

		if (process_tree_find(tree, pid) || process_tree_excludes(tree, pid) ||
		    read_proc_pid_stat(tree->root, pid, &stat) < 0)
			continue;
		parent = process_tree_find(tree, stat.parent_pid);
		if (parent && stat.start_ticks >= parent->start_ticks && discover_process(tree, pid) == 0)
			found++;
	}
	closedir(directory);
	return found;
}

static void discover_by_search(struct process_tree *tree)
{
	/* A child may come before its parent in /proc, because pids wrap around. Search until nothing new is found. */
	for (int round = 0; round < SEARCH_ROUNDS && search_once(tree) > 0; round++)
		continue;
}

/*
 * Parents stand before children in the table. So a process whose parent is a process of the job as well is left to the
 * list of its parent's children, which the same pass reads.
 */
static SELDOM void add_if_stray(struct process_tree *tree, pid_t pid, const pid_t *strays, size_t count)
{
	struct proc_pid_stat stat;

	if (process_tree_find(tree, pid) || process_tree_excludes(tree, pid) ||
	    read_proc_pid_stat(tree->root, pid, &stat) < 0 || process_tree_find(tree, stat.parent_pid) ||
	    pid_list_has(strays, count, stat.parent_pid))
		return;
	(void)discover_process(tree, pid);
}

/* Adds processes that left the tree between two passes, as the listener knows them. */
SELDOM static void discover_strays(struct process_tree *tree)
{
	pid_t *pids;
	size_t living, count = 0;

	/* The descendants of a process that the caller started come to the caller. */
	if (tree->started_by_caller || !tree->with_children || !programs_listen(tree->programs))
		return;
	pids = malloc(STRAYS_MOST * sizeof *pids);
	if (!pids)
		return;
	living = programs_living(tree->programs, pids, STRAYS_MOST);
	for (size_t i = 0; i < living; i++)
		if (!process_tree_find(tree, pids[i]))
			pids[count++] = pids[i];
	for (size_t i = 0; i < count && i < STRAYS_READ; i++)
		add_if_stray(tree, pids[(tree->passes * STRAYS_READ + i) % count], pids, count);
	free(pids);
}

void discover_above(struct process_tree *tree)
{
	tree->discovery.looked_at_numbers = tree->discovery.tried_numbers = false;
	if (tree->with_children && tree->started_by_caller)
		discover_orphans(tree);
	discover_strays(tree);
	if (tree->with_children && !tree->discovery.knows_children)
		discover_by_search(tree);
	discover_by_number(tree);
}

void discover_below(struct process_tree *tree, size_t index)
{
	bool was_listed = tree->members[index].listed;
	size_t left_out;

	tree->members[index].listed = true;
	if (!tree->with_children || !tree->discovery.knows_children || tree->members[index].is_zombie)
		return;
	/* These may move the table. */
	if (tree->members[index].thread_count > 1)
		discover_by_number(tree);
	left_out = tree->cpu.turns.left_out;
	discover_children(tree, index, was_listed);
	tree->members[index].has_more = tree->cpu.turns.left_out > left_out;
}

/* A kept list belongs to the process. Another process may have the number of a member that has gone. */
static bool may_list(const struct process_tree *tree, const struct member *member)
{
	struct proc_pid_stat stat;

	return member->files[FILE_CHILDREN] >= 0 ||
	       (read_proc_pid_stat(tree->root, member->pid, &stat) == 0 &&
		stat.start_ticks == member->start_ticks);
}

void discover_below_early(struct process_tree *tree, size_t index)
{
	bool was_listed = tree->members[index].listed;

	if (tree->discovery.tried_numbers || !may_list(tree, &tree->members[index]))
		return;
	discover_below(tree, index);
	tree->members[index].listed = was_listed;
}

/* If a child ends at this moment, an ancestor is the likely new parent. */
void discover_new_parents(struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];
		const struct member *parent = process_tree_find(tree, member->parent_pid);
		struct proc_pid_stat stat;

		if (member->vanished || !parent || !parent->vanished)
			continue;
		for (size_t steps = 0; parent && parent->vanished && steps <= tree->count; steps++) {
			member->parent_pid = parent->parent_pid;
			parent = process_tree_find(tree, member->parent_pid);
		}
		if (read_proc_pid_stat(tree->root, member->pid, &stat) == 0 &&
		    stat.start_ticks == member->start_ticks) {
			member->parent_pid = stat.parent_pid;
			member->parent_reaped = member->is_untold = false;
		}
	}
}

void discover_excluded(struct process_tree *tree)
{
	char path[PATH_SIZE];
	ssize_t length;
	struct scan text;
	pid_t pid;

	snprintf(path, sizeof path, "%d/task/%d/children", (int)getpid(), (int)getpid());
	length = root_read_at(tree->root, tree->root->proc_fd, path);
	if (length < 0)
		return;
	tree->discovery.knows_children = true;
	text = parse_proc_pid_children(tree->root->text.data, (size_t)length);
	while (scan_pid(&text, &pid))
		process_tree_exclude(tree, pid);
}

static bool knows_children(struct process_tree *tree, pid_t pid)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "%d/task/%d/children", (int)pid, (int)pid);
	return faccessat(tree->root->proc_fd, path, F_OK, 0) == 0;
}

int discover_root(struct process_tree *tree, pid_t pid)
{
	struct member *root;
	int error;

	tree->discovery.knows_children = tree->discovery.knows_children || knows_children(tree, pid);
	error = discover_process(tree, pid);
	if (error < 0)
		return error;
	root = process_tree_root(tree);
	root->listed = !tree->with_children;
	if (!tree->started_by_caller)
		return 0;
	/* The numbers of its descendants follow its own. */
	root->by_number = true;
	tree->discovery.newest_pids[0] = tree->discovery.newest_pids[1] = pid;
	tree->discovery.newest_ns = tree->last_full_ns;
	return 0;
}

void discovery_open(struct process_tree *tree)
{
	tree->discovery.loadavg_file = KEPT_FILE("proc/loadavg");
	tree->discovery.own_children_file.fd = -1;
}

void discovery_done(struct process_tree *tree)
{
	kept_file_close(&tree->discovery.loadavg_file);
	kept_file_close(&tree->discovery.own_children_file);
}
