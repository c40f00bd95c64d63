/*
 * One sample of the machine and of this process, by hand.
 *
 *   cc one_sample.c $(pkg-config --cflags --libs resource-tracker) -o one_sample && ./one_sample
 *
 * Threads: the rt_config belongs to one thread at a time. Any thread may call the tracker: each call takes its lock.
 */
#include <resource_tracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print(rt_tracker *tracker, const char *name)
{
	struct rt_value value;

	if (rt_get_named(tracker, name, &value) < 0)
		return;
	if (!value.present)
		printf("%-30s unknown: %s\n", name, rt_reason(value.reason));
	else if (value.type == RT_REAL)
		printf("%-30s %.3f\n", name, value.real);
	else if (value.type == RT_TEXT)
		printf("%-30s %s\n", name, value.text);
	else
		printf("%-30s %lld\n", name, (long long)value.count);
}

int main(void)
{
	rt_config *config = NULL;
	rt_tracker *tracker = NULL;
	char pid[24];

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	if (rt_config_new(&config) < 0 || rt_config_set(config, "pid", pid) < 0 ||
	    rt_open(config, &tracker) < 0) {
		fprintf(stderr, "%s\n", config ? rt_config_message(config) : "out of memory");
		return EXIT_FAILURE;
	}
	usleep(200000);
	if (rt_sample(tracker) < 0)
		return EXIT_FAILURE;
	print(tracker, "cpu.utilization_pct");
	print(tracker, "cpu.process_cores_used");
	print(tracker, "cpu.process_rss_mib");
	print(tracker, "memory.available_mib");
	print(tracker, "limits.memory_limit_mib");
	print(tracker, "cpu.per_core_pct[0]");
	print(tracker, "network[sum].rx_bytes_per_sec");
	print(tracker, "disk[sum].read_bytes_per_sec");
	for (size_t i = 0; i < rt_instance_count(tracker, rt_metric_find("disk.device")); i++) {
		struct rt_value device;

		if (rt_get(tracker, rt_metric_find("disk.device"), i, &device) == 0 && device.present)
			printf("disk %zu is %s\n", i, device.text);
	}
	rt_close(tracker);
	rt_config_free(config);
	return EXIT_SUCCESS;
}
