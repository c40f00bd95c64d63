/* See front_choice.h. */
#include "cli/front_choice.h"

#include <string.h>
#include <unistd.h>

#include "base/ends_with.h"
#include "base/file_place.h"
#include "cli/alone.h"
#include "cli/message.h"

int front_refuse(const struct front *front, int error)
{
	const char *message = rt_config_message(front->config);

	message = *message ? message : strerror(-error);
	return is_place_mistake(error) ? refuse("%s", message) : alone_for_lack(front->command, message);
}

bool front_writes_csv(const struct front *front, const char *path)
{
	const struct given *format = given_by_name(&front->given, "format");

	if (format && *format->text)
		return strcmp(format->text, "csv") == 0;
	return ends_with(path, ".csv") || ends_with(path, ".csv.gz");
}

bool front_shows_screen(const struct front *front)
{
	return front->mode != MODE_WRAP && isatty(STDOUT_FILENO) && !front->named_outputs && !front->quiet &&
	       !front->no_history && !given_by_name(&front->given, "format");
}

bool front_writes_stdout(const struct front *front)
{
	for (size_t i = 0; i < front->given.count; i++) {
		const struct given *item = &front->given.items[i];

		if (given_is_output(item) && given_counts(&front->given, item) &&
		    (strcmp(item->text, "-") == 0 || strcmp(item->text, "/dev/stdout") == 0 ||
		     strcmp(item->text, "/dev/fd/1") == 0))
			return true;
	}
	return false;
}
