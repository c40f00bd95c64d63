/*
 * GPUs: turns the helper process's surveys into rows.
 *
 * The helper (helper/kind_gpu.c) asks vendors' libraries and drivers. The collector never waits for it. On a
 * machine without a GPU's device file, no helper is started and the only cost is three calls at the start.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/runs_once.h"
#include "collect/collector.h"
#include "collect/gpu_account.h"
#include "collect/gpu_row.h"
#include "helper/helper.h"
#include "kernel/sys_class_drm.h"
#include "metric/typed_rows.h"

#define STALE_AFTER_NS (5 * NSEC_PER_SEC)
#define SILENT_AFTER_NS (10 * NSEC_PER_SEC) /* with many devices, drivers take seconds to start */

enum { STALE_INTERVALS = 3, MIB = 1 << 20 };

struct gpu_usage {
	struct helper *helper; /* NULL: none */
	int start_error;       /* why the helper is missing beside devices. 0: no devices */
	struct timed_survey now;
	struct timed_survey before; /* the survey before the newest one */
	uint64_t answer_number;
	struct gpu_request *request; /* the last request, with the members at that time */
	pid_t *gone;                 /* members of that request that have left the tree since */
	size_t gone_count;
	struct device_account *accounts; /* NULL: no devices */
	struct process_share *shares;
	bool used[GPU_DEVICES_MAX]; /* the tree has used it at some time */
	char warning[300];
	char warned_of[300]; /* the last problem reported to the user */
	bool warned_of_end;
	bool warned_of_silence;
	int64_t began_ns;  /* time of the first sample */
	bool checked_list; /* the words of --gpus were compared with the devices */
};

/* ---- starting -------------------------------------------------------------------------------------- */

static bool vendor_given(void)
{
	const char *library = secure_getenv("TRACKER_NVML_LIBRARY");

	return library && *library;
}

/* Returns 1, 0, or a negative errno: there are device files, but /sys does not say whether they are GPUs. */
static int has_devices(struct root *root)
{
	if (vendor_given() || root_exists(root, "dev/nvidiactl") || root_exists(root, "dev/dxg"))
		return 1;
	return root_exists(root, "dev/dri") ? read_sys_class_drm(root, NULL, 0) : 0;
}

static bool gpu_is_wanted(const struct selection *selection)
{
	return !selection || selection->kinds[ROW_gpu] || IS_WANTED(selection, totals, gpu_usage) ||
	       IS_WANTED(selection, totals, gpu_vram_mib) || IS_WANTED(selection, totals, gpu_utilized) ||
	       IS_WANTED(selection, tree, process_gpu_usage) ||
	       IS_WANTED(selection, tree, process_gpu_vram_mib) ||
	       IS_WANTED(selection, tree, process_gpu_utilized) ||
	       IS_WANTED(selection, tree, process_main_gpu_vram_mib) ||
	       IS_WANTED(selection, program, gpu_vram_mib);
}

/* The helper has another working directory, so make the path absolute. */
static int set_gpu_root(struct gpu_setup *setup, const char *root_dir)
{
	char *absolute;
	int error = 0;

	if (!root_dir)
		return 0;
	absolute = realpath(root_dir, NULL);
	if (!absolute)
		return -errno;
	if (strlen(absolute) < sizeof setup->root_dir)
		memcpy(setup->root_dir, absolute, strlen(absolute) + 1);
	else
		error = -ENAMETOOLONG;
	free(absolute);
	return error;
}

static int start_gpu_helper(struct gpu_usage *state, const struct collect_context *context)
{
	struct gpu_setup *setup = calloc(1, sizeof *setup);
	struct helper_order order = {
		.kind = "gpu",
		.setup = setup,
		.setup_bytes = sizeof(*setup),
		.request_bytes = sizeof(struct gpu_request),
		.answer_bytes = sizeof(struct gpu_survey),
	};
	int error;

	if (!setup)
		return -ENOMEM;
	snprintf(setup->vendor, sizeof setup->vendor, "%s", context->gpu_vendor ? context->gpu_vendor : "");
	setup->interval_ns = (int64_t)(context->facts->interval_seconds * 1e9);
	if (context->tree)
		setup->job = context->tree->root_pid;
	else if (context->facts->mode && strcmp(context->facts->mode, "wrap") == 0)
		setup->job = getpid();
	error = set_gpu_root(setup, context->root_dir);
	if (!error)
		error = helper_start(&order, &state->helper);
	free(setup);
	return error;
}

static void free_state(struct gpu_usage *state)
{
	helper_stop(state->helper);
	free(state->now.survey);
	free(state->before.survey);
	free(state->request);
	free(state->gone);
	free(state->accounts);
	free(state->shares);
	free(state);
}

/*
 * If the caller adopts orphans, the helper becomes its child. When the caller tracks itself, the helper must
 * not count.
 */
static void exclude_helper(const struct gpu_usage *state, const struct collect_context *context)
{
	pid_t pids[2];
	size_t count = context->tree ? helper_pids(state->helper, pids) : 0;

	for (size_t i = 0; i < count; i++)
		process_tree_exclude(context->tree, pids[i]);
}

static RUNS_ONCE int gpu_usage_open(struct collect_context *context, void **ret_state)
{
	struct gpu_usage *state;
	int devices;

	if (!gpu_is_wanted(context->selection))
		return -ENODATA;
	state = calloc(1, sizeof *state);
	if (!state)
		return -ENOMEM;
	*ret_state = state;
	devices = has_devices(context->root);
	if (devices <= 0) {
		state->start_error = devices;
		return 0;
	}
	state->now.survey = calloc(1, sizeof *state->now.survey);
	state->before.survey = calloc(1, sizeof *state->before.survey);
	state->request = calloc(1, sizeof *state->request);
	state->gone = calloc(GPU_MEMBERS_MAX + 1, sizeof *state->gone);
	state->accounts = calloc(GPU_DEVICES_MAX, sizeof *state->accounts);
	state->shares = calloc(GPU_PROCESSES_MAX, sizeof *state->shares);
	if (!state->now.survey || !state->before.survey || !state->request || !state->gone ||
	    !state->accounts || !state->shares) {
		free_state(state);
		return -ENOMEM;
	}
	state->start_error = start_gpu_helper(state, context);
	if (state->start_error < 0) {
		snprintf(state->warning, sizeof state->warning,
			 "GPUs are not recorded: the helper cannot be started: %s",
			 state->start_error == -EPROTO
				 ? "it is of another version; install all programs from one package"
				 : strerror(-state->start_error));
		context->warning = state->warning;
		return 0;
	}
	context->helper_count++;
	exclude_helper(state, context);
	return 0;
}

static void gpu_usage_close(void *state)
{
	free_state(state);
}

/* ---- asking and hearing ---------------------------------------------------------------------------- */

/* Call before the next request is written: finds the members of the last request that have exited. */
static void find_gone(struct gpu_usage *state, const struct process_tree *tree)
{
	const struct gpu_request *request = state->request;

	state->gone_count = 0;
	if (!process_tree_find(tree, tree->root_pid))
		state->gone[state->gone_count++] = tree->root_pid;
	for (int64_t i = 0; i < request->member_count; i++)
		if (request->members[i] != tree->root_pid && !process_tree_find(tree, request->members[i]))
			state->gone[state->gone_count++] = request->members[i];
}

static void ask_helper(struct gpu_usage *state, const struct collect_context *context, int64_t now_ns)
{
	struct gpu_request *request = state->request;
	const struct process_tree *tree = context->tree;

	if (tree)
		find_gone(state, tree);
	request->sampled_ns = now_ns;
	request->member_count = 0;
	if (tree)
		request->members[request->member_count++] = tree->root_pid;
	for (size_t i = 0; tree && i < tree->count && request->member_count < GPU_MEMBERS_MAX; i++)
		if (tree->members[i].pid != tree->root_pid)
			request->members[request->member_count++] = tree->members[i].pid;
	(void)helper_ask(state->helper, request, gpu_request_bytes(request));
}

/* Returns the place of a device in an earlier survey, usually the same. -1: not there. */
static int64_t earlier_place(const struct gpu_survey *earlier, const struct gpu_device *device, int64_t place)
{
	for (int64_t n = 0; n < earlier->device_count; n++) {
		int64_t i = (place + n) % earlier->device_count;

		if (strcmp(earlier->devices[i].uuid, device->uuid) == 0)
			return i;
	}
	return -1;
}

/* Devices may come and go: copies what the tree has used to their new places. */
static void carry_used(struct gpu_usage *state, const struct gpu_survey *later)
{
	bool used[GPU_DEVICES_MAX] = {false};

	for (int64_t i = 0; i < later->device_count; i++) {
		int64_t place = earlier_place(state->now.survey, &later->devices[i], i);

		used[i] = place >= 0 && state->used[place];
	}
	memcpy(state->used, used, sizeof used);
}

static void take_survey(struct gpu_usage *state)
{
	uint64_t number = helper_answer_number(state->helper);
	struct timed_survey later = state->before;
	ptrdiff_t length;

	if (number == state->answer_number)
		return;
	length = helper_latest(state->helper, later.survey, sizeof *later.survey, NULL);
	if (length < 0 || gpu_survey_unpack(later.survey, (size_t)length) < 0) {
		state->before.at_ns = 0;
		return;
	}
	later.at_ns = later.survey->at_ns;
	carry_used(state, later.survey);
	state->before = state->now;
	state->now = later;
	state->answer_number = number;
}

/* Whether --gpus is a list of devices. */
static bool is_list(const char *gpus)
{
	return gpus && strcmp(gpus, "used") != 0 && strcmp(gpus, "visible") != 0 && strcmp(gpus, "all") != 0;
}

static bool is_silent(const struct gpu_usage *state, const struct collect_context *context, int64_t now_ns)
{
	int64_t heard_ns = state->now.at_ns > state->began_ns ? state->now.at_ns : state->began_ns;
	int64_t limit_ns = SILENT_AFTER_NS + (int64_t)(context->facts->interval_seconds * 1e9);

	return now_ns - heard_ns > limit_ns && !helper_ended_content(state->helper);
}

static void warn_once(struct gpu_usage *state, struct collect_context *context, int64_t now_ns)
{
	const char *problem = state->now.at_ns ? state->now.survey->problem : "";

	if (*problem && strcmp(problem, state->warned_of) != 0) {
		snprintf(state->warned_of, sizeof state->warned_of, "%s", problem);
		context->warning = state->warned_of;
	} else if (!state->warned_of_end && helper_failures(state->helper) > 0) {
		state->warned_of_end = true;
		context->warning = "the GPU helper crashed or hung, and is started anew; GPU values are "
				   "missing until it answers";
	} else if (!state->warned_of_silence && !state->warned_of_end && is_silent(state, context, now_ns)) {
		state->warned_of_silence = true;
		context->warning = "the GPU driver does not answer; GPU values are missing until it does";
	}
}

static bool list_names_device(const struct gpu_device *device, const char *word, size_t length)
{
	char index[24];

	snprintf(index, sizeof index, "%lld", (long long)device->index);
	return strncasecmp(device->uuid, word, length) == 0 ||
	       (strlen(device->host_id) == length && strncasecmp(device->host_id, word, length) == 0) ||
	       (strlen(index) == length && memcmp(index, word, length) == 0);
}

/* If a word of --gpus names no device, warns with a list of the devices. */
static void check_list(struct gpu_usage *state, struct collect_context *context)
{
	const struct gpu_survey *survey = state->now.survey;
	const char *list = context->gpus;
	size_t length, used;

	if (!state->now.at_ns || survey->error || state->checked_list || !is_list(list))
		return;
	state->checked_list = true;
	for (; *list; list += length + (list[length] == ',')) {
		bool found = false;

		length = strcspn(list, ",");
		for (int64_t i = 0; i < survey->device_count; i++)
			found |= list_names_device(&survey->devices[i], list, length);
		if (found)
			continue;
		used = (size_t)snprintf(state->warning, sizeof state->warning,
					"--gpus: no GPU '%.*s' here; there is", (int)length, list);
		for (int64_t i = 0; i < survey->device_count && used < sizeof state->warning; i++)
			used += (size_t)snprintf(state->warning + used, sizeof state->warning - used, "%s %s",
						 i ? "," : "", survey->devices[i].uuid);
		context->warning = state->warning;
	}
}

/* Returns why there are no GPU figures, or 0. A helper that found no devices has reported that. */
static int absent_reason(const struct gpu_usage *state, const struct collect_context *context, int64_t now_ns)
{
	int64_t limit_ns = (int64_t)((double)STALE_INTERVALS * context->facts->interval_seconds * 1e9);

	if (!state->helper)
		return -state->start_error;
	if (!state->now.at_ns)
		return helper_failures(state->helper) ? ABSENT_STALE : ABSENT_NOT_YET;
	if (limit_ns < STALE_AFTER_NS)
		limit_ns = STALE_AFTER_NS;
	return now_ns - state->now.at_ns > limit_ns && !helper_ended_content(state->helper) ? ABSENT_STALE
											    : 0;
}

/* ---- which devices --------------------------------------------------------------------------------- */

static bool gpu_is_listed(const struct gpu_device *device, const char *list)
{
	size_t length;

	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		if (list_names_device(device, list, length))
			return true;
	}
	return false;
}

static bool is_selected(const struct gpu_usage *state, const char *gpus, int64_t index)
{
	const struct gpu_device *device = &state->now.survey->devices[index];

	if (is_list(gpus))
		return gpu_is_listed(device, gpus);
	if (gpus && strcmp(gpus, "all") == 0)
		return true;
	if (gpus && strcmp(gpus, "used") == 0)
		return state->used[index];
	return device->visible == 1 || state->used[index];
}

/* ---- sums ------------------------------------------------------------------------------------------ */

struct sums {
	double usage, vram_bytes;
	int64_t utilized;
	int64_t with_usage;
	int64_t with_vram, own_memory; /* devices that report it, and devices that have memory of their own */
	struct gpu_number missing_usage; /* why a part of the sum is unknown. 0: it is known */
	struct gpu_number missing_vram;
};

static void add_device(struct gpu_usage *state, const char *gpus, int64_t index, struct sums *sums)
{
	const struct gpu_device *device = &state->now.survey->devices[index];
	struct gpu_number use = state->accounts[index].utilization_pct,
			  used = device->readings[GPU_VRAM_USED_BYTES];
	struct gpu_number share = device->readings[GPU_SHARE];

	/*
	 * Without such a counter a device is left out of the sum. If reading the counter fails, the sum is
	 * unknown.
	 */
	if (use.error && use.error != EOPNOTSUPP)
		sums->missing_usage = use;
	if (!use.error && !state->accounts[index].divided) {
		sums->usage += use.value / 100 * (share.error ? 1 : share.value);
		sums->utilized += use.value > 0;
		sums->with_usage++;
	}
	if (device->memory_kind == GPU_MEMORY_UNIFIED ||
	    (device->parent >= 0 && is_selected(state, gpus, device->parent)))
		return;
	sums->own_memory++;
	if (used.error && used.error != EOPNOTSUPP)
		sums->missing_vram = used;
	if (used.error)
		return;
	sums->vram_bytes += used.value;
	sums->with_vram++;
}

static void set_totals(struct totals_row *row, const struct sums *sums, bool any)
{
	struct gpu_number no_usage = sums->missing_usage, no_vram = sums->missing_vram;

	if (any && !sums->with_usage && !no_usage.error)
		no_usage = gpu_absent(EOPNOTSUPP);
	row->gpu_usage = no_usage.error ? gpu_real(no_usage, 1) : sums->usage;
	row->gpu_utilized = no_usage.error ? gpu_count(no_usage, 1) : sums->utilized;
	/*
	 * Integrated GPUs share system memory, so their VRAM is 0. If the driver reports nothing, VRAM is
	 * unknown.
	 */
	if (sums->own_memory && !sums->with_vram && !no_vram.error)
		no_vram = gpu_absent(EOPNOTSUPP);
	row->gpu_vram_mib = no_vram.error ? gpu_real(no_vram, 1) : sums->vram_bytes / (double)MIB;
}

static void set_tree(const struct gpu_usage *state, struct tree_row *row)
{
	struct gpu_number usage = gpu_value(0), vram = gpu_value(0), main_vram = gpu_value(0);
	int64_t utilized = 0;

	for (int64_t i = 0; i < state->now.survey->device_count; i++) {
		const struct device_account *account = &state->accounts[i];
		/* System memory does not count as VRAM. */
		bool unified = state->now.survey->devices[i].memory_kind == GPU_MEMORY_UNIFIED;
		struct gpu_number part = unified ? gpu_value(0) : account->vram_bytes;
		struct gpu_number main_part = unified ? gpu_value(0) : account->main_vram_bytes;

		if (account->divided)
			continue;
		usage = usage.error            ? usage
			: account->usage.error ? account->usage
					       : gpu_value(usage.value + account->usage.value);
		vram = vram.error ? vram : part.error ? part : gpu_value(vram.value + part.value);
		main_vram = main_vram.error   ? main_vram
			    : main_part.error ? main_part
					      : gpu_value(main_vram.value + main_part.value);
		utilized += !account->usage.error && account->usage.value > 0;
	}
	row->process_gpu_usage = gpu_real(usage, 1);
	row->process_gpu_utilized = usage.error ? gpu_count(usage, 1) : utilized;
	row->process_gpu_vram_mib = gpu_real(vram, 1.0 / (double)MIB);
	row->process_main_gpu_vram_mib = gpu_real(main_vram, 1.0 / (double)MIB);
}

/* The row that the tree's collector has added, or NULL if the tree is not recorded. */
static struct tree_row *tree_row(const struct frame *frame)
{
	return (struct tree_row *)(void *)frame->first[ROW_tree];
}

static void set_all_absent(struct collect_context *context, struct frame *frame, int reason)
{
	struct totals_row *totals = SINGLE_ROW(frame, totals);
	struct tree_row *tree = tree_row(frame);

	totals->gpu_usage = totals->gpu_vram_mib = no_real(reason);
	totals->gpu_utilized = no_count(reason);
	if (context->tree && tree) {
		tree->process_gpu_usage = tree->process_gpu_vram_mib = tree->process_main_gpu_vram_mib =
			no_real(reason);
		tree->process_gpu_utilized = no_count(reason);
	}
}

static void set_all_zero(struct collect_context *context, struct frame *frame)
{
	struct totals_row *totals = SINGLE_ROW(frame, totals);
	struct tree_row *tree = tree_row(frame);

	totals->gpu_usage = totals->gpu_vram_mib = 0;
	totals->gpu_utilized = 0;
	if (context->tree && tree) {
		tree->process_gpu_usage = tree->process_gpu_vram_mib = tree->process_main_gpu_vram_mib = 0;
		tree->process_gpu_utilized = 0;
	}
}

/* ---- a sample -------------------------------------------------------------------------------------- */

static void fill_processes(const struct gpu_usage *state, struct frame *frame, struct gpu_row *row,
			   int64_t device)
{
	const struct gpu_survey *survey = state->now.survey;
	int64_t pids = survey->devices[device].pids;

	if (pids != GPU_PIDS_OURS && pids != GPU_PIDS_MAPPED)
		return;
	for (int64_t i = 0; i < survey->process_count; i++)
		if (survey->processes[i].device == device && state->shares[i].is_member)
			gpu_fill_process(frame, row, &survey->processes[i], state->shares[i].rate);
}

static void fill_devices(struct gpu_usage *state, struct collect_context *context, struct frame *frame,
			 int stale)
{
	struct sums sums = {0};
	int64_t device_count = state->now.survey->device_count;
	const struct gpu_members members = {context->tree, state->gone, state->gone_count};

	gpu_account(&state->now, &state->before, &members, state->accounts, state->shares);
	for (int64_t i = 0; i < device_count; i++) {
		const struct gpu_device *device = &state->now.survey->devices[i];
		struct device_account *account = &state->accounts[i];
		struct gpu_row *row;

		if (context->tree && state->now.at_ns < context->ending->job_started_ns)
			gpu_account_too_early(account);
		state->used[i] |= account->process_count > 0;
		if (!is_selected(state, context->gpus, i))
			continue;
		row = ADD_ROW(frame, gpu, NULL);
		if (stale)
			row_set_absent(&row->row, stale);
		gpu_fill_identity(frame, row, state->now.survey, i);
		/* The helper may have read the device since this sample began. */
		row->age_secs = state->now.at_ns < frame->monotonic_ns
					? ns_to_secs(frame->monotonic_ns - state->now.at_ns)
					: 0;
		if (stale)
			continue;
		gpu_fill_readings(frame, row, device, account);
		gpu_fill_tree_part(row, account, context->tree != NULL);
		if (context->tree)
			fill_processes(state, frame, row, i);
		add_device(state, context->gpus, i, &sums);
	}
	if (stale)
		return;
	set_totals(SINGLE_ROW(frame, totals), &sums, device_count > 0);
	if (context->tree && tree_row(frame))
		set_tree(state, tree_row(frame));
}

static void gpu_usage_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct gpu_usage *state = state_;
	int reason;

	if (!state->helper && !state->start_error) {
		set_all_zero(context, frame);
		return;
	}
	if (state->helper) {
		pid_t pids[2];

		ask_helper(state, context, frame->monotonic_ns);
		take_survey(state);
		if (!state->began_ns)
			state->began_ns = frame->monotonic_ns;
		warn_once(state, context, frame->monotonic_ns);
		check_list(state, context);
		context->helper_count += (int64_t)helper_pids(state->helper, pids);
		context->helper_cpu_ns += helper_cpu_ns(state->helper);
	}
	reason = absent_reason(state, context, frame->monotonic_ns);
	if (state->now.at_ns)
		fill_devices(state, context, frame, reason);
	else
		frame_set_missing(frame, ROW_gpu, reason);
	if (!reason && state->now.survey->error)
		reason = (int)state->now.survey->error;
	if (reason)
		set_all_absent(context, frame, reason);
}

const struct collector GPU_USAGE_COLLECTOR = {
	.name = "gpu_usage",
	.open = gpu_usage_open,
	.collect = gpu_usage_collect,
	.close = gpu_usage_close,
	.fills = (const enum row_kind[]){ROW_gpu, ROW_gpu_detail, ROW_gpu_process, ROW_totals, ROW_tree,
					 ROW_KINDS},
};
