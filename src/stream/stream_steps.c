/* Steps that the destinations share. See stream_steps.h. */
#include "stream/stream_steps.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/debug.h"
#include "net/redacted_message.h"

int stream_next(struct stream *stream, int64_t taken, const struct frame **ret_frame)
{
	struct spool_state *state = &stream->spool.state;
	int64_t before = stream->recording.offset;
	const struct frame *frame;
	int r = recording_next(&stream->recording, &frame);

	if (r <= 0)
		return r;
	if (stream->recording.begins_run && (taken || state->rows)) {
		/* Another run was appended, so this one has ended without an end record. */
		recording_rewind(&stream->recording, before);
		state->outcome.known = true;
		return 0;
	}
	read_outcome(frame, (int64_t)time(NULL), &state->outcome);
	state->outcome.known = frame->first[ROW_run_end] != NULL;
	*ret_frame = frame;
	return 1;
}

void stream_say_trouble(struct stream *stream, const char *doing, const struct outcome *outcome)
{
	bool first = !stream->trouble[0];

	snprintf(stream->trouble, sizeof(stream->trouble), "cannot %s: %s", doing, outcome->reason);
	/*
	 * Reported each time that sending stops working. At the end of the run, a message says how much is left.
	 */
	if (first)
		say_redacted("streaming: %s", stream->trouble);
}

enum stream_step stream_failed(struct stream *stream, const char *doing, const struct outcome *outcome)
{
	bool ended = patience_ended(stream->patience);

	stream_say_trouble(stream, doing, outcome);
	backoff_failed(&stream->backoff, outcome, ended);
	if (ended && stream->attempts_most && ++stream->failures >= stream->attempts_most)
		return STEP_GIVE_UP;
	/* Does not wait for an attempt that would come too late. */
	if (ended && stream->backoff.not_before_ns >= stream->patience->deadline_ns)
		return STEP_GIVE_UP;
	return patience_over(stream->patience) ? STEP_GIVE_UP : STEP_WAIT;
}

enum stream_step stream_refused(struct stream *stream, const char *doing, const struct outcome *outcome)
{
	stream_say_trouble(stream, doing, outcome);
	stream->refused = true;
	return STEP_GIVE_UP;
}

/* The reason of a failure follows in the message for the user, which is redacted. */
void stream_say_step(int64_t begun_ns, const char *doing, const struct outcome *outcome)
{
	static const char *const RESULTS[] = {
		[VERDICT_DONE] = "done",
		[VERDICT_RETRY] = "failed, will be tried again",
		[VERDICT_REFUSED] = "refused",
		[VERDICT_EXPIRED] = "refused, because the credentials have expired",
	};

	debug_say("follower", begun_ns, "%s: %s", doing, RESULTS[outcome->verdict]);
}

void stream_went_well(struct stream *stream)
{
	stream->trouble[0] = '\0';
	stream->failures = 0;
	backoff_reset(&stream->backoff);
}

void stream_count_sent(struct stream *stream, bool stored)
{
	struct spool_state *state = &stream->spool.state;

	state->sent++;
	state->objects += stored;
	if (spool_write(&stream->spool) == 0)
		spool_unlink_batch(&stream->spool, state->sent - 1);
}

bool stream_read_batch(struct stream *stream, struct buffer *ret_bytes)
{
	const struct spool *spool = &stream->spool;
	int r = spool_read_batch(spool, spool->state.sent, ret_bytes);

	if (r == 0)
		return true;
	/* Another process has removed it: nothing to wait for. */
	say_redacted("batch %lld of the spool %s cannot be read: %s", (long long)spool->state.sent,
		     spool->folder, strerror(-r));
	stream_count_sent(stream, false);
	return false;
}

void stream_forget(struct stream *stream)
{
	struct spool_state *state = &stream->spool.state;

	for (; state->sent < state->cut; state->sent++)
		spool_unlink_batch(&stream->spool, state->sent);
	state->finished = true;
	if (state->disposable) {
		unlink(state->recording);
	} else if (spool_write(&stream->spool) < 0) {
		say_redacted("cannot write to the spool %s: do not upload this recording again",
			     stream->spool.folder);
	}
	spool_remove(&stream->spool, state->disposable);
	spool_forget_old(&stream->spool);
}
