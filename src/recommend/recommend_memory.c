/* The memory of the advice: which runs show a need, which kills still count, and the sentence that says so. See recommend.h. */
#include "recommend/recommend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SETTLING_SHARE = 0.7, CHARGED_MARGIN = 1.1, OTHER_BASE = 0.02;
enum { RUNS_TO_FORGET_A_KILL = 10 };

struct rt_advice start_advice(const struct rt_recommend_options *options)
{
	return (struct rt_advice){
		.forced = options->force,
		.policy = options->policy,
		.usage = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, OOM_NONE, false,
			  0, 0},
		.ranks = {1, 1, 1, 1, 1, -1, NAN},
		.sizing = {.need = NAN, .base = NAN, .usual = NAN, .kill_had = NAN},
		.timing = {.need = NAN, .base = NAN, .largest = NAN},
		.input_bytes = options->input_bytes > 0 ? options->input_bytes : (double)NAN,
		.attempt = options->attempt > 0 ? options->attempt : 1,
		.least_mib = options->memory_least_mib > 0 ? options->memory_least_mib : (double)LEAST_MIB,
		.step_mib = options->memory_step_mib > 0 ? options->memory_step_mib : (double)MEMORY_STEP_MIB,
		.backtest = {.reserved_per_used = NAN},
		.cpu = -1,
		.cpu_limit = -1,
		.cpu_request = NAN,
		.cpu_stretch = NAN,
		.memory_mib = -1,
		.memory_again_mib = -1,
		.gpu = -1,
		.vram_mib = -1,
		.time_secs = -1,
		.allocation = "unknown",
		.usd_per_hour = options->usd_per_hour > 0 ? options->usd_per_hour : (double)NAN,
	};
}

/*
 * Whether a run shows what is enough for a killed one, or a part of it. A later run of about its input or a larger one does. Where the
 * sizes of inputs are unknown, a later run does that took about as much, because the limit also counts kernel memory, which no peak
 * includes. Any other run took more and survived at best: then only the policy that never says less than this run's peak may rest on it.
 */
static bool shows_enough(const struct rt_advice *advice, const struct evidence *one,
			 const struct evidence *killed)
{
	bool has_sizes = one->input_bytes >= 0 && killed->input_bytes >= 0;

	if (one->started > killed->started) {
		if (has_sizes && settles_kill(one->input_bytes, killed->input_bytes))
			return true;
		if (!has_sizes && peak_of(one) >= SETTLING_SHARE * killed->oom_had_mib)
			return true;
	}
	return advice->policy == RT_POLICY_MAX && peak_of(one) >= killed->oom_had_mib &&
	       settles_kill(killed->input_bytes, one->input_bytes);
}

/* Many later runs that needed less settle a kill, too, where the sizes of inputs are unknown. */
static bool is_settled(const struct rt_advice *advice, const struct past *past, const struct evidence *killed)
{
	size_t later = 0;

	for (size_t i = 0; i < past->count; i++) {
		const struct evidence *one = &past->list[i];

		if (!one->good)
			continue;
		if (shows_enough(advice, one, killed))
			return true;
		later += one->started > killed->started &&
			 !(one->input_bytes >= 0 && killed->input_bytes >= 0);
	}
	return later >= RUNS_TO_FORGET_A_KILL;
}

static void add_usage_of(struct usage *usage, const struct evidence *one)
{
	usage->sampled_peak_mib = larger_known(usage->sampled_peak_mib, one->sampled_peak_mib);
	usage->process_peak_mib = larger_known(usage->process_peak_mib, one->process_peak_mib);
	usage->between_peak_mib = larger_known(usage->between_peak_mib, one->between_peak_mib);
	usage->swapped |= one->swapped;
	if (one->oom_floor_mib > usage->oom_floor_mib) {
		usage->oom = one->oom;
		usage->oom_had_mib = one->oom_had_mib;
		usage->oom_floor_mib = one->oom_floor_mib;
	}
	usage->kernel_mib = larger_known(usage->kernel_mib, one->kernel_mib);
	usage->cache_limit_mib = fmax(usage->cache_limit_mib, one->cache_limit_mib);
}

bool keep_told_inputs(struct past *past)
{
	bool is_told = false;

	for (size_t i = 0; i < past->count; i++)
		is_told |= past->list[i].input_bytes >= 0 && !past->list[i].input_is_guessed;
	for (size_t i = 0; is_told && i < past->count; i++)
		if (past->list[i].input_is_guessed)
			past->list[i].input_bytes = NAN;
	return is_told;
}

/*
 * The runs whose need is known. One that was cut short took at least what its samples show: this counts for the largest need, but
 * not for usual ones. One that was killed for lack of memory shows no need at all.
 */
static size_t take_needs(struct rt_advice *advice, const struct past *past, struct sized_run *ret_runs)
{
	size_t count = 0;

	for (size_t i = 0; i < past->count; i++) {
		const struct evidence *one = &past->list[i];
		double peak = peak_of(one);

		add_usage_of(&advice->usage, one);
		if (!isnan(peak) &&
		    (one->good || (advice->policy == RT_POLICY_MAX && !(one->oom_had_mib > 0))))
			ret_runs[count++] = (struct sized_run){peak, one->input_bytes, one->secs};
	}
	return count;
}

/* The kills that nothing settled, and the most that they or, for the safe policy, settled ones demand by themselves. */
static size_t take_kills(const struct rt_advice *advice, const struct past *past,
			 struct sized_kill *ret_kills, double *ret_floor_mib)
{
	size_t count = 0;

	*ret_floor_mib = 0;
	for (size_t i = 0; i < past->count; i++) {
		const struct evidence *one = &past->list[i];

		if (!(one->oom_had_mib > 0))
			continue;
		if (!is_settled(advice, past, one)) {
			ret_kills[count++] = (struct sized_kill){one->oom_had_mib, one->input_bytes};
			*ret_floor_mib = fmax(*ret_floor_mib, one->oom_floor_mib);
		} else if (advice->policy == RT_POLICY_MAX && isnan(one->input_bytes)) {
			*ret_floor_mib = fmax(*ret_floor_mib, one->oom_had_mib * CHARGED_MARGIN);
		}
	}
	return count;
}

/* "0.9 GiB and 2.6 bytes for each byte of input" */
static void add_line_of_sizes(struct buffer *out, const struct sizing_answer *sizing)
{
	double slope = sizing->per_byte * 1024 * 1024;

	buffer_add_text(out, amount_of_mib(fabs(sizing->fixed)).text);
	buffer_printf(out, slope < 0 ? " less " : sizing->fixed < 0 ? " below " : " and ");
	add_figure(out, fabs(slope));
	buffer_add_text(out, " bytes for each byte of input");
}

/* The basis of an attempt after the first. */
static const char *why_attempt(const struct sizing_answer *sizing, unsigned attempt)
{
	if (fabs(sizing->need - sizing->largest * CHARGED_MARGIN) < 1)
		return "a tenth more than the largest peak";
	return attempt > 3 ? "twice what the attempt before had"
			   : "half as much again as the attempt before had";
}

static const char *basis_of(const struct usage *usage)
{
	if (is_between_samples(usage))
		return "what its processes may have held together between two samples";
	if (usage->process_peak_mib > usage->sampled_peak_mib || isnan(usage->sampled_peak_mib))
		return "the kernel's peak of the largest process";
	return "the peak of the process tree";
}

static enum sizing_aim aim_of(enum rt_policy policy)
{
	return policy == RT_POLICY_COST ? AIM_COST : policy == RT_POLICY_P95 ? AIM_P95 : AIM_SAFE;
}

/* A line is held between a quarter of the smallest peak and four times the largest. */
static bool is_held(const struct sizing_answer *sizing, double input_bytes)
{
	return fabs(sizing->fixed + sizing->per_byte * input_bytes - sizing->base) >
	       OTHER_BASE * sizing->base;
}

/* Says on what the memory rests. */
static void tell_memory_basis(struct rt_advice *advice, bool is_by_kill)
{
	const struct sizing_answer *sizing = &advice->sizing;
	CLEANUP_BUFFER struct buffer text = BUFFER(sizeof(advice->memory_basis));

	if (advice->memory_mib == round_for_site(advice, 0) && !(sizing->need > advice->least_mib))
		buffer_add_text(&text, "the least that is advised");
	else if (sizing->is_retry)
		buffer_add_text(&text, why_attempt(sizing, advice->attempt));
	else if (sizing->kill_had > 0)
		buffer_printf(&text,
			      "half as much again as the %s that a run of about this input had when it ran "
			      "out of memory",
			      amount_of_mib(sizing->kill_had).text);
	else if (is_by_kill)
		buffer_add_text(&text, "what was not enough when it ran out of memory");
	else if (sizing->is_floor)
		buffer_add_text(&text, "the largest peak of an input of this size or less");
	else if (sizing->shape == SHAPE_NEAREST)
		buffer_add_text(&text, "by the 7 runs nearest in size of input");
	else if (sizing->shape == SHAPE_LINE && is_held(sizing, advice->input_bytes))
		buffer_add_text(&text,
				advice->sizing.is_beyond
					? "four times the largest need, as far as a line is trusted"
					: "a quarter of the smallest need, as far as a line is trusted");
	else if (sizing->shape == SHAPE_LINE)
		add_line_of_sizes(&text, sizing);
	else if (is_below_largest(sizing))
		buffer_printf(&text,
			      advice->policy == RT_POLICY_P95 ? "%s, which 95 %% of %zu runs stayed below"
							      : "%s, which costs least in all for %zu runs",
			      amount_of_mib(sizing->base).text, sizing->runs);
	else
		buffer_add_text(&text, basis_of(&advice->usage));
	snprintf(advice->memory_basis, sizeof(advice->memory_basis), "%s", text.data ? text.data : "");
}

/* Memory that the kernel has for the job is charged like its own. */
static double with_kernel_memory(const struct rt_advice *advice)
{
	const struct sizing_answer *sizing = &advice->sizing;

	return (sizing->base + advice->usage.kernel_mib) * (1 + fmin(sizing->margin, CHARGED_MARGIN - 1));
}

static struct sizing_question question_of(const struct rt_advice *advice)
{
	return (struct sizing_question){aim_of(advice->policy), advice->input_bytes, advice->attempt, false};
}

int64_t round_for_site(const struct rt_advice *advice, double mib)
{
	double steps = ceil(fmin(fmax(mib, advice->least_mib), MOST_OF_ANY) / advice->step_mib);

	return (int64_t)ceil(steps * advice->step_mib);
}

/* The first attempt had the site's rounded size: each further one has more than the one before. */
static double need_above_first(const struct rt_advice *advice, const struct sized_run *runs, size_t count)
{
	struct sizing_question question = question_of(advice);
	double first;

	question.attempt = 1;
	first = size_need(&SIZING_MEMORY, &question, runs, count, NULL, 0).need;
	return advice->sizing.need * (double)round_for_site(advice, first) / first;
}

bool advise_memory(struct rt_advice *advice, const struct past *past, struct sized_run *runs,
		   struct sized_kill *kills, size_t *ret_count)
{
	struct sizing_question question = question_of(advice);
	size_t count = take_needs(advice, past, runs), kill_count;
	double floor, mib;

	*ret_count = count;
	kill_count = take_kills(advice, past, kills, &floor);
	/* Beside good runs, a kill says that half as much again may do. Without any, the recording's own estimate is better. */
	advice->sizing = size_need(&SIZING_MEMORY, &question, runs, count, kills,
				   count || advice->attempt > 1 ? kill_count : 0);
	if (count && kill_count)
		floor = 0;
	mib = larger_known(advice->sizing.need, floor);
	if (advice->policy == RT_POLICY_MAX) {
		double with_kernel = with_kernel_memory(advice);

		advice->memory_by_kernel = with_kernel > mib;
		mib = larger_known(mib, with_kernel);
	}
	if (advice->sizing.is_retry && isnan(advice->sizing.kill_had) &&
	    (advice->least_mib > (double)LEAST_MIB || advice->step_mib > (double)MEMORY_STEP_MIB))
		mib = larger_known(mib, need_above_first(advice, runs, count));
	advice->memory_at_least = advice->sizing.kill_had > 0 || (kill_count && !count);
	if (mib > 0)
		advice->memory_mib = round_for_site(advice, fmax(mib, advice->usage.cache_limit_mib));
	else if (count)
		advice->memory_mib = round_for_site(advice, (double)LEAST_MIB);
	return floor >= mib || advice->sizing.kill_had > 0;
}

static void decide_memory_formula(struct rt_advice *advice, const struct sized_run *runs, size_t count,
				  const struct sized_kill *kills, size_t kill_count)
{
	struct sizing_formula formula =
		size_formula(&SIZING_MEMORY, aim_of(advice->policy), runs, count, kills, kill_count);
	double kernel_mib = advice->policy == RT_POLICY_MAX ? advice->usage.kernel_mib * CHARGED_MARGIN : 0;

	formula.fixed += kernel_mib;
	formula.least = fmax(formula.least, (double)LEAST_MIB) + kernel_mib;
	formula.least = fmax(formula.least, fmax(advice->least_mib, advice->usage.cache_limit_mib));
	formula.most = fmax(formula.most, formula.least);
	advice->memory_formula = formula;
}

void decide_memory(struct rt_advice *advice, const struct past *past, struct sized_run *runs,
		   struct sized_kill *kills)
{
	struct sizing_question question = question_of(advice);
	size_t count;
	bool is_by_kill = advise_memory(advice, past, runs, kills, &count);
	double floor;

	advice->backtest = size_backtest(&question, runs, count);
	decide_memory_formula(advice, runs, count, kills, take_kills(advice, past, kills, &floor));
	question.attempt = advice->attempt + 1;
	if (count && advice->memory_mib > 0)
		advice->memory_again_mib = round_for_site(
			advice, size_need(&SIZING_MEMORY, &question, runs, count,
					  &(struct sized_kill){(double)advice->memory_mib, NAN}, 1)
					.need);
	tell_memory_basis(advice, is_by_kill);
}
