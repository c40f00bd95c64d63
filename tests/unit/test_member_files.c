/* Tests of src/gpu/member_files.c: which files of GPUs members hold, and when their descriptors are searched again. */
#include "scratch.h"

#include <errno.h>

#include "base/clock.h"
#include "gpu/member_files.h"

static struct root root;
static struct member_files files;
static int64_t clock_ns, look_ns; /* a look at the clock takes this long */
static const pid_t PIDS[] = {30, 10, 20};

static int64_t stepping_clock(void *unused)
{
	(void)unused;
	return clock_ns += look_ns;
}

static int begin(void **state)
{
	clock_ns = look_ns = 0;
	files = (struct member_files){0};
	return scratch_enter(state) < 0 || mkdir("proc", 0755) < 0 ||
	       root_open(&root, ".", &(struct clocks){stepping_clock, stepping_clock, NULL}) < 0;
}

static int end(void **state)
{
	member_files_done(&files);
	root_close(&root);
	return scratch_leave(state);
}

static void lay_link(int pid, const char *fd, const char *target)
{
	char path[64];

	snprintf(path, sizeof path, "proc/%d", pid);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof path, "proc/%d/fd", pid);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof path, "proc/%d/fd/%s", pid, fd);
	(void)unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static const struct file_holder *update_at(int64_t now_ns, size_t count)
{
	assert_int_equal(member_files_update(&files, &root, PIDS, count, now_ns), 0);
	return files.holders;
}

static void names_of_device_files_are_read_to_their_end(void **state)
{
	static const char *const OTHERS[] = {
		"/dev/dri/renderD", "/dev/dri/renderD12x",   "/dev/dri/card-1", "/dev/nvidiactl",
		"/dev/nvidia",      "/dev/nvidia2147483648", "/dev/dri/card:",  "/dev/dri/by-path/1"};
	const struct file_holder *holder;

	(void)state;
	for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
		char number[8];

		snprintf(number, sizeof number, "%zu", i);
		lay_link(30, number, OTHERS[i]);
	}
	lay_link(30, "x", "/dev/nvidia7");
	holder = update_at(0, 1);
	assert_int_equal(holder->count, 0);
	lay_link(30, "40", "/dev/dri/renderD128");
	lay_link(30, "41", "/dev/dri/card0");
	lay_link(30, "42", "/dev/nvidia2147483647");
	holder = update_at(NSEC_PER_SEC, 1);
	assert_int_equal(holder->count, 3);
	for (int i = 0; i < 3; i++) {
		static const int NUMBERS[] = {128, 0, 2147483647};
		const struct gpu_file *file = &holder->files[i];

		assert_true(file->fd >= 40 && file->fd <= 42);
		assert_int_equal(file->number, NUMBERS[file->fd - 40]);
		assert_int_equal(file->kind, file->fd == 42 ? GPU_FILE_NVIDIA : GPU_FILE_DRM);
		assert_true(member_file_is_open(&root, 30, file));
	}
}

static void a_file_is_open_while_its_descriptor_leads_to_it(void **state)
{
	struct gpu_file file = {.fd = 5, .kind = GPU_FILE_DRM, .number = 128};

	(void)state;
	assert_false(member_file_is_open(&root, 30, &file));
	lay_link(30, "5", "/dev/dri/renderD128");
	assert_true(member_file_is_open(&root, 30, &file));
	lay_link(30, "5", "/dev/dri/renderD129");
	assert_false(member_file_is_open(&root, 30, &file));
	lay_link(30, "5", "/dev/nvidia128");
	assert_false(member_file_is_open(&root, 30, &file));
	lay_link(30, "5", "/dev/null");
	assert_false(member_file_is_open(&root, 30, &file));
}

/* Repeated files of NVIDIA count once, and clients of DRM each. More than there is room for is told. */
static void there_is_room_for_32_files(void **state)
{
	const struct file_holder *holder;
	char number[8];

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(number, sizeof number, "%d", i);
		lay_link(30, number, "/dev/nvidia0");
	}
	for (int i = 0; i < MEMBER_FILES_MAX - 1; i++) {
		snprintf(number, sizeof number, "%d", 10 + i);
		lay_link(30, number, "/dev/dri/renderD128");
	}
	holder = update_at(0, 1);
	assert_int_equal(holder->count, MEMBER_FILES_MAX);
	assert_false(holder->left_out);
	lay_link(30, "100", "/dev/dri/renderD128");
	holder = update_at(NSEC_PER_SEC, 1);
	assert_int_equal(holder->count, MEMBER_FILES_MAX);
	assert_true(holder->left_out);
	assert_int_equal(unlink("proc/30/fd/100"), 0);
	holder = update_at(3 * NSEC_PER_SEC, 1);
	assert_false(holder->left_out);
}

static void files_of_nvidia_count_by_their_number(void **state)
{
	(void)state;
	lay_link(30, "1", "/dev/dri/card0");
	lay_link(30, "2", "/dev/nvidia0");
	lay_link(30, "3", "/dev/nvidia1");
	lay_link(30, "4", "/dev/nvidia0");
	assert_int_equal(update_at(0, 1)->count, 3);
}

static void a_process_that_cannot_be_searched_has_its_reason(void **state)
{
	const struct file_holder *holder = update_at(0, 1);

	(void)state;
	assert_int_equal(holder->denied, ENOENT);
	assert_int_equal(holder->count, 0);
	lay_link(30, "1", "/dev/nvidia0");
	holder = update_at(NSEC_PER_SEC, 1);
	assert_int_equal(holder->denied, 0);
	assert_int_equal(holder->count, 1);
	assert_int_equal(rename("proc/30", "proc/31"), 0);
	holder = update_at(3 * NSEC_PER_SEC, 1);
	assert_int_equal(holder->denied, ENOENT);
	assert_int_equal(holder->count, 0);
}

/* After 1, 2, 4, 8 and then always 8 seconds. */
static void pauses_double_up_to_eight_seconds(void **state)
{
	static const int PAUSES[] = {1, 2, 4, 8, 8, 8};
	int64_t now_ns = 0;

	(void)state;
	lay_link(30, "1", "/dev/null");
	(void)update_at(0, 1);
	for (size_t i = 0; i < sizeof PAUSES / sizeof PAUSES[0]; i++) {
		now_ns += PAUSES[i] * NSEC_PER_SEC;
		assert_int_equal(files.holders[0].look_at_ns, now_ns);
		lay_link(30, "1", "/dev/nvidia0");
		assert_int_equal(update_at(now_ns - 1, 1)->count, 0);
		assert_int_equal(update_at(now_ns, 1)->count, 1);
		lay_link(30, "1", "/dev/null");
		files.holders[0].count = 0;
	}
	/* A change that another part has seen ends the pause, and it begins anew. */
	member_files_look_again(&files.holders[0]);
	lay_link(30, "1", "/dev/nvidia0");
	assert_int_equal(update_at(now_ns + 1, 1)->count, 1);
	assert_int_equal(files.holders[0].look_at_ns, now_ns + 1 + NSEC_PER_SEC);
}

static void members_that_have_left_are_forgotten(void **state)
{
	const struct file_holder *holders = update_at(0, 3);

	(void)state;
	assert_int_equal(files.count, 3);
	assert_true(holders[0].pid == 10 && holders[1].pid == 20 && holders[2].pid == 30);
	(void)update_at(0, 2);
	assert_int_equal(files.count, 2);
	assert_true(files.holders[0].pid == 10 && files.holders[1].pid == 30);
	(void)update_at(0, 0);
	assert_int_equal(files.count, 0);
}

/* A pass ends after 2 ms, and the next one goes on where it ended. */
static void a_pass_has_a_budget(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		lay_link(PIDS[i], "1", "/dev/nvidia0");
	look_ns = 2 * NSEC_PER_MSEC;
	assert_int_equal(update_at(0, 3)->count, 0);
	look_ns = 2 * NSEC_PER_MSEC - 1;
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < 3; i++)
			assert_int_equal(files.holders[i].count, i < pass);
		(void)update_at(0, 3);
	}
	assert_int_equal(files.holders[2].count, 1);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_of_device_files_are_read_to_their_end, begin, end),
		cmocka_unit_test_setup_teardown(a_file_is_open_while_its_descriptor_leads_to_it, begin, end),
		cmocka_unit_test_setup_teardown(there_is_room_for_32_files, begin, end),
		cmocka_unit_test_setup_teardown(files_of_nvidia_count_by_their_number, begin, end),
		cmocka_unit_test_setup_teardown(a_process_that_cannot_be_searched_has_its_reason, begin, end),
		cmocka_unit_test_setup_teardown(pauses_double_up_to_eight_seconds, begin, end),
		cmocka_unit_test_setup_teardown(members_that_have_left_are_forgotten, begin, end),
		cmocka_unit_test_setup_teardown(a_pass_has_a_budget, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
