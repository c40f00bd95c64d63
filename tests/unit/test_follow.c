/*
 * Tests of src/stream/follow.c: when a follower looks, cuts and ends. The clock of the test goes on by what the follower waits for, and at
 * chosen times something happens. Nothing is sent. Followers before a server: test_upload.c.
 */
#include "captured.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "net/redacted_message.h"
#include "options/usage.h"
#include "stream/follow.h"
#include "stream/stream.h"

enum { MOST_WAITS = 500 };

/* Both processes see it. */
static struct played {
	int64_t clock_ns;
	int waits_ms[MOST_WAITS];
	int count;
	long offsets[8]; /* of the state in the spool, as look_at_state() saw it */
	int looks;
	int null_count; /* of other descriptors that lead to /dev/null, as look_at_streams() saw it */
	bool is_null[3];
} * played;

struct event {
	int64_t at_ms;
	void (*act)(void);
};

static const int64_t BEGIN_NS = 1000 * NSEC_PER_SEC;
static const struct event *events; /* in a follower, those to come */
static int closed_stream = -1;     /* in a follower, as it begins */
static int end_fd = -1;            /* of the pipe that a recorder holds */

int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	if (!events || id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, ret_time);
	*ret_time = (struct timespec){played->clock_ns / NSEC_PER_SEC, played->clock_ns % NSEC_PER_SEC};
	return 0;
}

int poll(struct pollfd *list, nfds_t count, int limit_ms)
{
	struct timespec limit = {limit_ms / 1000, limit_ms % 1000 * NSEC_PER_MSEC};

	if (events && limit_ms) {
		int64_t until_ns = played->clock_ns + limit_ms * NSEC_PER_MSEC,
			at_ns = BEGIN_NS + events->at_ms * NSEC_PER_MSEC;

		if (played->count == MOST_WAITS)
			_exit(90);
		played->waits_ms[played->count++] = limit_ms;
		if (events->act && at_ns <= until_ns) {
			played->clock_ns = at_ns;
			events->act();
			events++;
		} else {
			played->clock_ns = until_ns;
		}
		limit = (struct timespec){0};
	}
	return (int)syscall(SYS_ppoll, list, count, limit_ms < 0 ? NULL : &limit, NULL, 8);
}

static int enter(void **state)
{
	int error = capture_streams(state);

	closed_stream = -1;
	played = mmap(NULL, sizeof *played, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	setenv("OTEL_METRICS_EXPORTER", "none", 1);
	setenv("OTEL_LOGS_EXPORTER", "none", 1);
	setenv("TRACKER_UPLOAD_INTERVAL", "60", 1);
	message_enable(true);
	return played == MAP_FAILED ? -1 : error;
}

static int leave(void **state)
{
	unsetenv("OTEL_METRICS_EXPORTER");
	unsetenv("OTEL_LOGS_EXPORTER");
	unsetenv("TRACKER_UPLOAD_INTERVAL");
	message_enable(false);
	munmap(played, sizeof *played);
	return free_streams(state);
}

/* ---- what happens ------------------------------------------------------------------------------------------- */

static const char STATE[] = "spool/h-20260401T120000.500000Z-7.otlp.state";

static void append_text(const char *text)
{
	FILE *file = fopen("r.jsonl", "ae");

	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

#define SAMPLE(number, more) \
	"{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":" number more "}\n"

static void append_first(void)
{
	append_text(SAMPLE("0", ",\"run_start\":{\"run_id\":\"x\"}"));
}

static void append_next(void)
{
	append_text(SAMPLE("1", ""));
}

static void append_third(void)
{
	append_text(SAMPLE("2", ""));
}

static void append_last(void)
{
	append_text(SAMPLE("1", ",\"run_end\":{\"exit_code\":0}"));
}

static void end_recorder(void)
{
	close(end_fd);
}

static void rename_recording(void)
{
	rename("r.jsonl", "old.jsonl");
}

static void signal_end(void)
{
	raise(SIGTERM);
}

static void interrupt(void)
{
	raise(SIGINT);
}

/* All that reach a whole group of processes. */
static void signal_group(void)
{
	static const int NUMBERS[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTTOU, SIGXFSZ, SIGUSR1, SIGUSR2};

	for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
		raise(NUMBERS[i]);
}

static void look_at_streams(void)
{
	for (int fd = 0; fd < 100; fd++) {
		char name[64], target[64] = "";

		snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		if (readlink(name, target, sizeof target - 1) < 0 || strcmp(target, "/dev/null") != 0)
			continue;
		if (fd < 3)
			played->is_null[fd] = true;
		else
			played->null_count++;
	}
}

static void look_at_state(void)
{
	char text[4096] = "";
	int fd = open(STATE, O_RDONLY | O_CLOEXEC);
	const char *offset;

	(void)!read(fd, text, sizeof text - 1);
	close(fd);
	offset = strstr(text, "\"offset\":");
	played->offsets[played->looks++] = offset ? atol(offset + 9) : -1;
}

/* Returns the exit status of a follower with a recorder's pipe, or without one. */
static int play(const struct event *list, int64_t interval_ms, bool has_pipe, const char *more)
{
	int ends[2], status;
	pid_t pid;

	memset(played, 0, sizeof *played);
	played->clock_ns = BEGIN_NS;
	pid = fork();
	if (pid == 0) {
		struct settings settings = {.upload_interval_ns = interval_ms * NSEC_PER_MSEC};
		char fd[16], *argv[16] = {(char[]){"follow"}, (char[]){"--stream"}, (char[]){"otlp"},
					  (char[]){"--spool"}, (char[]){"spool"}};
		int count = 5;

		alarm(60);
		events = list;
		if (pipe(ends) < 0)
			_exit(91);
		end_fd = ends[1];
		if (closed_stream >= 0)
			close(closed_stream);
		snprintf(fd, sizeof fd, "%d", ends[0]);
		if (has_pipe) {
			argv[count++] = (char[]){"--end-fd"};
			argv[count++] = fd;
		}
		if (*more)
			argv[count++] = strdup(more);
		argv[count++] = (char[]){"r.jsonl"};
		_exit(follow_main(&settings, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status))
		fail_msg("the follower ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static int played_ms(void)
{
	return (int)((played->clock_ns - BEGIN_NS) / NSEC_PER_MSEC);
}

static void expect_waits(const int *waits_ms, int count)
{
	for (int i = 0; i < count && i < played->count; i++)
		if (waits_ms[i] != played->waits_ms[i])
			fail_msg("wait %d takes %d ms instead of %d", i, played->waits_ms[i], waits_ms[i]);
	assert_int_equal(played->count, count);
}

#define EXPECT_WAITS(...) \
	expect_waits((const int[]){__VA_ARGS__}, (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

/* ---- waiting ------------------------------------------------------------------------------------------------ */

/* A sample that comes within a second is found soon. Later, a look a second is enough. */
static void the_first_sample_is_looked_for_ever_more_rarely(void **state)
{
	static const struct event TIMELINE[] = {{4000, append_first}, {12000, end_recorder}, {0, NULL}};

	(void)state;
	put_text("r.jsonl", "");
	assert_int_equal(play(TIMELINE, 60000, true, ""), 0);
	EXPECT_WAITS(50, 100, 200, 400, 800, 1000, 1000, 1000, 550, 5000, 5000);
	assert_int_equal(played_ms(), 12000);
	assert_printed("err", "");
}

/* A recording that grows fast is looked at every 5 s, and else when a batch is due. */
static void a_batch_is_cut_every_interval(void **state)
{
	static const struct event TIMELINE[] = {
		{3900, append_next},    {4000, look_at_state},  {5501, look_at_state}, {9000, append_third},
		{10900, look_at_state}, {11001, look_at_state}, {11100, end_recorder}, {0, NULL}};
	struct stat status;

	(void)state;
	append_first();
	assert_int_equal(stat("r.jsonl", &status), 0);
	assert_int_equal(play(TIMELINE, 5500, true, ""), 0);
	assert_int_equal(played->waits_ms[0], 5000);
	assert_int_equal(played->waits_ms[3], 500);
	assert_int_equal(played->offsets[0], 0);
	assert_true(played->offsets[1] > status.st_size);
	assert_int_equal(played->offsets[2], played->offsets[1]);
	assert_true(played->offsets[3] > played->offsets[1]);
}

static void a_short_interval_needs_no_other_looks(void **state)
{
	static const struct event TIMELINE[] = {{9000, end_recorder}, {0, NULL}};

	(void)state;
	append_first();
	assert_int_equal(play(TIMELINE, 3000, true, ""), 0);
	EXPECT_WAITS(3000, 3000, 3000);
	assert_int_equal(unlink(STATE), 0);
	assert_int_equal(play(TIMELINE, 5000, true, ""), 0);
	EXPECT_WAITS(5000, 5000);
}

/* 8 MiB of lines do not wait for the interval. */
static void a_recording_that_has_grown_far_is_cut_at_once(void **state)
{
	enum { MOST = 8 << 20 };
	static const struct event TIMELINE[] = {{6000, look_at_state},
						{7000, append_next},
						{11000, look_at_state},
						{12000, end_recorder},
						{0, NULL}};
	struct stat status;
	char *text;

	(void)state;
	append_first();
	assert_int_equal(stat("r.jsonl", &status), 0);
	text = malloc(MOST);
	memset(text, 'x', MOST);
	for (int i = 1000; i < MOST; i += 1000)
		text[i] = '\n';
	text[MOST - status.st_size - 1] = '\n';
	text[MOST - status.st_size] = '\0';
	append_text(text);
	free(text);
	assert_int_equal(stat("r.jsonl", &status), 0);
	assert_int_equal(status.st_size, MOST);
	assert_int_equal(play(TIMELINE, 3600 * 1000, true, ""), 0);
	assert_int_equal(played->offsets[0], 0);
	assert_true(played->offsets[1] > MOST);
}

/* Nothing tells of the end, so the follower looks for it in the recording. */
static void without_a_pipe_the_end_is_looked_for(void **state)
{
	static const struct event TIMELINE[] = {{3000, append_next}, {5200, append_last}, {0, NULL}};

	(void)state;
	append_first();
	assert_int_equal(play(TIMELINE, 60000, false, ""), 0);
	EXPECT_WAITS(50, 100, 200, 400, 800, 1000, 1000, 550, 1000, 1000, 350);
	assert_int_equal(played_ms(), 5550);
}

/* A recorder looks once a second whether its file has gone, so a new one comes soon, or later. */
static void a_recording_that_has_lost_its_name_is_waited_for(void **state)
{
	static const struct event TIMELINE[] = {
		{1000, rename_recording}, {5500, append_next}, {12000, end_recorder}, {0, NULL}};

	(void)state;
	append_first();
	assert_int_equal(play(TIMELINE, 60000, true, ""), 0);
	assert_int_equal(played->waits_ms[0], 5000);
	for (int i = 1; i <= 40; i++)
		assert_int_equal(played->waits_ms[i], 50);
	assert_int_equal(played->waits_ms[41], 1000);
	assert_int_equal(played->waits_ms[42], 1000);
	assert_int_equal(played->waits_ms[43], 1000);
	/* The new file is found, and nothing is lost any more. */
	assert_int_equal(played->waits_ms[44], 500);
	assert_int_equal(played->waits_ms[45], 5000);
	assert_int_equal(played_ms(), 12000);
}

/* Its folder is the spool, where no person removes it. */
static void a_disposable_recording_is_not_looked_for(void **state)
{
	static const struct event TIMELINE[] = {{1000, rename_recording}, {12000, end_recorder}, {0, NULL}};

	(void)state;
	append_first();
	assert_int_equal(play(TIMELINE, 60000, true, "--disposable"), 0);
	EXPECT_WAITS(5000, 4000, 5000, 5000);
}

/* ---- the end ------------------------------------------------------------------------------------------------ */

/* Signals to a whole group are for the job. */
static void signals_are_not_for_a_follower_with_a_pipe(void **state)
{
	static const struct event TIMELINE[] = {
		{2000, signal_end}, {3000, signal_group}, {7000, end_recorder}, {0, NULL}};

	(void)state;
	append_first();
	assert_int_equal(play(TIMELINE, 60000, true, ""), 0);
	assert_int_equal(played_ms(), 7000);
}

static void a_signal_ends_a_follower_that_a_person_has_started(void **state)
{
	static const struct event TERMINATED[] = {{2000, signal_end}, {0, NULL}},
				  INTERRUPTED[] = {{2000, interrupt}, {0, NULL}};

	(void)state;
	append_first();
	/* With a closed standard input or output, too. */
	for (closed_stream = 1; closed_stream >= -1; closed_stream--) {
		assert_int_equal(play(TERMINATED, 60000, false, ""), 0);
		assert_int_equal(played_ms(), 2000);
		assert_int_equal(unlink(STATE), 0);
	}
	closed_stream = -1;
	assert_int_equal(play(INTERRUPTED, 60000, false, ""), 0);
	assert_int_equal(played_ms(), 2000);
}

/* The pipe has the number of a standard stream, which is closed. */
static void a_pipe_in_the_place_of_a_standard_stream_is_kept(void **state)
{
	static const struct event TIMELINE[] = {{7000, end_recorder}, {0, NULL}};

	(void)state;
	append_first();
	for (int stream = 0; stream < 3; stream++) {
		int kept = dup(stream);

		close(stream);
		assert_int_equal(play(TIMELINE, 60000, true, ""), 0);
		assert_int_equal(dup2(kept, stream), stream);
		close(kept);
		assert_int_equal(played_ms(), 7000);
		assert_int_equal(unlink(STATE), 0);
	}
}

/* The job's pipes must not stay open because of the follower, and messages still have a place. */
static void standard_streams_are_left(void **state)
{
	static const struct event TIMELINE[] = {{2000, look_at_streams}, {7000, end_recorder}, {0, NULL}};

	int before;

	(void)state;
	played->null_count = 0;
	look_at_streams();
	before = played->null_count;
	append_first();
	for (closed_stream = 1; closed_stream >= -1; closed_stream--) {
		assert_int_equal(play(TIMELINE, 60000, true, ""), 0);
		assert_true(played->is_null[0] && played->is_null[1]);
		assert_false(played->is_null[2]);
		assert_int_equal(played->null_count, before);
		assert_int_equal(unlink(STATE), 0);
	}
	closed_stream = -1;
}

static void a_setting_that_is_wrong_follows_nothing(void **state)
{
	static const struct event NONE[] = {{0, NULL}};

	(void)state;
	append_first();
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "gopher://x", 1);
	assert_int_equal(play(NONE, 60000, true, ""), 2);
	unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
	assert_printed_has("err", "OTEL_EXPORTER_OTLP_ENDPOINT is invalid");
	assert_int_equal(play(NONE, 60000, true, "--no-such-word"), EXIT_USAGE);
	assert_int_equal(access("spool", F_OK), -1);
}

#define unit_test_of_follower(test) cmocka_unit_test_setup_teardown(test, enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_follower(the_first_sample_is_looked_for_ever_more_rarely),
		unit_test_of_follower(a_batch_is_cut_every_interval),
		unit_test_of_follower(a_short_interval_needs_no_other_looks),
		unit_test_of_follower(a_recording_that_has_grown_far_is_cut_at_once),
		unit_test_of_follower(without_a_pipe_the_end_is_looked_for),
		unit_test_of_follower(a_recording_that_has_lost_its_name_is_waited_for),
		unit_test_of_follower(a_disposable_recording_is_not_looked_for),
		unit_test_of_follower(signals_are_not_for_a_follower_with_a_pipe),
		unit_test_of_follower(a_signal_ends_a_follower_that_a_person_has_started),
		unit_test_of_follower(a_pipe_in_the_place_of_a_standard_stream_is_kept),
		unit_test_of_follower(standard_streams_are_left),
		unit_test_of_follower(a_setting_that_is_wrong_follows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
