/* The devices that a job used: src/summary/summary_disks.c. */
#include "unit.h"

#include <stdio.h>

#include "metric/typed_rows.h"
#include "summary/summary_disks.h"

static struct frame frame;
static struct summary_disks disks;

static void begin(void)
{
	memset(&disks, 0, sizeof disks);
	frame_begin(&frame, 0, 0);
}

static void add_disk(const char *device, int64_t bytes_read, int64_t bytes_written)
{
	struct job_disk_row *row = ADD_ROW(&frame, job_disk, NULL);

	row->device = device;
	row->bytes_read = bytes_read;
	row->bytes_written = bytes_written;
}

static void take(void)
{
	summary_disks_add(&disks, &frame);
	frame_begin(&frame, 0, 0);
}

static void try_texts(const char *lines, const char *json)
{
	struct buffer out = BUFFER(1 << 16);

	summary_disks_lines(&out, &disks, RT_SIZE_AUTO, 3);
	assert_string_equal(out.data ? out.data : "", lines);
	buffer_clear(&out);
	summary_disks_json(&out, &disks);
	assert_string_equal(out.data, json);
	buffer_done(&out);
}

static void the_last_totals_of_each_device_count(void **state)
{
	const int64_t unknown = no_count(ABSENT_NOT_COLLECTED);

	(void)state;
	begin();
	try_texts("", "\"disks\":[]");
	add_disk("sda", 100, 200);
	add_disk("sdb", 0, 0);
	add_disk(NULL, 5, 5);
	add_disk("sdc", unknown, 5);
	add_disk("sdd", 5, unknown);
	take();
	try_texts("\n     sda: read 100 B, written 200 B",
		  "\"disks\":[{\"device\":\"sda\",\"read_bytes\":100,\"written_bytes\":200},"
		  "{\"device\":\"sdb\",\"read_bytes\":0,\"written_bytes\":0}]");
	add_disk("sdb", 0, 1);
	add_disk("sda", 2048, 200);
	take();
	try_texts("\n     sda: read 2.00 KiB, written 200 B\n     sdb: read 0, written 1 B",
		  "\"disks\":[{\"device\":\"sda\",\"read_bytes\":2048,\"written_bytes\":200},"
		  "{\"device\":\"sdb\",\"read_bytes\":0,\"written_bytes\":1}]");
	begin();
	add_disk("a\"", 1, 0);
	take();
	try_texts("\n     a\": read 1 B, written 0",
		  "\"disks\":[{\"device\":\"a\\\"\",\"read_bytes\":1,\"written_bytes\":0}]");
}

static void eight_devices_with_names_of_39_bytes_have_a_place(void **state)
{
	char names[DISKS_SHOWN + 1][8], name[50];

	(void)state;
	begin();
	for (int i = 0; i < DISKS_SHOWN + 1; i++) {
		snprintf(names[i], sizeof names[i], "sd%d", i);
		add_disk(names[i], i, 0);
	}
	take();
	add_disk("sd7", 70, 0);
	take();
	assert_int_equal(disks.count, 8);
	assert_string_equal(disks.of[7].device, "sd7");
	assert_true(disks.of[7].read_bytes == 70);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	begin();
	add_disk(name, 1, 0);
	take();
	add_disk(name, 2, 0);
	take();
	assert_int_equal(disks.count, 1);
	assert_int_equal(strlen(disks.of[0].device), 39);
	assert_true(disks.of[0].read_bytes == 2);
	name[38] = '\0';
	add_disk(name, 3, 0);
	take();
	assert_int_equal(disks.count, 2);
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_totals_of_each_device_count),
		cmocka_unit_test(eight_devices_with_names_of_39_bytes_have_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
