/* Clients of DRM devices by fdinfo; see drm_clients.h. */
#include "gpu/drm_clients.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ends_with.h"
#include "gpu/vendor.h"
#include "kernel/sys_class_drm.h"

struct client {
	int64_t device; /* place in the survey; with the id the identity */
	int64_t id;
	uint64_t pass; /* in which it was last read */
	int engine_count;
	struct drm_engine engines[DRM_ENGINES_MAX]; /* as last read */
};

struct drm_clients {
	struct client *clients;
	size_t count;
	size_t capacity;
	uint64_t pass;
	struct proc_pid_fdinfo fdinfo; /* the one being read */
};

int drm_clients_new(struct drm_clients **ret_clients)
{
	struct drm_clients *clients = calloc(1, sizeof *clients);

	if (!clients)
		return -ENOMEM;
	*ret_clients = clients;
	return 0;
}

void drm_clients_free(struct drm_clients *clients)
{
	if (!clients)
		return;
	free(clients->clients);
	free(clients);
}

void drm_clients_forget(struct drm_clients *clients)
{
	clients->count = 0;
}

/* ---- meaning --------------------------------------------------------------------------------------- */

enum drm_engine_use drm_engine_use(const char *name)
{
	static const struct {
		const char *prefix;
		enum drm_engine_use use;
	} USES[] = {
		{"enc", DRM_ENGINE_ENCODES},
		{"dec", DRM_ENGINE_DECODES},
		{"jpeg", DRM_ENGINE_DECODES},
		{"copy", DRM_ENGINE_OTHER},
		{"dma", DRM_ENGINE_OTHER},
		{"sdma", DRM_ENGINE_OTHER},
		{"bcs", DRM_ENGINE_OTHER},
		{"tfu", DRM_ENGINE_OTHER},
		{"other", DRM_ENGINE_OTHER},
		/* Intel's video engines encode and decode, and the driver does not say which of the two. */
		{"video", DRM_ENGINE_OTHER},
		{"vcs", DRM_ENGINE_OTHER},
		{"vecs", DRM_ENGINE_OTHER},
		{"vpe", DRM_ENGINE_OTHER},
		{"uvd", DRM_ENGINE_DECODES},
		{"vce", DRM_ENGINE_ENCODES},
	};

	for (size_t i = 0; i < sizeof(USES) / sizeof(USES[0]); i++)
		if (begins_with(name, USES[i].prefix))
			return USES[i].use;
	return DRM_ENGINE_COMPUTES;
}

struct gpu_number drm_client_vram(const struct proc_pid_fdinfo *fdinfo)
{
	double bytes = 0;

	for (int i = 0; i < fdinfo->region_count; i++) {
		const struct drm_region *region = &fdinfo->regions[i];

		if (!begins_with(region->name, "vram") && !begins_with(region->name, "local"))
			continue;
		if (region->resident_bytes >= 0)
			bytes += (double)region->resident_bytes;
		else if (region->total_bytes >= 0)
			bytes += (double)(region->total_bytes -
					  (region->shared_bytes > 0 ? region->shared_bytes : 0));
	}
	/* Without such a region, the device has no memory of its own. */
	return fdinfo->region_count ? gpu_value(bytes) : gpu_absent(EOPNOTSUPP);
}

/* ---- finding --------------------------------------------------------------------------------------- */

static bool has_file(const struct gpu_device *device, int number)
{
	return (number < DRM_RENDER_FIRST ? device->card_number : device->file_number) == number;
}

/* The device of an fdinfo among [first, first + count), or -1. */
static int64_t find_device(const struct proc_pid_fdinfo *fdinfo, const struct gpu_survey *survey,
			   int64_t first, int64_t count, int number)
{
	int64_t same_driver = -1, matches = 0;

	for (int64_t i = first; i < first + count; i++) {
		const struct gpu_device *device = &survey->devices[i];

		if (fdinfo->device[0] ? strcmp(device->host_id, fdinfo->device) == 0
				      : has_file(device, number))
			return i;
		for (int64_t d = 0; d < device->detail_count; d++) {
			if (strcmp(device->details[d].name, "driver") != 0 ||
			    strcmp(device->details[d].value, fdinfo->driver) != 0)
				continue;
			same_driver = i;
			matches++;
		}
	}
	/* A device that is not on PCI, reached by its other node: the only one of its driver. */
	return !fdinfo->device[0] && matches == 1 ? same_driver : -1;
}

static struct client *find_client(struct drm_clients *clients, int64_t device, int64_t id)
{
	for (size_t i = 0; i < clients->count; i++)
		if (clients->clients[i].id == id && clients->clients[i].device == device)
			return &clients->clients[i];
	return NULL;
}

static struct client *add_client(struct drm_clients *clients, int64_t device, int64_t id)
{
	struct client *client;

	if (clients->count == clients->capacity) {
		size_t capacity = clients->capacity ? clients->capacity * 2 : 16;
		struct client *grown = reallocarray(clients->clients, capacity, sizeof *grown);

		if (!grown)
			return NULL;
		clients->clients = grown;
		clients->capacity = capacity;
	}
	client = &clients->clients[clients->count++];
	*client = (struct client){.device = device, .id = id};
	return client;
}

static void forget_closed(struct drm_clients *clients)
{
	size_t kept = 0;

	for (size_t i = 0; i < clients->count; i++)
		if (clients->clients[i].pass == clients->pass)
			clients->clients[kept++] = clients->clients[i];
	clients->count = kept;
}

/* ---- time ------------------------------------------------------------------------------------------ */

static const struct drm_engine *earlier_engine(const struct client *client, const char *name)
{
	for (int i = 0; i < client->engine_count; i++)
		if (strcmp(client->engines[i].name, name) == 0)
			return &client->engines[i];
	return NULL;
}

static double at_most(double value, double most)
{
	return value < 0 ? 0 : value < most ? value : most;
}

/* Some drivers count a job when it ends. */
#define LAG_NS NSEC_PER_SEC

enum { NOT_REPORTED = -1, IMPOSSIBLE = -2 };

/* The part of `elapsed_ns` in which the engine worked for the client, 0 to 1; NOT_REPORTED; IMPOSSIBLE: it fell or jumped. */
static double engine_share(const struct drm_engine *now, const struct drm_engine *before, int64_t elapsed_ns)
{
	double capacity = now->capacity > 0 ? (double)now->capacity : 1;

	if (elapsed_ns <= 0)
		return now->busy_ns >= 0 || now->cycles >= 0 ? 0 : NOT_REPORTED;
	if (now->busy_ns >= 0) {
		double busy_ns = (double)(now->busy_ns - (before ? before->busy_ns : 0));

		if (busy_ns < 0 || (before && busy_ns > (double)(elapsed_ns + LAG_NS) * capacity))
			return IMPOSSIBLE;
		return at_most(busy_ns / ((double)elapsed_ns * capacity), 1);
	}
	if (now->cycles < 0)
		return NOT_REPORTED;
	/* The past cycles of a new client are unknown: it counts from its next reading on. */
	if (!before || now->total_cycles <= before->total_cycles)
		return 0;
	if (now->cycles < before->cycles)
		return IMPOSSIBLE;
	return at_most((double)(now->cycles - before->cycles) /
			       ((double)(now->total_cycles - before->total_cycles) * capacity),
		       1);
}

static void raise_to(struct gpu_number *number, double value)
{
	if (number->error || number->value < value)
		*number = gpu_value(value);
}

struct client_use {
	struct gpu_number
		percent[DRM_ENGINE_OTHER + 1]; /* by enum drm_engine_use; the busiest engine of each kind */
};

static struct client_use use_of(const struct proc_pid_fdinfo *fdinfo, const struct client *client,
				int64_t elapsed_ns)
{
	struct client_use use;
	unsigned impossible = 0;

	for (int i = 0; i <= DRM_ENGINE_OTHER; i++)
		use.percent[i] = gpu_absent(EOPNOTSUPP);
	for (int i = 0; i < fdinfo->engine_count; i++) {
		const struct drm_engine *engine = &fdinfo->engines[i];
		double share = engine_share(engine, earlier_engine(client, engine->name), elapsed_ns);
		enum drm_engine_use kind = drm_engine_use(engine->name);

		if (share >= 0)
			raise_to(&use.percent[kind], 100 * share);
		else if (share <= (double)IMPOSSIBLE)
			impossible |= 1u << kind;
	}
	/* The busiest engine is unknown if one of them is. */
	for (int i = 0; i <= DRM_ENGINE_OTHER; i++)
		if (impossible >> i & 1)
			use.percent[i] = gpu_absent(ERANGE);
	return use;
}

/* ---- adding up ------------------------------------------------------------------------------------- */

static void add_gpu_number(struct gpu_number *sum, struct gpu_number part)
{
	if (!part.error)
		*sum = gpu_value(sum->error ? part.value : sum->value + part.value);
}

static void add_use(struct gpu_process *process, const struct client_use *use, struct gpu_number vram)
{
	process->kinds |= GPU_PROCESS_GRAPHICS;
	/* AMD's compute driver has reported the same memory already. */
	if (!(process->kinds & GPU_PROCESS_COMPUTE))
		add_gpu_number(&process->vram_bytes, vram);
	else if (!vram.error && (process->vram_bytes.error || vram.value > process->vram_bytes.value))
		process->vram_bytes = vram;
	add_gpu_number(&process->encoder_utilization_pct, use->percent[DRM_ENGINE_ENCODES]);
	add_gpu_number(&process->decoder_utilization_pct, use->percent[DRM_ENGINE_DECODES]);
	/* Compute queues have no busy time in fdinfo. The graphics engines alone would be a false total. */
	if (!(process->kinds & GPU_PROCESS_COMPUTE))
		add_gpu_number(&process->utilization_pct, use->percent[DRM_ENGINE_COMPUTES]);
}

static void take_fdinfo(struct drm_clients *clients, struct gpu_survey *survey, int64_t device, pid_t pid,
			int64_t elapsed_ns)
{
	const struct proc_pid_fdinfo *fdinfo = &clients->fdinfo;
	struct client *client = find_client(clients, device, fdinfo->client_id);
	struct gpu_process *process;
	struct client_use use;

	if (client && client->pass == clients->pass)
		return;
	if (!client)
		client = add_client(clients, device, fdinfo->client_id);
	process = gpu_survey_process(survey, 0, device, pid);
	if (!client || !process)
		return;
	use = use_of(fdinfo, client, elapsed_ns);
	add_use(process, &use, drm_client_vram(fdinfo));
	client->pass = clients->pass;
	client->engine_count = fdinfo->engine_count;
	memcpy(client->engines, fdinfo->engines, sizeof client->engines);
}

/*
 * Reads the fdinfo of a descriptor. Before Linux 5.19 it tells nothing of a GPU, or not in the standard form: the result is then a
 * client without a number.
 */
static int read_client(struct drm_clients *clients, struct root *root, pid_t pid, const struct gpu_file *file)
{
	int error = read_proc_pid_fdinfo(root, pid, file->fd, &clients->fdinfo);

	if (error != -EBADMSG || !member_file_is_open(root, pid, file))
		return error;
	clients->fdinfo.driver[0] = clients->fdinfo.device[0] = '\0';
	clients->fdinfo.client_id = -1;
	return 0;
}

static void read_holder(struct drm_clients *clients, struct root *root, struct file_holder *holder,
			struct gpu_survey *survey, int64_t first, int64_t count, int64_t elapsed_ns)
{
	for (int i = 0; i < holder->count; i++) {
		const struct gpu_file *file = &holder->files[i];
		struct gpu_process *process;
		int64_t device;

		if (file->kind != GPU_FILE_DRM)
			continue;
		if (read_client(clients, root, holder->pid, file) < 0) {
			member_files_look_again(holder);
			continue;
		}
		device = find_device(&clients->fdinfo, survey, first, count, file->number);
		if (device < 0)
			continue;
		/* Descriptors without a client's number cannot be told apart: the process is there, and its use is unknown. */
		if (clients->fdinfo.client_id >= 0)
			take_fdinfo(clients, survey, device, holder->pid, elapsed_ns);
		else if ((process = gpu_survey_process(survey, 0, device, holder->pid)))
			process->kinds |= GPU_PROCESS_GRAPHICS;
	}
}

void drm_clients_read(struct drm_clients *clients, struct root *root, struct member_files *files,
		      struct gpu_survey *survey, int64_t first, int64_t count, int64_t elapsed_ns)
{
	clients->pass++;
	for (size_t i = 0; i < files->count; i++)
		read_holder(clients, root, &files->holders[i], survey, first, count, elapsed_ns);
	forget_closed(clients);
}
