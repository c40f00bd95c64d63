/* The options of this program's subcommands; see arguments.h. */
#include "net/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/long_options.h"
#include "base/scan.h"
#include "launch/find_program.h"
#include "net/message.h"

enum { DEFAULT_DEADLINE_SECS = 10, MOST_DEADLINE_SECS = 86400 };

enum option_id {
	SPOOL_OPTION = 1,
	FROM_OPTION,
	END_FD_OPTION,
	PID_OPTION,
	DISPOSABLE_OPTION,
	REPORT_OPTION,
	DEADLINE_OPTION,
	ROOT_OPTION,
	NO_WARNINGS_OPTION,
	JSON_OPTION,
	PYTHON_OPTION,
	LINES_OPTION,
	WHEN_TOLD_OPTION,
	VCPUS_OPTION,
	MEMORY_OPTION,
	GPUS_OPTION,
	GPU_MEMORY_OPTION,
	LIMIT_OPTION,
	VENDOR_OPTION,
	INSTANCE_TYPE_OPTION,
	REGION_OPTION,
	FILTER_OPTION,
	OPTIONS
};

static const struct option OPTIONS_LIST[] = {
	{"spool", required_argument, NULL, SPOOL_OPTION},
	{"from", required_argument, NULL, FROM_OPTION},
	{"end-fd", required_argument, NULL, END_FD_OPTION},
	{"pid", required_argument, NULL, PID_OPTION},
	{"disposable", no_argument, NULL, DISPOSABLE_OPTION},
	{"report", no_argument, NULL, REPORT_OPTION},
	{"upload-deadline", required_argument, NULL, DEADLINE_OPTION},
	{"root", required_argument, NULL, ROOT_OPTION},
	{"no-warnings", no_argument, NULL, NO_WARNINGS_OPTION},
	{"json", no_argument, NULL, JSON_OPTION},
	{"python", no_argument, NULL, PYTHON_OPTION},
	{"lines", no_argument, NULL, LINES_OPTION},
	{"when-told", no_argument, NULL, WHEN_TOLD_OPTION},
	{"vcpus", required_argument, NULL, VCPUS_OPTION},
	{"memory-mib", required_argument, NULL, MEMORY_OPTION},
	{"gpus", required_argument, NULL, GPUS_OPTION},
	{"gpu-memory-mib", required_argument, NULL, GPU_MEMORY_OPTION},
	{"limit", required_argument, NULL, LIMIT_OPTION},
	{"vendor", required_argument, NULL, VENDOR_OPTION},
	{"instance-type", required_argument, NULL, INSTANCE_TYPE_OPTION},
	{"region", required_argument, NULL, REGION_OPTION},
	{"filter", required_argument, NULL, FILTER_OPTION},
	{NULL, 0, NULL, 0},
};

/* The group of subcommands that has an option; 0: all subcommands. */
static const unsigned int SETS[OPTIONS] = {
	[SPOOL_OPTION] = ARGUMENT_SPOOL,
	[FROM_OPTION] = ARGUMENT_FOLLOW,
	[END_FD_OPTION] = ARGUMENT_FOLLOW,
	[PID_OPTION] = ARGUMENT_FOLLOW,
	[DISPOSABLE_OPTION] = ARGUMENT_FOLLOW,
	[REPORT_OPTION] = ARGUMENT_FOLLOW,
	[DEADLINE_OPTION] = ARGUMENT_DEADLINE,
	[ROOT_OPTION] = ARGUMENT_ROOT,
	[JSON_OPTION] = ARGUMENT_JSON,
	[PYTHON_OPTION] = ARGUMENT_DISCOVER,
	[LINES_OPTION] = ARGUMENT_DISCOVER,
	[WHEN_TOLD_OPTION] = ARGUMENT_DISCOVER,
	[VCPUS_OPTION] = ARGUMENT_KEEPER,
	[MEMORY_OPTION] = ARGUMENT_KEEPER,
	[GPUS_OPTION] = ARGUMENT_KEEPER,
	[GPU_MEMORY_OPTION] = ARGUMENT_KEEPER,
	[LIMIT_OPTION] = ARGUMENT_KEEPER,
	[VENDOR_OPTION] = ARGUMENT_KEEPER,
	[INSTANCE_TYPE_OPTION] = ARGUMENT_KEEPER,
	[REGION_OPTION] = ARGUMENT_KEEPER,
	[FILTER_OPTION] = ARGUMENT_KEEPER,
};

static bool take_count(const char *text, int64_t most, int64_t *ret_value)
{
	struct scan scan = scan_bytes(text, strlen(text));
	int64_t value;

	if (!scan_i64(&scan, &value) || scan_left(&scan) || value < 0 || value > most)
		return false;
	*ret_value = value;
	return true;
}

static bool take_real(const char *text, double most, double *ret_value)
{
	struct scan scan = scan_bytes(text, strlen(text));
	double value;

	if (!scan_real(&scan, &value) || scan_left(&scan) || !(value >= 0) || value > most)
		return false;
	*ret_value = value;
	return true;
}

static bool take_filter(struct arguments *arguments, const char *text)
{
	if (arguments->filter_count == MOST_FILTERS || !strchr(text, '=') || text[0] == '=')
		return false;
	arguments->filters[arguments->filter_count++] = text;
	return true;
}

static bool take_option(struct arguments *arguments, enum option_id id, const char *value)
{
	int64_t count = 0;
	double real = 0;
	bool good = true;

	switch (id) {
	case SPOOL_OPTION:
		arguments->spool = value;
		return *value;
	case FROM_OPTION:
		return take_count(value, INT64_MAX, &arguments->from);
	case END_FD_OPTION:
		good = take_count(value, INT_MAX, &count);
		arguments->end_fd = (int)count;
		return good;
	case PID_OPTION:
		good = take_count(value, INT_MAX, &count) && count > 0;
		arguments->pid = (pid_t)count;
		return good;
	case DISPOSABLE_OPTION:
		arguments->disposable = true;
		return true;
	case REPORT_OPTION:
		arguments->report = true;
		return true;
	case DEADLINE_OPTION:
		good = parse_duration(value, &real) && real >= 0 && real <= (double)MOST_DEADLINE_SECS;
		if (good)
			arguments->deadline_ns = (int64_t)(real * 1e9);
		return good;
	case ROOT_OPTION:
		arguments->root = value;
		return *value;
	case NO_WARNINGS_OPTION:
		message_enable(false);
		return true;
	case JSON_OPTION:
		return true;
	case PYTHON_OPTION:
		arguments->python = true;
		return true;
	case LINES_OPTION:
		arguments->lines = true;
		return true;
	case WHEN_TOLD_OPTION:
		arguments->when_told = true;
		return true;
	case VCPUS_OPTION:
		return take_count(value, 1 << 20, &arguments->vcpus);
	case MEMORY_OPTION:
		return take_real(value, 1e12, &arguments->memory_mib);
	case GPUS_OPTION:
		return take_count(value, 1 << 20, &arguments->gpus);
	case GPU_MEMORY_OPTION:
		return take_real(value, 1e12, &arguments->gpu_memory_mib);
	case LIMIT_OPTION:
		return take_count(value, 1000, &arguments->limit);
	case VENDOR_OPTION:
		arguments->vendor = value;
		return *value;
	case INSTANCE_TYPE_OPTION:
		arguments->instance_type = value;
		return *value;
	case REGION_OPTION:
		arguments->region = value;
		return *value;
	case FILTER_OPTION:
		return take_filter(arguments, value);
	case OPTIONS:
		break;
	}
	return false;
}

int arguments_parse(struct arguments *ret_arguments, int argc, char **argv, unsigned int allowed)
{
	struct arguments arguments = {
		.end_fd = -1,
		.deadline_ns = DEFAULT_DEADLINE_SECS * NSEC_PER_SEC,
		.root = "/",
	};
	int found, at = 0;

	opterr = 0;
	optind = 1;
	while ((found = next_option(argc, argv, "", OPTIONS_LIST, &at)) != -1) {
		if (found == '?' || (SETS[found] && !(SETS[found] & allowed))) {
			say("%s: unknown option or missing value: %s", argv[0], argv[optind - 1]);
			return -EINVAL;
		}
		if (!take_option(&arguments, (enum option_id)found, optarg)) {
			say("%s: --%s cannot be \"%s\"", argv[0], OPTIONS_LIST[at].name,
			    optarg ? optarg : "");
			return -EINVAL;
		}
	}
	if (argc - optind > MOST_OPERANDS) {
		say("%s: more than %d files", argv[0], MOST_OPERANDS);
		return -EINVAL;
	}
	for (; optind < argc; optind++)
		arguments.operands[arguments.operand_count++] = argv[optind];
	*ret_arguments = arguments;
	return 0;
}

int arguments_usage(const char *usage)
{
	/* Subcommands that people type. The other names are used between our own programs. */
	static const char *const SUBCOMMANDS[] = {"discover", "upload"};

	for (size_t i = 0; i < ARRAY_SIZE(SUBCOMMANDS); i++) {
		const char *name = SUBCOMMANDS[i];

		if (strncmp(usage, name, strlen(name)) != 0)
			continue;
		say("usage: resource-tracker %s", usage);
		if (is_on_path(name))
			say("to record the program '%s': resource-tracker -- %s ...", name, name);
		return 2;
	}
	say("usage: resource-tracker-net %s", usage);
	return 2;
}
