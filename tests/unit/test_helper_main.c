/* Tests of src/helper_cli/helper_main.c: the words and the memory that the program takes, and how it leaves its starter. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nvml_script.h"
#include "unit.h"

#include "gpu/survey.h"
#include "helper/shared_page.h"
#include "remote/remote_message.h"

enum { USAGE_STATUS = 2, PAGE_BYTES = 4096, WORDS_MOST = 5, STAYS = 1 << 30 };

static char program[4096], said[65536];
static int ends[2]; /* of a connection; the second is the program's */
static int stdin_fd = STAYS, stdout_fd = STAYS, third_fd = STAYS, saying_fd;

static int begin(void **state)
{
	char path[] = "/tmp/rt-helper-said-XXXXXX";

	(void)state;
	snprintf(program, sizeof program, "%s/resource-tracker-helper", getenv("TEST_BUILD"));
	nvml_script_begin("nvml_fake");
	nvml_script_set("gpus 1\n");
	stdin_fd = stdout_fd = third_fd = STAYS;
	saying_fd = mkstemp(path);
	unlink(path);
	/* The helper that its first process leaves behind becomes a child of this process. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return saying_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static int end(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	close(saying_fd);
	unsetenv("TRACKER_DEBUG");
	nvml_script_end();
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	return 0;
}

/* ---- running the program --------------------------------------------------------------------------------------- */

static void place(int fd, int number)
{
	if (fd < 0)
		close(number);
	else if (fd != STAYS)
		dup2(fd, number);
}

/* Returns the exit status of the program with these words. It speaks to a file. */
static int run_words(const char *const *words)
{
	int status;
	pid_t pid;

	if (is_emulated())
		SKIP("an emulator starts no program of its machine");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		place(stdin_fd, STDIN_FILENO);
		place(stdout_fd, STDOUT_FILENO);
		place(third_fd, STDERR_FILENO + 1);
		dup2(saying_fd, STDERR_FILENO);
		execv(program, (char *const *)(uintptr_t)words);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define RUN(...) run_words((const char *const[]){program __VA_OPT__(, ) __VA_ARGS__, NULL})

static const char *text_of(int fd)
{
	ssize_t length = pread(fd, said, sizeof said - 1, 0);

	assert_true(length >= 0);
	said[length] = '\0';
	return said;
}

static void forget_text(int fd)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	lseek(fd, 0, SEEK_SET);
}

/* ---- the memory of a recorder ---------------------------------------------------------------------------------- */

struct memory {
	int fd;
	size_t total;
	struct helper_page *page;
	char fd_word[16], socket_word[16];
};

static size_t above(size_t bytes)
{
	return (bytes + 7) / 8 * 8;
}

/* The setup, the request and the answer follow each other, and the last of the three ends with the memory. */
static void make_memory(struct memory *memory, bool setup_is_last)
{
	size_t setup = above(sizeof(struct gpu_setup)),
	       request = latest_footprint(sizeof(struct gpu_request)),
	       answer = latest_footprint(sizeof(struct gpu_survey));
	struct helper_page page = {
		.magic = HELPER_MAGIC,
		.setup_bytes = sizeof(struct gpu_setup),
		.request_bytes = sizeof(struct gpu_request),
		.answer_bytes = sizeof(struct gpu_survey),
		.recorder_pid = getpid(),
		.request_offset = PAGE_BYTES + (setup_is_last ? 0 : setup),
	};

	page.answer_offset = page.request_offset + request;
	page.setup_offset = setup_is_last ? page.answer_offset + answer : PAGE_BYTES;
	memory->total = setup_is_last ? page.setup_offset + page.setup_bytes : page.answer_offset + answer;
	memory->fd = memfd_create("a recorder's", 0);
	assert_int_equal(ftruncate(memory->fd, (off_t)memory->total), 0);
	memory->page = mmap(NULL, memory->total, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
	assert_true(memory->page != MAP_FAILED);
	*memory->page = page;
	snprintf(memory->fd_word, sizeof memory->fd_word, "%d", memory->fd);
	snprintf(memory->socket_word, sizeof memory->socket_word, "%d", ends[1]);
}

static void free_memory(struct memory *memory)
{
	munmap(memory->page, memory->total);
	close(memory->fd);
}

static int run_with(struct memory *memory)
{
	return RUN("gpu", memory->fd_word, memory->socket_word);
}

/* Both parts lie where the page says: the worker reads the one and writes the other. */
static void wait_for_answer(struct memory *memory)
{
	const struct helper_page *page = memory->page;
	struct latest answer = latest_at((char *)memory->page + page->answer_offset, page->answer_bytes);

	for (int i = 0; i < 20000 && !latest_number(&answer) && !page->failure_count; i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	assert_int_equal(page->failure_count, 0);
	assert_true(latest_number(&answer) > 0);
}

/* The helper ends with the connection. Returns its exit status. */
static int end_helper(const struct memory *memory)
{
	pid_t pid = (pid_t)memory->page->supervisor_pid;
	int status;

	assert_true(pid > 1);
	shutdown(ends[0], SHUT_RDWR);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

static void assert_refused(int status)
{
	assert_int_equal(status, USAGE_STATUS);
	assert_non_null(strstr(text_of(saying_fd),
			       "helper is started by resource-tracker; it does nothing by itself.\n"));
	assert_ptr_equal(strstr(said, program), said);
	forget_text(saying_fd);
}

static void other_words_than_a_recorders_are_refused(void **state)
{
	struct memory memory;
	char wide[32], digits_and_more[32];

	(void)state;
	make_memory(&memory, false);
	snprintf(wide, sizeof wide, "%lld", (1LL << 32) + memory.fd);
	snprintf(digits_and_more, sizeof digits_and_more, "%dx", memory.fd);
	assert_refused(RUN());
	assert_refused(RUN("gpu"));
	assert_refused(RUN("gpu", memory.fd_word));
	assert_refused(RUN("gpu", memory.fd_word, memory.socket_word, "more"));
	assert_refused(RUN("cpu", memory.fd_word, memory.socket_word));
	assert_refused(RUN("gpu", "memory", memory.socket_word));
	assert_refused(RUN("gpu", memory.fd_word, ""));
	assert_refused(RUN("gpu", digits_and_more, memory.socket_word));
	assert_refused(RUN("gpu", memory.fd_word, "-1"));
	/* 2^32 and more become the number of an open file when their upper half is lost. */
	assert_refused(RUN("gpu", wide, memory.socket_word));
	/* None of these is open. */
	assert_refused(RUN("gpu", "923", memory.socket_word));
	assert_refused(RUN("gpu", memory.fd_word, "923"));
	assert_int_equal(memory.page->supervisor_pid, 0);
	free_memory(&memory);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void the_memory_of_this_version_starts_the_helper(void **state)
{
	(void)state;
	for (int setup_is_last = 0; setup_is_last < 2; setup_is_last++) {
		struct memory memory;

		make_memory(&memory, setup_is_last);
		assert_int_equal(run_with(&memory), 0);
		assert_int_equal(memory.page->start_error, 0);
		wait_for_answer(&memory);
		assert_int_equal(end_helper(&memory), 0);
		assert_string_equal(text_of(saying_fd), "");
		free_memory(&memory);
		close(ends[0]);
		close(ends[1]);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	}
}

static uint64_t *field_of(struct helper_page *page, int number)
{
	uint64_t *const FIELDS[] = {&page->magic,        &page->setup_bytes,  &page->request_bytes,
				    &page->answer_bytes, &page->setup_offset, &page->request_offset,
				    &page->answer_offset};

	return FIELDS[number];
}

/* Each of these is the memory of another version, or has a part that does not lie within it. */
static void other_memory_is_refused(void **state)
{
	(void)state;
	for (int last = 0; last < 2; last++) {
		struct memory memory;
		size_t sizes[3];

		make_memory(&memory, last);
		sizes[0] = memory.page->setup_bytes;
		sizes[1] = latest_footprint(memory.page->request_bytes);
		sizes[2] = latest_footprint(memory.page->answer_bytes);
		for (int number = 0; number < 7; number++) {
			uint64_t *field = field_of(memory.page, number), right = *field;
			size_t end = number < 4 ? 0 : memory.total - sizes[number - 4];
			uint64_t bound = end / 8 * 8 + 8;
			const uint64_t WRONG[] = {
				right + (number < 4 ? 8 : 4), number < 4 ? right - 1 : bound,
				number < 4 ? 0 : memory.total, number < 4 ? ~right : memory.total + 8,
				number < 4 ? 1 : UINT64_MAX - 7};

			for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
				*field = WRONG[i];
				if (run_with(&memory) != USAGE_STATUS)
					fail_msg("field %d takes %llu", number, (unsigned long long)WRONG[i]);
			}
			*field = right;
		}
		assert_int_equal(memory.page->supervisor_pid, 0);
		free_memory(&memory);
	}
}

static void memory_that_is_too_short_or_none_is_refused(void **state)
{
	struct memory memory;
	int null_fd = open("/dev/null", O_RDWR);

	(void)state;
	setenv("TRACKER_DEBUG", "1", 1);
	make_memory(&memory, false);
	/* The page's own size has no room for the parts. One byte less has none for the page. */
	assert_int_equal(ftruncate(memory.fd, sizeof(struct helper_page)), 0);
	assert_int_equal(run_with(&memory), USAGE_STATUS);
	assert_non_null(strstr(text_of(saying_fd),
			       "helper: the recorder's memory is not that of version " RT_VERSION "\n"));
	assert_int_equal(ftruncate(memory.fd, sizeof(struct helper_page) - 1), 0);
	assert_int_equal(run_with(&memory), USAGE_STATUS);
	snprintf(memory.fd_word, sizeof memory.fd_word, "%d", null_fd);
	assert_int_equal(run_with(&memory), USAGE_STATUS);
	/* It has the size, but it cannot be mapped for writing. */
	close(null_fd);
	null_fd = open(program, O_RDONLY);
	snprintf(memory.fd_word, sizeof memory.fd_word, "%d", null_fd);
	assert_int_equal(run_with(&memory), USAGE_STATUS);
	close(null_fd);
	free_memory(&memory);
}

/* ---- what it takes along --------------------------------------------------------------------------------------- */

static const char *link_of(pid_t pid, const char *name)
{
	static char link[4096];
	char path[64];
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	length = readlink(path, link, sizeof link - 1);
	link[length < 0 ? 0 : length] = '\0';
	return link;
}

static const char *file_of(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	text_of(fd);
	close(fd);
	return said;
}

static uint64_t mask_of(pid_t pid, const char *key)
{
	const char *line = strstr(file_of(pid, "status"), key);

	assert_non_null(line);
	return strtoull(line + strlen(key), NULL, 16);
}

/* The first process returns before the second has set itself up: until it has its name. */
static void wait_for_name(pid_t pid)
{
	for (int i = 0; i < 20000 && strcmp(file_of(pid, "comm"), "rt-helper\n") != 0; i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	assert_string_equal(said, "rt-helper\n");
}

static void assert_free_of_its_starter(pid_t pid)
{
	static const int IGNORED[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
				      SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};
	uint64_t ignored = 0;

	for (size_t i = 0; i < sizeof IGNORED / sizeof IGNORED[0]; i++)
		ignored |= UINT64_C(1) << (IGNORED[i] - 1);
	assert_true(mask_of(pid, "SigIgn:") == ignored);
	/* The worker's signals may be those of its library. */
	assert_true((mask_of(pid, "SigBlk:") & ignored) == 0);
	assert_int_equal(getsid(pid), pid);
	assert_string_equal(link_of(pid, "cwd"), "/");
	assert_string_equal(link_of(pid, "fd/0"), "/dev/null");
	assert_string_equal(link_of(pid, "fd/1"), "/dev/null");
}

/* A recorder whose descriptors 0 and 1 were closed has its memory and its connection there. */
static void the_helper_keeps_nothing_of_its_starter(void **state)
{
	struct rlimit cores = {RLIM_INFINITY, RLIM_INFINITY}, before;
	struct memory memory;
	sigset_t most, old;
	int left_open = fcntl(ends[1], F_DUPFD, 200);
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	make_memory(&memory, false);
	strcpy(memory.fd_word, "0");
	strcpy(memory.socket_word, "1");
	stdin_fd = memory.fd;
	stdout_fd = ends[1];
	third_fd = saying_fd;
	sigfillset(&most);
	sigprocmask(SIG_SETMASK, &most, &old);
	signal(SIGCONT, SIG_IGN);
	getrlimit(RLIMIT_CORE, &before);
	if (before.rlim_max != RLIM_INFINITY)
		cores = before;
	setrlimit(RLIMIT_CORE, &cores);
	assert_int_equal(run_with(&memory), 0);
	setrlimit(RLIMIT_CORE, &before);
	signal(SIGCONT, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	pid = (pid_t)memory.page->supervisor_pid;
	wait_for_name(pid);
	assert_free_of_its_starter(pid);
	assert_string_equal(link_of(pid, "fd/2"), "/dev/null");
	/* The number may be the helper's own again. */
	assert_string_not_equal(link_of(pid, "fd/3"), "/dev/null");
	assert_null(strstr(link_of(pid, "fd/3"), "rt-helper-said"));
	assert_string_equal(link_of(pid, "fd/200"), "");
	if (cores.rlim_max >= 1)
		assert_non_null(strstr(file_of(pid, "limits"), "Max core file size        1 "));
	assert_int_equal(end_helper(&memory), 0);
	close(left_open);
	free_memory(&memory);
}

/* A limit of the machine that is lower stays. */
static void no_core_at_all_stays_none(void **state)
{
	struct memory memory;
	pid_t pid = fork();
	int status;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		make_memory(&memory, false);
		if (run_with(&memory) != 0)
			_exit(1);
		wait_for_name((pid_t)memory.page->supervisor_pid);
		file_of((pid_t)memory.page->supervisor_pid, "limits");
		_exit(strstr(said, "Max core file size        0 ") && end_helper(&memory) == 0 ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void while_debugging_it_speaks(void **state)
{
	struct memory memory;
	char line[200];
	pid_t pid;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	setenv("TRACKER_DEBUG", "1", 1);
	make_memory(&memory, false);
	assert_int_equal(run_with(&memory), 0);
	pid = (pid_t)memory.page->supervisor_pid;
	wait_for_name(pid);
	assert_free_of_its_starter(pid);
	assert_int_equal(end_helper(&memory), 0);
	snprintf(line, sizeof line,
		 "helper: process %d of resource-tracker-helper " RT_VERSION " is there for kind gpu\n",
		 (int)pid);
	assert_non_null(strstr(text_of(saying_fd), line));
	free_memory(&memory);
}

/* ---- its other two uses ---------------------------------------------------------------------------------------- */

static void exec_starts_a_program_that_has_no_parent(void **state)
{
	char path[] = "/tmp/rt-helper-exec-XXXXXX";
	int status;
	pid_t pid;

	(void)state;
	stdout_fd = mkstemp(path);
	unlink(path);
	assert_int_equal(RUN("exec"), EINVAL);
	assert_int_equal(RUN("exec", "/bin/sh"), EINVAL);
	assert_int_equal(RUN("exec", "/no/such/program", "program"), ENOENT);
	forget_text(stdout_fd);
	assert_int_equal(RUN("exec", "/bin/sh", "sh", "-c", "echo $0; exit 7", "name"), 0);
	pid = (pid_t)strtol(text_of(stdout_fd), NULL, 10);
	assert_true(pid > 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	text_of(stdout_fd);
	assert_non_null(strstr(said, "\nname\n"));
	close(stdout_fd);
}

static void record_answers_on_its_standard_input(void **state)
{
	const struct remote_message question = {.what = REMOTE_SAMPLE_COUNT};
	struct buffer payload = BUFFER(100);
	struct remote_message answer = {0};
	const char *words[] = {program, REMOTE_WORD, NULL};

	(void)state;
	stdin_fd = ends[1];
	assert_int_equal(remote_send(ends[0], &question, NULL), 0);
	shutdown(ends[0], SHUT_WR);
	assert_int_equal(run_words(words), 0);
	assert_int_equal(remote_receive(ends[0], &answer, &payload), 0);
	assert_int_equal(answer.what, -EINVAL);
	buffer_done(&payload);
}

static void record_needs_an_open_standard_input_and_no_other_word(void **state)
{
	const char *words[] = {program, REMOTE_WORD, "more", NULL};

	(void)state;
	stdin_fd = ends[1];
	shutdown(ends[0], SHUT_WR);
	assert_refused(run_words(words));
	words[2] = NULL;
	stdin_fd = -1;
	assert_refused(run_words(words));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(other_words_than_a_recorders_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(the_memory_of_this_version_starts_the_helper, begin, end),
		cmocka_unit_test_setup_teardown(other_memory_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(memory_that_is_too_short_or_none_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(the_helper_keeps_nothing_of_its_starter, begin, end),
		cmocka_unit_test_setup_teardown(no_core_at_all_stays_none, begin, end),
		cmocka_unit_test_setup_teardown(while_debugging_it_speaks, begin, end),
		cmocka_unit_test_setup_teardown(exec_starts_a_program_that_has_no_parent, begin, end),
		cmocka_unit_test_setup_teardown(record_answers_on_its_standard_input, begin, end),
		cmocka_unit_test_setup_teardown(record_needs_an_open_standard_input_and_no_other_word, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
