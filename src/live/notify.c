/* Tells of the end of a run, or that it is late. See notify.h. */
#include "live/notify.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/trust.h"
#include "live/expected.h"
#include "live/terminal.h"
#include "live/view.h"

extern char **environ;

/* The loop reaps it. */
static void start_notifier(const char *const *words)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;

	sigemptyset(&none);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return;
	}
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnp(&pid, words[0], &actions, &attributes, (char *const *)(uintptr_t)words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
}

static void notify_user(const struct run *run, const char *text)
{
	const char *bus = getenv("DBUS_SESSION_BUS_ADDRESS");
	struct buffer name = BUFFER(1024);

	terminal_bell();
	/* PATH and the bus are the caller's. */
	if (!bus || !*bus || has_more_rights_than_caller())
		return;
	/* Its name may begin with a dash, so "--" comes first. */
	buffer_add_printable(&name, run->name);
	if (!buffer_error(&name) && name.data)
		start_notifier((const char *[]){"notify-send", "--app-name=resource-tracker", "--", name.data,
						text, NULL});
	buffer_done(&name);
}

void notify_of_end(const struct run *run)
{
	double secs = isnan(run->wall_secs) ? timeline_end(&run->timeline) : run->wall_secs;
	char text[RUN_OUTCOME_BYTES + NUMBER_BYTES + EXPECTED_BYTES + 16], elapsed[NUMBER_BYTES],
		usual[EXPECTED_BYTES];

	expected_text(&run->usual, secs, false, usual);
	snprintf(text, sizeof(text), "%s after %s%s%s", run->outcome, time_text(secs, elapsed),
		 *usual ? "; " : "", usual);
	notify_user(run, text);
}

void notify_if_overdue(struct run *run)
{
	double secs = timeline_end(&run->timeline);
	char text[NUMBER_BYTES + EXPECTED_BYTES + 32], elapsed[NUMBER_BYTES], usual[EXPECTED_BYTES];

	if (run->state != RUN_GOES_ON || run->told_overdue || !is_overdue(&run->usual, secs))
		return;
	run->told_overdue = true;
	snprintf(text, sizeof(text), "still running after %s; %s", time_text(secs, elapsed),
		 expected_text(&run->usual, secs, true, usual));
	notify_user(run, text);
}
