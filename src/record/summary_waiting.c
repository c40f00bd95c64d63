/* What a run waited for, in lines for people; see summary.h. */
#include "base/cleanup.h"
#include "record/summary.h"
#include "record/units.h"

struct wait {
	const char *name;
	double secs;
};

/* One line of those that took at least a part of the run; nothing where there are none. */
static void add_line(struct buffer *out, const struct rt_summary *summary, const char *begin,
		     const struct wait *waits, size_t count, double least)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!(waits[i].secs >= least * summary->wall_secs) || waits[i].secs <= 0)
			continue;
		buffer_add_text(out, any ? ", " : begin);
		buffer_printf(out, "%s for ", waits[i].name);
		add_duration(out, waits[i].secs);
		any = true;
	}
}

void summary_waiting_lines(struct buffer *out, const struct rt_summary *summary, int label_columns)
{
	const struct wait OWN[] = {
		{"throttled by the CPU limit", total_of(&summary->throttled_secs)},
		{"short of CPU", total_of(&summary->cpu_pressure_secs)},
		{"short of memory", total_of(&summary->memory_pressure_secs)},
		{"waiting for I/O", total_of(&summary->io_pressure_secs)},
	};
	/* Where the job's own waiting is not known, only what is hard to miss. */
	const struct wait OF_MACHINE[] = {
		{"a CPU", total_of(&summary->machine_cpu_pressure_secs)},
		{"memory", total_of(&summary->machine_memory_pressure_secs)},
		{"I/O", total_of(&summary->machine_io_pressure_secs)},
	};
	CLEANUP_BUFFER struct buffer begin = BUFFER(128);

	buffer_printf(&begin, "\n  %-*s", label_columns, "Held up");
	add_line(out, summary, begin.data, OWN, ARRAY_SIZE(OWN), 0.01);
	buffer_clear(&begin);
	buffer_printf(&begin, "\n  %-*ssome process, not necessarily the job's, waited for ", label_columns,
		      "Machine");
	add_line(out, summary, begin.data, OF_MACHINE, ARRAY_SIZE(OF_MACHINE), 0.1);
}
