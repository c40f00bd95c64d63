/* Streams a recording while it is written. See follow.h. */
#include "stream/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/write_all.h"
#include "net/arguments.h"
#include "net/redacted_message.h"
#include "stream/stream.h"
#include "options/usage.h"

enum { MOST_UNCUT_BYTES = 8 << 20 };

static const int64_t FIRST_LOOK_NS = 50 * NSEC_PER_MSEC, LONGEST_LOOK_NS = NSEC_PER_SEC;
/* A command that ends a job signals all its processes, and the recorder may be the first to end. */
static const int64_t DEAF_NS = NSEC_PER_SEC;

struct follower {
	struct stream stream;
	struct patience patience;
	int64_t next_cut_ns;
	int64_t look_every_ns; /* for the first sample, and for the end if no pipe reports it */
	bool end_is_told;
	int64_t lost_ns; /* since when the recording is removed or renamed without a new file. 0: it exists */
};

/*
 * Signals that reach a whole process group or control group are meant for the job. With a pipe from the recorder, the follower
 * ends when the recorder does. SIGTERM a while after the recorder's end is for the follower: it waits no longer for a server.
 * Without a pipe (--pid as well), a person or a script has started it, and a signal ends it.
 */
static void set_follower_signals(struct follower *follower, bool has_pipe)
{
	static const int IGNORED[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTTOU, SIGXFSZ, SIGUSR1, SIGUSR2};
	sigset_t ends;

	for (size_t i = 0; i < ARRAY_SIZE(IGNORED); i++)
		signal(IGNORED[i], SIG_IGN);
	/* A signal that is ignored does not reach the signalfd. */
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	if (has_pipe) {
		follower->patience.deaf_ns = DEAF_NS;
	} else {
		signal(SIGINT, SIG_DFL);
		sigaddset(&ends, SIGINT);
	}
	/*
	 * Replace the inherited mask: a blocked SIGCHLD or SIGALRM does not matter, a blocked ending signal
	 * does.
	 */
	sigprocmask(SIG_SETMASK, &ends, NULL);
	follower->patience.signal_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The job's pipes must not stay open because of us. Messages still go to stderr. */
static void leave_standard_streams(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Reads new data if it is time. Returns a negative errno if the run cannot be streamed at all. */
static int take_in(struct follower *follower, bool ended)
{
	struct stream *stream = &follower->stream;
	int64_t now = monotonic_ns();
	int r = stream_begin(stream);

	if (r <= 0)
		return r;
	if (!follower->end_is_told && !ended && recording_has_ended(&stream->recording))
		patience_end(&follower->patience);
	ended = ended || patience_ended(&follower->patience);
	while (stream_follow_name(stream) > 0)
		;
	if (!stream_lost_name(stream))
		follower->lost_ns = 0;
	else if (!follower->lost_ns)
		follower->lost_ns = now;
	if (ended || now >= follower->next_cut_ns ||
	    recording_left_bytes(&stream->recording) > MOST_UNCUT_BYTES) {
		stream_cut(stream, ended);
		follower->next_cut_ns = now + stream->settings->upload_interval_ns;
	}
	if (stream->spool.state.outcome.known)
		patience_end(&follower->patience);
	return 0;
}

static void wait_at_most(int64_t *until_ns, int64_t wait_ns)
{
	int64_t end_ns = monotonic_ns() + wait_ns;

	if (end_ns < *until_ns)
		*until_ns = end_ns;
}

/* A recorder checks once a second whether its file was removed. */
static void wait_for_new_file(const struct follower *follower, int64_t *until_ns)
{
	bool is_told = follower->patience.news_fd >= 0 || follower->stream.spool.state.disposable;

	if (follower->lost_ns && monotonic_ns() < follower->lost_ns + 2 * NSEC_PER_SEC)
		wait_at_most(until_ns, FIRST_LOOK_NS);
	else if (follower->lost_ns || !is_told)
		wait_at_most(until_ns, LONGEST_LOOK_NS);
}

static void wait_for_more(struct follower *follower, enum stream_step step)
{
	struct stream *stream = &follower->stream;
	int64_t until = follower->next_cut_ns;

	if (stream->began && step == STEP_WAIT && stream->backoff.not_before_ns < until)
		until = stream->backoff.not_before_ns;
	if (!stream->began || !follower->end_is_told) {
		wait_at_most(&until, follower->look_every_ns);
		follower->look_every_ns *= 2;
		if (follower->look_every_ns > LONGEST_LOOK_NS)
			follower->look_every_ns = LONGEST_LOOK_NS;
	}
	wait_for_new_file(follower, &until);
	/* If a recording grows fast, cut a batch early. */
	if (stream->settings->upload_interval_ns > 5 * NSEC_PER_SEC)
		wait_at_most(&until, 5 * NSEC_PER_SEC);
	patience_wait(&follower->patience, until);
}

static int follow_recording(struct follower *follower)
{
	struct stream *stream = &follower->stream;
	bool was_ended = false;

	follower->look_every_ns = FIRST_LOOK_NS;
	stream_watch_name(stream);
	follower->next_cut_ns = monotonic_ns() + stream->settings->upload_interval_ns;
	for (;;) {
		bool had_ended = patience_ended(&follower->patience), ended = had_ended;
		enum stream_step step = STEP_IDLE;
		int r = take_in(follower, ended);

		if (r < 0)
			return r;
		if (ended && !stream->began)
			return -ENODATA;
		ended = patience_ended(&follower->patience);
		if (ended && !was_ended) {
			debug_say("follower", 0, "the recording has ended");
			backoff_reset(&stream->backoff);
		}
		was_ended = ended;
		while (stream->began && (step = stream_send(stream)) == STEP_MADE)
			;
		if (step == STEP_FINISHED)
			return 0;
		if (ended && (step == STEP_GIVE_UP || patience_over(&follower->patience)))
			return 1;
		/* If the end came meanwhile, the rest of the run is not cut yet. */
		if (had_ended || !patience_ended(&follower->patience))
			wait_for_more(follower, step);
	}
}

static void say_what_is_left(struct follower *follower)
{
	struct stream *stream = &follower->stream;
	const struct destination *destination = stream->settings->destination;
	int64_t rows = stream_rows_left(stream);
	char option[64];

	destination_option(destination, option, sizeof(option));
	say_redacted("%lld %s of this run are not on the server%s%s", (long long)(rows < 0 ? 0 : rows),
		     destination->calls->unit, stream->trouble[0] ? ": " : "", stream->trouble);
	/* On a full disk the spool knows nothing of the run. */
	if (!stream->spool.state.disposable && !spool_has_state(&stream->spool, stream->spool.name))
		say_redacted("they are in the recording; to send them: resource-tracker upload %s%s", option,
			     stream->spool.state.recording);
	else
		say_redacted("they are kept in the spool; to send them: resource-tracker upload %s%s", option,
			     stream->spool.folder);
}

/* A spool file without a sample is useless. */
static void remove_empty(const struct arguments *arguments)
{
	if (arguments->disposable)
		unlink(arguments->operands[0]);
}

static void say_to_recorder(const char *text)
{
	(void)write_all(STDERR_FILENO, text, strlen(text));
}

static void tell_recorder(const struct stream *stream)
{
	if (stream->answer) {
		say_to_recorder("answer ");
		say_to_recorder(stream->answer);
		say_to_recorder("\n");
	}
	say_to_recorder("sent\n");
}

int follow_main(const struct settings *given, char **argv)
{
	struct settings settings = *given;
	struct follower follower = {.patience = PATIENCE};
	struct arguments arguments;
	int r = arguments_parse(&arguments, argv);

	if (r < 0)
		return EXIT_USAGE;
	if (arguments.operand_count != 1)
		return arguments_refuse("follow", "name one recording");
	if (arguments.end_fd >= 0 && arguments.pid)
		return arguments_refuse("follow", "--end-fd and --pid exclude each other");
	if (destination_use(&settings, arguments.stream) < 0)
		return 2;
	/* Closes the standard streams. */
	if (arguments.end_fd >= 0 && arguments.end_fd <= STDERR_FILENO)
		arguments.end_fd = fcntl(arguments.end_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	/* Before a descriptor of our own takes the number of a standard stream that is closed. */
	leave_standard_streams();
	follower.patience.grace_ns = arguments.deadline_ns;
	follower.patience.end_fd = arguments.end_fd;
	if (arguments.pid && patience_watch_pid(&follower.patience, arguments.pid) < 0)
		patience_end(&follower.patience);
	follower.end_is_told = arguments.end_fd >= 0 || arguments.pid;
	set_follower_signals(&follower, arguments.end_fd >= 0);
	r = stream_open(&follower.stream, &settings, &follower.patience, arguments.operands[0],
			arguments.from, arguments.disposable, arguments.spool, arguments.root);
	if (r < 0) {
		say_redacted("streaming: cannot follow %s: %s", arguments.operands[0], strerror(-r));
		return 1;
	}
	debug_say("follower", 0,
		  "process %d of resource-tracker-net " RT_VERSION " follows %s from byte %lld",
		  (int)getpid(), arguments.operands[0], (long long)arguments.from);
	r = follow_recording(&follower);
	debug_say("follower", 0, "ends: %s",
		  r == 0  ? "all is sent"
		  : r > 0 ? "a part is left"
			  : strerror(-r));
	if (r == -ENODATA)
		remove_empty(&arguments);
	else if (r < 0)
		say_redacted("streaming: %s: %s", arguments.operands[0], strerror(-r));
	else if (r > 0)
		say_what_is_left(&follower);
	else if (arguments.report)
		tell_recorder(&follower.stream);
	stream_close(&follower.stream);
	return r ? 1 : 0;
}
