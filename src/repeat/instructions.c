/* Counts instructions. See instructions.h. */
#include "repeat/instructions.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The kernel's struct perf_event_attr of its first version. musl has no header for it. */
struct event_attributes {
	uint32_t type, size;
	uint64_t config, sample_period, sample_type, read_format, flags;
	uint32_t wakeup_events, breakpoint_type;
	uint64_t breakpoint_address;
};
_Static_assert(sizeof(struct event_attributes) == 64, "the kernel knows this size");

enum {
	TYPE_HARDWARE = 0,
	INSTRUCTIONS = 1,
	/* bits of `flags` */
	DISABLED = 1 << 0,
	INHERIT = 1 << 1,
	EXCLUDE_KERNEL = 1 << 5,
	EXCLUDE_HYPERVISOR = 1 << 6,
	ENABLE_ON_EXEC = 1 << 12,
	/* bits of `read_format` */
	TIME_ENABLED = 1 << 0,
	TIME_RUNNING = 1 << 1,
	CLOSE_ON_EXEC = 1 << 3,
};

struct event_reading {
	uint64_t count, enabled_ns, running_ns;
};

/*
 * An event counts on one kind of core. A kind has its own unit, with the list of its cores, if the machine has several (big.LITTLE,
 * performance and efficiency cores).
 */
static bool has_several_kinds_of_cores(void)
{
	static const char UNITS[] = "/sys/bus/event_source/devices";
	DIR *units = opendir(UNITS);
	int kinds = 0;

	for (struct dirent *unit; units && (unit = readdir(units));) {
		char path[sizeof(UNITS) + sizeof(unit->d_name) + sizeof("//cpus")];

		snprintf(path, sizeof(path), "%s/%s/cpus", UNITS, unit->d_name);
		kinds += access(path, F_OK) == 0;
	}
	if (units)
		closedir(units);
	return kinds > 1;
}

static const char *why_uncounted(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "the kernel does not let this user count: perf_event_paranoid is above 2, or a "
		       "container forbids it";
	case ESRCH:
		return "the run ended before its counter began";
	default:
		return "this machine has no counter of instructions";
	}
}

void instructions_begin(struct instruction_counter *counter, pid_t recorder)
{
	struct event_attributes attributes = {
		.type = TYPE_HARDWARE,
		.size = sizeof(attributes),
		.config = INSTRUCTIONS,
		.read_format = TIME_ENABLED | TIME_RUNNING,
		.flags = DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | ENABLE_ON_EXEC,
	};

	if (counter->fd >= 0)
		close(counter->fd);
	if (has_several_kinds_of_cores()) {
		*counter = (struct instruction_counter){
			-1, "the cores of this machine are of several kinds, which count apart"};
		return;
	}
	counter->fd = (int)syscall(SYS_perf_event_open, &attributes, recorder, -1, -1, (long)CLOSE_ON_EXEC);
	counter->why = counter->fd < 0 ? why_uncounted(errno) : NULL;
}

struct counted_instructions instructions_end(struct instruction_counter *counter)
{
	CLEANUP_CLOSE int fd = counter->fd;
	struct event_reading reading;

	counter->fd = -1;
	if (counter->why)
		return (struct counted_instructions){.unknown = counter->why};
	if (read(fd, &reading, sizeof(reading)) != sizeof(reading))
		return (struct counted_instructions){.unknown = "the kernel's counter failed"};
	if (!reading.enabled_ns)
		return (struct counted_instructions){.unknown = "the counter did not see the command begin"};
	if (reading.running_ns < reading.enabled_ns)
		return (struct counted_instructions){
			.unknown = "other programs used the counter for a part of the time"};
	return (struct counted_instructions){.count = (int64_t)reading.count};
}
