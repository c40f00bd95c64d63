/* Tests of src/metric/selection.c, frame_pack.c, absent.c and the bounds of derive.c: which values are wanted, kept and believed. */
#include <errno.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "metric/derive.h"
#include "metric/frame_pack.h"
#include "metric/selection.h"
#include "metric/typed_rows.h"
#include "unit.h"

static struct selection selection;

/* `names`: separated by blanks. */
static void select_metrics(bool no_system, bool no_process, const char *names)
{
	char *globs[8], *words = strdup(names), *rest = *names ? words : NULL;
	size_t count = 0;

	while (rest)
		globs[count++] = strsep(&rest, " ");
	selection_init(&selection, no_system, no_process, globs, count);
	free(words);
}

static void without_options_all_is_wanted(void **state)
{
	(void)state;
	select_metrics(false, false, "");
	assert_true(selection.all && selection.kinds[ROW_gpu] &&
		    IS_WANTED(&selection, tree, process_cores_used));
}

static void a_part_may_be_switched_off(void **state)
{
	(void)state;
	select_metrics(false, true, "");
	assert_false(selection.all || selection.kinds[ROW_tree] || selection.kinds[ROW_program] ||
		     selection.kinds[ROW_job_disk]);
	assert_true(selection.kinds[ROW_memory] && selection.kinds[ROW_disk] && selection.kinds[ROW_sample]);
	assert_false(IS_WANTED(&selection, tree, process_cores_used));
	select_metrics(true, false, "");
	assert_false(selection.kinds[ROW_host_cpu] || selection.kinds[ROW_disk] ||
		     selection.kinds[ROW_totals] || selection.kinds[ROW_gpu]);
	assert_true(selection.kinds[ROW_tree] && selection.kinds[ROW_cgroup]);
	/* The memory of the machine would be needed for the start, but it is off. */
	assert_false(selection.kinds[ROW_memory]);
}

static void names_choose_metrics(void **state)
{
	(void)state;
	select_metrics(false, false, "disk.mounts.used_pct");
	assert_true(IS_WANTED(&selection, mount, used_pct) && IS_WANTED(&selection, mount, mount_point));
	assert_true(selection.kinds[ROW_mount] && selection.kinds[ROW_disk] &&
		    IS_WANTED(&selection, disk, device));
	assert_true(selection.kinds[ROW_sample] && IS_WANTED(&selection, sample, timestamp) &&
		    IS_WANTED(&selection, run_end, exit_code));
	assert_false(IS_WANTED(&selection, mount, total_bytes) ||
		     IS_WANTED(&selection, disk, read_bytes_per_sec));
	assert_false(selection.kinds[ROW_tree] || selection.kinds[ROW_memory] || selection.kinds[ROW_gpu] ||
		     selection.kinds[ROW_network]);
	/* A name alone, a pattern of it, and a whole group. */
	select_metrics(false, false, "read_bytes_per_sec process_*_mib network");
	assert_true(IS_WANTED(&selection, disk, read_bytes_per_sec) &&
		    IS_WANTED(&selection, tree, process_pss_mib));
	assert_true(IS_WANTED(&selection, network, rx_bytes_per_sec) &&
		    IS_WANTED(&selection, network, tx_bytes_total));
	assert_false(IS_WANTED(&selection, disk, write_bytes_per_sec) ||
		     IS_WANTED(&selection, tree, process_cores_used));
}

static void a_choice_brings_the_rows_that_it_needs(void **state)
{
	(void)state;
	select_metrics(false, false, "totals.disk_read_bytes");
	assert_true(selection.kinds[ROW_totals] && selection.kinds[ROW_disk]);
	assert_false(selection.kinds[ROW_network] || selection.kinds[ROW_tree]);
	select_metrics(false, false, "run_end.*");
	assert_true(selection.kinds[ROW_tree] && selection.kinds[ROW_cgroup] && !selection.kinds[ROW_limits]);
	select_metrics(false, true, "run_start.*");
	assert_true(selection.kinds[ROW_memory] && selection.kinds[ROW_limits] && !selection.kinds[ROW_tree]);
}

static void a_name_that_matches_nothing_is_told(void **state)
{
	char *globs[] = {(char[]){"cpu.*"}, (char[]){"gpu"}, (char[]){"process_coffee"}, (char[]){"tea"}};

	(void)state;
	assert_ptr_equal(selection_unmatched(globs, 4), globs[2]);
	assert_null(selection_unmatched(globs, 2));
	assert_null(selection_unmatched(globs, 0));
}

/* ---- frames ---- */

static struct disk_row *add_disk(struct frame *frame, const char *name, double used_pct)
{
	struct disk_row *disk = ADD_ROW(frame, disk, NULL);
	struct mount_row *mount = ADD_ROW(frame, mount, &disk->row);

	disk->device = name;
	mount->mount_point = "/";
	mount->used_pct = used_pct;
	return disk;
}

static void fill_frame(struct frame *frame)
{
	frame_begin(frame, 5, 7);
	SINGLE_ROW(frame, tree)->process_child_count = 4;
	add_disk(frame, "sda", 12.5)->row.number = 3;
	add_disk(frame, "nvme0n1", no_real(EACCES))->read_bytes_counter = no_count(ABSENT_NO_SUCH_COUNTER);
	frame->missing[ROW_gpu] = ENODEV;
}

static void unwanted_values_say_that_they_are(void **state)
{
	struct frame frame = {0};
	const struct mount_row *mount;

	(void)state;
	fill_frame(&frame);
	select_metrics(false, false, "used_pct");
	selection_apply(&selection, &frame);
	mount = (const void *)frame.first[ROW_mount];
	assert_true(mount->used_pct == 12.5);
	assert_string_equal(mount->mount_point, "/");
	assert_int_equal(count_absent(SINGLE_ROW(&frame, tree)->process_child_count), ABSENT_NOT_WANTED);
	frame_done(&frame);
}

static void a_packed_frame_comes_back(void **state)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20), again = BUFFER(1 << 20);
	struct frame frame = {0}, copy = {0};
	const struct disk_row *disk;
	const struct mount_row *mount;

	(void)state;
	fill_frame(&frame);
	frame_pack(&packed, &frame);
	frame_done(&frame);
	assert_int_equal(frame_unpack(&copy, packed.data, packed.length), 0);
	assert_int_equal(copy.monotonic_ns, 5);
	assert_int_equal(copy.realtime_ns, 7);
	assert_int_equal(copy.missing[ROW_gpu], ENODEV);
	disk = (const void *)copy.first[ROW_disk];
	assert_string_equal(disk->device, "sda");
	assert_int_equal(disk->row.number, 3);
	assert_string_equal(((const struct disk_row *)(const void *)disk->row.next)->device, "nvme0n1");
	assert_int_equal(
		count_absent(((const struct disk_row *)(const void *)disk->row.next)->read_bytes_counter),
		ABSENT_NO_SUCH_COUNTER);
	mount = (const void *)copy.first[ROW_mount];
	assert_true(mount->used_pct == 12.5 && mount->row.parent == &disk->row);
	mount = (const void *)mount->row.next;
	assert_int_equal(real_absent(mount->used_pct), EACCES);
	assert_ptr_equal(mount->row.parent, disk->row.next);
	frame_pack(&again, &copy);
	assert_int_equal(again.length, packed.length);
	assert_memory_equal(again.data, packed.data, packed.length);
	frame_done(&copy);
}

static void damaged_bytes_are_refused(void **state)
{
	CLEANUP_BUFFER struct buffer packed = BUFFER(1 << 20);
	struct frame frame = {0};
	size_t whole = 0;

	(void)state;
	fill_frame(&frame);
	frame_pack(&packed, &frame);
	frame_done(&frame);
	for (size_t length = 0; length <= packed.length; length++) {
		/* A copy of its own, so that valgrind sees what is read behind the end. */
		char *bytes = memcpy(malloc(length + 1), packed.data, length);
		int result = frame_unpack(&frame, bytes, length);

		assert_true(result == 0 || result == -EBADMSG);
		whole += result == 0;
		frame_done(&frame);
		free(bytes);
	}
	/* Only the ends of rows are whole: the head, the sample, the tree, two disks and their mounts. */
	assert_int_equal(whole, 7);
}

/* ---- bounds ---- */

static void a_value_that_no_machine_has_is_absent(void **state)
{
	struct frame frame = {0};
	struct tree_row *tree;
	struct program_row *program;

	(void)state;
	frame_begin(&frame, 5, 7);
	frame.memory_mib = 1000;
	frame.sample->elapsed_secs = 10;
	tree = SINGLE_ROW(&frame, tree);
	program = ADD_ROW(&frame, program, NULL);
	tree->process_child_count = 2;
	tree->process_pss_mib = 1000;
	tree->process_rss_mib = 3000;
	tree->process_memory_mib = 1000.5;
	program->memory_mib = 1001;
	add_disk(&frame, "sda", 100);
	add_disk(&frame, "sdb", 100.5);
	add_disk(&frame, "sdc", -1);
	derive(&frame, &(struct earlier_frames){0});
	assert_true(tree->process_pss_mib == 1000 && tree->process_rss_mib == 3000);
	assert_int_equal(real_absent(tree->process_memory_mib), ABSENT_IMPOSSIBLE);
	assert_int_equal(real_absent(program->memory_mib), ABSENT_IMPOSSIBLE);
	assert_true(((const struct mount_row *)(const void *)frame.first[ROW_mount])->used_pct == 100);
	assert_int_equal(
		real_absent(((const struct mount_row *)(const void *)frame.first[ROW_mount]->next)->used_pct),
		ABSENT_IMPOSSIBLE);
	assert_int_equal(
		real_absent(((const struct mount_row *)(const void *)frame.first[ROW_mount]->next->next)
				    ->used_pct),
		ABSENT_NOT_A_VALUE);
	frame_done(&frame);
}

/* Rows that are a part of the machine hold at most its memory; a sum of resident sets that of each process, limits anything. */
static void parts_hold_no_more_than_the_machine(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		double mib = i == 0 ? 1000 : 1000.001, sum = i == 2 ? 3000.001 : 3000;
		struct frame frame = {0};
		struct tree_row *tree;
		struct run_end_row *end;
		struct memory_row *memory;

		frame_begin(&frame, 5, 7);
		frame.memory_mib = 1000;
		tree = SINGLE_ROW(&frame, tree);
		tree->process_child_count = 2;
		tree->process_pss_mib = tree->process_gpu_vram_mib = mib;
		tree->process_rss_mib = tree->process_shared_mib = sum;
		ADD_ROW(&frame, program, NULL)->memory_mib = mib;
		SINGLE_ROW(&frame, cgroup)->anon_mib = mib;
		ADD_ROW(&frame, numa, NULL)->total_mib = mib;
		end = SINGLE_ROW(&frame, run_end);
		end->memory_peak_mib = mib;
		end->oom_kill_limit_mib = 9e9;
		ADD_ROW(&frame, run_end_program, &end->row)->memory_peak_mib = mib;
		memory = SINGLE_ROW(&frame, memory);
		memory->total_mib = 5000;
		derive(&frame, &(struct earlier_frames){0});
		assert_int_equal(real_absent(tree->process_pss_mib), i ? ABSENT_IMPOSSIBLE : 0);
		assert_int_equal(
			real_absent(((struct program_row *)(void *)frame.first[ROW_program])->memory_mib),
			i ? ABSENT_IMPOSSIBLE : 0);
		assert_int_equal(real_absent(SINGLE_ROW(&frame, cgroup)->anon_mib),
				 i ? ABSENT_IMPOSSIBLE : 0);
		assert_int_equal(real_absent(((struct numa_row *)(void *)frame.first[ROW_numa])->total_mib),
				 i ? ABSENT_IMPOSSIBLE : 0);
		assert_int_equal(real_absent(end->memory_peak_mib), i ? ABSENT_IMPOSSIBLE : 0);
		assert_int_equal(
			real_absent(((struct run_end_program_row *)(void *)frame.first[ROW_run_end_program])
					    ->memory_peak_mib),
			i ? ABSENT_IMPOSSIBLE : 0);
		assert_int_equal(real_absent(tree->process_rss_mib), i == 2 ? ABSENT_IMPOSSIBLE : 0);
		assert_int_equal(real_absent(tree->process_shared_mib), i == 2 ? ABSENT_IMPOSSIBLE : 0);
		assert_true(tree->process_gpu_vram_mib == mib && end->oom_kill_limit_mib == 9e9);
		assert_true(memory->total_mib == 5000);
		frame_done(&frame);
	}
}

static void each_reason_has_words(void **state)
{
	(void)state;
	for (int reason = ABSENT_NOT_COLLECTED; reason < ABSENT_END; reason++)
		assert_true(strlen(absent_reason_text(reason)) > 10);
	assert_string_equal(absent_reason_text(ABSENT_NO_LIMIT), "there is no limit");
	assert_string_equal(absent_reason_text(-ABSENT_NO_LIMIT), "there is no limit");
	assert_string_equal(absent_reason_text(EACCES), strerror(EACCES));
	assert_string_equal(absent_reason_text(-EACCES), strerror(EACCES));
	assert_string_equal(absent_reason_text(0), "unknown");
	assert_string_equal(absent_reason_text(EPERM), strerror(EPERM));
	assert_string_equal(absent_reason_text(ABSENT_NOT_COLLECTED), "not measured here");
	assert_string_equal(absent_reason_text(ABSENT_END), "unknown");
}

static void absent_values_do_not_count(void **state)
{
	(void)state;
	assert_int_equal(real_absent(0.0) + real_absent(-1.5), 0);
	assert_int_equal(real_absent((double)INFINITY), ABSENT_NOT_A_VALUE);
	assert_int_equal(real_absent((double)NAN), ABSENT_NOT_A_VALUE);
	assert_int_equal(count_absent(no_count(-EPERM)), EPERM);
	assert_int_equal(count_absent(INT64_MIN + ABSENT_END), 0);
	assert_int_equal(count_absent(count_of_real(1e19)), ABSENT_NOT_A_VALUE);
	assert_int_equal(count_of_real(-2.7), -2);
	assert_int_equal(count_sum(INT64_MAX, 1), INT64_MAX);
	assert_true(isnan(real_of_count(no_count(EPERM))) && real_of_count(7) == 7.0);
	/* Values that a 64-bit number cannot hold stay as they are. */
	assert_true(round_to(1.2e19, 0) == 1.2e19 && round_to(-1.2e19, 0) == -1.2e19);
	assert_true(round_to(9.1e18, 0) == 9.1e18 && round_to(2.5, 0) == 3 && round_to(2.4999, 0) == 2);
	assert_true(round_to(2.345, 2) == 2.35 && round_to(-1.5, 0) == -1.0 && round_to(1e19, 0) == 1e19 &&
		    round_to(-1e19, 0) == -1e19);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_options_all_is_wanted),
		cmocka_unit_test(a_part_may_be_switched_off),
		cmocka_unit_test(names_choose_metrics),
		cmocka_unit_test(a_choice_brings_the_rows_that_it_needs),
		cmocka_unit_test(a_name_that_matches_nothing_is_told),
		cmocka_unit_test(unwanted_values_say_that_they_are),
		cmocka_unit_test(a_packed_frame_comes_back),
		cmocka_unit_test(damaged_bytes_are_refused),
		cmocka_unit_test(a_value_that_no_machine_has_is_absent),
		cmocka_unit_test(parts_hold_no_more_than_the_machine),
		cmocka_unit_test(each_reason_has_words),
		cmocka_unit_test(absent_values_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
