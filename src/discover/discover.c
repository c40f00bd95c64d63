/* Prints the facts of this machine as JSON. See discover.h. */
#include "discover/discover.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "launch/pager.h"
#include "net/arguments.h"
#include "discover/cloud.h"
#include "discover/discovery.h"
#include "discover/host.h"
#include "net/redacted_message.h"
#include "net/settings.h"
#include "options/usage.h"

static void ask_cloud(struct discovery *discovery, const struct settings *settings, struct root *root)
{
	int64_t started = monotonic_ns();
	struct http_client http;
	struct sys_dmi dmi;
	bool has_dmi = read_sys_dmi(root, &dmi) == 0;

	if (http_open(&http, NULL) == 0) {
		cloud_discover(&http, has_dmi ? &dmi : NULL, settings->metadata_url, &discovery->facts);
		http_close(&http);
	}
	discovery->cloud_secs = ns_to_secs(monotonic_ns() - started);
}

static void write_plain(struct json_writer *json, const struct discovery *discovery)
{
	if (discovery->host) {
		json_key(json, "host");
		json_open(json, '{');
		facts_write(json, &discovery->facts, 0, HOST_FACTS);
		json_close(json, '}');
		json_key(json, "limits");
		host_limits_write(json, &discovery->limits);
		json_key(json, "gpus");
		host_gpus_write(json, &discovery->gpus);
	}
	if (discovery->cloud) {
		json_key(json, "cloud");
		json_open(json, '{');
		facts_write(json, &discovery->facts, CLOUD_VENDOR_ID, FACTS);
		json_key(json, "discovery_secs");
		json_decimal(json, discovery->cloud_secs, 6);
		json_close(json, '}');
	}
}

static void write_count(struct json_writer *json, const char *key, const struct fact *fact, int64_t otherwise)
{
	json_key(json, key);
	if (fact->type == FACT_COUNT)
		json_count(json, fact->count);
	else if (otherwise >= 0)
		json_count(json, otherwise);
	else
		json_absent(json);
}

/* os.name is "posix" in Python on every system where this program runs. */
static void write_server_info(struct json_writer *json, const struct discovery *discovery)
{
	const struct facts *facts = &discovery->facts;
	const struct fact *memory = &facts->items[HOST_MEMORY_MIB], *count = &facts->items[HOST_GPU_COUNT];
	const char *usual = host_gpus_usual_name(&discovery->gpus);

	json_key(json, "server_info");
	json_open(json, '{');
	json_key(json, "os");
	json_text(json, "posix");
	write_count(json, "vcpus", &facts->items[HOST_VCPUS], -1);
	json_key(json, "memory_mib");
	if (memory->type == FACT_COUNT)
		json_decimal(json, memory->real, 2);
	else
		json_absent(json);
	write_count(json, "gpu_count", count, 0);
	json_key(json, "gpu_names");
	json_open(json, '[');
	for (size_t i = 0; i < discovery->gpus.count; i++)
		json_text(json, discovery->gpus.items[i].name);
	json_close(json, ']');
	json_key(json, "gpu_name");
	json_text(json, usual ? usual : "");
	json_key(json, "gpu_memory_mib");
	json_decimal(json, (double)facts->items[HOST_GPU_MEMORY_MIB].count, 2);
	json_close(json, '}');
}

static void write_cloud_info(struct json_writer *json, const struct discovery *discovery)
{
	static const struct {
		const char *key;
		enum fact_id id;
	} MEMBERS[] = {
		{"vendor", CLOUD_VENDOR_ID},
		{"instance_type", CLOUD_INSTANCE_TYPE},
		{"region", CLOUD_REGION_ID},
	};

	json_key(json, "cloud_info");
	json_open(json, '{');
	for (size_t i = 0; i < ARRAY_SIZE(MEMBERS); i++) {
		const char *text = fact_text(&discovery->facts, MEMBERS[i].id);

		json_key(json, MEMBERS[i].key);
		json_text(json, text ? text : "unknown");
	}
	json_key(json, "discovery_time");
	json_decimal(json, discovery->cloud_secs, 6);
	json_close(json, '}');
}

static void write_discovery(struct buffer *out, const struct discovery *discovery, bool python)
{
	struct json_writer json = JSON_WRITER(out);

	json_open(&json, '{');
	if (!python) {
		write_plain(&json, discovery);
	} else {
		if (discovery->host)
			write_server_info(&json, discovery);
		if (discovery->cloud)
			write_cloud_info(&json, discovery);
	}
	json_close(&json, '}');
	buffer_add_char(out, '\n');
}

/* Output for the recorder, which reads no JSON: the known texts, and a last line that marks the end. */
static void write_lines(struct buffer *out, const struct discovery *discovery)
{
	for (enum fact_id id = 0; id < FACTS; id++) {
		const char *text = fact_text(&discovery->facts, id);

		if (text && !strchr(text, '\n'))
			buffer_printf(out, "%s=%s\n", fact_name(id), text);
	}
	buffer_add_text(out, "end\n");
}

/* Programs read JSON from a pipe. */
static bool is_for_person(const struct arguments *arguments)
{
	return !arguments->json && !arguments->python && !arguments->when_told &&
	       (isatty(STDOUT_FILENO) || strcmp(arguments->colour, "always") == 0);
}

static int print_discovery(const struct discovery *discovery, const struct arguments *arguments)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);

	if (arguments->lines)
		write_lines(&out, discovery);
	else if (is_for_person(arguments))
		discovery_add_text(&out, discovery, arguments->colour);
	else
		write_discovery(&out, discovery, arguments->python);
	if (!buffer_error(&out) && !arguments->without_pager && show_paged(out.data, out.length))
		return 0;
	if (buffer_error(&out) || write(STDOUT_FILENO, out.data, out.length) != (ssize_t)out.length) {
		say_redacted("cannot write to stdout");
		return 1;
	}
	return 0;
}

/* A byte on standard input is the signal to begin. End of file means that the caller has given up. */
static bool is_told(void)
{
	char byte;
	ssize_t length;

	do
		length = read(STDIN_FILENO, &byte, 1);
	while (length < 0 && errno == EINTR);
	return length == 1;
}

int discover_main(const struct settings *settings, char **argv)
{
	CLEANUP_FREE struct discovery *discovery = calloc(1, sizeof(*discovery));
	struct arguments arguments;
	const char *what;
	struct root root;
	int r = arguments_parse(&arguments, argv);

	if (!discovery)
		return 1;
	what = r == 0 && arguments.operand_count == 1 ? arguments.operands[0] : "";
	discovery->host = strcmp(what, "host") == 0 || strcmp(what, "all") == 0;
	discovery->cloud = strcmp(what, "cloud") == 0 || strcmp(what, "all") == 0;
	if (!discovery->host && !discovery->cloud)
		return r < 0 ? EXIT_USAGE : arguments_refuse("discover", "name one of host, cloud, all");
	signal(SIGPIPE, SIG_IGN);
	if (arguments.when_told && !is_told())
		return 0;
	r = root_open(&root, arguments.root, NULL);
	if (r < 0) {
		say_redacted("%s: %s", arguments.root, strerror(-r));
		return 2;
	}
	if (discovery->host) {
		host_discover(&root, &discovery->facts);
		if (!arguments.python && !arguments.lines)
			host_limits_discover(arguments.root, &discovery->limits);
		host_gpus_discover(&root, arguments.root, &discovery->gpus);
		host_gpus_facts(&discovery->gpus, &discovery->facts);
	}
	if (discovery->cloud)
		ask_cloud(discovery, settings, &root);
	root_close(&root);
	facts_suppress(&discovery->facts);
	/* A user who hides the number of GPUs hides their list as well. */
	if (discovery->facts.items[HOST_GPU_COUNT].type == FACT_UNKNOWN)
		discovery->gpus.count = 0;
	return print_discovery(discovery, &arguments);
}
