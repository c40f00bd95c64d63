/* A destination of the tests' own, which counts samples, and the recording r.jsonl of a run that is sent to it. */
#pragma once

#include "scratch.h"

#include "metric/typed_rows.h"
#include "net/redacted_message.h"
#include "options/destinations.h"
#include "stream/stream_steps.h"

/* A batch has the numbers of at most two samples, one a line. */
struct tally {
	int opened;
};

static int begun, adopted, ended, closed;
static char received[200];
static struct outcome answer;
static bool refuses;

static void want_tally(struct metric_set *wanted)
{
	(void)wanted;
}

static void open_tally(struct stream *stream)
{
	((struct tally *)stream->own)->opened++;
}

static void close_tally(struct stream *stream)
{
	closed += ((struct tally *)stream->own)->opened;
}

static int begin_tally(struct stream *stream, const struct frame *first)
{
	(void)first;
	begun++;
	stream->spool.state.payload = strdup("-");
	return 0;
}

static int adopt_tally(struct stream *stream)
{
	(void)stream;
	adopted++;
	return 0;
}

static int cut_tally(struct stream *stream)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(100);
	struct spool_state *state = &stream->spool.state;
	const struct frame *frame;
	int64_t rows = 0;
	int r = 1;

	while (rows < 2 && !state->outcome.known && (r = stream_next(stream, rows, &frame)) > 0) {
		buffer_printf(&text, "%d\n", (int)frame->sample->sample);
		rows++;
	}
	if (r < 0 || !rows)
		return r;
	assert_int_equal(spool_write_batch(&stream->spool, text.data, text.length), 0);
	state->cut++;
	state->rows += rows;
	state->offset = stream->recording.offset;
	assert_int_equal(spool_write(&stream->spool), 0);
	return r > 0 && !state->outcome.known;
}

static int end_tally(struct stream *stream)
{
	ended++;
	stream->spool.state.outcome.known = true;
	return spool_write(&stream->spool);
}

static enum stream_step send_tally(struct stream *stream)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0);
	const struct spool_state *state = &stream->spool.state;

	if (state->sent == state->cut) {
		if (!state->outcome.known)
			return STEP_IDLE;
		stream_forget(stream);
		return STEP_FINISHED;
	}
	if (refuses)
		return stream_refused(stream, "count", &answer);
	if (answer.verdict == VERDICT_RETRY)
		return stream_failed(stream, "count", &answer);
	if (!stream_read_batch(stream, &bytes))
		return STEP_MADE;
	strncat(received, bytes.data, bytes.length);
	stream_count_sent(stream, true);
	stream_went_well(stream);
	return STEP_MADE;
}

static int64_t count_tally(const struct stream *stream, int64_t number)
{
	CLEANUP_BUFFER struct buffer bytes = BUFFER(0);
	int64_t lines = 0;

	(void)spool_read_batch(&stream->spool, number, &bytes);
	for (size_t i = 0; i < bytes.length; i++)
		lines += bytes.data[i] == '\n';
	return lines;
}

static const struct destination_calls CALLS = {
	.unit = "numbers",
	.batch_ending = ".tally",
	.own_bytes = sizeof(struct tally),
	.want = want_tally,
	.open = open_tally,
	.close = close_tally,
	.adopt = adopt_tally,
	.begin = begin_tally,
	.cut = cut_tally,
	.end = end_tally,
	.send = send_tally,
	.count = count_tally,
};
static const struct destination TALLY = {"tally", ".tally", &CALLS};
static const struct settings SETTINGS = {.destination = &TALLY};
static struct patience patience;

static inline void forget_tally(void)
{
	begun = adopted = ended = closed = 0;
	received[0] = '\0';
	answer = (struct outcome){.retry_after_secs = -1};
	refuses = false;
	patience = PATIENCE;
}

static inline int enter(void **state)
{
	message_enable(false);
	forget_tally();
	return scratch_enter(state);
}

static inline void append(const char *format, int from, int to)
{
	FILE *file = fopen("r.jsonl", "a");

	for (int i = from; i <= to; i++)
		fprintf(file, format, i, i);
	fclose(file);
}

#define NEXT_SAMPLE "{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d}\n"
#define FIRST_SAMPLE \
	"{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d,\"run_start\":{\"run_" \
	"id\":\"x\"}}\n"
#define LAST_SAMPLE \
	"{\"timestamp\":1775044800.5,\"host\":\"h\",\"tracked_pid\":7,\"sample\":%d,\"run_end\":{\"exit_" \
	"code\":3}}\n"

static const char NAME[] = "h-20260401T120000.500000Z-7.tally";

/* A stream has pointers into itself, so it stays where it was opened. */
static inline void open_run(struct stream *ret_stream, bool disposable)
{

	assert_int_equal(
		stream_open(ret_stream, &SETTINGS, &patience, "r.jsonl", 0, disposable, "spool", "/none"), 0);
}

static inline void send_all(struct stream *stream, enum stream_step last)
{
	enum stream_step step;

	while ((step = stream_send(stream)) == STEP_MADE)
		;
	assert_int_equal(step, last);
}

static inline bool exists(const char *ending)
{
	char path[200];

	snprintf(path, sizeof path, "spool/%s%s", NAME, ending);
	return access(path, F_OK) == 0;
}
