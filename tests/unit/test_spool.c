/* Tests of src/stream/spool.c and spool_state.c. */
#include "scratch.h"

#include <errno.h>
#include <time.h>

#include "metric/typed_rows.h"
#include "stream/spool.h"

static struct spool_state some_state(void)
{
	return (struct spool_state){
		.recording = strdup("/a \"b\"\n"),
		.disposable = true,
		.begin = 5,
		.offset = 500,
		.rows = 9,
		.cut = 3,
		.sent = 2,
		.objects = 2,
		.run_id = strdup("r-1"),
		.uri_prefix = strdup("s3://b/p"),
		.outcome = {true, true, true, 3, 1775044800},
	};
}

static void a_state_survives_the_disk(void **state)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(10000), again = BUFFER(10000);
	struct spool_state before = some_state(), after;

	(void)state;
	spool_state_format(&before, &text);
	assert_int_equal(spool_state_parse(text.data, text.length, &after), 0);
	assert_string_equal(after.recording, before.recording);
	assert_null(after.payload);
	assert_int_equal(after.outcome.exit_code, 3);
	spool_state_format(&after, &again);
	assert_string_equal(text.data, again.data);
	/* A state that is cut anywhere is refused. */
	for (size_t length = 0; length + 2 < text.length; length++)
		assert_int_equal(spool_state_parse(text.data, length, &after), -EBADMSG);
	spool_state_done(&before);
	spool_state_done(&after);
}

static void states_that_contradict_themselves(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++) {
		CLEANUP_BUFFER struct buffer text = BUFFER(10000);
		struct spool_state bad = some_state(), after;

		switch (i) {
		case 0:
			bad.offset = 4;
			break;
		case 1:
			bad.sent = 4;
			break;
		case 2:
			bad.objects = 3;
			break;
		case 3:
			bad.begin = -1;
			break;
		case 4:
			free(bad.run_id);
			bad.run_id = NULL;
			break;
		case 5:
			bad.rows = -1;
			break;
		case 6:
			bad.rows_lost = -1;
			break;
		case 7:
			bad.objects = -1;
			break;
		case 8:
			bad.cut = bad.sent - 1;
			break;
		case 9:
			free(bad.uri_prefix);
			bad.uri_prefix = NULL;
			break;
		case 10:
			bad.log_batch = -1;
			break;
		case 11:
			bad.log_batch = bad.cut + 1;
			break;
		case 12:
			bad.points_refused = -1;
			break;
		case 13:
			bad.series = strdup("no series");
			break;
		case 14: /* neither registered, nor with what registers it, nor at its end */
			free(bad.run_id);
			free(bad.uri_prefix);
			bad.run_id = bad.uri_prefix = NULL;
			break;
		default:
			free(bad.recording);
			bad.recording = NULL;
			break;
		}
		spool_state_format(&bad, &text);
		assert_int_equal(spool_state_parse(text.data, text.length, &after), -EBADMSG);
		spool_state_done(&bad);
	}
}

/* The least and the most that each number may be, and the three ways to be without a run_id. */
static void states_at_their_limits(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		CLEANUP_BUFFER struct buffer text = BUFFER(10000);
		struct spool_state good = some_state(), after;

		good.offset = good.begin;
		good.objects = good.sent = good.log_batch = good.cut;
		if (i) {
			free(good.run_id);
			free(good.uri_prefix);
			good.run_id = good.uri_prefix = NULL;
			good.begin = good.offset = good.rows = good.cut = good.sent = 0;
			good.objects = good.log_batch = 0;
			good.payload = i == 1 ? strdup("{}") : NULL;
			good.finished = i > 1;
			good.of_run = i > 2 ? strdup("another") : NULL;
		}
		spool_state_format(&good, &text);
		assert_int_equal(spool_state_parse(text.data, text.length, &after), 0);
		assert_int_equal(after.objects, good.objects);
		assert_int_equal(after.finished, good.finished);
		assert_int_equal(after.log_batch, good.log_batch);
		spool_state_done(&good);
		spool_state_done(&after);
	}
}

/* Replaces a part of a state's text, and returns what the parser says of it. */
static int parse_changed(const char *old, const char *new, struct spool_state *ret_state)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(10000), changed = BUFFER(10000);
	struct spool_state before = some_state();
	const char *at;

	spool_state_format(&before, &text);
	spool_state_done(&before);
	at = strstr(text.data, old);
	assert_non_null(at);
	buffer_add(&changed, text.data, (size_t)(at - text.data));
	buffer_add_text(&changed, new);
	buffer_add_text(&changed, at + strlen(old));
	return spool_state_parse(changed.data, changed.length, ret_state);
}

static void members_have_their_types(void **state)
{
	static const char *const CHANGES[][2] = {
		{"\"version\":1", "\"version\":2"},
		{"\"rows\":9", "\"rows\":9.0"},
		{"\"rows\":9", "\"rows\":\"9\""},
		{"\"rows\":9,", ""},
		{"\"run_id\":\"r-1\"", "\"run_id\":1"},
		{"\"finished\":false", "\"finished\":0"},
		{"\"finished\":false", "\"finished\":null"},
		{"\"finished\":false,", ""},
		{"\"points_refused\":0", "\"points_refused\":null"},
		{"\"part\":null", "\"part\":1"},
	};
	struct spool_state after;

	(void)state;
	for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++)
		assert_int_equal(parse_changed(CHANGES[i][0], CHANGES[i][1], &after), -EBADMSG);
	/* Earlier versions knew nothing of parts and of OTLP. */
	assert_int_equal(parse_changed("\"part\":null,\"of_run\":null,", "", &after), 0);
	assert_null(after.part);
	spool_state_done(&after);
	assert_int_equal(parse_changed(",\"series\":null,\"log_batch\":0,\"points_refused\":0", "", &after),
			 0);
	assert_int_equal(after.log_batch, 0);
	assert_string_equal(after.uri_prefix, "s3://b/p");
	spool_state_done(&after);
}

static void a_folder_of_our_own(void **state)
{
	struct spool spool;
	struct stat status;

	(void)state;
	assert_int_equal(spool_open(&spool, "a/b/c"), 0);
	assert_int_equal(stat("a/b", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	spool_close(&spool);
	assert_int_equal(setenv("XDG_STATE_HOME", scratch_folder, 1), 0);
	assert_int_equal(spool_open(&spool, NULL), 0);
	assert_non_null(strstr(spool.folder, "/resource-tracker/spool"));
	spool_close(&spool);
	put_file("plain", "x", 1);
	assert_int_equal(spool_open(&spool, "plain/x"), -ENOTDIR);
}

static void one_process_at_a_time(void **state)
{
	struct spool first, second;

	(void)state;
	assert_int_equal(spool_open(&first, "spool"), 0);
	assert_int_equal(spool_open(&second, "spool"), 0);
	assert_int_equal(spool_lock(&first, "run"), 0);
	assert_int_equal(spool_lock(&second, "run"), -EBUSY);
	assert_int_equal(spool_lock(&second, "other"), 0);
	/* A name that leads elsewhere locks nothing. */
	assert_int_equal(symlink("elsewhere", "spool/link.lock"), 0);
	assert_int_equal(spool_lock(&second, "link"), -ELOOP);
	assert_int_equal(symlink("elsewhere", "spool/link.state"), 0);
	assert_int_equal(spool_read(&second), -ELOOP);
	assert_int_equal(mkdir("spool/link.new", 0700), 0);
	assert_int_equal(spool_write(&second), -EISDIR);
	assert_int_equal(access("elsewhere", F_OK), -1);
	spool_close(&first);
	assert_int_equal(spool_open(&first, "spool"), 0);
	assert_int_equal(spool_lock(&first, "run"), 0);
	spool_close(&first);
	spool_close(&second);
}

static int count_names(const char *name, void *context)
{
	(void)name;
	++*(int *)context;
	return 0;
}

static void batches_and_states(void **state)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0);
	struct spool spool;
	struct stat status;
	int names = 0;

	(void)state;
	assert_int_equal(spool_open(&spool, "spool"), 0);
	spool.batch_ending = ".csv";
	assert_int_equal(spool_lock(&spool, "run"), 0);
	assert_int_equal(spool_read(&spool), -ENOENT);
	spool_state_done(&spool.state);
	spool.state = some_state();
	assert_int_equal(spool_write_batch(&spool, "hello", 5), 0);
	assert_int_equal(spool_write(&spool), 0);
	assert_int_equal(stat("spool/run.000003.csv.gz", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(stat("spool/run.state", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(spool_batch_bytes(&spool), 5);
	assert_int_equal(spool_read_batch(&spool, 3, &bytes), 0);
	assert_int_equal(bytes.length, 5);
	assert_memory_equal(bytes.data, "hello", 5);
	assert_int_equal(spool_read_batch(&spool, 4, &bytes), -ENOENT);
	assert_int_equal(spool_read(&spool), 0);
	assert_int_equal(spool.state.cut, 3);
	assert_int_equal(spool_each(&spool, SPOOL_STATE_SUFFIX, count_names, &names), 0);
	assert_int_equal(names, 1);
	put_file("spool/run.state", "{\"version\":1", 12);
	assert_int_equal(spool_read(&spool), -EBADMSG);
	/* The earlier state stays. */
	assert_string_equal(spool.state.run_id, "r-1");
	spool_unlink_batch(&spool, 3);
	spool_remove(&spool, true);
	spool_close(&spool);
	assert_int_equal(rmdir("spool"), 0);
}

/* Writes the state of a run, last touched so many days ago. */
static void put_state(struct spool *spool, const char *name, bool finished, const char *recording, int days)
{
	CLEANUP_BUFFER struct buffer path = BUFFER(200);
	struct timespec times[2] = {{.tv_sec = time(NULL) - days * 86400L},
				    {.tv_sec = time(NULL) - days * 86400L}};

	snprintf(spool->name, sizeof spool->name, "%s", name);
	spool_state_done(&spool->state);
	spool->state = some_state();
	spool->state.finished = finished;
	free(spool->state.recording);
	spool->state.recording = strdup(recording);
	assert_int_equal(spool_write(spool), 0);
	buffer_printf(&path, "spool/%s.state", name);
	assert_int_equal(utimensat(AT_FDCWD, path.data, times, 0), 0);
}

/* Only a run that is sent to its end and whose recording has gone is forgotten, and that only after a month. */
static void old_states_are_forgotten(void **state)
{
	struct spool spool;

	(void)state;
	assert_int_equal(spool_open(&spool, "spool"), 0);
	put_text("here", "");
	put_state(&spool, "sent", true, "/none/r.jsonl", 31);
	put_state(&spool, "recent", true, "/none/r.jsonl", 29);
	put_state(&spool, "unsent", false, "/none/r.jsonl", 400);
	put_state(&spool, "recorded", true, "here", 400);
	put_state(&spool, "hidden", true, "here/r.jsonl", 400); /* another error than "no such file" */
	put_text("spool/damaged.state", "{");
	spool_forget_old(&spool);
	assert_false(spool_has_state(&spool, "sent"));
	assert_true(spool_has_state(&spool, "recent"));
	assert_true(spool_has_state(&spool, "unsent"));
	assert_true(spool_has_state(&spool, "recorded"));
	assert_true(spool_has_state(&spool, "hidden"));
	assert_true(spool_has_state(&spool, "damaged"));
	spool_close(&spool);
}

/* A larger state than one read takes, and a name that leads nowhere else. */
static void files_of_any_size_are_read_whole(void **state)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0), long_text = BUFFER(100000);
	struct spool spool;

	(void)state;
	for (int i = 0; i < 40000; i++)
		buffer_add_char(&long_text, (char)('a' + i % 26));
	assert_int_equal(spool_open(&spool, "spool"), 0);
	spool.batch_ending = ".csv";
	assert_int_equal(spool_lock(&spool, "run"), 0);
	spool.state = some_state();
	free(spool.state.uri_prefix);
	spool.state.uri_prefix = strdup(long_text.data);
	assert_int_equal(spool_write(&spool), 0);
	assert_int_equal(spool_write_batch(&spool, long_text.data, long_text.length), 0);
	assert_int_equal(spool_read(&spool), 0);
	assert_string_equal(spool.state.uri_prefix, long_text.data);
	assert_int_equal(spool_read_batch(&spool, 3, &bytes), 0);
	assert_int_equal(bytes.length, 40000);
	assert_memory_equal(bytes.data, long_text.data, 40000);
	assert_int_equal(symlink("run.000003.csv.gz", "spool/run.000004.csv.gz"), 0);
	assert_int_equal(spool_read_batch(&spool, 4, &bytes), -ELOOP);
	/* A failed write leaves nothing behind. */
	assert_int_equal(mkdir("spool/folder", 0700), 0);
	assert_int_equal(unlink("spool/run.state"), 0);
	assert_int_equal(rename("spool/folder", "spool/run.state"), 0);
	assert_int_equal(spool_write(&spool), -EISDIR);
	assert_int_equal(access("spool/run.new", F_OK), -1);
	assert_int_equal(errno, ENOENT);
	/* Batches of all runs count, states do not. */
	put_text("spool/other.000000.otlp.gz", "12345");
	assert_int_equal(unlink("spool/run.000004.csv.gz"), 0);
	assert_int_equal(spool_batch_bytes(&spool), 40005);
	spool_close(&spool);
}

static int fail_at_second(const char *name, void *context)
{
	(void)name;
	return ++*(int *)context == 2 ? -EIO : 0;
}

static void each_name_with_the_ending_is_visited(void **state)
{
	struct spool spool;
	char path[300];
	int names = 0;

	(void)state;
	assert_int_equal(spool_open(&spool, "spool"), 0);
	put_text("spool/.state", "");
	put_text("spool/a.state", "");
	put_text("spool/b.state", "");
	put_text("spool/c.state", "");
	put_text("spool/a.state.new", "");
	/* Longer than the name of any run. */
	memset(path, 'x', sizeof path);
	memcpy(path, "spool/", 6);
	strcpy(path + 6 + SPOOL_NAME_SIZE, ".state");
	put_text(path, "");
	assert_int_equal(spool_each(&spool, ".state", count_names, &names), 0);
	assert_int_equal(names, 3);
	names = 0;
	assert_int_equal(spool_each(&spool, ".state", fail_at_second, &names), -EIO);
	assert_int_equal(names, 2);
	spool_close(&spool);
}

static void names_of_runs(void **state)
{
	char name[SPOOL_NAME_SIZE];
	struct frame frame = {0};

	(void)state;
	frame_begin(&frame, 0, 0);
	spool_name(&frame, "", name);
	assert_string_equal(name, "host-19700101T000000.000000Z-0");
	frame.sample->host = "../we ird.host";
	frame.sample->timestamp = 1775044800.123456;
	frame.sample->tracked_pid = 77;
	spool_name(&frame, "", name);
	assert_string_equal(name, "___we_ird_host-20260401T120000.123456Z-77");
	spool_name(&frame, ".otlp", name);
	assert_string_equal(name, "___we_ird_host-20260401T120000.123456Z-77.otlp");
	frame.sample->host = "AZ-az09@[`{/:";
	frame.sample->timestamp = 1775044800.9999996; /* rounds into the next second */
	spool_name(&frame, "", name);
	assert_string_equal(name, "AZ-az09______-20260401T120001.000000Z-77");
	/* A name of 64 characters at most, and no time that is none. */
	frame.sample->host = "0123456789012345678901234567890123456789012345678901234567890123456789";
	frame.sample->timestamp = 1e12;
	spool_name(&frame, "", name);
	assert_string_equal(name, "0123456789012345678901234567890123456789012345678901234567890123-"
				  "19700101T000000.000000Z-77");
	frame_done(&frame);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_survives_the_disk),
		cmocka_unit_test(states_that_contradict_themselves),
		cmocka_unit_test(states_at_their_limits),
		cmocka_unit_test(members_have_their_types),
		unit_test_in_scratch(files_of_any_size_are_read_whole),
		unit_test_in_scratch(each_name_with_the_ending_is_visited),
		cmocka_unit_test_setup_teardown(a_folder_of_our_own, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(one_process_at_a_time, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(batches_and_states, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(old_states_are_forgotten, scratch_enter, scratch_leave),
		cmocka_unit_test(names_of_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
