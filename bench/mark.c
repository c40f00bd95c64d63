/*
 * The cost of a mark to the job that makes it: mark PATH ROUNDS
 *
 * Prints nanoseconds of CPU for a mark through the library, for a bare write(2) of a line of that length, and
 * for a mark while no recording runs: the least of ROUNDS times 1,000 each, because other processes only make
 * a round longer.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "resource_tracker.h"

enum { MARKS = 1000 };

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t time_marks(rt_marks *marks)
{
	int64_t begun = cpu_ns();

	for (int i = 0; i < MARKS; i += 2) {
		int64_t number = rt_mark_start(marks, "phase");

		(void)rt_mark_stop(marks, "phase", number);
	}
	return (cpu_ns() - begun) / MARKS;
}

static int64_t time_writes(int fd, const char *line, size_t length)
{
	int64_t begun = cpu_ns();

	for (int i = 0; i < MARKS; i++)
		if (write(fd, line, length) != (ssize_t)length)
			exit(1);
	return (cpu_ns() - begun) / MARKS;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int main(int argc, char **argv)
{
	int64_t mark = INT64_MAX, bare = INT64_MAX, nothing = INT64_MAX;
	rt_marks *marks = NULL, *nowhere = NULL;
	struct stat status;
	char *line;
	size_t length;
	int fd;

	if (argc != 3 || rt_marks_open(argv[1], &marks) < 0)
		return 2;
	(void)rt_mark_start(marks, "phase");
	fd = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0 || status.st_size <= 0)
		return 1;
	length = (size_t)status.st_size;
	line = malloc(length);
	if (!line)
		return 1;
	memset(line, 'x', length);
	for (int round = atoi(argv[2]); round > 0; round--) {
		if (ftruncate(fd, 0) < 0)
			return 1;
		mark = smaller(mark, time_marks(marks));
		bare = smaller(bare, time_writes(fd, line, length));
		nothing = smaller(nothing, time_marks(nowhere));
	}
	printf("%" PRId64 "\n%" PRId64 "\n%" PRId64 "\n", mark, bare, nothing);
	rt_marks_close(marks);
	free(line);
	return close(fd);
}
