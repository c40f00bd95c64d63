/* Finds a run's bottleneck. See bottleneck.h. */
#include "verdict/bottleneck.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "table/units.h"
#include "base/cleanup.h"

static const double FULL_PCT = 90, BUSY_SHARE = 0.85, WAIT_SHARE = 0.1, CPU_WAIT_SHARE = 0.2,
		    IDLE_CORES = 0.3, ONE_CORE_SHARE = 0.5, BURST_SHARE = 0.2, FULL_HALF = 0.5,
		    GPU_SHARE = 0.6;
/* Shorter waits and bursts are noise, as in the other lines of the summary. A run that is hardly longer tells nothing. */
static const double NOISE_SECS = 0.01, TOO_SHORT_SECS = 0.02, ALL_OF_IT = 0.99;

/* A client that worked itself, but was kept from the CPU, wanted more than the second. */
static const double CLIENT_CORES = 0.3, CLIENT_CORES_WANTED = 0.5, CLIENT_SHARE = 0.5;

struct search {
	const struct run_facts *facts;
	struct verdict verdict;
	double cores, limit; /* cores busy on average, and available */
};

const struct launcher *idle_launcher(const struct run_facts *facts)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	double cores = summary_mean_cores(facts);
	double short_cores = summary_cpu_short_secs(facts) / facts->wall_secs;
	const struct launcher *launcher;

	if (!start || text_absent(start->executable) || !(cores < CLIENT_CORES) ||
	    cores + short_cores >= CLIENT_CORES_WANTED)
		return NULL;
	launcher = find_launcher(start->executable);
	if (launcher || !(facts->programs.launcher_secs >= CLIENT_SHARE * facts->wall_secs))
		return launcher;
	return facts->programs.launcher;
}

/* The sentence consists of pieces, because amounts are written to buffers. */
static void add_bottleneck(struct search *search, const char *rule, const char *title, double weight,
			   const struct buffer *text)
{
	struct bottleneck *one = &search->verdict.bottlenecks[search->verdict.count++];
	struct scan scan = scan_bytes(text->data, buffer_error(text) ? 0 : text->length);

	*one = (struct bottleneck){.rule = rule, .title = title, .weight = weight};
	scan_copy(&scan, one->text, sizeof(one->text));
}

/* Whether a cause took a part of the run, and long enough to matter. */
static bool is_telling(const struct search *search, double secs, double share)
{
	return secs >= NOISE_SECS && secs >= share * search->facts->recorded_secs;
}

static bool is_cpu_bound(const struct search *search)
{
	return search->facts->recorded_secs >= NOISE_SECS && search->cores >= BUSY_SHARE * search->limit;
}

static void add_cores(struct buffer *out, const struct search *search)
{
	add_figure(out, search->cores);
	buffer_add_text(out, " of ");
	buffer_printf(out, "%.4g", search->limit);
	buffer_add_text(out, " cores");
}

static void search_memory(struct search *search)
{
	const struct run_end_row *end = FIRST(record_identity(search->facts->record), run_end);
	double pct = 100 * summary_memory_peak(search->facts).mib / summary_memory_limit(search->facts).value;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (end && !text_absent(end->reason) && strncmp(end->reason, "oom_kill", 8) == 0) {
		buffer_add_text(&text, "It was killed for lack of memory.");
		add_bottleneck(search, "oom", "Memory", 9, &text);
	} else if (end && !count_absent(end->oom_kills) && end->oom_kills > 0) {
		buffer_add_text(&text, "A process was killed for lack of memory, though not the job itself.");
		add_bottleneck(search, "oom", "Memory", 9, &text);
	} else if (pct >= FULL_PCT) {
		buffer_add_text(&text, "Its peak reached ");
		add_figure(&text, pct);
		buffer_add_text(&text, " % of the memory that it may use.");
		add_bottleneck(search, "memory_near_limit", "Memory", 1 + pct / 100, &text);
	}
}

/* The CPU limit is the cause: busy CPUs and waiting for a CPU only follow from it. */
static bool search_throttled(struct search *search)
{
	double throttled = total_of(&search->facts->throttled_secs),
	       share = throttled / search->facts->recorded_secs;
	struct binding limit = summary_core_limit(search->facts);
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!is_telling(search, throttled, WAIT_SHARE))
		return false;
	buffer_add_text(&text, "The CPU limit");
	if (limit.source && strcmp(limit.source, "cgroup limit") == 0)
		buffer_printf(&text, " of %.4g cores", limit.value);
	buffer_add_text(&text, " held it back for ");
	add_duration(&text, throttled);
	buffer_add_text(&text, ", summed over its CPUs.");
	add_bottleneck(search, "throttled", "CPU limit", 3 + share, &text);
	return true;
}

static void search_one_core(struct search *search)
{
	double share = search->facts->cpu_course.one_core_secs / search->facts->recorded_secs;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!search->facts->tracked || !(search->limit > 1) ||
	    !is_telling(search, search->facts->cpu_course.one_core_secs, ONE_CORE_SHARE))
		return;
	buffer_add_text(&text, "About one core was in use during ");
	add_figure(&text, 100 * fmin(share, 1));
	buffer_add_text(&text, " % of the time (on average ");
	add_cores(&text, search);
	buffer_add_text(&text, "): one thread works, or several threads take turns.");
	add_bottleneck(search, "one_core", "One core", share, &text);
}

/* On average the run did not need all its cores, but fewer would have cost time. */
static void search_bursts(struct search *search)
{
	const struct run_facts *facts = search->facts;
	double share = shape_share_above(&facts->core_shape, BUSY_SHARE * search->limit);
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!is_telling(search, share * facts->recorded_secs, BURST_SHARE))
		return;
	if (search->limit > 1)
		buffer_printf(&text, "All of its %.4g cores were busy for ", search->limit);
	else
		buffer_add_text(&text, "It used all CPU time that it may use for ");
	add_duration(&text, share * facts->recorded_secs);
	buffer_add_text(&text, " of ");
	add_duration(&text, facts->recorded_secs);
	buffer_add_char(&text, '.');
	add_bottleneck(search, "cpu_at_times", "CPU, at times", share, &text);
}

static void search_cpu(struct search *search)
{
	CLEANUP_BUFFER struct buffer busy = BUFFER(BOTTLENECK_BYTES);

	if (search_throttled(search))
		return;
	if (is_cpu_bound(search)) {
		add_cores(&busy, search);
		buffer_add_text(&busy, " were busy on average.");
		add_bottleneck(search, "cpu_bound", "CPU", 1 + search->cores / search->limit, &busy);
		return;
	}
	search_one_core(search);
	search_bursts(search);
}

/* The run does not wait for GPUs that it never used. */
static double gpus_in_use(const struct run_facts *facts)
{
	return facts->tracked && facts->gpu_utilized.most >= 1 ? facts->gpu_utilized.most
							       : (double)facts->gpu_count;
}

static void search_gpu(struct search *search)
{
	const struct run_facts *facts = search->facts;
	double busy = figure_mean(facts->tracked ? &facts->gpu_usage : &facts->host_gpu_usage);
	double count = gpus_in_use(facts), share = busy / count;
	bool bound = share >= BUSY_SHARE;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!(count > 0) || !(share >= GPU_SHARE))
		return;
	add_figure(&text, busy);
	buffer_printf(&text, " of %.0f GPU%s busy on average%s.", count, count == 1 ? " was" : "s were",
		      bound ? "" : ", and waited for other work the rest of the time");
	add_bottleneck(search, bound ? "gpu_bound" : "gpu_mostly", bound ? "GPU" : "GPU, most of the time",
		       bound ? 1 : share, &text);
}

struct pressure {
	const char *rule, *title, *what, *while_what;
	double secs, least;
	const char *title_at_times; /* if the run used more CPU time than it waited. NULL: the same */
};

static void search_one_pressure(struct search *search, const struct pressure *pressure)
{
	const struct run_facts *facts = search->facts;
	const char *title = pressure->title;
	double share = pressure->secs / facts->recorded_secs;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!is_telling(search, pressure->secs, pressure->least))
		return;
	buffer_printf(&text, "%s waited for %s during ",
		      facts->tracked ? "At least one of its processes" : "At least one process",
		      pressure->what);
	add_figure(&text, 100 * share);
	buffer_printf(&text, " %% of the time%s", pressure->while_what);
	/* A copy that computes for most of its time is not held up by the disk alone. */
	if (pressure->title_at_times && share < search->cores) {
		buffer_add_text(&text, ", and they used ");
		add_figure(&text, search->cores);
		buffer_add_text(&text, " cores on average");
		title = pressure->title_at_times;
	}
	buffer_add_char(&text, '.');
	add_bottleneck(search, pressure->rule, title, share, &text);
}

/* The run reads the same pages from storage again and again: the disk is busy because memory is short. */
static bool search_reread(struct search *search)
{
	const struct run_facts *facts = search->facts;
	double again = summary_reread_bytes(facts);
	struct binding limit = summary_memory_limit(facts);
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!(again > 0))
		return false;
	add_size(&text, again, RT_SIZE_AUTO);
	buffer_add_text(&text, " of the ");
	add_size(&text, facts->read_bytes.sum, RT_SIZE_AUTO);
	buffer_add_text(
		&text, " read from storage had been in memory before: the page cache had no room for it in ");
	add_size(&text, limit.value * 1048576, RT_SIZE_AUTO);
	buffer_printf(&text, " (%s).", limit.source);
	add_bottleneck(search, "cache_too_small", "Memory", 2, &text);
	return true;
}

/* Adds "Its threads waited for a CPU for 3.94 s and ran for 4.05 s of the 19.6 s of CPU time": the job itself shows it. */
static void add_threads_wait(struct search *search, struct buffer *out, double wait_secs, double run_secs)
{
	struct cpu_time time = summary_cpu_time(search->facts);

	buffer_add_text(out, "Its threads waited for a CPU for ");
	add_duration(out, wait_secs);
	buffer_add_text(out, " and ran for ");
	add_duration(out, run_secs);
	if (run_secs < ALL_OF_IT * cpu_time_total(&time)) {
		buffer_add_text(out, " of the ");
		add_duration(out, cpu_time_total(&time));
		buffer_add_text(out, " of CPU time");
	}
}

static void search_cpu_wait(struct search *search, const struct pressure *pressure)
{
	const struct cpu_course *course = &search->facts->cpu_course;
	double share = pressure->secs / search->facts->recorded_secs;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!search->facts->tracked || !course->has_threads || !(course->threads_wait_secs > 0)) {
		search_one_pressure(search, pressure);
		return;
	}
	if (!is_telling(search, pressure->secs, pressure->least))
		return;
	add_threads_wait(search, &text, course->threads_wait_secs, course->threads_run_secs);
	buffer_printf(&text, "%s.", pressure->while_what);
	add_bottleneck(search, pressure->rule, pressure->title, share, &text);
}

/* Its threads waited although CPUs were free: they may only run on some of them. */
static void search_confined(struct search *search)
{
	const struct cpu_course *course = &search->facts->cpu_course;
	double share = course->confined_secs / search->facts->recorded_secs;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!search->facts->tracked || !is_telling(search, course->confined_secs, CPU_WAIT_SHARE))
		return;
	add_threads_wait(search, &text, course->confined_wait_secs, course->confined_run_secs);
	buffer_add_text(&text,
			", while other CPUs were free: they may be confined to too few (taskset, affinity).");
	add_bottleneck(search, "cpu_confined", "Confined to some CPUs", share, &text);
}

/*
 * Waiting for a CPU counts only while no CPU was free: see cpu_course.h. An idle client that starts on a busy machine
 * waits too, but its work is elsewhere.
 */
static void search_pressure(struct search *search)
{
	const struct run_facts *facts = search->facts;
	const struct cpu_course *course = &facts->cpu_course;
	bool taken = facts->tracked && course->short_secs > 0 && cpu_course_taken(course);
	bool reread = search_reread(search);
	bool explained = is_cpu_bound(search) || idle_launcher(facts) ||
			 total_of(&facts->throttled_secs) >= WAIT_SHARE * facts->recorded_secs;
	const struct pressure PRESSURES[] = {
		{"io_bound", "Disk", "I/O", "", total_of(&facts->io_pressure_secs),
		 reread ? (double)INFINITY : WAIT_SHARE, "Disk, at times"},
		{"memory_pressure", "Memory pressure", "memory", "", total_of(&facts->memory_pressure_secs),
		 WAIT_SHARE, NULL},
	};
	const struct pressure CPU = {taken ? "cpu_taken" : "cpu_pressure",
				     taken ? "Others on the machine" : "Short of CPU",
				     "a CPU",
				     taken ? ", while others kept the CPUs busy"
				     : course->short_secs > course->unclear_secs
					     ? ", while all CPUs were busy"
					     : "",
				     summary_cpu_short_secs(facts),
				     explained ? (double)INFINITY : CPU_WAIT_SHARE,
				     NULL};

	for (size_t i = 0; i < ARRAY_SIZE(PRESSURES); i++)
		search_one_pressure(search, &PRESSURES[i]);
	search_cpu_wait(search, &CPU);
	if (!explained)
		search_confined(search);
}

/* Adds "though 0.70 of them were free": more cores would not have helped. */
static void add_free_cores(struct buffer *out, const struct run_facts *facts)
{
	double idle = summary_idle_cores(facts);

	if (!(facts->cpu_course.free_secs >= BUSY_SHARE * facts->recorded_secs) || !(idle >= 0.1))
		return;
	buffer_add_text(out, ", though ");
	add_figure(out, idle);
	buffer_add_text(out, " of them were free");
}

/* Lists the causes that measurements rule out. */
static void add_what_it_was_not(struct buffer *out, const struct search *search)
{
	const struct run_facts *facts = search->facts;
	bool throttled = facts->throttled_secs.present, limited = !isnan(search->limit);
	bool memory = !isnan(summary_memory_peak(facts).mib / summary_memory_limit(facts).value);

	buffer_add_text(out, throttled ? "It was not throttled"
			     : memory  ? "It was not short of memory"
				       : "It");
	if (throttled && memory)
		buffer_add_text(out, ", not short of memory");
	if (limited)
		buffer_printf(out, "%s did not use all its cores", throttled || memory ? ", and" : "");
	add_free_cores(out, facts);
	buffer_add_char(out, '.');
	if (!throttled && !memory && !limited) {
		buffer_clear(out);
		buffer_add_text(out, "Too little was recorded to name a bottleneck.");
	}
}

/* An idle client of a daemon or of another machine says nothing about the work. */
static bool search_launcher(struct search *search)
{
	const struct launcher *launcher = idle_launcher(search->facts);
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!launcher)
		return false;
	buffer_printf(&text,
		      "%s lets other processes do the work, and this recording does not include them. To "
		      "record them: %s.",
		      launcher->name, launcher->instead);
	add_bottleneck(search, "elsewhere", "It ran elsewhere", 0, &text);
	return true;
}

/* Without pressure of its own, a job that waited for a busy CPU looks like one that slept. */
static bool may_have_waited_for_cpu(const struct run_facts *facts)
{
	return facts->tracked && !facts->cpu_course.has_pressure &&
	       facts->cpu_course.full_secs >= FULL_HALF * facts->wall_secs;
}

static void add_idle(struct search *search)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (may_have_waited_for_cpu(search->facts))
		buffer_add_text(&text,
				"It used little CPU time: it was sleeping or waiting, perhaps for a CPU, "
				"because other programs kept them busy.");
	else
		buffer_add_text(
			&text,
			search->facts->tracked
				? "It used little CPU time: it was sleeping or waiting for something else."
				: "The CPUs were idle most of the time.");
	add_bottleneck(search, "idle", "Idle", 0, &text);
}

static void search_nothing(struct search *search)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (search->facts->recorded_secs > 0 && search->facts->recorded_secs < TOO_SHORT_SECS) {
		buffer_add_text(&text, "It ran for ");
		add_duration(&text, search->facts->recorded_secs);
		buffer_add_text(&text, ", which is too short to tell.");
		add_bottleneck(search, "unknown", "Unknown", 0, &text);
	} else if (isnan(search->cores)) {
		buffer_add_text(&text, "Its CPU use is not recorded.");
		add_bottleneck(search, "unknown", "Unknown", 0, &text);
	} else if (search->cores < IDLE_CORES) {
		add_idle(search);
	} else {
		add_what_it_was_not(&text, search);
		add_bottleneck(search, "none", "None stands out", 0, &text);
	}
}

/* Equal weights keep the order in which they were found. */
static void sort_bottlenecks(struct bottleneck *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct bottleneck one = list[i];
		size_t j = i;

		for (; j && list[j - 1].weight < one.weight; j--)
			list[j] = list[j - 1];
		list[j] = one;
	}
}

/* A shell tells the signal that killed its command by its own status. */
static bool was_killed_by(const struct run_end_row *end, int signal)
{
	return end->signal == signal || end->exit_code == 128 + signal;
}

/* A limit that was near, or whose signal killed the job, is the cause. Another one is named if nothing else stands out. */
static bool search_process_limit(struct search *search, bool is_certain)
{
	const struct run_end_row *end = FIRST(record_identity(search->facts->record), run_end);
	const char *limit = end && !text_absent(end->process_limit) ? end->process_limit : NULL;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!limit || (is_certain && !strstr(limit, ", near ") && !strstr(limit, "CPU time") &&
		       !was_killed_by(end, SIGXFSZ)))
		return false;
	buffer_printf(&text, "It failed, limited to %s: raise this limit if it is the reason.", limit);
	add_bottleneck(search, "process_limit", "Limit", is_certain ? 9 : 0, &text);
	return true;
}

static void search_all(struct search *search)
{
	(void)search_process_limit(search, true);
	search_memory(search);
	search_cpu(search);
	search_gpu(search);
	search_pressure(search);
	if (!search->verdict.count && !search_process_limit(search, false) && !search_launcher(search))
		search_nothing(search);
}

struct verdict find_verdict(const struct run_facts *facts)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);
	struct search search = {
		.facts = facts,
		.cores = summary_mean_cores(facts),
		.limit = summary_core_limit(facts).value,
	};

	if (summary_not_started(facts)) {
		buffer_add_text(&text, "The command could not be started.");
		add_bottleneck(&search, "not_started", "It did not start", 0, &text);
	} else {
		search_all(&search);
	}
	sort_bottlenecks(search.verdict.bottlenecks, search.verdict.count);
	return search.verdict;
}
