/* Reads when to send the job a signal. See signal_rule.h. */
#include "job/signal_at/signal_rule.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/duration.h"
#include "base/scan.h"
#include "base/signal_names.h"

enum { SIG_LENGTH = 3, SIGNALS_MOST = 31 };
#define SECS_MOST 1e9 /* in nanoseconds it is a ninth of an int64_t */

/* Returns the number of "USR1" or "SIGUSR1", or 0. */
static int signal_by_name(const char *name)
{
	char known[SIGNAL_NAME_SIZE];

	for (int number = 1; number <= SIGNALS_MOST; number++) {
		(void)signal_name(number, known);
		if (strcmp(name, known) == 0 || strcmp(name, known + SIG_LENGTH) == 0)
			return number;
	}
	return 0;
}

static const char *signal_in_rule(char *name, int *ret_signal)
{
	*ret_signal = signal_by_name(name);
	if (!*ret_signal)
		return "names no signal that is known; give for example USR1 or TERM";
	if (*ret_signal == SIGKILL || *ret_signal == SIGSTOP)
		return "asks for a signal that leaves the job no time to save its state; give for example "
		       "TERM";
	return NULL;
}

/* "90%". */
static bool read_share(const char *text, double *ret_share)
{
	struct scan scan = scan_bytes(text, strlen(text));
	double percent;

	if (!scan_real(&scan, &percent) || !scan_is(&scan, "%") || !(percent > 0 && percent <= 100))
		return false;
	*ret_share = percent / 100;
	return true;
}

/* "-120s", "-120s/4h", "90%". Cuts the text at the stroke. */
static const char *read_time(char *text, struct signal_rule *rule)
{
	char *given = strchr(text, '/');

	if (given) {
		*given++ = 0;
		if (!parse_duration(given, &rule->limit_secs) ||
		    !(rule->limit_secs > 0 && rule->limit_secs < SECS_MOST))
			return "gives a limit that is not a length of time; give for example "
			       "time=-120s/4h:TERM";
	}
	rule->is_share = read_share(text, &rule->value);
	if (!rule->is_share &&
	    (!parse_duration(text, &rule->value) || rule->value == 0 || fabs(rule->value) >= SECS_MOST))
		return "is not a time; give for example time=-120s:TERM, time=90%:TERM or time=58m:TERM";
	if (given && -rule->value >= rule->limit_secs)
		return "is due before the job starts";
	return NULL;
}

const char *signal_rule_read(const char *text, size_t length, struct signal_rule *ret_rule)
{
	struct signal_rule rule = {.limit_secs = 0};
	char words[SIGNAL_RULE_BYTES], *name, *program, *value;
	const char *why = NULL;

	if (length >= sizeof words)
		return "is too long; a rule has at most 63 characters";
	memcpy(rule.text, text, length);
	memcpy(words, rule.text, sizeof words);
	name = strchr(words, ':');
	value = strchr(words, '=');
	if (!name || !value || value > name)
		return "is not a rule; give for example memory=90%:USR1 or time=-120s:TERM";
	*name++ = *value++ = 0;
	rule.program = length;
	program = strchr(name, ':');
	if (program) {
		*program++ = 0;
		rule.program = (size_t)(program - words);
		if (!*program)
			return "names no program after its second ':'";
	}
	rule.of_memory = strcmp(words, "memory") == 0;
	if (rule.of_memory)
		rule.is_share = read_share(value, &rule.value);
	if (rule.of_memory ? !rule.is_share : strcmp(words, "time") != 0)
		return rule.of_memory ? "is not a part of the memory limit; give for example memory=90%:USR1"
				      : "watches neither memory nor time";
	if (!rule.of_memory)
		why = read_time(value, &rule);
	if (!why)
		why = signal_in_rule(name, &rule.signal);
	if (!why)
		*ret_rule = rule;
	return why;
}
