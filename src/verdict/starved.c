/* The cause of GPUs without work. See starved.h. */
#include "verdict/starved.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plain_print.h"
#include "base/printable.h"
#include "table/units.h"

/* Idle time that is worth a word, and the part of it that a wait must take to be its cause. */
static const double STARVED_SHARE = 0.3, STARVED_LEAST_SECS = 5, WAITED_PART = 0.3;
/* A worker that computes for this part of the idle time is busy, and so is a process that has no workers. */
static const double BUSY_WORKER = 0.6, BUSY_PROCESS = 0.7, FREE_CORE = 1;

enum { WAIT_WORDS_BYTES = 120 };

static const char *const INPUT_WAITS[] = {"storage", "lock", "file_lock", "socket", "pipe", "sleep"};

static double mean_cores(const struct starved_time *time, const struct starved_program *program)
{
	return program->core_secs / time->idle_secs;
}

static double mean_processes(const struct starved_time *time, const struct starved_program *program)
{
	return program->process_secs / time->idle_secs;
}

static const struct starved_program *busiest_program(const struct starved_time *time)
{
	const struct starved_program *found = NULL;

	for (size_t i = 0; i < time->count; i++)
		if (strcmp(time->programs[i].name, "others") != 0 &&
		    (!found || time->programs[i].core_secs > found->core_secs))
			found = &time->programs[i];
	return found;
}

static const struct starved_program *named_program(const struct starved_time *time, const char *name)
{
	for (size_t i = 0; i < time->count; i++)
		if (strcmp(time->programs[i].name, name) == 0)
			return &time->programs[i];
	return NULL;
}

/* More of them help only if there are cores for them. */
static void add_remedy(struct buffer *out, const struct starved_time *time, const char *help)
{
	double free_cores = time->free_core_secs / time->known_secs;

	if (free_cores >= FREE_CORE)
		buffer_printf(out, ". %s would help: %s cores were free.", help,
			      amount_of(free_cores, add_figure).text);
	else if (!isnan(free_cores))
		buffer_add_text(out, ", and no core was free for more.");
	else
		buffer_add_text(out, ".");
}

static bool add_data_workers(struct buffer *out, const struct starved_time *time)
{
	const struct starved_program *workers = named_program(time, STARVED_DATA_WORKER);
	double count;

	if (!workers)
		return false;
	count = mean_processes(time, workers);
	if (!(count > 0) || !(mean_cores(time, workers) >= BUSY_WORKER * count))
		return false;
	buffer_printf(out, "while its %.0f DataLoader worker%s (%s) %s busy on %s cores", fmax(count, 1),
		      count < 1.5 ? "" : "s", STARVED_DATA_WORKER, count < 1.5 ? "was" : "were",
		      amount_of(mean_cores(time, workers), add_figure).text);
	add_remedy(out, time, "More workers");
	return true;
}

/* Workers without a name of their own: processes of the program on the GPU that are not on it. A core of each that is may be its own. */
static bool add_unnamed_workers(struct buffer *out, const struct starved_time *time,
				const struct starved_program *program)
{
	double on_gpu = time->gpu_process_secs / time->idle_secs,
	       workers = mean_processes(time, program) - on_gpu;

	if (!program->on_gpu || !(workers >= 1) ||
	    !(mean_cores(time, program) - on_gpu >= BUSY_WORKER * workers))
		return false;
	buffer_add_text(out, "while ");
	buffer_add_printable(out, program->name);
	buffer_printf(out, " was busy on %s cores: %.0f process%s beside the %.0f on the GPU",
		      amount_of(mean_cores(time, program), add_figure).text, workers,
		      workers < 1.5 ? "" : "es", on_gpu);
	add_remedy(out, time, "More workers");
	return true;
}

static bool add_busy_program(struct buffer *out, const struct starved_time *time,
			     const struct starved_program *program)
{
	double workers = program->on_gpu ? 0 : mean_processes(time, program);

	if (!(mean_cores(time, program) >= fmax(BUSY_PROCESS, BUSY_WORKER * workers)))
		return false;
	buffer_add_text(out, "while ");
	buffer_add_printable(out, program->name);
	buffer_printf(out, " was busy on %s cores%s", amount_of(mean_cores(time, program), add_figure).text,
		      program->on_gpu ? ", in the process that feeds the GPU" : "");
	add_remedy(out, time,
		   program->on_gpu ? "If that is its input, workers" : "If it makes the input, more of it");
	return true;
}

/* The looks of the whole run saw the wait: at least what is more than the time outside counts. */
static bool add_wait(struct buffer *out, const struct run_facts *facts)
{
	const struct starved_time *time = &facts->starved.sure;
	double outside = fmax(0, facts->recorded_secs - time->secs);
	char words[WAIT_WORDS_BYTES];

	for (size_t i = 0; i < facts->waits.by_target.count; i++) {
		const struct summary_wait *wait = &facts->waits.by_target.list[i];
		bool of_input = false;

		for (size_t n = 0; n < ARRAY_SIZE(INPUT_WAITS); n++)
			of_input |= strcmp(wait->class, INPUT_WAITS[n]) == 0;
		if (!of_input || !(wait->secs - outside >= WAITED_PART * time->idle_secs))
			continue;
		buffer_printf(out, "while the job waited for %s for %s (",
			      summary_wait_words(wait, words, sizeof words),
			      amount_of(wait->secs, add_duration).text);
		buffer_add_printable(out, wait->program);
		buffer_add_text(out, ").");
		return true;
	}
	if (!(time->io_secs >= WAITED_PART * time->idle_secs))
		return false;
	buffer_printf(out, "while some process of the job waited for I/O during %s %% of that.",
		      amount_of(100 * fmin(time->io_secs / time->idle_secs, 1), add_figure).text);
	return true;
}

double starved_share(const struct run_facts *facts, char *ret_text, size_t size)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(4096);
	const struct starved_time *time = &facts->starved.sure;
	const struct starved_program *busiest = busiest_program(time);
	double share = time->idle_secs / time->secs;

	if (!facts->tracked || !(time->idle_secs >= STARVED_LEAST_SECS) || !(share >= STARVED_SHARE))
		return 0;
	buffer_printf(&text, "Its GPU%s no work for %s %% of the %s from first to last use, ",
		      facts->gpu_utilized.most > 1 ? "s had" : " had",
		      amount_of(100 * share, add_figure).text, amount_of(time->secs, add_duration).text);
	if (!add_data_workers(&text, time) && !(busiest && add_unnamed_workers(&text, time, busiest)) &&
	    !(busiest && add_busy_program(&text, time, busiest)) && !add_wait(&text, facts))
		return 0;
	if (buffer_error(&text))
		return 0;
	plain_print(ret_text, size, "%s", text.data);
	return share;
}
