/* Builds requests to the Sentinel API and reads its answers. See sentinel_text.h. */
#include "stream/sentinel_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "metric/typed_rows.h"
#include "net/redacted_message.h"
#include "net/timestamps.h"

/* ---- what is said ----------------------------------------------------------------------------------- */

/* Texts about the job: the settings, the metrics of the run_start row and the API have the same names. */
static const struct {
	const char *name;
	size_t offset;
} METADATA[] = {
#define FROM_START(name) \
	{ \
#name, offsetof(struct run_start_row, name) \
	}
#define JOB_SETTING(field, ...) FROM_START(field),
#include "options/job_settings.def"
	FROM_START(command),
#undef FROM_START
};

static void write_if_told(struct json_writer *json, const char *name, const char *text)
{
	if (text_absent(text) || !*text)
		return;
	json_key(json, name);
	json_text(json, text);
}

static void write_tags(struct json_writer *json, const struct frame *first)
{
	if (!first->first[ROW_run_start_tag])
		return;
	json_key(json, "tags");
	json_open(json, '[');
	for (const struct row *row = first->first[ROW_run_start_tag]; row; row = row->next) {
		const struct run_start_tag_row *tag = (const struct run_start_tag_row *)(const void *)row;

		json_open(json, '{');
		json_key(json, "key");
		json_text(json, text_absent(tag->name) ? "" : tag->name);
		json_key(json, "value");
		json_text(json, text_absent(tag->value) ? "" : tag->value);
		json_close(json, '}');
	}
	json_close(json, ']');
}

char *object_as_line(const char *bytes, size_t length)
{
	json_t *object = bytes ? json_loadb(bytes, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
	char *line = json_is_object(object) ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	return line;
}

/* Adds the members of an object from the program. They replace those of the recording and the machine. */
static void add_metadata(struct buffer *out, const char *metadata)
{
	json_t *all = json_loadb(out->data, out->length, 0, NULL);
	json_t *given = json_loads(metadata, JSON_REJECT_DUPLICATES, NULL);
	char *text = NULL;

	if (json_is_object(all) && json_is_object(given) && json_object_update(all, given) == 0)
		text = json_dumps(all, JSON_COMPACT);
	if (text) {
		buffer_clear(out);
		buffer_add_text(out, text);
	}
	free(text);
	json_decref(all);
	json_decref(given);
}

static void write_told(struct buffer *out, const struct frame *first, const struct facts *facts)
{
	const struct row *start = first->first[ROW_run_start];
	struct json_writer json = JSON_WRITER(out);

	json_open(&json, '{');
	write_if_told(&json, "job_name", first->sample->job_name);
	for (size_t i = 0; start && i < ARRAY_SIZE(METADATA); i++)
		write_if_told(&json, METADATA[i].name, *row_text(start, METADATA[i].offset));
	write_tags(&json, first);
	facts_write(&json, facts, 0, FACTS);
	json_close(&json, '}');
}

void write_start(struct buffer *out, const struct frame *first, const struct facts *facts,
		 const char *metadata)
{
	write_told(out, first, facts);
	if (metadata && !buffer_error(out))
		add_metadata(out, metadata);
}

static void begin_finish(struct json_writer *json, const struct run_outcome *outcome, const char *data_source)
{
	char time[TIME_TEXT_SIZE];

	format_iso8601(outcome->finished_at_secs, time);
	json_open(json, '{');
	json_key(json, "exit_code");
	if (outcome->has_exit_code)
		json_count(json, outcome->exit_code);
	else
		json_absent(json);
	json_key(json, "run_status");
	json_text(json, outcome->failed ? "failed" : "finished");
	json_key(json, "finished_at");
	json_text(json, time);
	json_key(json, "data_source");
	json_text(json, data_source);
}

void write_finish_inline(struct buffer *out, const struct run_outcome *outcome, const char *csv,
			 size_t length)
{
	struct json_writer json = JSON_WRITER(out);

	begin_finish(&json, outcome, "inline");
	json_key(&json, "data_csv");
	json_text_bytes(&json, csv, length);
	json_close(&json, '}');
}

/* "PREFIX/RUN_ID/000007.csv.gz" */
static void upload_uri(struct buffer *out, const char *uri_prefix, const char *run_id, int64_t sequence)
{
	size_t length = strlen(uri_prefix);

	while (length && uri_prefix[length - 1] == '/')
		length--;
	buffer_add(out, uri_prefix, length);
	buffer_printf(out, "/%s/%06lld.csv.gz", run_id, (long long)sequence);
}

void write_finish_s3(struct buffer *out, const struct run_outcome *outcome, const char *uri_prefix,
		     const char *run_id, int64_t objects)
{
	CLEANUP_BUFFER struct buffer uri = BUFFER(8 << 10);
	struct json_writer json = JSON_WRITER(out);

	begin_finish(&json, outcome, "s3");
	json_key(&json, "data_uris");
	json_open(&json, '[');
	for (int64_t i = 0; i < objects; i++) {
		buffer_clear(&uri);
		upload_uri(&uri, uri_prefix, run_id, i);
		json_text_bytes(&json, uri.data ? uri.data : "", uri.length);
	}
	json_close(&json, ']');
	json_close(&json, '}');
}

/* ---- what it answers -------------------------------------------------------------------------------- */

void credentials_done(struct credentials *credentials)
{
	forget_secret(credentials->access_key);
	forget_secret(credentials->secret_key);
	forget_secret(credentials->session_token);
	free(credentials->access_key);
	free(credentials->secret_key);
	free(credentials->session_token);
	*credentials = (struct credentials){0};
}

void registration_done(struct registration *registration)
{
	free(registration->run_id);
	free(registration->uri_prefix);
	credentials_done(&registration->credentials);
	*registration = (struct registration){0};
}

/* Texts become parts of headers and addresses: no control character or blank may get through. */
static bool is_plain_word(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}

/* Names of objects may contain blanks and other scripts. They are escaped in addresses. */
static bool is_one_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* A copy of a member that is a non-empty text that `is_good`. -ENOENT when it is missing, null or empty. */
static int take_checked_text(const json_t *object, const char *key, bool (*is_good)(const char *text),
			     char **ret_text)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);
	char *copy;

	if (!value || json_is_null(value) || (text && !*text))
		return -ENOENT;
	if (!text || !is_good(text))
		return -EBADMSG;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	return 0;
}

static int take_plain_word(const json_t *object, const char *key, char **ret_text)
{
	return take_checked_text(object, key, is_plain_word, ret_text);
}

static void take_key_region(const json_t *object, struct credentials *credentials)
{
	const char *region = json_string_value(json_object_get(object, "region"));
	size_t length = region ? strlen(region) : 0;

	/* It becomes part of a host name. */
	if (!length || length >= sizeof(credentials->region) ||
	    strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") != length)
		return;
	memcpy(credentials->region, region, length + 1);
}

static void take_expiry(const json_t *object, struct credentials *credentials)
{
	static const char *const KEYS[] = {"expires_at", "expiration"};

	for (size_t i = 0; i < ARRAY_SIZE(KEYS); i++) {
		const char *text = json_string_value(json_object_get(object, KEYS[i]));
		int64_t secs;

		if (!text || parse_iso8601(text, strlen(text), &secs) < 0)
			continue;
		if (!credentials->expires || secs < credentials->expires_at_secs)
			credentials->expires_at_secs = secs;
		credentials->expires = true;
	}
}

static int take_credentials(const json_t *root, struct credentials *ret_credentials, const char **ret_wrong)
{
	const json_t *object = json_object_get(root, "upload_credentials");
	struct credentials credentials = {0};
	int r;

	*ret_wrong = "the answer has no usable upload_credentials";
	r = take_plain_word(object, "access_key", &credentials.access_key);
	if (r == 0)
		r = take_plain_word(object, "secret_key", &credentials.secret_key);
	if (r == 0) {
		/* The keys of a private store may have no expiry. */
		r = take_plain_word(object, "session_token", &credentials.session_token);
		r = r == -ENOENT ? 0 : r;
	}
	if (r < 0) {
		credentials_done(&credentials);
		return r == -ENOENT ? -EBADMSG : r;
	}
	take_key_region(object, &credentials);
	take_expiry(object, &credentials);
	add_secret(credentials.access_key);
	add_secret(credentials.secret_key);
	add_secret(credentials.session_token);
	*ret_credentials = credentials;
	return 0;
}

static json_t *load_json_or_say(const char *bytes, size_t length, const char **ret_wrong)
{
	json_t *root = length ? json_loadb(bytes, length, 0, NULL) : NULL;

	*ret_wrong = "the answer is not JSON";
	return root;
}

int parse_credentials(const char *bytes, size_t length, struct credentials *ret_credentials,
		      const char **ret_wrong)
{
	json_t *root = load_json_or_say(bytes, length, ret_wrong);
	int r = root ? take_credentials(root, ret_credentials, ret_wrong) : -EBADMSG;

	json_decref(root);
	return r;
}

int parse_registration(const char *bytes, size_t length, struct registration *ret_registration,
		       const char **ret_wrong)
{
	struct registration registration = {0};
	json_t *root = load_json_or_say(bytes, length, ret_wrong);
	int r = -EBADMSG;

	if (!root)
		return r;
	*ret_wrong = "the answer has no run_id";
	r = take_plain_word(root, "run_id", &registration.run_id);
	if (r == 0) {
		*ret_wrong = "the answer has no upload_uri_prefix";
		r = take_checked_text(root, "upload_uri_prefix", is_one_line, &registration.uri_prefix);
	}
	if (r == 0)
		r = take_credentials(root, &registration.credentials, ret_wrong);
	json_decref(root);
	if (r < 0) {
		registration_done(&registration);
		return r == -ENOENT ? -EBADMSG : r;
	}
	*ret_registration = registration;
	return 0;
}

static void add_location(struct buffer *out, const json_t *location)
{
	for (size_t i = 0; i < json_array_size(location); i++) {
		const json_t *part = json_array_get(location, i);

		if (i)
			buffer_add_char(out, '.');
		if (json_is_string(part))
			buffer_add_text(out, json_string_value(part));
		else if (json_is_integer(part))
			buffer_add_i64(out, json_integer_value(part));
	}
}

void add_error_detail(struct buffer *out, const char *bytes, size_t length)
{
	enum { MOST_PROBLEMS = 4 };
	const char *wrong;
	json_t *root = load_json_or_say(bytes, length, &wrong);
	const json_t *detail = json_object_get(root, "detail");

	if (json_is_string(detail))
		buffer_add_text(out, json_string_value(detail));
	for (size_t i = 0; i < json_array_size(detail) && i < MOST_PROBLEMS; i++) {
		const json_t *problem = json_array_get(detail, i), *message = json_object_get(problem, "msg");

		if (!json_is_string(message))
			continue;
		if (i)
			buffer_add_text(out, "; ");
		add_location(out, json_object_get(problem, "loc"));
		buffer_printf(out, ": %s", json_string_value(message));
	}
	json_decref(root);
}
