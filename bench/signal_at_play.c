/*
 * Plays recorded memory through the forecast of --signal-at, for bench/signal_at. Standard input has runs: a line "run LIMIT SHARE", then lines
 * "SECONDS MIB" in their order. Prints for each run the seconds at which the rule is due, and "level" or "forecast", or "never".
 */
#include <stdbool.h>
#include <stdio.h>

#include "job/signal_at/memory_forecast.h"

struct played_run {
	struct memory_forecast forecast;
	double limit_mib, share;
	bool begun, due;
};

static void end_run(const struct played_run *run)
{
	if (run->begun && !run->due)
		puts("never");
}

static void play_reading(struct played_run *run, double secs, double mib)
{
	double left_secs;

	memory_forecast_add(&run->forecast, (int64_t)(secs * 1e9), mib);
	if (run->due || !memory_forecast_is_due(&run->forecast, run->limit_mib, run->share, &left_secs))
		return;
	run->due = true;
	printf("%.3f %s\n", secs, left_secs < 0 ? "level" : "forecast");
}

int main(void)
{
	struct played_run run = {.begun = false};
	char line[128];

	while (fgets(line, sizeof line, stdin)) {
		double first, second;

		if (sscanf(line, "run %lf %lf", &first, &second) == 2) {
			end_run(&run);
			run = (struct played_run){.limit_mib = first, .share = second, .begun = true};
		} else if (sscanf(line, "%lf %lf", &first, &second) == 2) {
			play_reading(&run, first, second);
		}
	}
	end_run(&run);
	return 0;
}
