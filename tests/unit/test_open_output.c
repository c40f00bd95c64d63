/* Tests of src/sink/open_output.c. */
#include "scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "format/gzip_member.h"
#include "sink/open_output.h"

static const struct output_options FRESH = {false, LINES_JSON, NULL, false},
				   APPEND = {true, LINES_JSON, NULL, false};
static const uid_t SOMEBODY = 65534;

/* This is the beginning of a recording. */
#define EARLIER "{\"timestamp_secs\":1700000000,\"resource-tracker-version\":\"0.1.0\"}\n"

static char message[512];

static struct opened_output open_ok(const char *path, const struct output_options *options)
{
	struct opened_output output = {.fd = -1};

	assert_int_equal(open_output(path, options, &output, message, sizeof message), 0);
	assert_true(output.fd > 2);
	assert_true(fcntl(output.fd, F_GETFD) & FD_CLOEXEC);
	return output;
}

static void assert_refused(const char *path, const struct output_options *options, int error,
			   const char *words)
{
	struct opened_output output = {.fd = -77};

	message[0] = '\0';
	assert_int_equal(open_output(path, options, &output, message, sizeof message), error);
	assert_int_equal(output.fd, -77);
	assert_non_null(strstr(message, words));
	assert_null(strchr(message, '\n'));
}

static void a_new_file_is_made_as_umask_says(void **state)
{
	mode_t before = umask(027);
	struct opened_output output = open_ok("./run.jsonl", &FRESH);
	struct stat status;

	(void)state;
	umask(before);
	assert_int_equal(fstat(output.fd, &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0640);
	assert_true(output.regular && !output.had_content && !output.renamed_number);
	assert_true(fcntl(output.fd, F_GETFL) & O_APPEND);
	close(output.fd);
}

static void an_earlier_recording_is_renamed(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 4; run++) {
		struct opened_output output = open_ok("run.jsonl", &FRESH);

		assert_int_equal(output.renamed_number, run);
		assert_false(output.had_content);
		assert_true(dprintf(output.fd, "%srun %u\n", EARLIER, run) > 0);
		close(output.fd);
	}
	assert_file_text("run.jsonl.1", EARLIER "run 0\n");
	assert_file_text("run.jsonl.2", EARLIER "run 1\n");
	assert_file_text("run.jsonl.3", EARLIER "run 2\n");
	assert_file_text("run.jsonl", EARLIER "run 3\n");
}

static void other_files_than_recordings_are_left_alone(void **state)
{
	(void)state;
	put_text("main.py", "print(1)\n");
	assert_refused("main.py", &FRESH, -EEXIST, "not a recording");
	assert_int_equal(access("main.py.1", F_OK), -1);
	assert_file_text("main.py", "print(1)\n");
}

static void an_empty_file_is_used(void **state)
{
	struct opened_output output;

	(void)state;
	put_text("run.jsonl", "");
	output = open_ok("run.jsonl", &FRESH);
	assert_int_equal(output.renamed_number, 0);
	assert_int_equal(access("run.jsonl.1", F_OK), -1);
	close(output.fd);
}

static void appending_repairs_first(void **state)
{
	struct opened_output output;

	(void)state;
	put_text("run.jsonl", EARLIER "{\"b");
	output = open_ok("run.jsonl", &APPEND);
	assert_true(output.had_content);
	assert_int_equal(output.repair.cut_bytes, 3);
	assert_int_equal(dprintf(output.fd, "{\"c\":3}\n"), 8);
	close(output.fd);
	assert_file_text("run.jsonl", EARLIER "{\"c\":3}\n");

	put_text("torn.jsonl", "{\"ti");
	output = open_ok("torn.jsonl", &APPEND);
	assert_false(output.had_content);
	close(output.fd);
}

/* A crash may leave a part of the first row alone. A number of another length is the last line of another program. */
static void a_torn_first_row_has_a_time(void **state)
{
	static const struct output_options CSV = {true, LINES_CSV, NULL, false};
	static const struct {
		const char *text;
		int64_t cut_bytes;
	} FILES[] = {{"1796045140", 10},
		     {"1796045140.2", 12},
		     {"179604514", 0},
		     {"17960451402", 0},
		     {"\"timest", 7}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(FILES); i++) {
		struct opened_output output;

		put_text("run.csv", FILES[i].text);
		output = open_ok("run.csv", &CSV);
		assert_int_equal(output.repair.cut_bytes, FILES[i].cut_bytes);
		close(output.fd);
	}
}

static void a_live_recording_is_refused_before_it_is_renamed(void **state)
{
	struct opened_output live = open_ok("run.jsonl", &FRESH);

	(void)state;
	assert_refused("run.jsonl", &FRESH, -EBUSY, "run.jsonl");
	assert_true(dprintf(live.fd, EARLIER) > 0);
	assert_refused("run.jsonl", &FRESH, -EBUSY, "choose another");
	assert_refused("run.jsonl", &APPEND, -EBUSY, "another recording");
	assert_int_equal(access("run.jsonl.1", F_OK), -1);
	assert_file_text("run.jsonl", EARLIER);
	close(live.fd);
	live = open_ok("run.jsonl", &FRESH);
	assert_int_equal(live.renamed_number, 1);
	close(live.fd);
}

/* A job that outlives us must not hold the lock. */
static void a_job_that_outlives_us_does_not_hold_the_lock(void **state)
{
	struct opened_output live = open_ok("run.jsonl", &FRESH);
	int status, ready[2];
	pid_t job;
	char c;

	(void)state;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	job = fork();
	if (job == 0) {
		execlp("sleep", "sleep", "30", (char *)NULL);
		_exit(127);
	}
	close(ready[1]);
	/* End of file: exec closed the copy of the pipe, and the copy of the lock, too. */
	assert_int_equal(read(ready[0], &c, 1), 0);
	close(ready[0]);
	close(live.fd);
	live = open_ok("run.jsonl", &FRESH);
	close(live.fd);
	kill(job, SIGKILL);
	assert_int_equal(waitpid(job, &status, 0), job);
}

static void open_output_refuses_folders_and_devices(void **state)
{
	struct sockaddr_un address = {AF_UNIX, "socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(mkdir("folder", 0777), 0);
	put_text("file", "text");
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	close(fd);
	assert_refused("folder", &FRESH, -EISDIR, "folder");
	assert_refused("folder/", &FRESH, -EISDIR, "name a file in it");
	assert_refused("/", &FRESH, -EISDIR, "folder");
	assert_refused(".", &FRESH, -EISDIR, "folder");
	assert_refused("missing/run.jsonl", &FRESH, -ENOENT, "does not exist; create it");
	assert_refused("file/run.jsonl", &FRESH, -ENOTDIR, "file/run.jsonl");
	assert_refused("", &FRESH, -ENOENT, "empty");
	assert_refused("socket", &FRESH, -EINVAL, "socket");
	assert_refused("missing/new\nline\033[2J", &FRESH, -ENOENT, "new?line?[2J");
	if (geteuid() == 0 && mknod("disk", S_IFBLK | 0600, 0x700) == 0)
		assert_refused("disk", &FRESH, -EINVAL, "disk");
}

static void a_long_path_leaves_room_for_the_reason(void **state)
{
	char path[1024];

	(void)state;
	memset(path, 'p', sizeof path);
	for (size_t i = 100; i < sizeof path; i += 100)
		path[i] = '/';
	path[sizeof path - 1] = '\0';
	assert_refused(path, &FRESH, -ENOENT, "create it first");
}

static void links_lead_where_they_lead(void **state)
{
	struct opened_output output;

	(void)state;
	assert_int_equal(symlink("target", "link"), 0);
	output = open_ok("link", &FRESH); /* dangling: its target is created */
	assert_int_equal(dprintf(output.fd, "{}\n"), 3);
	close(output.fd);
	assert_file_text("target", "{}\n");
	assert_refused("link", &FRESH, -EEXIST, "--append");
	output = open_ok("link", &APPEND);
	assert_true(output.had_content);
	assert_refused("target", &APPEND, -EBUSY, "another recording");
	close(output.fd);
	assert_file_text("target", "{}\n");
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_refused("loop", &FRESH, -ELOOP, "loop");
	assert_int_equal(symlink("/dev/null", "null"), 0);
	output = open_ok("null", &FRESH);
	assert_false(output.regular);
	close(output.fd);
}

static void make_shared_folder(void)
{
	assert_int_equal(mkdir("shared", 0777), 0);
	assert_int_equal(chmod("shared", 01777), 0);
}

static void nothing_is_followed_in_a_shared_folder(void **state)
{
	(void)state;
	make_shared_folder();
	put_text("victim", "precious");
	assert_int_equal(symlink("../victim", "shared/run"), 0);
	assert_int_equal(symlink("../new", "shared/dangling"), 0);
	assert_refused("shared/run", &FRESH, -ELOOP, "symbolic link");
	assert_refused("shared/run", &APPEND, -ELOOP, "name the file itself");
	assert_refused("shared/dangling", &FRESH, -ELOOP, "symbolic link");
	assert_file_text("victim", "precious");
	assert_int_equal(access("new", F_OK), -1);
	assert_int_equal(link("victim", "shared/second"), 0);
	assert_refused("shared/second", &APPEND, -EACCES, "second name");
	close(open_ok("shared/fresh", &FRESH).fd);
	/* It is empty, has one name and is ours. */
	close(open_ok("shared/fresh", &FRESH).fd);
	/* A FIFO may have a second name. */
	assert_int_equal(mkfifo("fifo", 0600) | link("fifo", "shared/fifo"), 0);
	close(open_ok("shared/fifo", &FRESH).fd);
}

/* Only a sticky folder of all users is one where another user can place a name that we cannot remove. */
static void only_a_sticky_folder_of_all_is_shared(void **state)
{
	static const mode_t MODES[] = {0777, 01775, 0755};

	(void)state;
	put_text("earlier", EARLIER);
	assert_int_equal(mkdir("folder", 0755) | symlink("../earlier", "folder/link"), 0);
	for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
		assert_int_equal(chmod("folder", MODES[i]), 0);
		close(open_ok("folder/link", &APPEND).fd);
	}
}

/* Text of more names than ours fits into a message: its end is shown. */
static void the_end_of_a_long_path_is_shown(void **state)
{
	char path[202];

	(void)state;
	memset(path, 'p', sizeof path);
	path[201] = '\0';
	assert_ptr_equal(output_shown_path(path), path + 1);
	assert_ptr_equal(output_shown_path(path + 1), path + 1);
	path[0] = '\n';
	output_message(path, 0, "%s", "no room");
	assert_int_equal(path[0], '\n');
	output_message(path, 4, "a\tb\nc");
	assert_string_equal(path, "a?b");
}

/* The name is taken, whatever is in the file. */
static void a_fresh_file_has_a_new_name(void **state)
{
	const struct output_options fresh = {false, LINES_JSON, NULL, true},
				    append = {true, LINES_JSON, NULL, true};

	(void)state;
	close(open_ok("run.jsonl", &fresh).fd);
	assert_refused("run.jsonl", &fresh, -EEXIST, strerror(EEXIST));
	close(open_ok("run.jsonl", &append).fd);
}

static void marks_go_with_their_recording(void **state)
{
	(void)state;
	put_text("run.jsonl", EARLIER);
	put_text("run.jsonl.marks", "a mark\n");
	close(open_ok("run.jsonl", &FRESH).fd);
	assert_file_text("run.jsonl.1.marks", "a mark\n");
	assert_int_equal(access("run.jsonl.marks", F_OK), -1);
}

static void open_output_refuses_planted_files(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("# only root can make another user's file\n");
		skip();
	}
	make_shared_folder();
	put_text("shared/empty", "");
	put_text("shared/text", "text\n");
	assert_int_equal(mkfifo("shared/fifo", 0666), 0);
	assert_int_equal(chown("shared/empty", SOMEBODY, SOMEBODY), 0);
	assert_int_equal(chown("shared/text", SOMEBODY, SOMEBODY), 0);
	assert_int_equal(chown("shared/fifo", SOMEBODY, SOMEBODY), 0);
	assert_refused("shared/empty", &FRESH, -EACCES, "another user");
	assert_refused("shared/text", &FRESH, -EACCES, "another user");
	assert_refused("shared/text", &APPEND, -EACCES, "another user");
	assert_refused("shared/fifo", &FRESH, -EACCES, "another user");
	assert_int_equal(access("shared/text.1", F_OK), -1);
}

static void run_as_somebody(void (*body)(void))
{
	int status;
	pid_t child;

	if (geteuid() != 0) {
		print_message("# needs root to become another user\n");
		skip();
	}
	assert_int_equal(chown(".", SOMEBODY, SOMEBODY), 0);
	child = fork();
	if (child == 0) {
		if (setgid(SOMEBODY) < 0 || setuid(SOMEBODY) < 0)
			_exit(98);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void try_without_permission(void)
{
	struct opened_output output;

	put_text("closed", EARLIER);
	chmod("closed", 0444);
	if (open_output("closed", &APPEND, &output, message, sizeof message) != -EACCES)
		_exit(1);
	if (open_output("foreign/new", &FRESH, &output, message, sizeof message) != -EACCES ||
	    !strstr(message, "takes no new file"))
		_exit(2);
	/* We may not write to it, but we may rename it. */
	if (open_output("closed", &FRESH, &output, message, sizeof message) != 0 ||
	    output.renamed_number != 1)
		_exit(3);
	chmod("closed.1", 0000);
	put_text("secret", "text\n");
	chmod("secret", 0000);
	/* It is unknown whether a recorder writes to it. */
	if (open_output("secret", &FRESH, &output, message, sizeof message) != -EACCES)
		_exit(4);
	chmod(".", 0555);
	put_text("closed", "");
	if (open_output("other", &FRESH, &output, message, sizeof message) != -EACCES)
		_exit(5);
	chmod(".", 0755);
}

static void permissions_are_kept(void **state)
{
	(void)state;
	assert_int_equal(mkdir("foreign", 0755), 0);
	run_as_somebody(try_without_permission);
}

static void a_fifo_without_a_reader_does_not_wait(void **state)
{
	struct opened_output output;
	char text[8];
	int reader;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	output = open_ok("fifo", &FRESH);
	assert_true(output.no_reader_yet && !output.regular);
	assert_true(fcntl(output.fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(fcntl(output.fd, F_GETFL) & O_ACCMODE, O_WRONLY);
	reader = open("fifo", O_RDONLY | O_CLOEXEC);
	assert_int_equal(write(output.fd, "hello", 5), 5);
	assert_int_equal(read(reader, text, sizeof text), 5);
	close(output.fd);
	/* We were a reader only for a moment. */
	assert_int_equal(read(reader, text, sizeof text), 0);
	output = open_ok("fifo", &FRESH);
	assert_false(output.no_reader_yet);
	close(output.fd);
	close(reader);
}

static void devices_are_written_to_and_never_renamed(void **state)
{
	struct opened_output output = open_ok("/dev/null", &FRESH);

	(void)state;
	/* A refusal closes no other descriptor. */
	assert_int_equal(open_output("", &FRESH, &output, message, sizeof message), -ENOENT);
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0 && fcntl(STDIN_FILENO, F_GETFD) >= 0);
	assert_false(output.regular);
	close(output.fd);
	output = open_ok("/dev/full", &FRESH);
	assert_int_equal(write(output.fd, "x", 1), -1);
	assert_int_equal(errno, ENOSPC);
	close(output.fd);
	assert_int_equal(access("/dev/null.1", F_OK), -1);
}

static void closed_standard_streams_do_not_become_the_file(void **state)
{
	int status;
	pid_t child;

	(void)state;
	put_text("old", EARLIER);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	child = fork();
	if (child == 0) {
		static const char *const NAMES[] = {"new", "old", "fifo", "/dev/null"};

		close(0), close(1), close(2);
		for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
			struct opened_output output;

			if (open_output(NAMES[i], &FRESH, &output, message, sizeof message) != 0 ||
			    output.fd < 3)
				_exit(1);
			if (!(fcntl(output.fd, F_GETFD) & FD_CLOEXEC) || fcntl(2, F_GETFD) >= 0)
				_exit(2);
			close(output.fd);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

struct race {
	int start[2], tried[2], finish[2];
};

static _Noreturn void run_racer(struct race *race)
{
	struct opened_output output;
	char c = 'x';
	int r;

	close(race->start[1]);
	close(race->finish[1]);
	(void)!read(race->start[0], &c, 1);
	r = open_output("run", &FRESH, &output, message, sizeof message);
	if (r == 0)
		dprintf(output.fd, EARLIER);
	(void)!write(race->tried[1], &c, 1);
	(void)!read(race->finish[0], &c, 1);
	_exit(r == 0 ? 0 : r == -EBUSY ? 1 : 2);
}

static void those_that_start_at_once_never_share_a_file(void **state)
{
	enum { RACERS = 4, ROUNDS = 50 };

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	for (int round = 0; round < ROUNDS; round++) {
		int winners = 0, status;
		pid_t racers[RACERS];
		struct race race;
		char c;

		if (round % 2)
			put_text("run", EARLIER);
		assert_int_equal(pipe2(race.start, O_CLOEXEC) | pipe2(race.tried, O_CLOEXEC), 0);
		assert_int_equal(pipe2(race.finish, O_CLOEXEC), 0);
		for (int i = 0; i < RACERS; i++) {
			racers[i] = fork();
			if (racers[i] == 0)
				run_racer(&race);
		}
		close(race.start[0]), close(race.start[1]);
		for (int i = 0; i < RACERS; i++)
			assert_int_equal(read(race.tried[0], &c, 1), 1);
		close(race.finish[0]), close(race.finish[1]);
		close(race.tried[0]), close(race.tried[1]);
		for (int i = 0; i < RACERS; i++) {
			assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
			winners += WEXITSTATUS(status) == 0;
		}
		assert_int_equal(winners, 1);
		assert_file_text("run", EARLIER);
	}
}

static void put_member(const char *path, const char *text, bool csv)
{
	CLEANUP_BUFFER struct buffer member = BUFFER(4096);

	gzip_member_add(&member, text, strlen(text), csv);
	put_file(path, member.data, member.length);
}

/* A compressed file goes on with samples of its own format, and only with compressed ones. */
static void compressed_samples_go_to_files_of_their_kind(void **state)
{
	const struct output_options json = {true, MEMBERS_JSON, NULL, false},
				    csv = {true, MEMBERS_CSV, NULL, false};
	struct opened_output output;

	(void)state;
	put_member("a.gz", EARLIER, false);
	output = open_ok("a.gz", &json);
	assert_true(output.had_content);
	close(output.fd);
	assert_refused("a.gz", &csv, -EINVAL, "its samples have the other format");
	assert_refused("a.gz", &APPEND, -EINVAL, "it is compressed, and text cannot be appended");
	put_member("b.gz", "timestamp\n1\n", true);
	close(open_ok("b.gz", &csv).fd);
	assert_refused("b.gz", &json, -EINVAL, "its samples have the other format");
	put_text("c.gz", EARLIER);
	assert_refused("c.gz", &json, -EINVAL, "it holds text, and compressed samples cannot be appended");
	/* Another program has compressed it. */
	put_file("d.gz", "\x1f\x8b\x08\0\0\0\0\0\0\0\0\0", 12);
	close(open_ok("d.gz", &csv).fd);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		unit_test_in_scratch(a_new_file_is_made_as_umask_says),
		unit_test_in_scratch(an_earlier_recording_is_renamed),
		unit_test_in_scratch(other_files_than_recordings_are_left_alone),
		unit_test_in_scratch(an_empty_file_is_used),
		unit_test_in_scratch(appending_repairs_first),
		unit_test_in_scratch(a_torn_first_row_has_a_time),
		unit_test_in_scratch(a_live_recording_is_refused_before_it_is_renamed),
		unit_test_in_scratch(a_job_that_outlives_us_does_not_hold_the_lock),
		unit_test_in_scratch(open_output_refuses_folders_and_devices),
		unit_test_in_scratch(a_long_path_leaves_room_for_the_reason),
		unit_test_in_scratch(links_lead_where_they_lead),
		unit_test_in_scratch(nothing_is_followed_in_a_shared_folder),
		unit_test_in_scratch(open_output_refuses_planted_files),
		unit_test_in_scratch(permissions_are_kept),
		unit_test_in_scratch(a_fifo_without_a_reader_does_not_wait),
		unit_test_in_scratch(devices_are_written_to_and_never_renamed),
		unit_test_in_scratch(closed_standard_streams_do_not_become_the_file),
		unit_test_in_scratch(those_that_start_at_once_never_share_a_file),
		unit_test_in_scratch(only_a_sticky_folder_of_all_is_shared),
		unit_test_in_scratch(the_end_of_a_long_path_is_shown),
		unit_test_in_scratch(a_fresh_file_has_a_new_name),
		unit_test_in_scratch(marks_go_with_their_recording),
		unit_test_in_scratch(compressed_samples_go_to_files_of_their_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
