/* Tests of src/sink/file_target.c on files; its streams are in test_file_target_stream.c. */
#include "small_disk.h"

#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sink/file_target.h"

static const struct target_options JSON = {.text = LINES_JSON};
static const struct target_options JSON_APPEND = {.append = true, .text = LINES_JSON};

static char message[512];

static struct target *open_target(const char *path, const struct target_options *options)
{
	struct target *target = NULL;

	message[0] = '\0';
	if (target_open(path, options, &target, message, sizeof message) < 0)
		fail_msg("%s", message);
	return target;
}

#define BEFORE_NUMBER "{\"timestamp_secs\":"
#define BEFORE_PAD ",\"resource-tracker-version\":\""
#define NUMBERED(number, pad) BEFORE_NUMBER number BEFORE_PAD pad "\"}\n"

/* A record that is known as ours, with a number and `pad` zeros. */
static int write_numbered(struct target *target, int number, int pad)
{
	char *record = NULL;
	int length = asprintf(&record, NUMBERED("%d", "%0*d"), number, pad, 0), r;

	assert_true(length > 0);
	r = target_write(target, record, (size_t)length);
	free(record);
	return r;
}

/*
 * Checks that every line is one whole numbered record, and stores the numbers in `ret_numbers`. Returns how
 * many there are.
 */
static size_t check_lines(const char *path, int *ret_numbers, size_t capacity)
{
	size_t length, count = 0;
	char *text = get_file(path, &length), *line = text, *newline;

	for (; (newline = memchr(line, '\n', (size_t)(text + length - line))); line = newline + 1) {
		int number = 0, used = 0;

		*newline = '\0';
		assert_memory_equal(line, BEFORE_NUMBER, strlen(BEFORE_NUMBER));
		for (used = (int)strlen(BEFORE_NUMBER); line[used] >= '0' && line[used] <= '9'; used++)
			number = number * 10 + (line[used] - '0');
		assert_memory_equal(line + used, BEFORE_PAD, strlen(BEFORE_PAD));
		used += (int)strlen(BEFORE_PAD);
		used += (int)strspn(line + used, "0");
		assert_string_equal(line + used, "\"}");
		assert_true(count < capacity);
		ret_numbers[count++] = number;
	}
	assert_int_equal(line - text, length);
	free(text);
	return count;
}

static void assert_numbers(const char *path, int first, int last)
{
	int numbers[4096];
	size_t count = check_lines(path, numbers, 4096);

	assert_int_equal(count, last - first + 1);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(numbers[i], first + (int)i);
}

static void one_record_is_one_write(void **state)
{
	struct target *target = open_target("run.jsonl", &JSON);
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	(void)state;
	assert_true(inotify_add_watch(watch, "run.jsonl", IN_MODIFY) >= 0);
	for (int i = 0; i < 10; i++) {
		_Alignas(struct inotify_event) char events[256];

		assert_int_equal(write_numbered(target, i, 5000), 0);
		assert_int_equal(read(watch, events, sizeof events), sizeof(struct inotify_event));
	}
	assert_int_equal(target_status(target).state, TARGET_OK);
	assert_false(target_take_warning(target, message, sizeof message));
	target_close(target, 0);
	close(watch);
	assert_numbers("run.jsonl", 0, 9);
}

static void opening_reports_the_state_of_the_file(void **state)
{
	struct target *target;

	(void)state;
	put_text("run.jsonl", NUMBERED("1", "0") "{\"n\":2,\"p");
	target = open_target("run.jsonl", &JSON_APPEND);
	assert_true(target_had_content(target));
	assert_int_equal(target_opening(target)->repair.cut_bytes, 9);
	assert_int_equal(write_numbered(target, 2, 1), 0);
	target_close(target, 0);
	assert_numbers("run.jsonl", 1, 2);
	put_text("run.jsonl", "{\"timestamp_secs\":1700000000,\"resource-tracker-version\":\"0.1.0\"}\n");
	target = open_target("run.jsonl", &JSON);
	assert_false(target_had_content(target));
	assert_int_equal(target_opening(target)->renamed_number, 1);
	target_close(target, 0);
	assert_int_equal(target_open("no/run", &JSON, &target, message, sizeof message), -ENOENT);
}

/* A process that was forked during the recording does not block the next one. */
static void closing_unlocks_even_with_a_duplicate_descriptor(void **state)
{
	struct target *target = open_target("run.jsonl", &JSON), *second = NULL;
	pid_t helper = fork();
	int status;

	(void)state;
	if (helper == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(target_open("run.jsonl", &JSON, &second, message, sizeof message), -EBUSY);
	target_close(target, 0);
	target = open_target("run.jsonl", &JSON);
	target_close(target, 0);
	kill(helper, SIGKILL);
	assert_int_equal(waitpid(helper, &status, 0), helper);
}

static void a_full_disk_loses_nothing_that_the_ring_can_hold(void **state)
{
	struct target *target;
	struct target_status status;
	int number = 0;

	(void)state;
	require_small_disk();
	target = open_target("disk/run.jsonl", &JSON);
	while (write_numbered(target, number++, 700) == 0)
		assert_true(number * 700 < 2 * SMALL_DISK_BYTES);
	for (int i = 0; i < 20; i++)
		assert_int_equal(write_numbered(target, number++, 700), -EAGAIN);
	status = target_status(target);
	assert_int_equal(status.state, TARGET_STALLED);
	assert_int_equal(status.last_error, -ENOSPC);
	assert_int_equal(status.pending_records, 21);
	assert_int_equal(status.dropped_records, 0);
	assert_true(target_take_warning(target, message, sizeof message));
	assert_non_null(strstr(message, "disk/run.jsonl: No space left on device; samples are kept"));
	assert_false(target_take_warning(target, message, sizeof message));
	/* Only whole lines, although records do not end at page borders. */
	assert_numbers("disk/run.jsonl", 0, number - 22);

	assert_int_equal(truncate("disk/run.jsonl", 0), 0);
	assert_int_equal(write_numbered(target, number++, 700), 0);
	assert_int_equal(target_status(target).state, TARGET_OK);
	assert_numbers("disk/run.jsonl", number - 22, number - 1);
	target_close(target, 0);
}

static void the_ring_drops_the_oldest_and_counts_them(void **state)
{
	struct target_options options = {.text = LINES_JSON, .ring_ceiling_bytes = 10 * 1024};
	struct target *target;
	int numbers[256], number = 0, written;
	size_t count;

	(void)state;
	require_small_disk();
	target = open_target("disk/run.jsonl", &options);
	fill_small_disk("disk/filler", 8192);
	while (write_numbered(target, number++, 1000) == 0)
		;
	written = number - 1;
	assert_true(written > 3);
	assert_true(target_take_warning(target, message, sizeof message));
	for (; number < 100; number++)
		assert_int_equal(write_numbered(target, number, 1000), -EAGAIN);
	assert_int_equal(target_status(target).dropped_records + target_status(target).pending_records,
			 100 - (size_t)written);
	assert_false(target_take_warning(target, message, sizeof message));
	assert_numbers("disk/run.jsonl", 0, written - 1);
	assert_int_equal(unlink("disk/filler"), 0);
	assert_int_equal(target_flush(target, 0), 0);
	count = check_lines("disk/run.jsonl", numbers, 256);
	assert_int_equal(count, 100 - target_status(target).dropped_records);
	for (size_t i = (size_t)written; i < count; i++)
		assert_int_equal(numbers[i], 100 - (int)(count - i));
	target_close(target, 0);
}

enum { LONG_PAD = 3000 };

/* Fills the disk, and closes the target with a record that is longer than one line. Returns the last number in the file. */
static int close_on_full_disk(struct target *target, const char *note, int *ret_written)
{
	int numbers[256], number = 0, fd = open("disk/run.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	size_t count;

	assert_int_equal(write_numbered(target, number++, 700), 0);
	/* By another program. */
	assert_int_equal(write(fd, note, strlen(note)), (ssize_t)strlen(note));
	close(fd);
	number += *note != '\0';
	fill_small_disk("disk/filler", 8192);
	while (write_numbered(target, number, 700) == 0)
		number++;
	*ret_written = number;
	assert_int_equal(write_numbered(target, 200, LONG_PAD), -EAGAIN);
	target_close(target, 0);
	count = check_lines("disk/run.jsonl", numbers, 256);
	for (size_t i = 0; i + 1 < count; i++)
		assert_int_equal(numbers[i], (int)i);
	return numbers[count - 1];
}

static void the_newest_record_replaces_others_on_a_full_disk(void **state)
{
	struct target_options compressed = {.text = MEMBERS_JSON};
	int written, last;

	(void)state;
	require_small_disk();
	last = close_on_full_disk(open_target("disk/run.jsonl", &JSON), "", &written);
	assert_true(written > 5);
	assert_int_equal(last, 200);
	/* Without lines, the place of a record is unknown. */
	assert_int_equal(unlink("disk/filler") | unlink("disk/run.jsonl"), 0);
	last = close_on_full_disk(open_target("disk/run.jsonl", &compressed), "", &written);
	assert_int_equal(last, written - 1);
}

static void the_newest_record_replaces_nothing_where_others_write(void **state)
{
	int written, last;

	(void)state;
	require_small_disk();
	last = close_on_full_disk(open_target("disk/run.jsonl", &JSON), NUMBERED("1", "0"), &written);
	assert_int_equal(last, written - 1);
}

/*
 * A note that another program writes between two of our records survives when we truncate a part of the
 * third.
 */
/* Only one that still has a name can be written on. */
static void an_emptied_file_is_used_and_a_removed_one_is_replaced(void **state)
{
	struct target *target = open_target("run.jsonl", &JSON);

	(void)state;
	assert_int_equal(write_numbered(target, 1, 1), 0);
	assert_false(target_lost_its_name(target, true));
	assert_int_equal(truncate("run.jsonl", 0), 0);
	assert_true(target_lost_its_name(target, false));
	assert_true(target_renew(target, &JSON, message, sizeof message));
	assert_non_null(strstr(message, "was emptied by another program"));
	assert_int_equal(write_numbered(target, 2, 1), 0);
	assert_numbers("run.jsonl", 2, 2);
	assert_int_equal(truncate("run.jsonl", 0) | unlink("run.jsonl"), 0);
	assert_true(target_lost_its_name(target, true));
	assert_true(target_renew(target, &JSON, message, sizeof message));
	assert_non_null(strstr(message, "was removed or renamed"));
	assert_int_equal(write_numbered(target, 3, 1), 0);
	target_close(target, 0);
	assert_numbers("run.jsonl", 3, 3);
}

static void a_head_is_never_dropped(void **state)
{
	struct target_options options = {.text = LINES_CSV, .ring_ceiling_bytes = 1000};
	struct target *target;
	char *text;

	(void)state;
	require_small_disk();
	target = open_target("disk/run.csv", &options);
	fill_small_disk("disk/filler", 0);
	assert_int_equal(target_write_head(target, "timestamp,x\n", 12), -EAGAIN);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(target_write(target, "1.000,2\n", 8), -EAGAIN);
	assert_true(target_status(target).dropped_records > 900);
	assert_int_equal(unlink("disk/filler"), 0);
	assert_int_equal(target_write(target, "2.000,3\n", 8), 0);
	text = get_file("disk/run.csv", NULL);
	assert_memory_equal(text, "timestamp,x\n1.000,2\n", 20);
	assert_int_equal(strlen(text), 12 + 8 * (1001 - target_status(target).dropped_records));
	free(text);
	target_close(target, 0);
}

static void bytes_appended_by_others_are_never_cut(void **state)
{
	struct target *target;
	size_t length;
	char *text;
	int fd;

	(void)state;
	require_small_disk();
	target = open_target("disk/run.jsonl", &JSON);
	assert_int_equal(write_numbered(target, 0, 100), 0);
	fd = open("disk/run.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "a note\n", 7), 7);
	close(fd);
	fill_small_disk("disk/filler", 0);
	assert_int_equal(write_numbered(target, 1, 5000), -EAGAIN);
	text = get_file("disk/run.jsonl", &length);
	assert_string_equal(text + length - 7, "a note\n");
	free(text);
	target_close(target, 0);
}

/* The job's own standard error on a full disk is never truncated, and we continue where we stopped. */
static void a_shared_file_is_continued(void **state)
{
	struct target *target = NULL;
	int fd;

	(void)state;
	require_small_disk();
	fd = open("disk/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	assert_int_equal(target_from_fd(fd, "standard error", &JSON, &target, message, sizeof message), 0);
	assert_int_equal(write_numbered(target, 0, 100), 0);
	fill_small_disk("disk/filler", 0);
	assert_int_equal(write_numbered(target, 1, 5000), -EAGAIN);
	assert_int_equal(write_numbered(target, 2, 100), -EAGAIN);
	assert_int_equal(target_status(target).pending_records, 2);
	assert_int_equal(unlink("disk/filler"), 0);
	assert_int_equal(write_numbered(target, 3, 100), 0);
	assert_numbers("disk/log", 0, 3);
	target_close(target, 0);
	close(fd);
}

/* Members have no lines, so none is ended between them. */
static void expect_whole_again(const struct target_options *options, const char *between)
{
	struct target *target = NULL;
	char *text, *again;
	int fd;

	fd = open("disk/log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	assert_int_equal(target_from_fd(fd, "standard error", options, &target, message, sizeof message), 0);
	assert_int_equal(write_numbered(target, 0, 100), 0);
	fill_small_disk("disk/filler", 0);
	assert_int_equal(write_numbered(target, 1, 5000), -EAGAIN);
	assert_int_equal(unlink("disk/filler"), 0);
	assert_int_equal(write(fd, "job: working", 12), 12);
	assert_int_equal(write_numbered(target, 2, 100), 0);
	text = get_file("disk/log", NULL);
	again = strstr(text, between);
	assert_non_null(again);
	again = strchr(again + 14, '\n');
	assert_non_null(again);
	assert_memory_equal(again - 2, "\"}\n" BEFORE_NUMBER "2,", strlen(BEFORE_NUMBER) + 5);
	free(text);
	target_close(target, 0);
	close(fd);
}

static void a_shared_file_that_the_job_went_on_with_gets_the_whole_record_again(void **state)
{
	static const struct target_options MEMBERS = {.text = MEMBERS_JSON};

	(void)state;
	require_small_disk();
	expect_whole_again(&JSON, "job: working\n" BEFORE_NUMBER "1,");
	expect_whole_again(&MEMBERS, "job: working" BEFORE_NUMBER "1,");
}

static void a_size_limit_neither_kills_nor_tears(void **state)
{
	const struct rlimit limit = {10000, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
	struct target *target = open_target("run.jsonl", &JSON);
	struct rlimit before;
	int number = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	if (before.rlim_max != RLIM_INFINITY)
		skip();
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	while (write_numbered(target, number++, 700) == 0)
		assert_true(number < 100);
	assert_int_equal(target_status(target).last_error, -EFBIG);
	assert_int_equal(write_numbered(target, number++, 700), -EAGAIN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_numbers("run.jsonl", 0, number - 3);
	assert_int_equal(write_numbered(target, number++, 700), 0);
	target_close(target, 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_numbers("run.jsonl", 0, number - 1);
}

/* With "> log" instead of ">>", we share the file position with the job, whose text we must not overwrite. */
static void a_shared_position_is_respected(void **state)
{
	int fd = open("log", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	struct target *target = NULL;

	(void)state;
	assert_int_equal(
		target_from_fd(fd, "standard output", &JSON_APPEND, &target, message, sizeof message), 0);
	assert_false(target_had_content(target));
	assert_int_equal(write(fd, "job 1\n", 6), 6);
	assert_int_equal(target_write(target, "{}\n", 3), 0);
	assert_int_equal(write(fd, "job 2\n", 6), 6);
	target_close(target, 0);
	assert_int_equal(write(fd, "job 3\n", 6), 6);
	assert_file_text("log", "job 1\n{}\njob 2\njob 3\n");
	assert_int_equal(
		target_from_fd(fd, "standard output", &JSON_APPEND, &target, message, sizeof message), 0);
	assert_true(target_had_content(target));
	target_close(target, 0);
	close(fd);
}

static void a_full_device_stalls(void **state)
{
	struct target *target = open_target("/dev/full", &JSON);

	(void)state;
	assert_int_equal(write_numbered(target, 0, 10), -EAGAIN);
	assert_int_equal(target_status(target).state, TARGET_STALLED);
	assert_int_equal(target_status(target).last_error, -ENOSPC);
	assert_true(target_take_warning(target, message, sizeof message));
	target_close(target, INT64_MAX);
	target = open_target("/dev/null", &JSON);
	assert_int_equal(write_numbered(target, 0, 10), 0);
	target_close(target, 0);
}

static _Noreturn void record_until_killed(int first)
{
	struct target *target = NULL;

	if (target_open("run.jsonl", &JSON_APPEND, &target, message, sizeof message) < 0)
		_exit(1);
	for (int number = first;; number++)
		write_numbered(target, number, number % 7 * 900);
}

static void killed_at_any_moment_it_leaves_whole_lines(void **state)
{
	enum { KILLS = 200, CAPACITY = 1000000 };
	int *numbers = malloc(CAPACITY * sizeof *numbers);
	unsigned seed = 20261121;
	size_t lines = 0;

	(void)state;
	assert_non_null(numbers);
	for (int kills = 0; kills < KILLS; kills++) {
		pid_t child = fork();
		struct target *target;
		int status;

		if (child == 0)
			record_until_killed(1);
		usleep((useconds_t)(rand_r(&seed) % 3000));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		/*
		 * Opening repairs the line that the kill tore, even if it lacks only its newline, and is
		 * never locked out.
		 */
		target = open_target("run.jsonl", &JSON_APPEND);
		target_close(target, 0);
		if (kills % 20 == 19) {
			size_t count = check_lines("run.jsonl", numbers, CAPACITY);

			/* Each run has its records from the first to the last without a gap. */
			for (size_t i = 1; i < count; i++)
				assert_true(numbers[i] == 1 || numbers[i] == numbers[i - 1] + 1);
			lines += count;
			assert_int_equal(unlink("run.jsonl"), 0);
		}
	}
	assert_true(lines > KILLS);
	free(numbers);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(one_record_is_one_write),
		unit_test_in_scratch(opening_reports_the_state_of_the_file),
		unit_test_in_scratch(closing_unlocks_even_with_a_duplicate_descriptor),
		unit_test_in_scratch(an_emptied_file_is_used_and_a_removed_one_is_replaced),
		unit_test_on_small_disk(a_full_disk_loses_nothing_that_the_ring_can_hold),
		unit_test_on_small_disk(the_ring_drops_the_oldest_and_counts_them),
		unit_test_on_small_disk(the_newest_record_replaces_others_on_a_full_disk),
		unit_test_on_small_disk(the_newest_record_replaces_nothing_where_others_write),
		unit_test_on_small_disk(a_head_is_never_dropped),
		unit_test_on_small_disk(bytes_appended_by_others_are_never_cut),
		unit_test_on_small_disk(a_shared_file_is_continued),
		unit_test_on_small_disk(a_shared_file_that_the_job_went_on_with_gets_the_whole_record_again),
		unit_test_in_scratch(a_size_limit_neither_kills_nor_tears),
		unit_test_in_scratch(a_shared_position_is_respected),
		unit_test_in_scratch(a_full_device_stalls),
		unit_test_in_scratch(killed_at_any_moment_it_leaves_whole_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
