/* Tests of src/stream/upload.c and follow.c: recordings and spools are sent to a server of the test's own. */
#include "captured.h"
#include "loopback.h"

#include <errno.h>
#include <sys/file.h>

#include "base/clock.h"
#include "net/redacted_message.h"
#include "options/usage.h"
#include "stream/follow.h"
#include "stream/stream.h"
#include "stream/upload.h"

#define TAKEN ANSWER("200 OK", "", "")
#define REFUSED ANSWER("401 Unauthorized", "", "no")

static struct loopback server;

static int enter(void **state)
{
	int error = capture_streams(state);

	forget_variables();
	setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none", 1);
	message_enable(true);
	return error;
}

static int leave(void **state)
{
	unsetenv("OTEL_EXPORTER_OTLP_COMPRESSION");
	unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
	message_enable(false);
	return free_streams(state);
}

/* A whole run of three samples. */
static void append_run(const char *path, const char *id, int begins)
{
	FILE *file = fopen(path, "a");

	for (int i = 0; i < 3; i++)
		fprintf(file,
			"{\"timestamp\":%d.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d,\"cpu\":"
			"{\"process_utime_secs\":0.5}%s%s%s}\n",
			begins + i, i, i == 0 ? ",\"run_start\":{\"run_id\":\"" : "", i == 0 ? id : "",
			i == 0   ? "\"}"
			: i == 2 ? ",\"run_end\":{\"exit_code\":0}"
				 : "");
	fclose(file);
}

/* Uploads, and compares the exit status and the number of requests. */
static void expect_upload(const char *operand, const char *answer, int status, int requests)
{
	const char *answers[16] = {NULL};
	char *argv[] = {(char[]){"upload"},
			(char[]){"--stream"},
			(char[]){"otlp"},
			(char[]){"--spool"},
			(char[]){"spool"},
			strdup(operand),
			NULL};
	struct settings settings = {.upload_interval_ns = NSEC_PER_SEC};

	for (size_t i = 0; i < 15; i++)
		answers[i] = answer;
	loopback_serve(&server, answers);
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url, 1);
	if (!*operand) {
		free(argv[5]);
		argv[5] = NULL;
	}
	assert_int_equal(upload_main(&settings, argv), status);
	free(argv[5]);
	loopback_end(&server);
	assert_int_equal(loopback_requests(&server), requests);
}

static void forget(void)
{
	free(server.asked);
	server.asked = NULL;
}

static void each_run_of_a_recording_is_sent_once(void **state)
{
	(void)state;
	append_run("r.jsonl", "id-1", 1775044800);
	append_run("r.jsonl", "id-2", 1775045800);
	expect_upload("r.jsonl", TAKEN, 0, 4);
	assert_true(loopback_was_asked(&server, "id-1") && loopback_was_asked(&server, "id-2"));
	assert_printed("err", "");
	forget();
	expect_upload("r.jsonl", TAKEN, 0, 0);
	assert_printed_has("err", "r.jsonl: this run has been sent already");
	forget();
	/* A run that came later. */
	append_run("r.jsonl", "id-3", 1775046800);
	expect_upload("r.jsonl", TAKEN, 0, 2);
	assert_true(loopback_was_asked(&server, "id-3"));
	forget();
}

static void files_without_samples_are_named(void **state)
{
	(void)state;
	put_text("r.jsonl", "");
	expect_upload("r.jsonl", TAKEN, 1, 0);
	assert_printed_has("err", "r.jsonl: there is no sample in it");
	forget();
	expect_upload("none.jsonl", TAKEN, 1, 0);
	assert_printed_has("err", "none.jsonl: No such file or directory");
	forget();
	expect_upload("", TAKEN, 0, 0);
	assert_printed_has("out", "Nothing is left to send in ");
	forget();
}

static void a_recording_in_progress_is_left_alone(void **state)
{
	int fd;

	(void)state;
	append_run("r.jsonl", "id-1", 1775044800);
	fd = open("r.jsonl", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	expect_upload("r.jsonl", TAKEN, 1, 0);
	assert_printed_has("err", "r.jsonl is still being recorded");
	forget();
	close(fd);
	expect_upload("r.jsonl", TAKEN, 0, 2);
	forget();
}

static void a_run_that_was_refused_is_sent_later_from_the_spool(void **state)
{
	(void)state;
	append_run("r.jsonl", "id-1", 1775044800);
	expect_upload("r.jsonl", REFUSED, 1, 1);
	assert_printed_has("err", "r.jsonl: 7 points are not sent: cannot send to the receiver: HTTP 401\n");
	forget();
	expect_upload("", REFUSED, 1, 1);
	assert_printed_has("out", "0 runs are sent; 1 still waits in ");
	forget();
	expect_upload("", TAKEN, 0, 2);
	assert_printed_has("out", "1 run is sent; nothing is left in ");
	assert_true(loopback_was_asked(&server, "id-1"));
	forget();
	expect_upload("", TAKEN, 0, 0);
	assert_printed_has("out", "Nothing is left to send in ");
	forget();
}

/* A later run of the same name renames the recording. The spool knows the run by its name. */
static void a_renamed_recording_is_found(void **state)
{
	(void)state;
	append_run("r.jsonl", "id-1", 1775044800);
	expect_upload("r.jsonl", REFUSED, 1, 1);
	forget();
	assert_int_equal(rename("r.jsonl", "r.jsonl.2"), 0);
	append_run("r.jsonl.1", "id-0", 1775040000);
	append_run("s.jsonl", "id-9", 1775049000);
	expect_upload("spool", TAKEN, 0, 2);
	assert_printed_has("out", "1 run is sent; nothing is left in ");
	assert_true(loopback_was_asked(&server, "id-1"));
	assert_false(loopback_was_asked(&server, "id-0") || loopback_was_asked(&server, "id-9"));
	forget();
}

static void a_recording_that_is_gone_leaves_its_batches(void **state)
{
	(void)state;
	append_run("r.jsonl", "id-1", 1775044800);
	expect_upload("r.jsonl", REFUSED, 1, 1);
	forget();
	assert_int_equal(unlink("r.jsonl") | truncate("err", 0), 0);
	/* Only the runs of this recording. */
	expect_upload("other.jsonl", TAKEN, 1, 0);
	forget();
	expect_upload("r.jsonl", TAKEN, 0, 2);
	assert_printed_has("err", "r.jsonl no longer exists: sending the samples of run ");
	assert_true(loopback_was_asked(&server, "id-1"));
	forget();
}

/* Another name than FILE.N is not that of an earlier recording. */
static void only_a_numbered_name_is_that_of_the_recording(void **state)
{
	(void)state;
	append_run("r.jsonl", "id-1", 1775044800);
	expect_upload("r.jsonl", REFUSED, 1, 1);
	forget();
	assert_int_equal(rename("r.jsonl", "copy.jsonl") | truncate("err", 0), 0);
	expect_upload("spool", REFUSED, 1, 1);
	assert_printed_has("err", "r.jsonl no longer exists: sending the samples of run ");
	assert_printed_has("out", "0 runs are sent; 1 still waits in ");
	forget();
}

static void points_that_are_refused_for_good_are_told_with_the_reason(void **state)
{
	(void)state;
	append_run("r.jsonl", "id-1", 1775044800);
	expect_upload("r.jsonl", ANSWER("200 OK", "", "\x0a\x02\x08\x03"), 0, 2);
	assert_printed_has("err", "the receiver refused 3 points of this run for good: no reason given\n");
	forget();
	append_run("s.jsonl", "id-2", 1775045800);
	expect_upload("s.jsonl", ANSWER("200 OK", "", "\x0a\x05\x08\x01\x12\x01x"), 0, 2);
	assert_printed_has("err", "the receiver refused 1 points of this run for good: x\n");
	forget();
	/* A warning about points that were taken. */
	assert_int_equal(truncate("err", 0), 0);
	append_run("t.jsonl", "id-3", 1775046800);
	expect_upload("t.jsonl", ANSWER("200 OK", "", "\x0a\x05\x08\x00\x12\x01x"), 0, 2);
	assert_printed("err", "");
	forget();
}

/* A recording for streaming alone, whose process was killed before it wrote a state. */
static void a_recording_in_the_spool_is_removed_once_it_is_sent(void **state)
{
	(void)state;
	assert_int_equal(mkdir("spool", 0700), 0);
	append_run("spool/a.otlp.spool", "id-1", 1775044800);
	append_run("spool/b.spool", "id-2", 1775045800);
	put_text("spool/empty.otlp.spool", "");
	expect_upload("", REFUSED, 1, 1);
	assert_int_equal(access("spool/a.otlp.spool", F_OK), 0);
	assert_int_equal(access("spool/empty.otlp.spool", F_OK), -1);
	assert_int_equal(truncate("out", 0), 0);
	forget();
	expect_upload("", TAKEN, 0, 2);
	assert_printed_has("out", "1 run is sent; nothing is left in ");
	assert_true(loopback_was_asked(&server, "id-1"));
	forget();
	assert_int_equal(access("spool/a.otlp.spool", F_OK), -1);
	/* It is for another destination. */
	assert_int_equal(access("spool/b.spool", F_OK), 0);
}

static void make_link(const char *recording, const char *id, int offset)
{
	char target[100], link[120];

	snprintf(target, sizeof target, "%s/%s", scratch_folder, recording);
	snprintf(link, sizeof link, "spool/%s-%d.otlp.spool", id, offset);
	assert_int_equal(symlink(target, link), 0);
}

static bool is_there(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

/* The link has the run's identity and the place in the file where it begins. */
static void a_link_leads_to_a_recording_without_a_state(void **state)
{
	static const char ID[] = "01920000-0000-7000-8000-000000000001",
			  OTHER[] = "01920000-0000-7000-8000-000000000002";
	char link[120];

	(void)state;
	assert_int_equal(mkdir("spool", 0700), 0);
	append_run("r.jsonl", ID, 1775044800);
	make_link("r.jsonl", ID, 0);
	snprintf(link, sizeof link, "spool/%s-0.otlp.spool", ID);
	expect_upload("", REFUSED, 1, 1);
	assert_true(is_there(link));
	forget();
	expect_upload("", TAKEN, 0, 2);
	assert_true(loopback_was_asked(&server, ID));
	assert_false(is_there(link));
	forget();
	assert_int_equal(truncate("err", 0), 0);
	/* Another run, of which nothing is there. */
	make_link("gone.jsonl", OTHER, 0);
	snprintf(link, sizeof link, "spool/%s-0.otlp.spool", OTHER);
	expect_upload("", TAKEN, 0, 0);
	assert_printed_has("err", "gone.jsonl: an unsent run is no longer there");
	assert_false(is_there(link));
	forget();
}

/* It leads to the run wherever that is by now, and says nothing if the run is recorded, was sent, or has a state. */
static void a_link_is_followed_when_the_run_can_be_sent(void **state)
{
	static const char ID[] = "01920000-0000-7000-8000-000000000001",
			  LATER[] = "01920000-0000-7000-8000-000000000003";
	char link[120];
	struct stat status;
	int fd;

	(void)state;
	assert_int_equal(mkdir("spool", 0700), 0);
	append_run("r.jsonl", "id-0", 1775040000);
	assert_int_equal(stat("r.jsonl", &status), 0);
	append_run("r.jsonl", ID, 1775044800);
	make_link("r.jsonl", ID, (int)status.st_size);
	snprintf(link, sizeof link, "spool/%s-%d.otlp.spool", ID, (int)status.st_size);
	/* Its name is too short for a run. */
	assert_int_equal(symlink("../r.jsonl", "spool/short.otlp.spool"), 0);
	fd = open("r.jsonl", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	expect_upload("", TAKEN, 0, 0);
	assert_printed("err", "");
	assert_true(is_there(link) && is_there("spool/short.otlp.spool"));
	forget();
	close(fd);
	assert_int_equal(rename("r.jsonl", "r.jsonl.7"), 0);
	expect_upload("", TAKEN, 0, 2);
	assert_true(loopback_was_asked(&server, ID));
	assert_false(loopback_was_asked(&server, "id-0"));
	assert_false(is_there(link));
	forget();
	/* A run that has been sent. */
	make_link("r.jsonl.7", ID, (int)status.st_size);
	expect_upload("", TAKEN, 0, 0);
	assert_printed("err", "");
	assert_false(is_there(link));
	forget();
	/* No run of this identity begins there. */
	append_run("q.jsonl", "id-9", 1775050000);
	make_link("q.jsonl", LATER, 0);
	expect_upload("", TAKEN, 0, 0);
	assert_printed_has("err", "q.jsonl: an unsent run is no longer there");
	forget();
}

static void states_that_cannot_be_read_are_named(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkdir("spool", 0700), 0);
	put_text("spool/broken.otlp.state", "{");
	put_text("spool/broken.state", "{");
	expect_upload("", TAKEN, 1, 0);
	assert_printed_has("err", "broken.otlp: its state in the spool cannot be read: ");
	assert_printed_has("out", "0 runs are sent; 1 still waits in ");
	forget();
	/* Those of one recording alone say nothing about it. */
	expect_upload("none.jsonl", TAKEN, 1, 0);
	assert_printed_lacks("err", "broken");
	forget();
	assert_int_equal(truncate("err", 0), 0);
	fd = open("spool/broken.otlp.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	expect_upload("", TAKEN, 1, 0);
	assert_printed("err", "resource-tracker: broken.otlp is being sent by another process\n");
	assert_printed_has("out", "0 runs are sent; 1 still waits in ");
	forget();
	close(fd);
}

static void several_runs_are_counted(void **state)
{
	(void)state;
	append_run("r.jsonl", "id-1", 1775044800);
	append_run("r.jsonl", "id-2", 1775045800);
	append_run("s.jsonl", "id-3", 1775046800);
	/* After a refusal, the next run of the file is not tried. */
	expect_upload("r.jsonl", REFUSED, 1, 1);
	forget();
	expect_upload("s.jsonl", REFUSED, 1, 1);
	forget();
	expect_upload("", REFUSED, 1, 2);
	assert_printed_has("out", "0 runs are sent; 2 still wait in ");
	forget();
	expect_upload("", TAKEN, 0, 6);
	assert_printed_has("out", "3 runs are sent; nothing is left in ");
	forget();
}

/* One run of a recording for streaming alone is all that it has. */
static void a_recording_in_the_spool_has_one_run(void **state)
{
	(void)state;
	assert_int_equal(mkdir("spool", 0700), 0);
	append_run("spool/a.otlp.spool", "id-1", 1775044800);
	append_run("spool/a.otlp.spool", "id-2", 1775045800);
	expect_upload("", TAKEN, 0, 2);
	assert_false(loopback_was_asked(&server, "id-2"));
	assert_int_equal(access("spool/a.otlp.spool", F_OK), -1);
	forget();
}

static void a_file_in_the_place_of_the_spool_is_named(void **state)
{
	(void)state;
	put_text("spool", "");
	expect_upload("", TAKEN, 1, 0);
	assert_printed_has("err", "spool: ");
	assert_printed("out", "");
	forget();
	append_run("r.jsonl", "id-1", 1775044800);
	expect_upload("r.jsonl", TAKEN, 1, 0);
	assert_printed_has("err", "r.jsonl: ");
	forget();
}

/* ---- following ---- */

/* Follows in a process of its own, which has the end of a pipe that `writer` closes. Returns its exit status. */
static int followed(const char *const words[], const char *answer, void (*writer)(void))
{
	const char *answers[16] = {NULL};
	struct settings settings = {.upload_interval_ns = 3600 * NSEC_PER_SEC,
				    .token = "t0k",
				    .sentinel_url = server.url,
				    .s3_endpoint = server.url};
	char *argv[16] = {(char[]){"follow"}}, fd[16];
	int ends[2], status = -1, count = 1;
	pid_t pid;

	for (size_t i = 0; i < 15; i++)
		answers[i] = answer;
	loopback_serve(&server, answers);
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url, 1);
	assert_int_equal(pipe(ends), 0);
	snprintf(fd, sizeof fd, "%d", ends[0]);
	for (; *words; words++)
		argv[count++] = strdup(strcmp(*words, "FD") == 0 ? fd : *words);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		_exit(follow_main(&settings, argv));
	}
	close(ends[0]);
	if (writer)
		writer();
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	while (--count)
		free(argv[count]);
	loopback_end(&server);
	return WEXITSTATUS(status);
}

#define FOLLOW(...) ((const char *const[]){"--stream", "otlp", "--spool", "spool", __VA_ARGS__, NULL})

static void write_run(void)
{
	append_run("r.jsonl", "id-1", 1775044800);
}

static void a_recording_is_followed_to_its_end(void **state)
{
	(void)state;
	put_text("r.jsonl", "");
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "--report", "r.jsonl"), TAKEN, write_run), 0);
	assert_printed("err", "sent\n");
	assert_true(loopback_was_asked(&server, "id-1"));
	forget();
	/* All is sent, so it begins no more. */
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "r.jsonl"), TAKEN, NULL), 1);
	assert_int_equal(server.asked_length, 0);
	forget();
}

static void the_end_of_a_run_without_a_pipe_is_in_the_recording(void **state)
{
	(void)state;
	write_run();
	assert_int_equal(followed(FOLLOW("r.jsonl"), TAKEN, NULL), 0);
	assert_true(loopback_was_asked(&server, "id-1"));
	assert_printed("err", "");
	forget();
}

/* Its recording has no end, so that only the process can tell of it. */
static void the_end_of_a_process_is_the_end_of_its_run(void **state)
{
	(void)state;
	put_text("r.jsonl", "{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":0,"
			    "\"cpu\":{\"process_utime_secs\":0.5},\"run_start\":{\"run_id\":\"id-1\"}}\n");
	assert_int_equal(followed(FOLLOW("--pid", "99999999", "r.jsonl"), TAKEN, NULL), 0);
	assert_true(loopback_was_asked(&server, "id-1"));
	assert_printed("err", "");
	forget();
}

static void refused_points_are_kept_and_told(void **state)
{
	(void)state;
	write_run();
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "--report", "r.jsonl"), REFUSED, NULL), 1);
	assert_printed("err", "resource-tracker: streaming: cannot send to the receiver: HTTP 401\n"
			      "resource-tracker: 7 points of this run are not on the server: cannot send to "
			      "the receiver: HTTP 401\n"
			      "resource-tracker: they are kept in the spool; to send them: resource-tracker "
			      "upload --stream otlp "
			      "spool\n");
	forget();
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "--report", "r.jsonl"), TAKEN, NULL), 0);
	assert_true(loopback_was_asked(&server, "id-1"));
	forget();
}

/* The spool has no state of it, as on a full disk. */
static void a_run_without_a_state_is_in_its_recording(void **state)
{
	(void)state;
	write_run();
	assert_int_equal(mkdir("spool", 0700) | mkdir("spool/h-20260401T120000.500000Z-7.otlp.new", 0700), 0);
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "r.jsonl"), TAKEN, NULL), 1);
	assert_printed_has(
		"err", "they are in the recording; to send them: resource-tracker upload --stream otlp /");
	forget();
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "--disposable", "r.jsonl"), TAKEN, NULL), 1);
	assert_printed_has("err", "they are kept in the spool; to send them: ");
	forget();
}

/* The server's answer to the end of the run is for the recorder, and only if that asks. */
static void the_answer_of_the_server_is_told(void **state)
{
	static const char ANSWERED[] =
		ANSWER("200 OK", "",
		       "{\"run_id\":\"r-1\",\"upload_uri_prefix\":\"s3://b/p\",\"upload_credentials\":"
		       "{\"access_key\":\"AK\",\"secret_key\":\"sk\",\"session_token\":\"st\"}}");

	(void)state;
	write_run();
	assert_int_equal(
		followed((const char *const[]){"--spool", "spool", "--end-fd", "FD", "r.jsonl", NULL},
			 ANSWERED, NULL),
		0);
	assert_printed("err", "");
	forget();
	assert_int_equal(unlink("r.jsonl"), 0);
	append_run("r.jsonl", "id-2", 1775045800);
	assert_int_equal(followed((const char *const[]){"--spool", "spool", "--end-fd", "FD", "--report",
							"r.jsonl", NULL},
				  ANSWERED, NULL),
			 0);
	assert_printed_has("err", "answer {\"run_id\":\"r-1\",");
	forget();
}

static void a_recording_without_samples_is_removed_if_it_is_disposable(void **state)
{
	(void)state;
	put_text("r.jsonl", "");
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "r.jsonl"), TAKEN, NULL), 1);
	assert_int_equal(access("r.jsonl", F_OK), 0);
	forget();
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "--disposable", "r.jsonl"), TAKEN, NULL), 1);
	assert_int_equal(access("r.jsonl", F_OK), -1);
	assert_printed("err", "");
	forget();
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "none.jsonl"), TAKEN, NULL), 1);
	assert_printed_has("err", "cannot follow none.jsonl: No such file or directory");
	forget();
}

static void wrong_words_follow_nothing(void **state)
{
	(void)state;
	write_run();
	assert_int_equal(followed(FOLLOW("r.jsonl", "s.jsonl"), TAKEN, NULL), EXIT_USAGE);
	assert_printed_has("err", "name one recording");
	forget();
	assert_int_equal(followed(FOLLOW("--end-fd", "FD", "--pid", "1", "r.jsonl"), TAKEN, NULL),
			 EXIT_USAGE);
	assert_printed_has("err", "--end-fd and --pid exclude each other");
	assert_int_equal(server.asked_length, 0);
	forget();
}

#define unit_test_of_upload(test) cmocka_unit_test_setup_teardown(test, enter, leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_of_upload(each_run_of_a_recording_is_sent_once),
		unit_test_of_upload(files_without_samples_are_named),
		unit_test_of_upload(a_recording_in_progress_is_left_alone),
		unit_test_of_upload(a_run_that_was_refused_is_sent_later_from_the_spool),
		unit_test_of_upload(a_renamed_recording_is_found),
		unit_test_of_upload(a_recording_that_is_gone_leaves_its_batches),
		unit_test_of_upload(only_a_numbered_name_is_that_of_the_recording),
		unit_test_of_upload(points_that_are_refused_for_good_are_told_with_the_reason),
		unit_test_of_upload(a_recording_in_the_spool_is_removed_once_it_is_sent),
		unit_test_of_upload(a_link_leads_to_a_recording_without_a_state),
		unit_test_of_upload(a_link_is_followed_when_the_run_can_be_sent),
		unit_test_of_upload(states_that_cannot_be_read_are_named),
		unit_test_of_upload(several_runs_are_counted),
		unit_test_of_upload(a_recording_in_the_spool_has_one_run),
		unit_test_of_upload(a_file_in_the_place_of_the_spool_is_named),
		unit_test_of_upload(a_recording_is_followed_to_its_end),
		unit_test_of_upload(the_end_of_a_run_without_a_pipe_is_in_the_recording),
		unit_test_of_upload(the_end_of_a_process_is_the_end_of_its_run),
		unit_test_of_upload(refused_points_are_kept_and_told),
		unit_test_of_upload(a_run_without_a_state_is_in_its_recording),
		unit_test_of_upload(the_answer_of_the_server_is_told),
		unit_test_of_upload(a_recording_without_samples_is_removed_if_it_is_disposable),
		unit_test_of_upload(wrong_words_follow_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
