/* Asks the Keeper API. See keeper.h. */
#include "discover/keeper.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "net/arguments.h"
#include "net/outcome.h"
#include "net/redacted_message.h"
#include "net/settings.h"
#include "net/uri.h"
#include "options/usage.h"

enum {
	TIMEOUT_MS = 3000,
	MOST_ANSWER_BYTES = 8 << 20,
	MOST_VCPUS = 256,
	DEFAULT_LIMIT = 3,
	MOST_URL_BYTES = 8 << 10
};

/* ---- questions -------------------------------------------------------------------------------------- */

/* MiB as GB, rounded up to thousandths: a machine that is a little too small would be bad advice. */
static void add_gb(struct buffer *out, const char *key, double mib)
{
	buffer_add_text(out, key);
	buffer_add_real(out, ceil(mib / 1024 * 1000) / 1000, 3);
}

static int64_t clamp_vcpus(int64_t vcpus)
{
	return vcpus < 1 ? 1 : vcpus > MOST_VCPUS ? MOST_VCPUS : vcpus;
}

void keeper_servers_url(struct buffer *out, const char *base_url, const struct arguments *arguments)
{
	url_moved_to(out, "", base_url);
	buffer_printf(out, "/servers?vcpus_min=%d", (int)clamp_vcpus(arguments->vcpus));
	add_gb(out, "&memory_min=", arguments->memory_mib);
	if (arguments->gpus > 0)
		buffer_printf(out, "&gpu_min=%d", (int)arguments->gpus);
	if (arguments->gpu_memory_mib > 0)
		add_gb(out, "&gpu_memory_total=", arguments->gpu_memory_mib);
	for (int i = 0; i < arguments->filter_count; i++) {
		const char *filter = arguments->filters[i], *equals = strchr(filter, '=');

		buffer_add_char(out, '&');
		uri_escape(out, filter, (size_t)(equals - filter), false);
		buffer_add_char(out, '=');
		uri_escape(out, equals + 1, strlen(equals + 1), false);
	}
	buffer_printf(out, "&order_by=min_price_ondemand&order_dir=asc&limit=%d",
		      (int)(arguments->limit ? arguments->limit : DEFAULT_LIMIT));
}

void keeper_price_url(struct buffer *out, const char *base_url, const struct arguments *arguments)
{
	url_moved_to(out, "", base_url);
	buffer_add_text(out, "/server/");
	uri_escape(out, arguments->vendor, strlen(arguments->vendor), false);
	buffer_add_char(out, '/');
	uri_escape(out, arguments->instance_type, strlen(arguments->instance_type), false);
	buffer_add_text(out, "/prices");
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static const char *server_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void copy_answer_text(struct json_writer *json, const char *key, const json_t *object)
{
	json_key(json, key);
	json_text(json, server_text(object, key));
}

static void copy_count(struct json_writer *json, const char *key, const json_t *object, const char *from)
{
	const json_t *value = json_object_get(object, from);

	json_key(json, key);
	if (json_is_integer(value))
		json_count(json, json_integer_value(value));
	else if (json_is_real(value) && fabs(json_real_value(value)) < 9e18)
		json_count(json, (int64_t)json_real_value(value));
	else
		json_absent(json);
}

static void write_price(struct json_writer *json, const json_t *value)
{
	json_key(json, "price_usd_per_hour");
	if (json_is_number(value))
		json_decimal(json, json_number_value(value), 6);
	else
		json_absent(json);
}

static void write_link(struct json_writer *json, const json_t *server)
{
	CLEANUP_BUFFER struct buffer url = BUFFER(4 << 10);
	const char *vendor = server_text(server, "vendor_id"), *name = server_text(server, "api_reference");

	json_key(json, "url");
	if (!vendor || !name) {
		json_absent(json);
		return;
	}
	buffer_add_text(&url, "https://sparecores.com/server/");
	uri_escape(&url, vendor, strlen(vendor), false);
	buffer_add_char(&url, '/');
	uri_escape(&url, name, strlen(name), false);
	json_text(json, buffer_error(&url) ? NULL : url.data);
}

int keeper_add_servers(struct buffer *out, const char *bytes, size_t length)
{
	json_t *root = length ? json_loadb(bytes, length, 0, NULL) : NULL;
	struct json_writer json = JSON_WRITER(out);

	if (!json_is_array(root)) {
		json_decref(root);
		return -EBADMSG;
	}
	json_open(&json, '[');
	for (size_t i = 0; i < json_array_size(root); i++) {
		const json_t *server = json_array_get(root, i);

		json_open(&json, '{');
		copy_answer_text(&json, "vendor_id", server);
		copy_answer_text(&json, "api_reference", server);
		copy_answer_text(&json, "display_name", server);
		copy_count(&json, "vcpus", server, "vcpus");
		copy_count(&json, "memory_mib", server, "memory_amount");
		copy_count(&json, "gpu_count", server, "gpu_count");
		write_price(&json, json_object_get(server, "min_price_ondemand"));
		write_link(&json, server);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_decref(root);
	return 0;
}

static bool is_linux_on_demand(const json_t *price)
{
	const char *allocation = server_text(price, "allocation"),
		   *system = server_text(price, "operating_system");

	return allocation && system && strcmp(allocation, "ondemand") == 0 && strcmp(system, "Linux") == 0 &&
	       json_is_number(json_object_get(price, "price"));
}

int keeper_find_price(const char *bytes, size_t length, const char *region, double *ret_usd_per_hour,
		      char ret_region[KEEPER_REGION_SIZE])
{
	json_t *root = length ? json_loadb(bytes, length, 0, NULL) : NULL;
	const json_t *found = NULL;
	int r = json_is_array(root) ? -ENOENT : -EBADMSG;

	for (size_t i = 0; i < json_array_size(root); i++) {
		const json_t *price = json_array_get(root, i);
		const char *its_region = server_text(price, "region_id");

		if (!is_linux_on_demand(price))
			continue;
		if (region && its_region && strcmp(its_region, region) == 0) {
			found = price;
			break;
		}
		if (!found)
			found = price;
	}
	if (found) {
		const char *its_region = server_text(found, "region_id");

		*ret_usd_per_hour = json_number_value(json_object_get(found, "price"));
		snprintf(ret_region, KEEPER_REGION_SIZE, "%s", its_region ? its_region : "");
		r = 0;
	}
	json_decref(root);
	return r;
}

/* ---- the subcommand --------------------------------------------------------------------------------- */

static void ask_keeper(const char *url, struct http_answer *answer, struct outcome *ret_outcome)
{
	struct http_client http = {0};
	struct http_request request = {
		.method = "GET",
		.url = url,
		.headers = {"X-Application-ID: resource-tracker", "Accept: application/json"},
		.connect_timeout_ms = TIMEOUT_MS,
		.total_timeout_ms = TIMEOUT_MS,
		.most_answer_bytes = MOST_ANSWER_BYTES,
	};

	if (http_open(&http, NULL) < 0) {
		*ret_outcome = (struct outcome){.verdict = VERDICT_RETRY, .retry_after_secs = -1};
		outcome_add_detail(ret_outcome, "out of memory", 13);
		return;
	}
	http_send(&http, &request, answer);
	outcome_of_answer(answer, ret_outcome);
	http_close(&http);
}

static void write_servers(struct json_writer *json, const struct http_answer *answer, struct outcome *outcome)
{
	CLEANUP_BUFFER struct buffer servers = BUFFER(4 << 20);

	if (outcome->verdict == VERDICT_DONE &&
	    (keeper_add_servers(&servers, answer->body.data, answer->body.length) < 0 ||
	     buffer_error(&servers)))
		snprintf(outcome->reason, sizeof(outcome->reason),
			 "the answer does not hold a list of servers");
	json_key(json, "problem");
	json_text(json, outcome->reason[0] ? outcome->reason : NULL);
	json_key(json, "servers");
	if (outcome->reason[0])
		json_absent(json);
	else
		json_raw(json, servers.data, servers.length);
}

static void write_found_price(struct json_writer *json, const struct http_answer *answer,
			      struct outcome *outcome, const char *region)
{
	char its_region[KEEPER_REGION_SIZE] = "";
	double usd_per_hour = 0;
	int r = -EBADMSG;

	if (outcome->verdict == VERDICT_DONE)
		r = keeper_find_price(answer->body.data, answer->body.length, region, &usd_per_hour,
				      its_region);
	if (r < 0 && !outcome->reason[0])
		snprintf(outcome->reason, sizeof(outcome->reason), "%s",
			 r == -ENOENT ? "no on-demand price for Linux is known"
				      : "the answer does not hold a list of prices");
	json_key(json, "problem");
	json_text(json, outcome->reason[0] ? outcome->reason : NULL);
	json_key(json, "price_usd_per_hour");
	if (r == 0)
		json_decimal(json, usd_per_hour, 6);
	else
		json_absent(json);
	json_key(json, "region_id");
	json_text(json, its_region[0] ? its_region : NULL);
}

int keeper_main(const struct settings *settings, char **argv)
{
	CLEANUP_BUFFER struct buffer url = BUFFER(MOST_URL_BYTES), out = BUFFER(8 << 20);
	struct json_writer json = JSON_WRITER(&out);
	struct http_answer answer = {0};
	struct arguments arguments;
	struct outcome outcome;
	bool servers, price;
	int r = arguments_parse(&arguments, argv);
	const char *what = r == 0 && arguments.operand_count == 1 ? arguments.operands[0] : "";

	servers = strcmp(what, "servers") == 0 && arguments.vcpus && arguments.memory_mib > 0;
	price = strcmp(what, "price") == 0 && arguments.vendor && arguments.instance_type;
	if (!servers && !price)
		return r < 0 ? EXIT_USAGE
			     : arguments_refuse("keeper",
						"give servers with --vcpus and --memory-mib, or price with "
						"--vendor and --instance-type");
	if (servers)
		keeper_servers_url(&url, settings->keeper_url, &arguments);
	else
		keeper_price_url(&url, settings->keeper_url, &arguments);
	if (buffer_error(&url))
		return arguments_refuse("keeper", "the question is too long");
	ask_keeper(url.data, &answer, &outcome);
	json_open(&json, '{');
	json_key(&json, "asked");
	json_text(&json, url.data);
	if (servers)
		write_servers(&json, &answer, &outcome);
	else
		write_found_price(&json, &answer, &outcome, arguments.region);
	json_close(&json, '}');
	buffer_add_char(&out, '\n');
	http_answer_done(&answer);
	if (buffer_error(&out) || write(STDOUT_FILENO, out.data, out.length) != (ssize_t)out.length) {
		say_redacted("cannot write to stdout");
		return 1;
	}
	return 0;
}
