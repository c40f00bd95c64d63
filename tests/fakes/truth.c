/* See truth.h. */
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scan.h"

struct truth *truth;
const char *truth_path;
uint64_t seed;

_Noreturn void die(const char *what)
{
	perror(what);
	_exit(FAILED);
}

void truth_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, sizeof *truth) < 0)
		die(path);
	truth = mmap(NULL, sizeof *truth, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (truth == MAP_FAILED)
		die("mmap");
	truth_path = path;
	close(fd);
}

int number_argument(const char *text)
{
	struct scan scan = scan_bytes(text, strlen(text));
	uint64_t value;

	if (!scan_u64(&scan, &value) || scan_left(&scan) || value > INT32_MAX) {
		fprintf(stderr, "not a number: %s\n", text);
		_exit(FAILED);
	}
	return (int)value;
}

unsigned below(unsigned limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 16) % limit;
}

uint64_t seed_of_child(void)
{
	return seed ^ ((uint64_t)below(1u << 30) << 20 | 1);
}

int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		die("clock_gettime");
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void burn(int64_t ns)
{
	int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		continue;
}

void sleep_ns(int64_t ns)
{
	struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		continue;
}

int64_t reap_cpu_ns(pid_t pid, siginfo_t *ret_info)
{
	int64_t cpu_ns;

	while (waitid(pid < 0 ? P_ALL : P_PID, pid < 0 ? 0 : (id_t)pid, ret_info,
		      WEXITED | WNOWAIT | __WALL) < 0)
		if (errno != EINTR)
			die("waitid");
	cpu_ns = clock_ns((clockid_t)(~(unsigned)ret_info->si_pid << 3 | 2));
	while (waitpid(ret_info->si_pid, NULL, __WALL) != ret_info->si_pid)
		if (errno != EINTR)
			die("waitpid");
	return cpu_ns;
}
