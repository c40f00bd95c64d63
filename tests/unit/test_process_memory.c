/* Tests of src/job/memory/process_memory.c: the figure if shares of memory cannot be read. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/proc_pid_stat.h"
#include "job/memory/memory_size.h"
#include "job/memory/process_memory.h"
#include "job/pass.h"
#include "job/tree/process_files.h"
#include "job/tree/tree_tuning.h"
#include "burner.h"
#include "unit.h"

static struct root root;
static struct process_tree *tree;
static char folder[] = "/tmp/test-process-memory-XXXXXX";
static pid_t job;
static int shared_file;

enum { GROWTH_BYTES = 8 << 20 };

/* Runs in the job on request. */
static void grow(int signal)
{
	static volatile char pages[GROWTH_BYTES];

	for (size_t i = 0; i < sizeof pages; i += 1024)
		pages[i] = (char)signal;
}

static int set_up(void **state)
{
	int ready[2];
	char byte;

	(void)state;
	if (getenv("TEST_UNDER"))
		return 0;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(process_tree_new(&root, true, &tree), 0);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(pipe(ready), 0);
	/* The job and the test have it open. */
	shared_file = memfd_create("shared", MFD_CLOEXEC);
	assert_true(shared_file >= 0);
	job = fork();
	if (job == 0) {
		signal(SIGUSR1, grow);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(job > 0);
	/* On a busy machine it has not run yet: SIGUSR1 would kill it, and it would seem to sleep. */
	assert_int_equal(read(ready[0], &byte, 1), 1);
	wait_until_asleep(job);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(process_tree_seed(tree, job, false), 0);
	tree->cgroup_folder = open(folder, O_RDONLY | O_DIRECTORY);
	assert_true(tree->cgroup_folder >= 0);
	return 0;
}

static int tear_down(void **state)
{
	char path[64];

	(void)state;
	if (getenv("TEST_UNDER"))
		return 0;
	kill(job, SIGKILL);
	waitpid(job, NULL, 0);
	close(tree->cgroup_folder);
	close(shared_file);
	process_tree_free(tree);
	root_close(&root);
	snprintf(path, sizeof path, "%s/memory.stat", folder);
	unlink(path);
	rmdir(folder);
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	return 0;
}

static void lay_memory_stat(const char *text)
{
	int fd = openat(tree->cgroup_folder, "memory.stat", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct tree_memory measure(enum pss_mode mode)
{
	struct process_memory memory;
	struct tree_memory found;

	process_memory_open(&memory, &root);
	process_tree_touch(tree);
	process_memory_measure(&memory, tree, mode, &found);
	assert_int_equal(found.reason, 0);
	process_memory_close(&memory);
	return found;
}

static void test_a_cgroup_of_the_trees_own(void **state)
{
	struct tree_memory found;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	tree->memory.cgroup_has_memory = true;
	lay_memory_stat("anon 1000\nfile 500000\nkernel 30\nkernel_stack 16\nshmem 200\nslab 8\n");
	found = measure(PSS_MODE_OFF);
	assert_int_equal(found.best_source, MEMORY_CGROUP);
	assert_int_equal(found.best_bytes, 1230);
	assert_true(found.rss_bytes > 0);
	/* before Linux 5.18 */
	lay_memory_stat("anon 1000\nfile 500000\nkernel_stack 16\nshmem 200\nslab 8\n");
	found = measure(PSS_MODE_OFF);
	assert_int_equal(found.best_bytes, 1224);
}

static void test_shares_that_were_read_are_better(void **state)
{
	struct tree_memory found;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	tree->memory.cgroup_has_memory = true;
	lay_memory_stat("anon 1000\nfile 500000\nkernel 30\nshmem 200\n");
	found = measure(PSS_MODE_ALWAYS);
	assert_int_equal(found.best_source, MEMORY_PSS);
	assert_int_equal(found.best_bytes, found.pss_kib * 1024);
}

static void test_a_cgroup_without_that_counter(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(measure(PSS_MODE_OFF).best_source, MEMORY_RSS);
	tree->memory.cgroup_has_memory = true;
	assert_int_equal(measure(PSS_MODE_OFF).best_source, MEMORY_RSS);
	/* A cgroup's figure says nothing about a single process. */
	tree->with_children = false;
	lay_memory_stat("anon 1000\nfile 500000\nkernel 30\nshmem 200\n");
	assert_int_equal(measure(PSS_MODE_OFF).best_source, MEMORY_RSS);
}

/* Readings may take a 2,000th of the time: a busy machine, where they take longer, gets 20 s for them. */
enum { ROUNDS = 3000, ROUND_US = 1000, LATE_ROUND_US = 7000, EARLY_ROUNDS = 300 };

static void test_absurd_sizes_of_swap_leave_processes_with_swap(void **state)
{
	static const struct {
		const char *text;
		bool in_use;
	} CASES[] = {
		{"MemTotal: 9 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n", false},
		{"MemTotal: 9 kB\nSwapTotal: 8 kB\nSwapFree: 8 kB\n", false},
		{"MemTotal: 9 kB\nSwapTotal: 8 kB\nSwapFree: 7 kB\n", true},
		{"MemTotal: 9 kB\nSwapTotal: 8 kB\nSwapFree: 9 kB\n", true},
		{"MemTotal: 9 kB\nSwapTotal: 18014398509481983 kB\nSwapFree: 8 kB\n", true},
		{"nothing\n", true},
	};
	char file[64];

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	snprintf(file, sizeof file, "%s/meminfo", folder);
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct process_memory memory;
		struct tree_memory found;
		FILE *out = fopen(file, "we");

		assert_non_null(out);
		fputs(CASES[i].text, out);
		assert_int_equal(fclose(out), 0);
		process_memory_open(&memory, &root);
		memory.meminfo_file = KEPT_FILE(file + 1);
		process_memory_measure(&memory, tree, PSS_MODE_AUTO, &found);
		assert_int_equal(memory.reader.swap_in_use, CASES[i].in_use);
		process_memory_close(&memory);
	}
	unlink(file);
}

/* The machine's shared memory has fallen: files that were closed do not count until the next regular search. */
static void test_a_fall_of_shared_memory_is_worth_a_search(void **state)
{
	struct process_memory memory;
	struct tree_memory found;
	size_t searches;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	process_memory_open(&memory, &root);
	process_memory_measure(&memory, tree, PSS_MODE_AUTO, &found);
	if (memory.machine.shmem_kib < 64)
		SKIP("this machine has no shared memory");
	assert_int_equal(memory.objects.searches, 1);
	assert_false(memory.scanning);
	searches = memory.objects.searches;
	memory.scanned_shmem_kib = memory.machine.shmem_kib + 6400;
	process_memory_measure(&memory, tree, PSS_MODE_AUTO, &found);
	assert_int_equal(memory.objects.searches, searches + 1);
	process_memory_close(&memory);
}

/* Many processes: a search takes several passes, and the one in progress may have seen the file before it went. */
static void test_a_large_file_lost_during_a_search_is_gone_in_the_same_pass(void **state)
{
	enum { LARGE_KIB = 8 << 10 };
	struct process_memory memory;
	struct tree_memory found;
	const struct memory_object *object;
	struct stat status;
	int fd;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	fd = memfd_create("large", MFD_CLOEXEC);
	assert_int_equal(fallocate(fd, 0, 0, (off_t)LARGE_KIB << 10), 0);
	assert_int_equal(fstat(fd, &status), 0);
	process_memory_open(&memory, &root);
	memory_objects_begin_search(&memory.objects);
	memory_objects_scan_fds(&memory.objects, &root, getpid());
	process_memory_measure(&memory, tree, PSS_MODE_AUTO, &found);
	object = memory_objects_find(&memory.objects, status.st_dev, status.st_ino);
	assert_non_null(object);
	assert_int_equal(object->kib, LARGE_KIB);
	memory_objects_begin_search(&memory.objects);
	memory.scanning = true;
	memory.scan_next = tree->count;
	close(fd);
	memory.for_scans.left_ns = NSEC_PER_SEC;
	process_memory_measure(&memory, tree, PSS_MODE_AUTO, &found);
	assert_null(memory_objects_find(&memory.objects, status.st_dev, status.st_ino));
	assert_false(memory.scanning);
	process_memory_close(&memory);
}

static void pause_round(int round)
{
	usleep(round < EARLY_ROUNDS ? ROUND_US : LATE_ROUND_US);
}

static struct tree_memory measure_again(struct process_memory *memory, enum pss_mode mode)
{
	struct tree_memory found;

	usleep(1000);
	process_tree_touch(tree);
	process_memory_measure(memory, tree, mode, &found);
	assert_int_equal(found.best_source, MEMORY_PSS);
	return found;
}

static void test_a_tree_that_sleeps_is_not_read_again(void **state)
{
	struct process_memory memory;
	struct tree_memory asleep = {0}, found;
	int64_t before_kib, grown_kib;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	process_memory_open(&memory, &root);
	/* It runs until its first pause(). */
	for (int i = 0; i < ROUNDS && !asleep.pss_age_ns; i++) {
		pause_round(i);
		asleep = measure_again(&memory, PSS_MODE_AUTO);
	}
	assert_true(asleep.pss_age_ns > 0);
	before_kib = asleep.pss_kib;
	found = measure_again(&memory, PSS_MODE_AUTO);
	assert_true(found.pss_age_ns > asleep.pss_age_ns);
	assert_int_equal(found.pss_kib, before_kib);
	assert_int_equal(measure_again(&memory, PSS_MODE_ALWAYS).pss_age_ns, 0);

	/* Other processes that start to use the C library meanwhile lower our share of it. */
	grown_kib = before_kib + GROWTH_BYTES / 1024 * 3 / 4;
	assert_int_equal(kill(job, SIGUSR1), 0);
	for (int i = 0; i < ROUNDS && found.pss_kib < grown_kib; i++) {
		pause_round(i);
		found = measure_again(&memory, PSS_MODE_AUTO);
	}
	assert_true(found.pss_kib >= grown_kib);
	process_memory_close(&memory);
}

static void write_shared_file(void)
{
	static const char bytes[GROWTH_BYTES] = "shared";

	assert_int_equal(write(shared_file, bytes, sizeof bytes), sizeof bytes);
}

/* The test writes into the file: the job, which has it open, does not run meanwhile. */
static void test_figures_of_a_tree_that_sleeps_hold_until_its_shared_memory_grows(void **state)
{
	struct process_memory memory;
	struct tree_memory first = {0}, found = {0};
	int64_t rounds_held = 0;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	process_memory_open(&memory, &root);
	write_shared_file();
	for (int i = 0; i < ROUNDS && !memory.hold; i++) {
		pause_round(i);
		found = measure_again(&memory, PSS_MODE_AUTO);
	}
	assert_true(memory.hold);
	assert_true(found.best_bytes >= GROWTH_BYTES && found.machine);
	first = found;
	/* Shared memory of others may change at any time. */
	for (int i = 0; i < ROUNDS && rounds_held < 3; i++) {
		found = measure_again(&memory, PSS_MODE_AUTO);
		rounds_held += memory.hold;
		assert_int_equal(found.best_bytes, first.best_bytes);
		assert_true(found.pss_age_ns > first.pss_age_ns && found.machine);
	}
	assert_int_equal(rounds_held, 3);
	memory.told_objects++; /* a search has lost one */
	(void)measure_again(&memory, PSS_MODE_AUTO);
	assert_false(memory.hold);
	write_shared_file();
	found = measure_again(&memory, PSS_MODE_AUTO);
	assert_false(memory.hold);
	assert_int_equal(found.best_bytes, first.best_bytes + GROWTH_BYTES);
	process_memory_close(&memory);
}

/* The first tick lacks the time to read the member, the second reads it, and the last lacks the time to read it again. */
static void test_figures_that_may_improve_do_not_hold(void **state)
{
	struct process_memory memory;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	process_memory_open(&memory, &root);
	do
		process_tree_touch(tree);
	while (tree->changed_ns >= tree->pass_ns);
	for (int tick = 0; tick < 4; tick++) {
		bool has_time = tick == 1 || tick == 2;
		struct tree_memory found;

		if (tick == 3) {
			memory.told_ns = 0;
			process_tree_root(tree)->memory.reading->statm_shared_kib -= GROWTH_BYTES / 1024;
		}
		memory.members_most = 1;
		memory.last_ns = root_monotonic_ns(&root);
		memory.allowance_ns = has_time ? 1e9 : -1e9;
		process_memory_measure(&memory, tree, PSS_MODE_AUTO, &found);
		assert_true(has_time ? !memory.late_kib : memory.late_kib > 0);
		assert_int_equal(memory.told_ns, tick == 2 ? tree->pass_ns : 0);
	}
	process_memory_close(&memory);
}

static void test_a_size_that_others_have_changed_is_a_change_of_the_tree(void **state)
{
	struct member *member;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	member = process_tree_root(tree);
	process_tree_touch(tree);
	memory_read_size(tree, member);
	tree->changed_ns = 0;
	memory_read_size(tree, member);
	assert_int_equal(tree->changed_ns, 0);
	member->memory.resident_pages++;
	memory_read_size(tree, member);
	assert_int_equal(tree->changed_ns, tree->touched_ns);
	tree->changed_ns = 0;
	member->memory.shared_pages++;
	memory_read_size(tree, member);
	assert_int_equal(tree->changed_ns, tree->touched_ns);
}

static bool keeps(struct member *member, enum member_file file, int quiet_ticks, int64_t left)
{
	member_close_files(tree, member);
	member->quiet_ticks = quiet_ticks;
	tree->fds_left = left;
	assert_true(member_read_file(tree, member, file) > 0);
	return member->files[file] >= 0;
}

static void test_a_process_that_sleeps_keeps_the_file_of_its_size_alone(void **state)
{
	struct member *member;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	member = process_tree_root(tree);
	assert_true(keeps(member, FILE_STATM, 2, TREE_DESCRIPTORS_OF_RUNNING + 1));
	assert_false(keeps(member, FILE_STATM, 2, TREE_DESCRIPTORS_OF_RUNNING));
	assert_false(keeps(member, FILE_STAT, 2, TREE_DESCRIPTORS_OF_RUNNING + 1));
	assert_true(keeps(member, FILE_STATM, 1, 1) && keeps(member, FILE_STAT, 1, 1));
	assert_false(keeps(member, FILE_STATM, 1, 0));
}

enum { INHERITED_BYTES = 16 << 20 };
static volatile char *inherited;

static void overwrite_inherited(int signal)
{
	for (size_t i = 0; i < INHERITED_BYTES / 2; i += 1024)
		inherited[i] = (char)signal;
}

/* A process with memory and a fork of it, which grows on SIGUSR1 and replaces half of what it inherited on SIGUSR2. */
static pid_t start_family(pid_t *ret_child)
{
	int ready[2];
	pid_t parent;

	assert_int_equal(pipe(ready), 0);
	parent = fork();
	if (parent == 0) {
		pid_t child;

		(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		inherited = mmap(NULL, INHERITED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
		if (inherited == MAP_FAILED)
			_exit(1);
		memset((void *)inherited, 1, INHERITED_BYTES);
		child = fork();
		if (child == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			signal(SIGUSR1, grow);
			signal(SIGUSR2, overwrite_inherited);
			child = getpid();
			if (write(ready[1], &child, sizeof child) != sizeof child)
				_exit(1);
		}
		for (;;)
			pause();
	}
	assert_true(parent > 0);
	assert_int_equal(read(ready[0], ret_child, sizeof *ret_child), sizeof *ret_child);
	close(ready[0]);
	close(ready[1]);
	return parent;
}

/*
 * Waits until it has taken its memory, and sleeps again: pages of a moment between two files would be in one of them alone. Its
 * resident set may lose pages of files meanwhile.
 */
static void grow_and_wait(pid_t child)
{
	int64_t pages = GROWTH_BYTES / root.page_bytes, faults;
	struct proc_pid_stat stat;

	assert_int_equal(read_proc_pid_stat(&root, child, &stat), 0);
	faults = stat.minor_faults;
	assert_int_equal(kill(child, SIGUSR1), 0);
	for (int i = 0; i < ROUNDS; i++) {
		usleep(LATE_ROUND_US);
		assert_int_equal(read_proc_pid_stat(&root, child, &stat), 0);
		if (stat.state == 'S' && stat.minor_faults >= faults + pages * 3 / 4)
			break;
	}
	assert_true(stat.state == 'S' && stat.minor_faults >= faults + pages * 3 / 4);
}

/* As if smaps_rollup of the members took long. */
static int64_t measure_sampled(struct process_tree *family, struct process_memory *memory)
{
	struct tree_memory found;

	usleep(ROUND_US);
	process_tree_touch(family);
	for (size_t i = 0; i < family->count; i++) {
		family->members[i].memory.rollup_ns = INT64_C(1000000000);
		family->members[i].memory.rollup_pages = family->members[i].memory.resident_pages;
	}
	process_memory_measure(memory, family, PSS_MODE_AUTO, &found);
	assert_int_equal(found.reason, 0);
	return found.best_bytes;
}

/* As while munmap(2) frees pages: its resident set has far more of them than its areas. */
static void expect_reading_kept(struct process_tree *family, struct process_memory *memory, pid_t child)
{
	struct member *member = process_tree_find(family, child);
	struct memory_reading *before = member->memory.reading;
	struct memory_subject subject = {
		.pid = child,
		.anon_pages = (member->memory.resident_pages - member->memory.shared_pages) * 8,
		.with_anon = true,
		.variance_most = 1e18,
		.may_be_kept = true,
	};

	assert_int_equal(memory_reading_take(&memory->reader, &subject, &member->memory.reading), -EAGAIN);
	assert_ptr_equal(member->memory.reading, before);
	subject.may_be_kept = false;
	assert_int_equal(memory_reading_take(&memory->reader, &subject, &member->memory.reading), 0);
}

/* The shadow memory of a sanitiser is a sparse area of terabytes, whose pages a sample of places misses (KNOWN_LIMITS). */
static void test_a_fork_that_grows_is_not_read_again(void **state)
{
	struct process_memory memory;
	struct process_tree *family;
	int64_t before, now = 0, read, resident_pages;
	pid_t child, parent;
	int quiet = 0;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_ADDRESS_SANITISER || UNDER_THREAD_SANITISER)
		skip();
	parent = start_family(&child);
	assert_int_equal(process_tree_new(&root, true, &family), 0);
	assert_int_equal(process_tree_seed(family, parent, false), 0);
	assert_int_equal(family->count, 2);
	process_memory_open(&memory, &root);
	for (int i = 0; i < ROUNDS && quiet < 20; i++) {
		read = memory.reader.entries_read;
		before = measure_sampled(family, &memory);
		quiet = read && memory.reader.entries_read == read ? quiet + 1 : 0;
	}
	assert_int_equal(quiet, 20);
	/* The inherited pages are in the resident sets of both, and count once. */
	resident_pages = family->members[0].memory.resident_pages + family->members[1].memory.resident_pages;
	assert_true(before >= INHERITED_BYTES &&
		    before <= resident_pages * root.page_bytes - INHERITED_BYTES * 3 / 4);
	read = memory.reader.entries_read;
	grow_and_wait(child);
	for (int i = 0; i < 20; i++)
		now = measure_sampled(family, &memory);
	assert_true(now >= before + GROWTH_BYTES * 3 / 4 && now <= before + GROWTH_BYTES * 5 / 4);
	assert_int_equal(memory.reader.entries_read, read);
	/* Pages that it replaces leave its size as it is. */
	before = now;
	assert_int_equal(kill(child, SIGUSR2), 0);
	for (int i = 0; i < ROUNDS && now < before + INHERITED_BYTES * 3 / 8; i++) {
		usleep(LATE_ROUND_US);
		now = measure_sampled(family, &memory);
	}
	assert_true(now >= before + INHERITED_BYTES * 3 / 8 && now <= before + INHERITED_BYTES * 5 / 8);
	assert_true(memory.reader.entries_read > read);
	expect_reading_kept(family, &memory, child);
	kill(parent, SIGKILL);
	kill(child, SIGKILL);
	waitpid(parent, NULL, 0);
	process_memory_close(&memory);
	process_tree_free(family);
}

static void test_every_ten_seconds_it_is_read_again(void **state)
{
	struct process_memory memory;
	struct tree_memory found = {0};
	int64_t old_ns;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	process_memory_open(&memory, &root);
	for (int i = 0; i < ROUNDS && found.pss_age_ns < 2000000; i++) {
		pause_round(i);
		found = measure_again(&memory, PSS_MODE_AUTO);
	}
	old_ns = process_tree_root(tree)->memory.reading->taken_ns -= 9 * INT64_C(1000000000);
	memory.told.pss_age_ns += 9 * INT64_C(1000000000);
	(void)measure_again(&memory, PSS_MODE_AUTO);
	assert_true(process_tree_root(tree)->memory.reading->taken_ns > old_ns + 8 * INT64_C(1000000000));
	process_memory_close(&memory);
}

static int wait_for_death(void *fd)
{
	char byte;

	(void)!read(*(int *)fd, &byte, 1);
	_exit(0);
}

/*
 * The process that shares the memory does not run when it is orphaned, so none of its own files show that it
 * now counts alone.
 */
static void test_memory_of_a_parent_that_was_killed(void **state)
{
	static char stack[65536];
	struct process_memory memory;
	struct tree_memory found;
	struct process_tree *killed;
	int until[2], ready[2];
	char byte = 0;
	pid_t parent;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("two processes with one memory are beyond the thread sanitiser");
	process_memory_open(&memory, &root);
	assert_int_equal(pipe(until), 0);
	assert_int_equal(pipe(ready), 0);
	parent = fork();
	if (parent == 0) {
		close(until[1]);
		if (clone(wait_for_death, stack + sizeof stack, CLONE_VM | SIGCHLD, &until[0]) > 0)
			(void)!write(ready[1], &byte, 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(process_tree_new(&root, true, &killed), 0);
	assert_int_equal(process_tree_seed(killed, parent, false), 0);
	assert_int_equal(process_tree_running(killed), 2);
	assert_int_equal(kill(parent, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)parent, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	for (int reaped = 0; reaped < 2; reaped++) {
		process_tree_touch(killed);
		process_memory_measure(&memory, killed, PSS_MODE_ALWAYS, &found);
		assert_int_equal(found.reason, 0);
		assert_true(found.rss_bytes > 0);
		assert_int_equal(found.pss_reason, 0);
		assert_true(found.pss_kib > 0);
		waitpid(parent, NULL, 0);
	}
	process_memory_close(&memory);
	process_tree_free(killed);
	close(until[0]);
	close(until[1]);
	close(ready[0]);
	close(ready[1]);
}

static void test_memory_of_a_parent_that_has_called_exec(void **state)
{
	static char stack[65536];
	int until[2], ready[2], go[2];
	const struct member *orphan;
	struct process_tree *other;
	pid_t parent, child = 0;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("two processes with one memory are beyond the thread sanitiser");
	assert_int_equal(pipe(until), 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	parent = fork();
	if (parent == 0) {
		close(until[1]);
		child = clone(wait_for_death, stack + sizeof stack, CLONE_VM | SIGCHLD, &until[0]);
		(void)!write(ready[1], &child, sizeof child);
		(void)!read(go[0], &child, 1);
		execlp("sleep", "sleep", "60", NULL);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &child, sizeof child), sizeof child);
	assert_int_equal(process_tree_new(&root, true, &other), 0);
	assert_int_equal(process_tree_seed(other, parent, false), 0);
	assert_non_null(process_tree_find(other, child));
	assert_int_equal(write(go[1], "", 1), 1);
	for (int i = 0; i < 5000; i++) {
		process_tree_touch(other);
		orphan = process_tree_find(other, child);
		assert_non_null(orphan);
		if (process_tree_root(other)->memory.virtual_pages != orphan->memory.virtual_pages)
			break;
		usleep(1000);
	}
	assert_int_equal(orphan->memory.shared_with, 0);
	process_tree_free(other);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(until[i]);
		close(ready[i]);
		close(go[i]);
	}
}

static void *wait_in_thread(void *fd)
{
	(void)wait_for_death(fd);
	return NULL;
}

/* The file of the main thread then shows no addresses of code and stack: the fork still has the same memory. */
static void test_main_thread_that_has_exited_stays_in_its_family(void **state)
{
	struct process_tree *threaded;
	int until[2], ready[2], go[2];
	pid_t parent, child = 0;
	pthread_t thread;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (UNDER_THREAD_SANITISER)
		SKIP("threads after a fork are beyond the thread sanitiser");
	assert_int_equal(pipe(until), 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	parent = fork();
	if (parent == 0) {
		close(until[1]);
		child = fork();
		if (child == 0)
			(void)wait_for_death(&until[0]);
		if (pthread_create(&thread, NULL, wait_in_thread, &until[0]))
			_exit(1);
		(void)!write(ready[1], &child, sizeof child);
		(void)!read(go[0], &child, 1);
		pthread_exit(NULL);
	}
	assert_int_equal(read(ready[0], &child, sizeof child), sizeof child);
	assert_int_equal(process_tree_new(&root, true, &threaded), 0);
	assert_int_equal(process_tree_seed(threaded, parent, false), 0);
	assert_true(process_tree_find(threaded, child)->memory.family ==
		    process_tree_root(threaded)->memory.family);
	/* Its memory is known from before it exits. */
	process_tree_touch(threaded);
	assert_int_equal(write(go[1], "", 1), 1);
	for (int i = 0; i < 5000 && process_tree_root(threaded)->state != 'Z'; i++) {
		usleep(1000);
		process_tree_touch(threaded);
	}
	assert_int_equal(process_tree_root(threaded)->state, 'Z');
	assert_true(process_tree_root(threaded)->memory.resident_pages > 0);
	assert_true(process_tree_find(threaded, child)->memory.family ==
		    process_tree_root(threaded)->memory.family);
	process_tree_free(threaded);
	kill(child, SIGKILL);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(until[i]);
		close(ready[i]);
		close(go[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_cgroup_of_the_trees_own),
		TEST(test_shares_that_were_read_are_better),
		TEST(test_a_cgroup_without_that_counter),
		TEST(test_absurd_sizes_of_swap_leave_processes_with_swap),
		TEST(test_a_fall_of_shared_memory_is_worth_a_search),
		TEST(test_a_large_file_lost_during_a_search_is_gone_in_the_same_pass),
		TEST(test_a_tree_that_sleeps_is_not_read_again),
		TEST(test_figures_of_a_tree_that_sleeps_hold_until_its_shared_memory_grows),
		TEST(test_figures_that_may_improve_do_not_hold),
		TEST(test_a_size_that_others_have_changed_is_a_change_of_the_tree),
		TEST(test_a_process_that_sleeps_keeps_the_file_of_its_size_alone),
		TEST(test_a_fork_that_grows_is_not_read_again),
		TEST(test_every_ten_seconds_it_is_read_again),
		TEST(test_memory_of_a_parent_that_was_killed),
		TEST(test_memory_of_a_parent_that_has_called_exec),
		TEST(test_main_thread_that_has_exited_stays_in_its_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
