/* The attributes of a run. See otlp_resource.h. */
#include "format/otlp_resource.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "format/otlp_wire.h"
#include "metric/typed_rows.h"

enum { KEY_SIZE = 256, MOST_VALUE_BYTES = 8 << 10, ATTRIBUTES_FIELD = 1 };

static const char INSTANCE_ID[] = "service.instance.id";
/* Attributes whose value is a number. All others are text. */
static const char *const NUMBERS[] = {"process.pid", "mpi.rank", "resource_tracker.run.input_bytes"};

void otlp_resource_done(struct otlp_resource *resource)
{
	buffer_done(&resource->pairs);
}

/* ---- the list --------------------------------------------------------------------------------------------- */

bool otlp_resource_next(const struct otlp_resource *resource, size_t *at, const char **ret_key,
			const char **ret_value)
{
	const char *key;

	if (*at >= resource->pairs.length)
		return false;
	key = resource->pairs.data + *at;
	*ret_key = key;
	*ret_value = key + strlen(key) + 1;
	*at += strlen(key) + strlen(*ret_value) + 2;
	return true;
}

const char *otlp_resource_get(const struct otlp_resource *resource, const char *key)
{
	const char *found, *value;
	size_t at = 0;

	while (otlp_resource_next(resource, &at, &found, &value))
		if (strcmp(found, key) == 0)
			return value;
	return NULL;
}

static void remove_pair(struct otlp_resource *resource, const char *key)
{
	struct buffer *pairs = &resource->pairs;
	const char *found, *value;
	size_t at = 0, before = 0;

	for (; otlp_resource_next(resource, &at, &found, &value); before = at) {
		if (strcmp(found, key) != 0)
			continue;
		memmove(pairs->data + before, pairs->data + at, pairs->length - at + 1);
		pairs->length -= at - before;
		return;
	}
}

static void set_bytes(struct otlp_resource *resource, const char *key, struct scan value)
{
	char name[KEY_SIZE];

	/* The key may lie in the list that is about to move. */
	scan_copy(&(struct scan){key, key + strlen(key)}, name, sizeof name);
	if (!*name || !scan_left(&value))
		return;
	remove_pair(resource, name);
	buffer_add(&resource->pairs, name, strlen(name) + 1);
	buffer_add(&resource->pairs, value.at, scan_left(&value));
	buffer_add_char(&resource->pairs, '\0');
}

void otlp_resource_set(struct otlp_resource *resource, const char *key, const char *value)
{
	if (!text_absent(value))
		set_bytes(resource, key, scan_bytes(value, strnlen(value, MOST_VALUE_BYTES)));
}

/* ---- a run's first sample --------------------------------------------------------------------------------- */

static void set_count(struct otlp_resource *resource, const char *key, int64_t value)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(64);

	if (count_absent(value))
		return;
	buffer_add_i64(&text, value);
	otlp_resource_set(resource, key, text.data);
}

/* Variables of CI systems that OpenTelemetry's conventions have a name for. */
static const struct {
	const char *variable, *key;
} CONVENTIONS[] = {
	{"GITHUB_WORKFLOW", "cicd.pipeline.name"},  {"GITHUB_RUN_ID", "cicd.pipeline.run.id"},
	{"GITHUB_JOB", "cicd.pipeline.task.name"},  {"GITHUB_SHA", "vcs.ref.head.revision"},
	{"CI_PIPELINE_ID", "cicd.pipeline.run.id"}, {"CI_JOB_NAME", "cicd.pipeline.task.name"},
	{"CI_COMMIT_SHA", "vcs.ref.head.revision"},
};

/* SLURM_ARRAY_TASK_ID is slurm.array.task.id. */
static void set_scheduler_id(struct otlp_resource *resource, const struct run_start_scheduler_row *row)
{
	char key[KEY_SIZE];
	size_t length = 0;

	if (text_absent(row->name))
		return;
	for (const char *at = row->name; *at && length + 1 < sizeof key; at++)
		key[length++] = *at == '_' ? '.' : (char)tolower((unsigned char)*at);
	key[length] = '\0';
	otlp_resource_set(resource, key, row->value);
	for (size_t i = 0; i < ARRAY_SIZE(CONVENTIONS); i++)
		if (strcmp(row->name, CONVENTIONS[i].variable) == 0)
			otlp_resource_set(resource, CONVENTIONS[i].key, row->value);
}

static const char *host_arch(const char *machine)
{
	if (text_absent(machine))
		return NULL;
	return strcmp(machine, "x86_64") == 0 ? "amd64" : strcmp(machine, "aarch64") == 0 ? "arm64" : machine;
}

static void set_run_start(struct otlp_resource *resource, const struct run_start_row *start)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{"service.namespace", start->project_name},
		{INSTANCE_ID, start->run_id},
		{"host.arch", host_arch(start->architecture)},
		{"os.description", start->os},
		{"process.executable.name", start->executable},
		{"deployment.environment.name", start->env},
		{"container.image.name", start->container_image},
		{"resource_tracker.stage", start->stage_name},
		{"resource_tracker.task", start->task_name},
		{"resource_tracker.team", start->team},
		{"resource_tracker.external_run.id", start->external_run_id},
		{"resource_tracker.run.input_source", start->input_source},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		otlp_resource_set(resource, texts[i].key, texts[i].value);
	set_count(resource, "resource_tracker.run.input_bytes", start->input_bytes);
}

/* Tags have their own names, but cannot take the place of another attribute. */
static void set_rows(struct otlp_resource *resource, const struct frame *first)
{
	for (const struct row *row = first->first[ROW_run_start_scheduler]; row; row = row->next)
		set_scheduler_id(resource, (const struct run_start_scheduler_row *)(const void *)row);
	for (const struct row *row = first->first[ROW_run_start_tag]; row; row = row->next) {
		const struct run_start_tag_row *tag = (const void *)row;

		if (!text_absent(tag->name) && !otlp_resource_get(resource, tag->name))
			otlp_resource_set(resource, tag->name, tag->value);
	}
}

void otlp_resource_of_run(struct otlp_resource *resource, const struct frame *first, const char *fallback_id)
{
	const struct run_start_row *start = (const void *)first->first[ROW_run_start];
	const struct cloud_row *cloud = (const void *)first->first[ROW_cloud];

	otlp_resource_set(resource, "service.name", "resource-tracker");
	otlp_resource_set(resource, INSTANCE_ID, fallback_id);
	if (start)
		otlp_resource_set(resource, "service.name", start->executable);
	otlp_resource_set(resource, "service.name", first->sample->job_name);
	otlp_resource_set(resource, "host.name", first->sample->host);
	otlp_resource_set(resource, "os.type", "linux");
	set_count(resource, "process.pid", first->sample->tracked_pid);
	set_count(resource, "mpi.rank", first->sample->rank);
	if (start)
		set_run_start(resource, start);
	if (cloud) {
		otlp_resource_set(resource, "cloud.provider", cloud->vendor_id);
		otlp_resource_set(resource, "cloud.account.id", cloud->account_id);
		otlp_resource_set(resource, "cloud.region", cloud->region_id);
		otlp_resource_set(resource, "cloud.availability_zone", cloud->zone_id);
		otlp_resource_set(resource, "host.type", cloud->instance_type);
	}
	set_rows(resource, first);
}

/* ---- as text ---------------------------------------------------------------------------------------------- */

static int percent_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Decodes %XX. A NUL would end the text, so it is damage. */
static bool decode_percents(const struct scan *text, struct buffer *out)
{
	for (const char *at = text->at; at < text->end; at++) {
		int high, low;

		if (*at != '%') {
			buffer_add_char(out, *at);
			continue;
		}
		high = text->end - at > 2 ? percent_digit(at[1]) : -1;
		low = high < 0 ? -1 : percent_digit(at[2]);
		if (low < 0 || high * 16 + low == 0)
			return false;
		buffer_add_char(out, (char)(high * 16 + low));
		at += 2;
	}
	return !buffer_error(out) && (!out->length || !memchr(out->data, '\0', out->length));
}

static bool take_attribute_pair(struct otlp_resource *resource, struct scan pair)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(KEY_SIZE - 1), value = BUFFER(MOST_VALUE_BYTES);
	struct scan key;

	if (!scan_until(&pair, '=', &key))
		return false;
	key = scan_trim(key);
	pair = scan_trim(pair);
	if (!scan_left(&key) || !decode_percents(&key, &name) || !decode_percents(&pair, &value))
		return false;
	if (value.length)
		set_bytes(resource, name.data, scan_bytes(value.data, value.length));
	return true;
}

int otlp_resource_parse(struct otlp_resource *resource, const char *text, size_t length)
{
	struct scan scan = scan_bytes(text, length), pair;
	int r = 0;

	while (scan_left(&scan)) {
		if (!scan_until(&scan, ',', &pair)) {
			pair = scan;
			scan.at = scan.end;
		}
		pair = scan_trim(pair);
		if (scan_left(&pair) && !take_attribute_pair(resource, pair))
			r = -EBADMSG;
	}
	return r;
}

static void add_unescaped_byte(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("._-/:", *text))
			buffer_add_char(out, *text);
		else
			buffer_printf(out, "%%%02X", (unsigned char)*text);
	}
}

void otlp_resource_format(const struct otlp_resource *resource, struct buffer *out)
{
	const char *key, *value;
	size_t at = 0;

	while (otlp_resource_next(resource, &at, &key, &value)) {
		if (out->length)
			buffer_add_char(out, ',');
		add_unescaped_byte(out, key);
		buffer_add_char(out, '=');
		add_unescaped_byte(out, value);
	}
}

static bool is_code_number(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++)
		if (strcmp(key, NUMBERS[i]) == 0)
			return true;
	return false;
}

void otlp_resource_encode(const struct otlp_resource *resource, struct buffer *out, unsigned field)
{
	size_t message = otlp_open(out, field), at = 0;
	const char *key, *value;

	while (otlp_resource_next(resource, &at, &key, &value)) {
		struct scan scan = scan_bytes(value, strlen(value));
		int64_t number;

		if (is_code_number(key) && scan_i64(&scan, &number) && !scan_left(&scan))
			otlp_add_count_attribute(out, ATTRIBUTES_FIELD, key, number);
		else
			otlp_add_text_attribute(out, ATTRIBUTES_FIELD, key, value);
	}
	otlp_close(out, message);
}
