/* Reads two CSV files side by side. See csv_pair.h. */
#include "record/csv_pair.h"
#include "metric/typed_rows.h"

#include <math.h>

bool csv_pair_begin(struct csv_pair *ret_pair, struct record_file *first, struct record_file *second)
{
	bool machine_first = record_file_is(first, ROW_host_cpu) && record_file_is(second, ROW_tree);
	double step;

	if (!machine_first && !(record_file_is(first, ROW_tree) && record_file_is(second, ROW_host_cpu)))
		return false;
	*ret_pair = (struct csv_pair){
		.machine = machine_first ? first : second,
		.process = machine_first ? second : first,
	};
	step = record_file_first_step_secs(ret_pair->machine);
	if (isnan(step))
		step = record_file_first_step_secs(ret_pair->process);
	/* If a file has only one sample, its interval is unknown: any two samples belong together. */
	ret_pair->within_secs = step > 0 ? step : INFINITY;
	return true;
}

void csv_pair_done(struct csv_pair *pair)
{
	frame_done(&pair->machine_ahead);
	frame_done(&pair->process_ahead);
	*pair = (struct csv_pair){0};
}

static int read_ahead(struct record_file *file, struct frame *ahead, bool *has)
{
	int result;

	if (*has)
		return 0;
	/* Only JSON needs a decoder. */
	result = record_file_next(file, NULL, ahead);
	*has = result > 0;
	return result;
}

/* Copies the values of a CSV frame except its times: numbers in single rows. */
static void add_pair_values(struct frame *frame, const struct frame *from)
{
	if (count_absent(frame->sample->tracked_pid))
		frame->sample->tracked_pid = from->sample->tracked_pid;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		const struct row_description *description = &ROW_DESCRIPTIONS[kind];
		struct row *row;

		if (kind == ROW_sample || !from->first[kind])
			continue;
		row = csv_decoder_row(frame, kind);
		for (size_t i = 0; i < description->metric_count; i++) {
			size_t offset = metric_offset(i);

			if (!field_absent(from->first[kind], description->metrics[i].type, offset))
				memcpy((char *)row + offset, (const char *)from->first[kind] + offset, 8);
		}
	}
}

static void take_ahead(struct frame *frame, struct frame *ahead, bool *has)
{
	struct frame kept = *frame;

	*frame = *ahead;
	*ahead = kept;
	*has = false;
}

int csv_pair_next(struct csv_pair *pair, struct frame *frame)
{
	int machine = read_ahead(pair->machine, &pair->machine_ahead, &pair->has_machine);
	int process =
		machine < 0 ? machine : read_ahead(pair->process, &pair->process_ahead, &pair->has_process);
	double lead;

	if (process < 0)
		return process;
	if (!pair->has_machine && !pair->has_process)
		return 0;
	lead = pair->has_machine && pair->has_process
		       ? pair->process_ahead.sample->timestamp - pair->machine_ahead.sample->timestamp
	       : pair->has_machine ? INFINITY
				   : -INFINITY;
	if (fabs(lead) < pair->within_secs && isfinite(lead)) {
		take_ahead(frame, &pair->machine_ahead, &pair->has_machine);
		add_pair_values(frame, &pair->process_ahead);
		pair->has_process = false;
	} else if (lead > 0) {
		take_ahead(frame, &pair->machine_ahead, &pair->has_machine);
	} else {
		take_ahead(frame, &pair->process_ahead, &pair->has_process);
	}
	return frame->error ? frame->error : 1;
}
