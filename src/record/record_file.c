/* Reads one file of a recording. See record_file.h. */
#include "record/record_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "record/odd_text.h"

enum { PEEK_BYTES = 64 << 10 };

static int refuse_file(const struct record_file *file, struct scan start, struct rt_problem *problem)
{
	const char *path = file->source.path;
	struct scan line;

	if (scan_literal(&start, "SQLite format 3"))
		return problem_set(problem, -EBADMSG,
				   "%s: an SQLite file; recordings are JSON Lines, CSV or snapshots", path);
	if (refuse_odd_text(start, path, problem) < 0)
		return -EBADMSG;
	if (scan_line(&start, &line) && scan_literal(&line, "ram_unit,"))
		return problem_set(problem, -EBADMSG,
				   "%s: a tracking file of gpu_tracker; `regions --tracking-file` reads it",
				   path);
	return problem_set(
		problem, -EBADMSG,
		"%s: not a recording (neither JSON Lines, nor CSV with a known header, nor a snapshot)",
		path);
}

/* Finds the header behind empty lines, and consumes no line of data. */
static int open_csv(struct record_file *file, struct scan start, struct rt_problem *problem)
{
	struct scan lines = start, line;

	while (scan_line(&lines, &line)) {
		line = scan_trim(line);
		if (!scan_left(&line))
			continue;
		if (!csv_decoder_header(&file->csv, line) && !csv_decoder_assume(&file->csv, line))
			break;
		csv_decoder_probe_ticks(&file->csv, lines);
		return 0;
	}
	return refuse_file(file, start, problem);
}

static int detect_format(struct record_file *file, struct rt_problem *problem)
{
	struct scan start;
	int result = source_peek(&file->source, PEEK_BYTES, &start);

	if (result < 0)
		return problem_set(problem, result, "%s: %s", file->source.path, strerror(-result));
	json_skip_space(&start);
	if (!scan_left(&start))
		return problem_set(problem, -ENODATA, "%s: empty, no sample has been written yet",
				   file->source.path);
	if (snapshot_begins(start)) {
		file->format = RECORD_SNAPSHOT;
		return snapshot_open(&file->source, &file->snapshot, problem);
	}
	if ((*start.at == '{' || *start.at == '[') && !(scan_left(&start) > 1 && !start.at[1])) {
		file->format = RECORD_JSON;
		return 0;
	}
	file->format = RECORD_CSV;
	return open_csv(file, start, problem);
}

int record_file_open(struct record_file *ret_file, const char *path, bool follows, struct rt_problem *problem)
{
	struct record_file file = {0};
	int result = follows ? source_follow(&file.source, path, problem)
			     : source_open(&file.source, path, problem);

	if (result < 0)
		return result;
	result = detect_format(&file, problem);
	if (result < 0) {
		record_file_close(&file);
		return result;
	}
	*ret_file = file;
	return 0;
}

void record_file_close(struct record_file *file)
{
	source_close(&file->source);
	csv_decoder_done(&file->csv);
	snapshot_close(file->snapshot);
	file->snapshot = NULL;
}

/* A JSON list of samples, one a line, is read line by line: strip brackets and commas around the objects. */
static struct scan without_list(struct scan line)
{
	line = scan_trim(line);
	if (scan_left(&line) && (*line.at == '[' || *line.at == ','))
		line.at++;
	line = scan_trim(line);
	while (scan_left(&line) && (line.end[-1] == ',' || line.end[-1] == ']'))
		line.end--;
	return line;
}

static bool has_time(const struct frame *frame)
{
	return !real_absent(frame->sample->timestamp) || !count_absent(frame->sample->timestamp_secs);
}

/* Empties a frame. The last sample is kept beside it. */
static void begin_line_frame(struct line_decoder *decoder, struct frame *frame)
{
	if (decoder && !decoder->fresh) {
		line_decoder_swap(decoder, frame);
		decoder->fresh = true;
	}
	frame_clear(frame);
}

/* Reads a line into the frame of the last line that it looks like, of the two that are kept. */
static bool read_as_before(struct line_decoder *decoder, struct scan line, struct frame *frame)
{
	bool read = same_line_read(&decoder->same, line, frame);

	if (!read && !decoder->fresh && same_line_read(&decoder->previous_same, line, &decoder->previous)) {
		line_decoder_swap(decoder, frame);
		read = true;
	}
	if (read)
		decoder->json.brief = decoder->same.brief;
	return read;
}

static bool read_json(struct record_file *file, struct line_decoder *decoder, struct scan line,
		      struct frame *frame)
{
	file->line = line;
	if (read_as_before(decoder, line, frame))
		return true;
	begin_line_frame(decoder, frame);
	if (!json_decoder_read(&decoder->json, line, frame) || !has_time(frame))
		return false;
	same_line_remember(&decoder->same, &decoder->json, line, frame);
	return true;
}

static void count_bad(struct record_file *file, const struct source_line *line)
{
	if (!line->terminated) {
		file->unreliable_end = true;
		return;
	}
	file->bad_lines++;
	if (!file->first_bad_line)
		file->first_bad_line = file->source.line_number;
}

/* Returns 1 for a sample, 0 for an empty line, -EBADMSG for a line that is not a sample. */
static int read_first_line(struct record_file *file, struct line_decoder *decoder,
			   const struct source_line *line, struct frame *frame)
{
	struct scan text;

	if (line->too_long)
		return -EBADMSG;
	text = file->format == RECORD_JSON ? without_list(line->text) : scan_trim(line->text);
	/* A crash of the machine leaves NUL bytes. */
	if (!scan_left(&text))
		return memchr(line->text.at, 0, scan_left(&line->text)) ? -EBADMSG : 0;
	if (file->format == RECORD_JSON)
		return read_json(file, decoder, text, frame) ? 1 : -EBADMSG;
	begin_line_frame(decoder, frame);
	if ((*text.at == '"' || *text.at == 't') && csv_decoder_header(&file->csv, text))
		return 0;
	/* In a line without its end, the last number may lack digits. */
	return line->terminated && csv_decoder_read(&file->csv, text, frame) ? 1 : -EBADMSG;
}

void line_decoder_swap(struct line_decoder *decoder, struct frame *frame)
{
	struct frame last = *frame;
	struct same_line same = decoder->same;

	*frame = decoder->previous;
	decoder->same = decoder->previous_same;
	decoder->previous = last;
	decoder->previous_same = same;
}

int record_file_next(struct record_file *file, struct line_decoder *decoder, struct frame *frame)
{
	struct source_line line;
	int result;

	if (decoder)
		decoder->fresh = false;

	if (file->format == RECORD_SNAPSHOT) {
		begin_line_frame(decoder, frame);
		result = snapshot_next(file->snapshot, frame);
		return frame->error ? frame->error : result;
	}
	while ((result = source_next_line_after(&file->source, file->samples ? 0 : file->bad_lines, &line)) >
	       0) {
		result = read_first_line(file, decoder, &line, frame);
		if (frame->error)
			return frame->error;
		if (result > 0) {
			file->samples++;
			return 1;
		}
		if (result < 0)
			count_bad(file, &line);
	}
	file->torn_tails = (file->unreliable_end || file->source.cut_off) && !file->source.damage_told;
	return result;
}

bool record_file_is(const struct record_file *file, enum row_kind kind)
{
	const struct csv_layout *layout = file->format == RECORD_CSV ? file->csv.layout : NULL;
	bool tree = false, host = false;

	for (size_t i = 0; layout && i < layout->column_count; i++) {
		tree |= layout->columns[i].kind == ROW_tree;
		host |= layout->columns[i].kind == ROW_host_cpu;
	}
	return kind == ROW_tree ? tree && !host : host && !tree;
}

double record_file_first_step_secs(struct record_file *file)
{
	struct frame frame = {0};
	struct scan lines, line;
	double before = NAN, step = NAN;

	if (source_peek(&file->source, PEEK_BYTES, &lines) < 0)
		return NAN;
	while (isnan(step) && scan_line(&lines, &line)) {
		frame_clear(&frame);
		if (!csv_decoder_read(&file->csv, scan_trim(line), &frame))
			continue;
		step = frame.sample->timestamp - before;
		before = frame.sample->timestamp;
	}
	frame_done(&frame);
	return step;
}
