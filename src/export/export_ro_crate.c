/*
 * Writes recordings as the metadata file of an RO-Crate (Process Run Crate 0.5): each is an action with its times, its tool, how it ended,
 * and resourceUsage, the term of Provenance Run Crate for what it used.
 *
 * The actions are #run-1, #run-2, ..., so that the list of them can stand behind all, as an object of the graph may.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "export/export.h"
#include "export/output.h"
#include "metric/typed_rows.h"
#include "verdict/run_summary.h"

enum { CRATE_CEILING = 64 << 20 };

#define FIGURES_URL "https://pypi.org/project/resource-tracker/#"
#define UNITS_URL "https://qudt.org/vocab/unit/"

static const struct crate_figure {
	const char *group, *name, *unit;
	int decimals;
} CRATE_FIGURES[] = {
	{"time", "wall_secs", "SEC", 3},          {"time", "cpu_secs", "SEC", 3},
	{"memory", "peak_mib", "MebiBYTE", 3},    {"memory", "mean_mib", "MebiBYTE", 3},
	{"io", "read_bytes", "BYTE", 0},          {"io", "written_bytes", "BYTE", 0},
	{"io", "read_chars", "BYTE", 0},          {"io", "written_chars", "BYTE", 0},
	{"gpu", "memory_max_mib", "MebiBYTE", 3},
};

struct crate_writer {
	const struct export_job *job;
	struct output output;
	struct buffer text;
	struct json_writer json;
	char **tools; /* their names */
	size_t tool_count;
	int64_t bad_lines;
};

static void crate_writer_done(struct crate_writer *writer)
{
	for (size_t i = 0; i < writer->tool_count; i++)
		free(writer->tools[i]);
	free(writer->tools);
	output_close(&writer->output);
	buffer_done(&writer->text);
}

static void add_crate_text(struct json_writer *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text(json, text);
}

/* {"@id": "#run-2"}, or "#run-2-memory.peak_mib" of a figure. */
static void write_crate_id(struct json_writer *json, const char *kind, size_t number,
			   const struct crate_figure *figure)
{
	char id[120];

	snprintf(id, sizeof(id), "#%s-%zu%s%s%s%s", kind, number, figure ? "-" : "",
		 figure ? figure->group : "", figure ? "." : "", figure ? figure->name : "");
	add_crate_text(json, "@id", id);
}

static void add_crate_link(struct json_writer *json, const char *kind, size_t number,
			   const struct crate_figure *figure)
{
	json_open(json, '{');
	write_crate_id(json, kind, number, figure);
	json_close(json, '}');
}

static void add_crate_url(struct json_writer *json, const char *key, const char *url)
{
	json_key(json, key);
	json_open(json, '{');
	add_crate_text(json, "@id", url);
	json_close(json, '}');
}

static void add_crate_time(struct json_writer *json, const char *key, double moment)
{
	time_t secs = fabs(moment) < 1e11 ? (time_t)floor(moment) : 0;
	char text[64], whole[64];
	struct tm parts;

	if (!(fabs(moment) < 1e11) || !gmtime_r(&secs, &parts) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts))
		return;
	snprintf(whole, sizeof(whole), "%s.%03d+00:00", text, (int)(1000 * (moment - floor(moment))));
	add_crate_text(json, key, whole);
}

/* The number of a tool from 1, or 0 without memory. */
static size_t crate_tool(struct crate_writer *writer, const char *name)
{
	char **tools;

	for (size_t i = 0; i < writer->tool_count; i++)
		if (strcmp(writer->tools[i], name) == 0)
			return i + 1;
	tools = reallocarray(writer->tools, writer->tool_count + 1, sizeof(*tools));
	if (!tools)
		return 0;
	writer->tools = tools;
	tools[writer->tool_count] = strdup(name);
	return tools[writer->tool_count] ? ++writer->tool_count : 0;
}

/* An end that is not recorded is that of an action which goes on, as far as is known. */
static void add_crate_end(struct json_writer *json, const struct run_facts *facts)
{
	bool failed = summary_has_failed(facts);

	add_crate_text(json, "actionStatus",
		       failed ? "http://schema.org/FailedActionStatus"
		       : FIRST(record_identity(facts->record), run_end)
			       ? "http://schema.org/CompletedActionStatus"
			       : "http://schema.org/ActiveActionStatus");
	if (failed && *facts->end_words)
		add_crate_text(json, "error", facts->end_words);
}

static void add_crate_figures(struct json_writer *json, const rt_summary *summary, size_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(CRATE_FIGURES); i++) {
		const struct crate_figure *figure = &CRATE_FIGURES[i];
		double value = export_figure(summary, figure->group, figure->name);
		char text[120];

		if (!isfinite(value))
			continue;
		json_open(json, '{');
		write_crate_id(json, "run", number, figure);
		add_crate_text(json, "@type", "PropertyValue");
		snprintf(text, sizeof(text), "%s.%s", figure->group, figure->name);
		add_crate_text(json, "name", text);
		snprintf(text, sizeof(text), FIGURES_URL "%s.%s", figure->group, figure->name);
		add_crate_text(json, "propertyID", text);
		snprintf(text, sizeof(text), UNITS_URL "%s", figure->unit);
		add_crate_text(json, "unitCode", text);
		snprintf(text, sizeof(text), "%.*f", figure->decimals, value);
		add_crate_text(json, "value", text);
		json_close(json, '}');
	}
}

static void add_crate_action(struct crate_writer *writer, const rt_summary *summary, size_t number,
			     size_t tool)
{
	const struct run_facts *facts = &summary->facts;
	const struct run_start_row *start = FIRST(record_identity(facts->record), run_start);
	const char *task = summary_task(facts);
	struct json_writer *json = &writer->json;
	CLEANUP_BUFFER struct buffer name = BUFFER(CRATE_CEILING), words = BUFFER(CRATE_CEILING);

	buffer_add_text(&name, facts->run_name);
	if (task && *task)
		buffer_printf(&name, " (%s)", task);
	buffer_add_char(&name, '\0');
	json_open(json, '{');
	write_crate_id(json, "run", number, NULL);
	add_crate_text(json, "@type", "CreateAction");
	add_crate_text(json, "name", name.data);
	if (start && !text_absent(start->command)) {
		add_command_words(&words, start->command);
		buffer_add_char(&words, '\0');
		add_crate_text(json, "description", words.data);
	}
	if (start && !text_absent(start->run_id))
		add_crate_text(json, "identifier", start->run_id);
	add_crate_time(json, "startTime", facts->started);
	add_crate_time(json, "endTime",
		       facts->recorded_secs > 0 ? facts->started + facts->recorded_secs : facts->ended);
	json_key(json, "instrument");
	add_crate_link(json, "tool", tool, NULL);
	add_crate_end(json, facts);
	json_key(json, "resourceUsage");
	json_open(json, '[');
	for (size_t i = 0; i < ARRAY_SIZE(CRATE_FIGURES); i++)
		if (isfinite(export_figure(summary, CRATE_FIGURES[i].group, CRATE_FIGURES[i].name)))
			add_crate_link(json, "run", number, &CRATE_FIGURES[i]);
	json_close(json, ']');
	json_close(json, '}');
}

static int write_crate_run(struct crate_writer *writer, size_t index)
{
	CLEANUP_SUMMARY rt_summary *summary = NULL;
	int result = rt_summary_read(&writer->job->paths[index], 1, &summary, writer->job->problem);
	size_t tool = result == 0 ? crate_tool(writer, summary->facts.run_name) : 0;

	if (result < 0)
		return result;
	if (!tool)
		return problem_set(writer->job->problem, -ENOMEM, "out of memory");
	writer->bad_lines += record_damage(summary->facts.record).bad_lines;
	add_crate_action(writer, summary, index + 1, tool);
	add_crate_figures(&writer->json, summary, index + 1);
	output_write(&writer->output, &writer->text);
	return 0;
}

/* The crate itself, its tools and the profile. */
static void add_crate_root(struct crate_writer *writer)
{
	static const char PROFILE[] = "https://w3id.org/ro/wfrun/process/0.5";
	struct json_writer *json = &writer->json;

	for (size_t i = 0; i < writer->tool_count; i++) {
		json_open(json, '{');
		write_crate_id(json, "tool", i + 1, NULL);
		add_crate_text(json, "@type", "SoftwareApplication");
		add_crate_text(json, "name", writer->tools[i]);
		json_close(json, '}');
	}
	json_open(json, '{');
	add_crate_text(json, "@id", "ro-crate-metadata.json");
	add_crate_text(json, "@type", "CreativeWork");
	add_crate_url(json, "conformsTo", "https://w3id.org/ro/crate/1.1");
	add_crate_url(json, "about", "./");
	json_close(json, '}');
	json_open(json, '{');
	add_crate_text(json, "@id", PROFILE);
	add_crate_text(json, "@type", "CreativeWork");
	add_crate_text(json, "name", "Process Run Crate");
	add_crate_text(json, "version", "0.5");
	json_close(json, '}');
	json_open(json, '{');
	add_crate_text(json, "@id", "./");
	add_crate_text(json, "@type", "Dataset");
	add_crate_text(json, "name", "Resource use of recorded runs");
	add_crate_text(json, "description",
		       "What each run used of the machine, as resource-tracker " RT_VERSION " recorded it");
	add_crate_time(json, "datePublished", (double)time(NULL));
	add_crate_text(json, "license", "unknown: recordings tell none"); /* a crate has to have one */
	add_crate_url(json, "conformsTo", PROFILE);
	json_key(json, "mentions");
	json_open(json, '[');
	for (size_t i = 0; i < writer->job->path_count; i++)
		add_crate_link(json, "run", i + 1, NULL);
	json_close(json, ']');
	json_close(json, '}');
}

int export_ro_crate(const struct export_job *job)
{
	__attribute__((cleanup(crate_writer_done))) struct crate_writer writer = {
		.job = job, .output = {.fd = -1}, .text = BUFFER(CRATE_CEILING)};
	int result = output_open(&writer.output, job->output, is_gzip_name(job->output), job->problem);

	writer.json = JSON_WRITER(&writer.text);
	if (result < 0)
		return result;
	json_open(&writer.json, '{');
	json_key(&writer.json, "@context");
	json_open(&writer.json, '[');
	json_text(&writer.json, "https://w3id.org/ro/crate/1.1/context");
	json_text(&writer.json, "https://w3id.org/ro/terms/workflow-run/context");
	json_close(&writer.json, ']');
	json_key(&writer.json, "@graph");
	json_open(&writer.json, '[');
	for (size_t i = 0; i < job->path_count && result == 0; i++)
		result = write_crate_run(&writer, i);
	if (result < 0)
		return result;
	add_crate_root(&writer);
	json_close(&writer.json, ']');
	json_close(&writer.json, '}');
	buffer_add_char(&writer.text, '\n');
	output_write(&writer.output, &writer.text);
	result = output_finish(&writer.output, job->problem);
	return result < 0 ? result : export_tell_damage(job, 0, writer.bad_lines);
}
