/* Makes surveys; see surveyor.h. */
#include "gpu/surveyor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "gpu/drm_clients.h"
#include "gpu/plausible.h"
#include "gpu/roster.h"
#include "gpu/tenants.h"
#include "gpu/vendor.h"
#include "gpu/visible.h"

#define FIRST_PAUSE_NS (1 * NSEC_PER_SEC)
#define LONGEST_PAUSE_NS (64 * NSEC_PER_SEC)

enum { SOURCES_MAX = 8, REMARK_PASSES = 10, LIST_TRIES = 2 };

struct survey_source {
	const struct gpu_vendor *vendor;
	void *state; /* NULL: not open */
	bool listed;
	int64_t places[GPU_DEVICES_MAX]; /* places of its devices in the survey; NO_PLACE */
	int64_t count;
	int64_t next_try_ns;
	int64_t pause_ns;
	int error;     /* why it is not open; 0: it has no devices */
	bool hopeless; /* it has no devices here */
};

struct surveyor {
	struct root *root;
	struct gpu_setup setup;
	struct gpu_context context;
	struct survey_source sources[SOURCES_MAX];
	size_t source_count;
	struct gpu_survey survey;
	struct gpu_survey listing; /* the list of one vendor */
	struct roster roster;
	struct gpu_process earlier[GPU_PROCESSES_MAX];
	int64_t earlier_count;
	struct member_files files;
	struct drm_clients *clients;
	bool first_namespace;
	bool had_members;
	int64_t last_ns; /* 0: no pass yet */
	int remark_in;
	pid_t marked_for;
};

int surveyor_new(struct root *root, const struct gpu_setup *setup, struct surveyor **ret_surveyor)
{
	struct surveyor *surveyor = calloc(1, sizeof *surveyor);

	if (!surveyor)
		return -ENOMEM;
	if (drm_clients_new(&surveyor->clients) < 0) {
		free(surveyor);
		return -ENOMEM;
	}
	surveyor->root = root;
	surveyor->setup = *setup;
	surveyor->context.root = root;
	surveyor->first_namespace = in_first_pid_namespace(root);
	for (size_t i = 0; GPU_VENDORS[i] && surveyor->source_count < SOURCES_MAX; i++) {
		const struct gpu_vendor *vendor = GPU_VENDORS[i];

		if ((setup->vendor[0] && strcasecmp(setup->vendor, vendor->name) != 0) ||
		    !vendor->present(root))
			continue;
		surveyor->sources[surveyor->source_count++] = (struct survey_source){
			.vendor = vendor,
			.pause_ns = FIRST_PAUSE_NS,
		};
	}
	*ret_surveyor = surveyor;
	return 0;
}

static void close_source(struct survey_source *source)
{
	if (source->state)
		source->vendor->close(source->state);
	source->state = NULL;
	source->count = 0;
	source->listed = false;
}

void surveyor_free(struct surveyor *surveyor)
{
	if (!surveyor)
		return;
	for (size_t i = 0; i < surveyor->source_count; i++)
		close_source(&surveyor->sources[i]);
	member_files_done(&surveyor->files);
	drm_clients_free(surveyor->clients);
	free(surveyor);
}

/* ---- opening and listing --------------------------------------------------------------------------- */

static void try_later(struct surveyor *surveyor, struct survey_source *source, int error, int64_t now_ns)
{
	close_source(source);
	source->error = error;
	source->next_try_ns = now_ns + source->pause_ns;
	if (source->pause_ns < LONGEST_PAUSE_NS)
		source->pause_ns *= 2;
	/* Its devices are known, but all their readings are absent. */
	roster_lose(&surveyor->roster, &surveyor->survey, source - surveyor->sources, error ? error : ENODEV);
}

static void source_failed(struct surveyor *surveyor, struct survey_source *source, int error, int64_t now_ns)
{
	struct gpu_survey *survey = &surveyor->survey;
	const char *why = surveyor->context.problem;

	snprintf(survey->problem, sizeof survey->problem, "GPUs of vendor %s cannot be read: %s",
		 source->vendor->name, why ? why : strerror(-error));
	try_later(surveyor, source, -error, now_ns);
}

static void open_source(struct surveyor *surveyor, struct survey_source *source, int64_t now_ns)
{
	int error;

	if (source->state || source->hopeless || now_ns < source->next_try_ns)
		return;
	surveyor->context.problem = NULL;
	error = source->vendor->open(&surveyor->context, &source->state);
	if (error < 0) {
		source->state = NULL;
		/* A device file without its library is an error to report; a machine without devices is not. */
		source->hopeless = error == -ENOENT && !surveyor->context.problem;
		if (!source->hopeless)
			source_failed(surveyor, source, error, now_ns);
		return;
	}
	source->error = 0;
}

static void move_places(int64_t *places, int64_t count, const struct roster_moves *moves)
{
	for (int64_t i = 0; i < count; i++)
		if (places[i] != NO_PLACE)
			places[i] = moves->to[places[i]];
}

static int64_t move_processes(struct gpu_process *processes, int64_t count, const struct roster_moves *moves)
{
	int64_t kept = 0;

	for (int64_t i = 0; i < count; i++) {
		int64_t to = moves->to[processes[i].device];

		if (to == NO_PLACE)
			continue;
		processes[kept] = processes[i];
		processes[kept++].device = to;
	}
	return kept;
}

/* Everything that is kept by the devices' places. */
static void follow_roster_moves(struct surveyor *surveyor, const struct roster_moves *moves)
{
	struct gpu_survey *survey = &surveyor->survey;

	if (!moves->any)
		return;
	for (size_t i = 0; i < surveyor->source_count; i++)
		move_places(surveyor->sources[i].places, surveyor->sources[i].count, moves);
	survey->process_count = move_processes(survey->processes, survey->process_count, moves);
	surveyor->earlier_count = move_processes(surveyor->earlier, surveyor->earlier_count, moves);
	drm_clients_forget(surveyor->clients);
	surveyor->had_members = false;
}

static void list_source(struct surveyor *surveyor, struct survey_source *source, int64_t now_ns)
{
	struct gpu_survey *listing = &surveyor->listing;
	struct roster_moves moves;
	int error;

	listing->device_count = listing->left_out_count = 0;
	surveyor->context.problem = NULL;
	error = source->vendor->list(source->state, &surveyor->context, listing);
	if (error < 0) {
		source_failed(surveyor, source, error, now_ns);
		return;
	}
	/* Drivers may start late. A library that loads now counts its devices when it is opened. */
	if (!listing->device_count) {
		try_later(surveyor, source, 0, now_ns);
		return;
	}
	source->count = 0;
	roster_take(&surveyor->roster, &surveyor->survey, source - surveyor->sources, listing, source->places,
		    &moves);
	follow_roster_moves(surveyor, &moves);
	source->count = listing->device_count;
	source->listed = true;
	surveyor->survey.left_out_count += listing->left_out_count;
	surveyor->remark_in = 0;
}

static void read_source(struct surveyor *surveyor, struct survey_source *source, int64_t now_ns)
{
	int error = -ESTALE;

	for (int tries = 0; error == -ESTALE && tries < LIST_TRIES; tries++) {
		if (source->state && !source->listed)
			list_source(surveyor, source, now_ns);
		if (!source->state)
			return;
		surveyor->context.problem = NULL;
		error = source->vendor->read(source->state, &surveyor->context, &surveyor->survey,
					     source->places, source->count);
		source->listed = error != -ESTALE;
	}
	if (error < 0 && error != -ESTALE)
		source_failed(surveyor, source, error, now_ns);
	else if (!error)
		source->pause_ns = FIRST_PAUSE_NS;
}

/* ---- what belongs to the job ----------------------------------------------------------------------- */

static bool is_drm(const struct gpu_device *device)
{
	for (int64_t d = 0; d < device->detail_count; d++)
		if (strcmp(device->details[d].name, "driver") == 0)
			return true;
	return false;
}

static bool has_drm_devices(const struct gpu_survey *survey)
{
	for (int64_t i = 0; i < survey->device_count; i++)
		if (is_drm(&survey->devices[i]))
			return true;
	return false;
}

/* Whether all clients of these devices were found among the members' descriptors. */
static void mark_drm_devices(struct gpu_survey *survey, const struct member_files *files, bool asked)
{
	int64_t pids = asked ? GPU_PIDS_OURS : GPU_PIDS_NOT_ASKED;

	for (size_t i = 0; asked && i < files->count; i++)
		if (files->holders[i].denied == EACCES || files->holders[i].denied == EPERM ||
		    files->holders[i].left_out)
			pids = GPU_PIDS_UNKNOWN;
	for (int64_t i = 0; i < survey->device_count; i++)
		if (is_drm(&survey->devices[i]))
			survey->devices[i].pids = pids;
}

static void read_members(struct surveyor *surveyor, const struct gpu_request *request, int64_t now_ns)
{
	struct gpu_survey *survey = &surveyor->survey;
	bool drm = has_drm_devices(survey), doubt = gpu_tenants_in_doubt(survey, surveyor->first_namespace);
	/*
	 * Use by a member before the tracker first saw it does not count for the job, because its start is
	 * unknown.
	 */
	int64_t elapsed_ns = surveyor->had_members ? now_ns - surveyor->last_ns : 0;
	size_t count = request ? (size_t)request->member_count : 0;
	bool asked =
		count > 0 && (drm || doubt) &&
		member_files_update(&surveyor->files, surveyor->root, request->members, count, now_ns) == 0;

	surveyor->had_members = count > 0;
	if (asked && drm)
		drm_clients_read(surveyor->clients, surveyor->root, &surveyor->files, survey, 0,
				 survey->device_count, elapsed_ns);
	mark_drm_devices(survey, &surveyor->files, asked);
	if (asked && doubt)
		gpu_judge_tenants(survey, surveyor->root, request->members, count, &surveyor->files,
				  surveyor->first_namespace);
}

/*
 * Containers have only some of the device files. The control group of devices refuses the others, even to root.
 */
static bool may_be_opened(const struct root *root, int64_t render)
{
	char path[64];

	snprintf(path, sizeof path, "dev/dri/renderD%lld", (long long)render);
	return faccessat(root->dir_fd, path, R_OK | W_OK, 0) == 0 || (errno != ENOENT && errno != EPERM);
}

static void mark_refused_files(struct surveyor *surveyor)
{
	for (int64_t i = 0; i < surveyor->survey.device_count; i++) {
		struct gpu_device *device = &surveyor->survey.devices[i];

		if (is_drm(device) && device->file_number >= 0 &&
		    !may_be_opened(surveyor->root, device->file_number))
			device->visible = 0;
	}
}

static void mark_visible(struct surveyor *surveyor, const struct gpu_request *request)
{
	pid_t root_pid = request && request->member_count ? request->members[0] : surveyor->setup.job;
	ssize_t length = -ENOENT;

	if (root_pid == surveyor->marked_for && surveyor->remark_in-- > 0)
		return;
	surveyor->marked_for = root_pid;
	surveyor->remark_in = REMARK_PASSES;
	if (root_pid)
		length = root_read_pid(surveyor->root, root_pid, "environ");
	/* A wrapped job starts with our own environment. Without a job no device is hidden. */
	if (length <= 0 && root_pid)
		length = root_read(surveyor->root, "proc/self/environ");
	gpu_mark_visible(&surveyor->survey, length > 0 ? surveyor->root->text.data : "",
			 length > 0 ? (size_t)length : 0);
	mark_refused_files(surveyor);
}

/* ---- sums ------------------------------------------------------------------------------------------ */

static void add_up_device(struct gpu_device *device, struct device_sums *sums, double elapsed_secs)
{
	const struct gpu_number *readings = device->readings;

	if (!readings[GPU_UTILIZATION_PCT].error) {
		sums->busy_secs += readings[GPU_UTILIZATION_PCT].value / 100 * elapsed_secs;
		sums->covered_secs += elapsed_secs;
		device->readings[GPU_BUSY_SECS] = gpu_value(sums->busy_secs);
		device->readings[GPU_COVERED_SECS] = gpu_value(sums->covered_secs);
	}
	if (device->energy_source == GPU_ENERGY_COUNTER || readings[GPU_POWER_WATTS].error ||
	    device->parent >= 0)
		return;
	sums->energy_joules += readings[GPU_POWER_WATTS].value * elapsed_secs;
	device->energy_source = GPU_ENERGY_FROM_POWER;
	device->readings[GPU_ENERGY_JOULES] = gpu_value(sums->energy_joules);
}

/* Processes usually keep their order: `hint` is the place of the previous one. */
static double earlier_busy_secs(const struct surveyor *surveyor, const struct gpu_process *process,
				int64_t *hint)
{
	for (int64_t n = 0; n < surveyor->earlier_count; n++) {
		int64_t i = (*hint + 1 + n) % surveyor->earlier_count;
		const struct gpu_process *earlier = &surveyor->earlier[i];

		if (earlier->pid != process->pid || earlier->device != process->device)
			continue;
		*hint = i;
		return earlier->busy_secs.error ? 0 : earlier->busy_secs.value;
	}
	return 0;
}

static void add_up(struct surveyor *surveyor, double elapsed_secs)
{
	struct gpu_survey *survey = &surveyor->survey;
	int64_t hint = -1;

	for (int64_t i = 0; i < survey->device_count; i++)
		add_up_device(&survey->devices[i], &surveyor->roster.sums[i], elapsed_secs);
	for (int64_t i = 0; i < survey->process_count; i++) {
		struct gpu_process *process = &survey->processes[i];

		if (!process->utilization_pct.error)
			process->busy_secs = gpu_value(earlier_busy_secs(surveyor, process, &hint) +
						       process->utilization_pct.value / 100 * elapsed_secs);
	}
	memcpy(surveyor->earlier, survey->processes,
	       (size_t)survey->process_count * sizeof(survey->processes[0]));
	surveyor->earlier_count = survey->process_count;
}

/* ---- a pass ---------------------------------------------------------------------------------------- */

static bool is_hopeless(const struct surveyor *surveyor)
{
	for (size_t i = 0; i < surveyor->source_count; i++)
		if (!surveyor->sources[i].hopeless)
			return false;
	return true;
}

/* A vendor that cannot be asked now. While there is one, an empty list of devices proves nothing. */
static int64_t missing_error(const struct surveyor *surveyor)
{
	for (size_t i = 0; i < surveyor->source_count; i++)
		if (!surveyor->sources[i].state && surveyor->sources[i].error)
			return surveyor->sources[i].error;
	return 0;
}

int surveyor_pass(struct surveyor *surveyor, const struct gpu_request *request,
		  const struct gpu_survey **ret_survey)
{
	struct gpu_survey *survey = &surveyor->survey;
	int64_t now_ns = root_monotonic_ns(surveyor->root);

	survey->process_count = 0;
	survey->left_out_count = 0;
	surveyor->context.sampled_ns = request ? request->sampled_ns : 0;
	for (size_t i = 0; i < surveyor->source_count; i++)
		open_source(surveyor, &surveyor->sources[i], now_ns);
	if (is_hopeless(surveyor))
		return -ENODEV;
	for (size_t i = 0; i < surveyor->source_count; i++)
		read_source(surveyor, &surveyor->sources[i], now_ns);
	read_members(surveyor, request, now_ns);
	mark_visible(surveyor, request);
	gpu_drop_impossible(survey);
	add_up(surveyor, surveyor->last_ns ? ns_to_secs(now_ns - surveyor->last_ns) : 0);
	surveyor->last_ns = now_ns;
	survey->at_ns = now_ns;
	survey->error = missing_error(surveyor);
	*ret_survey = survey;
	return 0;
}
