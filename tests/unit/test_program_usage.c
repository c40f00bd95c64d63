/* Tests of src/collect/program_usage.c: the rows of programs, from an account that this test makes. */
#include "lone_collector.h"

#include <errno.h>

#include "job/programs/program_table.h"

extern const struct collector PROGRAM_USAGE_COLLECTOR;

enum { PROGRAMS = 4, MOST_MEMBERS = 4, READ = 0 };
enum { WRITE = USAGE_WRITE_BYTES - USAGE_READ_BYTES };
enum { CHARS_IN = USAGE_READ_CHARS - USAGE_READ_BYTES, CHARS_OUT = USAGE_WRITTEN_CHARS - USAGE_READ_BYTES };

static struct program table[PROGRAMS];
static struct member members[MOST_MEMBERS];
static struct program_process processes[MOST_MEMBERS];
static struct programs programs;

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	memset(table, 0, sizeof table);
	memset(members, 0, sizeof members);
	memset(processes, 0, sizeof processes);
	programs = (struct programs){.at = table, .capacity = PROGRAMS, .processes = processes};
	lone.tree.programs = &programs;
	lone.tree.members = members;
	lone.context.tree = &lone.tree;
	lone.context.program_rows = 2;
	lone_open(&PROGRAM_USAGE_COLLECTOR);
	return 0;
}

static struct program *add_program(const char *name, int64_t cpu_units)
{
	struct program *program = &table[programs.count++];

	snprintf(program->name, sizeof program->name, "%s", name);
	program->cpu_units = cpu_units;
	return program;
}

/* Adds a process that runs a program, with its share of memory. */
static void add_member(pid_t pid, size_t program, double share_kib)
{
	members[lone.tree.count++] = (struct member){.pid = pid, .memory = {.share = share_kib}};
	processes[programs.process_count++] = (struct program_process){.pid = pid, .program = program};
}

/* A sample in which the tree has `mib` of memory. */
static struct frame *sample(double mib)
{
	struct tree_row *tree = SINGLE_ROW(lone_begin(1), tree);

	tree->process_memory_mib = mib;
	tree->read_bytes_total = tree->process_child_count = 0;
	tree->process_gpu_vram_mib = 0;
	return lone_fill();
}

/* The same for the last one. */
static struct frame *last_sample(void)
{
	struct tree_row *tree = SINGLE_ROW(lone_begin(9), tree);

	tree->process_memory_mib = no_real(ABSENT_ZOMBIE);
	tree->read_bytes_total = 0;
	(void)SINGLE_ROW(&lone.frame, run_end);
	return lone_fill();
}

static const struct program_row *row(const char *name)
{
	for (const struct program_row *at = FIRST(&lone.frame, program); at; at = NEXT(at, program))
		if (strcmp(at->name, name) == 0)
			return at;
	return NULL;
}

static const char *names(void)
{
	static char text[200];

	text[0] = '\0';
	for (const struct program_row *at = FIRST(&lone.frame, program); at; at = NEXT(at, program))
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", at->name);
	return text;
}

static const char *names_of_end(void)
{
	static char text[200];

	text[0] = '\0';
	for (const struct run_end_program_row *at = FIRST(&lone.frame, run_end_program); at;
	     at = NEXT(at, run_end_program))
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", at->name);
	return text;
}

static void those_that_used_most_since_the_last_sample_come_first(void **state)
{
	(void)state;
	lone.context.program_rows = 4;
	add_program("a", 10), add_program("b", 30), add_program("c", 20), add_program("d", 20);
	sample(0);
	assert_string_equal(names(), "b c d a ");
	table[0].cpu_units = 12, table[1].cpu_units = 31, table[2].cpu_units = 23, table[3].cpu_units = 20;
	add_member(5, 3, 1024);
	sample(1);
	assert_string_equal(names(), "c a b d ");
	last_sample();
	/* The end tells the totals: 31, 23, 20 and 12. */
	assert_string_equal(names_of_end(), "b c d a ");
}

static void with_equal_time_memory_decides(void **state)
{
	(void)state;
	lone.context.program_rows = 4;
	add_program("a", 10), add_program("b", 10), add_program("c", 10), add_program("d", 10);
	add_member(1, 1, 1024), add_member(2, 2, 3072), add_member(3, 2, 1024), add_member(4, 3, 2048);
	sample(7);
	assert_string_equal(names(), "c d b a ");
	assert_real(row("c")->memory_mib, 4);
	assert_real(row("b")->memory_mib, 1);
}

static void the_others_are_one_row(void **state)
{
	const struct program_row *others;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct program *program =
			add_program((const char *[]){"a", "b", "c", "d"}[i], 40000 - i * 10000);

		program->estimated_units = 1000;
		for (int j = 0; j < PROGRAM_IO_COUNT; j++) {
			program->io[j] = (i + 1) * 100 + j;
			program->io_estimated[j] = (i + 1) * 10 + j;
		}
		program->process_count = i + 1;
		program->exited_count = 10 * (i + 1);
		add_member(i + 1, (size_t)i, 1024);
	}
	sample(4);
	assert_string_equal(names(), "a b others ");
	assert_real(row("a")->cpu_secs, 4);
	assert_int_equal(row("a")->disk_read_bytes, 100 + READ);
	assert_int_equal(row("a")->disk_write_bytes, 100 + WRITE);
	assert_int_equal(row("a")->read_chars, 100 + CHARS_IN);
	assert_int_equal(row("a")->written_chars, 100 + CHARS_OUT);
	assert_int_equal(row("a")->disk_estimated_bytes, 10 + READ + 10 + WRITE);
	assert_int_equal(row("a")->estimated_chars, 10 + CHARS_IN + 10 + CHARS_OUT);
	assert_int_equal(row("a")->process_count, 1);
	assert_int_equal(row("a")->exited_count, 10);
	assert_real(row("a")->gpu_vram_mib, 0);
	/* Of c and d. */
	others = row("others");
	assert_real(others->cpu_secs, 2 + 1);
	assert_real(others->cpu_total_secs, 2 + 1);
	assert_real(others->cpu_estimated_secs, 0.2);
	assert_real(others->memory_mib, 2);
	assert_int_equal(others->disk_read_bytes, 300 + 400 + 2 * READ);
	assert_int_equal(others->disk_write_bytes, 300 + 400 + 2 * WRITE);
	assert_int_equal(others->disk_estimated_bytes, 2 * (30 + 40) + 2 * READ + 2 * WRITE);
	assert_int_equal(others->read_chars, 300 + 400 + 2 * CHARS_IN);
	assert_int_equal(others->written_chars, 300 + 400 + 2 * CHARS_OUT);
	assert_int_equal(others->estimated_chars, 2 * (30 + 40) + 2 * CHARS_IN + 2 * CHARS_OUT);
	assert_int_equal(others->process_count, 3 + 4);
	assert_int_equal(others->exited_count, 30 + 40);
	/* The next sample tells what came after this one, but counters of processes and totals stay. */
	table[0].cpu_units += 100, table[0].io[READ] += 5, table[0].io_estimated[WRITE] += 3;
	sample(4);
	assert_real(row("a")->cpu_secs, 0.01);
	assert_real(row("a")->cpu_total_secs, 4.01);
	assert_int_equal(row("a")->disk_read_bytes, 5);
	assert_int_equal(row("a")->disk_write_bytes, 0);
	assert_int_equal(row("a")->disk_estimated_bytes, 3);
	assert_int_equal(row("a")->exited_count, 10);
}

static void the_end_has_the_totals_of_the_run(void **state)
{
	const struct run_end_program_row *end;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct program *program =
			add_program((const char *[]){"a", "b", "c", "d"}[i], 40000 - i * 10000);

		program->estimated_units = 1000;
		program->io[READ] = 100 + i, program->io[WRITE] = 200 + i;
		program->io_estimated[READ] = 30 + i, program->io_estimated[WRITE] = 40 + i;
		program->process_count = 1;
		program->exited_count = i;
	}
	add_member(7, 0, 2048);
	add_member(8, 2, 512);
	sample(2.5);
	members[0].memory.share = 1024;
	sample(1);
	assert_null(FIRST(&lone.frame, run_end_program));
	last_sample();
	end = FIRST(&lone.frame, run_end_program);
	assert_string_equal(names_of_end(), "a b others ");
	assert_real(end->cpu_secs, 4);
	assert_real(end->cpu_estimated_secs, 0.1);
	assert_real(end->memory_peak_mib, 2);
	assert_int_equal(end->disk_read_bytes, 100);
	assert_int_equal(end->disk_write_bytes, 200);
	assert_int_equal(end->process_count, 1);
	end = NEXT(end, run_end_program);
	assert_absent_real(end->memory_peak_mib, ABSENT_NOT_YET);
	end = NEXT(end, run_end_program);
	assert_real(end->cpu_secs, 2 + 1);
	assert_real(end->cpu_estimated_secs, 0.2);
	assert_int_equal(end->disk_read_bytes, 102 + 103);
	assert_int_equal(end->disk_write_bytes, 202 + 203);
	assert_int_equal(end->disk_read_estimated_bytes, 32 + 33);
	assert_int_equal(end->disk_write_estimated_bytes, 42 + 43);
	assert_int_equal(end->process_count, 1 + 2 + 1 + 3);
	assert_absent_real(end->memory_peak_mib, ABSENT_NOT_YET);
}

/* The parts have three digits, and add up to the whole. */
static void memory_is_divided_without_a_rest(void **state)
{
	(void)state;
	lone.context.program_rows = 4;
	add_program("a", 3), add_program("b", 2), add_program("c", 1);
	add_member(1, 0, 1024 / 3.0), add_member(2, 1, 1024 / 3.0), add_member(3, 2, 1024 / 3.0);
	sample(1);
	assert_real(row("a")->memory_mib, 0.333);
	assert_real(row("b")->memory_mib, 0.334);
	assert_real(row("c")->memory_mib, 0.333);
	/* The first one gets the rest, and never has less than nothing. */
	sample(1.5);
	assert_real(row("a")->memory_mib, 0.833);
	sample(0.5);
	assert_real(row("a")->memory_mib, 0);
	add_member(4, 9, 5000);
	processes[3].pid = 99;
	sample(1);
	assert_real(row("b")->memory_mib, 0.334);
}

static void a_name_that_has_nothing_is_left_out(void **state)
{
	(void)state;
	lone.context.program_rows = 4;
	add_program("a", 1), add_program("b", 0);
	sample(0);
	assert_string_equal(names(), "a ");
	for (int i = 0; i < PROGRAM_IO_COUNT; i++) {
		table[1].io[i]++;
		sample(0);
		assert_string_equal(names(), "a b ");
		sample(0);
		assert_string_equal(names(), "a ");
	}
	table[1].exited_count = 1;
	sample(0);
	assert_string_equal(names(), "a b ");
	table[1].exited_count = 0, table[1].process_count = 1;
	sample(0);
	assert_string_equal(names(), "a b ");
	table[1].process_count = 0;
	add_member(7, 1, 1024);
	sample(1);
	assert_string_equal(names(), "b a ");
}

static void the_end_leaves_out_names_without_use(void **state)
{
	(void)state;
	lone.context.program_rows = 4;
	add_program("a", 1), add_program("b", 0);
	/* Bytes of calls are not told at the end. */
	table[1].io[CHARS_IN] = table[1].io[CHARS_OUT] = 1;
	last_sample();
	assert_string_equal(names_of_end(), "a ");
	table[1].io[WRITE] = 1;
	last_sample();
	assert_string_equal(names_of_end(), "a b ");
	table[1].io[WRITE] = 0, table[1].io[READ] = 1;
	last_sample();
	assert_string_equal(names_of_end(), "a b ");
	table[1].io[READ] = 0, table[1].memory_peak_mib = 0.5;
	last_sample();
	assert_string_equal(names_of_end(), "a b ");
}

static void gpu_memory_is_that_of_its_processes(void **state)
{
	(void)state;
	add_program("a", 2), add_program("b", 0);
	add_member(5, 0, 0), add_member(6, 1, 0);
	SINGLE_ROW(lone_begin(1), tree)->process_memory_mib = 0;
	SINGLE_ROW(&lone.frame, tree)->process_gpu_vram_mib = 9;
	for (int i = 0; i < 5; i++) {
		struct gpu_process_row *process = ADD_ROW(&lone.frame, gpu_process, NULL);

		process->pid = (const int[]){5, 6, 5, 77, 6}[i];
		process->vram_bytes = i == 4 ? no_count(EACCES) : (i + 1) * 1048576;
	}
	(void)lone_fill();
	assert_real(row("a")->gpu_vram_mib, 1 + 3);
	assert_real(row("b")->gpu_vram_mib, 2);
}

static void unknown_figures_of_the_tree_hide_those_of_programs(void **state)
{
	struct tree_row *tree = SINGLE_ROW(lone_begin(1), tree);

	(void)state;
	add_program("a", 3), add_program("b", 2), add_program("c", 1), add_program("d", 1);
	tree->process_memory_mib = no_real(EACCES);
	tree->read_bytes_total = no_count(EPERM);
	tree->process_child_count = no_count(EIO);
	tree->process_gpu_vram_mib = no_real(ENXIO);
	(void)SINGLE_ROW(&lone.frame, run_end);
	(void)lone_fill();
	assert_string_equal(names(), "a b others ");
	for (const struct program_row *at = FIRST(&lone.frame, program); at; at = NEXT(at, program)) {
		assert_absent_real(at->memory_mib, EACCES);
		assert_absent_count(at->disk_read_bytes, EPERM);
		assert_absent_count(at->disk_write_bytes, EPERM);
		assert_absent_count(at->disk_estimated_bytes, EPERM);
		assert_absent_count(at->read_chars, EPERM);
		assert_absent_count(at->written_chars, EPERM);
		assert_absent_count(at->estimated_chars, EPERM);
		assert_absent_count(at->process_count, EIO);
		assert_absent_real(at->gpu_vram_mib, ENXIO);
	}
	for (const struct run_end_program_row *at = FIRST(&lone.frame, run_end_program); at;
	     at = NEXT(at, run_end_program)) {
		assert_absent_count(at->disk_read_bytes, EPERM);
		assert_absent_count(at->disk_write_estimated_bytes, EPERM);
	}
}

static void an_unknown_number_of_ends_makes_the_sum_unknown(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		add_program((const char *[]){"a", "b", "c", "d"}[i], 4 - i)->exited_count = 1;
	table[2].is_unseen = true;
	sample(0);
	assert_int_equal(row("a")->exited_count, 1);
	assert_absent_count(row("others")->exited_count, ABSENT_UNSEEN_EXITS);
	table[2].is_unseen = false, table[3].is_unseen = true;
	sample(0);
	assert_absent_count(row("others")->exited_count, ABSENT_UNSEEN_EXITS);
	last_sample();
	assert_absent_count(NEXT(NEXT(FIRST(&lone.frame, run_end_program), run_end_program), run_end_program)
				    ->process_count,
			    ABSENT_UNSEEN_EXITS);
}

static void a_command_that_was_not_started_has_the_name_that_was_given(void **state)
{
	(void)state;
	add_program("resource-tracke", 0);
	sample(0);
	assert_string_equal(names(), "");
	lone.ending.exec_errno = ENOENT;
	sample(0);
	assert_string_equal(names(), "resource-tracke ");
	lone.facts.executable = "nothing";
	sample(0);
	assert_string_equal(names(), "nothing ");
	last_sample();
	assert_string_equal(names_of_end(), "nothing ");
	lone.ending.exec_errno = 0;
	table[0].cpu_units = 1;
	sample(0);
	assert_string_equal(names(), "resource-tracke ");
}

static void without_an_account_the_reason_is_told(void **state)
{
	(void)state;
	(void)lone_sample(1);
	assert_int_equal(lone.frame.missing[ROW_program], ABSENT_NOT_WANTED);
	lone.tree.programs = NULL;
	SINGLE_ROW(lone_begin(1), tree)->process_memory_mib = 0;
	(void)lone_fill();
	assert_int_equal(lone.frame.missing[ROW_program], ABSENT_NOT_WANTED);
	assert_int_equal(lone.frame.missing[ROW_run_end_program], ABSENT_NOT_WANTED);
	lone.context.tree = NULL;
	(void)lone_sample(1);
	assert_int_equal(lone.frame.missing[ROW_program], ABSENT_NOT_TRACKED);
}

static int end(void **state)
{
	lone.tree.members = NULL;
	return lone_leave(state);
}

#define program_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		program_test(those_that_used_most_since_the_last_sample_come_first),
		program_test(with_equal_time_memory_decides),
		program_test(the_others_are_one_row),
		program_test(the_end_has_the_totals_of_the_run),
		program_test(memory_is_divided_without_a_rest),
		program_test(a_name_that_has_nothing_is_left_out),
		program_test(the_end_leaves_out_names_without_use),
		program_test(gpu_memory_is_that_of_its_processes),
		program_test(unknown_figures_of_the_tree_hide_those_of_programs),
		program_test(an_unknown_number_of_ends_makes_the_sum_unknown),
		program_test(a_command_that_was_not_started_has_the_name_that_was_given),
		program_test(without_an_account_the_reason_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
