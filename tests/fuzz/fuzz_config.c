/*
 * Feeds lines "NAME=VALUE" as settings: none may crash, and each refusal has one line of text. A copy equals
 * the original.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/scan.h"
#include "tracker/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void must_hold(bool holds)
{
	if (!holds)
		abort();
}

static void set(rt_config *config, const struct scan *name, const struct scan *value)
{
	char name_text[64], value_text[512];
	const char *message;
	int error;

	scan_copy(name, name_text, sizeof(name_text));
	scan_copy(value, value_text, sizeof(value_text));
	error = rt_config_set(config, name_text, value_text);
	must_hold(error <= 0);
	message = rt_config_message(config);
	if (error < 0)
		must_hold(*message && !strchr(message, '\n') && strlen(message) < 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct scan text = scan_bytes((const char *)bytes, length), line, name;
	rt_config *config, *copy;

	if (rt_config_new(&config) < 0)
		return 0;
	while (scan_line(&text, &line)) {
		if (scan_until(&line, '=', &name))
			set(config, &name, &line);
	}
	must_hold(config->interval_ns >= 1000000 && config->duration_ns >= 0 && config->start_at_ns >= 0);
	must_hold(config->pid >= 0);
	if (config_copy(config, &copy) == 0) {
		must_hold(copy->output_count == config->output_count && copy->tag_count == config->tag_count);
		must_hold(copy->metric_count == config->metric_count && !copy->team == !config->team);
		rt_config_free(copy);
	}
	rt_config_free(config);
	return 0;
}
