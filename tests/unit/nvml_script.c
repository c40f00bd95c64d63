/* Scripts for the fake NVML; see nvml_script.h. */
#include "nvml_script.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

static char script_path[64];
static time_t steps;

void nvml_script_begin(const char *library)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/tests/fakes/%s.so", getenv("TEST_BUILD"), library);
	setenv("TRACKER_NVML_LIBRARY", path, 1);
	snprintf(script_path, sizeof script_path, "/tmp/test_nvml_script.XXXXXX");
	fd = mkstemp(script_path);
	assert_true(fd >= 0);
	close(fd);
	setenv("NVML_FAKE_SCRIPT", script_path, 1);
}

void nvml_script_set(const char *text)
{
	/* Two scripts within the file system's resolution must still look different. */
	const struct timespec stamp = {1000000 + ++steps, 0}, times[2] = {stamp, stamp};
	FILE *file = fopen(script_path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(utimensat(AT_FDCWD, script_path, times, 0), 0);
}

void nvml_script_end(void)
{
	unlink(script_path);
	unsetenv("TRACKER_NVML_LIBRARY");
	unsetenv("NVML_FAKE_SCRIPT");
}
