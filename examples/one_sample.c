/*
 * One sample of the machine and of this process, by hand.
 *
 *   cc one_sample.c $(pkg-config --cflags --libs resource-tracker) -o one_sample && ./one_sample
 */
#include <resource_tracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print(rt_tracker *tracker, const char *name)
{
	rt_metric metric = rt_metric_find(name);
	struct rt_metric_info info;
	struct rt_value value;

	if (rt_metric_get_info(metric, &info) < 0 || rt_get(tracker, metric, 0, &value) < 0)
		return;
	if (!value.present)
		printf("%-30s unknown: %s\n", name, rt_reason(value.reason));
	else if (value.type == RT_REAL)
		printf("%-30s %.3f %s\n", name, value.real, info.unit);
	else if (value.type == RT_TEXT)
		printf("%-30s %s\n", name, value.text);
	else
		printf("%-30s %lld %s\n", name, (long long)value.count, info.unit);
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
	for (size_t i = 0; i < rt_instance_count(tracker, rt_metric_find("disk.device")); i++) {
		struct rt_value device;

		if (rt_get(tracker, rt_metric_find("disk.device"), i, &device) == 0 && device.present)
			printf("disk %zu is %s\n", i, device.text);
	}
	rt_close(tracker);
	rt_config_free(config);
	return EXIT_SUCCESS;
}
