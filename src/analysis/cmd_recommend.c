/* recommend: says which resources to request next time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/arguments.h"
#include "analysis/ask_keeper.h"
#include "analysis/command.h"
#include "base/cleanup.h"
#include "resource_tracker_analysis.h"

struct recommend_options {
	bool json, server;
	const char *form, *catalogue, *instance, *output;
	struct text_list filters, paths;
	struct rt_recommend_options advice;
};

static void cleanup_advice(rt_advice **advice)
{
	rt_advice_free(*advice);
}

static void cleanup_options(struct recommend_options *options)
{
	text_list_done(&options->filters);
	text_list_done(&options->paths);
}

enum recommend_option {
	OPTION_OUTPUT = 'o',
	OPTION_JSON = 256,
	OPTION_FORCE,
	OPTION_FOR,
	OPTION_HISTORY,
	OPTION_SERVER,
	OPTION_FILTER,
	OPTION_CATALOGUE,
	OPTION_INSTANCE,
	OPTION_PRICE,
	OPTION_POLICY
};

static const struct option OPTIONS[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"force", no_argument, NULL, OPTION_FORCE},
	{"for", required_argument, NULL, OPTION_FOR},
	{"history", required_argument, NULL, OPTION_HISTORY},
	{"server", no_argument, NULL, OPTION_SERVER},
	{"server-filter", required_argument, NULL, OPTION_FILTER},
	{"catalogue", required_argument, NULL, OPTION_CATALOGUE},
	{"instance", required_argument, NULL, OPTION_INSTANCE},
	{"price", required_argument, NULL, OPTION_PRICE},
	{"policy", required_argument, NULL, OPTION_POLICY},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{0},
};

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

static bool set_option(struct recommend_options *options, int option)
{
	switch (option) {
	case OPTION_JSON:
		options->json = true;
		return true;
	case OPTION_FORCE:
		options->advice.force = true;
		return true;
	case OPTION_FOR:
		options->form = optarg;
		return true;
	case OPTION_HISTORY:
		return text_list_add(&options->paths, optarg);
	case OPTION_SERVER:
		options->server = true;
		return true;
	case OPTION_FILTER:
		return strchr(optarg, '=') && text_list_add(&options->filters, optarg);
	case OPTION_CATALOGUE:
		options->catalogue = optarg;
		options->server = true;
		return true;
	case OPTION_INSTANCE:
		options->instance = optarg;
		return true;
	case OPTION_PRICE:
		return parse_real(optarg, &options->advice.usd_per_hour) && options->advice.usd_per_hour > 0;
	case OPTION_POLICY:
		return set_policy(options, optarg);
	case OPTION_OUTPUT:
		options->output = optarg;
		return true;
	default:
		return false;
	}
}

/* The advice stays useful without a price, so a price that cannot be found is only reported. */
static void find_price(const struct command *command, const struct recommend_options *options,
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

static int run_recommend(const struct command *command, int argc, char **argv)
{
	__attribute__((cleanup(cleanup_options))) struct recommend_options options = {0};
	__attribute__((cleanup(cleanup_advice))) rt_advice *advice = NULL;
	struct text_list paths = {0};
	struct rt_problem problem = {"out of memory"};
	CLEANUP_FREE char *text = NULL;
	int option, result;

	while ((option = next_option(argc, argv, "o:", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return command_bad_option(command, argv, "o:", OPTIONS);
		if (!set_option(&options, option))
			return command_usage(command, "\"%s\" is not a valid value for this option", optarg);
	}
	if (optind == argc)
		return command_usage(command, "name a recording");
	/* The run in question comes first, then its history. */
	for (int i = optind; i < argc; i++)
		(void)text_list_add(&paths, argv[i]);
	for (size_t i = 0; i < options.paths.count; i++)
		(void)text_list_add(&paths, options.paths.texts[i]);
	result = rt_recommend(paths.texts, paths.count, &options.advice, &advice, &problem);
	text_list_done(&paths);
	if (result == 0) {
		find_price(command, &options, advice);
		result = find_server(&options, advice, &problem);
	}
	if (result == 0)
		result = make_text(&options, advice, &text, &problem);
	if (result < 0)
		return command_fault(command, "%s", problem.text);
	return command_write(command, options.output, text, strlen(text));
}

const struct command RECOMMEND_COMMAND = {
	.name = "recommend",
	.synopsis = "recommend [OPTIONS] FILE...",
	.purpose = "Suggest the resources to request next time, from the use of earlier runs",
	.options =
		"Each FILE is a run: a recording, or the output of stats --json. The notes are about the\n"
		"first. Recordings of the ranks of one job are one run: the needs of ranks on the same\n"
		"host are added up.\n"
		"Memory: the largest peak of the last 50 runs and 20 %, swapped memory included. A run\n"
		"that was killed for lack of memory needed more than it had: the advice is twice that and\n"
		"20 %, until a run shows how much is enough.\n"
		"Cores: the smallest number with which no run would have been slower, and how much longer\n"
		"a run takes with fewer.\n"
		"GPUs: the largest number that were busy.\n"
		"\n"
		"      --json                cpu, memory (MiB), gpu, vram (MiB), cpu_request, cpu_limit,\n"
		"                            refused, evidence, notes\n"
		"      --for SYSTEM          print lines to copy into a job for slurm, kubernetes,\n"
		"                            docker, nextflow, snakemake or metaflow\n"
		"      --policy POLICY       max: as above. p95: the level below which 95 % of the runs\n"
		"                            stayed, with more weight on newer runs, and 15 %. cost: the\n"
		"                            smallest total reservation, at which some runs are killed\n"
		"                            and repeated, and the fewest core hours\n"
		"      --history FILE        add an earlier run to the FILEs\n"
		"      --force               give advice even from too little data\n"
		"      --server              name the cheapest cloud server that fits (asks\n"
		"                            keeper.sparecores.net)\n"
		"      --catalogue FILE      the same from a CSV or SQLite file, without network.\n"
		"                            Columns: vendor_id, api_reference, vcpus, memory_mib,\n"
		"                            price_usd_per_hour; optional: region_id, gpu_count,\n"
		"                            gpu_memory_mib\n"
		"      --server-filter K=V   only servers with this property; may be given several times\n"
		"      --instance VENDOR/REGION/TYPE\n"
		"                            the server of this run: its price gives the cost and the\n"
		"                            savings\n"
		"      --price USD           the same, by its price per hour\n"
		"  -o, --output FILE         write to FILE\n"
		"\n"
		"Notes: idle_cores (less than half of the cores used), cpu_bound, cpu_starved (20 % of\n"
		"the time), throttled (1 % of the time), oom, memory_near_limit (90 %), memory_flat,\n"
		"memory_unused (less than half), swapped, cache_too_small, idle_gpu, gpu_underused,\n"
		"gpu_memory_full (90 %), io_bound, host_shared, failed, cut_short, thin_data,\n"
		"runs_left_out, ranks_missing, drift, risk, one_run.\n",
	.run = run_recommend,
};
