/* recommend: says which resources to request next time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ask_keeper.h"
#include "analysis/command.h"
#include "analysis/words.h"
#include "base/cleanup.h"
#include "base/screen.h"
#include "history/history.h"
#include "resource_tracker_analysis.h"

/* Where the text of a line begins. */
enum { TEXT_COLUMN = 23, TEXT_CEILING = 1 << 20 };

struct recommend_options {
	bool json, server;
	const char *form, *catalogue, *instance, *output;
	struct text_list filters, history;
	struct rt_recommend_options advice;
};

static void cleanup_advice(rt_advice **advice)
{
	rt_advice_free(*advice);
}

static void cleanup_options(struct recommend_options *options)
{
	text_list_done(&options->filters);
	text_list_done(&options->history);
}

static bool set_policy(struct recommend_options *options, const char *name)
{
	static const struct {
		const char *name;
		enum rt_policy policy;
	} POLICIES[] = {{"max", RT_POLICY_MAX}, {"p95", RT_POLICY_P95}, {"cost", RT_POLICY_COST}};

	for (size_t i = 0; i < sizeof(POLICIES) / sizeof(POLICIES[0]); i++) {
		if (strcmp(name, POLICIES[i].name) != 0)
			continue;
		options->advice.policy = POLICIES[i].policy;
		return true;
	}
	return false;
}

static bool set_option(void *context, int option, const char *value)
{
	struct recommend_options *options = context;

	switch (option) {
	case OPTION_recommend_json:
		options->json = true;
		return true;
	case OPTION_recommend_force:
		options->advice.force = true;
		return true;
	case OPTION_recommend_form:
		options->form = value;
		return true;
	case OPTION_recommend_history:
		return text_list_add(&options->history, value);
	case OPTION_recommend_job:
		options->advice.job = value;
		return true;
	case OPTION_recommend_task:
		options->advice.task = value;
		return true;
	case OPTION_recommend_server:
		options->server = true;
		return true;
	case OPTION_recommend_filter:
		return strchr(value, '=') && text_list_add(&options->filters, value);
	case OPTION_recommend_catalogue:
		options->catalogue = value;
		options->server = true;
		return true;
	case OPTION_recommend_instance:
		options->instance = value;
		return true;
	case OPTION_recommend_price:
		return parse_real(value, &options->advice.usd_per_hour) && options->advice.usd_per_hour > 0;
	case OPTION_recommend_policy:
		return set_policy(options, value);
	case OPTION_recommend_output:
		options->output = value;
		return true;
	default:
		return false;
	}
}

/* The advice stays useful without a price, so a price that cannot be found is only reported. */
static void find_price(const struct subcommand *command, const struct recommend_options *options,
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

static int find_server(const struct recommend_options *options, rt_advice *advice, struct rt_problem *problem)
{
	if (!options->server)
		return 0;
	if (options->catalogue)
		return rt_advice_find_server(advice, options->catalogue, options->filters.texts,
					     options->filters.count, problem);
	return rt_advice_refused(advice)
		       ? 0
		       : ask_for_server(advice, options->filters.texts, options->filters.count);
}

static int make_text(const struct recommend_options *options, const rt_advice *advice, char **ret_text,
		     struct rt_problem *problem)
{
	if (options->form)
		return rt_advice_to_form(advice, options->form, ret_text, problem);
	return options->json ? rt_advice_to_json(advice, ret_text) : rt_advice_to_text(advice, ret_text);
}

/* The run in question comes first, then its history. A job that is named without a FILE is looked for in the own history. */
static int add_history(const struct subcommand *command, struct recommend_options *options,
		       struct text_list *files)
{
	CLEANUP_FREE char *own = NULL;
	struct rt_problem problem = {"out of memory"};

	for (size_t i = 0; i < options->history.count; i++)
		if (!text_list_add(files, options->history.texts[i]))
			return command_fault(command, "out of memory");
	if (files->count)
		return 0;
	if (!options->advice.job)
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

int run_recommend(const struct subcommand *command, char **argv)
{
	__attribute__((cleanup(cleanup_options))) struct recommend_options options = {
		.advice = {.size = sizeof(options.advice)}};
	__attribute__((cleanup(cleanup_advice))) rt_advice *advice = NULL;
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	CLEANUP_TEXTS struct text_list files = {0};
	int result, status;

	status = command_read(command, argv, set_option, &options, &files);
	if (status)
		return status;
	status = add_history(command, &options, &files);
	if (status)
		return status;
	result = rt_recommend(files.texts, files.count, &options.advice, &advice, &problem);
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
