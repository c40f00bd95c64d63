/*
 * Variables that a tracker reads from the environment, and those that it passes to the programs it starts.
 * See config.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"
#include "tracker/config.h"

extern char **environ;

/* Returns the value in "NAME=VALUE" if the name is this one. */
static const char *variable_value(const char *variable, const char *name, size_t length)
{
	return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1 : NULL;
}

static void forget_variable(struct rt_config *config, const char *name)
{
	size_t length = strlen(name), kept = 0;

	for (size_t i = 0; i < config->variable_count; i++) {
		if (variable_value(config->variables[i], name, length))
			free(config->variables[i]);
		else
			config->variables[kept++] = config->variables[i];
	}
	config->variable_count = kept;
}

int rt_config_set_variable(rt_config *config, const char *name, const char *value)
{
	struct buffer text = BUFFER(1 << 20);
	char **grown;

	if (!name || !*name || strchr(name, '='))
		return config_fail(config, -EINVAL, "'%.60s' is not a name of a variable", name ? name : "");
	forget_variable(config, name);
	if (!value)
		return 0;
	buffer_printf(&text, "%s=", name);
	buffer_add_text(&text, value);
	grown = buffer_error(&text)
			? NULL
			: reallocarray(config->variables, config->variable_count + 1, sizeof(*grown));
	if (!grown) {
		buffer_done(&text);
		return config_fail(config, -ENOMEM, "out of memory");
	}
	config->variables = grown;
	config->variables[config->variable_count++] = text.data;
	return 0;
}

const char *config_variable(const struct rt_config *config, const char *name)
{
	const char *value = secure_getenv(name);

	for (size_t i = 0; i < config->variable_count; i++) {
		const char *own = variable_value(config->variables[i], name, strlen(name));

		value = own ? own : value;
	}
	return value && *value ? value : NULL;
}

char **config_environment(const struct rt_config *config)
{
	size_t count = 0, kept = 0;
	char **list;

	while (environ && environ[count])
		count++;
	list = calloc(count + config->variable_count + 1, sizeof(*list));
	if (!list)
		return NULL;
	/* If a name was set twice, the first one counts. */
	for (size_t i = 0; i < config->variable_count; i++)
		list[kept++] = config->variables[i];
	for (size_t i = 0; i < count; i++)
		list[kept++] = environ[i];
	return list;
}
