/* The settings of a tracker: from names and texts to checked fields. See config.h and options/settings.def. */
#include "tracker/config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/scan.h"
#include "launch/in_time.h"
#include "metric/selection.h"
#include "tracker/start_at.h"

static const double INPUT_BYTES_MOST = 1e18;

enum { MESSAGE_BYTES = 1000, GIVEN_BYTES = 1 << 18, QUOTED_BYTES = 60 /* of a wrong value in a message */ };
#define INTERVAL_MIN_SECS 0.001
#define SECS_MAX 1e9 /* 31 years: far below the end of int64_t nanoseconds */

struct setting {
	const char *name;
	int (*set)(struct rt_config *config, const struct setting *setting, const char *value);
	size_t offset;              /* of the field */
	const char *const *choices; /* of set_choice: the enum's words in its order, NULL at the end */
	bool is_text;               /* the field is a text that the config owns */
};

/* ---- messages -------------------------------------------------------------------------------------- */

int config_fail(struct rt_config *config, int error, const char *format, ...)
{
	CLEANUP_FREE char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	buffer_clear(&config->message);
	config->failed_output = 0;
	if (length < 0) {
		text = NULL;
		return error;
	}
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	if (length >= MESSAGE_BYTES)
		length = MESSAGE_BYTES;
	buffer_add(&config->message, text, (size_t)length);
	return error;
}

static int refuse_setting(struct rt_config *config, const struct setting *setting, const char *value,
			  const char *why)
{
	size_t length = strlen(value);

	return config_fail(config, -EINVAL, "%s: '%.*s%s' %s", setting->name, QUOTED_BYTES, value,
			   length > QUOTED_BYTES ? "..." : "", why);
}

static int no_memory(struct rt_config *config)
{
	return config_fail(config, -ENOMEM, "out of memory");
}

const char *rt_config_failed_output(const rt_config *config)
{
	return config->failed_output ? config->outputs[config->failed_output - 1].path : NULL;
}

const char *rt_config_message(const rt_config *config)
{
	return config && config->message.length ? config->message.data : "";
}

/* ---- kinds of settings ----------------------------------------------------------------------------- */

static void *setting_field(struct rt_config *config, const struct setting *setting)
{
	return (char *)config + setting->offset;
}

static int set_flag(struct rt_config *config, const struct setting *setting, const char *value)
{
	struct scan text = scan_trim(scan_bytes(value, strlen(value)));

	if (!scan_flag(&text, setting_field(config, setting)))
		return refuse_setting(config, setting, value, "is neither yes nor no; give 1 or 0");
	return 0;
}

static int set_text(struct rt_config *config, const struct setting *setting, const char *value)
{
	char **text = setting_field(config, setting);
	char *copy = NULL;

	if (*value && !(copy = strdup(value)))
		return no_memory(config);
	free(*text);
	*text = copy;
	return 0;
}

static int set_choice(struct rt_config *config, const struct setting *setting, const char *value)
{
	CLEANUP_BUFFER struct buffer list = BUFFER(MESSAGE_BYTES);

	for (unsigned i = 0; setting->choices[i]; i++) {
		if (!*setting->choices[i])
			continue;
		if (strcmp(value, setting->choices[i]) == 0) {
			*(unsigned *)setting_field(config, setting) = i;
			return 0;
		}
		buffer_add_text(&list, list.length ? ", " : "is unknown; give one of ");
		buffer_add_text(&list, setting->choices[i]);
	}
	return refuse_setting(config, setting, value, list.data ? list.data : "is unknown");
}

/* `least`: the shortest valid value; `too_short`: the message about shorter ones. */
static int take_secs(struct rt_config *config, const struct setting *setting, const char *value, double least,
		     const char *too_short)
{
	double secs;

	if (!parse_duration(value, &secs))
		return refuse_setting(config, setting, value,
				      "is not a length of time; give for example 1, 0.25, 500ms or 5m");
	if (secs < least)
		return refuse_setting(config, setting, value, too_short);
	if (secs > SECS_MAX)
		return refuse_setting(config, setting, value, "is too long; the most is 1000000000 seconds");
	*(int64_t *)setting_field(config, setting) = (int64_t)(secs * 1e9 + 0.5);
	return 0;
}

static int set_interval(struct rt_config *config, const struct setting *setting, const char *value)
{
	/* Half a nanosecond of tolerance: 0.001 is not exact in binary. */
	return take_secs(config, setting, value, INTERVAL_MIN_SECS - 5e-10,
			 "is too short; the least is 0.001 seconds");
}

static int set_duration(struct rt_config *config, const struct setting *setting, const char *value)
{
	return take_secs(config, setting, value, 1e-9, "is not more than 0 seconds");
}

static int set_deadline(struct rt_config *config, const struct setting *setting, const char *value)
{
	double secs;

	if (!parse_duration(value, &secs) || secs < 0 || secs > 86400)
		return refuse_setting(config, setting, value, "must be a length of time from 0 to 1d");
	*(int64_t *)setting_field(config, setting) = (int64_t)(secs * 1e9 + 0.5);
	return 0;
}

static int set_carbon_factor(struct rt_config *config, const struct setting *setting, const char *value)
{
	if (parse_positive(value, 10000, setting_field(config, setting)))
		return 0;
	return refuse_setting(config, setting, value, "must be grams per kWh, up to 10000");
}

static int set_input_size(struct rt_config *config, const struct setting *setting, const char *value)
{
	double bytes;

	if (!parse_positive(value, INPUT_BYTES_MOST, &bytes) || bytes != (double)(int64_t)bytes)
		return refuse_setting(config, setting, value, "must be a whole number of bytes above 0");
	*(double *)setting_field(config, setting) = bytes;
	return 0;
}

static int set_programs(struct rt_config *config, const struct setting *setting, const char *value)
{
	if (parse_count_or_off(value, 256, setting_field(config, setting)))
		return 0;
	return refuse_setting(config, setting, value, "must be off or a number from 1 to 256");
}

static int set_waits(struct rt_config *config, const struct setting *setting, const char *value)
{
	if (parse_count_or_off(value, 24, setting_field(config, setting)))
		return 0;
	return refuse_setting(config, setting, value, "must be off or a number from 1 to 24");
}

static int set_start_at(struct rt_config *config, const struct setting *setting, const char *value)
{
	int64_t now_ns = SYSTEM_CLOCKS.realtime_ns(SYSTEM_CLOCKS.context);

	if (strchr(value, ':') && !zone_answers())
		return refuse_setting(config, setting, value, "needs the time zone, which does not answer");
	if (parse_start_at(value, now_ns, setting_field(config, setting)) < 0)
		return refuse_setting(
			config, setting, value,
			"is not a time; give for example 2026-11-21T12:00:00, 12:30, +90 or @1795262400");
	return 0;
}

static int set_pid(struct rt_config *config, const struct setting *setting, const char *value)
{
	int64_t pid;

	if (!parse_count_or_off(value, INT32_MAX, &pid) || !pid)
		return refuse_setting(config, setting, value, "is not a process id; give a positive number");
	*(pid_t *)setting_field(config, setting) = (pid_t)pid;
	return 0;
}

static int set_root(struct rt_config *config, const struct setting *setting, const char *value)
{
	return set_text(config, setting, strcmp(value, "/") == 0 ? "" : value);
}

/* A UUID has dashes, a PCI address colons, an index digits. Other words are misspelt. */
static bool names_gpu(const char *word, size_t length)
{
	return memchr(word, '-', length) || memchr(word, ':', length) || strspn(word, "0123456789") >= length;
}

static int set_gpus(struct rt_config *config, const struct setting *setting, const char *value)
{
	bool is_word =
		strcmp(value, "used") == 0 || strcmp(value, "visible") == 0 || strcmp(value, "all") == 0;

	for (const char *at = value; *at && !is_word; at += *at == ',') {
		size_t length = strcspn(at, ",");

		if (!length || !names_gpu(at, length))
			return refuse_setting(
				config, setting, value,
				"is unknown; give used, visible, all, or UUIDs separated by commas");
		at += length;
	}
	return set_text(config, setting, value);
}

/* ---- lists ----------------------------------------------------------------------------------------- */

/* Makes room for one more element. NULL without memory: then nothing has changed. */
static void *grow_list(void *list_field, size_t count, size_t element_size)
{
	void **list = list_field;
	void *grown = reallocarray(*list, count + 1, element_size);

	if (grown)
		*list = grown;
	return grown;
}

/* Returns the descriptor that a name stands for, or -1 if it is the name of a file. */
static int output_descriptor(const char *name)
{
	struct scan text = scan_bytes(name, strlen(name));
	uint64_t fd;

	if (strcmp(name, "-") == 0 || strcmp(name, "/dev/stdout") == 0)
		return 1;
	if (strcmp(name, "/dev/stderr") == 0)
		return 2;
	if (!scan_literal(&text, "/dev/fd/") || !scan_left(&text) || *text.at == ' ' || *text.at == '\t' ||
	    !scan_u64(&text, &fd) || scan_left(&text) || fd > INT32_MAX)
		return -1;
	return (int)fd;
}

static int add_output(struct rt_config *config, const struct setting *setting, const char *value)
{
	char *path;

	if (!*value)
		return refuse_setting(config, setting, value,
				      "names no file; give a file name, or - for stdout");
	for (size_t i = 0; i < config->output_count; i++) {
		if (strcmp(config->outputs[i].path, value) == 0)
			return refuse_setting(config, setting, value, "is given twice");
	}
	if (!grow_list(&config->outputs, config->output_count, sizeof(config->outputs[0])))
		return no_memory(config);
	path = strdup(value);
	if (!path)
		return no_memory(config);
	config->outputs[config->output_count++] =
		(struct config_output){.path = path, .fd = output_descriptor(value)};
	return 0;
}

static int add_tag(struct rt_config *config, const struct setting *setting, const char *value)
{
	const char *equals = strchr(value, '=');
	struct config_tag tag;

	if (!equals)
		return refuse_setting(config, setting, value, "has no '='; give KEY=VALUE");
	if (equals == value)
		return refuse_setting(config, setting, value, "has no key before the '='; give KEY=VALUE");
	if (!grow_list(&config->tags, config->tag_count, sizeof(config->tags[0])))
		return no_memory(config);
	tag.key = strndup(value, (size_t)(equals - value));
	tag.value = strdup(equals + 1);
	if (!tag.key || !tag.value) {
		free(tag.key);
		free(tag.value);
		return no_memory(config);
	}
	for (size_t i = 0; i < config->tag_count; i++) {
		if (strcmp(config->tags[i].key, tag.key) != 0)
			continue;
		free(config->tags[i].key);
		free(config->tags[i].value);
		config->tags[i] = tag;
		return 0;
	}
	config->tags[config->tag_count++] = tag;
	return 0;
}

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

static int add_input(struct rt_config *config, const struct setting *setting, const char *value)
{
	if (!*value)
		return refuse_setting(config, setting, value, "is empty; give a file, a folder or a pattern");
	if (!grow_list(&config->inputs, config->input_count, sizeof(config->inputs[0])))
		return no_memory(config);
	config->inputs[config->input_count] = strdup(value);
	if (!config->inputs[config->input_count])
		return no_memory(config);
	config->input_count++;
	return 0;
}

/* "cpu.*,memory.used_mib": commas, blanks and newlines separate. */
static int add_metrics(struct rt_config *config, const struct setting *setting, const char *value)
{
	static const char
		BETWEEN[] = ", \t\n",
		NO_METRIC[] = "names no metric; 'resource-tracker metrics' lists them, 'cpu.*' is a group";
	const char *at = value + strspn(value, BETWEEN);

	if (!*at)
		return refuse_setting(config, setting, value, NO_METRIC);
	for (; *at; at += strspn(at, BETWEEN)) {
		size_t length = strcspn(at, BETWEEN);

		if (!grow_list(&config->metrics, config->metric_count, sizeof(config->metrics[0])))
			return no_memory(config);
		config->metrics[config->metric_count] = strndup(at, length);
		if (!config->metrics[config->metric_count])
			return no_memory(config);
		if (selection_unmatched(&config->metrics[config->metric_count++], 1))
			return refuse_setting(config, setting, config->metrics[config->metric_count - 1],
					      NO_METRIC);
		at += length;
	}
	return 0;
}

/* "memory=90%:USR1,time=-120s:TERM" */
static int add_signal_rules(struct rt_config *config, const struct setting *setting, const char *value)
{
	const char *at = value;
	size_t length;

	do {
		const char *why = "lacks memory";

		length = strcspn(at, ",");
		if (grow_list(&config->signal_rules, config->signal_rule_count,
			      sizeof(config->signal_rules[0])))
			why = signal_rule_read(at, length, &config->signal_rules[config->signal_rule_count]);
		if (why)
			return config_fail(config, -EINVAL, "%s: '%.*s' %s", setting->name,
					   length < QUOTED_BYTES ? (int)length : QUOTED_BYTES, at, why);
		config->signal_rule_count++;
		at += length;
	} while (*at++);
	return 0;
}

/* Copies `count` texts and adds a NULL at the end, as argv has. Returns 0 or -ENOMEM. */
static int copy_texts(char *const *texts, size_t count, char ***ret_texts)
{
	char **copy = calloc(count + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		copy[i] = strdup(texts[i]);
		if (!copy[i]) {
			free_texts(copy, i);
			return -ENOMEM;
		}
	}
	*ret_texts = copy;
	return 0;
}

void rt_config_set_own_process(rt_config *config, bool own)
{
	config->own_process = own;
}

void rt_config_set_apart(rt_config *config, bool apart)
{
	config->apart = apart;
}

int rt_config_set_command(rt_config *config, char *const argv[])
{
	char **copy = NULL;
	size_t argc = 0;

	while (argv && argv[argc])
		argc++;
	if (argv && !argc)
		return config_fail(config, -EINVAL, "the command is empty");
	if (argv && copy_texts(argv, argc, &copy) < 0)
		return no_memory(config);
	free_texts(config->argv, config->argc);
	config->argv = copy;
	config->argc = argc;
	return 0;
}

/* ---- the table ------------------------------------------------------------------------------------- */

#define WORD(id, word, ...) word,
#define NO_WORD(id) "",
#define CHOICE_SETTING(field, words, ...) \
	static const char *const WORDS_##field[] = {words(WORD, NO_WORD) NULL};
#include "options/settings.def"

const char *config_gpu_vendor_name(const struct rt_config *config)
{
	return config->gpu_vendor == GPU_VENDOR_ANY ? NULL : WORDS_gpu_vendor[config->gpu_vendor];
}

const char *config_csv_layout_name(const struct rt_config *config)
{
	return WORDS_csv_layout[config->csv_layout];
}

#define FIELD(name) offsetof(struct rt_config, name)

static const struct setting SETTINGS[] = {
#define SETTING(field, type, set, initial, name, ...) {name, set, FIELD(field), NULL, false},
#define CHOICE_SETTING(field, words, initial, name, ...) \
	{name, set_choice, FIELD(field), WORDS_##field, false},
#define TEXT_SETTING(field, set, name, ...) {name, set, FIELD(field), NULL, true},
#define LIST_SETTING(field, count, type, add, name, ...) {name, add, FIELD(field), NULL, false},
#include "options/settings.def"
};

const char *rt_config_name(size_t index)
{
	return index < ARRAY_SIZE(SETTINGS) ? SETTINGS[index].name : NULL;
}

static bool same_setting(const char *name, const char *given)
{
	for (; *name; name++, given++) {
		if (*name != (*given == '_' ? '-' : *given))
			return false;
	}
	return !*given;
}

int rt_config_set(rt_config *config, const char *name, const char *value)
{
	if (!name)
		return config_fail(config, -EINVAL, "a setting without a name cannot be set");
	if (!value)
		return config_fail(config, -EINVAL, "%.*s: there is no value", QUOTED_BYTES, name);
	for (size_t i = 0; i < ARRAY_SIZE(SETTINGS); i++) {
		int error;

		if (!same_setting(SETTINGS[i].name, name))
			continue;
		error = SETTINGS[i].set(config, &SETTINGS[i], value);
		if (!error) {
			buffer_add(&config->given, SETTINGS[i].name, strlen(SETTINGS[i].name) + 1);
			buffer_add(&config->given, value, strlen(value) + 1);
		}
		return error;
	}
	return config_fail(config, -ENOENT, "there is no setting '%.*s'", QUOTED_BYTES, name);
}

int rt_config_set_int(rt_config *config, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	return rt_config_set(config, name, text);
}

int rt_config_add_output(rt_config *config, const char *path, const char *format)
{
	static const struct setting OUTPUT = {.name = "output"};
	enum config_format chosen = FORMAT_BY_EXTENSION;
	int error;

	if (format && strcmp(format, "json") == 0)
		chosen = FORMAT_JSON;
	else if (format && strcmp(format, "csv") == 0)
		chosen = FORMAT_CSV;
	if (chosen == FORMAT_BY_EXTENSION)
		return config_fail(config, -EINVAL, "output: the format of an output is json or csv");
	if (!path)
		return config_fail(config, -EINVAL, "output: there is no value");
	error = add_output(config, &OUTPUT, path);
	if (error)
		return error;
	config->outputs[config->output_count - 1].format = chosen;
	/* helper_cli/remote_recorder.c reads the two words as one name. */
	buffer_printf(&config->given, "output %s", format);
	buffer_add(&config->given, "", 1);
	buffer_add(&config->given, path, strlen(path) + 1);
	return 0;
}

/* ---- life ------------------------------------------------------------------------------------------ */

/*
 * Each launcher has its own variable for the number of a process among those that it started together.
 * Slurm's comes late in the list: an mpirun inside a batch step shows that step's 0 to every process.
 */
static int64_t launcher_rank(void)
{
	static const char *const NAMES[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",    "MV2_COMM_WORLD_RANK",
		"PALS_RANKID",          "FLUX_TASK_RANK", "ALPS_APP_PE", "JSM_NAMESPACE_RANK",
		"SLURM_PROCID",         "RANK",
	};

	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
		const char *value = getenv(NAMES[i]);
		struct scan text;
		int64_t rank;

		if (!value)
			continue;
		text = scan_bytes(value, strlen(value));
		if (scan_i64(&text, &rank) && !scan_left(&text) && rank >= 0)
			return rank;
	}
	return -1;
}

int rt_config_new(rt_config **ret_config)
{
	struct rt_config *config = calloc(1, sizeof(*config));

	if (!config)
		return -ENOMEM;
#define SETTING(field, type, set, initial, ...) config->field = initial;
#define CHOICE_SETTING(field, words, initial, ...) config->field = initial;
#include "options/settings.def"
	config->rank = launcher_rank();
	config->message = BUFFER(MESSAGE_BYTES);
	config->given = BUFFER(GIVEN_BYTES);
	*ret_config = config;
	return 0;
}

/* Returns NULL for a setting that is not a text. */
static char **text_field(struct rt_config *config, size_t setting)
{
	return SETTINGS[setting].is_text ? setting_field(config, &SETTINGS[setting]) : NULL;
}

void rt_config_free(rt_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(SETTINGS); i++) {
		char **text = text_field(config, i);

		if (text)
			free(*text);
	}
	for (size_t i = 0; i < config->output_count; i++)
		free(config->outputs[i].path);
	free(config->outputs);
	for (size_t i = 0; i < config->tag_count; i++) {
		free(config->tags[i].key);
		free(config->tags[i].value);
	}
	free(config->tags);
	free(config->history_metrics);
	free_texts(config->metrics, config->metric_count);
	free(config->signal_rules);
	free_texts(config->inputs, config->input_count);
	free_texts(config->argv, config->argc);
	free_texts(config->variables, config->variable_count);
	buffer_done(&config->message);
	buffer_done(&config->given);
	free(config);
}

static void cleanup_config(struct rt_config **config)
{
	rt_config_free(*config);
}

static int copy_tags(const struct rt_config *config, struct rt_config *copy)
{
	copy->tags = calloc(config->tag_count + 1, sizeof(*copy->tags));
	if (!copy->tags)
		return -ENOMEM;
	for (; copy->tag_count < config->tag_count; copy->tag_count++) {
		struct config_tag *tag = &copy->tags[copy->tag_count];

		tag->key = strdup(config->tags[copy->tag_count].key);
		tag->value = strdup(config->tags[copy->tag_count].value);
		if (!tag->key || !tag->value) {
			copy->tag_count++;
			return -ENOMEM;
		}
	}
	return 0;
}

static int copy_outputs(const struct rt_config *config, struct rt_config *copy)
{
	copy->outputs = calloc(config->output_count + 1, sizeof(*copy->outputs));
	if (!copy->outputs)
		return -ENOMEM;
	for (; copy->output_count < config->output_count; copy->output_count++) {
		struct config_output *output = &copy->outputs[copy->output_count];

		*output = config->outputs[copy->output_count];
		output->path = strdup(output->path);
		if (!output->path)
			return -ENOMEM;
	}
	return 0;
}

int config_copy(const struct rt_config *config, struct rt_config **ret_copy)
{
	__attribute__((cleanup(cleanup_config))) struct rt_config *copy = malloc(sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	/* Copies the numbers. Texts and lists start empty, so that an incomplete copy can be freed. */
	*copy = *config;
	copy->outputs = NULL;
	copy->tags = NULL;
	copy->signal_rules = NULL;
	copy->metrics = copy->inputs = NULL;
	copy->history_metrics = NULL;
	copy->argv = copy->variables = NULL;
	copy->output_count = copy->tag_count = copy->metric_count = copy->input_count = copy->argc =
		copy->variable_count = 0;
	copy->message = BUFFER(MESSAGE_BYTES);
	copy->given = BUFFER(GIVEN_BYTES);
	for (size_t i = 0; i < ARRAY_SIZE(SETTINGS); i++) {
		char **text = text_field(copy, i);

		if (text)
			*text = NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(SETTINGS); i++) {
		char **text = text_field(copy, i);
		const char *original = text ? *text_field((struct rt_config *)(uintptr_t)config, i) : NULL;

		if (original && !(*text = strdup(original)))
			return -ENOMEM;
	}
	if (config->history_metrics && !(copy->history_metrics = strdup(config->history_metrics)))
		return -ENOMEM;
	if (copy_texts(config->metrics, config->metric_count, &copy->metrics) < 0)
		return -ENOMEM;
	copy->metric_count = config->metric_count;
	if (copy_texts(config->inputs, config->input_count, &copy->inputs) < 0)
		return -ENOMEM;
	copy->input_count = config->input_count;
	for (copy->signal_rule_count = 0; copy->signal_rule_count < config->signal_rule_count;) {
		if (!grow_list(&copy->signal_rules, copy->signal_rule_count, sizeof(copy->signal_rules[0])))
			return -ENOMEM;
		copy->signal_rules[copy->signal_rule_count] = config->signal_rules[copy->signal_rule_count];
		copy->signal_rule_count++;
	}
	if (config->argv && copy_texts(config->argv, config->argc, &copy->argv) < 0)
		return -ENOMEM;
	copy->argc = config->argc;
	if (copy_texts(config->variables, config->variable_count, &copy->variables) < 0)
		return -ENOMEM;
	copy->variable_count = config->variable_count;
	if (copy_tags(config, copy) < 0 || copy_outputs(config, copy) < 0)
		return -ENOMEM;
	*ret_copy = copy;
	copy = NULL;
	return 0;
}
