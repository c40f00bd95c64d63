/* One member of a process tree; see process_member.h. */
#include "job/tree/process_member.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/min_max.h"
#include "job/memory/memory_lineage.h"
#include "job/memory/memory_reading.h"
#include "job/programs/programs.h"
#include "job/tree/process_discovery.h"
#include "kernel/proc_pid_io.h"
#include "kernel/proc_pid_statm.h"
#include "kernel/proc_pid_status.h"

enum {
	NAME_SIZE = 64,
	DESCRIPTORS_OF_OTHERS = 64,
	SIGCHLD_BIT = 1 << (17 - 1),
	PF_EXITING = 0x4,
	PAGES_BEHIND = 128, /* /proc/PID/stat may tell another size than statm by this much */
};

static int64_t not_negative(int64_t value)
{
	return value < 0 ? 0 : value;
}

/* More than a process can do in years. A larger count is damage: it counts as 0, as an unknown one does, and its sums do not overflow. */
#define TICKS_MOST (INT64_C(1) << 36)
#define FAULTS_MOST (INT64_C(1) << 44)
#define BYTES_MOST (INT64_C(1) << 58)

static int64_t at_most(int64_t value, int64_t most)
{
	return value < 0 || value > most ? 0 : value;
}

int64_t descriptors_to_keep(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT32_MAX)
		return INT32_MAX;
	/* Leave half to the program around the tracker, if this is a library in it. */
	return ((int64_t)limit.rlim_cur - DESCRIPTORS_OF_OTHERS) / 2;
}

/* The CPU time of any user's process, also of a zombie, in nanoseconds. -1: no such process. */
static int64_t process_clock_ns(pid_t pid)
{
	/* Computed like clock_getcpuclockid(3), without its system call. */
	clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return -1;
	return (int64_t)time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

ssize_t member_read_file(struct process_tree *tree, const struct member *member, int *fd, const char *name)
{
	char path[NAME_SIZE];

	if (*fd >= 0)
		return root_pread(tree->root, *fd);
	snprintf(path, sizeof path, "%d/%s", (int)member->pid, name);
	if (tree->fds_left <= 0 || member->quiet_ticks > 1)
		return root_read_at(tree->root, tree->root->proc_fd, path);
	*fd = openat(tree->root->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return errno == EMFILE || errno == ENFILE
			       ? root_read_at(tree->root, tree->root->proc_fd, path)
			       : -errno;
	tree->fds_left--;
	return root_pread(tree->root, *fd);
}

void member_close_file(struct process_tree *tree, int *fd)
{
	if (*fd < 0)
		return;
	close(take_fd(fd));
	tree->fds_left++;
}

void member_close(struct process_tree *tree, struct member *member)
{
	member_close_file(tree, &member->stat_fd);
	member_close_file(tree, &member->memory.statm_fd);
	member_close_file(tree, &member->cpu.io_fd);
	member_close_file(tree, &member->cpu.schedstat_fd);
	member_close_file(tree, &member->children_fd);
	waiting_close(tree, member);
}

void member_done(struct process_tree *tree, struct member *member)
{
	member_close(tree, member);
	memory_reading_free(member->memory.reading);
	member->memory.reading = NULL;
	waiting_member_done(member);
}

static int read_stat(struct process_tree *tree, struct member *member, struct proc_pid_stat *ret_stat)
{
	ssize_t length = member_read_file(tree, member, &member->stat_fd, "stat");

	if (length < 0)
		return (int)length;
	return parse_proc_pid_stat(tree->root->text.data, (size_t)length, ret_stat);
}

int member_open(struct process_tree *tree, pid_t pid, struct member *ret_member)
{
	struct member member = {
		.pid = pid,
		.cpu.clock_ns = -1,
		.cpu.looked_ns = -1,
		.memory.rollup_ns = -1,
		.memory.stat_pages = -1,
		.memory.stat_bytes = -1,
		.seen_pass = tree->passes,
		.stat_fd = -1,
		.memory.statm_fd = -1,
		.cpu.io_fd = -1,
		.cpu.schedstat_fd = -1,
		.children_fd = -1,
	};
	struct proc_pid_stat stat;
	int error = read_stat(tree, &member, &stat);

	if (error < 0) {
		member_close(tree, &member);
		return error == -ENOENT ? -ESRCH : error;
	}
	member.parent_pid = stat.parent_pid;
	member.start_ticks = stat.start_ticks;
	member.state = stat.state;
	member.thread_count = not_negative(stat.thread_count);
	member.is_zombie = stat.state == 'Z' && member.thread_count <= 1;
	*ret_member = member;
	return 0;
}

/* Whether the root of the tree is the program in which this code runs. Its figures include the tracker's part. */
static bool is_around_us(const struct process_tree *tree, const struct member *member)
{
	return tree->cpu.own_cost && member->pid == tree->root_pid;
}

bool member_has_clock(pid_t pid)
{
	return process_clock_ns(pid) >= 0;
}

bool member_is_gone(const struct member *member)
{
	return process_clock_ns(member->pid) < 0;
}

static int64_t clock_of(const struct process_tree *tree, const struct member *member)
{
	int64_t clock_ns = process_clock_ns(member->pid);

	return clock_ns >= 0 && is_around_us(tree, member) ? clock_ns - own_cost_cpu_ns(tree->cpu.own_cost)
							   : clock_ns;
}

bool member_has_run_since_look(const struct process_tree *tree, struct member *member)
{
	int64_t before_ns = member->cpu.looked_ns;

	member->cpu.looked_ns = clock_of(tree, member);
	return member->cpu.looked_ns >= 0 && member->cpu.looked_ns != before_ns;
}

bool member_has_run(struct process_tree *tree, struct member *member)
{
	int64_t clock_ns;

	if (!tree->uses_clock)
		return true;
	clock_ns = clock_of(tree, member);
	member->cpu.looked_ns = clock_ns;
	if (clock_ns < 0) {
		member->vanished = true;
		return false;
	}
	if (clock_ns == member->cpu.clock_ns)
		return false;
	member->cpu.ran_ns = member->cpu.clock_ns < 0 || clock_ns < member->cpu.clock_ns
				     ? INT64_MAX
				     : clock_ns - member->cpu.clock_ns;
	if (member->cpu.ran_ns != INT64_MAX) {
		tree->cpu.turns.ran_count++;
		tree->cpu.turns.ran_ns += member->cpu.ran_ns;
	}
	/* A clock that has gone back belongs to a new process with the same pid. Its stat file will show that. */
	member->cpu.clock_ns = clock_ns;
	return true;
}

static int64_t ticks_ns(const struct process_tree *tree, int64_t ticks)
{
	return at_most(ticks, TICKS_MOST) * (NSEC_PER_SEC / tree->root->clock_ticks);
}

/* The user part of `total_ns`: whole ticks as the kernel splits them, the rest in the same proportion. */
static int64_t user_part(const struct process_tree *tree, const struct proc_pid_stat *stat, int64_t total_ns)
{
	int64_t user_ns = ticks_ns(tree, stat->utime_ticks), system_ns = ticks_ns(tree, stat->stime_ticks);
	int64_t rest_ns = total_ns - user_ns - system_ns;

	if (rest_ns <= 0)
		return user_ns < total_ns ? user_ns : total_ns;
	if (user_ns + system_ns == 0)
		return rest_ns / 2;
	return user_ns + (int64_t)((double)rest_ns * (double)user_ns / (double)(user_ns + system_ns));
}

static void account_stat(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	struct account *account = &member->cpu.account;
	int64_t ticked_ns = ticks_ns(tree, stat->utime_ticks) + ticks_ns(tree, stat->stime_ticks);

	account->own.of[USAGE_CPU_NS] =
		tree->uses_clock && member->cpu.clock_ns >= 0 ? member->cpu.clock_ns : ticked_ns;
	account->own.of[USAGE_UTIME_NS] = user_part(tree, stat, account->own.of[USAGE_CPU_NS]);
	account->own.of[USAGE_MINOR_FAULTS] = at_most(stat->minor_faults, FAULTS_MOST);
	account->own.of[USAGE_MAJOR_FAULTS] = at_most(stat->major_faults, FAULTS_MOST);
	if (tree->with_children) {
		account->waited.of[USAGE_UTIME_NS] = ticks_ns(tree, stat->waited_utime_ticks);
		account->waited.of[USAGE_CPU_NS] =
			account->waited.of[USAGE_UTIME_NS] + ticks_ns(tree, stat->waited_stime_ticks);
		account->waited.of[USAGE_MINOR_FAULTS] = at_most(stat->waited_minor_faults, FAULTS_MOST);
		account->waited.of[USAGE_MAJOR_FAULTS] = at_most(stat->waited_major_faults, FAULTS_MOST);
	}
	for (enum usage i = USAGE_CPU_NS; i <= USAGE_MAJOR_FAULTS; i++)
		account->appears.of[i] = account->waited.of[i];
}

static void usages_of_io(const struct proc_pid_io *io, struct usages *ret_usages)
{
	ret_usages->of[USAGE_READ_BYTES] = at_most(io->read_bytes, BYTES_MOST);
	ret_usages->of[USAGE_WRITE_BYTES] = at_most(io->write_bytes, BYTES_MOST);
	ret_usages->of[USAGE_CANCELLED_BYTES] = at_most(io->cancelled_write_bytes, BYTES_MOST);
	ret_usages->of[USAGE_READ_CHARS] = at_most(io->read_chars, BYTES_MOST);
	ret_usages->of[USAGE_WRITTEN_CHARS] = at_most(io->written_chars, BYTES_MOST);
}

static int read_io(struct process_tree *tree, struct member *member)
{
	ssize_t length = member_read_file(tree, member, &member->cpu.io_fd, "io");
	struct usages read = {0};
	struct proc_pid_io io;

	if (length < 0)
		return (int)length;
	if (parse_proc_pid_io(tree->root->text.data, (size_t)length, &io) < 0)
		return -EBADMSG;
	usages_of_io(&io, &read);
	for (enum usage i = USAGE_READ_BYTES; i <= USAGE_WRITTEN_CHARS; i++) {
		member->cpu.account.own.of[i] = read.of[i];
		member->cpu.account.appears.of[i] = read.of[i];
	}
	return 0;
}

static ssize_t take_own_io(const struct root *root, ssize_t length, struct usages *ret_io)
{
	struct proc_pid_io io;

	if (length < 0)
		return length;
	if (parse_proc_pid_io(root->text.data, (size_t)length, &io) < 0)
		return -EBADMSG;
	*ret_io = (struct usages){0};
	usages_of_io(&io, ret_io);
	return length;
}

int member_read_thread_io(struct root *root, pid_t tid, struct usages *ret_io)
{
	char path[NAME_SIZE];
	ssize_t length;

	snprintf(path, sizeof path, "proc/self/task/%d/io", (int)tid);
	length = take_own_io(root, root->live ? root_read(root, path) : -ENOENT, ret_io);
	return length < 0 ? (int)length : 0;
}

int member_read_self_io(struct process_tree *tree, struct usages *ret_io)
{
	struct root *root = tree->root;

	return (int)take_own_io(root, root->live ? root_reread(root, &tree->cpu.self_io_file) : -ENOENT,
				ret_io);
}

pid_t member_memory_id(struct process_tree *tree, const struct member *member)
{
	bool leader_ended = member->state == 'Z' && member->thread_count > 1;
	pid_t thread = leader_ended ? discovery_other_thread(tree, member->pid) : 0;

	return thread > 0 ? thread : member->pid;
}

static int read_statm(struct process_tree *tree, struct member *member)
{
	pid_t id = member_memory_id(tree, member);
	ssize_t length = id != member->pid
				 ? root_read_pid(tree->root, id, "statm")
				 : member_read_file(tree, member, &member->memory.statm_fd, "statm");
	struct proc_pid_statm statm;

	if (length < 0)
		return (int)length;
	if (parse_proc_pid_statm(tree->root->text.data, (size_t)length, &statm) < 0)
		return -EBADMSG;
	if (statm.virtual_pages > 0)
		member->memory.is_being_freed = false;
	else if (member->memory.virtual_pages > 0)
		member->memory.is_being_freed = true;
	member->memory.resident_pages = not_negative(statm.resident_pages);
	member->memory.shared_pages = not_negative(statm.shared_pages);
	member->memory.virtual_pages = not_negative(statm.virtual_pages);
	return 0;
}

/*
 * An exiting process gives up its address space first. The kernel then takes 0.1 s per GiB to free the pages.
 */
static void note_freeing(struct member *member, const struct proc_pid_stat *stat)
{
	member->memory.is_being_freed |=
		!member->memory.virtual_pages && (proc_pid_stat_is_exiting(stat) || stat->virtual_bytes > 0);
}

static int64_t anonymous_pages(const struct member *member)
{
	return not_negative(member->memory.resident_pages - member->memory.shared_pages);
}

static int64_t faults_of(const struct proc_pid_stat *stat)
{
	return at_most(stat->minor_faults, FAULTS_MOST) + at_most(stat->major_faults, FAULTS_MOST);
}

/*
 * Reads statm so that page faults and size are of one moment. The process may run, and the kernel may take our CPU away, between
 * stat and statm: a process that fills its memory meanwhile would seem to have got pages without faults. If the two files disagree
 * about its size, stat is read once more; while that shows new faults, so are both files, up to three times. The narrowest pair
 * counts. `stat` becomes the last one read before statm.
 */
static int read_size_and_faults(struct process_tree *tree, struct member *member, struct proc_pid_stat *stat)
{
	int64_t narrowest = INT64_MAX;

	for (int attempt = 0; attempt < 3; attempt++) {
		struct proc_pid_stat after = *stat;
		int64_t passed = 0;
		int error = read_statm(tree, member);

		if (error < 0)
			return error;
		if (member->state != 'Z' &&
		    absolute_difference(stat->resident_pages, member->memory.resident_pages) > PAGES_BEHIND &&
		    read_stat(tree, member, &after) == 0 && after.start_ticks == member->start_ticks)
			passed = faults_of(&after) - faults_of(stat);
		if (passed < narrowest) {
			narrowest = passed;
			member->memory.faults = faults_of(stat);
			member->memory.anon_at_faults = anonymous_pages(member);
		}
		if (passed <= PAGES_BEHIND)
			return 0;
		*stat = after;
	}
	return 0;
}

/*
 * statm is exact where stat may be some pages behind, but a process of which neither size has changed in stat, and which has
 * had no page fault, has the same pages as before.
 */
static void follow_memory(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	struct proc_pid_stat last = *stat;

	if (!tree->reads_all && member->state != 'Z' && faults_of(stat) == member->memory.faults &&
	    stat->resident_pages == member->memory.stat_pages &&
	    stat->virtual_bytes == member->memory.stat_bytes)
		return;
	member->memory.faults = faults_of(stat);
	member->memory.stat_pages = read_size_and_faults(tree, member, &last) < 0 ? -1 : last.resident_pages;
	member->memory.stat_bytes = last.virtual_bytes;
}

void member_read_memory(struct process_tree *tree, struct member *member)
{
	(void)read_statm(tree, member);
}

/*
 * A child of vfork(2) or clone(CLONE_VM) shares its parent's memory, which counts once. Equal sizes only suggest that.
 * kcmp(2) proves it; two processes that are found separate stay separate. If kcmp() is not permitted, a parent in state
 * D is taken to wait for its vfork.
 */
static bool shares_memory_with_parent(struct process_tree *tree, struct member *member)
{
	enum { KCMP_VM = 1 };
	const struct member *parent = process_tree_find(tree, member->parent_pid);
	long order;

	if (!parent || parent == member || !member->memory.virtual_pages ||
	    parent->memory.virtual_pages != member->memory.virtual_pages || !tree->root->live ||
	    member->memory.apart_from == parent->pid)
		return false;
	order = syscall(SYS_kcmp, (long)member->pid, (long)parent->pid, (long)KCMP_VM, 0L, 0L);
	if (order > 0)
		member->memory.apart_from = parent->pid;
	return order < 0 ? parent->state == 'D' : order == 0;
}

bool member_is_older(const struct process_tree *tree, const struct member *member)
{
	return !tree->started_by_caller && member->start_ticks < tree->seeded_ticks;
}

/*
 * While a process is reaped, the kernel adds its figures to its parent's before it removes the process. In
 * between, both have them. The state of the process is then X, and it counts as gone. A state other than X that is
 * read after the parent's figures proves that they do not include it yet.
 */
static bool is_being_reaped(const struct proc_pid_stat *stat)
{
	return stat->state == 'X' || stat->state == 'x';
}

static bool is_namespace_init(struct process_tree *tree, const struct member *member)
{
	struct proc_pid_status status;

	if (read_proc_pid_status(tree->root, member->pid, &status) < 0)
		return false;
	/* Linux before 4.1 has no NSpid. A process that we saw waiting for children hardly changes its signals at its end. */
	if (!status.namespace_pid_count)
		return member->listed;
	return status.namespace_pid_count > 1 && status.namespace_pids[status.namespace_pid_count - 1] == 1;
}

/*
 * When the init of a PID namespace exits, it kills all other processes of the namespace, and the kernel then sets
 * SIGCHLD to ignored for it. That does not affect children that it has waited for earlier. A process that ignored
 * SIGCHLD before it began to exit did so by its own choice.
 */
static void note_sigchld(struct process_tree *tree, struct member *member, const struct proc_pid_stat *stat)
{
	bool ignored = stat->ignored_signals > 0 && stat->ignored_signals & SIGCHLD_BIT;
	bool exiting = stat->state == 'Z' || (stat->flags > 0 && stat->flags & PF_EXITING);

	if (ignored && exiting && !member->ignores_sigchld && !member->tears_down)
		member->tears_down = is_namespace_init(tree, member);
	if (member->tears_down)
		return;
	member->ignores_sigchld = ignored;
	tree->sigchld_ignored |= ignored;
}

/* Subtracts the tracker's part (read just before) from the kernel's totals of the process. */
static void take_own_cost_out(const struct process_tree *tree, struct member *member,
			      const struct proc_pid_stat *stat, const struct usages *cost)
{
	struct usages *own = &member->cpu.account.own;
	int64_t cpu_ns = own->of[USAGE_CPU_NS];

	for (enum usage i = USAGE_MINOR_FAULTS; i < USAGE_COUNT; i++) {
		own->of[i] = not_negative(own->of[i] - cost->of[i]);
		if (i >= USAGE_READ_BYTES)
			member->cpu.account.appears.of[i] = own->of[i];
	}
	/* The clock already excludes the tracker's part, but the kernel's split includes it. */
	own->of[USAGE_UTIME_NS] =
		not_negative(user_part(tree, stat, cpu_ns + own_cost_cpu_ns(tree->cpu.own_cost)) -
			     cost->of[USAGE_UTIME_NS]);
	if (own->of[USAGE_UTIME_NS] > cpu_ns)
		own->of[USAGE_UTIME_NS] = cpu_ns;
	member->thread_count = not_negative(member->thread_count - tree->cpu.own_cost->threads);
}

/*
 * Without the root's I/O, a sum over the others has no meaning. A file that becomes unreadable later (a zombie's) is
 * another matter.
 */
static void note_io(struct process_tree *tree, const struct member *member, int error)
{
	if (member->pid != tree->root_pid)
		return;
	tree->cpu.io_known |= !error;
	tree->cpu.io_error = tree->cpu.io_known ? 0 : -error;
}

void member_pass_over(struct member *member)
{
	struct usages *own = &member->cpu.account.own;

	own->of[USAGE_UTIME_NS] += (int64_t)((double)member->cpu.ran_ns * (double)own->of[USAGE_UTIME_NS] /
					     (double)max_i64(own->of[USAGE_CPU_NS], 1));
	own->of[USAGE_CPU_NS] = member->cpu.clock_ns;
	member->is_behind = true;
}

void member_read(struct process_tree *tree, struct member *member)
{
	bool first = !member->listed;
	struct usages cost = {0};
	struct proc_pid_stat stat;
	int error;

	tree->cpu.waiting.offered_pid = 0;
	member->is_behind = member->has_forked = false;
	member->read_ns = tree->touched_ns;
	if (is_around_us(tree, member))
		cost = own_cost_rest(tree->cpu.own_cost, tree->root);
	error = read_stat(tree, member, &stat);
	if (error < 0 && error != -EACCES && error != -EPERM) {
		member->vanished = true;
		return;
	}
	if (error < 0) {
		member->unreadable = true;
		return;
	}
	if (stat.start_ticks != member->start_ticks || is_being_reaped(&stat)) {
		member->vanished = true;
		return;
	}
	if (member->parent_pid != stat.parent_pid)
		member->parent_reaped = false;
	member->parent_pid = stat.parent_pid;
	member->state = stat.state;
	member->thread_count = not_negative(stat.thread_count);
	member->is_zombie = stat.state == 'Z' && member->thread_count <= 1;
	member->is_ending = stat.flags > 0 && stat.flags & PF_EXITING && member->thread_count <= 1;
	programs_note_stat(member, &stat);
	note_sigchld(tree, member, &stat);
	account_stat(tree, member, &stat);
	error = read_io(tree, member);
	note_io(tree, member, error);
	if (is_around_us(tree, member))
		take_own_cost_out(tree, member, &stat, &cost);
	member->unreadable = error < 0 && error != -ESRCH && error != -ENOENT;
	if (member->is_zombie) {
		member->memory.resident_pages = member->memory.shared_pages = member->memory.virtual_pages =
			0;
		return;
	}
	member->memory.faults_before = member->memory.faults;
	member->memory.anon_before = member->memory.anon_at_faults;
	member->memory.mark_before_kib = member->memory.mark_kib;
	follow_memory(tree, member, &stat);
	note_freeing(member, &stat);
	memory_note_lineage(tree, member, &stat);
	member->memory.shares_memory = shares_memory_with_parent(tree, member);
	memory_between_read_mark(tree, member, first);
}
