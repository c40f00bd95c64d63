/* Sending what was left behind; see upload.h. */
#include "net/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/scan.h"
#include "net/arguments.h"
#include "net/message.h"
#include "net/stream.h"

/* Nobody waits for us but the person who called: patience is long, and each attempt has its own limit. */
static const int64_t UPLOAD_PATIENCE_NS = 24 * 3600 * NSEC_PER_SEC;

struct upload {
	const struct settings *settings;
	const struct arguments *arguments;
	const char *folder;  /* that is gone through */
	struct buffer begun; /* recordings that a state names, a line each */
	int left;            /* runs that could not be sent */
};

/* A recorder holds a lock on what it writes. */
static bool is_being_recorded(const char *path)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static int send_all(struct stream *stream)
{
	for (;;) {
		enum stream_step step = stream_send(stream);

		if (step == STEP_FINISHED)
			return 0;
		if (step == STEP_GIVE_UP || step == STEP_IDLE)
			return 1;
		if (step == STEP_WAIT)
			patience_wait(stream->patience, stream->backoff.not_before_ns);
	}
}

/* The run that begins at an offset; *ret_end is where the next one may begin, or -1. */
static int upload_run(struct upload *upload, const char *path, int64_t begin, bool disposable,
		      int64_t *ret_end)
{
	struct patience patience = PATIENCE;
	struct stream stream;
	int r;

	patience.grace_ns = UPLOAD_PATIENCE_NS;
	patience_end(&patience);
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
		r = send_all(&stream);
	}
	if (r > 0)
		say("%s: %lld samples are not sent%s%s", path, (long long)stream_rows_left(&stream),
		    stream.trouble[0] ? ": " : "", stream.trouble);
	stream_close(&stream);
	return r;
}

/* All runs of a recording, from `begin` on. */
static void upload_recording(struct upload *upload, const char *path, int64_t begin, bool disposable)
{
	bool first = true;

	if (is_being_recorded(path)) {
		say("%s is still being recorded", path);
		upload->left++;
		return;
	}
	while (begin >= 0) {
		int64_t end;
		int r = upload_run(upload, path, begin, disposable, &end);

		if (r == -ENODATA && !first)
			return;
		if (r == -EALREADY)
			say("%s: this run has been sent already", path);
		else if (r < 0)
			say("%s: %s", path, r == -ENODATA ? "there is no sample in it" : strerror(-r));
		if (r && r != -EALREADY)
			upload->left++;
		/* What was made for one run alone is gone when that is sent. */
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

/* A state in the spool: the recording that it names, unless the run is done. */
static int upload_state(const char *name, void *context)
{
	struct upload *upload = context;
	CLEANUP_FREE char *path = NULL;
	struct spool spool;
	int64_t begin;
	bool disposable;
	int r = spool_open(&spool, upload->arguments->spool);

	if (r < 0)
		return r;
	r = spool_lock(&spool, name);
	if (r == 0)
		r = spool_read(&spool);
	if (r == 0 && !spool.state.finished)
		path = strdup(spool.state.recording);
	if (r == 0)
		buffer_printf(&upload->begun, "%s\n", spool.state.recording);
	if (r == 0 && spool.state.finished)
		spool_remove(&spool, false);
	begin = spool.state.begin;
	disposable = spool.state.disposable;
	spool_close(&spool);
	if (r == -EBUSY) {
		say("%s is being sent by another process", name);
		upload->left++;
	}
	if (path)
		upload_recording(upload, path, begin, disposable);
	return 0;
}

/*
 * A recording for streaming alone that has no state: who was to follow it could not even begin. One that is being
 * written is its recorder's, and an empty one nobody's.
 */
static int upload_unbegun(const char *name, void *context)
{
	struct upload *upload = context;
	CLEANUP_BUFFER struct buffer path = BUFFER(PATH_MAX);
	CLEANUP_FREE char *real = NULL;
	struct stat status;

	buffer_printf(&path, "%s/%s%s", upload->folder, name, SPOOL_RECORDING_SUFFIX);
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

static void upload_folder(struct upload *upload, const char *folder)
{
	struct arguments arguments = *upload->arguments;
	struct upload inner = {upload->settings, &arguments, NULL, BUFFER(16 << 20), 0};
	struct spool spool;
	int r;

	arguments.spool = folder;
	r = spool_open(&spool, folder);
	if (r == 0) {
		inner.folder = spool.folder;
		r = spool_each(&spool, SPOOL_STATE_SUFFIX, upload_state, &inner);
		if (r == 0)
			r = spool_each(&spool, SPOOL_RECORDING_SUFFIX, upload_unbegun, &inner);
		spool_close(&spool);
	}
	buffer_done(&inner.begun);
	if (r < 0) {
		say("%s: %s", folder ? folder : "the spool", strerror(-r));
		inner.left++;
	}
	upload->left += inner.left;
}

static void upload_operand(struct upload *upload, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0) {
		say("%s: %s", path, strerror(errno));
		upload->left++;
	} else if (S_ISDIR(status.st_mode)) {
		upload_folder(upload, path);
	} else {
		upload_recording(upload, path, 0, false);
	}
}

int upload_main(const struct settings *settings, int argc, char **argv)
{
	struct arguments arguments;
	struct upload upload = {.settings = settings, .arguments = &arguments};

	if (arguments_parse(&arguments, argc, argv, ARGUMENT_SPOOL | ARGUMENT_ROOT | ARGUMENT_JSON) < 0)
		return arguments_usage("upload [--spool DIR] [RECORDING|FOLDER...]");
	if (!settings->token) {
		say("upload needs SENTINEL_API_TOKEN");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (!arguments.operand_count)
		upload_folder(&upload, arguments.spool);
	for (int i = 0; i < arguments.operand_count; i++)
		upload_operand(&upload, arguments.operands[i]);
	return upload.left ? 1 : 0;
}
