/*
 * One sample of the machine and of this process, by hand, read from a snapshot: all values are of one moment.
 *
 *   cc one_sample.c $(pkg-config --cflags --libs resource-tracker) -o one_sample && ./one_sample
 *
 * Threads: the rt_config belongs to one thread at a time. Any thread may call the tracker: each call takes its lock. Any number of
 * threads may read one snapshot at once, because nothing in it changes.
 */
#include <resource_tracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print(const rt_snapshot *snapshot, const char *name)
{
	struct rt_value value;
	int error = rt_snapshot_get_named(snapshot, name, &value);

	if (error < 0) {
		printf("%-30s %s\n", name, rt_error_text("rt_snapshot_get_named", error));
		return;
	}
	if (value.type == RT_TYPE_NONE)
		printf("%-30s unknown: %s\n", name, rt_reason(value.reason));
	else if (value.type == RT_TYPE_REAL)
		printf("%-30s %.3f\n", name, value.real);
	else if (value.type == RT_TYPE_TEXT)
		printf("%-30s %s\n", name, value.text);
	else
		printf("%-30s %lld\n", name, (long long)value.count);
}

int main(void)
{
	rt_config *config = NULL;
	rt_tracker *tracker = NULL;
	rt_snapshot *snapshot = NULL;
	struct rt_snapshot_entry entry = {.size = sizeof entry};
	size_t known = 0, absent = 0;
	int error;

	if (rt_config_new(&config) < 0 || rt_config_set_int(config, "pid", getpid()) < 0 ||
	    rt_open(config, &tracker) < 0) {
		fprintf(stderr, "%s\n", config ? rt_config_message(config) : "out of memory");
		return EXIT_FAILURE;
	}
	usleep(200000);
	error = rt_sample(tracker);
	if (error == 0)
		error = rt_snapshot_take(tracker, &snapshot);
	if (error < 0) {
		fprintf(stderr, "%s\n", rt_error_text("rt_sample", error));
		return EXIT_FAILURE;
	}
	/* The snapshot does not need the tracker any more. */
	rt_close(tracker);
	rt_config_free(config);
	print(snapshot, "cpu.utilization_pct");
	print(snapshot, "cpu.process_cores_used");
	print(snapshot, "cpu.process_rss_mib");
	print(snapshot, "memory.available_mib");
	print(snapshot, "limits.memory_limit_mib");
	print(snapshot, "cpu.per_core_pct[0]");
	print(snapshot, "network[sum].rx_bytes_per_sec");
	print(snapshot, "disk[sum].read_bytes_per_sec");
	while (rt_snapshot_each(snapshot, &entry) > 0) {
		known += entry.value.type != RT_TYPE_NONE;
		absent += entry.value.type == RT_TYPE_NONE;
		if (entry.metric == rt_metric_find("disk.read_bytes_total") && entry.key)
			printf("disk %zu is %s\n", entry.instance, entry.key);
	}
	printf("%zu values are known, %zu are absent\n", known, absent);
	rt_snapshot_free(snapshot);
	return EXIT_SUCCESS;
}
