/* Tests of src/history/fleet_jobs.c: which figures the lines of one Slurm job have together. */
#include "unit.h"

#include <math.h>

#include "history/fleet.h"
#include "history/fleet_jobs.h"

enum { LACK_OF_MEMORY = 3, OTHER_REASON = 4 };

/* A line of which nothing is known. */
static const struct fleet_run UNKNOWN = {.wall_secs = NAN,
					 .cpu_secs = NAN,
					 .cores = NAN,
					 .memory_mib = NAN,
					 .started = NAN,
					 .cores_asked = NAN,
					 .memory_asked_mib = NAN,
					 .oom_had_mib = NAN,
					 .gpu_idle_hours = NAN,
					 .spare_gib = NAN,
					 .job = 7,
					 .host = 1,
					 .end = FLEET_OK,
					 .ended = true};

static struct fleet_run line_of(bool is_step, double started, double secs)
{
	struct fleet_run line = UNKNOWN;

	line.is_step = is_step;
	line.started = started;
	line.wall_secs = secs;
	return line;
}

static struct fleet_run with_use(struct fleet_run line, double cpu_secs, double memory_mib)
{
	line.cpu_secs = cpu_secs;
	line.memory_mib = memory_mib;
	return line;
}

static struct fleet_run with_request(struct fleet_run line, double cores, double memory_mib)
{
	line.cores_asked = cores;
	line.memory_asked_mib = memory_mib;
	return line;
}

static struct fleet_run with_end(struct fleet_run line, enum fleet_end end, uint8_t reason)
{
	line.end = (uint8_t)end;
	line.reason = reason;
	return line;
}

/* Joins lines of one job. */
static struct fleet_run join(struct fleet_run *lines, size_t count)
{
	size_t runs;

	assert_int_equal(join_jobs(lines, count, LACK_OF_MEMORY, &runs), 0);
	assert_int_equal(runs, 1);
	return lines[0];
}

#define JOIN(...) \
	join((struct fleet_run[]){__VA_ARGS__}, \
	     sizeof((struct fleet_run[]){__VA_ARGS__}) / sizeof(struct fleet_run))

#define assert_real(value, wanted) assert_true(fabs((value) - (wanted)) < 1e-9)

/* ---- the example of the header ------------------------------------------------------------------------------ */

static void a_script_has_the_allocation_and_its_steps_the_use(void **state)
{
	struct fleet_run job = JOIN(with_request(with_use(line_of(true, 109, 6), 10.9, 200), 2, 1024),
				    with_request(with_use(line_of(false, 100, 18), 0, 10), 2, 1024),
				    with_request(with_use(line_of(true, 103, 6), 5.4, 100), 1, 1024));

	(void)state;
	assert_real(job.started, 100);
	assert_real(job.wall_secs, 18);
	assert_real(job.cpu_secs, 16.3);
	assert_real(job.cores, 16.3 / 18);
	assert_real(job.cores_asked, 2);
	/* The first step has ended when the second one starts. */
	assert_real(job.memory_mib, 210);
	assert_real(job.memory_asked_mib, 1024);
	assert_real(job.spare_gib, (1024 - 210) / 1024.0);
	assert_true(isnan(job.oom_had_mib) && isnan(job.gpu_idle_hours));
}

/* A step may outlive the script that has left it behind, and start before it by the clock of another host. */
static void a_job_lasts_from_its_first_start_to_its_last_end(void **state)
{
	struct fleet_run job = JOIN(line_of(false, 100, 5), line_of(true, 98, 1), line_of(true, 104, 9));

	(void)state;
	assert_real(job.started, 98);
	assert_real(job.wall_secs, 15);
	/* Without times of the start, the longest line. */
	job = JOIN(line_of(false, NAN, 5), line_of(true, NAN, 7), line_of(true, NAN, 6));
	assert_true(isnan(job.started));
	assert_real(job.wall_secs, 7);
	/* Cores of a short job. */
	job = JOIN(with_use(line_of(false, 1, 0.5), 0.5, 1), with_use(line_of(true, 1, 0.5), 0.25, 1));
	assert_real(job.cores, 1.5);
	/* Cores are unknown without a time. */
	job = JOIN(with_use(line_of(false, 1, 0), 3, 1), with_use(line_of(true, 1, 0), 3, 1));
	assert_true(isnan(job.cores));
}

/* ---- the allocation ------------------------------------------------------------------------------------------ */

static void steps_without_a_script_have_it_at_once(void **state)
{
	struct fleet_run lines[] = {with_request(with_use(line_of(true, 0, 10), 1, 100), 1, 300),
				    with_request(with_use(line_of(true, 5, 10), 1, 200), 2, 400),
				    with_request(with_use(line_of(true, 12, 8), 1, 50), 4, 500)};
	struct fleet_run job;

	(void)state;
	/* Memory of the node is in each line. */
	job = JOIN(lines[0], lines[1], lines[2]);
	assert_real(job.cores_asked, 6);
	assert_real(job.memory_asked_mib, 500);
	assert_real(job.memory_mib, 300);
	/* Memory by the CPU belongs to each step. */
	for (int i = 0; i < 3; i++)
		lines[i].asked_by_cpu = true;
	job = JOIN(lines[0], lines[1], lines[2]);
	assert_real(job.memory_asked_mib, 900);
	assert_real(job.spare_gib, (900 - 300) / 1024.0);
	/* A line without a time counts alone. */
	lines[1].started = NAN;
	job = JOIN(lines[1], with_request(line_of(true, NAN, 10), 5, 700));
	assert_real(job.cores_asked, 5);
}

/* Its script may run beside its steps, and counts in the use alone. */
static void a_script_without_a_request_leaves_it_to_its_steps(void **state)
{
	struct fleet_run script = with_use(line_of(false, 0, 20), 1, 100),
			 step = with_request(with_use(line_of(true, 1, 5), 1, 50), 3, 800);
	struct fleet_run job = JOIN(script, step);

	(void)state;
	assert_real(job.cores_asked, 3);
	assert_real(job.memory_asked_mib, 800);
	assert_real(job.memory_mib, 150);
	/* The script and the step may each tell the node's memory: the larger one counts. */
	script.memory_asked_mib = 900;
	assert_real(JOIN(script, step).memory_asked_mib, 900);
	step.memory_asked_mib = 1000;
	assert_real(JOIN(script, step).memory_asked_mib, 1000);
	/* By the CPU, the script's. */
	script.asked_by_cpu = step.asked_by_cpu = true;
	assert_real(JOIN(script, step).memory_asked_mib, 900);
}

static struct fleet_run on_host(struct fleet_run line, uint64_t host)
{
	line.host = host;
	return line;
}

static void hosts_add_up_but_for_the_memory_of_each(void **state)
{
	struct fleet_run one = with_request(with_use(line_of(true, 0, 10), 2, 100), 1, 1024),
			 other = with_request(with_use(line_of(true, 0, 10), 3, 300), 2, 2048);
	struct fleet_run job = JOIN(on_host(one, 5), on_host(other, 3), on_host(one, 4));

	(void)state;
	assert_real(job.cpu_secs, 7);
	assert_real(job.cores_asked, 4);
	assert_real(job.memory_mib, 300);
	assert_real(job.memory_asked_mib, 2048);
	assert_real(job.spare_gib, (924 + 924 + 1748) / 1024.0);
}

static void idle_gpus_add_up_over_hosts_with_one_line_each(void **state)
{
	struct fleet_run one = line_of(true, 0, 10), other = line_of(true, 0, 10),
			 none = line_of(true, 0, 10);

	(void)state;
	one.gpu_idle_hours = 1.5;
	other.gpu_idle_hours = 2;
	assert_real(JOIN(one, none).gpu_idle_hours, 1.5);
	assert_real(JOIN(none, one).gpu_idle_hours, 1.5);
	assert_real(JOIN(on_host(one, 1), on_host(other, 2), on_host(none, 3)).gpu_idle_hours, 3.5);
	/* Two lines of one host may tell of the same GPUs. */
	assert_true(isnan(JOIN(one, other).gpu_idle_hours));
	assert_true(isnan(JOIN(none, none).gpu_idle_hours));
}

/* ---- the end ------------------------------------------------------------------------------------------------- */

static void the_end_is_that_of_the_script(void **state)
{
	struct fleet_run script = with_end(line_of(false, 0, 10), FLEET_OK, 0),
			 step = with_end(line_of(true, 1, 5), FLEET_FAILED, OTHER_REASON);
	struct fleet_run job = JOIN(script, step);

	(void)state;
	assert_int_equal(job.end, FLEET_OK);
	assert_int_equal(job.reason, 0);
	/* Also if it started last, or was cut short. */
	script = with_end(line_of(false, 2, 10), FLEET_CUT, 1);
	job = JOIN(script, step);
	assert_int_equal(job.end, FLEET_CUT);
	assert_int_equal(job.reason, 1);
}

static void without_a_script_the_worst_end_counts(void **state)
{
	struct fleet_run ok = with_end(line_of(true, 0, 1), FLEET_OK, 0),
			 cut = with_end(line_of(true, 0, 1), FLEET_CUT, 1),
			 failed = with_end(line_of(true, 0, 1), FLEET_FAILED, OTHER_REASON),
			 killed = with_end(line_of(true, 0, 1), FLEET_FAILED, 5);

	(void)state;
	assert_int_equal(JOIN(ok, cut).end, FLEET_CUT);
	assert_int_equal(JOIN(cut, ok).end, FLEET_CUT);
	assert_int_equal(JOIN(cut, failed, ok).end, FLEET_FAILED);
	assert_int_equal(JOIN(failed, cut, ok).end, FLEET_FAILED);
	assert_int_equal(JOIN(cut, failed, ok).reason, OTHER_REASON);
	/* The first one that failed has the reason. */
	failed.started = 1;
	killed.started = 2;
	assert_int_equal(JOIN(killed, failed).reason, OTHER_REASON);
	assert_int_equal(JOIN(ok, ok).end, FLEET_OK);
}

static void a_lack_of_memory_is_the_reason_of_a_job_that_failed(void **state)
{
	struct fleet_run script = with_end(line_of(false, 0, 10), FLEET_FAILED, OTHER_REASON),
			 step = with_end(line_of(true, 1, 5), FLEET_FAILED, LACK_OF_MEMORY);

	(void)state;
	step.oom_had_mib = 64;
	assert_int_equal(JOIN(script, step).reason, LACK_OF_MEMORY);
	assert_real(JOIN(script, step).oom_had_mib, 64);
	/* The order of the hosts makes no difference. */
	assert_int_equal(JOIN(on_host(script, 2), on_host(step, 1)).reason, LACK_OF_MEMORY);
	script.oom_had_mib = 100;
	assert_real(JOIN(script, step).oom_had_mib, 100);
	/* Neither of a job that went on to a good end, nor of a line that did not fail. */
	script = with_end(script, FLEET_OK, 0);
	assert_int_equal(JOIN(script, step).reason, 0);
	script = with_end(script, FLEET_FAILED, OTHER_REASON);
	step = with_end(step, FLEET_CUT, LACK_OF_MEMORY);
	assert_int_equal(JOIN(script, step).reason, OTHER_REASON);
}

static void one_line_at_its_limit_or_ended_is_enough(void **state)
{
	struct fleet_run one = line_of(true, 0, 1), other = line_of(true, 0, 1);

	(void)state;
	one.ended = false;
	other.at_limit = true;
	assert_true(JOIN(one, other).ended && JOIN(one, other).at_limit);
	other = one;
	assert_false(JOIN(one, other).ended || JOIN(one, other).at_limit);
}

/* ---- several jobs -------------------------------------------------------------------------------------------- */

static void each_job_is_one_run(void **state)
{
	struct fleet_run lines[5];
	size_t runs = 9;

	(void)state;
	for (int i = 0; i < 5; i++) {
		lines[i] = with_use(line_of(true, i, 10), 1 << i, 1);
		lines[i].job = i == 3 ? UINT64_MAX : i % 2 ? 2 : 1;
	}
	lines[3].spare_gib = 77;
	assert_int_equal(join_jobs(lines, 5, -1, &runs), 0);
	assert_int_equal(runs, 3);
	assert_real(lines[0].cpu_secs, 1 + 4 + 16);
	assert_real(lines[1].cpu_secs, 2);
	/* A line that is alone stays as it is. */
	assert_real(lines[2].cpu_secs, 8);
	assert_real(lines[2].spare_gib, 77);
	assert_int_equal(join_jobs(NULL, 0, -1, &runs), 0);
	assert_int_equal(runs, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_script_has_the_allocation_and_its_steps_the_use),
		cmocka_unit_test(a_job_lasts_from_its_first_start_to_its_last_end),
		cmocka_unit_test(steps_without_a_script_have_it_at_once),
		cmocka_unit_test(a_script_without_a_request_leaves_it_to_its_steps),
		cmocka_unit_test(hosts_add_up_but_for_the_memory_of_each),
		cmocka_unit_test(idle_gpus_add_up_over_hosts_with_one_line_each),
		cmocka_unit_test(the_end_is_that_of_the_script),
		cmocka_unit_test(without_a_script_the_worst_end_counts),
		cmocka_unit_test(a_lack_of_memory_is_the_reason_of_a_job_that_failed),
		cmocka_unit_test(one_line_at_its_limit_or_ended_is_enough),
		cmocka_unit_test(each_job_is_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
