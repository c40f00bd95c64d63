/* Tests of src/collect/job_disk.c: the devices that the job used, from control groups that this test writes. */
#include "lone_collector.h"

#include <errno.h>

extern const struct collector JOB_DISK_COLLECTOR;

#define JOB_GROUP "sys/fs/cgroup/job/"

static struct cgroup_place place;

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	place = CGROUP_PLACE;
	lone.context.tree = &lone.tree;
	assert_int_equal(process_tree_reserve(&lone.tree), 0);
	process_tree_append(&lone.tree, &(struct member){.pid = LONE_JOB});
	put_below("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put_below("proc/100/cgroup", "0::/job\n");
	put_below(JOB_GROUP "cgroup.procs", "100\n");
	put_text("proc/diskstats", "8 0 sda 1\n8 16 sdb 1\n8 1 sda1 1\n");
	lone_open(&JOB_DISK_COLLECTOR);
	return 0;
}

static int end(void **state)
{
	cgroup_place_close(&place);
	return lone_leave(state);
}

static void sample(double secs)
{
	assert_true(cgroup_place_find(&place, &lone.mounts, &lone.root, LONE_JOB) >= 0);
	lone.context.place = &place;
	(void)lone_sample(secs);
}

/* A sample after a file of the group was written. */
static void sample_with(double secs, const char *path, const char *text)
{
	put_below(path, text);
	sample(secs);
}

/* "sda 1 2 3 4": bytes read and written, reads and writes of each device. */
static const char *rows(void)
{
	static char text[400];

	text[0] = '\0';
	for (const struct job_disk_row *row = FIRST(&lone.frame, job_disk); row; row = NEXT(row, job_disk)) {
		if (!count_absent(row->read_counter)) {
			assert_int_equal(row->read_counter, row->bytes_read);
			assert_int_equal(row->write_counter, row->bytes_written);
		}
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s %lld %lld %lld %lld; ",
			 row->device, (long long)row->bytes_read, (long long)row->bytes_written,
			 (long long)row->reads, (long long)row->writes);
	}
	return text;
}

static void use_since_the_first_reading_counts(void **state)
{
	(void)state;
	lone.context.progress.baseline = true;
	sample_with(0, JOB_GROUP "io.stat", "8:0 rbytes=1000 wbytes=2000 rios=10 wios=20 dbytes=0 dios=0\n");
	lone.context.progress.baseline = false;
	assert_string_equal(rows(), "sda 0 0 0 0; ");
	sample_with(1, JOB_GROUP "io.stat",
		    "8:0 rbytes=1001 wbytes=2002 rios=13 wios=24 dbytes=0 dios=0\n"
		    "8:16 rbytes=0 wbytes=0 rios=0 wios=0\n8:1 rbytes=1 wbytes=0 rios=1 wios=0\n"
		    "253:7 rbytes=0 wbytes=9 rios=0 wios=2\n");
	assert_string_equal(rows(), "sda 1 2 3 4; sda1 1 0 1 0; 253:7 0 9 0 2; ");
	assert_int_equal(count_absent(FIRST(&lone.frame, job_disk)->read_counter), 0);
	/* The kernel may forget a device. A counter that begins again tells no rate, and goes on from there. */
	sample_with(2, JOB_GROUP "io.stat", "8:0 rbytes=1 wbytes=2003 rios=1 wios=1\n");
	assert_string_equal(rows(), "sda 1 3 3 4; sda1 1 0 1 0; 253:7 0 9 0 2; ");
	assert_int_equal(count_absent(FIRST(&lone.frame, job_disk)->read_counter), ABSENT_COUNTER_RESET);
	sample_with(2.5, JOB_GROUP "io.stat", "8:0 rbytes=6 wbytes=2003 rios=2 wios=1\n");
	assert_string_equal(rows(), "sda 6 3 4 4; sda1 1 0 1 0; 253:7 0 9 0 2; ");
	assert_int_equal(FIRST(&lone.frame, job_disk)->read_counter, 6);
	/* The counter of bytes read begins again at 0, while others go on. */
	sample_with(2.6, JOB_GROUP "io.stat", "8:0 rbytes=0 wbytes=2004 rios=0 wios=1\n");
	assert_int_equal(count_absent(FIRST(&lone.frame, job_disk)->read_counter), ABSENT_COUNTER_RESET);
	sample_with(2.7, JOB_GROUP "io.stat", "8:0 rbytes=4 wbytes=2003 rios=2 wios=1\n");
	assert_string_equal(rows(), "sda 10 4 6 4; sda1 1 0 1 0; 253:7 0 9 0 2; ");
	/* A name that is known later is told then. */
	put_text("proc/diskstats", "8 0 sda 1\n253 7 dm-7 1\n");
	sample_with(3, JOB_GROUP "io.stat", "8:16 rbytes=1 wbytes=0 rios=1 wios=0\n");
	assert_string_equal(rows(), "sda 10 4 6 4; sda1 1 0 1 0; dm-7 0 9 0 2; 8:16 1 0 1 0; ");
	assert_int_equal(lone.frame.missing[ROW_job_disk], 0);
}

/* The counters of a group that was made for the job began with it. */
static void a_group_of_its_own_begins_with_0(void **state)
{
	(void)state;
	lone.tree.cgroup_folder = 7;
	put_text(JOB_GROUP "cgroup.procs", "100\n555\n");
	sample_with(1, JOB_GROUP "io.stat", "8:0 rbytes=1000 wbytes=2000 rios=10 wios=20\n");
	assert_string_equal(rows(), "sda 1000 2000 10 20; ");
}

static void use_in_a_group_that_was_left_still_counts(void **state)
{
	(void)state;
	sample_with(1, JOB_GROUP "io.stat", "8:0 rbytes=100 wbytes=200 rios=10 wios=20\n");
	sample_with(2, JOB_GROUP "io.stat",
		    "8:0 rbytes=101 wbytes=202 rios=13 wios=24\n8:16 rbytes=5 wbytes=6 rios=7 wios=8\n");
	put_below("sys/fs/cgroup/new/cgroup.procs", "100\n");
	put_text("proc/100/cgroup", "0::/new\n");
	sample_with(3, "sys/fs/cgroup/new/io.stat", "8:0 rbytes=5000 wbytes=6000 rios=70 wios=80\n");
	assert_string_equal(rows(), "sda 1 2 3 4; sdb 5 6 7 8; ");
	sample_with(4, "sys/fs/cgroup/new/io.stat", "8:0 rbytes=5010 wbytes=6010 rios=80 wios=90\n");
	assert_string_equal(rows(), "sda 11 12 13 14; sdb 5 6 7 8; ");
	/* It moves in another hierarchy and stays in this one. */
	put_text("proc/100/cgroup", "7:pids:/x\n0::/new\n");
	sample_with(5, "sys/fs/cgroup/new/io.stat", "8:0 rbytes=5011 wbytes=6010 rios=80 wios=90\n");
	assert_string_equal(rows(), "sda 12 12 13 14; sdb 5 6 7 8; ");
}

static void a_shared_group_tells_nothing_of_the_job(void **state)
{
	(void)state;
	put_below("proc/700/stat",
		  "700 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 4096 10 0 1 2 3 0 0 0 0 0 0\n");
	put_text(JOB_GROUP "cgroup.procs", "100\n700\n");
	sample_with(1, JOB_GROUP "io.stat", "8:0 rbytes=100 wbytes=200 rios=10 wios=20\n");
	assert_string_equal(rows(), "");
	assert_int_equal(lone.frame.missing[ROW_job_disk], ABSENT_NO_ATTRIBUTION);
}

#define BLKIO "sys/fs/cgroup/blkio/job/"

static void begin_v1(void)
{
	put_text("proc/self/mountinfo", "31 1 0:31 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n");
	put_text("proc/100/cgroup", "3:blkio:/job\n");
	put_below(BLKIO "cgroup.procs", "100\n");
}

static void version_1_counts_bytes_and_requests_in_two_files(void **state)
{
	(void)state;
	begin_v1();
	put_text(BLKIO "blkio.throttle.io_serviced", "8:0 Read 1\n8:0 Write 2\nTotal 3\n");
	sample_with(1, BLKIO "blkio.throttle.io_service_bytes", "8:0 Read 100\n8:0 Write 200\nTotal 300\n");
	assert_string_equal(rows(), "sda 0 0 0 0; ");
	put_text(BLKIO "blkio.throttle.io_serviced", "8:0 Read 4\n8:0 Write 6\nTotal 10\n");
	sample_with(2, BLKIO "blkio.throttle.io_service_bytes",
		    "8:0 Read 101\n8:0 Write 202\n8:16 Read 0\n8:16 Write 0\nTotal 303\n");
	assert_string_equal(rows(), "sda 1 2 3 4; ");
	/* Where the kernel adds up the groups below, it has another file for that. */
	sample_with(3, BLKIO "blkio.throttle.io_service_bytes_recursive",
		    "8:0 Read 111\n8:0 Write 202\nTotal 313\n");
	assert_string_equal(rows(), "sda 11 2 3 4; ");
}

static void version_1_may_count_nothing(void **state)
{
	(void)state;
	begin_v1();
	sample_with(1, BLKIO "blkio.throttle.io_service_bytes", "Total 0\n");
	assert_int_equal(lone.frame.missing[ROW_job_disk], ABSENT_NO_SUCH_COUNTER);
	sample_with(2, BLKIO "blkio.throttle.io_service_bytes", "8:0 Read 0\n8:0 Write 0\nTotal 0\n");
	assert_int_equal(lone.frame.missing[ROW_job_disk], 0);
	assert_string_equal(rows(), "");
	remove(BLKIO "blkio.throttle.io_service_bytes");
	sample(3);
	assert_int_equal(lone.frame.missing[ROW_job_disk], ABSENT_NO_SUCH_COUNTER);
}

static void without_a_group_the_reason_is_told(void **state)
{
	(void)state;
	/* The root of all groups counts the machine. */
	put_text("proc/100/cgroup", "0::/\n");
	sample_with(1, "sys/fs/cgroup/io.stat", "8:0 rbytes=100 wbytes=200 rios=10 wios=20\n");
	assert_int_equal(lone.frame.missing[ROW_job_disk], ABSENT_NO_CGROUP);
	lone.context.place = NULL;
	(void)lone_sample(1);
	assert_int_equal(lone.frame.missing[ROW_job_disk], ABSENT_NO_CGROUP);
	/* Nor has a group without the controller a counter. */
	put_text("proc/100/cgroup", "0::/job\n");
	sample(2);
	assert_int_equal(lone.frame.missing[ROW_job_disk], ABSENT_NO_CGROUP);
	lone.context.tree = NULL;
	sample_with(3, JOB_GROUP "io.stat", "8:0 rbytes=100 wbytes=200 rios=10 wios=20\n");
	assert_int_equal(lone.frame.missing[ROW_job_disk], ABSENT_NOT_TRACKED);
	/* A command is about to be started: this is where it begins. */
	lone.facts.argc = 1;
	lone.context.progress.baseline = true;
	sample(3);
	assert_string_equal(rows(), "");
	assert_int_equal(lone.frame.missing[ROW_job_disk], 0);
	lone.context.progress.baseline = false;
	lone.context.tree = &lone.tree;
	sample_with(4, JOB_GROUP "io.stat", "8:0 rbytes=101 wbytes=202 rios=13 wios=24\n");
	assert_string_equal(rows(), "sda 1 2 3 4; ");
}

static void thirty_two_devices_are_told(void **state)
{
	char text[4000] = "";
	int count = 0;

	(void)state;
	for (int i = 0; i < 40; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "8:%d rbytes=1 wbytes=0 rios=1 wios=0\n", i);
	sample_with(1, JOB_GROUP "io.stat", text);
	for (const struct row *row = lone.frame.first[ROW_job_disk]; row; row = row->next)
		count++;
	assert_int_equal(count, 32);
}

static void nothing_is_read_for_unwanted_metrics(void **state)
{
	static struct selection selection;

	(void)state;
	lone.context.selection = &selection;
	selection.kinds[ROW_job_disk] = false;
	assert_int_equal(JOB_DISK_COLLECTOR.open(&lone.context, &(void *){NULL}), -ENOTSUP);
	lone.collector->close(lone.state);
	selection.kinds[ROW_job_disk] = true;
	lone_open(&JOB_DISK_COLLECTOR);
}

#define disk_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		disk_test(use_since_the_first_reading_counts),
		disk_test(a_group_of_its_own_begins_with_0),
		disk_test(use_in_a_group_that_was_left_still_counts),
		disk_test(a_shared_group_tells_nothing_of_the_job),
		disk_test(version_1_counts_bytes_and_requests_in_two_files),
		disk_test(version_1_may_count_nothing),
		disk_test(without_a_group_the_reason_is_told),
		disk_test(thirty_two_devices_are_told),
		disk_test(nothing_is_read_for_unwanted_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
