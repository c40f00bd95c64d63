/* Sums a run's waiting times, and formats them for people; see summary.h. */
#include "summary/summary.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "base/screen.h"

#include <string.h>

static const double LARGE_SHARE = 0.1;

/* Tells whether the waiting is that of any process on the machine, which says nothing about the job. */
static bool is_of_machine(const struct rt_summary *summary, const struct pressure_row *pressure)
{
	return summary->tracked && !text_absent(pressure->source) && strcmp(pressure->source, "host") == 0;
}

static void add_pressure(struct rt_summary *summary, const struct pressure_row *pressure)
{
	bool of_machine = is_of_machine(summary, pressure);
	struct scan source = scan_bytes("", 0);

	total_add(of_machine ? &summary->machine_cpu_pressure_secs : &summary->cpu_pressure_secs,
		  pressure->cpu_some_secs);
	total_add(of_machine ? &summary->machine_memory_pressure_secs : &summary->memory_pressure_secs,
		  pressure->memory_some_secs);
	total_add(of_machine ? &summary->machine_io_pressure_secs : &summary->io_pressure_secs,
		  pressure->io_some_secs);
	if (text_absent(pressure->source))
		return;
	source = scan_bytes(pressure->source, strlen(pressure->source));
	scan_copy(&source, summary->pressure_source, sizeof(summary->pressure_source));
}

void summary_add_waiting(struct rt_summary *summary, const struct frame *frame)
{
	const struct run_start_row *start = FIRST(record_identity(summary->record), run_start);
	const struct pressure_row *pressure = FIRST(frame, pressure);
	struct cpu_bounds bounds = {summary->core_count, summary->cpuset_cores, summary->cpu_limit_cores};

	if (pressure)
		add_pressure(summary, pressure);
	/* Samples may leave out limits that never change. */
	if (start) {
		bounds.core_count = start->cpu_count;
		if (count_absent(bounds.cpuset_cores))
			bounds.cpuset_cores = start->cpuset_cores;
		if (isnan(bounds.limit_cores))
			bounds.limit_cores = start->cpu_limit_cores;
	}
	/* CPUs have come online since the start. */
	if (!count_absent(bounds.core_count) && !count_absent(bounds.cpuset_cores) &&
	    bounds.cpuset_cores > bounds.core_count)
		bounds.core_count = bounds.cpuset_cores;
	cpu_course_add(&summary->cpu_course, frame, &bounds, pressure && !is_of_machine(summary, pressure));
}

double summary_cpu_short_secs(const struct rt_summary *summary)
{
	const struct cpu_course *course = &summary->cpu_course;

	return course->has_pressure ? course->short_secs + course->unclear_secs : (double)NAN;
}

double summary_cpu_wait_known_pct(const struct rt_summary *summary)
{
	double cpu_secs = total_of(&summary->user_secs) + total_of(&summary->system_secs);

	/* Both are rounded in each sample. */
	return cpu_secs > 0 ? fmin(100 * total_of(&summary->cpu_wait_known_secs) / cpu_secs, 100)
			    : (double)NAN;
}

double summary_switches(int64_t at_end, const struct total *of_samples)
{
	return count_absent(at_end) ? total_of(of_samples) : (double)at_end;
}

/* Shorter waits are noise. */
static const double LEAST_SECS = 0.01;

struct wait {
	const char *name;
	double secs;
};

/* Adds one line with the waits that took at least a part of the run; none if there are none. */
static void add_line(struct buffer *out, const struct rt_summary *summary, const char *begin,
		     const struct wait *waits, size_t count, double least)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!(waits[i].secs >= least * summary->recorded_secs) || waits[i].secs < LEAST_SECS)
			continue;
		buffer_add_text(out, any ? ", " : begin);
		buffer_printf(out, "%s for ", waits[i].name);
		add_duration(out, waits[i].secs);
		any = true;
	}
}

/* Refaults of other processes in the group count, too, but the run cannot have more than it read. */
double summary_reread_bytes(const struct rt_summary *summary)
{
	double read = total_of(&summary->read_bytes), again = total_of(&summary->cache_refault_bytes);
	double room = summary_memory_limit(summary).value * 1048576;

	if (!(again > 0) || !(read > 0))
		return 0;
	again = fmin(again, read);
	return again >= read / 2 && again >= room ? again : 0;
}

/* Adds "its threads waited for a CPU for 3.94 s in all, and lost it 737 times". */
static void add_threads(struct buffer *out, const struct rt_summary *summary)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	double forced = summary_switches(end ? end->involuntary_switches : no_count(ABSENT_NOT_YET),
					 &summary->involuntary_switches);

	/* If short-lived threads are missing, so is their waiting. */
	buffer_printf(out, "its threads waited for a CPU for %s",
		      summary_cpu_wait_known_pct(summary) < 95 ? "at least " : "");
	add_duration(out, summary->cpu_wait_secs.sum);
	buffer_add_text(out, " in all");
	if (!isnan(forced))
		buffer_printf(out, ", and lost it %.0f time%s", forced, forced == 1 ? "" : "s");
}

/* Each process waits for a moment when it starts. As its threads show that exactly, it is shown only if it matters. */
static double shown_cpu_short_secs(const struct rt_summary *summary)
{
	double secs = summary_cpu_short_secs(summary);

	return summary->cpu_course.has_threads && secs < LARGE_SHARE * summary->recorded_secs ? (double)NAN
											      : secs;
}

#define MACHINE_LINE "\n  " STYLE_STRONG "%-*s" STYLE_END

/* Kills of other programs: those of the job are told with its end. */
static void add_machine_kills(struct buffer *out, const struct rt_summary *summary, int label_columns,
			      bool has_line)
{
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);
	int64_t kills = end && !count_absent(end->machine_oom_kills) ? end->machine_oom_kills : 0;

	if (kills <= 0 || summary_oom(summary).kind != OOM_NONE)
		return;
	if (has_line)
		buffer_add_text(out, "; ");
	else
		buffer_printf(out, MACHINE_LINE, label_columns, "Machine");
	buffer_printf(out, "%lld process%s of the machine %s killed for lack of memory during the run",
		      (long long)kills, kills == 1 ? "" : "es", kills == 1 ? "was" : "were");
}

void summary_waiting_lines(struct buffer *out, const struct rt_summary *summary, int label_columns)
{
	const struct wait OWN[] = {
		{"throttled by the CPU limit", total_of(&summary->throttled_secs)},
		{"short of CPU", shown_cpu_short_secs(summary)},
		{"short of memory", total_of(&summary->memory_pressure_secs)},
		{"waiting for I/O", total_of(&summary->io_pressure_secs)},
	};
	/* If the job's own waiting is unknown, show only large waits of the machine. */
	const struct wait OF_MACHINE[] = {
		{"a CPU", total_of(&summary->machine_cpu_pressure_secs)},
		{"memory", total_of(&summary->machine_memory_pressure_secs)},
		{"I/O", total_of(&summary->machine_io_pressure_secs)},
	};
	CLEANUP_BUFFER struct buffer begin = BUFFER(128);
	size_t before;

	buffer_printf(&begin, "\n  " STYLE_STRONG "%-*s" STYLE_END, label_columns, "Held up");
	before = out->length;
	add_line(out, summary, begin.data, OWN, ARRAY_SIZE(OWN), 0.01);
	if (total_of(&summary->cpu_wait_secs) >= fmax(LARGE_SHARE * summary->recorded_secs, LEAST_SECS)) {
		buffer_add_text(out, out->length > before ? "; " : begin.data);
		add_threads(out, summary);
	}
	buffer_clear(&begin);
	buffer_printf(&begin, MACHINE_LINE "some process, not necessarily the job's, waited for ",
		      label_columns, "Machine");
	before = out->length;
	add_line(out, summary, begin.data, OF_MACHINE, ARRAY_SIZE(OF_MACHINE), LARGE_SHARE);
	add_machine_kills(out, summary, label_columns, out->length > before);
}
