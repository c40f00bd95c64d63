/* Asking the recorder for GPUs; see host_gpus.h. */
#include "net/host_gpus.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "net/patience.h"
#include "record/sample_json.h"

#define DEADLINE_NS (6 * NSEC_PER_SEC)

enum { READ_BYTES = 64 << 10, LONGEST_LINE = 8 << 20, MIB_SHIFT = 20 };

static const char RECORDER[] = "resource-tracker";

static bool has_device_files(const struct root *root)
{
	const char *library = secure_getenv("TRACKER_NVML_LIBRARY");

	return (library && *library) || root_exists(root, "dev/nvidiactl") || root_exists(root, "dev/dxg") ||
	       root_exists(root, "dev/dri");
}

/* ---- the recorder ---------------------------------------------------------------------------------- */

/* Beside this program (a build tree), or in bin where this one is in libexec/resource-tracker. */
static bool find_recorder(struct buffer *out)
{
	static const char *const PLACES[] = {"", "../../bin/"};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self);

	while (length > 0 && self[length - 1] != '/')
		length--;
	for (size_t i = 0; length > 0 && i < ARRAY_SIZE(PLACES); i++) {
		out->length = 0;
		buffer_add(out, self, (size_t)length);
		buffer_add_text(out, PLACES[i]);
		buffer_add_text(out, RECORDER);
		if (buffer_error(out) == 0 && access(out->data, X_OK) == 0)
			return true;
	}
	return false;
}

/* Nothing that would make it write, stream or leave out something else than it is asked for. */
static bool is_for_the_recorder(const char *variable)
{
	static const char *const KEPT[] = {"TRACKER_NVML_LIBRARY=", "TRACKER_HELPER="};
	static const char *const LEFT_OUT[] = {"TRACKER_", "SENTINEL_"};

	for (size_t i = 0; i < ARRAY_SIZE(KEPT); i++)
		if (strncmp(variable, KEPT[i], strlen(KEPT[i])) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(LEFT_OUT); i++)
		if (strncmp(variable, LEFT_OUT[i], strlen(LEFT_OUT[i])) == 0)
			return false;
	return true;
}

/* malloc'd; its texts are those of `environ`. */
static char **recorder_environment(void)
{
	size_t count = 0, kept = 0;
	char **environment;

	while (environ[count])
		count++;
	environment = calloc(count + 1, sizeof *environment);
	for (size_t i = 0; environment && i < count; i++)
		if (is_for_the_recorder(environ[i]))
			environment[kept++] = environ[i];
	return environment;
}

/* Returns its pid and the end of the pipe that its samples come out of, or a negative errno. */
static pid_t start_recorder(const char *root_dir, int *ret_fd)
{
	CLEANUP_BUFFER struct buffer path = BUFFER(2 * PATH_MAX);
	CLEANUP_FREE char **environment = recorder_environment();
	const char *const argv[] = {RECORDER,   "--metrics",  "gpu.*,totals.gpu_vram_mib",
				    "--gpus",   "all",        "--interval",
				    "0.2",      "--duration", "5",
				    "--format", "json",       "--output",
				    "-",        "--config",   "/dev/null",
				    "--root",   root_dir,     NULL};
	posix_spawn_file_actions_t actions;
	int fds[2], error;
	pid_t pid;

	if (!environment || !find_recorder(&path))
		return -ENOENT;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	error = posix_spawn_file_actions_init(&actions);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!error)
		error = posix_spawn(&pid, path.data, &actions, NULL, (char *const *)(uintptr_t)argv,
				    environment);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (error) {
		close(fds[0]);
		return -error;
	}
	*ret_fd = fds[0];
	return pid;
}

static void end_recorder(pid_t pid)
{
	/* Its helper ends with it, in whatever way. */
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* ---- its answer ------------------------------------------------------------------------------------ */

static void take_text(char *ret_text, size_t size, const char *text)
{
	size_t length = text_absent(text) ? 0 : strnlen(text, size - 1);

	memcpy(ret_text, text_absent(text) ? "" : text, length);
	ret_text[length] = '\0';
}

static void take_gpu(const struct gpu_row *row, struct host_gpu *ret_gpu)
{
	take_text(ret_gpu->uuid, sizeof ret_gpu->uuid, row->uuid);
	take_text(ret_gpu->name, sizeof ret_gpu->name, row->name);
	take_text(ret_gpu->vendor, sizeof ret_gpu->vendor, row->vendor);
	take_text(ret_gpu->host_id, sizeof ret_gpu->host_id, row->host_id);
	take_text(ret_gpu->memory_kind, sizeof ret_gpu->memory_kind, row->memory_kind);
	ret_gpu->vram_bytes = row->vram_total_bytes;
}

/* Whether the sample says which GPUs there are; without a sum of their memory it is too early. */
static bool take_sample(const struct frame *frame, struct host_gpus *gpus)
{
	const struct totals_row *totals = (const void *)frame->first[ROW_totals];

	for (const struct row *row = frame->first[ROW_gpu]; row && gpus->count < HOST_GPUS_MAX;
	     row = row->next) {
		const struct gpu_row *gpu = (const struct gpu_row *)(const void *)row;

		if (text_absent(gpu->mig_parent))
			take_gpu(gpu, &gpus->items[gpus->count++]);
	}
	gpus->known = gpus->count > 0 || (totals && !real_absent(totals->gpu_vram_mib));
	return gpus->known;
}

/* Takes whole lines out of `lines`. */
static bool take_lines(struct sample_json *json, struct buffer *lines, struct host_gpus *gpus)
{
	struct scan text = scan_bytes(lines->data, lines->length), line;
	struct frame frame = {0};
	bool found = false;

	while (!found && scan_until(&text, '\n', &line)) {
		frame_begin(&frame, 0, 0);
		found = !frame.error && sample_json_read(json, line, &frame) && take_sample(&frame, gpus);
	}
	frame_done(&frame);
	memmove(lines->data, text.at, scan_left(&text));
	lines->length = scan_left(&text);
	return found;
}

static void want_gpus(struct metric_set *wanted)
{
	WANT(wanted, gpu, uuid);
	WANT(wanted, gpu, name);
	WANT(wanted, gpu, vendor);
	WANT(wanted, gpu, host_id);
	WANT(wanted, gpu, mig_parent);
	WANT(wanted, gpu, memory_kind);
	WANT(wanted, gpu, vram_total_bytes);
	WANT(wanted, totals, gpu_vram_mib);
}

static void read_samples(int fd, struct host_gpus *gpus)
{
	CLEANUP_BUFFER struct buffer lines = BUFFER(LONGEST_LINE);
	int64_t until_ns = monotonic_ns() + DEADLINE_NS;
	struct metric_set wanted = {0};
	struct sample_json json;
	bool found = false;

	want_gpus(&wanted);
	sample_json_init(&json, &wanted);
	while (!found && buffer_reserve(&lines, READ_BYTES) == 0) {
		int64_t left_ns = until_ns - monotonic_ns();
		struct pollfd pipe = {.fd = fd, .events = POLLIN};
		ssize_t length;

		if (left_ns <= 0 || poll(&pipe, 1, (int)(left_ns / NSEC_PER_MSEC) + 1) <= 0)
			break;
		length = read(fd, lines.data + lines.length, READ_BYTES);
		if (length <= 0)
			break;
		lines.length += (size_t)length;
		found = take_lines(&json, &lines, gpus);
	}
	sample_json_done(&json);
}

void host_gpus_discover(const struct root *root, const char *root_dir, struct host_gpus *ret_gpus)
{
	CLEANUP_CLOSE int fd = -1;
	pid_t pid;

	*ret_gpus = (struct host_gpus){.known = !has_device_files(root)};
	if (ret_gpus->known)
		return;
	pid = start_recorder(root_dir && *root_dir ? root_dir : "/", &fd);
	if (pid < 0)
		return;
	read_samples(fd, ret_gpus);
	end_recorder(pid);
}

/* ---- telling --------------------------------------------------------------------------------------- */

void host_gpus_facts(const struct host_gpus *gpus, struct facts *facts)
{
	int64_t bytes = 0;

	if (!gpus->count)
		return;
	/* Memory that is the machine's own is no more of it. */
	for (size_t i = 0; i < gpus->count; i++)
		if (!count_absent(gpus->items[i].vram_bytes) &&
		    strcmp(gpus->items[i].memory_kind, "unified") != 0)
			bytes += gpus->items[i].vram_bytes;
	fact_set_text(facts, HOST_GPU_MODEL, gpus->items[0].name, strlen(gpus->items[0].name));
	fact_set_count(facts, HOST_GPU_COUNT, (int64_t)gpus->count);
	if (bytes)
		fact_set_count(facts, HOST_GPU_MEMORY_MIB, bytes >> MIB_SHIFT);
}

static void write_text(struct json_writer *json, const char *key, const char *text)
{
	json_key(json, key);
	if (*text)
		json_text(json, text);
	else
		json_absent(json);
}

void host_gpus_write(struct json_writer *json, const struct host_gpus *gpus)
{
	if (!gpus->known) {
		json_absent(json);
		return;
	}
	json_open(json, '[');
	for (size_t i = 0; i < gpus->count; i++) {
		const struct host_gpu *gpu = &gpus->items[i];

		json_open(json, '{');
		write_text(json, "uuid", gpu->uuid);
		write_text(json, "name", gpu->name);
		write_text(json, "vendor", gpu->vendor);
		write_text(json, "host_id", gpu->host_id);
		write_text(json, "memory_kind", gpu->memory_kind);
		json_key(json, "vram_total_bytes");
		if (count_absent(gpu->vram_bytes))
			json_absent(json);
		else
			json_count(json, gpu->vram_bytes);
		json_close(json, '}');
	}
	json_close(json, ']');
}

const char *host_gpus_usual_name(const struct host_gpus *gpus)
{
	const char *usual = NULL;
	size_t most = 0;

	for (size_t i = 0; i < gpus->count; i++) {
		size_t same = 0;

		for (size_t n = 0; n < gpus->count; n++)
			same += strcmp(gpus->items[i].name, gpus->items[n].name) == 0;
		if (same > most) {
			most = same;
			usual = gpus->items[i].name;
		}
	}
	return usual;
}
