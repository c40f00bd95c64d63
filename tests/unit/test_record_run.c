/* Tests of src/record/reader.c and tree_memory.c: what a recording says of its run, and values that its file lacks. */
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <zlib.h>

#include "base/buffer.h"
#include "metric/typed_rows.h"
#include "record/reader.h"
#include "record/source.h"
#include "record/tree_memory.h"

static struct record *record;
static const struct frame *frame;

static int end(void **state)
{
	record_close(record);
	record = NULL;
	return scratch_leave(state);
}

static void open_text(const char *text)
{
	const char *const paths[] = {"run"};
	struct record_options options = {0};
	struct rt_problem problem = {""};

	record_close(record);
	record = NULL;
	put_text("run", text);
	metric_set_add_all(&options.wanted);
	if (record_open(paths, 1, &options, &record, &problem) < 0)
		fail_msg("%s", problem.text);
}

static void next_sample(void)
{
	assert_int_equal(record_next(record, &frame), 1);
}

/* Reads all samples. The last one stays. */
static void read_text(const char *text)
{
	open_text(text);
	while (record_next(record, &frame) > 0)
		;
}

#define assert_real(value, wanted) assert_true(fabs((value) - (wanted)) < 1e-9)

/* ---- intervals ----------------------------------------------------------------------------------------------- */

static void the_interval_is_the_median_of_the_steps(void **state)
{
	(void)state;
	read_text("{\"timestamp\":10}\n");
	assert_true(isnan(record_interval_secs(record)));
	assert_real(record_lead_in_secs(record), 0);
	read_text("{\"timestamp\":10}\n{\"timestamp\":13}\n{\"timestamp\":14}\n{\"timestamp\":16}\n");
	assert_real(record_interval_secs(record), 2);
	assert_real(record_lead_in_secs(record), 2);
	/* The recorder's own word counts more. */
	read_text("{\"timestamp\":10,\"run_start\":{\"interval_secs\":5}}\n{\"timestamp\":13}\n");
	assert_real(record_interval_secs(record), 5);
	/* Each run has steps of its own. */
	read_text("{\"timestamp\":10,\"sample\":0}\n{\"timestamp\":90,\"sample\":1}\n{\"timestamp\":91,"
		  "\"sample\":2}\n"
		  "{\"timestamp\":95,\"sample\":0}\n{\"timestamp\":98,\"sample\":1}\n");
	assert_real(record_interval_secs(record), 3);
	assert_int_equal(record_run(record), 2);
}

/* The first thousand steps of a long run tell its interval. */
static void a_thousand_steps_tell_the_interval(void **state)
{
	struct buffer text = BUFFER(1 << 20);
	int now = 10;

	(void)state;
	buffer_printf(&text, "{\"timestamp\":%d}\n", now);
	for (int i = 0; i < 3000; i++)
		buffer_printf(&text, "{\"timestamp\":%d}\n", now += i < 499 ? 1 : i < 1000 ? 2 : 7);
	read_text(text.data);
	assert_real(record_interval_secs(record), 2);
	buffer_done(&text);
}

static void the_first_sample_may_have_a_shorter_interval(void **state)
{
	(void)state;
	read_text("{\"timestamp\":10,\"actual_interval_ms\":890,\"run_start\":{\"interval_secs\":1}}\n");
	assert_real(record_lead_in_secs(record), 0.89);
	read_text("{\"timestamp\":10,\"actual_interval_ms\":900,\"run_start\":{\"interval_secs\":1}}\n");
	assert_real(record_lead_in_secs(record), 1);
	/* Its interval alone is known. */
	read_text("{\"timestamp\":10,\"actual_interval_ms\":900}\n");
	assert_real(record_lead_in_secs(record), 0.9);
}

/* The machine used 2 cores for 3 s + 5 s of CPU time. */
static void two_samples_have_the_interval_of_the_cpu_time(void **state)
{
#define CPU "\"cpu\":{\"utilization_pct\":2.0,\"utime_secs\":3,\"stime_secs\":5}"
	(void)state;
	read_text("{\"timestamp\":10," CPU "}\n{\"timestamp\":11," CPU "}\n");
	assert_real(record_interval_secs(record), 4);
	/* A step that is longer is the interval, and so is one of several. */
	read_text("{\"timestamp\":10," CPU "}\n{\"timestamp\":15," CPU "}\n");
	assert_real(record_interval_secs(record), 5);
	read_text("{\"timestamp\":10," CPU "}\n{\"timestamp\":11," CPU "}\n{\"timestamp\":12," CPU "}\n");
	assert_real(record_interval_secs(record), 1);
	/* An idle machine tells nothing. */
	read_text("{\"timestamp\":10,\"cpu\":{\"utilization_pct\":0,\"utime_secs\":3,\"stime_secs\":5}}\n"
		  "{\"timestamp\":11}\n");
	assert_real(record_interval_secs(record), 1);
}

/* ---- times --------------------------------------------------------------------------------------------------- */

static void times_that_are_missing_follow_from_the_others(void **state)
{
	(void)state;
	open_text("{\"timestamp\":10.75}\n{\"timestamp_secs\":12}\n{\"timestamp\":11}\n{\"timestamp\":14,"
		  "\"elapsed_secs\":9}\n"
		  "{\"timestamp\":15}\n");
	next_sample();
	assert_int_equal(frame->sample->timestamp_secs, 10);
	assert_int_equal(frame->sample->sample, 0);
	next_sample();
	assert_real(frame->sample->timestamp, 12);
	assert_real(frame->sample->elapsed_secs, 1.25);
	assert_real(frame->sample->actual_interval_ms, 1250);
	assert_int_equal(frame->sample->sample, 1);
	/* The clock was set back: the step before is taken again. */
	next_sample();
	assert_real(frame->sample->elapsed_secs, 2.5);
	assert_int_equal(record_damage(record).clock_steps, 1);
	next_sample();
	assert_real(frame->sample->elapsed_secs, 9);
	assert_real(frame->sample->actual_interval_ms, 3000);
	next_sample();
	assert_real(frame->sample->elapsed_secs, 10);
	/* Without a step before it, there is none. */
	read_text("{\"timestamp\":10}\n{\"timestamp\":5}\n");
	assert_real(frame->sample->elapsed_secs, 0);
}

static void a_number_that_does_not_rise_begins_a_run(void **state)
{
	(void)state;
	open_text("{\"timestamp\":10,\"sample\":3}\n{\"timestamp\":11,\"sample\":4}\n{\"timestamp\":12,"
		  "\"sample\":4}\n"
		  "{\"timestamp\":13}\n{\"timestamp\":14,\"sample\":0}\n");
	for (size_t i = 0; i < 5; i++) {
		static const size_t RUNS[] = {1, 1, 2, 2, 3};

		next_sample();
		assert_int_equal(record_run(record), RUNS[i]);
	}
}

/* Rows of CSV have no number. */
static void another_process_begins_a_run_of_csv(void **state)
{
	(void)state;
	read_text("timestamp,pid,children\n10,7,1\n11,7,1\n12,8,1\n13,8,1\n");
	assert_int_equal(record_run(record), 2);
	/* Headers of files that were joined are not samples, in quotes or without. */
	read_text("\"timestamp\",\"pid\",\"children\"\n10,7,1\n\"timestamp\",\"pid\",\"children\"\n11,7,1\n"
		  "timestamp,pid,children\n12,7,2\n");
	assert_int_equal(record_damage(record).bad_lines, 0);
	assert_int_equal(record_run(record), 1);
	/* The end stays the end. */
	assert_int_equal(record_next(record, &frame), 0);
	assert_int_equal(record_next(record, &frame), 0);
}

/* Recorders may repeat them. */
static void the_first_end_of_a_run_counts(void **state)
{
	(void)state;
	read_text("{\"timestamp\":10,\"sample\":0,\"run_end\":{\"reason\":\"exit\"}}\n"
		  "{\"timestamp\":11,\"sample\":1,\"run_end\":{\"reason\":\"signal\"}}\n");
	assert_string_equal(FIRST(record_identity(record), run_end)->reason, "exit");
	read_text("{\"timestamp\":10,\"sample\":0,\"run_end\":{\"reason\":\"exit\"}}\n"
		  "{\"timestamp\":11,\"sample\":0}\n");
	assert_null(FIRST(record_identity(record), run_end));
}

static void hosts_are_counted_once_each(void **state)
{
	struct buffer text = BUFFER(1 << 16);

	(void)state;
	for (int i = 0; i < 40; i++)
		buffer_printf(&text, "{\"timestamp\":%d,\"host\":\"%d\"}\n", i + 1, i % 3);
	read_text(text.data);
	assert_int_equal(record_damage(record).hosts, 3);
	buffer_clear(&text);
	for (int i = 0; i < 40; i++)
		buffer_printf(&text, "{\"timestamp\":%d,\"host\":\"%d\"}\n", i + 1, i);
	read_text(text.data);
	assert_int_equal(record_damage(record).hosts, 16);
	buffer_done(&text);
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static void used_memory_has_one_definition_at_least(void **state)
{
	(void)state;
	/* Older versions have the second one alone, in KiB. */
	read_text("timestamp,processes,utime,stime,cpu_usage,memory_free,memory_used\n10,5,1.5,1.5,0.5,9,"
		  "5120\n");
	assert_real(FIRST(frame, memory)->used_mib, 5);
	read_text("{\"timestamp\":10,\"memory\":{\"used_mib\":50,\"total_mib\":100,\"free_mib\":20,\"buffers_"
		  "mib\":3,"
		  "\"cached_mib\":7}}\n");
	assert_real(FIRST(frame, memory)->used_mib, 50);
	assert_real(FIRST(frame, memory)->used_less_cache_mib, 70);
}

/* Returns the tree of a sample with such members of its CPU, and this age of its shares. */
static const struct tree_row *tree_of(const char *members, double age)
{
	char text[1000];

	snprintf(text, sizeof text, "{\"timestamp\":10,\"cpu\":{%s},\"tracker\":{\"pss_age_secs\":%g}}\n",
		 members, age);
	read_text(text);
	return FIRST(frame, tree);
}

static void shares_that_are_too_old_are_forgotten(void **state)
{
	static const char OF_SHARES[] =
		"\"process_memory_mib\":9,\"process_memory_source\":\"pss\",\"process_pss_mib\":5,"
		"\"process_private_mib\":4,\"process_main_private_mib\":3,"
		"\"process_shared_mib\":2,\"process_swap_mib\":1";
	const struct tree_row *tree;

	(void)state;
	assert_real(tree_of(OF_SHARES, 10)->process_pss_mib, 5);
	tree = tree_of(OF_SHARES, 10.5);
	assert_true(real_absent(tree->process_pss_mib) && real_absent(tree->process_private_mib) &&
		    real_absent(tree->process_main_private_mib) && real_absent(tree->process_shared_mib) &&
		    real_absent(tree->process_swap_mib));
	assert_real(tree->process_memory_mib, 9);
	/* By these sources, a reading of an earlier sample is not this one's. */
	assert_true(real_absent(
		tree_of("\"process_memory_source\":\"rss\",\"process_pss_mib\":5", 0.5)->process_pss_mib));
	assert_true(real_absent(tree_of("\"process_memory_source\":\"estimate\",\"process_pss_mib\":5", 0.5)
					->process_pss_mib));
	assert_real(tree_of("\"process_memory_source\":\"rss\",\"process_pss_mib\":5", 0)->process_pss_mib,
		    5);
	assert_real(
		tree_of("\"process_memory_source\":\"sampled\",\"process_pss_mib\":5", 0.5)->process_pss_mib,
		5);
}

static void shares_are_the_memory_of_other_recorders(void **state)
{
	const struct tree_row *tree;

	(void)state;
	tree = tree_of("\"process_pss_mib\":5", 0);
	assert_real(tree->process_memory_mib, 5);
	assert_string_equal(tree->process_memory_source, "pss");
	/* It writes 0 for a process that has ended. */
	assert_true(real_absent(tree_of("\"process_pss_mib\":0", 0)->process_memory_mib));
	assert_real(tree_of("\"process_pss_mib\":5,\"process_memory_mib\":6", 0)->process_memory_mib, 6);
	assert_true(real_absent(tree_of("\"process_pss_mib\":5,\"process_memory_source\":\"cgroup\"", 0)
					->process_memory_mib));
}

static void sources_of_memory_have_a_measure_and_words(void **state)
{
	(void)state;
	assert_int_equal(memory_measure("pss"), MEASURE_ONCE);
	assert_int_equal(memory_measure("bound"), MEASURE_BOUND);
	assert_int_equal(memory_measure("rss"), MEASURE_EACH_PROCESS);
	assert_int_equal(memory_measure("machine"), MEASURE_MACHINE);
	assert_int_equal(memory_measure("later"), MEASURE_UNKNOWN);
	assert_int_equal(memory_measure(no_text(ABSENT_NOT_GIVEN)), MEASURE_UNKNOWN);
	assert_string_equal(memory_measure_in_words(MEASURE_BOUND), "an upper bound");
	assert_string_equal(memory_source_in_words("machine"), "the peak is that of the whole machine");
	assert_string_equal(memory_source_in_words("pss"), "the peak counts shared pages once");
	assert_string_equal(memory_source_in_words("later"), "later");
	assert_null(memory_source_in_words(NULL));
}

/* ---- the scheduler ------------------------------------------------------------------------------------------- */

static void read_scheduler(const char *members)
{
	char text[1000];

	snprintf(text, sizeof text,
		 "{\"timestamp\":10,\"run_start\":{\"interval_secs\":1,\"scheduler\":{%s}}}\n", members);
	read_text(text);
}

static double number_of(const char *name, const char *value)
{
	char members[100];

	snprintf(members, sizeof members, "\"other\":\"3\",\"%s\":\"%s\"", name, value);
	read_scheduler(members);
	return record_scheduler_number(record_identity(record), name);
}

static void numbers_of_the_scheduler_are_plausible(void **state)
{
	(void)state;
	assert_real(number_of("CPUS", "2.5"), 2.5);
	assert_real(number_of("CPUS", "100000000"), 1e8);
	assert_true(isnan(number_of("CPUS", "100000001")));
	assert_true(isnan(number_of("CPUS", "0")));
	assert_true(isnan(number_of("CPUS", "-1")));
	assert_true(isnan(number_of("CPUS", "2x")));
	assert_true(isnan(number_of("CPUS", "")));
	assert_real(number_of("A_MEM", "4294967296"), 4294967296.0);
	assert_true(isnan(number_of("A_MEM", "4294967297")));
	assert_true(isnan(record_scheduler_number(record_identity(record), "ABSENT")));
	assert_null(record_scheduler_value(record_identity(record), "ABSENT"));
}

static void memory_is_asked_by_the_node_or_by_the_cpu(void **state)
{
	(void)state;
	read_scheduler("\"SLURM_MEM_PER_CPU\":\"100\"");
	assert_real(record_scheduler_memory_mib(record_identity(record), 4), 400);
	assert_true(isnan(record_scheduler_memory_mib(record_identity(record), 1e8)));
	assert_true(isnan(record_scheduler_memory_mib(record_identity(record), NAN)));
	read_scheduler("\"SLURM_MEM_PER_CPU\":\"100\",\"SLURM_MEM_PER_NODE\":\"300\"");
	assert_real(record_scheduler_memory_mib(record_identity(record), 4), 300);
}

/* ---- files --------------------------------------------------------------------------------------------------- */

static void all_files_must_be_there(void **state)
{
	const char *const paths[] = {"run", "absent"};
	struct record_options options = {0};
	struct rt_problem problem = {""};

	(void)state;
	put_text("run", "{\"timestamp\":10}\n");
	assert_int_equal(record_open(paths, 2, &options, &record, &problem), -ENOENT);
	assert_string_equal(problem.text, "absent: No such file or directory");
	assert_int_equal(record_open(paths, 0, &options, &record, &problem), -EINVAL);
	assert_string_equal(problem.text, "no recording was named");
	assert_null(record);
}

#define MACHINE_CSV "timestamp,processes,utime,stime,cpu_usage,memory_free\n"
#define JOB_CSV "timestamp,pid,children\n"

static void open_both(const char *second)
{
	const char *const paths[] = {"run", second};
	struct record_options options = {0};

	record_close(record);
	record = NULL;
	metric_set_add_all(&options.wanted);
	assert_int_equal(record_open(paths, 2, &options, &record, NULL), 0);
}

static int count_samples(void)
{
	int samples = 0;

	while (record_next(record, &frame) > 0)
		samples++;
	return samples;
}

static void damage_of_both_files_of_a_pair_is_counted(void **state)
{
	(void)state;
	put_text("run", MACHINE_CSV "10,5,1,1,1,9\n11,5,1,1,1,9\nx\n12,5,1,1,1,9\n");
	put_text("job", JOB_CSV "10,7,1\nx\nx\n11,7,1\n");
	open_both("job");
	assert_int_equal(count_samples(), 3);
	assert_int_equal(record_damage(record).bad_lines, 3);
	assert_int_equal(record_damage(record).first_bad_line, 4);
}

/* The interval is that of the machine, or else of the job. Without both, any two samples belong together. */
static void one_sample_has_the_interval_of_the_other_file(void **state)
{
	(void)state;
	put_text("run", MACHINE_CSV "10,5,1,1,1,9\n");
	put_text("job", JOB_CSV "500,7,1\n");
	open_both("job");
	assert_int_equal(count_samples(), 1);
	put_text("job", JOB_CSV "10.5,7,1\n11.5,7,2\n");
	open_both("job");
	assert_int_equal(count_samples(), 2);
	put_text("job", JOB_CSV "12,7,1\n13,7,2\n");
	open_both("job");
	assert_int_equal(count_samples(), 3);
	put_text("run", MACHINE_CSV "10,5,1,1,1,9\n20,5,1,1,1,9\n");
	open_both("job");
	assert_int_equal(count_samples(), 2);
	/* Samples that are a whole interval apart stand alone, and the earlier one comes first. */
	put_text("job", JOB_CSV "20,7,1\n30,7,2\n");
	open_both("job");
	assert_int_equal(count_samples(), 3);
	put_text("run", MACHINE_CSV "10,5,1,1,1,9\n10.5,5,1,1,1,9\n");
	put_text("job", JOB_CSV "11.125,7,1\n");
	open_both("job");
	next_sample();
	assert_real(frame->sample->timestamp, 10);
	assert_true(count_absent(frame->sample->tracked_pid));
	assert_int_equal(count_samples(), 2);
	/* An interval of 0 says nothing. */
	put_text("run", MACHINE_CSV "10,5,1,1,1,9\n10,5,1,1,1,9\n");
	open_both("job");
	next_sample();
	assert_int_equal(frame->sample->tracked_pid, 7);
	assert_int_equal(FIRST(frame, tree)->process_child_count, 1);
	assert_int_equal(count_samples(), 1);
}

/* A pipe is read behind the first file, whatever it holds. */
static void standard_input_is_never_read_side_by_side(void **state)
{
	int kept = dup(STDIN_FILENO), fd, samples = 0;

	(void)state;
	put_text("run", MACHINE_CSV "10,5,1,1,1,9\n11,5,1,1,1,9\n");
	put_text("job", JOB_CSV "10,7,1\n11,7,1\n");
	fd = open("job", O_RDONLY | O_CLOEXEC);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
	open_both("-");
	samples = count_samples();
	dup2(kept, STDIN_FILENO);
	close(kept);
	assert_int_equal(samples, 4);
}

static void assert_refused(const char *bytes, size_t length, const char *wanted)
{
	const char *const paths[] = {"run"};
	struct record_options options = {0};
	struct rt_problem problem = {""};

	put_file("run", bytes, length);
	assert_int_equal(record_open(paths, 1, &options, &record, &problem), -EBADMSG);
	if (!strstr(problem.text, wanted))
		fail_msg("%s", problem.text);
}

static void files_of_other_programs_are_named(void **state)
{
	(void)state;
	assert_refused("SQLite format 3", 16, "run: an SQLite file");
	assert_refused("ram_unit,gpu_ram_unit\n", 22, "run: a tracking file of gpu_tracker");
	assert_refused("a\nram_unit,\n", 12, "run: not a recording");
	assert_refused("a;b\n", 4, "separated by semicolons");
	assert_refused("{\0", 2, "UTF-16");
	assert_refused("[\0a\0", 4, "UTF-16");
	/* One that has only begun is a recording. */
	open_text("{");
	assert_int_equal(record_next(record, &frame), 0);
	assert_int_equal(record_damage(record).torn_tails, 1);
}

/* One sample a line: brackets and commas may stand around it, or alone. */
static void a_list_of_samples_is_read_line_by_line(void **state)
{
	static const char *const LISTS[] = {
		"[{\"timestamp\":1},\n{\"timestamp\":2},\n{\"timestamp\":3}]\n",
		"[\n{\"timestamp\":1},\n {\"timestamp\":2} ,\n{\"timestamp\":3}\n]\n",
		"[ {\"timestamp\":1}\n, {\"timestamp\":2}\n,{\"timestamp\":3} ]\n",
		"\n\n[\n\n{\"timestamp\":1},\n{\"timestamp\":2}\n,\n{\"timestamp\":3},],\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
		open_text(LISTS[i]);
		assert_int_equal(count_samples(), 3);
		assert_int_equal(record_damage(record).bad_lines, 0);
		assert_int_equal(record_damage(record).torn_tails, 0);
	}
}

static void ignore_damage(const char *path)
{
	(void)path;
}

/* Damage that is told to the user does not count as a torn tail. */
static void wrong_bytes_are_not_a_torn_tail(void **state)
{
	gzFile file = gzopen("whole", "wb");
	size_t length;
	char *bytes;

	(void)state;
	assert_true(gzputs(file, "{\"timestamp\":1}\n{\"timest") > 0);
	gzclose(file);
	bytes = get_file("whole", &length);
	bytes[length - 5] ^= 1;
	for (int told = 0; told < 2; told++) {
		const char *const paths[] = {"damaged"};
		struct record_options options = {0};

		source_on_damage(told ? ignore_damage : NULL);
		put_file("damaged", bytes, length);
		record_close(record);
		record = NULL;
		assert_int_equal(record_open(paths, 1, &options, &record, NULL), 0);
		assert_int_equal(count_samples(), 1);
		assert_int_equal(record_damage(record).torn_tails, !told);
	}
	source_on_damage(NULL);
	free(bytes);
}

static void only_json_has_a_line(void **state)
{
	struct scan line;

	(void)state;
	open_text("{\"timestamp\":10}\n");
	next_sample();
	line = record_line(record);
	assert_true(scan_is(&line, "{\"timestamp\":10}"));
	open_text("timestamp,pid,children\n10,7,1\n");
	next_sample();
	line = record_line(record);
	assert_int_equal(scan_left(&line), 0);
}

#define RUN_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_enter, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(the_interval_is_the_median_of_the_steps),
		RUN_TEST(a_thousand_steps_tell_the_interval),
		RUN_TEST(the_first_sample_may_have_a_shorter_interval),
		RUN_TEST(two_samples_have_the_interval_of_the_cpu_time),
		RUN_TEST(times_that_are_missing_follow_from_the_others),
		RUN_TEST(a_number_that_does_not_rise_begins_a_run),
		RUN_TEST(another_process_begins_a_run_of_csv),
		RUN_TEST(the_first_end_of_a_run_counts),
		RUN_TEST(hosts_are_counted_once_each),
		RUN_TEST(used_memory_has_one_definition_at_least),
		RUN_TEST(shares_that_are_too_old_are_forgotten),
		RUN_TEST(shares_are_the_memory_of_other_recorders),
		RUN_TEST(sources_of_memory_have_a_measure_and_words),
		RUN_TEST(numbers_of_the_scheduler_are_plausible),
		RUN_TEST(memory_is_asked_by_the_node_or_by_the_cpu),
		RUN_TEST(all_files_must_be_there),
		RUN_TEST(damage_of_both_files_of_a_pair_is_counted),
		RUN_TEST(standard_input_is_never_read_side_by_side),
		RUN_TEST(one_sample_has_the_interval_of_the_other_file),
		RUN_TEST(files_of_other_programs_are_named),
		RUN_TEST(a_list_of_samples_is_read_line_by_line),
		RUN_TEST(wrong_bytes_are_not_a_torn_tail),
		RUN_TEST(only_json_has_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
