/* OTLP requests as protocol buffers (ExportMetricsServiceRequest, ExportLogsServiceRequest). Pure. */
#pragma once

#include "base/scan.h"
#include "format/otlp_resource.h"
#include "format/otlp_series.h"

/* All points of a batch, cumulative since the start of the run. Nothing for an empty batch. */
void otlp_encode_metrics(struct buffer *out, const struct otlp_resource *resource,
			 const struct otlp_batch *batch);

/*
 * The end of a run as one log record, named job.run.end, with all that run_end and its first_failure say as attributes. `last`: the run's last
 * sample; NULL or without run_end: the recording stops without an end. `figures`: the line of this run, whose figures
 * (figures/run_figures.def) become attributes, too, unless run_end has one of that name; may be empty.
 */
void otlp_encode_end(struct buffer *out, const struct otlp_resource *resource, const struct otlp_run *run,
		     const struct frame *last, struct scan figures);
