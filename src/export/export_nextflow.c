/*
 * Writes the figures of a run as the lines of .command.trace, from which Nextflow takes the columns of its trace, report and timeline.
 *
 * If two lines have one name, Nextflow takes the last. So these can be added behind its own, and a figure that is unknown here has no
 * line. Percentages are in tenths, memory in KiB. As in its own lines, rss is the peak as well.
 */
#include <math.h>

#include "base/cleanup.h"
#include "export/export.h"
#include "export/output.h"
#include "metric/typed_rows.h"
#include "verdict/run_summary.h"

enum { TRACE_CEILING = 64 << 10 };

static void add_trace_line(struct buffer *out, const char *name, double value)
{
	if (isfinite(value) && value >= 0 && value < 9e18)
		buffer_printf(out, "%s=%.0f\n", name, value);
}

static void add_trace_lines(struct buffer *out, const rt_summary *summary)
{
	const struct run_start_row *start = FIRST(record_identity(summary->facts.record), run_start);
	double wall_secs = summary->facts.recorded_secs > 0 ? summary->facts.recorded_secs : (double)NAN,
	       peak_mib = export_figure(summary, "memory", "peak_mib");

	buffer_add_text(out, "nextflow.trace/v2\n");
	add_trace_line(out, "realtime", 1000 * wall_secs);
	add_trace_line(out, "%cpu", 1000 * export_figure(summary, "time", "cpu_secs") / wall_secs);
	add_trace_line(out, "%mem", start ? 1000 * peak_mib / start->memory_total_mib : (double)NAN);
	add_trace_line(out, "rss", 1024 * peak_mib);
	add_trace_line(out, "peak_rss", 1024 * peak_mib);
	add_trace_line(out, "rchar", export_figure(summary, "io", "read_chars"));
	add_trace_line(out, "wchar", export_figure(summary, "io", "written_chars"));
	add_trace_line(out, "read_bytes", export_figure(summary, "io", "read_bytes"));
	add_trace_line(out, "write_bytes", export_figure(summary, "io", "written_bytes"));
	add_trace_line(out, "vol_ctxt", export_figure(summary, "waiting", "voluntary_switches"));
	add_trace_line(out, "inv_ctxt", export_figure(summary, "waiting", "involuntary_switches"));
}

int export_nextflow(const struct export_job *job)
{
	__attribute__((cleanup(output_close))) struct output output = {.fd = -1};
	CLEANUP_BUFFER struct buffer text = BUFFER(TRACE_CEILING);
	CLEANUP_SUMMARY rt_summary *summary = NULL;
	int result = rt_summary_read(job->paths, job->path_count, &summary, job->problem);

	if (result == 0)
		result = output_open(&output, job->output, is_gzip_name(job->output), job->problem);
	if (result < 0)
		return result;
	add_trace_lines(&text, summary);
	output_write(&output, &text);
	result = output_finish(&output, job->problem);
	return result < 0 ? result
			  : export_tell_damage(job, 0, record_damage(summary->facts.record).bad_lines);
}
