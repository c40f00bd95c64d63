/* Tests of src/summary: the memory of a run, its shortage of CPUs, and kills for lack of memory. */
#include "summary_frames.h"

#include "record/tree_memory.h"
#include "summary/cpu_course.h"
#include "summary/oom.h"
#include "summary/summary_memory.h"

/* ---- memory ---- */

static struct memory_facts memory;
static double elapsed;

static void take_memory(double mib, double resident_mib, const char *source)
{
	struct tree_row *tree;

	begin_sample(elapsed, 1);
	tree = ADD_ROW(&frame, tree, NULL);
	tree->process_memory_mib = mib;
	tree->process_rss_mib = resident_mib;
	tree->process_memory_source = source;
	memory_facts_add(&memory, tree, &(struct moment){elapsed, 1});
	elapsed += 1;
}

static struct figure finish_memory(void)
{
	struct figure figure;

	memory_facts_finish(&memory, &figure);
	return figure;
}

/* A better figure of three quarters of the resident set disproves the others, if it is below 95 % of them. */
static void a_better_figure_disproves_others(void **state)
{
	static const struct {
		double mib, resident_mib;
		bool disproves;
	} CASES[] = {{200, 1800, true},  {200, 1350, true},   {200, 1349, false},
		     {1709, 1800, true}, {1710, 1800, false}, {200, NAN, false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct figure figure;

		memory_facts_begin(&memory);
		elapsed = 0;
		take_memory(1700, 1700, "rss");
		take_memory(1800, 1800, "rss");
		take_memory(NAN, NAN, "rss");
		take_memory(CASES[i].mib, CASES[i].resident_mib, "pss");
		assert_about(memory.disproved_mib, CASES[i].disproves ? 1800 : 0);
		assert_int_equal(memory.disproved_samples, CASES[i].disproves ? 2 : 0);
		take_memory(100, 100, "pss");
		figure = finish_memory();
		assert_about(figure.most, CASES[i].disproves ? CASES[i].mib : 1800);
		assert_about(figure.most_elapsed_secs, CASES[i].disproves ? 3 : 1);
		assert_about(figure_mean(&figure), CASES[i].disproves
							   ? (CASES[i].mib + 100) / 2
							   : (1700 + 1800 + CASES[i].mib + 100) / 4);
		assert_string_equal(memory.source, CASES[i].disproves ? "pss" : "rss");
		assert_string_equal(memory.sources, CASES[i].disproves ? "pss" : "pss, rss");
	}
}

static void the_largest_figure_that_was_disproved_is_told(void **state)
{
	(void)state;
	memory_facts_begin(&memory);
	take_memory(900, 900, "bound");
	take_memory(300, 900, "sampled");
	take_memory(800, 800, "rss");
	take_memory(310, 900, "cgroup");
	assert_about(memory.disproved_mib, 900);
	assert_int_equal(memory.disproved_samples, 2);
	take_memory(950, 950, "rss");
	take_memory(320, 950, "sampled");
	assert_about(memory.disproved_mib, 950);
	assert_about(finish_memory().most, 320);
	assert_string_equal(memory.source, "sampled");
	assert_string_equal(memory.sources, "sampled, cgroup");
	/* One that is as large counts as the better one. */
	take_memory(320, 10000, "rss");
	assert_about(finish_memory().most, 320);
	assert_string_equal(memory.source, "sampled");
	assert_string_equal(memory.sources, "sampled, cgroup, rss");
	assert_int_equal(memory.measures, 1u << MEASURE_ONCE | 1u << MEASURE_EACH_PROCESS);
	take_memory(321, 10000, NULL);
	assert_about(finish_memory().most, 321);
	assert_string_equal(memory.source, "");
}

/* ---- the shortage of CPUs ---- */

static struct cpu_course course;

struct cpu_sample {
	double job, all; /* cores */
	double pressure; /* NaN: not that of the job */
	double run, wait, known;
	int64_t involuntary, voluntary;
	double throttled;
	int64_t cores, cpuset;
	double limit;
};

#define NO_THREADS NAN, NAN, NAN, 0, 0

static void take_cpu(const struct cpu_sample *sample)
{
	const struct cpu_bounds bounds = {sample->cores ? sample->cores : no_count(ABSENT_NO_LIMIT),
					  sample->cpuset ? sample->cpuset : no_count(ABSENT_NO_LIMIT),
					  sample->limit > 0 ? sample->limit : NAN};
	struct tree_row *tree;

	begin_sample(5, 1);
	tree = ADD_ROW(&frame, tree, NULL);
	tree->process_cores_used = sample->job;
	tree->process_utime_secs = tree->process_stime_secs = sample->run / 2;
	tree->process_cpu_wait_secs = sample->wait;
	tree->process_cpu_wait_known_secs = sample->known;
	tree->process_involuntary_switches = sample->involuntary;
	tree->process_voluntary_switches = sample->voluntary;
	ADD_ROW(&frame, host_cpu, NULL)->utilization_pct = sample->all;
	ADD_ROW(&frame, pressure, NULL)->cpu_some_secs = sample->pressure;
	ADD_ROW(&frame, cgroup, NULL)->throttled_secs = sample->throttled;
	course = (struct cpu_course){0};
	cpu_course_add(&course, &frame, &bounds, !isnan(sample->pressure));
}

/* Waiting counts while nine tenths of the machine, of the limit or of the cpuset were in use, or the limit held the job up. */
static void waiting_counts_without_a_free_cpu(void **state)
{
	enum { NONE, LEFT, UNKNOWN };
	static const struct {
		struct cpu_sample sample;
		int room;
	} CASES[] = {
		{{7.2, NAN, 0.5, NO_THREADS, 0, 8, 0, 0}, NONE},
		{{7.1, 7.2, 0.5, NO_THREADS, 0, 8, 0, 0}, NONE},
		{{7.1, 7.19, 0.5, NO_THREADS, 0, 8, 0, 0}, LEFT},
		{{7.1, NAN, 0.5, NO_THREADS, 0, 8, 0, 0}, UNKNOWN},
		{{7.1, 7.2, 0.5, NO_THREADS, 0, 0, 0, 0}, UNKNOWN},
		{{1, 1, 0.5, NO_THREADS, 0.1, 8, 0, 0}, NONE},
		{{1, 1, 0.5, NO_THREADS, 0.09, 8, 0, 0}, LEFT},
		{{3.6, 4, 0.5, NO_THREADS, 0, 8, 4, 0}, NONE},
		{{3, 7.61, 0.5, NO_THREADS, 0, 8, 4, 0}, NONE},
		{{3, 7.5, 0.5, NO_THREADS, 0, 8, 4, 0}, UNKNOWN},
		{{3, 4, 0.5, NO_THREADS, 0, 8, 8, 0}, LEFT},
		{{1.8, 2, 0.5, NO_THREADS, 0, 8, 4, 2}, NONE},
		{{1.79, 2, 0.5, NO_THREADS, 0, 8, 0, 2}, LEFT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		take_cpu(&CASES[i].sample);
		assert_true(course.has_pressure);
		assert_about(course.short_secs, CASES[i].room == NONE ? 0.5 : 0);
		assert_about(course.unclear_secs, CASES[i].room == UNKNOWN ? 0.5 : 0);
		assert_about(course.full_secs, CASES[i].room == NONE);
		assert_about(course.free_secs, CASES[i].room == LEFT);
		if (CASES[i].room == NONE && !isnan(CASES[i].sample.all)) {
			assert_about(course.full_core_secs, CASES[i].sample.all);
			assert_about(course.others_core_secs, CASES[i].sample.all - CASES[i].sample.job);
		} else {
			assert_about(course.full_core_secs + course.others_core_secs, 0);
		}
		assert_true(fabs(shape_quantile(&course.wanted, 1) - CASES[i].sample.job -
				 (CASES[i].room == NONE ? 0.5 : 0)) <= 0.03 * 8);
		assert_false(course.has_threads);
	}
	/* An interval without length tells nothing, nor does the pressure of others. */
	begin_sample(5, 0);
	course = (struct cpu_course){0};
	cpu_course_add(&course, &frame, &(struct cpu_bounds){8, 8, NAN}, false);
	assert_about(course.full_secs + course.free_secs, 0);
	take_cpu(&(struct cpu_sample){7.2, NAN, NAN, NO_THREADS, 0, 8, 0, 0});
	assert_false(course.has_pressure);
	assert_about(course.full_secs, 1);
}

/* From three quarters to 1.15 of a core, if it did not want another one. */
static void one_core_is_a_choice_of_the_job(void **state)
{
	static const struct {
		struct cpu_sample sample;
		bool is_one;
	} CASES[] = {
		{{0.75, 2, 0, NO_THREADS, 0, 8, 0, 0}, true},
		{{0.74, 2, 0, NO_THREADS, 0, 8, 0, 0}, false},
		{{1.15, 2, 0.9, NO_THREADS, 0, 8, 0, 0}, true},
		{{1.16, 2, 0, NO_THREADS, 0, 8, 0, 0}, false},
		{{1, 8, 0.19, NO_THREADS, 0, 8, 0, 0}, true},
		{{1, 8, 0.2, NO_THREADS, 0, 8, 0, 0}, false},
		{{1, NAN, NAN, NO_THREADS, 0, 8, 0, 0}, true},
		{{1, NAN, 0.2, NO_THREADS, 0, 8, 0, 0}, false},
		{{1, 8, NAN, NO_THREADS, 0, 8, 0, 0}, false},
		{{NAN, 2, 0, NO_THREADS, 0, 8, 0, 0}, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		take_cpu(&CASES[i].sample);
		assert_about(course.one_core_secs, CASES[i].is_one);
	}
}

/* The job's own threads limit what the pressure tells, if they are known for half of its CPU time. */
static void the_waiting_of_its_own_threads(void **state)
{
	static const struct {
		double pressure, run, wait, known;
		double waited, threads; /* NaN: unknown */
	} CASES[] = {
		{NAN, 1, 0.3, 1, 0.3, 0.3},       {NAN, 1, 0.3, 0.5, 0.6, 0.6},
		{NAN, 1, 0.3, 0.8, 0.375, 0.375}, {NAN, 1, 0.3, 0.49, NAN, NAN},
		{0.4, 1, 0.3, 0.49, 0.4, NAN},    {NAN, 0.02, 0.3, 0, 0.3, 0.3},
		{NAN, 0.021, 0.3, 0, NAN, NAN},   {NAN, 1, 0.11, 1, 0, 0.11},
		{NAN, 1, 0.112, 1, 0.112, 0.112}, {0.2, 1, 0.3, 1, 0.2, 0.3},
		{0.4, 1, 0.3, 1, 0.3, 0.3},       {NAN, 1, 3, 1, 1, 3},
		{0.5, 1, 0.01, 1, 0, 0.01},       {NAN, NAN, 0.3, 1, NAN, NAN},
		{NAN, 1, NAN, 1, NAN, NAN},       {NAN, 1, 0.3, NAN, NAN, NAN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct cpu_sample sample = {.job = 8,
					    .all = 8,
					    .pressure = CASES[i].pressure,
					    .run = CASES[i].run,
					    .wait = CASES[i].wait,
					    .known = CASES[i].known,
					    .cores = 8};

		take_cpu(&sample);
		assert_int_equal(course.has_pressure, !isnan(CASES[i].waited));
		assert_about(course.short_secs, isnan(CASES[i].waited) ? 0 : CASES[i].waited);
		assert_int_equal(course.has_threads, !isnan(CASES[i].threads));
		assert_about(course.threads_wait_secs, isnan(CASES[i].threads) ? 0 : CASES[i].threads);
		assert_about(course.threads_run_secs, isnan(CASES[i].threads) ? 0 : CASES[i].run);
		/* While CPUs are free, it does not count as a shortage. */
		sample.job = sample.all = 2;
		take_cpu(&sample);
		assert_about(course.short_secs + course.threads_wait_secs + course.threads_run_secs, 0);
		assert_int_equal(course.has_threads, !isnan(CASES[i].threads));
	}
}

/* They wait a fifth of the time and three tenths of theirs, and the scheduler takes the CPU away twice for each time that they leave it. */
static void threads_that_share_cpus_by_themselves_are_confined(void **state)
{
	static const struct {
		struct cpu_sample sample;
		bool is_confined;
	} CASES[] = {
		{{1, 2, NAN, 1, 0.5, 1, 20, 10, 0, 8, 0, 0}, true},
		{{1, 2, NAN, 1, 0.5, 1, 19, 10, 0, 8, 0, 0}, false},
		{{1, 2, NAN, 1, 0.5, 1, 2, 0, 0, 8, 0, 0}, true},
		{{1, 2, NAN, 1, 0.5, 1, 1, 0, 0, 8, 0, 0}, false},
		{{1, 2, NAN, 1, 0.43, 1, 20, 10, 0, 8, 0, 0}, true},
		{{1, 2, NAN, 1, 0.42, 1, 20, 10, 0, 8, 0, 0}, false},
		{{1, 2, 0.2, 1, 0.5, 1, 20, 10, 0, 8, 0, 0}, true},
		{{1, 2, 0.19, 1, 0.5, 1, 20, 10, 0, 8, 0, 0}, false},
		{{1, 8, NAN, 1, 0.5, 1, 20, 10, 0, 8, 0, 0}, false},
		{{1, NAN, NAN, 1, 0.5, 1, 20, 10, 0, 8, 0, 0}, false},
		{{1, 2, NAN, 1, 0.5, 1, INT64_MIN + 1000, 10, 0, 8, 0, 0}, false},
		{{1, 2, NAN, 1, 0.5, 1, 20, INT64_MIN + 1000, 0, 8, 0, 0}, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		const struct cpu_sample *sample = &CASES[i].sample;

		take_cpu(sample);
		assert_about(course.confined_secs, !CASES[i].is_confined     ? 0
						   : isnan(sample->pressure) ? sample->wait
									     : sample->pressure);
		assert_about(course.confined_wait_secs, CASES[i].is_confined ? sample->wait : 0);
		assert_about(course.confined_run_secs, CASES[i].is_confined ? 1 : 0);
		if (sample->all == 2)
			assert_about(course.one_core_secs, !CASES[i].is_confined);
	}
	assert_true(cpu_course_taken(&(struct cpu_course){.others_core_secs = 6, .full_core_secs = 11}));
	assert_false(cpu_course_taken(&(struct cpu_course){.others_core_secs = 5, .full_core_secs = 10}));
}

/* ---- kills for lack of memory ---- */

static struct oom_course ooms;

static void take_oom(double elapsed_secs, double tree_mib, double anon_mib, double shmem_mib,
		     double kernel_mib, int64_t kills)
{
	struct cgroup_row *cgroup;

	begin_sample(elapsed_secs, 1);
	ADD_ROW(&frame, tree, NULL)->process_memory_mib = tree_mib;
	ADD_ROW(&frame, limits, NULL)->memory_limit_mib = 1000 + elapsed_secs;
	cgroup = ADD_ROW(&frame, cgroup, NULL);
	cgroup->anon_mib = anon_mib;
	cgroup->shmem_mib = shmem_mib;
	cgroup->kernel_mib = kernel_mib;
	cgroup->oom_kills = kills < 0 ? no_count(ABSENT_NO_SUCH_COUNTER) : kills;
	cgroup->memory_peak_mib = 900 + elapsed_secs;
	oom_course_add(&ooms, &frame);
}

static void memory_that_a_group_cannot_give_back_is_charged(void **state)
{
	(void)state;
	oom_course_begin(&ooms);
	take_oom(1, 110, 100, 20, 5, -1);
	assert_about(ooms.charged_mib, 125);
	assert_about(ooms.growth_mib, NAN);
	take_oom(2, 130, 100, 20, 5, -1);
	assert_about(ooms.charged_mib, 130);
	assert_about(ooms.growth_mib, 5);
	take_oom(3, 90, 100, NAN, NAN, -1);
	assert_about(ooms.charged_mib, 100);
	assert_about(ooms.growth_mib, -30);
	take_oom(4, 90, NAN, 20, 5, -1);
	assert_about(ooms.charged_mib, 90);
	take_oom(5, NAN, NAN, 20, 5, -1);
	assert_about(ooms.charged_mib, 90);
	assert_about(ooms.charged_elapsed_secs, 4);
	begin_sample(6, 1);
	ADD_ROW(&frame, tree, NULL)->process_memory_mib = 77;
	oom_course_add(&ooms, &frame);
	assert_about(ooms.charged_mib, 77);
	assert_about(ooms.kill_elapsed_secs, NAN);
}

static void kills_are_counted_from_the_first_sample_on(void **state)
{
	struct oom_finding found;

	(void)state;
	oom_course_begin(&ooms);
	assert_int_equal(oom_find(&ooms, NULL, 1000, true).kills, 0);
	take_oom(1, 1, 1, 0, 0, 5);
	take_oom(2, 1, 1, 0, 0, 5);
	assert_int_equal(oom_find(&ooms, NULL, 1000, true).kind, OOM_NONE);
	take_oom(3, 1, 1, 0, 0, -1);
	take_oom(4, 1, 1, 0, 0, 7);
	take_oom(5, 1, 1, 0, 0, 7);
	found = oom_find(&ooms, NULL, 1000, true);
	assert_int_equal(found.kind, OOM_STEP);
	assert_string_equal(oom_kind_name(found.kind), "step");
	assert_int_equal(found.kills, 2);
	assert_true(found.shared);
	assert_about(found.elapsed_secs, 4);
	assert_about(found.limit_mib, 1004);
	assert_about(found.peak_mib, 904);
	/* A counter that went down belongs to another group. */
	take_oom(6, 1, 1, 0, 0, 1);
	assert_int_equal(oom_find(&ooms, NULL, 1000, true).kills, 0);
	take_oom(7, 1, 1, 0, 0, 4);
	assert_int_equal(oom_find(&ooms, NULL, 1000, true).kills, 3);
}

static void a_recording_that_stops_at_the_limit_was_killed(void **state)
{
	static const struct {
		double charged, growth;
		bool live, has_ends, stopped;
	} CASES[] = {
		{900, 0, false, true, true},    {899, 0, false, true, false},   {500, 400, false, true, true},
		{500, 399, false, true, false}, {499, 900, false, true, false}, {900, -50, false, true, true},
		{900, 0, true, true, false},    {900, 0, false, false, false},  {NAN, 0, false, true, false}};
	struct run_end_row *row;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct oom_finding found;

		oom_course_begin(&ooms);
		ooms.charged_mib = CASES[i].charged;
		ooms.growth_mib = CASES[i].growth;
		ooms.charged_elapsed_secs = 7;
		ooms.live = CASES[i].live;
		found = oom_find(&ooms, NULL, 1000, CASES[i].has_ends);
		assert_int_equal(found.kind, CASES[i].stopped ? OOM_STOPPED_AT_LIMIT : OOM_NONE);
		assert_about(found.elapsed_secs, CASES[i].stopped ? 7 : NAN);
		assert_about(found.limit_mib, CASES[i].stopped ? 1000 : NAN);
		assert_about(found.peak_mib, CASES[i].stopped ? CASES[i].charged : NAN);
		row = ADD_ROW(&frame, run_end, NULL);
		assert_int_equal(oom_find(&ooms, row, 1000, true).kind, OOM_NONE);
	}
	oom_course_end(&ooms, "-");
	assert_false(ooms.live);
	oom_course_end(&ooms, "/proc/self/no such file");
	assert_false(ooms.live);
}

static void the_end_tells_the_kill(void **state)
{
	static const struct {
		const char *reason;
		int64_t kills, group_kills;
		enum oom_kind kind;
		int64_t found;
		bool is_shared;
		double limit_mib;
	} CASES[] = {
		{"oom_kill_confirmed", 1, 9, OOM_CONFIRMED, 1, false, 1000},
		{"oom_kill_suspected", -1, 3, OOM_SUSPECTED, 3, true, 1000},
		{"exited", 2, -1, OOM_STEP, 2, false, NAN},
		{"exited", 0, 4, OOM_NONE, 0, false, NAN},
		{"exited", -1, 4, OOM_STEP, 4, true, NAN},
		{"exited", -1, -1, OOM_NONE, 0, false, NAN},
		{NULL, -1, 1, OOM_STEP, 1, true, NAN},
		{"oom_kil", -1, 0, OOM_NONE, 0, false, NAN},
	};

	(void)state;
	oom_course_begin(&ooms);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct run_end_row *row = ADD_ROW(&frame, run_end, NULL);
		struct oom_finding found;

		row->reason = CASES[i].reason;
		row->oom_kills = CASES[i].kills < 0 ? no_count(ABSENT_NOT_GIVEN) : CASES[i].kills;
		row->cgroup_oom_kills =
			CASES[i].group_kills < 0 ? no_count(ABSENT_NOT_GIVEN) : CASES[i].group_kills;
		found = oom_find(&ooms, row, 1000, true);
		assert_int_equal(found.kind, CASES[i].kind);
		assert_int_equal(found.kills, CASES[i].found);
		assert_int_equal(found.shared, CASES[i].is_shared);
		assert_about(found.limit_mib, CASES[i].limit_mib);
		row->oom_kill_elapsed_secs = 3;
		row->oom_kill_limit_mib = 500;
		row->oom_kill_peak_mib = 499;
		found = oom_find(&ooms, row, 1000, true);
		assert_about(found.elapsed_secs, 3);
		assert_about(found.limit_mib, 500);
		assert_about(found.peak_mib, 499);
	}
	assert_null(oom_kind_name(OOM_NONE));
}

#define PART_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		PART_TEST(a_better_figure_disproves_others),
		PART_TEST(the_largest_figure_that_was_disproved_is_told),
		PART_TEST(waiting_counts_without_a_free_cpu),
		PART_TEST(one_core_is_a_choice_of_the_job),
		PART_TEST(the_waiting_of_its_own_threads),
		PART_TEST(threads_that_share_cpus_by_themselves_are_confined),
		PART_TEST(memory_that_a_group_cannot_give_back_is_charged),
		PART_TEST(kills_are_counted_from_the_first_sample_on),
		PART_TEST(a_recording_that_stops_at_the_limit_was_killed),
		PART_TEST(the_end_tells_the_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
