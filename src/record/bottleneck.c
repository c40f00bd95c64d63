/* What held a run up; see bottleneck.h. */
#include "record/bottleneck.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/launcher.h"
#include "record/units.h"

static const double FULL_PCT = 90, BUSY_SHARE = 0.85, WAIT_SHARE = 0.1, CPU_WAIT_SHARE = 0.2,
		    IDLE_CORES = 0.3, ONE_CORE_LEAST = 0.8, ONE_CORE_MOST = 1.15;

struct search {
	const struct rt_summary *summary;
	struct bottleneck *list;
	size_t count;
	double cores, limit; /* busy on average, of so many */
};

/* The sentence is put together from pieces: amounts are buffers. */
static void found(struct search *search, const char *rule, const char *title, double weight,
		  const struct buffer *text)
{
	struct bottleneck *one = &search->list[search->count++];
	struct scan scan = scan_bytes(text->data, buffer_error(text) ? 0 : text->length);

	*one = (struct bottleneck){.rule = rule, .title = title, .weight = weight};
	scan_copy(&scan, one->text, sizeof(one->text));
}

static bool is_cpu_bound(const struct search *search)
{
	return search->cores >= BUSY_SHARE * search->limit;
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
	const struct run_end_row *end = FIRST(record_identity(search->summary->record), run_end);
	double pct =
		100 * summary_memory_peak(search->summary).mib / summary_memory_limit(search->summary).value;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (end && !text_absent(end->reason) && strncmp(end->reason, "oom_kill", 8) == 0) {
		buffer_add_text(&text, "It was killed for lack of memory.");
		found(search, "oom", "Memory", 9, &text);
	} else if (end && !count_absent(end->oom_kills) && end->oom_kills > 0) {
		buffer_add_text(&text, "A process was killed for lack of memory, though not the job itself.");
		found(search, "oom", "Memory", 9, &text);
	} else if (pct >= FULL_PCT) {
		buffer_add_text(&text, "Its peak reached ");
		add_figure(&text, pct);
		buffer_add_text(&text, " % of what it may use.");
		found(search, "memory_near_limit", "Memory", 1 + pct / 100, &text);
	}
}

static bool waited_for_cpu(const struct rt_summary *summary)
{
	return summary->tracked &&
	       total_of(&summary->cpu_pressure_secs) >= CPU_WAIT_SHARE * summary->wall_secs;
}

static void search_cpu(struct search *search)
{
	double throttled = total_of(&search->summary->throttled_secs),
	       share = throttled / search->summary->wall_secs;
	CLEANUP_BUFFER struct buffer held = BUFFER(BOTTLENECK_BYTES), busy = BUFFER(BOTTLENECK_BYTES),
				     one = BUFFER(BOTTLENECK_BYTES);

	if (share >= WAIT_SHARE) {
		buffer_add_text(&held, "The CPU limit held it back for ");
		add_duration(&held, throttled);
		buffer_add_text(&held, ", summed over its CPUs.");
		found(search, "throttled", "CPU limit", 1 + share, &held);
	}
	if (is_cpu_bound(search)) {
		add_cores(&busy, search);
		buffer_add_text(&busy, " were busy on average.");
		found(search, "cpu_bound", "CPU", 1 + search->cores / search->limit, &busy);
	} else if (search->limit > 1 && search->cores >= ONE_CORE_LEAST && search->cores <= ONE_CORE_MOST &&
		   !waited_for_cpu(search->summary)) {
		/* What waited for a CPU would have used more of them. */
		add_cores(&one, search);
		buffer_add_text(&one, " were busy on average, as when most of it runs in one thread.");
		found(search, "one_core", "One core", 0.5, &one);
	}
}

static void search_gpu(struct search *search)
{
	const struct rt_summary *summary = search->summary;
	double busy = figure_mean(summary->tracked ? &summary->gpu_usage : &summary->host_gpu_usage);
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!summary->gpu_count || !(busy >= BUSY_SHARE * (double)summary->gpu_count))
		return;
	add_figure(&text, busy);
	buffer_add_text(&text, " of ");
	buffer_printf(&text, "%lld GPU%s busy on average.", (long long)summary->gpu_count,
		      summary->gpu_count == 1 ? " was" : "s were");
	found(search, "gpu_bound", "GPU", 1, &text);
}

/* Others used what it could have used: the machine had nothing left, and most of that was not the job's. */
static bool is_taken(const struct search *search)
{
	const struct rt_summary *summary = search->summary;
	double machine = figure_mean(&summary->host_cores);

	return summary->tracked && !count_absent(summary->core_count) &&
	       machine >= BUSY_SHARE * (double)summary->core_count && search->cores < machine / 2;
}

struct pressure {
	const char *rule, *title, *what;
	double secs, least;
};

static void search_one_pressure(struct search *search, const struct pressure *pressure)
{
	const struct rt_summary *summary = search->summary;
	double share = pressure->secs / summary->wall_secs;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!(share >= pressure->least))
		return;
	buffer_printf(&text, "%s waited for %s during ", summary->tracked ? "Some of it" : "Something",
		      pressure->what);
	add_figure(&text, 100 * share);
	buffer_printf(&text, " %% of the time%s.",
		      strcmp(pressure->rule, "cpu_taken") == 0 ? ", while others kept the CPUs busy" : "");
	found(search, pressure->rule, pressure->title, share, &text);
}

static void search_pressure(struct search *search)
{
	const struct rt_summary *summary = search->summary;
	bool taken = is_taken(search);
	const struct pressure PRESSURES[] = {
		{"io_bound", "Disk", "I/O", total_of(&summary->io_pressure_secs), WAIT_SHARE},
		{"memory_pressure", "Memory pressure", "memory", total_of(&summary->memory_pressure_secs),
		 WAIT_SHARE},
		{taken ? "cpu_taken" : "cpu_pressure", taken ? "Others on the machine" : "CPU, at times",
		 "a CPU", total_of(&summary->cpu_pressure_secs),
		 is_cpu_bound(search) ? (double)INFINITY : CPU_WAIT_SHARE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(PRESSURES); i++)
		search_one_pressure(search, &PRESSURES[i]);
}

/* What it was not, as far as that was measured. */
static void add_what_it_was_not(struct buffer *out, const struct search *search)
{
	const struct rt_summary *summary = search->summary;
	bool throttled = summary->throttled_secs.present, limited = !isnan(search->limit);
	bool memory = !isnan(summary_memory_peak(summary).mib / summary_memory_limit(summary).value);

	buffer_add_text(out, throttled ? "It was not throttled"
			     : memory  ? "It was not short of memory"
				       : "It");
	if (throttled && memory)
		buffer_add_text(out, ", not short of memory");
	if (limited)
		buffer_printf(out, "%s did not use all its cores", throttled || memory ? ", and" : "");
	buffer_add_char(out, '.');
	if (!throttled && !memory && !limited) {
		buffer_clear(out);
		buffer_add_text(out, "Nothing that was recorded.");
	}
}

/* An idle client of a daemon or of another machine says nothing about the work. */
static bool search_launcher(struct search *search)
{
	const struct run_start_row *start = FIRST(record_identity(search->summary->record), run_start);
	const struct launcher *launcher =
		start && !text_absent(start->executable) ? find_launcher(start->executable) : NULL;
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (!launcher || !(search->cores < IDLE_CORES))
		return false;
	buffer_printf(&text,
		      "%s has its work done by other processes, which are not in this recording. Record: %s.",
		      launcher->name, launcher->instead);
	found(search, "elsewhere", "It ran elsewhere", 0, &text);
	return true;
}

static void search_nothing(struct search *search)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);

	if (isnan(search->cores)) {
		buffer_add_text(&text, "How much of the CPU it used is not recorded.");
		found(search, "unknown", "Not known", 0, &text);
	} else if (search->cores < IDLE_CORES) {
		buffer_add_text(
			&text,
			"The CPU was idle most of the time: it was sleeping, or waiting for something.");
		found(search, "idle", "Nothing measured here", 0, &text);
	} else {
		add_what_it_was_not(&text, search);
		found(search, "none", "None stands out", 0, &text);
	}
}

/* Equal weights stay in the order in which they were found. */
static void sort(struct bottleneck *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct bottleneck one = list[i];
		size_t j = i;

		for (; j && list[j - 1].weight < one.weight; j--)
			list[j] = list[j - 1];
		list[j] = one;
	}
}

static void search_all(struct search *search)
{
	search_memory(search);
	search_cpu(search);
	search_gpu(search);
	search_pressure(search);
	if (!search->count && !search_launcher(search))
		search_nothing(search);
}

void find_bottlenecks(struct rt_summary *summary)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(BOTTLENECK_BYTES);
	struct search search = {
		.summary = summary,
		.list = summary->bottlenecks,
		.cores = summary_mean_cores(summary),
		.limit = summary_core_limit(summary).value,
	};

	if (summary_not_started(summary)) {
		buffer_add_text(&text, "The command could not be started.");
		found(&search, "not_started", "It did not start", 0, &text);
	} else {
		search_all(&search);
	}
	sort(search.list, search.count);
	summary->bottleneck_count = search.count;
}

int rt_summary_bottleneck(const rt_summary *summary, size_t index, const char **ret_rule,
			  const char **ret_title, const char **ret_text)
{
	if (index >= summary->bottleneck_count)
		return -ENOENT;
	*ret_rule = summary->bottlenecks[index].rule;
	*ret_title = summary->bottlenecks[index].title;
	*ret_text = summary->bottlenecks[index].text;
	return 0;
}
