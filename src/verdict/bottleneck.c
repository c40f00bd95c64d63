/* Finds a run's bottleneck. See bottleneck.h. */
#include "verdict/bottleneck.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "metric/typed_rows.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "base/plain_print.h"
#include "verdict/starved.h"

static const double FULL_PCT = 90, BUSY_SHARE = 0.85, WAIT_SHARE = 0.1, CPU_WAIT_SHARE = 0.2,
		    IDLE_CORES = 0.3, ONE_CORE_SHARE = 0.5, BURST_SHARE = 0.2, FULL_HALF = 0.5,
		    GPU_SHARE = 0.6, GPU_SHARE_IN_USE = 0.5;
/* Shorter waits and bursts are noise, as in the other lines of the summary. A run that is hardly longer tells nothing. */
static const double NOISE_SECS = 0.01, TOO_SHORT_SECS = 0.02, ALL_OF_IT = 0.99, TELLING_PART = 0.1;

/* A client that worked itself, but was kept from the CPU, wanted more than the second. */
static const double CLIENT_CORES = 0.3, CLIENT_CORES_WANTED = 0.5, CLIENT_SHARE = 0.5;

/* The part of the time that a wait must take to be the answer, and the samples below which its part is a guess. */
static const double WAITED_SHARE = 0.3;
enum { WAIT_LOOKS_SURE = 30, WAIT_WORDS_BYTES = 120 };

static const double MIB = 1048576;

/* Weight of a rule that applies if no other does. */
enum { LEAST_WEIGHT = 0 };

struct search {
	const struct run_facts *facts;
	struct verdict verdict;
	double cores, limit; /* cores busy on average, and available */
};

const struct launcher *idle_launcher(const struct run_facts *facts)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	double cores = summary_mean_cores(facts);
	double short_cores = summary_cpu_short_secs(facts) / facts->recorded_secs;
	const struct launcher *launcher;

	if (!start || text_absent(start->executable) || !(cores < CLIENT_CORES) ||
	    cores + short_cores >= CLIENT_CORES_WANTED)
		return NULL;
	launcher = find_launcher(start->executable);
	if (launcher || !(facts->programs.launcher_secs >= CLIENT_SHARE * facts->recorded_secs))
		return launcher;
	return facts->programs.launcher;
}

__attribute__((format(printf, 5, 6))) static void add_bottleneck(struct search *search, const char *rule,
								 const char *title, double weight,
								 const char *format, ...)
{
	struct bottleneck *one = &search->verdict.bottlenecks[search->verdict.count++];
	va_list arguments;

	*one = (struct bottleneck){.rule = rule, .title = title, .weight = weight};
	va_start(arguments, format);
	plain_vprint(one->text, sizeof(one->text), format, arguments);
	va_end(arguments);
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

/* Where its processes had less than half of the limit of its group, their figures do not tell why. */
static void add_kill(struct search *search, const struct run_end_row *end)
{
	struct binding limit = summary_memory_limit(search->facts);
	double seen_mib = fmax(summary_memory_peak(search->facts).mib, end->largest_process_peak_mib);
	char rest[160] = "";

	if (seen_mib < limit.value / 2 && strcmp(limit.source, "cgroup limit") == 0 &&
	    end->cgroup_oom_kills > 0)
		plain_print(
			rest, sizeof(rest),
			" Its processes were seen with %s of the %s: full pipes, sockets and files in memory "
			"count as well.",
			amount_of_mib(seen_mib).text, amount_of_mib(limit.value).text);
	add_bottleneck(search, "oom", "Memory", 9, "It was killed for lack of memory.%s", rest);
}

static void search_memory(struct search *search)
{
	const struct run_end_row *end = FIRST(record_identity(search->facts->record), run_end);
	double pct = 100 * summary_limited_memory(search->facts) / summary_memory_limit(search->facts).value;

	if (end && !text_absent(end->reason) && strncmp(end->reason, "oom_kill", 8) == 0)
		add_kill(search, end);
	else if (end && !count_absent(end->oom_kills) && end->oom_kills > 0)
		add_bottleneck(search, "oom", "Memory", 9,
			       "A process was killed for lack of memory, though not the job itself.");
	else if (pct >= FULL_PCT)
		add_bottleneck(search, "memory_near_limit", "Memory", 1 + pct / 100,
			       "Its peak reached %s %% of the memory that it may use.",
			       amount_of(pct, add_figure).text);
}

/* The CPU limit is the cause: busy CPUs and waiting for a CPU only follow from it. */
static bool search_throttled(struct search *search)
{
	double throttled = total_of(&search->facts->throttled_secs),
	       share = throttled / search->facts->recorded_secs;
	struct binding limit = summary_core_limit(search->facts);
	char cores[40] = "";

	if (!is_telling(search, throttled, WAIT_SHARE))
		return false;
	if (limit.source && !limit.is_mean && strcmp(limit.source, "cgroup limit") == 0)
		plain_print(cores, sizeof(cores), " of %.4g cores", limit.value);
	add_bottleneck(search, "throttled", "CPU limit", 3 + share,
		       "The CPU limit%s held it back for %s, summed over its CPUs.", cores,
		       amount_of(throttled, add_duration).text);
	return true;
}

static void search_one_core(struct search *search)
{
	double share = search->facts->cpu_course.one_core_secs / search->facts->recorded_secs;

	if (!search->facts->tracked || !(search->limit > 1) ||
	    !is_telling(search, search->facts->cpu_course.one_core_secs, ONE_CORE_SHARE))
		return;
	add_bottleneck(search, "one_core", "One core", share,
		       "About one core was in use during %s %% of the time (on average %s of %.4g cores): "
		       "one thread "
		       "works, or several threads take turns.",
		       amount_of(100 * fmin(share, 1), add_figure).text,
		       amount_of(search->cores, add_figure).text, search->limit);
}

/* On average the run did not need all its cores, but fewer would have cost time. */
static void search_bursts(struct search *search)
{
	const struct run_facts *facts = search->facts;
	double share = shape_share_above(&facts->core_shape, BUSY_SHARE * search->limit);
	char cores[80] = "It used all CPU time that it may use";

	if (!is_telling(search, share * facts->recorded_secs, BURST_SHARE))
		return;
	if (search->limit > 1)
		plain_print(cores, sizeof(cores), "All of its %.4g cores were busy", search->limit);
	add_bottleneck(search, "cpu_at_times", "CPU, at times", share, "%s for %s of %s.", cores,
		       amount_of(share * facts->recorded_secs, add_duration).text,
		       amount_of(facts->recorded_secs, add_duration).text);
}

static void search_cpu(struct search *search)
{
	if (search_throttled(search))
		return;
	if (is_cpu_bound(search)) {
		add_bottleneck(search, "cpu_bound", "CPU", 1 + search->cores / search->limit,
			       "%s of %.4g cores were busy on average.",
			       amount_of(search->cores, add_figure).text, search->limit);
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
	/* The thread that waits for a GPU spins: its core is busy because the GPU is. */
	double in_use = facts->tracked ? 1 - facts->starved.sure.idle_secs / facts->starved.sure.secs : NAN;
	bool bound = share >= BUSY_SHARE, bound_in_use = in_use >= BUSY_SHARE;
	char while_used[80];

	if (!(count > 0) || !(share >= (bound_in_use ? GPU_SHARE_IN_USE : GPU_SHARE)))
		return;
	plain_print(while_used, sizeof while_used, ", and %s %% of the time from first to last use",
		    amount_of(100 * in_use, add_figure).text);
	add_bottleneck(search, bound ? "gpu_bound" : "gpu_mostly", bound ? "GPU" : "GPU, most of the time",
		       (bound_in_use ? 1 : 0) + (bound ? 1 : share), "%s of %.0f GPU%s busy on average%s.",
		       amount_of(busy, add_figure).text, count, count == 1 ? " was" : "s were",
		       bound          ? ""
		       : bound_in_use ? while_used
				      : ", and waited for other work the rest of the time");
}

/* The driver refuses what does not fit, and nothing else tells of it: only a run that failed by itself is accused. */
static void search_gpu_memory(struct search *search)
{
	const struct run_end_row *end = FIRST(record_identity(search->facts->record), run_end);
	struct full_gpu full = summary_gpus_full(search->facts->gpus);

	if (!end || count_absent(end->exit_code) || end->exit_code <= 0 || full.index < 0)
		return;
	add_bottleneck(search, "gpu_memory", "GPU memory", 8,
		       "It failed, and %s of the %s of GPU %lld had been in use: probably it asked for more.",
		       amount_of_mib(full.used_mib).text, amount_of_mib(full.total_mib).text,
		       (long long)full.index);
}

/* It comes before the cores and disks that its input keeps busy: they are how it starves. */
static void search_starved(struct search *search)
{
	char text[BOTTLENECK_BYTES];
	double share = starved_share(search->facts, text, sizeof text);

	if (share > 0)
		add_bottleneck(search, "gpu_starved", "GPU input", 2 + share, "%s", text);
}

struct pressure {
	const char *rule, *title, *what, *while_what;
	double secs, least;
	const char *title_at_times; /* if the run used more CPU time than it waited. NULL: the same */
};

static void search_one_pressure(struct search *search, const struct pressure *pressure)
{
	const struct run_facts *facts = search->facts;
	double share = pressure->secs / facts->recorded_secs;
	/* A copy that computes for most of its time is not held up by the disk alone. */
	bool at_times = pressure->title_at_times && share < search->cores;
	char computes[80] = "";

	if (!is_telling(search, pressure->secs, pressure->least))
		return;
	if (at_times)
		plain_print(computes, sizeof(computes), ", and they used %s cores on average",
			    amount_of(search->cores, add_figure).text);
	add_bottleneck(search, pressure->rule, at_times ? pressure->title_at_times : pressure->title, share,
		       "%s waited for %s during %s %% of the time%s%s.",
		       facts->tracked ? "At least one of its processes" : "At least one process",
		       pressure->what, amount_of(100 * share, add_figure).text, pressure->while_what,
		       computes);
}

/* The run reads the same pages from storage again and again: the disk is busy because memory is short. */
static bool search_reread(struct search *search)
{
	const struct run_facts *facts = search->facts;
	double again = summary_reread_bytes(facts);
	struct binding limit = summary_memory_limit(facts);

	if (!(again > 0))
		return false;
	add_bottleneck(
		search, "cache_too_small", "Memory", 2,
		"%s of the %s read from storage had been in memory before: the page cache had no room for "
		"it in %s (%s).",
		amount_of_mib(again / MIB).text, amount_of_mib(facts->read_bytes.sum / MIB).text,
		amount_of_mib(limit.value).text, limit.source);
	return true;
}

static bool waiting_is_known(const struct search *search)
{
	return summary_cpu_wait_known_pct(search->facts) >= 95;
}

/* "Its threads waited for a CPU for 3.94 s and ran for 4.05 s, while all CPUs were busy": the job itself shows it. */
static void add_threads_wait(struct search *search, const struct pressure *pressure, const char *if_unknown,
			     double wait_secs, double run_secs)
{
	struct cpu_time time = summary_cpu_time(search->facts);
	bool is_known = waiting_is_known(search);
	char all[80] = "";

	/* Without an estimate it is a part of the waiting that the samples tell. */
	if (is_known)
		wait_secs = fmin(wait_secs, total_of(&search->facts->cpu_wait_secs));
	if (run_secs < ALL_OF_IT * cpu_time_total(&time))
		plain_print(all, sizeof(all), ". The job used %s of CPU time in all",
			    amount_of(cpu_time_total(&time), add_duration).text);
	add_bottleneck(search, pressure->rule, pressure->title, pressure->secs / search->facts->recorded_secs,
		       "Its threads waited for a CPU for %s%s and ran for %s%s%s.",
		       is_known ? "" : if_unknown, amount_of(wait_secs, add_duration).text,
		       amount_of(run_secs, add_duration).text, pressure->while_what, all);
}

/* Threads that ended unread did the waiting: "for at least 0.20 ms" would not explain the answer. */
static bool is_wait_mostly_unread(const struct search *search, const struct pressure *pressure)
{
	return !waiting_is_known(search) &&
	       total_of(&search->facts->cpu_wait_secs) < TELLING_PART * pressure->secs;
}

static void search_cpu_wait(struct search *search, const struct pressure *pressure)
{
	const struct cpu_course *course = &search->facts->cpu_course;

	if (!search->facts->tracked || !course->has_threads || !(course->threads_wait_secs > 0) ||
	    is_wait_mostly_unread(search, pressure))
		search_one_pressure(search, pressure);
	else if (is_telling(search, pressure->secs, pressure->least))
		/* If threads ended unread, it is the figure of the line `Held up`. */
		add_threads_wait(search, pressure, "at least ",
				 waiting_is_known(search) ? course->threads_wait_secs
							  : total_of(&search->facts->cpu_wait_secs),
				 course->threads_run_secs);
}

/* Its threads waited although CPUs were free: they may only run on some of them. */
static void search_confined(struct search *search)
{
	const struct cpu_course *course = &search->facts->cpu_course;
	const struct pressure CONFINED = {
		.rule = "cpu_confined",
		.title = "Confined to some CPUs",
		.while_what =
			", while other CPUs were free: they may be confined to too few (taskset, affinity)",
		.secs = course->confined_secs,
	};

	if (search->facts->tracked && is_telling(search, course->confined_secs, CPU_WAIT_SHARE))
		/* For threads that ended unread, the time is estimated. */
		add_threads_wait(search, &CONFINED, "about ", course->confined_wait_secs,
				 course->confined_run_secs);
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
	bool memory = !isnan(summary_memory_peak(facts).mib) && !isnan(summary_memory_limit(facts).value);

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

	if (!launcher)
		return false;
	add_bottleneck(
		search, "elsewhere", "It ran elsewhere", LEAST_WEIGHT,
		"%s lets other processes do the work, and this recording does not include them. To record "
		"them: %s.",
		launcher->name, launcher->instead);
	return true;
}

/* Without pressure of its own, a job that waited for a busy CPU looks like one that slept. */
static bool may_have_waited_for_cpu(const struct run_facts *facts)
{
	return facts->tracked && !facts->cpu_course.has_pressure &&
	       facts->cpu_course.full_secs >= FULL_HALF * facts->recorded_secs;
}

static void add_idle(struct search *search)
{
	add_bottleneck(
		search, "idle", "Idle", LEAST_WEIGHT, "%s",
		may_have_waited_for_cpu(search->facts)
			? "It used little CPU time: it was sleeping or waiting, perhaps for a CPU, because "
			  "other programs kept them busy."
		: search->facts->tracked
			? "It used little CPU time: it was sleeping or waiting for something else."
			: "The CPUs were idle most of the time.");
}

/* "It waited for TCP port 5432 of another machine during about 83 % of the time (python3)." */
static bool search_waited(struct search *search)
{
	const struct summary_wait *wait = search->facts->waits.by_target.list;
	double share = wait->secs / search->facts->recorded_secs;
	char words[WAIT_WORDS_BYTES];

	if (!search->facts->waits.by_target.count || strcmp(wait->class, "other") == 0 ||
	    !is_telling(search, wait->secs, WAITED_SHARE))
		return false;
	add_bottleneck(
		search, "waited", "Waiting", share, "It waited for %s during %s%s %% of the time (%s).",
		summary_wait_words(wait, words, sizeof words), wait->looks < WAIT_LOOKS_SURE ? "about " : "",
		amount_of(100 * fmin(share, 1), add_figure).text, wait->program);
	return true;
}

static void search_nothing(struct search *search)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);
	double secs = search->facts->recorded_secs;

	if (secs > 0 && secs < TOO_SHORT_SECS) {
		add_bottleneck(search, "unknown", "Unknown", LEAST_WEIGHT,
			       "It ran for %s, which is too short to tell.",
			       amount_of(secs, add_duration).text);
	} else if (isnan(search->cores)) {
		add_bottleneck(search, "unknown", "Unknown", LEAST_WEIGHT, "Its CPU use is not recorded.");
	} else if (search_waited(search)) {
		return;
	} else if (search->cores < IDLE_CORES) {
		add_idle(search);
	} else {
		add_what_it_was_not(&text, search);
		add_bottleneck(search, "none", "None stands out", LEAST_WEIGHT, "%s",
			       buffer_error(&text) ? "" : text.data);
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

/*
 * A limit that was near, at which a fork failed, or whose signal killed the job, is the cause. Another one is named if nothing else stands
 * out.
 */
static bool search_process_limit(struct search *search, bool is_certain)
{
	const struct run_end_row *end = FIRST(record_identity(search->facts->record), run_end);
	const char *limit = end && !text_absent(end->process_limit) ? end->process_limit : NULL;

	if (!limit || (is_certain && !strstr(limit, ", near ") && !strstr(limit, "CPU time") &&
		       !strstr(limit, "(pids.max)") && !was_killed_by(end, SIGXFSZ)))
		return false;
	if (end->exit_code == 0)
		add_bottleneck(search, "process_limit", "Limit", LEAST_WEIGHT,
			       "It was limited to %s: raise this limit.", limit);
	else
		add_bottleneck(search, "process_limit", "Limit", is_certain ? 9 : LEAST_WEIGHT,
			       "It failed, limited to %s: raise this limit if it is the reason.", limit);
	return true;
}

static void search_all(struct search *search)
{
	(void)search_process_limit(search, true);
	search_memory(search);
	search_cpu(search);
	search_gpu(search);
	search_gpu_memory(search);
	search_starved(search);
	search_pressure(search);
	if (!search->verdict.count && !search_process_limit(search, false) && !search_launcher(search))
		search_nothing(search);
}

struct verdict find_verdict(const struct run_facts *facts)
{
	struct search search = {
		.facts = facts,
		.cores = summary_mean_cores(facts),
		.limit = summary_core_limit(facts).value,
	};

	if (summary_not_started(facts))
		add_bottleneck(&search, "not_started", "It did not start", LEAST_WEIGHT,
			       "The command could not be started.");
	else
		search_all(&search);
	sort_bottlenecks(search.verdict.bottlenecks, search.verdict.count);
	return search.verdict;
}
