/* Tests of src/collect/gpu_usage.c. This test stands for the helper: it gives the surveys and sees the requests. */
#include "lone_collector.h"

#include <errno.h>
#include <limits.h>

#include "gpu/survey.h"
#include "helper/helper.h"

extern const struct collector GPU_USAGE_COLLECTOR;

struct helper {
	int start_error, failures, starts;
	bool is_content;
	ptrdiff_t answer_error;
	uint64_t number;
	int64_t cpu_ns;
	size_t pid_count;
	struct gpu_setup setup;
};

static struct helper helper;
static struct gpu_request request;
static struct gpu_survey survey;

int helper_start(const struct helper_order *order, struct helper **ret_helper)
{
	assert_string_equal(order->kind, "gpu");
	assert_int_equal(order->setup_bytes, sizeof helper.setup);
	memcpy(&helper.setup, order->setup, sizeof helper.setup);
	helper.starts++;
	*ret_helper = helper.start_error ? NULL : &helper;
	return helper.start_error;
}

int helper_ask(struct helper *of, const void *bytes, size_t length)
{
	(void)of;
	memcpy(&request, bytes, length);
	assert_int_equal(length, gpu_request_bytes(&request));
	return 0;
}

uint64_t helper_answer_number(const struct helper *of)
{
	return of->number;
}

ptrdiff_t helper_latest(struct helper *of, void *ret_answer, size_t size, int64_t *ret_at_ns)
{
	assert_int_equal(size, sizeof survey);
	assert_null(ret_at_ns);
	return of->answer_error ? of->answer_error : (ptrdiff_t)gpu_survey_pack(&survey, ret_answer);
}

bool helper_ended_content(const struct helper *of)
{
	return of->is_content;
}

int64_t helper_failures(const struct helper *of)
{
	return of->failures;
}

int64_t helper_cpu_ns(const struct helper *of)
{
	return of->cpu_ns;
}

size_t helper_pids(const struct helper *of, pid_t ret_pids[2])
{
	ret_pids[0] = 501, ret_pids[1] = 502;
	return of->pid_count;
}

void helper_stop(struct helper *of)
{
	(void)of;
}

/* ---- what the tests do ------------------------------------------------------------------------------------- */

static struct member members[3];

static int begin(void **state)
{
	unsetenv("TRACKER_NVML_LIBRARY");
	if (lone_enter(state) < 0)
		return -1;
	put_below("dev/nvidiactl", "");
	helper = (struct helper){.pid_count = 2};
	memset(&survey, 0, sizeof survey);
	memset(&request, 0, sizeof request);
	memset(members, 0, sizeof members);
	members[0].pid = LONE_JOB, members[1].pid = 101, members[2].pid = 102;
	lone.facts.interval_seconds = 1;
	assert_int_equal(process_tree_reserve(&lone.tree), 0);
	lone.context.tree = &lone.tree;
	return 0;
}

static void add_members(int count)
{
	for (int i = 0; i < count; i++) {
		assert_int_equal(process_tree_reserve(&lone.tree), 0);
		process_tree_append(&lone.tree, &members[i]);
	}
}

static struct gpu_device *add_device(const char *uuid, double percent, double mib)
{
	struct gpu_device *device = gpu_survey_add_device(&survey, "NVIDIA");

	snprintf(device->uuid, sizeof device->uuid, "%s", uuid);
	device->pids = GPU_PIDS_OURS;
	device->tenant_count = 0;
	device->readings[GPU_UTILIZATION_PCT] = gpu_value(percent);
	device->readings[GPU_VRAM_USED_BYTES] = gpu_value(mib * 1048576);
	return device;
}

static void add_process(int64_t device, pid_t pid, double percent, double mib)
{
	struct gpu_process *process = gpu_survey_process(&survey, 0, device, pid);

	survey.devices[device].tenant_count++;
	process->utilization_pct = gpu_value(percent);
	process->busy_secs = gpu_value(0);
	process->vram_bytes = gpu_value(mib * 1048576);
}

/* A sample; a new survey was made `age` seconds before it, if that is not negative. */
static struct frame *sample(double secs, double age)
{
	(void)SINGLE_ROW(lone_begin(secs), tree);
	lone.context.warning = NULL;
	lone.context.helper_count = lone.context.helper_cpu_ns = 0;
	if (age >= 0) {
		double since = ns_to_secs(lone.now_ns - survey.at_ns) - age;

		helper.number++;
		survey.at_ns = lone.now_ns - (int64_t)(age * 1e9);
		for (int64_t i = 0; i < survey.process_count; i++)
			survey.processes[i].busy_secs.value +=
				since * survey.processes[i].utilization_pct.value / 100;
	}
	return lone_fill();
}

static const struct totals_row *totals(void)
{
	return FIRST(&lone.frame, totals);
}

static const struct tree_row *tree(void)
{
	return FIRST(&lone.frame, tree);
}

static const char *devices(void)
{
	static char text[200];

	text[0] = '\0';
	for (const struct gpu_row *at = FIRST(&lone.frame, gpu); at; at = NEXT(at, gpu))
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", at->uuid);
	return text;
}

/* ---- starting ---------------------------------------------------------------------------------------------- */

static void the_helper_is_told_its_job(void **state)
{
	char here[PATH_MAX];

	(void)state;
	lone.context.gpu_vendor = "amd";
	lone.facts.interval_seconds = 0.25;
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_int_equal(helper.starts, 1);
	assert_string_equal(helper.setup.vendor, "amd");
	assert_int_equal(helper.setup.interval_ns, 250 * NSEC_PER_MSEC);
	assert_int_equal(helper.setup.job, LONE_JOB);
	assert_string_equal(helper.setup.root_dir, realpath(".", here));
	assert_int_equal(lone.context.helper_count, 1);
	assert_true(process_tree_excludes(&lone.tree, 501) && process_tree_excludes(&lone.tree, 502));
	assert_null(lone.context.warning);
}

static void a_job_that_is_still_to_come_is_the_recorders_child(void **state)
{
	(void)state;
	lone.context.tree = NULL;
	lone.context.root_dir = NULL;
	lone.facts.mode = "wrap";
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_int_equal(helper.setup.job, getpid());
	assert_string_equal(helper.setup.root_dir, "");
	assert_string_equal(helper.setup.vendor, "");
	lone.collector->close(lone.state);
	lone.facts.mode = "host";
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_int_equal(helper.setup.job, 0);
	lone.collector->close(lone.state);
	lone.facts.mode = NULL;
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_int_equal(helper.setup.job, 0);
}

static void without_a_device_file_nothing_is_used(void **state)
{
	(void)state;
	remove("dev/nvidiactl");
	lone_open(&GPU_USAGE_COLLECTOR);
	sample(1, -1);
	assert_int_equal(helper.starts, 0);
	assert_real(totals()->gpu_usage, 0);
	assert_real(totals()->gpu_vram_mib, 0);
	assert_int_equal(totals()->gpu_utilized, 0);
	assert_real(tree()->process_gpu_usage, 0);
	assert_real(tree()->process_gpu_vram_mib, 0);
	assert_real(tree()->process_main_gpu_vram_mib, 0);
	assert_int_equal(tree()->process_gpu_utilized, 0);
	lone.context.tree = NULL;
	sample(1, -1);
	assert_absent_real(tree()->process_gpu_usage, ABSENT_NOT_COLLECTED);
	/* Windows shows a GPU to Linux in this way. */
	put_text("dev/dxg", "");
	lone.collector->close(lone.state);
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_int_equal(helper.starts, 1);
}

static void a_library_that_is_given_is_asked(void **state)
{
	(void)state;
	remove("dev/nvidiactl");
	setenv("TRACKER_NVML_LIBRARY", "", 1);
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_int_equal(helper.starts, 0);
	lone.collector->close(lone.state);
	setenv("TRACKER_NVML_LIBRARY", "x", 1);
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_int_equal(helper.starts, 1);
	unsetenv("TRACKER_NVML_LIBRARY");
}

static void a_helper_that_does_not_start_is_told(void **state)
{
	(void)state;
	helper.start_error = -ENOENT;
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_non_null(strstr(lone.context.warning, "cannot be started: No such file"));
	assert_int_equal(lone.context.helper_count, 0);
	sample(1, -1);
	assert_absent_real(totals()->gpu_usage, ENOENT);
	assert_absent_count(totals()->gpu_utilized, ENOENT);
	assert_absent_real(tree()->process_gpu_vram_mib, ENOENT);
	assert_absent_count(tree()->process_gpu_utilized, ENOENT);
	assert_int_equal(lone.frame.missing[ROW_gpu], ENOENT);
	assert_int_equal(lone.context.helper_count, 0);
	lone.context.tree = NULL;
	sample(1, -1);
	assert_absent_real(tree()->process_gpu_vram_mib, ABSENT_NOT_COLLECTED);
	lone.collector->close(lone.state);
	helper.start_error = -EPROTO;
	lone_open(&GPU_USAGE_COLLECTOR);
	assert_non_null(strstr(lone.context.warning, "of another version"));
}

static void nothing_is_started_for_unwanted_metrics(void **state)
{
	static const char *const WANTED[] = {"gpu_usage",
					     "gpu_vram_mib",
					     "gpu_utilized",
					     "process_gpu_usage",
					     "process_gpu_vram_mib",
					     "process_gpu_utilized",
					     "process_main_gpu_vram_mib",
					     "programs.gpu_vram_mib"};
	struct selection selection;
	char used[] = "memory.used_mib", *globs[1] = {used};

	(void)state;
	lone.context.selection = &selection;
	selection_init(&selection, false, false, globs, 1);
	assert_int_equal(GPU_USAGE_COLLECTOR.open(&lone.context, &lone.state), -ENODATA);
	for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++) {
		globs[0] = (char *)(uintptr_t)WANTED[i];
		selection_init(&selection, false, false, globs, 1);
		selection.kinds[ROW_gpu] = false;
		lone_open(&GPU_USAGE_COLLECTOR);
		assert_int_equal(helper.starts, i + 1);
		lone.collector->close(lone.state);
	}
	memset(&selection, 0, sizeof selection);
	selection.kinds[ROW_gpu] = true;
	lone_open(&GPU_USAGE_COLLECTOR);
}

/* ---- asking and hearing ------------------------------------------------------------------------------------ */

static void the_request_names_the_job_with_its_first_process_first(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	sample(1, -1);
	assert_int_equal(request.sampled_ns, lone.now_ns);
	assert_int_equal(request.member_count, 1);
	assert_int_equal(request.members[0], LONE_JOB);
	add_members(3);
	sample(2, -1);
	assert_int_equal(request.member_count, 3);
	assert_int_equal(request.members[0], LONE_JOB);
	assert_int_equal(request.members[1], 101);
	assert_int_equal(request.members[2], 102);
	lone.context.tree = NULL;
	sample(3, -1);
	assert_int_equal(request.member_count, 0);
}

/* The survey is older than the end of a process, which may have been the last one. */
static void a_process_that_has_gone_since_the_survey_counts(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_members(3);
	sample(1, -1);
	add_device("GPU-a", 90, 1000);
	add_process(0, LONE_JOB, 40, 100);
	add_process(0, 101, 20, 200);
	add_process(0, 777, 30, 400);
	process_tree_find(&lone.tree, LONE_JOB)->vanished = true;
	process_tree_find(&lone.tree, 101)->vanished = true;
	process_tree_drop_vanished(&lone.tree);
	sample(2, 0.5);
	assert_real(tree()->process_gpu_usage, 0.6);
	assert_int_equal(FIRST(&lone.frame, gpu)->process_count, 2);
	assert_real(tree()->process_gpu_vram_mib, 300);
	assert_real(tree()->process_main_gpu_vram_mib, 100);
	assert_int_equal(FIRST(&lone.frame, gpu_process)->pid, LONE_JOB);
	assert_int_equal(NEXT(FIRST(&lone.frame, gpu_process), gpu_process)->pid, 101);
	assert_null(NEXT(FIRST(&lone.frame, gpu_process), gpu_process)->row.next);
	/* The request that followed had but one of them. */
	sample(3, 0.5);
	assert_real(tree()->process_gpu_vram_mib, 100);
}

static void the_cost_of_the_helper_is_told(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	helper.cpu_ns = 77;
	sample(1, -1);
	assert_int_equal(lone.context.helper_count, 2);
	assert_int_equal(lone.context.helper_cpu_ns, 77);
}

static void before_the_first_survey_nothing_is_known(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	sample(1, -1);
	assert_absent_real(totals()->gpu_usage, ABSENT_NOT_YET);
	assert_int_equal(lone.frame.missing[ROW_gpu], ABSENT_NOT_YET);
	assert_null(lone.context.warning);
	helper.failures = 1;
	sample(2, -1);
	assert_absent_real(totals()->gpu_usage, ABSENT_STALE);
	assert_non_null(strstr(lone.context.warning, "crashed or hung"));
	sample(3, -1);
	assert_null(lone.context.warning);
	/* It is started anew, so this does not count as silence. */
	sample(30, -1);
	assert_null(lone.context.warning);
}

/* Three intervals, and at least five seconds. */
static void a_survey_grows_old(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_device("GPU-a", 50, 1000);
	sample(1, 0.25);
	assert_real(FIRST(&lone.frame, gpu)->age_secs, 0.25);
	assert_real(totals()->gpu_usage, 0.5);
	sample(5.75, -1);
	assert_real(totals()->gpu_usage, 0.5);
	assert_real(FIRST(&lone.frame, gpu)->age_secs, 5);
	sample(5.8, -1);
	assert_absent_real(totals()->gpu_usage, ABSENT_STALE);
	assert_absent_real(tree()->process_gpu_usage, ABSENT_STALE);
	assert_string_equal(devices(), "GPU-a ");
	assert_absent_real(FIRST(&lone.frame, gpu)->vram_used_pct, ABSENT_STALE);
	assert_real(FIRST(&lone.frame, gpu)->age_secs, 5.05);
	lone.facts.interval_seconds = 2;
	sample(6.7, -1);
	assert_real(totals()->gpu_usage, 0.5);
	sample(6.8, -1);
	assert_absent_real(totals()->gpu_usage, ABSENT_STALE);
	/* It had nothing to do, so nothing has changed. */
	helper.is_content = true;
	sample(100, -1);
	assert_real(totals()->gpu_usage, 0.5);
	assert_null(lone.context.warning);
	/* The helper may look while the sample is made. */
	sample(101, -1);
	helper.number++;
	survey.at_ns = lone.now_ns + NSEC_PER_SEC;
	SINGLE_ROW(lone_begin(101), tree)->process_gpu_usage = 0;
	(void)lone_fill();
	assert_real(FIRST(&lone.frame, gpu)->age_secs, 0);
}

/* Ten seconds and an interval after the first sample, and after each survey. */
static void silence_is_told_once(void **state)
{
	(void)state;
	lone.facts.interval_seconds = 2;
	lone_open(&GPU_USAGE_COLLECTOR);
	sample(1, -1);
	sample(13, -1);
	assert_null(lone.context.warning);
	add_device("GPU-a", 50, 1000);
	sample(13, 0);
	sample(25, -1);
	assert_null(lone.context.warning);
	sample(25.1, -1);
	assert_non_null(strstr(lone.context.warning, "does not answer"));
	sample(26, -1);
	assert_null(lone.context.warning);
}

static void a_problem_is_told_once(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_device("GPU-a", 50, 1000);
	snprintf(survey.problem, sizeof survey.problem, "one");
	sample(1, 0);
	assert_string_equal(lone.context.warning, "one");
	sample(2, 0);
	assert_null(lone.context.warning);
	snprintf(survey.problem, sizeof survey.problem, "two");
	survey.error = EACCES;
	sample(3, 0);
	assert_string_equal(lone.context.warning, "two");
	/* A vendor could not be asked, so sums are unknown. */
	assert_absent_real(totals()->gpu_usage, EACCES);
	assert_absent_real(tree()->process_gpu_usage, EACCES);
	assert_string_equal(devices(), "GPU-a ");
}

static void an_answer_that_cannot_be_read_is_none(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_device("GPU-a", 50, 1000);
	helper.answer_error = -EPIPE;
	sample(1, 0);
	assert_absent_real(totals()->gpu_usage, ABSENT_NOT_YET);
	helper.answer_error = 5;
	sample(1, 0);
	assert_absent_real(totals()->gpu_usage, ABSENT_NOT_YET);
	helper.answer_error = 0;
	sample(2, 0);
	assert_real(totals()->gpu_usage, 0.5);
	/* The same number is the same answer. */
	survey.devices[0].readings[GPU_UTILIZATION_PCT] = gpu_value(80);
	sample(3, -1);
	assert_real(totals()->gpu_usage, 0.5);
	sample(4, 0);
	assert_real(totals()->gpu_usage, 0.8);
}

/* ---- which devices ----------------------------------------------------------------------------------------- */

/* The first one is visible, and the job uses the second. */
static const char *devices_of(const char *gpus)
{
	lone.context.gpus = gpus;
	sample(2, 0);
	return devices();
}

static void begin_with_four_devices(void)
{
	lone_open(&GPU_USAGE_COLLECTOR);
	add_members(1);
	add_device("GPU-a", 50, 1);
	add_device("GPU-b", 50, 2)->visible = 0;
	add_device("GPU-c", 50, 4)->visible = 0;
	add_device("GPU-c2", 50, 8)->visible = 0;
	snprintf(survey.devices[2].host_id, GPU_WORD_SIZE, "0000:AF:00.0");
	survey.devices[3].index = 12;
	add_process(1, LONE_JOB, 50, 1);
	sample(1, 0);
}

static void the_setting_selects_devices(void **state)
{
	(void)state;
	begin_with_four_devices();
	assert_string_equal(devices(), "GPU-a GPU-b ");
	assert_string_equal(devices_of("visible"), "GPU-a GPU-b ");
	assert_string_equal(devices_of("used"), "GPU-b ");
	assert_string_equal(devices_of("all"), "GPU-a GPU-b GPU-c GPU-c2 ");
	assert_string_equal(devices_of("gpu-A"), "GPU-a ");
	assert_string_equal(devices_of("GPU-c"), "GPU-c GPU-c2 ");
	assert_string_equal(devices_of("0,2"), "GPU-a GPU-c ");
	assert_string_equal(devices_of("12"), "GPU-c2 ");
	assert_string_equal(devices_of("1"), "GPU-b ");
	assert_string_equal(devices_of("0000:af:00.0,0"), "GPU-a GPU-c ");
	assert_string_equal(devices_of("0000:af:00"), "");
	/* Sums are those of the selected ones. */
	assert_string_equal(devices_of("GPU-c"), "GPU-c GPU-c2 ");
	assert_real(totals()->gpu_vram_mib, 12);
	assert_real(totals()->gpu_usage, 1);
	assert_int_equal(totals()->gpu_utilized, 2);
	assert_real(tree()->process_gpu_vram_mib, 1);
}

static void a_device_that_was_used_stays_so(void **state)
{
	(void)state;
	begin_with_four_devices();
	/* The process ends, and the devices change their places. */
	memset(&survey, 0, sizeof survey);
	add_device("GPU-new", 1, 1)->visible = 0;
	add_device("GPU-c", 1, 1)->visible = 0;
	add_device("GPU-b", 1, 1)->visible = 0;
	assert_string_equal(devices_of("used"), "GPU-b ");
	memset(&survey, 0, sizeof survey);
	add_device("GPU-b", 1, 1)->visible = 0;
	assert_string_equal(devices_of("used"), "GPU-b ");
	memset(&survey, 0, sizeof survey);
	add_device("GPU-c", 1, 1)->visible = 0;
	assert_string_equal(devices_of("used"), "");
	assert_string_equal(devices_of("visible"), "");
	add_device("GPU-b", 1, 1)->visible = 0;
	assert_string_equal(devices_of("used"), "");
}

static void a_word_that_names_no_device_is_told(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	lone.context.gpus = "GPU-b,nothing";
	sample(1, -1);
	assert_null(lone.context.warning);
	survey.error = EIO;
	sample(1, 0);
	assert_null(lone.context.warning);
	survey.error = 0;
	add_device("GPU-a", 50, 1);
	add_device("GPU-b", 50, 1);
	sample(2, 0);
	assert_string_equal(lone.context.warning, "--gpus: no GPU 'nothing' here; there is GPU-a, GPU-b");
	sample(3, 0);
	assert_null(lone.context.warning);
}

static void words_of_the_setting_are_not_taken_for_names(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_device("GPU-a", 50, 1);
	for (int i = 0; i < 5; i++) {
		lone.context.gpus = (const char *[]){"used", "visible", "all", NULL, "GPU-a"}[i];
		sample(1 + i, 0);
		assert_null(lone.context.warning);
	}
}

/* ---- sums -------------------------------------------------------------------------------------------------- */

static void a_device_without_a_counter_is_left_out(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_device("GPU-a", 50, 1);
	add_device("GPU-b", 0, 2);
	survey.devices[0].readings[GPU_SHARE] = gpu_value(0.5);
	sample(1, 0);
	assert_real(totals()->gpu_usage, 0.25);
	assert_int_equal(totals()->gpu_utilized, 1);
	assert_real(totals()->gpu_vram_mib, 3);
	survey.devices[0].readings[GPU_SHARE] = gpu_absent(EIO);
	survey.devices[1].readings[GPU_UTILIZATION_PCT] = gpu_absent(EOPNOTSUPP);
	survey.devices[1].readings[GPU_VRAM_USED_BYTES] = gpu_absent(EOPNOTSUPP);
	sample(2, 0);
	assert_real(totals()->gpu_usage, 0.5);
	assert_real(totals()->gpu_vram_mib, 1);
	survey.devices[1].readings[GPU_UTILIZATION_PCT] = gpu_absent(EACCES);
	survey.devices[1].readings[GPU_VRAM_USED_BYTES] = gpu_absent(EPERM);
	sample(3, 0);
	assert_absent_real(totals()->gpu_usage, EACCES);
	assert_absent_count(totals()->gpu_utilized, EACCES);
	assert_absent_real(totals()->gpu_vram_mib, EPERM);
	for (int i = 0; i < 2; i++)
		survey.devices[i].readings[GPU_UTILIZATION_PCT] =
			survey.devices[i].readings[GPU_VRAM_USED_BYTES] = gpu_absent(EOPNOTSUPP);
	sample(4, 0);
	assert_absent_real(totals()->gpu_usage, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(totals()->gpu_vram_mib, ABSENT_NO_SUCH_COUNTER);
	survey.device_count = 1;
	sample(4.5, 0);
	assert_absent_real(totals()->gpu_usage, ABSENT_NO_SUCH_COUNTER);
	assert_absent_real(totals()->gpu_vram_mib, ABSENT_NO_SUCH_COUNTER);
	memset(&survey, 0, sizeof survey);
	sample(5, 0);
	assert_real(totals()->gpu_usage, 0);
	assert_real(totals()->gpu_vram_mib, 0);
}

static void memory_of_the_system_is_not_counted(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_members(2);
	add_device("GPU-a", 50, 5)->memory_kind = GPU_MEMORY_UNIFIED;
	add_process(0, LONE_JOB, 20, 3);
	sample(1, 0);
	assert_true(totals()->gpu_vram_mib == 0);
	assert_true(tree()->process_gpu_vram_mib == 0 && tree()->process_main_gpu_vram_mib == 0);
	assert_real(tree()->process_gpu_usage, 0.2);
	add_device("GPU-b", 50, 7)->memory_kind = GPU_MEMORY_DEDICATED;
	add_process(1, 101, 30, 3);
	sample(2, 0);
	assert_real(totals()->gpu_vram_mib, 7);
	assert_real(tree()->process_gpu_vram_mib, 3);
	assert_real(tree()->process_gpu_usage, 0.5);
	assert_int_equal(tree()->process_gpu_utilized, 2);
}

/* Both are in the survey; the bytes of the instance are the device's. */
static void an_instance_counts_once(void **state)
{
	struct gpu_device *instance;

	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_members(1);
	add_device("GPU-a", 80, 5);
	instance = add_device("MIG-b", 40, 3);
	instance->parent = 0;
	instance->readings[GPU_SHARE] = gpu_value(0.5);
	add_process(1, LONE_JOB, 40, 2);
	sample(1, 0);
	assert_real(totals()->gpu_usage, 0.2);
	assert_int_equal(totals()->gpu_utilized, 1);
	assert_real(totals()->gpu_vram_mib, 5);
	assert_real(tree()->process_gpu_usage, 0.2);
	assert_real(tree()->process_gpu_vram_mib, 2);
	lone.context.gpus = "MIG-b";
	sample(2, 0);
	assert_real(totals()->gpu_vram_mib, 3);
}

static void an_unknown_part_of_one_device_hides_the_sum(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_members(1);
	for (int i = 0; i < 3; i++) {
		add_device((const char *[]){"GPU-a", "GPU-b", "GPU-c"}[i], 50, 1);
		add_process(i, LONE_JOB, 50, 1);
	}
	survey.devices[1].pids = GPU_PIDS_NOT_ASKED;
	sample(1, 0);
	assert_absent_real(tree()->process_gpu_usage, ABSENT_NOT_YET);
	assert_absent_count(tree()->process_gpu_utilized, ABSENT_NOT_YET);
	assert_absent_real(tree()->process_gpu_vram_mib, ABSENT_NOT_YET);
	assert_absent_real(tree()->process_main_gpu_vram_mib, ABSENT_NOT_YET);
	assert_real(totals()->gpu_usage, 1.5);
	/* Its processes are not those of our numbers. */
	assert_int_equal(FIRST(&lone.frame, gpu_process)->pid, LONE_JOB);
	assert_null(NEXT(FIRST(&lone.frame, gpu_process), gpu_process)->row.next);
	survey.devices[1].pids = GPU_PIDS_MAPPED;
	sample(2, 0);
	assert_real(tree()->process_gpu_vram_mib, 3);
	assert_int_equal(tree()->process_gpu_utilized, 3);
	assert_non_null(NEXT(FIRST(&lone.frame, gpu_process), gpu_process)->row.next);
}

static void a_survey_from_before_the_job_has_nothing_of_it(void **state)
{
	(void)state;
	lone_open(&GPU_USAGE_COLLECTOR);
	add_device("GPU-a", 50, 1);
	lone.ending.job_started_ns = lone.context.progress.started_ns + 2 * NSEC_PER_SEC;
	sample(3, 1.001);
	assert_absent_real(tree()->process_gpu_usage, ABSENT_NOT_YET);
	assert_real(totals()->gpu_usage, 0.5);
	sample(3, 1);
	assert_real(tree()->process_gpu_usage, 0);
	lone.context.tree = NULL;
	sample(3, 2);
	assert_absent_real(tree()->process_gpu_usage, ABSENT_NOT_COLLECTED);
	assert_true(count_absent(FIRST(&lone.frame, gpu)->process_count));
	assert_real(totals()->gpu_usage, 0.5);
}

#define gpu_test(test) cmocka_unit_test_setup_teardown(test, begin, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		gpu_test(the_helper_is_told_its_job),
		gpu_test(a_job_that_is_still_to_come_is_the_recorders_child),
		gpu_test(without_a_device_file_nothing_is_used),
		gpu_test(a_library_that_is_given_is_asked),
		gpu_test(a_helper_that_does_not_start_is_told),
		gpu_test(nothing_is_started_for_unwanted_metrics),
		gpu_test(the_request_names_the_job_with_its_first_process_first),
		gpu_test(a_process_that_has_gone_since_the_survey_counts),
		gpu_test(the_cost_of_the_helper_is_told),
		gpu_test(before_the_first_survey_nothing_is_known),
		gpu_test(a_survey_grows_old),
		gpu_test(silence_is_told_once),
		gpu_test(a_problem_is_told_once),
		gpu_test(an_answer_that_cannot_be_read_is_none),
		gpu_test(the_setting_selects_devices),
		gpu_test(a_device_that_was_used_stays_so),
		gpu_test(a_word_that_names_no_device_is_told),
		gpu_test(words_of_the_setting_are_not_taken_for_names),
		gpu_test(a_device_without_a_counter_is_left_out),
		gpu_test(memory_of_the_system_is_not_counted),
		gpu_test(an_instance_counts_once),
		gpu_test(an_unknown_part_of_one_device_hides_the_sum),
		gpu_test(a_survey_from_before_the_job_has_nothing_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
