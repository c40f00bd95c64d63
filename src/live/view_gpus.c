/* Says in a line what the job's GPUs are missing: errors of a device, memory held without work, and work itself. */
#include <math.h>

#include "base/buffer.h"
#include "live/view.h"

/* As the summary: shorter stretches are worth no word. */
static const double HELD_TOLD_SECS = 10, STARVED_LEAST_SECS = 5, STARVED_WINDOW_SECS = 60;
/* Below this part of the time the GPUs wait for something, and from these on the job's CPU or its storage may be why. */
static const double STARVED_USE = 0.7, STARVED_CORES = 0.7, STARVED_IO = 0.3;

/* Several are joined by ";". */
static struct buffer *next_gpu_words(struct buffer *words)
{
	if (words->length)
		buffer_add_text(words, "; ");
	return words;
}

static bool is_held_idle(const struct detail *gpu)
{
	return gpu->kind == DETAIL_GPU && gpu->numbers[GPU_JOB] <= 0 && gpu->numbers[GPU_JOB_MEMORY] > 0;
}

static const struct detail *same_gpu(const struct moment *moment, const struct detail *gpu)
{
	for (size_t i = 0; i < moment->detail_count; i++)
		if (moment->details[i].kind == DETAIL_GPU &&
		    fabsf(moment->details[i].numbers[GPU_INDEX] - gpu->numbers[GPU_INDEX]) < 0.5f)
			return &moment->details[i];
	return NULL;
}

/* For how long it has been held, up to this moment. */
static double held_idle_secs(const struct timeline *timeline, const struct moment *moment,
			     const struct detail *gpu)
{
	double secs = 0;

	for (size_t i = (size_t)(moment - timeline->moments) + 1; i-- > 0;) {
		const struct detail *earlier = same_gpu(&timeline->moments[i], gpu);

		if (!earlier || !is_held_idle(earlier))
			break;
		secs += timeline->moments[i].step_secs;
	}
	return secs;
}

/* Returns whether there is one. */
static bool add_xids(struct buffer *words, const struct moment *moment)
{
	bool any = false;

	for (size_t i = 0; i < moment->detail_count; i++) {
		const struct detail *gpu = &moment->details[i];

		if (gpu->kind != DETAIL_GPU || !(gpu->numbers[GPU_XID] > 0))
			continue;
		any = true;
		buffer_printf(next_gpu_words(words), "GPU %.0f: Xid %.0f", (double)gpu->numbers[GPU_INDEX],
			      (double)gpu->numbers[GPU_XID]);
	}
	return any;
}

static void add_held(struct buffer *words, const struct view *view, const struct timeline *timeline,
		     const struct moment *moment)
{
	char memory[NUMBER_BYTES], time[NUMBER_BYTES];

	for (size_t i = 0; i < moment->detail_count; i++) {
		const struct detail *gpu = &moment->details[i];
		double secs = is_held_idle(gpu) ? held_idle_secs(timeline, moment, gpu) : 0;

		if (secs >= HELD_TOLD_SECS)
			buffer_printf(next_gpu_words(words), "GPU %.0f: %s held idle for %s",
				      (double)gpu->numbers[GPU_INDEX],
				      memory_text(view, gpu->numbers[GPU_JOB_MEMORY], memory),
				      time_text(secs, time));
	}
}

static void add_starved(struct buffer *words, const struct timeline *timeline, const struct moment *moment)
{
	double secs = 0, work = 0, cpu = 0, waiting = 0, held = 0;
	char share[NUMBER_BYTES], cores[NUMBER_BYTES], time[NUMBER_BYTES], io[NUMBER_BYTES];

	for (size_t i = 0; i < moment->detail_count; i++)
		held += moment->details[i].kind == DETAIL_GPU &&
			moment->details[i].numbers[GPU_JOB_MEMORY] > 0;
	for (size_t i = (size_t)(moment - timeline->moments) + 1; i-- > 0 && secs < STARVED_WINDOW_SECS;) {
		const struct moment *at = &timeline->moments[i];

		if (isnan(at->values[SERIES_JOB_GPU]))
			break;
		secs += at->step_secs;
		work += at->values[SERIES_JOB_GPU] * at->step_secs;
		cpu += fmax(0, at->values[SERIES_JOB_CPU]) * at->step_secs;
		waiting += at->machine_pressure ? 0 : fmax(0, at->values[SERIES_PRESSURE_IO]) * at->step_secs;
	}
	if (secs < STARVED_LEAST_SECS || !(work > 0) || work >= STARVED_USE * held * secs ||
	    (cpu < STARVED_CORES * secs && waiting < STARVED_IO * secs))
		return;
	buffer_printf(next_gpu_words(words), "worked %s of the last %s while the job used %s cores",
		      percent_text(work / held / secs, share), time_text(secs, time),
		      figure_text(cpu / secs, cores));
	if (waiting >= STARVED_IO * secs)
		buffer_printf(next_gpu_words(words), "waited for I/O %s", percent_text(waiting / secs, io));
}

bool view_draw_gpus(const struct view *view, struct canvas *canvas, const struct moment *moment, size_t row)
{
	const struct run *run = view_run(view);
	CLEANUP_BUFFER struct buffer words = BUFFER(16384);
	bool is_error = add_xids(&words, moment);

	if (!view->machine && !run->is_machine) {
		add_held(&words, view, &run->timeline, moment);
		add_starved(&words, &run->timeline, moment);
	}
	if (!words.length)
		return false;
	buffer_add_char(&words, '\0');
	canvas_text(canvas, row, 1, 9, LOOK_GPU, "GPUs");
	canvas_text(canvas, row, 11, canvas->columns - 12, is_error ? LOOK_BAD : LOOK_WARNING,
		    words.data ? words.data : "");
	return true;
}
