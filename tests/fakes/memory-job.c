/*
 * A job that takes memory in every way that is hard to account for. Its arguments are a small program:
 *
 *   private MIB       take anonymous memory and write every page        huge MIB        the same in huge pages
 *   shared MIB        a shared anonymous mapping                        sysv MIB        a System V segment
 *   memfd MIB         a mapped memfd                                    posix MIB       shm_open(3), mapped
 *   shm MIB           a mapped file in /dev/shm                         hugetlb MIB     MAP_HUGETLB, private
 *   hugetlb-shared MIB                                                  file MIB        a mapped file in the current folder
 *   open-memfd MIB    a memfd that is written and never mapped          open-shm MIB    the same in /dev/shm
 *   grow MIB MS       take anonymous memory little by little
 *   read              read every page of every mapping                  attach          map what the program before exec shared
 *   overwrite PERCENT write the first part of all anonymous memory      scatter PERCENT write pages evenly spread over it
 *   poke PAGES        write so many pages of the anonymous memory, wherever the seed says
 *   pieces PAGES      divide the newest mapping into areas of so many pages, as libraries are
 *   holes PAGES       give back one of so many pages of the newest mapping, if it is anonymous, which splits huge pages
 *   split PAGES       the same by mprotect(2), with all pages kept
 *   move              move the newest mapping, if it is anonymous, to another address (mremap)
 *   collapse          let the kernel copy the newest mapping into huge pages, which takes no page fault
 *   refill            give its pages back, and let the kernel fill them without a page fault (userfaultfd)
 *   write-forks       write the newest mapping of each child (process_vm_writev)
 *   enlarge MIB       enlarge it, which may move it, and write the new part
 *   view N            map the file of the newest mapping N times more, and read every page of each
 *   many N            N shared anonymous mappings of one page       open-many N     N memfds of 64 KiB
 *   private-memfd MIB a private mapping of a memfd that is closed, written
 *   unmap, free       unmap the newest mapping; free closes its file, too; dontneed gives its pages back
 *   swapout PERCENT   ask the kernel to swap the first part of the anonymous memory out
 *   fork N { ... }    N children that run the block and end             wait            for all children
 *   exec { ... }      become this program again, with the block          threads N      N threads that sleep to the end
 *   sleep MS, burn MS                                                   seed N          of poke; each child has its own
 *   quit              end at once, with all memory as it is, which the kernel then has to free
 *   stall FILE        a thread that maps and unmaps from 0.9 s on; FILE gets the longest time that took, in ns
 *
 * At the end of its program a process waits for its children. Files are removed by the process that made
 * them, at its end or before it calls exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/scan.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { MOST_AREAS = 128, PAGE = 4096, HUGE_PAGE = 2 << 20 };
#define NSEC_PER_SEC INT64_C(1000000000)
#define SHARED_BY_EXEC "MEMORY_JOB_SHARED"

struct area {
	char *at;
	size_t size;
	int fd;         /* -1: none */
	int segment;    /* of System V; -1: none */
	bool anonymous; /* private to the process, or shared by fork only */
	char path[64];  /* file to remove */
	pid_t maker;
};

static struct area areas[MOST_AREAS];
static int area_count;
static uint64_t seed = 1;
static volatile unsigned char sink;

static struct {
	const char *path;
	pthread_t thread;
	volatile bool stop;
	int64_t worst_ns;
} stall;

static _Noreturn void die(const char *what)
{
	perror(what);
	_exit(111);
}

static _Noreturn void complain(const char *what, const char *text)
{
	fprintf(stderr, "memory-job: %s: %s\n", what, text);
	_exit(111);
}

static int number(const char *text)
{
	struct scan scan = scan_bytes(text ? text : "", text ? strlen(text) : 0);
	uint64_t value;

	if (!scan_u64(&scan, &value) || scan_left(&scan) || value > INT32_MAX)
		complain("not a number", text ? text : "nothing");
	return (int)value;
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
	struct timespec time = {.tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC};

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		continue;
}

static void write_pages(char *at, size_t size, char value)
{
	for (size_t i = 0; i < size; i += PAGE)
		at[i] = value;
}

/* ---- taking memory -------------------------------------------------------------------------------------- */

static struct area *new_area(size_t size)
{
	if (area_count == MOST_AREAS)
		complain("too many areas", "128 at most");
	areas[area_count] = (struct area){.size = size, .fd = -1, .segment = -1, .maker = getpid()};
	return &areas[area_count++];
}

static void map(struct area *area, int flags)
{
	area->at = mmap(NULL, area->size, PROT_READ | PROT_WRITE, flags, area->fd, 0);
	if (area->at == MAP_FAILED)
		die("mmap");
}

static void take_private(size_t size)
{
	struct area *area = new_area(size);

	area->anonymous = true;
	map(area, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	madvise(area->at, size, MADV_NOHUGEPAGE);
	write_pages(area->at, size, 1);
}

/* Aligned, so that huge pages can cover all of it. */
static void take_huge(size_t size)
{
	struct area *area = new_area(size);
	uintptr_t start;

	area->anonymous = true;
	start = (uintptr_t)mmap(NULL, size + HUGE_PAGE, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	area->at = (char *)((start + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
	if (mprotect(area->at, size, PROT_READ | PROT_WRITE) < 0)
		die("mprotect");
	madvise(area->at, size, MADV_HUGEPAGE);
	write_pages(area->at, size, 1);
}

static void take_shared(size_t size)
{
	struct area *area = new_area(size);

	map(area, MAP_SHARED | MAP_ANONYMOUS);
	write_pages(area->at, size, 1);
}

static void take_hugetlb(size_t size, int flags)
{
	struct area *area = new_area(size);

	map(area, flags | MAP_ANONYMOUS | MAP_HUGETLB);
	write_pages(area->at, size, 1);
}

static void take_segment(size_t size)
{
	struct area *area = new_area(size);

	area->segment = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	if (area->segment < 0)
		die("shmget");
	area->at = shmat(area->segment, NULL, 0);
	/* The segment is removed with its last user. */
	shmctl(area->segment, IPC_RMID, NULL);
	if (area->at == (void *)-1)
		die("shmat");
	write_pages(area->at, size, 1);
}

static void name_file(struct area *area, const char *folder)
{
	snprintf(area->path, sizeof area->path, "%s/memory-job-%d-%d", folder, (int)getpid(), area_count);
	area->fd = open(area->path, O_RDWR | O_CREAT | O_EXCL, 0600);
}

static void take_file(const char *kind, size_t size)
{
	struct area *area = new_area(size);
	char name[64];

	if (strstr(kind, "memfd")) {
		area->fd = memfd_create("memory-job", 0);
	} else if (strcmp(kind, "posix") == 0) {
		snprintf(name, sizeof name, "/memory-job-posix-%d-%d", (int)getpid(), area_count);
		area->fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		shm_unlink(name);
		fcntl(area->fd, F_SETFD, 0);
	} else {
		name_file(area, strcmp(kind, "file") == 0 ? "." : "/dev/shm");
	}
	if (area->fd < 0 || ftruncate(area->fd, (off_t)size) < 0)
		die(kind);
	if (strncmp(kind, "open-", 5) == 0) {
		static char block[1 << 20];

		memset(block, 1, sizeof block);
		for (size_t at = 0; at < size; at += sizeof block)
			if (pwrite(area->fd, block, sizeof block, (off_t)at) != sizeof block)
				die("pwrite");
		return;
	}
	map(area, MAP_SHARED);
	write_pages(area->at, size, 1);
}

static void grow(size_t size, int ms)
{
	struct area *area = new_area(size);
	int64_t begun_ns = now_ns(CLOCK_MONOTONIC), part_ns;

	area->anonymous = true;
	map(area, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	madvise(area->at, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 256 * PAGE) {
		write_pages(area->at + at, size - at < 256 * PAGE ? size - at : 256 * PAGE, 1);
		part_ns = (int64_t)((double)ms * 1e6 * (double)at / (double)size);
		sleep_ns(begun_ns + part_ns > now_ns(CLOCK_MONOTONIC)
				 ? begun_ns + part_ns - now_ns(CLOCK_MONOTONIC)
				 : 0);
	}
}

/* ---- using it ------------------------------------------------------------------------------------------- */

static void read_all(void)
{
	for (int i = 0; i < area_count; i++)
		for (size_t at = 0; areas[i].at && at < areas[i].size; at += PAGE)
			sink = (unsigned char)areas[i].at[at];
}

static void overwrite(int percent, bool scattered)
{
	for (int i = 0; i < area_count; i++) {
		size_t pages = areas[i].size / PAGE;

		if (!areas[i].at || !areas[i].anonymous)
			continue;
		if (!scattered)
			write_pages(areas[i].at, pages * (size_t)percent / 100 * PAGE, 2);
		for (size_t page = 0; scattered && page < pages; page++)
			if ((page + 1) * (size_t)percent / 100 != page * (size_t)percent / 100)
				areas[i].at[page * PAGE] = 2;
	}
}

static unsigned below(size_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 16) % limit);
}

static void poke(int pages)
{
	size_t all = 0;

	for (int i = 0; i < area_count; i++)
		all += areas[i].at && areas[i].anonymous ? areas[i].size / PAGE : 0;
	for (int n = 0; all && n < pages; n++) {
		size_t page = below(all);

		for (int i = 0; i < area_count; i++) {
			if (!areas[i].at || !areas[i].anonymous)
				continue;
			if (page < areas[i].size / PAGE) {
				areas[i].at[page * PAGE] = 3;
				break;
			}
			page -= areas[i].size / PAGE;
		}
	}
}

static void swap_out(int percent)
{
	for (int i = 0; i < area_count; i++)
		if (areas[i].at && areas[i].anonymous)
			madvise(areas[i].at, areas[i].size / PAGE * (size_t)percent / 100 * PAGE,
				MADV_PAGEOUT);
}

/* Every other piece may no longer be written, which makes areas of their own. */
static void divide(const struct area *area, int pages)
{
	size_t piece = (size_t)pages * PAGE;

	for (size_t at = 0; at + piece <= area->size; at += 2 * piece)
		if (mprotect(area->at + at, piece, PROT_READ) < 0)
			die("mprotect");
}

static void make_holes(const struct area *area, int pages, bool keep)
{
	for (size_t at = PAGE; area->anonymous && area->at && at < area->size; at += (size_t)pages * PAGE)
		if (keep ? mprotect(area->at + at, PAGE, PROT_READ) < 0 ||
				    mprotect(area->at + at, PAGE, PROT_READ | PROT_WRITE) < 0
			 : madvise(area->at + at, PAGE, MADV_DONTNEED) < 0)
			die("holes");
}

/* To a place as far from a huge page's border as before, so that the kernel moves page tables. */
static void move(struct area *area)
{
	uintptr_t place;
	char *to;

	if (!area->anonymous || !area->at)
		return;
	place = (uintptr_t)mmap(NULL, area->size + HUGE_PAGE, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	to = (char *)((place + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + (uintptr_t)area->at % HUGE_PAGE);

	if ((uintptr_t)to + area->size > place + area->size + HUGE_PAGE)
		to -= HUGE_PAGE;
	area->at = mremap(area->at, area->size, area->size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (area->at == MAP_FAILED)
		die("mremap");
}

/* The kernel refuses while other processors have the pages in a queue. */
static void collapse(const struct area *area)
{
	size_t begin = (HUGE_PAGE - (uintptr_t)area->at % HUGE_PAGE) % HUGE_PAGE;

	madvise(area->at, area->size, MADV_HUGEPAGE);
	for (size_t i = begin; i + HUGE_PAGE <= area->size; i += HUGE_PAGE)
		for (int tries = 0; madvise(area->at + i, HUGE_PAGE, MADV_COLLAPSE) < 0 && tries < 100;
		     tries++)
			if (errno != EAGAIN)
				die("madvise");
}

static void refill(const struct area *area)
{
	enum { OF_USER_CODE = 1 };
	static char new[1 << 20];
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register at = {.range = {(uintptr_t)area->at, area->size},
				     .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | OF_USER_CODE);

	memset(new, 1, sizeof new);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &at) < 0)
		die("userfaultfd");
	madvise(area->at, area->size, MADV_DONTNEED);
	for (size_t i = 0; i < area->size; i += sizeof new) {
		struct uffdio_copy copy = {
			.dst = (uintptr_t)area->at + i, .src = (uintptr_t) new, .len = sizeof new};

		if (ioctl(fd, UFFDIO_COPY, &copy) < 0)
			die("userfaultfd");
	}
	close(fd);
}

static void write_forks(const struct area *area)
{
	static char new[1 << 20];
	FILE *children = fopen("/proc/thread-self/children", "re");
	int pid;

	if (!children)
		die("children");
	while (fscanf(children, "%d", &pid) == 1)
		for (size_t i = 0; i < area->size; i += sizeof new) {
			struct iovec from = {new, sizeof new}, to = {area->at + i, sizeof new};

			if (process_vm_writev(pid, &from, 1, &to, 1, 0) < 0)
				die("process_vm_writev");
		}
	fclose(children);
}

static void enlarge(struct area *area, size_t size)
{
	if (!area->anonymous || !area->at)
		return;
	area->at = mremap(area->at, area->size, area->size + size, MREMAP_MAYMOVE);
	if (area->at == MAP_FAILED)
		die("mremap");
	write_pages(area->at + area->size, size, 1);
	area->size += size;
}

static void view(const struct area *area, int count)
{
	for (int i = 0; i < count; i++) {
		const char *at = mmap(NULL, area->size, PROT_READ, MAP_SHARED, area->fd, 0);

		if (at == MAP_FAILED)
			die("mmap");
		for (size_t page = 0; page < area->size; page += PAGE)
			sink = (unsigned char)at[page];
	}
}

static void take_many(int count, bool open)
{
	static char block[64 << 10];
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	memset(block, 1, sizeof block);
	for (int i = 0; i < count; i++) {
		char *at = open ? NULL
				: mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED ||
		    (open && write(memfd_create("memory-job", 0), block, sizeof block) < 0))
			die("many");
		if (at)
			*at = 1;
	}
}

static void take_private_file(size_t size)
{
	struct area *area = new_area(size);

	area->fd = memfd_create("memory-job", 0);
	if (area->fd < 0 || ftruncate(area->fd, (off_t)size) < 0)
		die("memfd");
	map(area, MAP_PRIVATE);
	close(area->fd);
	area->fd = -1;
	write_pages(area->at, size, 1);
}

static void unmap(struct area *area)
{
	if (area->at && area->segment >= 0)
		shmdt(area->at);
	else if (area->at)
		munmap(area->at, area->size);
	area->at = NULL;
}

static void release(void)
{
	struct area *area;

	if (!area_count)
		return;
	area = &areas[--area_count];
	unmap(area);
	if (area->fd >= 0)
		close(area->fd);
	if (*area->path && area->maker == getpid())
		unlink(area->path);
}

/* Objects that the program shared before exec: "f FD SIZE", "s ID SIZE". A segment that no other process used has gone. */
static void attach(void)
{
	const char *set = getenv(SHARED_BY_EXEC), *text = set ? set : "";
	struct scan scan = scan_bytes(text, strlen(text));
	uint64_t id, size;

	while (scan_left(&scan)) {
		bool file = scan_literal(&scan, "f ");
		struct area *area;

		if ((!file && !scan_literal(&scan, "s ")) || !scan_u64(&scan, &id) ||
		    !scan_literal(&scan, " ") || !scan_u64(&scan, &size) || !scan_literal(&scan, ","))
			complain("what is shared", text);
		area = new_area((size_t)size);
		*(file ? &area->fd : &area->segment) = (int)id;
		if (file)
			map(area, MAP_SHARED);
		else
			area->at = shmat(area->segment, NULL, 0);
		if (area->at == (void *)-1)
			area_count--;
	}
	read_all();
}

static void tell_next_program(void)
{
	char text[MOST_AREAS * 48] = "";
	size_t length = 0;

	for (int i = 0; i < area_count; i++)
		if (areas[i].segment >= 0 || areas[i].fd >= 0)
			length += (size_t)snprintf(text + length, sizeof text - length, "%c %d %zu,",
						   areas[i].fd >= 0 ? 'f' : 's',
						   areas[i].fd >= 0 ? areas[i].fd : areas[i].segment,
						   areas[i].size);
	setenv(SHARED_BY_EXEC, text, 1);
}

/* ---- threads -------------------------------------------------------------------------------------------- */

static void *map_and_unmap(void *argument)
{
	(void)argument;
	/* Wait until the job is set up: its own page faults hold maps locked. */
	sleep_ns(NSEC_PER_SEC * 9 / 10);
	while (!stall.stop) {
		int64_t begun_ns = now_ns(CLOCK_MONOTONIC), took_ns;
		char *at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*at = 1;
		munmap(at, 4 * PAGE);
		took_ns = now_ns(CLOCK_MONOTONIC) - begun_ns;
		if (took_ns > stall.worst_ns)
			stall.worst_ns = took_ns;
		sleep_ns(200000);
	}
	return NULL;
}

static void begin_stalls(const char *path)
{
	stall.path = path;
	if (pthread_create(&stall.thread, NULL, map_and_unmap, NULL))
		die("pthread_create");
}

static void end_stalls(void)
{
	FILE *file;

	stall.stop = true;
	pthread_join(stall.thread, NULL);
	file = fopen(stall.path, "we");
	if (!file)
		die(stall.path);
	fprintf(file, "%lld\n", (long long)stall.worst_ns);
	fclose(file);
}

static void *sleep_for_ever(void *argument)
{
	for (;;)
		sleep_ns(NSEC_PER_SEC);
	return argument;
}

static void start_threads(int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, sleep_for_ever, NULL))
			die("pthread_create");
}

/* ---- the program ---------------------------------------------------------------------------------------- */

static void run(char **words, int count);

static _Noreturn void end(void)
{
	int status, failed = 0;

	while (wait(&status) > 0 || errno == EINTR)
		failed |= status;
	if (stall.path)
		end_stalls();
	while (area_count)
		release();
	_exit(failed ? 111 : 0);
}

static void start_children(int count, char **words, int word_count)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid > 0)
			continue;
		seed = seed * UINT64_C(6364136223846793005) + (uint64_t)i * 2 + 1;
		stall.path = NULL;
		run(words, word_count);
		end();
	}
}

static int sleep_on(void *unused)
{
	(void)unused;
	sleep_ns(INT64_C(2500000000));
	_exit(0);
}

/* Starts processes that have this one's address space. */
static void start_sharers(int count)
{
	enum { STACK_BYTES = 64 << 10 };

	for (int i = 0; i < count; i++) {
		char *stack = malloc(STACK_BYTES);

		if (!stack || clone(sleep_on, stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL) < 0)
			die("clone");
	}
}

static _Noreturn void become(char **words, int count)
{
	char *arguments[256] = {(char *)"memory-job"};

	if (count > 254)
		complain("too long a program after exec", "254 words at most");
	memcpy(arguments + 1, words, (size_t)count * sizeof *words);
	tell_next_program();
	for (int i = 0; i < area_count; i++)
		if (*areas[i].path && areas[i].maker == getpid())
			unlink(areas[i].path);
	execv("/proc/self/exe", arguments);
	die("execv");
}

/* Returns the number of words of a block whose opening brace is the first one. */
static int block_length(char **words, int count)
{
	int depth = 0;

	for (int i = 0; i < count; i++) {
		depth += (strcmp(words[i], "{") == 0) - (strcmp(words[i], "}") == 0);
		if (depth == 0)
			return i;
	}
	complain("a block that does not end", "}");
}

static bool take(const char *word, size_t size)
{
	if (strcmp(word, "private") == 0)
		take_private(size);
	else if (strcmp(word, "huge") == 0)
		take_huge(size);
	else if (strcmp(word, "shared") == 0)
		take_shared(size);
	else if (strcmp(word, "sysv") == 0)
		take_segment(size);
	else if (strcmp(word, "hugetlb") == 0)
		take_hugetlb(size, MAP_PRIVATE);
	else if (strcmp(word, "hugetlb-shared") == 0)
		take_hugetlb(size, MAP_SHARED);
	else if (strcmp(word, "private-memfd") == 0)
		take_private_file(size);
	else if (strstr(" memfd posix shm file open-memfd open-shm ", word))
		take_file(word, size);
	else
		return false;
	return true;
}

static bool act(const char *word)
{
	struct area *newest = &areas[area_count ? area_count - 1 : 0];

	if (strcmp(word, "read") == 0)
		read_all();
	else if (strcmp(word, "attach") == 0)
		attach();
	else if (strcmp(word, "unmap") == 0)
		unmap(newest);
	else if (strcmp(word, "free") == 0)
		release();
	else if (strcmp(word, "dontneed") == 0)
		madvise(newest->at, newest->size, MADV_DONTNEED);
	else if (strcmp(word, "move") == 0)
		move(newest);
	else if (strcmp(word, "collapse") == 0)
		collapse(newest);
	else if (strcmp(word, "refill") == 0)
		refill(newest);
	else if (strcmp(word, "write-forks") == 0)
		write_forks(newest);
	else if (strcmp(word, "quit") == 0)
		_exit(0);
	else if (strcmp(word, "wait") == 0)
		while (wait(NULL) > 0 || errno == EINTR)
			continue;
	else
		return false;
	return true;
}

static bool act_by_number(const char *word, int value)
{
	struct area *newest = &areas[area_count ? area_count - 1 : 0];
	int64_t until_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) + value * INT64_C(1000000);

	if (strcmp(word, "overwrite") == 0 || strcmp(word, "scatter") == 0)
		overwrite(value, *word == 's');
	else if (strcmp(word, "poke") == 0)
		poke(value);
	else if (strcmp(word, "swapout") == 0)
		swap_out(value);
	else if (strcmp(word, "pieces") == 0 && area_count)
		divide(&areas[area_count - 1], value);
	else if (strcmp(word, "holes") == 0 || strcmp(word, "split") == 0)
		make_holes(newest, value, *word == 's');
	else if (strcmp(word, "enlarge") == 0)
		enlarge(newest, (size_t)value << 20);
	else if (strcmp(word, "view") == 0)
		view(newest, value);
	else if (strcmp(word, "many") == 0 || strcmp(word, "open-many") == 0)
		take_many(value, *word == 'o');
	else if (strcmp(word, "sleep") == 0)
		sleep_ns(value * INT64_C(1000000));
	else if (strcmp(word, "burn") == 0)
		while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
			continue;
	else if (strcmp(word, "seed") == 0)
		seed = (uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) + 1;
	else if (strcmp(word, "threads") == 0)
		start_threads(value);
	else if (strcmp(word, "sharers") == 0)
		start_sharers(value);
	else
		return take(word, (size_t)value << 20);
	return true;
}

static void run(char **words, int count)
{
	for (int i = 0; i < count; i++) {
		const char *word = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
		bool block = strcmp(word, "fork") == 0 || strcmp(word, "exec") == 0;
		int opening = i + 1 + (*word == 'f'), length;

		if (act(word))
			continue;
		if (block) {
			length = opening < count ? block_length(words + opening, count - opening) : 0;
			if (*word == 'e')
				become(words + opening + 1, length - 1);
			start_children(number(next), words + opening + 1, length - 1);
			i = opening + length;
		} else if (strcmp(word, "stall") == 0 && next) {
			begin_stalls(next);
			i++;
		} else if (strcmp(word, "grow") == 0 && i + 2 < count) {
			grow((size_t)number(next) << 20, number(words[i + 2]));
			i += 2;
		} else if (act_by_number(word, number(next))) {
			i++;
		} else {
			complain("unknown word", word);
		}
	}
}

int main(int argc, char **argv)
{
	run(argv + 1, argc - 1);
	end();
}
