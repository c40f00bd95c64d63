/*
 * The formats of exports, a row each:
 *
 *	FORMAT(writer, name, extensions, help)
 *
 * A row is expanded into the help, the completions, the man page and the messages of `export`, the search by extension and the
 * command lines of tools/fuzz-commands. It is written by export_WRITER() in src/export/export_WRITER.c, which may serve several
 * rows.
 *
 * extensions: those of outputs that have this format without --format, with blanks between them; "" for none.
 * help: for the man page and --help, without a full stop.
 */
#pragma once

#define EXPORT_FORMATS(FORMAT) \
	FORMAT(text, "json", "json", "a list of all samples") \
	FORMAT(text, "jsonl", "jsonl ndjson", "a line for each sample") \
	FORMAT(text, "csv", "csv", "the columns that --csv-layout names") \
	FORMAT(sqlite, "sqlite", "sqlite db", \
	       "a table of samples, and one for each kind of rows, such as disk and gpu") \
	FORMAT(snapshot, "snapshot", "", \
	       "for load() of the Python package; gzip, and plain text on standard output") \
	FORMAT(snapshot, "snapshot-0.4", "", "the same for version 0.4 of the package") \
	FORMAT(gpu_tracker, "gpu_tracker", "", "its tracking file; SQLite if OUT ends in .sqlite") \
	FORMAT(series, "otlp", "", \
	       "time series of all runs in the files for databases of metrics, as requests of " \
	       "OpenTelemetry") \
	FORMAT(series, "openmetrics", "", "the same series as text of OpenMetrics") \
	FORMAT(series, "influx", "", "the same series in InfluxDB's line protocol") \
	FORMAT(jobstats, "jobstats", "", \
	       "the record of one Slurm job that jobstats and reportseff read in its AdminComment, from " \
	       "the recordings of all of its tasks") \
	FORMAT(nextflow, "nextflow", "", \
	       "the figures of a task as lines for the .command.trace that Nextflow reads") \
	FORMAT(perfetto, "perfetto", "", \
	       "a timeline for ui.perfetto.dev (Chrome's trace events): programs, counters and phases, " \
	       "each recording as a process") \
	FORMAT(ro_crate, "ro-crate", "", \
	       "ro-crate-metadata.json of a Process Run Crate, with the resourceUsage of each recording")

/* The names as "a|b", and a sentence about each. */
#define EXPORT_ALTERNATIVE(writer, name, extensions, help) "|" name
#define EXPORT_NAMES (&(EXPORT_FORMATS(EXPORT_ALTERNATIVE))[1])
#define EXPORT_SENTENCE(writer, name, extensions, help) " " name ": " help "."
#define EXPORT_SENTENCES EXPORT_FORMATS(EXPORT_SENTENCE)
