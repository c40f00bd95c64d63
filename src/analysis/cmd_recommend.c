/* recommend: says which resources to request next time. */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/ask_keeper.h"
#include "analysis/command.h"
#include "analysis/find_run.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "base/screen.h"
#include "history/history.h"
#include "launch/input_size.h"
#include "parallel/parallel.h"
#include "recommend/replay.h"
#include "resource_tracker_analysis.h"

/* Where the text of a line begins. */
enum { TEXT_COLUMN = 23, TEXT_CEILING = 1 << 20, BACKTEST_CEILING = 64 << 20, ATTEMPTS_MOST = 1000 };

static const double BYTES_PER_MIB = 1048576;

static void cleanup_advice(rt_advice **advice)
{
	rt_advice_free(*advice);
}

static enum rt_policy policy_of(const char *name)
{
	return strcmp(name, "p95") == 0    ? RT_POLICY_P95
	       : strcmp(name, "cost") == 0 ? RT_POLICY_COST
					   : RT_POLICY_MAX;
}

/* The advice stays useful without a price, so a price that cannot be found is only reported. */
static void find_price(const struct subcommand *command, const struct recommend_words *options,
		       rt_advice *advice)
{
	struct rt_problem problem = {""};
	double usd_per_hour;
	int result;

	if (!options->instance)
		return;
	result = options->catalogue
			 ? rt_catalogue_price(options->catalogue, options->instance, &usd_per_hour, &problem)
			 : ask_for_price(options->instance, &usd_per_hour, &problem);
	if (result == 0)
		rt_advice_set_price(advice, usd_per_hour);
	else
		(void)command_fault(command, "%s", problem.text);
}

static int find_server(const struct recommend_words *options, rt_advice *advice, struct rt_problem *problem)
{
	if (!options->server && !options->catalogue)
		return 0;
	if (options->catalogue)
		return rt_advice_find_server(advice, options->catalogue, options->filter.texts,
					     options->filter.count, problem);
	return rt_advice_refused(advice)
		       ? 0
		       : ask_for_server(advice, options->filter.texts, options->filter.count);
}

static int make_text(const struct recommend_words *options, const rt_advice *advice, char **ret_text,
		     struct rt_problem *problem)
{
	if (options->form)
		return rt_advice_to_form(advice, options->form, ret_text, problem);
	return options->json ? rt_advice_to_json(advice, ret_text) : rt_advice_to_text(advice, ret_text);
}

/* The run in question comes first, then its history. A job that is named without a FILE is looked for in the own history. */
static int add_history(const struct subcommand *command, struct recommend_words *options)
{
	struct text_list *files = &options->line.files;
	CLEANUP_FREE char *own = NULL;
	struct rt_problem problem = {"out of memory"};

	for (size_t i = 0; i < options->history.count; i++)
		if (look_at_input(options->history.texts[i], &problem) < 0 ||
		    !text_list_add(files, options->history.texts[i]))
			return command_fault(command, "%s", problem.text);
	if (files->count)
		return 0;
	if (!options->job && !options->backtest)
		return command_usage(command, "name a recording, or a job of the history with --job");
	if (history_own_lines(&own, &problem) < 0 || !text_list_add_copy(files, own))
		return command_fault(command, "%s", problem.text);
	return 0;
}

/* Lines that are too long go on below their text. */
static int print_fitted(const struct subcommand *command, const char *output, const char *text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	struct screen screen = table_screen_of(command_screen(output), command_colour());

	screen_add(&out, text, &screen, TEXT_COLUMN);
	if (buffer_error(&out))
		return command_fault(command, "out of memory");
	return command_write_fitted(command, output, out.data ? out.data : "");
}

/* Options that say something of one next run. */
static int check_backtest(const struct subcommand *command, const struct recommend_words *options)
{
	const struct {
		const char *name;
		bool given;
	} OTHERS[] = {
		{"for", options->form},
		{"input", options->input.count},
		{"input-bytes", options->input_bytes > 0},
		{"attempt", options->attempt > 0},
		{"server", options->server},
		{"catalogue", options->catalogue},
		{"instance", options->instance},
		{"price", options->price > 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(OTHERS); i++)
		if (OTHERS[i].given)
			return command_usage(command,
					     "--backtest replays runs as they were: leave out --%s, which is "
					     "for one next run",
					     OTHERS[i].name);
	return 0;
}

static int print_backtest(const struct subcommand *command, const struct recommend_words *options)
{
	__attribute__((cleanup(replay_done))) struct replay replay =
		REPLAY(policy_of(options->policy), options->job, options->task);
	CLEANUP_BUFFER struct buffer out = BUFFER(BACKTEST_CEILING);
	struct screen screen = table_screen_of(command_screen(options->output), command_colour());
	struct rt_problem problem = {"out of memory"};
	int result = 0;

	replay.usd_per_gib_hour = options->gib_price;
	replay.memory_least_mib = options->memory_least;
	replay.memory_step_mib = options->memory_step;
	for (size_t i = 0; i < options->line.files.count && result == 0; i++)
		result = replay_add_file(&replay, options->line.files.texts[i], &problem);
	if (result == 0)
		result = replay_all(&replay, &problem);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (options->json)
		replay_add_json(&out, &replay);
	else
		replay_add_text(&out, &replay, &screen);
	if (buffer_error(&out))
		return command_fault(command, "out of memory");
	return options->json ? command_write(command, options->output, out.data, out.length)
			     : command_write_fitted(command, options->output, out.data);
}

/* Finds the size of the next run's input. */
static int find_next_input(const struct subcommand *command, const struct recommend_words *options,
			   double *ret_bytes)
{
	const char *unknown;
	int64_t bytes;

	*ret_bytes = options->input_bytes;
	if (options->input_bytes > 0 || !options->input.count)
		return 0;
	bytes = size_of_inputs((const char *const *)options->input.texts, options->input.count, &unknown);
	if (bytes < 0)
		return command_fault(
			command, "the size of the input '%s' is unknown: it is missing, or cannot be read",
			unknown);
	*ret_bytes = (double)bytes;
	return 0;
}

/* The cores that this process may use, and the memory of the machine. */
static void find_own_machine(double *cores, double *memory_mib)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	cpu_set_t usable;

	if (!(*cores > 0))
		*cores = sched_getaffinity(0, sizeof(usable), &usable) == 0
				 ? (double)CPU_COUNT(&usable)
				 : (double)sysconf(_SC_NPROCESSORS_ONLN);
	if (!(*memory_mib > 0))
		*memory_mib = (double)pages * (double)page / BYTES_PER_MIB;
}

static int print_jobs(const struct subcommand *command, struct recommend_words *options)
{
	CLEANUP_FREE struct parallel *parallel = calloc(1, sizeof(*parallel));
	CLEANUP_BUFFER struct buffer out = BUFFER(BACKTEST_CEILING);
	struct rt_problem problem = {"out of memory"};
	int result = parallel ? 0 : -ENOMEM;

	if (!options->line.files.count)
		return command_usage(
			command,
			"--jobs: name the folder of a build's recordings, such as .resource-tracker");
	find_own_machine(&options->cores, &options->memory);
	if (result == 0)
		result = parallel_read(parallel, options->line.files.texts, options->line.files.count,
				       &problem);
	if (result == 0)
		result = parallel_find_needs(parallel);
	if (result == 0)
		result = parallel_choose(parallel, options->cores, options->memory);
	if (result == 0 && options->json)
		parallel_add_json(&out, parallel);
	else if (result == 0)
		result = parallel_add_text(&out, parallel, command_screen(options->output), command_colour());
	if (parallel)
		parallel_done(parallel);
	if (result < 0 || buffer_error(&out))
		return command_fault(command, "%s", problem.text);
	return options->json ? command_write(command, options->output, out.data, out.length)
			     : command_write_fitted(command, options->output, out.data);
}

int run_recommend(const struct subcommand *command, char **argv)
{
	CLEANUP_OPTIONS(recommend) options = {.policy = "max"};
	struct rt_recommend_options wanted = {.size = sizeof(wanted)};
	__attribute__((cleanup(cleanup_advice))) rt_advice *advice = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	int result, status = command_read(command, argv, &options);

	if (status == 0)
		status = command_check_pairs(command, "server-filter", &options.filter);
	if (status == 0 && options.backtest)
		status = check_backtest(command, &options);
	if (status == 0 && !options.jobs && (options.cores > 0 || options.memory > 0))
		status = command_usage(command, "--cores and --memory are for --jobs");
	if (status == 0 && options.jobs)
		return print_jobs(command, &options);
	if (status == 0)
		status = add_history(command, &options);
	if (status)
		return status;
	if (options.backtest)
		return print_backtest(command, &options);
	if (options.gib_price > 0)
		return command_usage(
			command, "--gib-price is for --backtest: a run's own price is --price or --instance");
	wanted.policy = policy_of(options.policy);
	wanted.force = options.force;
	wanted.job = options.job;
	wanted.task = options.task;
	wanted.usd_per_hour = options.price;
	wanted.memory_least_mib = options.memory_least;
	wanted.memory_step_mib = options.memory_step;
	wanted.attempt = options.attempt >= 1 ? (unsigned)fmin(options.attempt, (double)ATTEMPTS_MOST) : 1;
	status = find_next_input(command, &options, &wanted.input_bytes);
	if (status)
		return status;
	result = rt_recommend(options.line.files.texts, options.line.files.count, &wanted, &advice, &problem);
	if (result == 0) {
		find_price(command, &options, advice);
		result = find_server(&options, advice, &problem);
	}
	if (result == 0)
		result = make_text(&options, advice, &text, &problem);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	if (!options.json && !options.form)
		return print_fitted(command, options.output, text);
	return command_write(command, options.output, text, strlen(text));
}
