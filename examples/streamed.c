/*
 * Records this process and uploads the recording to the Sentinel API that the environment names
 * (docs/STREAMING.md). Without a token it only records.
 *
 *   cc streamed.c $(pkg-config --cflags --libs resource-tracker) -o streamed
 *   SENTINEL_API_TOKEN=x SENTINEL_API_URL=http://127.0.0.1:8080 ./streamed run.jsonl
 *
 * Threads: as in in_background.c. rt_wait_for_upload() blocks only the thread that calls it.
 */
#include <errno.h>
#include <resource_tracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void show_warnings(rt_tracker *tracker)
{
	char text[400];

	while (rt_next_warning(tracker, text, sizeof text) == 0)
		fprintf(stderr, "warning: %s\n", text);
}

int main(int argc, char *argv[])
{
	rt_config *config = NULL;
	rt_tracker *tracker = NULL;
	int result;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return EXIT_FAILURE;
	}
	if (rt_config_new(&config) < 0)
		return EXIT_FAILURE;
	rt_config_set_int(config, "pid", getpid());
	rt_config_set(config, "interval", "0.1");
	rt_config_set(config, "job-name", "streamed");
	rt_config_set(config, "output", argv[1]);
	rt_config_set(config, "stream", "auto");
	rt_config_set(config, "upload-deadline", "5");
	/* Only the program that uploads sees this. */
	rt_config_set_variable(config, "TRACKER_UPLOAD_INTERVAL", "30");
	if (rt_open(config, &tracker) < 0) {
		fprintf(stderr, "%s\n", rt_config_message(config));
		return EXIT_FAILURE;
	}
	rt_start(tracker);
	rt_wait_for_samples(tracker, 3, 5);
	/* A wait status: this program exited with 0. */
	rt_stop_with(tracker, RT_END_EXIT, 0);
	result = rt_wait_for_upload(tracker, 6);
	printf("%s\n", result == 0 ? "all is sent" : rt_error_text("rt_wait_for_upload", result));
	show_warnings(tracker);
	rt_close(tracker);
	rt_config_free(config);
	return result == 0 || result == -ENOTCONN ? EXIT_SUCCESS : EXIT_FAILURE;
}
