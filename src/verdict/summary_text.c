/* Formats the summary for a screen. See summary_page.h. */
#include "verdict/summary_lines.h"
#include "verdict/summary_page.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "metric/typed_rows.h"
#include "table/units.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "record/tree_memory.h"
#include "base/screen.h"
#include "table/table.h"
#include "verdict/run_summary.h"
#include "base/grid.h"

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

/* ---- the heading: how the run ended, its name, when and how long it ran ---------------------------------- */

static void add_time(struct buffer *out, double timestamp)
{
	time_t whole = fabs(timestamp) < 1e11 ? (time_t)timestamp : -1;
	struct tm tm;
	char text[32];

	if (whole < 0 || !gmtime_r(&whole, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	buffer_printf(out, "%s, ", text);
}

/* CSV has no name of the job, but a person named the file. */
static void add_unnamed(struct buffer *out, const struct run_facts *facts)
{
	bool is_json = strcmp(facts->layout, "json") == 0;

	if (!facts->tracked) {
		buffer_add_text(out, "the machine");
		return;
	}
	buffer_add_printable(out, *facts->file_name && !is_json ? facts->file_name : "a process");
	if (!count_absent(facts->tracked_pid))
		buffer_printf(out, " (pid %lld)", (long long)facts->tracked_pid);
}

/* "make -j2 all". Returns false if the recording has no words there. */
static bool add_command(struct buffer *out, const char *command)
{
	CLEANUP_BUFFER struct buffer words = BUFFER(1 << 20);
	bool is_cut;

	add_command_words(&words, command);
	if (buffer_error(&words) || !words.length)
		return false;
	is_cut = cut_run_name(&words);
	buffer_add_printable(out, words.data);
	if (is_cut)
		buffer_add_text(out, "...");
	return true;
}

static void add_program_or_file(struct buffer *out, const struct run_facts *facts)
{
	if (summary_program(facts))
		buffer_add_printable(out, summary_program(facts));
	else
		add_unnamed(out, facts);
}

static void add_name_line(struct buffer *out, const struct run_facts *facts)
{
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	bool has_task = start && !text_absent(start->task_name);

	buffer_add_text(out, STYLE_STRONG);
	/* The name of the run is its task. */
	if (has_task && !summary_task(facts))
		buffer_add_printable(out, facts->run_name);
	else if (!start || text_absent(start->command) || !add_command(out, start->command))
		add_program_or_file(out, facts);
	buffer_add_text(out, STYLE_END);
	if (*facts->job_name) {
		buffer_add_text(out, ", job ");
		buffer_add_printable(out, facts->job_name);
	}
	if (has_task && summary_task(facts)) {
		buffer_add_text(out, ", task ");
		buffer_add_printable(out, start->task_name);
	}
	if (*facts->host) {
		buffer_add_text(out, ", on ");
		buffer_add_printable(out, facts->host);
	}
	buffer_add_text(out, "\n");
}

/* An end that is unknown has no colour. */
static void add_end_line(struct buffer *out, const struct run_facts *facts)
{
	bool is_known = FIRST(record_identity(facts->record), run_end) != NULL;
	bool is_csv = strcmp(facts->layout, "json") != 0 && strcmp(facts->layout, "snapshot") != 0;

	buffer_add_text(out, is_known ? STYLE_GOOD : "");
	summary_add_end(out, facts);
	buffer_add_text(out, is_known ? STYLE_END : is_csv ? "; -o FILE.jsonl does" : "");
}

static void add_page_heading(struct buffer *out, const struct run_facts *facts)
{
	bool failed = summary_has_failed(facts);

	/* A failure has the first line. */
	if (failed) {
		buffer_add_text(out, STYLE_BAD "Failed: ");
		summary_add_end(out, facts);
		if (*facts->failed_first) {
			buffer_add_text(out, "; ");
			buffer_add_printable(out, facts->failed_first);
		}
		buffer_add_text(out, STYLE_END "\n");
	}
	add_name_line(out, facts);
	add_time(out, facts->started);
	/* In a format with only time stamps, a single row covers an unknown time. */
	if (facts->wall_secs > 0) {
		add_duration(out, facts->wall_secs);
		if (!isnan(summary_tree_wall_secs(facts))) {
			buffer_add_text(out, ", and ");
			add_duration(out, facts->recorded_secs);
			buffer_add_text(out, " with its descendants");
		}
		buffer_add_text(out, ": ");
	}
	if (failed)
		buffer_add_text(out, "failed");
	else
		add_end_line(out, facts);
	buffer_add_text(out, "\n");
}

/* ---- the lines ------------------------------------------------------------------------------------------- */

struct page {
	struct buffer *out;
	const rt_summary *summary;
	const struct run_facts *facts; /* the summary's */
	enum rt_size_unit unit;
};

static void add_page_label(const struct page *page, const char *text)
{
	if (*text)
		buffer_printf(page->out, "\n  " STYLE_STRONG "%-*s" STYLE_END, LABEL_COLUMNS, text);
	else
		buffer_printf(page->out, "\n  %-*s", LABEL_COLUMNS, "");
}

static void add_page_mib(const struct page *page, double mib)
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
static void add_sparkline_of(const struct page *page, const struct time_bins *history, double most,
			     bool is_memory)
{
	double values[LINE_COLUMNS];

	/* A CSV file has memory in whole MiB, which is 0 throughout for a small job. */
	if (page->facts->samples < 4 || isnan(most) || (is_memory && !(most > 0)))
		return;
	time_bins_columns(history, history->bin_secs * (double)history->count, false, values, LINE_COLUMNS);
	add_page_label(page, "");
	add_sparkline(page->out, values, LINE_COLUMNS, most);
	buffer_add_text(page->out, STYLE_FAINT "  0 to ");
	if (is_memory) {
		add_page_mib(page, most);
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
		buffer_printf(page->out, "%.0f %%", 100 * part / whole);
}

static void add_cpu_line(const struct page *page)
{
	const struct run_facts *facts = page->facts;
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);
	struct cpu_time time = summary_cpu_time(facts);
	double mean = summary_mean_cores(facts), most = summary_max_cores(facts);

	add_page_label(page, "CPU");
	if (isnan(mean) && isnan(most)) {
		buffer_add_text(page->out, "not recorded");
		return;
	}
	summary_add_cores(page->out, facts);
	buffer_add_text(page->out, end && end->tree_cpu_at_least == 1 ? "; at least " : "; ");
	add_duration(page->out, cpu_time_total(&time));
	buffer_add_text(page->out, " of CPU time");
	if (!(cpu_time_total(&time) >= NOISE_SECS))
		return;
	buffer_add_text(page->out, ", ");
	add_share(page, time.system_secs, cpu_time_total(&time));
	buffer_add_text(page->out, " in the kernel");
	add_sparkline_of(page, &facts->cores_history, most, false);
}

/* Warns about figures with different measures, and about samples that were left out. */
static void add_memory_caveats(const struct page *page)
{
	const struct run_facts *facts = page->facts;

	if (facts->tracked && summary_mixes_memory(facts)) {
		add_page_label(page, "");
		buffer_printf(page->out, "the mean mixes samples that count differently (%s)",
			      facts->measured.sources);
	}
	if (facts->measured.disproved_samples) {
		add_page_label(page, "");
		buffer_printf(page->out, "left out: %lld sample%s of up to ",
			      (long long)facts->measured.disproved_samples,
			      facts->measured.disproved_samples == 1 ? "" : "s");
		add_page_mib(page, facts->measured.disproved_mib);
		buffer_add_text(page->out, ", which counted shared pages in each process");
	}
}

/* The measure is told where another would give another figure. */
static void add_peak_source(const struct page *page, const struct memory_peak *peak)
{
	const struct run_facts *facts = page->facts;
	double shared_often = facts->memory_rss.most, sampled = facts->memory.most;
	bool is_usual;

	if (!peak->source)
		return;
	is_usual = strcmp(peak->source, "pss") == 0 || strcmp(peak->source, "sampled") == 0;
	if (strcmp(peak->source, "largest_process") == 0) {
		if (!(peak->mib > TELLING_FACTOR * sampled) || peak->mib - sampled < TELLING_MIB)
			return;
		add_page_label(page, "");
		buffer_add_text(page->out,
				"the peak is that of the largest process; the largest sample of all is ");
		add_page_mib(page, sampled);
		return;
	}
	if (is_usual &&
	    (!(shared_often > TELLING_FACTOR * peak->mib) || shared_often - peak->mib < TELLING_MIB))
		return;
	add_page_label(page, "");
	buffer_add_text(page->out, memory_source_in_words(peak->source));
	if (!is_usual)
		return;
	buffer_add_text(page->out, "; RSS counts them in each process: ");
	add_page_mib(page, shared_often);
}

/* ", 80 % of 512 MiB (cgroup limit)". If the peak is above such a limit, the memory of the group that it counts stands for the peak. */
static void add_memory_share(const struct page *page, double peak_mib)
{
	struct binding limit = summary_memory_limit(page->facts);
	double limited = summary_limited_memory(page->facts);
	bool is_part = !(limited == peak_mib);

	if (!(limit.value > 0))
		return;
	buffer_add_text(page->out, is_part ? ", with pages that do not count against its limit" : ", ");
	if (is_part && !isnan(limited)) {
		buffer_add_text(page->out, "; its control group held ");
		add_page_mib(page, limited);
		buffer_add_text(page->out, ", ");
	}
	if (!isnan(limited))
		add_share(page, limited, limit.value);
	buffer_add_text(page->out, " of ");
	add_page_mib(page, limit.value);
	buffer_printf(page->out, " (%s)", limit.source);
}

static void add_memory_line(const struct page *page)
{
	const struct run_facts *facts = page->facts;
	struct memory_peak peak = summary_memory_peak(facts);
	const struct figure *memory = facts->tracked ? &facts->memory : &facts->host_memory;

	add_page_label(page, "Memory");
	if (isnan(peak.mib)) {
		buffer_add_text(page->out, "not recorded");
		return;
	}
	/* A CSV file has memory in whole MiB, so 0 means less than one. */
	buffer_add_text(page->out, peak.mib > 0 ? "peak " : "peak below 1 MiB");
	/* No sample has added up its processes. The only one of a short run comes when they have gone. */
	if (peak.mib > 0 && facts->tracked && isnan(facts->memory.most) &&
	    (facts->samples > 1 || facts->exited > 1))
		buffer_add_text(page->out, "at least ");
	if (peak.mib > 0)
		add_page_mib(page, peak.mib);
	if (peak.mib > 0 && !real_absent(peak.elapsed_secs)) {
		buffer_add_text(page->out, " after ");
		add_duration(page->out, peak.elapsed_secs);
	}
	add_memory_share(page, peak.mib);
	if (figure_mean(memory) > 0) {
		buffer_add_text(page->out, "; mean ");
		add_page_mib(page, figure_mean(memory));
	}
	if (facts->swap.most > 0) {
		buffer_add_text(page->out, "; swapped out ");
		add_page_mib(page, facts->swap.most);
	}
	add_peak_source(page, &peak);
	add_memory_caveats(page);
	add_sparkline_of(page, &facts->memory_history, memory->most, true);
}

/* Limits and sizes that changed while it ran. */
static void add_limit_changes(const struct page *page)
{
	CLEANUP_BUFFER struct buffer words = BUFFER(CHANGES_BYTES);

	allowances_words(&page->facts->allowances, &words);
	if (!words.length || buffer_error(&words))
		return;
	add_page_label(page, "Limits");
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

static void add_io_line(const struct page *page)
{
	const struct run_facts *facts = page->facts;
	bool job = facts->read_bytes.present;
	double read = total_of(job ? &facts->read_bytes : &facts->host_read_bytes);
	double written = job ? summary_stored_bytes(facts) : total_of(&facts->host_written_bytes);

	if (!isnan(read) || !isnan(written)) {
		add_page_label(page, "Storage");
		if (!job)
			add_at_least(page, &facts->host_read_bytes, &facts->host_written_bytes);
		add_both_ways(page, "read", read, "written", written);
		if (job && facts->cancelled_bytes.sum > 0) {
			buffer_add_text(page->out, " (and ");
			add_size(page->out, facts->cancelled_bytes.sum, page->unit);
			buffer_add_text(page->out, " in files that were deleted before they reached it)");
		}
		if (!job)
			buffer_add_text(page->out, " (whole machine)");
		if (facts->read_chars.present) {
			buffer_add_text(page->out,
					"; by read and write calls, also of pipes and the page cache: ");
			add_both_ways(page, "read", total_of(&facts->read_chars), "written",
				      total_of(&facts->written_chars));
		}
	}
	summary_disks_lines(page->out, &facts->disks, page->unit, LABEL_COLUMNS);
}

/* The unseen part, if it matters: more than 1 % of what was seen. */
static void add_bound(const struct page *page, const struct network_use *use)
{
	double unseen = use->received_bound - use->received + use->sent_bound - use->sent;

	if (isnan(unseen) && strcmp(use->source, "bound") == 0)
		buffer_add_text(page->out, "; short connections may be missing");
	if (!(unseen > 0.01 * (use->received + use->sent)))
		return;
	add_page_label(page, "");
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

static void add_network_line(const struct page *page)
{
	const struct run_facts *facts = page->facts;
	struct network_use use = summary_network(facts);
	bool has_own = use.received > 0 || use.sent > 0 || use.connections > 0;

	if (!use.source && isnan(total_of(&facts->received_bytes)) && isnan(total_of(&facts->sent_bytes)))
		return;
	add_page_label(page, "Network");
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
	add_at_least(page, &facts->received_bytes, &facts->sent_bytes);
	add_both_ways(page, "received", total_of(&facts->received_bytes), "sent",
		      total_of(&facts->sent_bytes));
	buffer_add_text(page->out, " (all processes; loopback not counted)");
}

/* Zero in some samples says nothing about those without a value. */
static bool has_unknown(const struct figure *figure)
{
	return isnan(figure->most) || figure->has_gap;
}

static void add_gpu_line(const struct page *page)
{
	const struct run_facts *facts = page->facts;
	double joules = summary_gpus_energy_joules(facts->gpus);
	bool job = facts->gpu_usage.most > 0 || facts->gpu_vram_mib.most > 0;
	const struct figure *usage = job ? &facts->gpu_usage : &facts->host_gpu_usage;
	const struct figure *vram = job ? &facts->gpu_vram_mib : &facts->host_gpu_vram_mib;

	if (!facts->gpu_count && !(usage->most > 0) && !(vram->most > 0))
		return;
	add_page_label(page, "GPU");
	if (!isnan(usage->most)) {
		buffer_add_text(page->out, "mean ");
		add_figure(page->out, figure_mean(usage));
		buffer_add_text(page->out, ", max ");
		add_figure(page->out, usage->most);
		if (facts->gpu_count)
			buffer_printf(page->out, " of %lld", (long long)facts->gpu_count);
		buffer_add_text(page->out, " busy");
	}
	if (!isnan(vram->most)) {
		buffer_add_text(page->out, isnan(usage->most) ? "memory peak " : "; memory peak ");
		add_page_mib(page, vram->most);
		if (facts->gpu_memory_mib > 0) {
			buffer_add_text(page->out, " of ");
			add_page_mib(page, facts->gpu_memory_mib);
		}
	}
	if (isnan(usage->most) && isnan(vram->most))
		buffer_add_text(page->out, "use unknown");
	if (!job)
		buffer_add_text(page->out,
				!facts->tracked ? " (whole machine)"
				: has_unknown(&facts->gpu_usage) || has_unknown(&facts->gpu_vram_mib)
					? " (whole machine; the job's part is unknown)"
					: " (whole machine; none by the job)");
	if (!isnan(joules)) {
		buffer_add_text(page->out, "; ");
		buffer_add_real(page->out, joules, joules < 100 ? 1 : 0);
		buffer_add_text(page->out, " J");
	}
	summary_gpus_lines(page->out, facts->gpus, page->unit, LABEL_COLUMNS);
}

/* A counter that began again, or could not be read for a while, leaves a gap. */
static void add_joules(const struct page *page, const struct total *energy, const char *estimated)
{
	buffer_add_text(page->out, energy->has_gap ? "at least " : estimated);
	buffer_add_real(page->out, energy->sum, energy->sum < 100 ? 1 : 0);
	buffer_add_text(page->out, " J");
}

/* The energy of GPUs is in their line. */
static void add_energy_line(const struct page *page)
{
	const struct run_facts *facts = page->facts;
	double grams = summary_carbon_grams(facts);
	/* Sockets use energy at every moment: a sum of 0 J is that of a counter which stands still. */
	bool is_known = total_of(&facts->cpu_energy_joules) > 0, any = false;

	if (!is_known && isnan(grams))
		return;
	add_page_label(page, "Energy");
	if (is_known) {
		add_separator(page, &any);
		add_joules(page, &facts->cpu_energy_joules, "");
		buffer_add_text(page->out, " by all CPU sockets (whole machine)");
	}
	if (is_known && !isnan(total_of(&facts->job_cpu_energy_joules))) {
		buffer_add_text(page->out, ", ");
		add_joules(page, &facts->job_cpu_energy_joules, "about ");
		buffer_add_text(page->out, " of it for the job, by its part of the CPU time");
	}
	if (!isnan(grams)) {
		add_separator(page, &any);
		buffer_add_text(page->out, "about ");
		add_figure(page->out, grams);
		buffer_printf(page->out, " g of CO2 at %.4g g/kWh%s", summary_carbon_factor(facts),
			      isnan(summary_gpus_energy_joules(facts->gpus)) ? "" : ", GPUs included");
	}
}

static void add_bottleneck_line(const struct page *page)
{
	const struct bottleneck *first = &page->summary->verdict.bottlenecks[0];

	add_page_label(page, "Bottleneck");
	buffer_printf(page->out, "%s: %s", first->title, first->text);
}

static void add_processes_line(const struct page *page)
{
	const struct run_end_row *end = FIRST(record_identity(page->facts->record), run_end);
	const struct run_facts *facts = page->facts;
	bool has_left = end && !count_absent(end->descendants_running) && end->descendants_running;
	size_t start;

	if (!(facts->processes.most > 1) && !(facts->threads.most > 1) && !has_left)
		return;
	add_page_label(page, "Processes");
	start = page->out->length;
	summary_add_line(page->out, facts, "Processes", page->unit);
	if (has_left)
		buffer_printf(page->out, "%s%lld still running", page->out->length > start ? ", " : "",
			      (long long)end->descendants_running);
}

static int by_phase_time(const void *a, const void *b)
{
	double left = phase_time_of(*(const struct phase *const *)a).secs;
	double right = phase_time_of(*(const struct phase *const *)b).secs;

	return (left < right) - (left > right);
}

/* A name in a column of its own: names that are too long are cut. */
static void add_phase_name(struct buffer *out, const char *name, size_t columns)
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

static void add_phase_line(const struct page *page, const struct phase *phase)
{
	CLEANUP_BUFFER struct buffer duration = BUFFER(64);
	struct phase_time time = phase_time_of(phase);

	add_phase_name(page->out, phase->name, NAME_COLUMNS);
	add_duration(&duration, time.secs);
	buffer_printf(page->out, " %12s", duration.data);
	if (page->facts->recorded_secs > 0)
		buffer_printf(page->out, " %4.0f %%", 100 * time.secs / page->facts->recorded_secs);
	if (phase->call_count > 1)
		buffer_printf(page->out, "  %zu calls", phase->call_count);
	if (time.open_calls)
		buffer_add_text(page->out, "  not closed");
}

/* A table of the longest phases: time, share of the run, calls. `regions` has them all. */
static void add_phase_lines(const struct page *page)
{
	const struct phases *phases = &page->summary->phases;
	CLEANUP_FREE const struct phase **longest =
		calloc(phases->count ? phases->count : 1, sizeof(*longest));

	if (!longest || !phases->count)
		return;
	for (size_t i = 0; i < phases->count; i++)
		longest[i] = &phases->list[i];
	qsort(longest, phases->count, sizeof(*longest), by_phase_time);
	for (size_t i = 0; i < phases->count && i < SHOWN_PHASES; i++) {
		add_page_label(page, i ? "" : "Phases");
		add_phase_line(page, longest[i]);
	}
	if (phases->count > SHOWN_PHASES) {
		add_page_label(page, "");
		buffer_printf(page->out, "and %zu more, see resource-tracker regions",
			      phases->count - SHOWN_PHASES);
	}
}

/* Of --signal-at. */
static void add_signals_line(const struct page *page)
{
	if (!*page->facts->signals.words)
		return;
	add_page_label(page, "Signals");
	buffer_add_printable(page->out, page->facts->signals.words);
}

static void add_tracker_line(const struct page *page)
{
	add_page_label(page, "Tracker");
	summary_add_line(page->out, page->facts, "Tracker", page->unit);
}

static void add_page_note(const struct page *page, int64_t count, const char *one, const char *several)
{
	if (!count)
		return;
	add_page_label(page, "Note");
	if (count == 1)
		buffer_add_text(page->out, one);
	else
		buffer_printf(page->out, several, (long long)count);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_page_notes(const struct page *page)
{
	const struct run_facts *facts = page->facts;
	const struct run_end_row *end = FIRST(record_identity(facts->record), run_end);

	add_page_note(page, facts->damage.torn_tails,
		      "the file ends in the middle of a sample, which is left out",
		      "%lld files end in the middle of a sample, which is left out");
	add_page_note(page, facts->damage.bad_lines, "one line is not a sample and is left out",
		      "%lld lines are not samples and are left out");
	add_page_note(page, facts->damage.clock_steps, "the clock was set back once during the run",
		      "the clock was set back %lld times during the run");
	if (facts->damage.hosts > 1)
		add_page_note(page, facts->damage.hosts, "",
			      "samples of %lld hosts are mixed in this file: the figures are of all of them");
	if (facts->runs > 1)
		add_page_note(page, (int64_t)facts->runs, "", "the file holds %lld runs; this is the last");
	/* The control group of the job counts it. */
	if (end && !count_absent(end->sigchld_ignored) && end->sigchld_ignored)
		add_page_note(page, 1,
			      end->tree_cpu_at_least == 0
				      ? "a process ignored SIGCHLD: the CPU time of its children is in the "
					"total alone"
				      : "a process ignored SIGCHLD: the CPU time of its children is missing "
					"from all figures",
			      "");
}
#pragma GCC diagnostic pop

void summary_add_page(struct buffer *out, const rt_summary *summary, enum rt_size_unit unit)
{
	const struct run_facts *facts = &summary->facts;
	struct page page = {out, summary, facts, unit};

	add_page_heading(out, facts);
	if (summary_not_started(facts))
		return;
	add_cpu_line(&page);
	add_memory_line(&page);
	add_limit_changes(&page);
	add_io_line(&page);
	add_network_line(&page);
	add_gpu_line(&page);
	add_energy_line(&page);
	summary_programs_line(out, &facts->programs, LABEL_COLUMNS);
	summary_waiting_lines(out, facts, LABEL_COLUMNS);
	add_bottleneck_line(&page);
	add_processes_line(&page);
	add_phase_lines(&page);
	add_signals_line(&page);
	add_tracker_line(&page);
	add_page_notes(&page);
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

/* ---- the programs as a table ---------------------------------------------------------------------- */

static void add_program_row(struct grid *grid, const struct rt_program_use *use)
{
	buffer_add_printable(grid_cell(grid), use->name);
	add_amount(grid_cell(grid), use->cpu_secs, "s");
	buffer_printf(grid_cell(grid), "%.1f %%", use->cpu_pct);
	add_amount(grid_cell(grid), use->cpu_estimated_secs, "s");
	if (use->memory_peak_mib >= 0)
		add_amount(grid_cell(grid), use->memory_peak_mib, "MiB");
	else
		grid_add_cell(grid, "-");
	if (use->process_count >= 0)
		buffer_printf(grid_cell(grid), "%lld", (long long)use->process_count);
	else
		grid_add_cell(grid, "-");
}

int rt_summary_programs_for_screen(const rt_summary *summary, int fd, const char *colour, char **ret_text)
{
	static const char *const HEADINGS[] = {"CPU time", "share", "estimated", "memory max", "processes"};
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	CLEANUP_GRID struct grid grid = {.keys = 1};
	struct rt_program_use use = {.size = sizeof use};
	struct screen screen;

	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = table_screen_of(fd, colour);
	grid_add_shrinking(&grid, "program");
	for (size_t i = 0; i < ARRAY_SIZE(HEADINGS); i++)
		grid_add_column(&grid, HEADINGS[i], true);
	for (size_t i = 0; rt_summary_program(summary, i, &use) == 0; i++)
		add_program_row(&grid, &use);
	grid_print(&grid, &out, &screen);
	return buffer_take_text(&out, ret_text);
}
