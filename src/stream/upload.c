/* Sends unsent recordings. See upload.h. */
#include "stream/upload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_lock.h"
#include "base/clock.h"
#include "base/scan.h"
#include "base/uuid.h"
#include "metric/typed_rows.h"
#include "net/arguments.h"
#include "net/redacted_message.h"
#include "sink/spool_folder.h"
#include "stream/stream.h"
#include "options/usage.h"

/* A person waits, and there may be many runs to send. */
enum { ATTEMPTS_MOST = 4 };

/* A wait that a person notices. */
#define TOLD_WAIT_NS (2 * NSEC_PER_SEC)

/* Keeps trying long while the server works. Each attempt has a limit of its own. */
static const int64_t UPLOAD_PATIENCE_NS = 24 * 3600 * NSEC_PER_SEC;

struct upload {
	const struct settings *settings;
	const struct arguments *arguments;
	const char *folder;        /* the folder in progress */
	const struct spool *spool; /* the same, open */
	struct buffer begun;       /* recordings named by a state, one per line */
	const char *only;          /* only states of this recording. NULL: all */
	struct buffer *told;       /* names in the spool of runs that could not be sent, one per line */
	int sent;                  /* number of runs */
	int left;                  /* runs that could not be sent */
};

/* A recorder holds a lock on the file that it writes. */
static bool is_being_recorded(const char *path)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd >= 0 && is_locked_by_writer(fd, LOCK_SH);
}

/* Waits before the next attempt, and says so if that takes long: a server may ask for minutes. The trouble was told. */
static void wait_and_say(struct stream *stream, const char *name)
{
	int64_t until_ns = stream->backoff.not_before_ns, wait_ns = until_ns - monotonic_ns();

	if (wait_ns >= TOLD_WAIT_NS)
		say_redacted("%s: trying again in %lld s", name,
			     (long long)((wait_ns + NSEC_PER_SEC / 2) / NSEC_PER_SEC));
	patience_wait(stream->patience, until_ns);
}

static int send_whole_run(struct stream *stream, const char *name)
{
	stream->attempts_most = ATTEMPTS_MOST;
	for (;;) {
		enum stream_step step = stream_send(stream);

		if (step == STEP_FINISHED)
			return 0;
		if (step == STEP_GIVE_UP || step == STEP_IDLE)
			return 1;
		if (step == STEP_WAIT)
			wait_and_say(stream, name);
	}
}

/* Returns 0 if the server has everything, 1 if not, after it has said so. */
static int send_and_say(struct stream *stream, const char *name)
{
	int r = send_whole_run(stream, name);

	if (r > 0)
		say_redacted("%s: %lld %s are not sent%s%s", name, (long long)stream_rows_left(stream),
			     stream->settings->destination->calls->unit, stream->trouble[0] ? ": " : "",
			     stream->trouble);
	return r;
}

static struct patience long_patience(void)
{
	struct patience patience = PATIENCE;

	patience.grace_ns = UPLOAD_PATIENCE_NS;
	patience_end(&patience);
	return patience;
}

/* Sends the run that begins at an offset. *ret_end is where the next one may begin, or -1. */
static int upload_run(struct upload *upload, const char *path, int64_t begin, bool disposable,
		      int64_t *ret_end)
{
	struct patience patience = long_patience();
	struct stream stream;
	int r;

	*ret_end = -1;
	r = stream_open(&stream, upload->settings, &patience, path, begin, disposable,
			upload->arguments->spool, upload->arguments->root);
	if (r < 0)
		return r;
	r = stream_begin(&stream);
	if (r == -EALREADY)
		*ret_end = stream.spool.state.offset;
	if (r == 0)
		r = -ENODATA;
	if (r > 0)
		r = stream_cut(&stream, true);
	if (r == 0) {
		*ret_end = stream.spool.state.offset;
		r = send_and_say(&stream, path);
		if (r > 0)
			buffer_printf(upload->told, "%s\n", stream.spool.name);
	}
	upload->sent += r == 0;
	stream_close(&stream);
	return r;
}

/* Sends all runs of a recording, from `begin` on. */
static void upload_recording(struct upload *upload, const char *path, int64_t begin, bool disposable)
{
	bool first = true;

	if (is_being_recorded(path)) {
		say_redacted("%s is still being recorded", path);
		upload->left++;
		return;
	}
	while (begin >= 0) {
		int64_t end;
		int r = upload_run(upload, path, begin, disposable, &end);

		if (r == -ENODATA && !first)
			return;
		if (r == -EALREADY)
			say_redacted("%s: this run has been sent already", path);
		else if (r == -ESTALE)
			say_redacted("%s: its part of the run is in the spool already; to send it: "
				     "resource-tracker "
				     "upload",
				     path);
		else if (r < 0)
			say_redacted("%s: %s", path,
				     r == -ENODATA ? "there is no sample in it" : strerror(-r));
		if (r && r != -EALREADY)
			upload->left++;
		/* A recording that was made only for streaming is removed once it is sent. */
		if (disposable || end <= begin || r > 0)
			return;
		begin = end;
		first = false;
	}
}

static bool has_line(const struct buffer *lines, const char *text)
{
	struct scan scan = scan_bytes(lines->data, lines->length), line;

	while (lines->data && scan_line(&scan, &line))
		if (scan_is(&line, text))
			return true;
	return false;
}

/* ---- runs that the spool knows ------------------------------------------------------------------------------ */

struct run_names {
	char name[SPOOL_NAME_SIZE];
	char id[UUID_TEXT_BYTES];
};

/* The names of the run that begins at this offset of the file. Returns false if none does. */
static bool names_of_run(const char *path, int64_t begin, const struct destination *destination,
			 struct run_names *ret_names)
{
	struct recording recording;
	const struct run_start_row *start;
	const struct frame *first;
	bool found;

	if (recording_open(&recording, path, begin, destination->calls->want) < 0)
		return false;
	found = recording_next(&recording, &first) > 0;
	if (found) {
		start = (const void *)first->first[ROW_run_start];
		spool_name(first, destination->suffix, ret_names->name);
		snprintf(ret_names->id, sizeof ret_names->id, "%s",
			 start && !text_absent(start->run_id) ? start->run_id : "");
	}
	recording_close(&recording);
	return found;
}

/* Whether the run with that name, or that run_id, begins at this offset of the file. */
static bool holds_run(const char *path, int64_t begin, const char *name)
{
	struct run_names names;

	return names_of_run(path, begin, destination_of_run(name), &names) &&
	       (strcmp(names.name, name) == 0 || strcmp(names.id, name) == 0);
}

/* "run.jsonl.1" for "run.jsonl": the name given to an older recording. */
static bool is_numbered(const char *name, const char *base)
{
	struct scan scan = scan_bytes(name, strlen(name));

	return scan_literal(&scan, base) && scan_literal(&scan, ".");
}

/*
 * Finds a run: in the file to which it was recorded, or in one that a later run of the same name has renamed to
 * FILE.1, FILE.2, ... The caller frees the path. NULL: gone.
 */
static char *find_moved_recording(const struct spool_state *state, const char *name)
{
	CLEANUP_BUFFER struct buffer path = BUFFER(PATH_MAX);
	CLEANUP_FREE char *folder = strdup(state->recording);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	char *found = NULL;
	struct dirent *entry;
	DIR *dir;

	if (state->part)
		name = state->part;
	if (holds_run(state->recording, state->begin, name))
		return strdup(state->recording);
	if (!slash)
		return NULL;
	*slash = '\0';
	dir = opendir(slash == folder ? "/" : folder);
	while (dir && !found && (entry = readdir(dir))) {
		if (!is_numbered(entry->d_name, slash + 1))
			continue;
		buffer_clear(&path);
		buffer_printf(&path, "%s/%s", folder, entry->d_name);
		if (!buffer_error(&path) && holds_run(path.data, state->begin, name))
			found = strdup(path.data);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Sends the batches in the spool, although the rest was lost with the recording. */
static void upload_spooled(struct upload *upload, const char *name, const char *recording)
{
	struct patience patience = long_patience();
	struct stream stream;
	int r = stream_open_spooled(&stream, upload->settings, &patience, name, upload->arguments->spool);

	if (r == 0) {
		say_redacted("%s no longer exists: sending the samples of run %s that are in the spool",
			     recording, name);
		r = send_and_say(&stream, recording);
		stream_close(&stream);
	} else {
		say_redacted("%s: %s", recording, strerror(-r));
	}
	upload->sent += r == 0;
	upload->left += r != 0;
}

/* Whether a name in the spool is for the destination that is asked for. */
static bool is_for(const struct upload *upload, const char *name)
{
	return destination_of_run(name) == upload->settings->destination;
}

/* Sends a state in the spool. It knows its run by name, wherever the recording is by now. */
static int upload_state(const char *name, void *context)
{
	struct upload *upload = context;
	CLEANUP_FREE char *path = NULL;
	CLEANUP_FREE char *recording = NULL;
	struct spool spool;
	int64_t begin;
	bool disposable, wanted;
	int r;

	if (!is_for(upload, name) || (upload->only && has_line(upload->told, name)))
		return 0;
	r = spool_open(&spool, upload->arguments->spool);
	if (r < 0)
		return r;
	r = spool_lock(&spool, name);
	if (r == 0)
		r = spool_read(&spool);
	wanted = r == 0 && !spool.state.finished &&
		 (!upload->only || strcmp(upload->only, spool.state.recording) == 0);
	if (wanted) {
		path = find_moved_recording(&spool.state, name);
		recording = strdup(spool.state.recording);
	}
	if (r == 0)
		buffer_printf(&upload->begun, "%s\n", spool.state.recording);
	if (r == 0 && spool.state.finished)
		spool_remove(&spool, false);
	begin = spool.state.begin;
	disposable = spool.state.disposable;
	spool_close(&spool);
	if (r == -EBUSY && !upload->only) {
		say_redacted("%s is being sent by another process", name);
		upload->left++;
	} else if (r < 0 && r != -EBUSY && !upload->only) {
		say_redacted("%s: its state in the spool cannot be read: %s", name, strerror(-r));
		upload->left++;
	}
	if (wanted && path)
		upload_recording(upload, path, begin, disposable);
	else if (wanted && recording)
		upload_spooled(upload, name, recording);
	return 0;
}

/*
 * A link to a recording: its follower may have been killed before it wrote a state, or the disk was full. RUNID-OFFSET is its name.
 * It goes once the run has a state, which is sent already, or is sent with the others.
 */
static void upload_linked(struct upload *upload, const char *link, const char *name)
{
	char target[PATH_MAX], id[UUID_TEXT_BYTES];
	ssize_t length = readlink(link, target, sizeof target - 1);
	struct spool_state state = {.recording = target};
	struct scan text = scan_bytes(name, strlen(name));
	CLEANUP_FREE char *found = NULL;
	struct run_names names;
	int left = upload->left;

	if (length <= 0 || strlen(name) <= UUID_TEXT_BYTES)
		return;
	target[length] = '\0';
	snprintf(id, sizeof id, "%s", name);
	text.at += UUID_TEXT_BYTES;
	found = scan_i64(&text, &state.begin) ? find_moved_recording(&state, id) : NULL;
	if (found && is_being_recorded(found))
		return;
	if (!found && !has_line(&upload->begun, target))
		say_redacted("%s: an unsent run is no longer there", target);
	else if (found && names_of_run(found, state.begin, destination_of_run(name), &names) &&
		 !spool_has_state(upload->spool, names.name))
		upload_recording(upload, found, state.begin, false);
	if (upload->left == left)
		unlink(link);
}

/*
 * A recording for streaming alone without a state: its follower could not even begin. Leave it alone if a
 * recorder is writing it, or if it is empty.
 */
static int upload_unbegun(const char *name, void *context)
{
	struct upload *upload = context;
	CLEANUP_BUFFER struct buffer path = BUFFER(PATH_MAX);
	CLEANUP_FREE char *real = NULL;
	struct stat status;

	if (!is_for(upload, name))
		return 0;
	buffer_printf(&path, "%s/%s%s", upload->folder, name, SPOOL_RECORDING_SUFFIX);
	if (!buffer_error(&path) && lstat(path.data, &status) == 0 && S_ISLNK(status.st_mode)) {
		upload_linked(upload, path.data, name);
		return 0;
	}
	real = buffer_error(&path) ? NULL : realpath(path.data, NULL);
	if (!real || stat(real, &status) < 0 || !S_ISREG(status.st_mode) || is_being_recorded(real) ||
	    has_line(&upload->begun, real))
		return 0;
	if (status.st_size)
		upload_recording(upload, real, 0, true);
	else
		unlink(real);
	return 0;
}

/* Prints to standard output. Errors were printed to standard error. */
static void say_result(const struct upload *upload)
{
	if (!upload->sent && !upload->left)
		printf("Nothing is left to send in %s.\n", upload->folder);
	else if (!upload->left)
		printf("%d run%s sent; nothing is left in %s.\n", upload->sent,
		       upload->sent == 1 ? " is" : "s are", upload->folder);
	else
		printf("%d run%s sent; %d still wait%s in %s.\n", upload->sent,
		       upload->sent == 1 ? " is" : "s are", upload->left, upload->left == 1 ? "s" : "",
		       upload->folder);
	fflush(stdout);
}

static void upload_folder(struct upload *upload, const char *folder)
{
	struct arguments arguments = *upload->arguments;
	struct upload inner = {.settings = upload->settings,
			       .arguments = &arguments,
			       .begun = BUFFER(16 << 20),
			       .told = upload->told};
	struct spool spool;
	int r;

	arguments.spool = folder;
	r = spool_open(&spool, folder);
	if (r == 0) {
		inner.folder = spool.folder;
		inner.spool = &spool;
		r = spool_each(&spool, SPOOL_STATE_SUFFIX, upload_state, &inner);
		if (r == 0)
			r = spool_each(&spool, SPOOL_RECORDING_SUFFIX, upload_unbegun, &inner);
		if (r == 0)
			say_result(&inner);
		spool_close(&spool);
	}
	buffer_done(&inner.begun);
	if (r < 0) {
		say_redacted("%s: %s", folder ? folder : "the spool", spool_folder_fault(r));
		inner.left++;
	}
	upload->left += inner.left;
}

/* Sends runs that were recorded to that name, wherever they are now. Returns whether there were any. */
static bool upload_states_of(struct upload *upload, const char *path)
{
	CLEANUP_FREE char *folder = strdup(path);
	CLEANUP_FREE char *real = NULL;
	CLEANUP_FREE char *whole = NULL;
	char *slash = folder ? strrchr(folder, '/') : NULL;
	struct upload inner = {.settings = upload->settings,
			       .arguments = upload->arguments,
			       .begun = BUFFER(16 << 20),
			       .told = upload->told};
	struct spool spool;

	if (!folder)
		return false;
	if (slash)
		*slash = '\0';
	real = realpath(slash == folder ? "/" : slash ? folder : ".", NULL);
	if (!real ||
	    asprintf(&whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash ? slash + 1 : path) < 0)
		return false;
	inner.only = whole;
	if (spool_open(&spool, upload->arguments->spool) < 0)
		return false;
	(void)spool_each(&spool, SPOOL_STATE_SUFFIX, upload_state, &inner);
	spool_close(&spool);
	buffer_done(&inner.begun);
	upload->sent += inner.sent;
	upload->left += inner.left;
	return inner.sent || inner.left;
}

static void upload_operand(struct upload *upload, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0) {
		int error = errno;

		if (upload_states_of(upload, path))
			return;
		say_redacted("%s: %s", path, strerror(error));
		upload->left++;
	} else if (S_ISDIR(status.st_mode)) {
		upload_folder(upload, path);
	} else {
		upload_recording(upload, path, 0, false);
		(void)upload_states_of(upload, path);
	}
}

int upload_main(const struct settings *given, char **argv)
{
	struct settings settings = *given;
	struct arguments arguments;
	CLEANUP_BUFFER struct buffer told = BUFFER(16 << 20);
	struct upload upload = {.settings = &settings, .arguments = &arguments, .told = &told};

	if (arguments_parse(&arguments, argv) < 0)
		return EXIT_USAGE;
	if (destination_use(&settings, arguments.stream) < 0)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	if (!arguments.spool)
		arguments.spool = env_value("TRACKER_SPOOL");
	if (!arguments.operand_count)
		upload_folder(&upload, arguments.spool);
	for (int i = 0; i < arguments.operand_count; i++)
		upload_operand(&upload, arguments.operands[i]);
	return upload.left ? 1 : 0;
}
