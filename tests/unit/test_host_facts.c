/* Tests of src/discover/host.c, host_gpus.c, machine_facts.c and discover_text.c: from files and recordings to facts and words. */
#include "scratch.h"

#include "base/cleanup.h"
#include "discover/discovery.h"
#include "discover/host.h"
#include "metric/typed_rows.h"

static struct facts facts_of_files(void)
{
	struct facts facts = {0};
	struct root root;

	assert_int_equal(root_open(&root, ".", NULL), 0);
	host_discover(&root, &facts);
	root_close(&root);
	return facts;
}

static const char *id_with(const char *tag, const char *machine_id)
{
	static struct facts facts;

	put_below("sys/class/dmi/id/board_asset_tag", tag);
	put_below("etc/machine-id", machine_id);
	facts = facts_of_files();
	return fact_text(&facts, HOST_ID) ? fact_text(&facts, HOST_ID) : "";
}

#define MACHINE "0123456789abcdef0123456789abcdef"

static void an_id_is_that_of_the_instance_or_the_machine(void **state)
{
	(void)state;
	put_below("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	assert_string_equal(id_with("i-0123456789abcdef0\n", MACHINE), "i-0123456789abcdef0");
	assert_string_equal(id_with("i-01234567\n", MACHINE), "i-01234567");
	assert_string_equal(id_with("i-0123456\n", MACHINE), MACHINE);
	assert_string_equal(id_with("i-012345678\n", MACHINE), MACHINE);
	assert_string_equal(id_with("i-01234567x\n", MACHINE), MACHINE);
	assert_string_equal(id_with("7783-7084-3265\n", MACHINE), MACHINE);
	assert_string_equal(id_with("", "uninitialized\n"), "");
	assert_string_equal(id_with("", "0123456789abcdef0123456789abcdeg"), "");
}

static void figures_are_those_of_the_whole_machine(void **state)
{
	struct facts facts;

	(void)state;
	put_below("proc/meminfo", "MemTotal: 2098175 kB\nMemFree: 1 kB\n");
	put_below("proc/cpuinfo",
		  "processor\t: 0\nmodel name\t: Fast One\nprocessor\t: 1\nmodel name\t: Fast One\n");
	put_below("proc/sys/kernel/hostname", "box\n");
	put_below("sys/class/block/vda/size", "2000000\n");
	put_below("sys/class/block/vda/removable", "0\n");
	put_below("sys/class/block/vdb/size", "0\n");
	facts = facts_of_files();
	assert_int_equal(facts.items[HOST_MEMORY_MIB].count, 2048);
	assert_true(facts.items[HOST_MEMORY_MIB].real == 2098175.0 / 1024);
	assert_int_equal(facts.items[HOST_VCPUS].count, 2);
	assert_string_equal(fact_text(&facts, HOST_CPU_MODEL), "Fast One");
	assert_string_equal(fact_text(&facts, HOST_HOSTNAME), "box");
	assert_null(fact_text(&facts, HOST_IP)); /* addresses are not in files */
	assert_int_equal(facts.items[HOST_SERVER_ALLOCATION].type, FACT_UNKNOWN);
	/* A small board tells its maker alone. */
	put_below("proc/cpuinfo", "processor\t: 0\n\nHardware\t: BCM2835\n");
	facts = facts_of_files();
	assert_string_equal(fact_text(&facts, HOST_CPU_MODEL), "BCM2835");
	put_below("proc/cpuinfo", "processor\t: 0\nmodel name\t: X\n");
	facts = facts_of_files();
	assert_string_equal(fact_text(&facts, HOST_CPU_MODEL), "X");
	unlink("proc/meminfo");
	unlink("proc/cpuinfo");
	facts = facts_of_files();
	assert_int_equal(facts.items[HOST_MEMORY_MIB].type, FACT_UNKNOWN);
	assert_int_equal(facts.items[HOST_VCPUS].type, FACT_UNKNOWN);
}

static double storage_gb(void)
{
	struct facts facts = facts_of_files();

	return facts.items[HOST_STORAGE_GB].type == FACT_UNKNOWN ? -1 : facts.items[HOST_STORAGE_GB].real;
}

/* A device below another, a path of a device, and a disc in a drive hold no bytes of their own. */
static void storage_is_the_sum_of_whole_disks(void **state)
{
	(void)state;
	assert_true(storage_gb() == -1);
	put_below("sys/class/block/vda/size", "2000000\n");
	put_below("sys/class/block/vda/device/model", "x\n");
	put_below("sys/class/block/nvme0n1/size", "4000000\n");
	assert_true(storage_gb() == 3.072);
	put_below("sys/class/block/nvme0c0n1/size", "4000000\n");
	put_below("sys/class/block/sr0/size", "1000000\n");
	put_below("sys/class/block/dm-0/size", "2000000\n");
	put_below("sys/class/block/dm-0/dm/name", "x\n");
	put_below("sys/class/block/nvme1n1/size", "4000000\n");
	put_below("sys/class/block/nvme1n1/slaves/nvme1c0n1", "");
	put_below("sys/class/block/nvme2n1/model", "x\n");
	assert_true(storage_gb() == 3.072);
}

/* ---- recordings --------------------------------------------------------------------------------------------- */

static void a_recording_has_facts_of_its_own(void **state)
{
	struct frame frame = {0};
	struct facts facts = {0};
	struct run_start_row *start;
	struct root root;

	(void)state;
	put_below("proc/sys/kernel/random/boot_id", "boot-1\n");
	assert_int_equal(root_open(&root, ".", NULL), 0);
	frame_begin(&frame, 0, 0);
	fact_set_text(&facts, HOST_HOSTNAME, "here", 4);
	fact_set_count(&facts, HOST_VCPUS, 64);
	host_from_recording(&frame, &facts);
	assert_string_equal(fact_text(&facts, HOST_HOSTNAME), "here");
	assert_int_equal(facts.items[HOST_VCPUS].count, 64);
	assert_int_equal(facts.items[HOST_GPU_COUNT].type, FACT_UNKNOWN);
	assert_false(host_is_same_boot(&root, &frame));

	start = ADD_ROW(&frame, run_start, NULL);
	frame.sample->host = "there";
	start->cpu_count = 4;
	start->cpu_model = "Slow";
	start->memory_total_mib = 1000.9;
	start->boot_id = "boot-2";
	for (int i = 0; i < 3; i++) {
		ADD_ROW(&frame, run_start_gpu, NULL)->name = i ? "Other" : "First";
		if (i < 2)
			ADD_ROW(&frame, gpu, NULL)->vram_total_bytes = INT64_C(1) << 31;
		else
			ADD_ROW(&frame, gpu, NULL);
	}
	host_from_recording(&frame, &facts);
	assert_string_equal(fact_text(&facts, HOST_HOSTNAME), "there");
	assert_int_equal(facts.items[HOST_VCPUS].count, 4);
	assert_string_equal(fact_text(&facts, HOST_CPU_MODEL), "Slow");
	assert_int_equal(facts.items[HOST_MEMORY_MIB].count, 1000);
	assert_int_equal(facts.items[HOST_GPU_COUNT].count, 3);
	assert_int_equal(facts.items[HOST_GPU_MEMORY_MIB].count, 4096);
	assert_string_equal(fact_text(&facts, HOST_GPU_MODEL), "First");
	assert_false(host_is_same_boot(&root, &frame));
	start->boot_id = "boot-1";
	assert_true(host_is_same_boot(&root, &frame));
	frame_done(&frame);
	root_close(&root);
}

/* ---- forms -------------------------------------------------------------------------------------------------- */

static void a_fact_is_a_text_a_number_or_null(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);
	struct json_writer json = JSON_WRITER(&out);
	struct facts facts = {0};

	(void)state;
	fact_set_text(&facts, HOST_ID, "  a b \n", 7);
	fact_set_text(&facts, HOST_IP, " \n", 2);
	fact_set_text(&facts, HOST_HOSTNAME, "hidden", 6);
	fact_set_count(&facts, HOST_VCPUS, 8);
	fact_set_real(&facts, HOST_STORAGE_GB, 1.23456);
	setenv("TRACKER_HOST_HOSTNAME", "off", 1);
	fact_set_text(&facts, CLOUD_ZONE_ID, "hidden", 6);
	setenv("TRACKER_CLOUD_ZONE_ID", "off", 1);
	setenv("TRACKER_HOST_ID", "1", 1);
	facts_suppress(&facts);
	unsetenv("TRACKER_CLOUD_ZONE_ID");
	assert_null(fact_text(&facts, CLOUD_ZONE_ID));
	unsetenv("TRACKER_HOST_HOSTNAME");
	json_open(&json, '{');
	facts_write(&json, &facts, HOST_ID, HOST_CPU_MODEL);
	facts_write(&json, &facts, HOST_STORAGE_GB, HOST_FACTS);
	json_close(&json, '}');
	assert_string_equal(out.data,
			    "{\"host_id\":\"a b\",\"host_hostname\":null,\"host_ip\":null,"
			    "\"host_server_allocation\":null,\"host_vcpus\":8,\"host_storage_gb\":1.235}");
	assert_string_equal(fact_name(CLOUD_INSTANCE_TYPE), "cloud_instance_type");
}

static void words_of_a_machine(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(10000);
	static struct discovery discovery = {.host = true};

	(void)state;
	fact_set_text(&discovery.facts, HOST_HOSTNAME, "box", 3);
	fact_set_count(&discovery.facts, HOST_MEMORY_MIB, 1024);
	fact_set_real(&discovery.facts, HOST_STORAGE_GB, 1.6);
	fact_set_count(&discovery.facts, HOST_VCPUS, 2);
	discovery.limits = (struct host_limits){1.5, 1023, 1};
	discovery.gpus.known = true;
	discovery_add_text(&out, &discovery, "never");
	for (size_t i = 0; i < 9; i++) {
		static const char *const WORDS[] = {"Machine\n",   "box\n",          "1.0 GiB\n",
						    "2 GB\n",      "1.50 cores\n",   "1023 MiB\n",
						    "usable CPUs", "\nGPUs\n  none", "unknown\n"};

		if (!strstr(out.data, WORDS[i]))
			fail_msg("'%s' is not in %s", WORDS[i], out.data);
	}
	assert_null(strstr(out.data, "allocation"));
	assert_null(strstr(out.data, "Cloud"));
	buffer_clear(&out);
	discovery.limits = (struct host_limits){no_real(ABSENT_NOT_COLLECTED), no_real(ABSENT_NOT_COLLECTED),
						no_count(ABSENT_NOT_COLLECTED)};
	discovery.gpus.count = 2;
	snprintf(discovery.gpus.items[0].name, HOST_GPU_TEXT_SIZE, "A100");
	discovery.gpus.items[0].vram_bytes = INT64_C(40) << 30;
	discovery.gpus.items[1].vram_bytes = no_count(ABSENT_NOT_COLLECTED);
	discovery.cloud = true;
	fact_set_text(&discovery.facts, CLOUD_VENDOR_ID, "aws", 3);
	fact_set_text(&discovery.facts, HOST_SERVER_ALLOCATION, "shared", 6);
	discovery_add_text(&out, &discovery, "never");
	assert_non_null(strstr(out.data,
			       "  CPU          no limit\n  memory       no limit\n  usable CPUs  unknown\n"));
	assert_non_null(strstr(out.data, "A100, 40.0 GiB\n"));
	assert_non_null(strstr(out.data, "1  unknown\n"));
	assert_non_null(strstr(out.data, "shared\n"));
	assert_non_null(strstr(out.data, "\nCloud\n"));
	assert_non_null(strstr(out.data, "aws\n"));
	buffer_clear(&out);
	discovery.gpus = (struct host_gpus){0};
	discovery_add_text(&out, &discovery, "never");
	assert_non_null(strstr(out.data, "\nGPUs\n  unknown"));
}

static void gpus_as_facts_and_lists(void **state)
{
	static struct host_gpus gpus;
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);
	struct json_writer json = JSON_WRITER(&out);
	struct facts facts = {0};

	(void)state;
	host_gpus_facts(&gpus, &facts);
	assert_int_equal(facts.items[HOST_GPU_COUNT].type, FACT_UNKNOWN);
	assert_null(host_gpus_usual_name(&gpus));
	host_gpus_write(&json, &gpus);
	assert_string_equal(out.data, "null");
	gpus.known = true;
	gpus.count = 3;
	for (size_t i = 0; i < 3; i++) {
		snprintf(gpus.items[i].name, HOST_GPU_TEXT_SIZE, "%s", i ? "B" : "A");
		gpus.items[i].vram_bytes = i < 2 ? INT64_C(1) << 30 : no_count(ABSENT_NOT_COLLECTED);
	}
	assert_string_equal(host_gpus_usual_name(&gpus), "B");
	/* There is one of each: the first is told. */
	gpus.count = 2;
	assert_string_equal(host_gpus_usual_name(&gpus), "A");
	gpus.count = 3;
	host_gpus_facts(&gpus, &facts);
	assert_string_equal(fact_text(&facts, HOST_GPU_MODEL), "A");
	assert_int_equal(facts.items[HOST_GPU_COUNT].count, 3);
	assert_int_equal(facts.items[HOST_GPU_MEMORY_MIB].count, 2048);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_id_is_that_of_the_instance_or_the_machine, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(figures_are_those_of_the_whole_machine, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(storage_is_the_sum_of_whole_disks, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(a_recording_has_facts_of_its_own, scratch_enter,
						scratch_leave),
		cmocka_unit_test(a_fact_is_a_text_a_number_or_null),
		cmocka_unit_test(words_of_a_machine),
		cmocka_unit_test(gpus_as_facts_and_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
