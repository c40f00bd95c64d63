/* Formats advice for people and programs. See recommend.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recommend/recommend.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "table/table.h"

enum { TEXT_CEILING = 1 << 20 };

const char *policy_name(enum rt_policy policy)
{
	static const char *const NAMES[] = {"max", "p95", "cost"};

	return NAMES[policy];
}

static double cost_usd(double usd_per_hour, double secs)
{
	return usd_per_hour / 3600 * secs;
}

static void add_whole(struct json_writer *json, const char *key, int64_t value)
{
	json_key(json, key);
	if (value < 0)
		json_absent(json);
	else
		json_count(json, value);
}

static void add_decimal(struct json_writer *json, const char *key, double value, int decimals)
{
	json_key(json, key);
	json_decimal(json, value, decimals);
}

static void add_advice_text(struct json_writer *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text(json, *text ? text : NULL);
}

/* Shows how much longer the work takes with fewer cores: one row for each whole number, at most this many. */
enum { CHOICES_MOST = 8 };

/* A job that got fewer cores than it wanted does not show how long it takes with one core less. */
static bool shows_time(const struct rt_advice *advice, double stretch)
{
	return !isnan(stretch) && !(advice->cpu_bound_by && stretch < 1.005);
}

static void add_cpu_evidence(struct json_writer *json, const struct rt_advice *advice)
{
	const struct usage *usage = &advice->usage;

	json_key(json, "cpu");
	json_open(json, '{');
	add_decimal(json, "mean_cores", usage->mean_cores, 4);
	add_decimal(json, "max_cores", usage->max_cores, 4);
	add_decimal(json, "busy_cores", usage->busy_cores, 4);
	add_decimal(json, "slower_pct", 100 * (advice->cpu_stretch - 1), 1);
	json_key(json, "at_least");
	json_flag(json, advice->cpu_bound_by != NULL);
	json_key(json, "with_fewer");
	json_open(json, '[');
	for (int64_t cores = advice->cpu - 1, count = 0; cores > 0 && count < CHOICES_MOST;
	     cores--, count++) {
		double stretch = advice_stretch(advice, cores);

		if (!shows_time(advice, stretch))
			continue;
		json_open(json, '{');
		add_whole(json, "cores", cores);
		add_decimal(json, "slower_pct", 100 * (stretch - 1), 1);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static const char *const SHAPES[] = {"same", "line", "nearest", "power"};

static void add_memory_evidence(struct json_writer *json, const struct rt_advice *advice)
{
	static const char *const DRIFTS[] = {"none", "up", "down"};
	const struct usage *usage = &advice->usage;

	json_key(json, "memory");
	json_open(json, '{');
	add_decimal(json, "peak_mib", seen_peak(usage), 3);
	add_decimal(json, "sampled_peak_mib", usage->sampled_peak_mib, 3);
	add_decimal(json, "largest_process_peak_mib", usage->process_peak_mib, 3);
	add_decimal(json, "peak_between_samples_mib", usage->between_peak_mib, 3);
	add_decimal(json, "oom_floor_mib", usage->oom_floor_mib > 0 ? usage->oom_floor_mib : (double)NAN, 3);
	add_advice_text(json, "basis", advice->memory_mib < 0 ? "" : advice->memory_basis);
	json_key(json, "buffer_pct");
	json_count(json, isnan(advice->sizing.need) ? 20 : (int64_t)(100 * advice->sizing.margin + 0.5));
	json_key(json, "at_least");
	json_flag(json, advice->memory_at_least);
	add_advice_text(json, "drift", DRIFTS[advice->sizing.drift]);
	add_advice_text(json, "by_input", SHAPES[advice->sizing.shape]);
	add_decimal(json, "fixed_mib",
		    advice->sizing.shape == SHAPE_LINE ? advice->sizing.fixed : (double)NAN, 3);
	add_decimal(json, "bytes_per_input_byte",
		    advice->sizing.shape == SHAPE_LINE ? advice->sizing.per_byte * (1 << 20) : (double)NAN,
		    6);
	add_decimal(json, "input_bytes", advice->input_bytes, 0);
	add_whole(json, "attempt", (int64_t)advice->attempt);
	add_whole(json, "earlier_runs_tried", (int64_t)advice->backtest.runs);
	add_whole(json, "earlier_runs_killed", (int64_t)advice->backtest.killed);
	add_decimal(json, "reserved_per_used", advice->backtest.reserved_per_used, 3);
	json_close(json, '}');
}

static void add_time_evidence(struct json_writer *json, const struct rt_advice *advice)
{
	const struct sizing_answer *timing = &advice->timing;
	bool is_line = timing->shape == SHAPE_LINE;

	json_key(json, "time");
	json_open(json, '{');
	add_decimal(json, "longest_secs", timing->largest, 3);
	add_whole(json, "runs", (int64_t)timing->runs);
	add_decimal(json, "buffer_pct", advice->time_secs < 0 ? (double)NAN : 100 * timing->margin, 0);
	add_advice_text(json, "by_input", advice->time_secs < 0 ? "" : SHAPES[timing->shape]);
	add_decimal(json, "fixed_secs", is_line ? timing->fixed : (double)NAN, 3);
	add_decimal(json, "cut_short_after_secs", advice->cut_secs > 0 ? advice->cut_secs : (double)NAN, 3);
	add_decimal(json, "secs_per_input_gb", is_line ? timing->per_byte * 1e9 : (double)NAN, 6);
	json_close(json, '}');
}

static void add_ranks(struct json_writer *json, const struct rt_advice *advice)
{
	const struct ranks *ranks = &advice->ranks;

	json_key(json, "tasks");
	if (ranks->tasks <= 1) {
		json_absent(json);
		return;
	}
	json_open(json, '{');
	add_whole(json, "count", (int64_t)ranks->tasks);
	add_whole(json, "recorded", (int64_t)ranks->recorded);
	add_whole(json, "hosts", (int64_t)ranks->hosts);
	add_whole(json, "on_one_host", (int64_t)ranks->tasks_on_host);
	add_whole(json, "cpus_per_task", ranks->task_cpus);
	add_decimal(json, "largest_memory_mib", ranks->task_memory_mib, 3);
	json_close(json, '}');
}

static void add_evidence(struct json_writer *json, const struct rt_advice *advice)
{
	const struct usage *usage = &advice->usage;

	json_key(json, "evidence");
	json_open(json, '{');
	add_cpu_evidence(json, advice);
	add_memory_evidence(json, advice);
	add_time_evidence(json, advice);
	json_key(json, "gpu");
	json_open(json, '{');
	add_decimal(json, "mean_gpus", usage->mean_gpus, 4);
	add_decimal(json, "max_gpus", usage->max_gpus, 4);
	add_decimal(json, "energy_joules", usage->gpu_joules, 3);
	json_close(json, '}');
	json_key(json, "vram");
	json_open(json, '{');
	add_decimal(json, "peak_mib", usage->vram_peak_mib, 3);
	json_close(json, '}');
	json_close(json, '}');
}

static void add_server(struct json_writer *json, const struct rt_advice *advice)
{
	json_key(json, "server");
	if (!advice->server.asked) {
		json_absent(json);
		return;
	}
	json_open(json, '{');
	add_advice_text(json, "asked", advice->server.question);
	add_advice_text(json, "problem", advice->server.problem);
	add_advice_text(json, "vendor_id", advice->server.vendor);
	add_advice_text(json, "api_reference", advice->server.type);
	add_advice_text(json, "region_id", advice->server.region);
	add_whole(json, "vcpus", *advice->server.type ? advice->server.vcpus : -1);
	add_decimal(json, "memory_mib", *advice->server.type ? advice->server.memory_mib : (double)NAN, 3);
	add_decimal(json, "price_usd_per_hour",
		    *advice->server.type ? advice->server.usd_per_hour : (double)NAN, 6);
	json_close(json, '}');
}

struct costs {
	double run, advised, saved, saved_pct; /* USD, NaN if unknown */
};

static struct costs find_costs(const struct rt_advice *advice)
{
	struct costs costs = {
		.run = cost_usd(advice->usd_per_hour, advice->usage.duration_secs),
		.advised = *advice->server.type
				   ? cost_usd(advice->server.usd_per_hour, advice->usage.duration_secs)
				   : (double)NAN,
	};

	costs.saved = costs.run - costs.advised;
	costs.saved_pct = costs.run > 0 ? 100 * costs.saved / costs.run : (double)NAN;
	return costs;
}

static void add_costs(struct json_writer *json, const struct rt_advice *advice)
{
	struct costs costs = find_costs(advice);

	json_key(json, "cost");
	json_open(json, '{');
	add_decimal(json, "duration_secs", advice->usage.duration_secs, 3);
	add_decimal(json, "usd_per_hour", advice->usd_per_hour, 6);
	add_decimal(json, "run_usd", costs.run, 6);
	add_decimal(json, "advised_usd", costs.advised, 6);
	add_decimal(json, "saved_usd", costs.saved, 6);
	add_decimal(json, "saved_pct", costs.saved_pct, 2);
	json_close(json, '}');
}

int rt_advice_to_json(const rt_advice *advice, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	struct json_writer json = JSON_WRITER(&out);

	json_open(&json, '{');
	add_whole(&json, "cpu", advice->cpu);
	add_whole(&json, "memory", advice->memory_mib);
	add_whole(&json, "gpu", advice->gpu);
	add_whole(&json, "vram", advice->vram_mib);
	add_whole(&json, "time_secs", advice->time_secs);
	add_decimal(&json, "cpu_request", advice->cpu_request, 1);
	add_whole(&json, "cpu_limit", advice->cpu_limit);
	add_advice_text(&json, "policy", policy_name(advice->policy));
	add_advice_text(&json, "refused", advice->refused);
	json_key(&json, "forced");
	json_flag(&json, advice->forced);
	add_whole(&json, "runs", (int64_t)advice->runs);
	add_whole(&json, "runs_left_out", (int64_t)advice->runs_left_out);
	add_ranks(&json, advice);
	add_evidence(&json, advice);
	add_advice_text(&json, "allocation", advice->allocation);
	json_key(&json, "notes");
	json_open(&json, '[');
	for (size_t i = 0; i < advice->note_count; i++) {
		json_open(&json, '{');
		add_advice_text(&json, "rule", advice->notes[i].rule);
		add_advice_text(&json, "text", advice->notes[i].text);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	add_server(&json, advice);
	add_costs(&json, advice);
	json_close(&json, '}');
	buffer_add_char(&out, '\n');
	return buffer_take_text(&out, ret_text);
}

/* ---- for people ------------------------------------------------------------------------------------ */

static void add_advice_label(struct buffer *out, const char *text)
{
	buffer_printf(out, "  %-9s", text);
}

enum { FIGURES_AT = 23 }; /* column of continuation lines */

/* Puts the second sentence on its own line, so that it fits a terminal of 80 columns. */
static void next_line(struct buffer *out)
{
	buffer_printf(out, "\n%*s", FIGURES_AT, "");
}

static void add_longer(struct buffer *out, double stretch)
{
	if (stretch >= 2)
		buffer_printf(out, "%.1f times as long", stretch);
	else
		buffer_printf(out, "%.0f %% longer", 100 * (stretch - 1));
}

/* Adds the fewest cores that would do on average, and the extra time that they cost. */
static void add_cost_in_time(struct buffer *out, const struct rt_advice *advice)
{
	double stretch, mean = ceil(advice->usage.mean_cores - 0.02);
	int64_t fewer = advice->cpu - 1;

	/* Compare as real numbers: statistics of another program may contain any value. */
	if (mean < (double)fewer)
		fewer = mean > 1 ? (int64_t)mean : 1;
	if (advice->cpu < advice->cpu_limit && advice->cpu_stretch >= 1.005) {
		next_line(out);
		buffer_add_text(out, "it takes ");
		add_longer(out, advice->cpu_stretch);
		buffer_printf(out, " %s with %lld", advice->cpu_stretch >= 2 ? "as" : "than",
			      (long long)advice->cpu_limit);
	}
	stretch = advice_stretch(advice, fewer);
	if (fewer < 1 || !shows_time(advice, stretch))
		return;
	next_line(out);
	buffer_printf(out, "with %lld it would take %s", (long long)fewer,
		      advice->cpu_bound_by ? "at least " : "");
	add_longer(out, stretch);
}

static void add_cpu_advice(struct buffer *out, const struct rt_advice *advice)
{
	add_advice_label(out, "CPU");
	if (advice->cpu < 0) {
		buffer_add_text(out, "unknown: its CPU time was not recorded\n");
		return;
	}
	buffer_printf(out, "%-12lld", (long long)advice->cpu);
	buffer_add_text(out, "it used ");
	add_figure(out, advice->usage.mean_cores);
	buffer_add_text(out, " cores on average, at most ");
	add_figure(out, advice->usage.max_cores);
	if (advice->policy == RT_POLICY_MAX)
		buffer_printf(out, ": %s", advice->cpu_bound_by ? advice->cpu_bound_by : "no slower");
	add_cost_in_time(out, advice);
	buffer_add_char(out, '\n');
}

/* ", and 12 % for the spread of 37 runs" */
static void add_margin(struct buffer *out, const struct rt_advice *advice)
{
	const struct sizing_answer *sizing = &advice->sizing;
	double margin = advice->memory_by_kernel ? fmin(sizing->margin, 0.1) : sizing->margin;

	if (advice->memory_by_kernel)
		buffer_printf(out, ", %s for the kernel and files in memory",
			      amount_of_mib(advice->usage.kernel_mib).text);
	buffer_printf(out, ", and %.0f %% ", 100 * margin);
	if (advice->policy == RT_POLICY_COST && sizing->runs >= COST_LEAST_RUNS)
		buffer_add_text(out, "for what a recording does not see");
	else if (sizing->runs > 1)
		buffer_printf(out, "for the spread of %zu runs", sizing->runs);
	else
		buffer_add_text(out, "more");
}

/* Whether the memory is more or less than the largest peak and a margin. */
static bool explains_need(const struct rt_advice *advice)
{
	const struct sizing_answer *sizing = &advice->sizing;

	if (!(sizing->largest > 0) || advice->memory_mib == LEAST_MIB)
		return false;
	return sizing->is_retry || sizing->kill_had > 0 || sizing->shape != SHAPE_SAME ||
	       (!advice->memory_at_least && is_below_largest(sizing));
}

/* "4.1 GiB: 0.9 GiB and 2.6 bytes for each byte of input, and 12 % for the spread of 37 runs" */
static void add_need(struct buffer *out, const struct rt_advice *advice)
{
	const struct sizing_answer *sizing = &advice->sizing;

	if (sizing->is_retry)
		buffer_printf(out, "attempt %u: ", advice->attempt);
	add_size_of_mib(out, (double)advice->memory_mib);
	buffer_printf(out, "%s %s", sizing->is_retry ? "," : ":", advice->memory_basis);
	if (!sizing->is_retry && !(sizing->kill_had > 0)) {
		add_margin(out, advice);
		if (sizing->killed_share > 0)
			buffer_printf(out, "; %.2g %% of the runs would be killed and repeated",
				      100 * sizing->killed_share);
	}
	if (advice->memory_again_mib > 0)
		buffer_printf(out, "; attempt %u: %s", advice->attempt + 1,
			      amount_of_mib((double)advice->memory_again_mib).text);
}

/* The largest peak of the runs that count. One that was forgotten, or says too little, may have had a larger one. */
static double counted_peak(const struct rt_advice *advice)
{
	double peak = seen_peak(&advice->usage);

	return advice->sizing.largest < peak ? advice->sizing.largest : peak;
}

static void add_memory_advice(struct buffer *out, const struct rt_advice *advice)
{
	const struct usage *usage = &advice->usage;
	char asked[40];

	add_advice_label(out, "Memory");
	if (advice->memory_mib < 0) {
		buffer_add_text(out, "unknown: its memory was not recorded\n");
		return;
	}
	snprintf(asked, sizeof(asked), "%lld MiB", (long long)advice->memory_mib);
	buffer_printf(out, "%-11s ", asked);
	if (explains_need(advice)) {
		add_need(out, advice);
		next_line(out);
		buffer_printf(out, "(largest peak %s)", amount_of_mib(seen_peak(usage)).text);
	} else if (advice->memory_at_least) {
		buffer_printf(out, "it needs more than %s: %s", amount_of_mib(advice->usage.oom_had_mib).text,
			      advice->usage.oom == OOM_STEP
				      ? "one of its processes was killed with this amount"
				      : "it was killed with this amount");
	} else {
		buffer_add_text(out, advice->policy == RT_POLICY_MAX ? "peak " : "largest peak ");
		add_size_of_mib(out, counted_peak(advice));
		buffer_add_text(out, usage->swapped ? " with swap" : "");
		if (is_between_samples(usage)) {
			buffer_add_text(out, ", perhaps ");
			add_size_of_mib(out, usage->between_peak_mib);
		}
		add_margin(out, advice);
	}
	if (!explains_need(advice)) {
		next_line(out);
		buffer_printf(out, "(%s)", advice->memory_basis);
	}
	buffer_add_char(out, '\n');
	if (advice->backtest.runs) {
		add_advice_label(out, "");
		buffer_printf(out, "%12son the %s: %zu killed, reserved %s times the used memory\n", "",
			      backtest_runs(&advice->backtest).text, advice->backtest.killed,
			      amount_of(advice->backtest.reserved_per_used, add_figure).text);
	}
}

static void add_time_advice(struct buffer *out, const struct rt_advice *advice)
{
	const struct sizing_answer *timing = &advice->timing;

	if (advice->time_secs < 0)
		return;
	add_advice_label(out, "Time");
	buffer_printf(out, "%-12s", amount_of((double)advice->time_secs, add_duration).text);
	if (advice->cut_secs > timing->need)
		buffer_printf(out, "a run was cut short after %s, and no later one shows the whole",
			      amount_of(advice->cut_secs, add_duration).text);
	else if (timing->is_retry)
		buffer_printf(out, "attempt %u: twice the attempt before", advice->attempt);
	else
		buffer_printf(out, "longest of %zu runs %s, and %.0f %% more", timing->runs,
			      amount_of(timing->largest, add_duration).text, 100 * timing->margin);
	if (!timing->is_retry && timing->shape != SHAPE_SAME) {
		next_line(out);
		buffer_printf(out, "(an input of this size: %s)", amount_of(timing->base, add_duration).text);
	}
	buffer_add_char(out, '\n');
}

static void add_tasks_line(struct buffer *out, const struct rt_advice *advice)
{
	const struct ranks *ranks = &advice->ranks;

	if (ranks->tasks <= 1)
		return;
	add_advice_label(out, "Tasks");
	buffer_printf(out, "%-12zu%zu on one host of %zu, %lld CPU%s each; the advice is the sum per host\n",
		      ranks->tasks, ranks->tasks_on_host, ranks->hosts, (long long)ranks->task_cpus,
		      ranks->task_cpus == 1 ? "" : "s");
}

static void add_gpu_lines(struct buffer *out, const struct rt_advice *advice)
{
	if (advice->gpu < 0 && advice->vram_mib < 0)
		return;
	add_advice_label(out, "GPU");
	if (advice->gpu <= 0) {
		buffer_add_text(out, "0           no GPU was used\n");
		return;
	}
	buffer_printf(out, "%-12lldbusy ", (long long)advice->gpu);
	if (isfinite(advice->usage.mean_gpus)) {
		add_figure(out, advice->usage.mean_gpus);
		buffer_add_text(out, " on average, ");
	}
	buffer_add_text(out, "at most ");
	add_figure(out, advice->usage.max_gpus);
	if (advice->vram_mib > 0) {
		buffer_printf(out, "; %lld MiB of its memory (peak ", (long long)advice->vram_mib);
		add_size_of_mib(out, advice->usage.vram_peak_mib);
		buffer_add_char(out, ')');
	}
	if (!isnan(advice->usage.gpu_joules))
		buffer_printf(out, "; %.0f J", advice->usage.gpu_joules);
	buffer_add_char(out, '\n');
}

static void add_server_lines(struct buffer *out, const struct rt_advice *advice)
{
	struct costs costs = find_costs(advice);

	if (*advice->server.type) {
		add_advice_label(out, "Server");
		buffer_printf(out, "%s %s: %lld vCPUs, ", advice->server.vendor, advice->server.type,
			      (long long)advice->server.vcpus);
		add_size_of_mib(out, advice->server.memory_mib);
		if (!isnan(advice->server.usd_per_hour))
			buffer_printf(out, ", %.4g USD an hour", advice->server.usd_per_hour);
		buffer_add_char(out, '\n');
	} else if (advice->server.asked) {
		add_advice_label(out, "Server");
		buffer_printf(out, "unknown: %s\n",
			      *advice->server.problem ? advice->server.problem
						      : "the service did not answer");
		if (*advice->server.question)
			buffer_printf(out, "%11sasked: %s\n", "", advice->server.question);
	}
	if (isnan(costs.run) && isnan(costs.advised))
		return;
	add_advice_label(out, "Cost");
	if (!isnan(costs.run))
		buffer_printf(out, "this run %.4g USD%s", costs.run, isnan(costs.advised) ? "" : ", ");
	if (!isnan(costs.advised))
		buffer_printf(out, "%.4g USD there", costs.advised);
	if (!isnan(costs.saved_pct))
		buffer_printf(out, " (%.0f %% %s)", fabs(costs.saved_pct), costs.saved < 0 ? "more" : "less");
	buffer_add_char(out, '\n');
}

int rt_advice_to_text(const rt_advice *advice, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);

	if (*advice->refused) {
		buffer_printf(&out, "No advice: %s. (--force gives advice anyway)\n", advice->refused);
	} else {
		buffer_add_text(&out, "Resources to request next time");
		if (advice->runs > 1)
			buffer_printf(&out, ", from %zu run%s", advice->runs - advice->runs_left_out,
				      advice->runs - advice->runs_left_out == 1 ? "" : "s");
		buffer_add_text(&out, advice->forced ? " (forced)\n" : "\n");
		add_cpu_advice(&out, advice);
		add_memory_advice(&out, advice);
		add_time_advice(&out, advice);
		add_tasks_line(&out, advice);
		add_gpu_lines(&out, advice);
	}
	add_server_lines(&out, advice);
	for (size_t i = 0; i < advice->note_count; i++) {
		add_advice_label(&out, i ? "" : "Notes");
		buffer_printf(&out, "%s [%s]\n", advice->notes[i].text, advice->notes[i].rule);
	}
	return buffer_take_text(&out, ret_text);
}
