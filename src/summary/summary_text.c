/* Formats the summary for a screen; see summary.h. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "summary/summary.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "record/tree_memory.h"
#include "base/screen.h"
#include "table/table.h"

enum {
	CHANGES_BYTES = 1024,
	LINE_COLUMNS = 48, /* of a sparkline: its scale fits on the same line */
	LABEL_COLUMNS = 11,
	TEXT_COLUMN = 2 + LABEL_COLUMNS,
	NAME_COLUMNS = 28,
	SHOWN_PHASES = 8,
	TEXT_CEILING = 1 << 20
};

/* Below it, the clock tick of the kernel and the start of a process are most of a CPU time. */
static const double NOISE_SECS = 0.01;
/* Two measures of the same memory differ enough to tell from here on. */
static const double TELLING_FACTOR = 1.1, TELLING_MIB = 16;

#define MIB 1048576.0

struct page {
	struct buffer *out;
	const struct rt_summary *summary;
	enum rt_size_unit unit;
};

static void add_label(const struct page *page, const char *text)
{
	if (*text)
		buffer_printf(page->out, "\n  " STYLE_STRONG "%-*s" STYLE_END, LABEL_COLUMNS, text);
	else
		buffer_printf(page->out, "\n  %-*s", LABEL_COLUMNS, "");
}

static void add_mib(const struct page *page, double mib)
{
	add_size(page->out, mib * MIB, page->unit);
}

/* Separates figures on a line: nothing before the first. */
static void add_separator(const struct page *page, bool *any)
{
	buffer_add_text(page->out, *any ? ", " : "");
	*any = true;
}

/* The course over the run, from 0 to `most`. */
static void add_history(const struct page *page, const struct time_bins *history, double most, bool is_memory)
{
	double values[LINE_COLUMNS];

	/* A CSV file has memory in whole MiB, which is 0 throughout for a small job. */
	if (page->summary->samples < 4 || isnan(most) || (is_memory && !(most > 0)))
		return;
	time_bins_columns(history, history->bin_secs * (double)history->count, false, values, LINE_COLUMNS);
	add_label(page, "");
	add_sparkline(page->out, values, LINE_COLUMNS, most);
	buffer_add_text(page->out, STYLE_FAINT "  0 to ");
	if (is_memory) {
		add_mib(page, most);
	} else {
		add_figure(page->out, most);
		buffer_add_text(page->out, " cores");
	}
	buffer_add_text(page->out, STYLE_END);
}

/* "12 %", "less than 1 %" */
static void add_share(const struct page *page, double part, double whole)
{
	if (part > 0 && part <= 0.005 * whole)
		buffer_add_text(page->out, "less than 1 %");
	else
		buffer_printf(page->out, "%.0f %%", whole > 0 ? 100 * part / whole : 0);
}

static void add_cpu(const struct page *page)
{
	const struct rt_summary *summary = page->summary;
	struct cpu_time time = summary_cpu_time(summary);
	double mean = summary_mean_cores(summary), most = summary_max_cores(summary);

	add_label(page, "CPU");
	if (isnan(mean) && isnan(most)) {
		buffer_add_text(page->out, "not recorded");
		return;
	}
	summary_add_cores(page->out, summary);
	buffer_add_text(page->out, "; ");
	add_duration(page->out, cpu_time_total(&time));
	buffer_add_text(page->out, " of CPU time");
	if (!(cpu_time_total(&time) >= NOISE_SECS))
		return;
	buffer_add_text(page->out, ", ");
	add_share(page, time.system_secs, cpu_time_total(&time));
	buffer_add_text(page->out, " in the kernel");
	add_history(page, &summary->cores_history, most, false);
}

/* Warns about figures with different measures, and about samples that were left out. */
static void add_memory_caveats(const struct page *page)
{
	const struct rt_summary *summary = page->summary;

	if (summary->tracked && summary_mixes_memory(summary)) {
		add_label(page, "");
		buffer_printf(page->out, "the mean mixes samples that count differently (%s)",
			      summary->memory_sources);
	}
	if (summary->memory_disproved_samples) {
		add_label(page, "");
		buffer_printf(page->out, "left out: %lld sample%s of up to ",
			      (long long)summary->memory_disproved_samples,
			      summary->memory_disproved_samples == 1 ? "" : "s");
		add_mib(page, summary->memory_disproved_mib);
		buffer_add_text(page->out, ", which counted shared pages in each process");
	}
}

/* The measure is told where another would give another figure. */
static void add_peak_source(const struct page *page, const struct memory_peak *peak)
{
	const struct rt_summary *summary = page->summary;
	double shared_often = summary->memory_rss.most, sampled = summary->memory.most;
	bool is_usual;

	if (!peak->source)
		return;
	is_usual = strcmp(peak->source, "pss") == 0 || strcmp(peak->source, "sampled") == 0;
	if (strcmp(peak->source, "largest_process") == 0) {
		if (!(peak->mib > TELLING_FACTOR * sampled) || peak->mib - sampled < TELLING_MIB)
			return;
		add_label(page, "");
		buffer_add_text(page->out,
				"the peak is that of the largest process; the largest sample of all is ");
		add_mib(page, sampled);
		return;
	}
	if (is_usual &&
	    (!(shared_often > TELLING_FACTOR * peak->mib) || shared_often - peak->mib < TELLING_MIB))
		return;
	add_label(page, "");
	buffer_add_text(page->out, memory_source_in_words(peak->source));
	if (!is_usual)
		return;
	buffer_add_text(page->out, "; RSS counts them in each process: ");
	add_mib(page, shared_often);
}

static void add_memory(const struct page *page)
{
	const struct rt_summary *summary = page->summary;
	struct memory_peak peak = summary_memory_peak(summary);
	struct binding limit = summary_memory_limit(summary);
	const struct figure *memory = summary->tracked ? &summary->memory : &summary->host_memory;

	add_label(page, "Memory");
	if (isnan(peak.mib)) {
		buffer_add_text(page->out, "not recorded");
		return;
	}
	/* A CSV file has memory in whole MiB, so 0 means less than one. */
	buffer_add_text(page->out, peak.mib > 0 ? "peak " : "peak below 1 MiB");
	if (peak.mib > 0)
		add_mib(page, peak.mib);
	if (peak.mib > 0 && !real_absent(peak.elapsed_secs)) {
		buffer_add_text(page->out, " after ");
		add_duration(page->out, peak.elapsed_secs);
	}
	if (limit.value > 0) {
		buffer_add_text(page->out, ", ");
		add_share(page, peak.mib, limit.value);
		buffer_add_text(page->out, " of ");
		add_mib(page, limit.value);
		buffer_printf(page->out, " (%s)", limit.source);
	}
	if (figure_mean(memory) > 0) {
		buffer_add_text(page->out, "; mean ");
		add_mib(page, figure_mean(memory));
	}
	if (summary->swap.most > 0) {
		buffer_add_text(page->out, "; swapped out ");
		add_mib(page, summary->swap.most);
	}
	add_peak_source(page, &peak);
	add_memory_caveats(page);
	add_history(page, &summary->memory_history, memory->most, true);
}

/* Limits and sizes that changed while it ran. */
static void add_changes(const struct page *page)
{
	CLEANUP_BUFFER struct buffer words = BUFFER(CHANGES_BYTES);

	allowances_words(&page->summary->allowances, &words);
	if (!words.length || buffer_error(&words))
		return;
	add_label(page, "Limits");
	buffer_add_text(page->out, words.data);
}

/* "read 4 KiB, written 8 KiB" */
static void add_both_ways(const struct page *page, const char *in, double bytes_in, const char *to,
			  double bytes_out)
{
	buffer_printf(page->out, "%s ", in);
	add_size(page->out, bytes_in, page->unit);
	buffer_printf(page->out, ", %s ", to);
	add_size(page->out, bytes_out, page->unit);
}

/* A counter began again, or could not be read for a while. */
static void add_at_least(const struct page *page, const struct total *in, const struct total *out)
{
	if (in->has_gap || out->has_gap)
		buffer_add_text(page->out, "at least: ");
}

static void add_io(const struct page *page)
{
	const struct rt_summary *summary = page->summary;
	bool job = summary->read_bytes.present;
	double read = total_of(job ? &summary->read_bytes : &summary->host_read_bytes);
	double written = job ? summary_stored_bytes(summary) : total_of(&summary->host_written_bytes);

	if (!isnan(read) || !isnan(written)) {
		add_label(page, "Storage");
		if (!job)
			add_at_least(page, &summary->host_read_bytes, &summary->host_written_bytes);
		add_both_ways(page, "read", read, "written", written);
		if (job && summary->cancelled_bytes.sum > 0) {
			buffer_add_text(page->out, " (and ");
			add_size(page->out, summary->cancelled_bytes.sum, page->unit);
			buffer_add_text(page->out, " in files that were deleted before they reached it)");
		}
		if (!job)
			buffer_add_text(page->out, " (whole machine)");
		if (summary->read_chars.present) {
			buffer_add_text(page->out,
					"; by read and write calls, also of pipes and the page cache: ");
			add_both_ways(page, "read", total_of(&summary->read_chars), "written",
				      total_of(&summary->written_chars));
		}
	}
	summary_disks_lines(page->out, &summary->disks, page->unit, LABEL_COLUMNS);
}

/* The unseen part, if it matters: more than 1 % of what was seen. */
static void add_bound(const struct page *page, const struct network_use *use)
{
	double unseen = use->received_bound - use->received + use->sent_bound - use->sent;

	if (isnan(unseen) && strcmp(use->source, "bound") == 0)
		buffer_add_text(page->out, "; short connections may be missing");
	if (!(unseen > 0.01 * (use->received + use->sent)))
		return;
	add_label(page, "");
	buffer_add_text(page->out, "short connections may be missing: at most ");
	add_both_ways(page, "received", use->received_bound, "sent", use->sent_bound);
}

static void add_job_network(const struct page *page, const struct network_use *use)
{
	add_both_ways(page, "received", use->received, "sent", use->sent);
	if (use->connections > 0)
		buffer_printf(page->out, " over %.0f TCP connection%s", use->connections,
			      use->connections == 1 ? "" : "s");
	if (strcmp(use->source, "namespace") == 0)
		buffer_add_text(page->out, " (the job's own network namespace; loopback not counted)");
	if (strcmp(use->source, "mixed") == 0)
		buffer_add_text(page->out, " and in its own network namespace");
	add_bound(page, use);
}

static void add_network(const struct page *page)
{
	const struct rt_summary *summary = page->summary;
	struct network_use use = summary_network(summary);
	bool has_own = use.received > 0 || use.sent > 0 || use.connections > 0;

	if (!use.source && isnan(total_of(&summary->received_bytes)) && isnan(total_of(&summary->sent_bytes)))
		return;
	add_label(page, "Network");
	if (has_own || (use.source && strcmp(use.source, "namespace") == 0)) {
		add_job_network(page, &use);
		return;
	}
	if (use.source) {
		buffer_add_text(page->out, "the job had no TCP connection");
		if (use.received_bound > 0 || use.sent_bound > 0) {
			buffer_add_text(page->out, " that was seen");
			add_bound(page, &use);
			buffer_add_text(page->out, ", together with other programs");
		}
		return;
	}
	add_at_least(page, &summary->received_bytes, &summary->sent_bytes);
	add_both_ways(page, "received", total_of(&summary->received_bytes), "sent",
		      total_of(&summary->sent_bytes));
	buffer_add_text(page->out, " (all processes; loopback not counted)");
}

/* Zero in some samples says nothing about those without a value. */
static bool has_unknown(const struct figure *figure)
{
	return isnan(figure->most) || figure->has_gap;
}

static void add_gpu(const struct page *page)
{
	const struct rt_summary *summary = page->summary;
	double joules = summary_gpus_energy_joules(summary);
	bool job = summary->gpu_usage.most > 0 || summary->gpu_vram_mib.most > 0;
	const struct figure *usage = job ? &summary->gpu_usage : &summary->host_gpu_usage;
	const struct figure *vram = job ? &summary->gpu_vram_mib : &summary->host_gpu_vram_mib;

	if (!summary->gpu_count && !(usage->most > 0) && !(vram->most > 0))
		return;
	add_label(page, "GPU");
	if (!isnan(usage->most)) {
		buffer_add_text(page->out, "mean ");
		add_figure(page->out, figure_mean(usage));
		buffer_add_text(page->out, ", max ");
		add_figure(page->out, usage->most);
		if (summary->gpu_count)
			buffer_printf(page->out, " of %lld", (long long)summary->gpu_count);
		buffer_add_text(page->out, " busy");
	}
	if (!isnan(vram->most)) {
		buffer_add_text(page->out, isnan(usage->most) ? "memory peak " : "; memory peak ");
		add_mib(page, vram->most);
		if (summary->gpu_memory_mib > 0) {
			buffer_add_text(page->out, " of ");
			add_mib(page, summary->gpu_memory_mib);
		}
	}
	if (isnan(usage->most) && isnan(vram->most))
		buffer_add_text(page->out, "use unknown");
	if (!job)
		buffer_add_text(page->out,
				!summary->tracked ? " (whole machine)"
				: has_unknown(&summary->gpu_usage) || has_unknown(&summary->gpu_vram_mib)
					? " (whole machine; the job's part is unknown)"
					: " (whole machine; none by the job)");
	if (!isnan(joules)) {
		buffer_add_text(page->out, "; ");
		buffer_add_real(page->out, joules, joules < 100 ? 1 : 0);
		buffer_add_text(page->out, " J");
	}
	summary_gpus_lines(page->out, summary, page->unit, LABEL_COLUMNS);
}

/* A counter that began again, or could not be read for a while, leaves a gap. */
static void add_joules(const struct page *page, const struct total *energy, const char *estimated)
{
	buffer_add_text(page->out, energy->has_gap ? "at least " : estimated);
	buffer_add_real(page->out, energy->sum, energy->sum < 100 ? 1 : 0);
	buffer_add_text(page->out, " J");
}

/* The energy of GPUs is in their line. */
static void add_energy(const struct page *page)
{
	const struct rt_summary *summary = page->summary;
	double grams = summary_carbon_grams(summary);
	bool any = false;

	if (!summary->cpu_energy_joules.present && isnan(grams))
		return;
	add_label(page, "Energy");
	if (summary->cpu_energy_joules.present) {
		add_separator(page, &any);
		add_joules(page, &summary->cpu_energy_joules, "");
		buffer_add_text(page->out, " by all CPU sockets (whole machine)");
	}
	if (summary->cpu_energy_joules.present && summary->job_cpu_energy_joules.present) {
		buffer_add_text(page->out, ", ");
		add_joules(page, &summary->job_cpu_energy_joules, "about ");
		buffer_add_text(page->out, " of it for the job, by its part of the CPU time");
	}
	if (!isnan(grams)) {
		add_separator(page, &any);
		buffer_add_text(page->out, "about ");
		add_figure(page->out, grams);
		buffer_printf(page->out, " g of CO2 at %.4g g/kWh%s", summary_carbon_factor(summary),
			      isnan(summary_gpus_energy_joules(summary)) ? "" : ", GPUs included");
	}
}

static void add_bottleneck(const struct page *page)
{
	const struct bottleneck *first = &page->summary->bottlenecks[0];

	add_label(page, "Bottleneck");
	buffer_printf(page->out, "%s: %s", first->title, first->text);
}

static void add_processes(const struct page *page)
{
	const struct run_end_row *end = FIRST(record_identity(page->summary->record), run_end);
	const struct rt_summary *summary = page->summary;
	bool has_left = end && !count_absent(end->descendants_running) && end->descendants_running;
	size_t start;

	if (!(summary->processes.most > 1) && !(summary->threads.most > 1) && !has_left)
		return;
	add_label(page, "Processes");
	start = page->out->length;
	summary_add_line(page->out, summary, "Processes", page->unit);
	if (has_left)
		buffer_printf(page->out, "%s%lld still running", page->out->length > start ? ", " : "",
			      (long long)end->descendants_running);
}

static int by_time(const void *a, const void *b)
{
	double left = summary_phase_time(*(const struct phase *const *)a).secs;
	double right = summary_phase_time(*(const struct phase *const *)b).secs;

	return (left < right) - (left > right);
}

/* A name in a column of its own: names that are too long are cut. */
static void add_cell(struct buffer *out, const char *name, size_t columns)
{
	CLEANUP_BUFFER struct buffer printable = BUFFER(TEXT_CEILING);
	size_t used = 0;

	buffer_add_printable(&printable, name);
	for (const char *at = printable.data; at && *at && used < columns; used++) {
		size_t length = 1;

		while (((unsigned char)at[length] & 0xc0) == 0x80)
			length++;
		buffer_add(out, at, length);
		at += length;
	}
	buffer_printf(out, "%*s", (int)(columns - used), "");
}

static void add_phase(const struct page *page, const struct phase *phase)
{
	CLEANUP_BUFFER struct buffer duration = BUFFER(64);
	struct phase_time time = summary_phase_time(phase);

	add_cell(page->out, phase->name, NAME_COLUMNS);
	add_duration(&duration, time.secs);
	buffer_printf(page->out, " %12s", duration.data);
	if (page->summary->recorded_secs > 0)
		buffer_printf(page->out, " %4.0f %%", 100 * time.secs / page->summary->recorded_secs);
	if (phase->call_count > 1)
		buffer_printf(page->out, "  %zu calls", phase->call_count);
	if (time.open_calls)
		buffer_add_text(page->out, "  not closed");
}

/* A table of the longest phases: time, share of the run, calls. `regions` has them all. */
static void add_phases(const struct page *page)
{
	const struct phases *phases = &page->summary->phases;
	CLEANUP_FREE const struct phase **longest =
		calloc(phases->count ? phases->count : 1, sizeof(*longest));

	if (!longest || !phases->count)
		return;
	for (size_t i = 0; i < phases->count; i++)
		longest[i] = &phases->list[i];
	qsort(longest, phases->count, sizeof(*longest), by_time);
	for (size_t i = 0; i < phases->count && i < SHOWN_PHASES; i++) {
		add_label(page, i ? "" : "Phases");
		add_phase(page, longest[i]);
	}
	if (phases->count > SHOWN_PHASES) {
		add_label(page, "");
		buffer_printf(page->out, "and %zu more, see resource-tracker regions",
			      phases->count - SHOWN_PHASES);
	}
}

static void add_tracker(const struct page *page)
{
	add_label(page, "Tracker");
	summary_add_line(page->out, page->summary, "Tracker", page->unit);
}

static void add_note(const struct page *page, int64_t count, const char *one, const char *several)
{
	if (!count)
		return;
	add_label(page, "Note");
	if (count == 1)
		buffer_add_text(page->out, one);
	else
		buffer_printf(page->out, several, (long long)count);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_notes(const struct page *page)
{
	const struct rt_summary *summary = page->summary;
	const struct run_end_row *end = FIRST(record_identity(summary->record), run_end);

	add_note(page, summary->damage.torn_tails,
		 "the file ends in the middle of a sample, which is left out",
		 "%lld files end in the middle of a sample, which is left out");
	add_note(page, summary->damage.bad_lines, "one line is not a sample and is left out",
		 "%lld lines are not samples and are left out");
	add_note(page, summary->damage.clock_steps, "the clock was set back once during the run",
		 "the clock was set back %lld times during the run");
	if (summary->damage.hosts > 1)
		add_note(page, summary->damage.hosts, "",
			 "samples of %lld hosts are mixed in this file: the figures are of all of them");
	if (summary->runs > 1)
		add_note(page, (int64_t)summary->runs, "", "the file holds %lld runs; this is the last");
	if (end && !count_absent(end->sigchld_ignored) && end->sigchld_ignored)
		add_note(
			page, 1,
			"a process ignored SIGCHLD: the CPU time of its children is missing from all figures",
			"");
}
#pragma GCC diagnostic pop

void summary_add_page(struct buffer *out, const rt_summary *summary, enum rt_size_unit unit)
{
	struct page page = {out, summary, unit};

	summary_add_heading(page.out, page.summary);
	if (summary_not_started(summary))
		return;
	add_cpu(&page);
	add_memory(&page);
	add_changes(&page);
	add_io(&page);
	add_network(&page);
	add_gpu(&page);
	add_energy(&page);
	summary_programs_line(out, summary, LABEL_COLUMNS);
	summary_waiting_lines(out, summary, LABEL_COLUMNS);
	add_bottleneck(&page);
	add_processes(&page);
	add_phases(&page);
	add_tracker(&page);
	add_notes(&page);
	buffer_add_char(out, '\n');
}

static int fit_page(const rt_summary *summary, enum rt_size_unit unit, const struct screen *screen,
		    char **ret_text)
{
	CLEANUP_BUFFER struct buffer page = BUFFER(TEXT_CEILING), out = BUFFER(TEXT_CEILING);

	summary_add_page(&page, summary, unit);
	if (buffer_error(&page) < 0)
		return buffer_error(&page);
	screen_add(&out, page.data, screen, TEXT_COLUMN);
	return buffer_take_text(&out, ret_text);
}

int rt_summary_to_text(const rt_summary *summary, enum rt_size_unit unit, char **ret_text)
{
	return fit_page(summary, unit, &(struct screen){.columns = SIZE_MAX}, ret_text);
}

int rt_summary_for_screen(const rt_summary *summary, enum rt_size_unit unit, int fd, const char *colour,
			  char **ret_text)
{
	struct screen screen;

	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = screen_of(fd, colour);
	return fit_page(summary, unit, &screen, ret_text);
}
