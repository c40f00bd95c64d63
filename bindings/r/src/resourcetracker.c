/*
 * The C half of the R package: .Call() on libresource-tracker and libresource-tracker-analysis.
 *
 * Rf_error() leaves a function by longjmp(). Therefore objects of the libraries are freed before an R error, or stand
 * under R_ExecWithCleanup(). A tracker is an external pointer whose protected value is the process that made it: a forked
 * child (parallel::mclapply) may collect or use the pointer, but the recording belongs to its parent.
 */
#define R_NO_REMAP
#include <errno.h>
#include <math.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <resource_tracker.h>
#include <resource_tracker_analysis.h>

#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <Rinternals.h>

/* R handles an interrupt between the slices of a wait. */
#define SLICE_SECS 0.05

static SEXP fail_call(const char *call, int error)
{
	Rf_errorcall(R_NilValue, "%s", rt_error_text(call, error));
}

static const char *text_of(SEXP text)
{
	return text == R_NilValue || !Rf_length(text) ? NULL : Rf_translateChar(STRING_ELT(text, 0));
}

/* The texts live until the .Call() returns. */
static const char **texts_of(SEXP texts)
{
	const char **list = (const char **)R_alloc((size_t)Rf_length(texts) + 1, sizeof *list);

	for (int i = 0; i < Rf_length(texts); i++)
		list[i] = Rf_translateChar(STRING_ELT(texts, i));
	list[Rf_length(texts)] = NULL;
	return list;
}

static SEXP utf8_text(void *text)
{
	return text ? Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)) : Rf_ScalarString(NA_STRING);
}

static SEXP take_text(char *text)
{
	return R_ExecWithCleanup(utf8_text, text, rt_free, text);
}

/* Returns the text of a call, or raises its problem. */
static SEXP text_or_problem(int error, char *text, const struct rt_problem *problem)
{
	if (error < 0)
		Rf_errorcall(R_NilValue, "%s", problem->text[0] ? problem->text : rt_error_text(NULL, error));
	return take_text(text);
}

/* ---- trackers -------------------------------------------------------------------------------------- */

static rt_tracker *usable_tracker(SEXP handle)
{
	if (TYPEOF(handle) != EXTPTRSXP || !R_ExternalPtrAddr(handle))
		Rf_errorcall(R_NilValue, "the tracker is closed, or was saved by another R session");
	if (Rf_asInteger(R_ExternalPtrProtected(handle)) != getpid())
		Rf_errorcall(R_NilValue, "the tracker belongs to the process that made it, not to its fork");
	return R_ExternalPtrAddr(handle);
}

static void close_handle(SEXP handle)
{
	rt_tracker *tracker = R_ExternalPtrAddr(handle);

	if (!tracker || Rf_asInteger(R_ExternalPtrProtected(handle)) != getpid())
		return;
	R_ClearExternalPtr(handle);
	rt_close(tracker);
}

static int open_tracker(SEXP names, SEXP values, SEXP apart, rt_tracker **ret_tracker, char *ret_message,
			size_t size)
{
	const char **name = texts_of(names), **value = texts_of(values);
	rt_config *config;
	int error = rt_config_new(&config);

	if (error < 0) {
		snprintf(ret_message, size, "%s", rt_error_text("rt_config_new", error));
		return error;
	}
	for (int i = 0; name[i] && error == 0; i++)
		error = rt_config_set(config, name[i], value[i]);
	if (error == 0)
		error = rt_config_set_history(config, INT64_MAX, NULL);
	rt_config_set_apart(config, Rf_asLogical(apart));
	if (error == 0)
		error = rt_open(config, ret_tracker);
	if (error < 0)
		snprintf(ret_message, size, "%s", rt_config_message(config));
	rt_config_free(config);
	return error;
}

/* Opens a tracker and starts its thread. The handle exists before, so that R cannot run out of memory afterwards. */
static SEXP begin(SEXP names, SEXP values, SEXP apart)
{
	SEXP owner = PROTECT(Rf_ScalarInteger(getpid())), handle;
	rt_tracker *tracker = NULL;
	char message[1024];
	int error;

	handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, owner));
	R_RegisterCFinalizerEx(handle, close_handle, TRUE);
	if (open_tracker(names, values, apart, &tracker, message, sizeof message) < 0)
		Rf_errorcall(R_NilValue, "%s", message);
	R_SetExternalPtrAddr(handle, tracker);
	error = rt_start(tracker);
	if (error < 0)
		fail_call("rt_start", error);
	UNPROTECT(2);
	return handle;
}

/*
 * From now on, processes whose parent has ended become children of R instead of init. The workers of parallel, future and others
 * are such processes: the shell that starts them ends at once.
 */
static SEXP adopt_orphans(void)
{
	return Rf_ScalarLogical(prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) == 0);
}

static SEXP end(SEXP handle, SEXP exit_code)
{
	rt_tracker *tracker = usable_tracker(handle);
	int code = Rf_asInteger(exit_code), error;

	error = code == NA_INTEGER ? rt_stop(tracker)
				   : rt_stop_with(tracker, RT_END_EXIT, (code & 0xFF) << 8);
	return error < 0 && error != -EALREADY ? fail_call("rt_stop_with", error) : R_NilValue;
}

static SEXP next_warning(SEXP handle)
{
	char text[1024];

	return rt_next_warning(usable_tracker(handle), text, sizeof text) < 0 ? R_NilValue : utf8_text(text);
}

static double now_secs(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static SEXP wait_for_samples(SEXP handle, SEXP count, SEXP timeout_secs)
{
	double end_secs = now_secs() + Rf_asReal(timeout_secs), left_secs;
	int error;

	do {
		left_secs = fmax(end_secs - now_secs(), 0);
		error = rt_wait_for_samples(usable_tracker(handle), (int64_t)Rf_asReal(count),
					    fmin(left_secs, SLICE_SECS));
		R_CheckUserInterrupt();
	} while (error == -ETIMEDOUT && left_secs > 0);
	if (error < 0 && error != -ETIMEDOUT && error != -ESHUTDOWN)
		fail_call("rt_wait_for_samples", error);
	return Rf_ScalarLogical(error == 0);
}

static SEXP sample_count(SEXP handle)
{
	int64_t count = rt_history_count(usable_tracker(handle), NULL, NULL);

	return count < 0 ? fail_call("rt_history_count", (int)count) : Rf_ScalarInteger((int)count);
}

static SEXP output_path(SEXP handle)
{
	return utf8_text((char *)rt_output_path(usable_tracker(handle), 0));
}

/* Absent values are NaN in the history, and NA in R. A sample that was taken since the count is left out. */
static SEXP column_values(rt_tracker *tracker, const char *layout, const char *heading, int64_t first,
			  int64_t count)
{
	SEXP column = PROTECT(Rf_allocVector(REALSXP, count));
	double *values = REAL(column);
	ssize_t got = rt_history_read(tracker, layout, heading, first, (size_t)count, values);

	if (got < 0)
		fail_call("rt_history_read", (int)got);
	for (ssize_t i = 0; i < count; i++)
		if (i >= got || isnan(values[i]))
			values[i] = NA_REAL;
	UNPROTECT(1);
	return column;
}

static SEXP table_of(SEXP handle, SEXP layout_name)
{
	rt_tracker *tracker = usable_tracker(handle);
	const char *layout = text_of(layout_name);
	int64_t first = 0, count = rt_history_count(tracker, &first, NULL);
	int width = 0;
	SEXP table, names;

	if (count < 0)
		fail_call("rt_history_count", (int)count);
	while (rt_csv_heading(layout, (size_t)width))
		width++;
	table = PROTECT(Rf_allocVector(VECSXP, width));
	names = PROTECT(Rf_allocVector(STRSXP, width));
	for (int i = 0; i < width; i++) {
		const char *heading = rt_csv_heading(layout, (size_t)i);

		SET_STRING_ELT(names, i, Rf_mkChar(heading));
		SET_VECTOR_ELT(table, i, column_values(tracker, layout, heading, first, count));
	}
	Rf_setAttrib(table, R_NamesSymbol, names);
	UNPROTECT(2);
	return table;
}

/* ---- the newest sample ----------------------------------------------------------------------------- */

static SEXP text_or_na(const char *text)
{
	return text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING;
}

static void set_row(SEXP table, R_xlen_t row, const struct rt_metric_info *info,
		    const struct rt_snapshot_entry *entry)
{
	const struct rt_value *value = &entry->value;
	bool counted = value->type == RT_TYPE_COUNT || value->type == RT_TYPE_FLAG;

	SET_STRING_ELT(VECTOR_ELT(table, 0), row, Rf_mkChar(info->name));
	SET_STRING_ELT(VECTOR_ELT(table, 1), row, text_or_na(entry->key));
	REAL(VECTOR_ELT(table, 2))
	[row] = value->type == RT_TYPE_REAL ? value->real : counted ? (double)value->count : NA_REAL;
	SET_STRING_ELT(VECTOR_ELT(table, 3), row,
		       text_or_na(value->type == RT_TYPE_TEXT ? value->text : NULL));
	SET_STRING_ELT(VECTOR_ELT(table, 4), row, text_or_na(info->unit));
	SET_STRING_ELT(VECTOR_ELT(table, 5), row,
		       text_or_na(value->type == RT_TYPE_NONE ? rt_reason(value->reason) : NULL));
}

static SEXP snapshot_rows(void *snapshot)
{
	static const char *const NAMES[] = {"metric", "key", "value", "text", "unit", "reason", ""};
	struct rt_snapshot_entry entry = {.size = sizeof entry};
	struct rt_metric_info info = {.size = sizeof info};
	R_xlen_t count = 0;
	SEXP table = PROTECT(Rf_mkNamed(VECSXP, (const char **)NAMES));

	while (rt_snapshot_each(snapshot, &entry) > 0)
		count++;
	for (int i = 0; i < Rf_length(table); i++)
		SET_VECTOR_ELT(table, i, Rf_allocVector(i == 2 ? REALSXP : STRSXP, count));
	entry = (struct rt_snapshot_entry){.size = sizeof entry};
	for (R_xlen_t row = 0; row < count && rt_snapshot_each(snapshot, &entry) > 0; row++) {
		rt_metric_get_info(entry.metric, &info);
		set_row(table, row, &info, &entry);
	}
	UNPROTECT(1);
	return table;
}

static void free_snapshot(void *snapshot)
{
	rt_snapshot_free(snapshot);
}

static SEXP newest_sample(SEXP handle)
{
	rt_snapshot *snapshot = NULL;
	int error = rt_snapshot_take(usable_tracker(handle), &snapshot);

	if (error < 0)
		fail_call("rt_snapshot_take", error);
	return R_ExecWithCleanup(snapshot_rows, snapshot, free_snapshot, snapshot);
}

/* ---- recordings ------------------------------------------------------------------------------------ */

static SEXP stats_json(SEXP paths)
{
	struct rt_problem problem = {""};
	rt_stats *stats = NULL;
	size_t count;
	const struct rt_stat_spec *specs = rt_stats_default_specs(&count);
	char *text = NULL;
	int error = rt_stats_read_record(texts_of(paths), (size_t)Rf_length(paths), specs, count, &stats,
					 &problem);

	if (error >= 0)
		error = rt_stats_to_json(stats, &text);
	rt_stats_free(stats);
	return text_or_problem(error, text, &problem);
}

static SEXP summary_of(SEXP paths, SEXP as_json)
{
	struct rt_problem problem = {""};
	rt_summary *summary = NULL;
	char *text = NULL;
	int error = rt_summary_read(texts_of(paths), (size_t)Rf_length(paths), &summary, &problem);

	if (error >= 0)
		error = Rf_asLogical(as_json) ? rt_summary_to_json(summary, &text)
					      : rt_summary_to_text(summary, RT_SIZE_AUTO, &text);
	rt_summary_free(summary);
	return text_or_problem(error, text, &problem);
}

static int advice_text(rt_advice *advice, const char *form, char **ret_text, struct rt_problem *ret_problem)
{
	if (!strcmp(form, "json"))
		return rt_advice_to_json(advice, ret_text);
	if (!strcmp(form, "text"))
		return rt_advice_to_text(advice, ret_text);
	return rt_advice_to_form(advice, form, ret_text, ret_problem);
}

static SEXP advice_of(SEXP paths, SEXP form, SEXP force, SEXP policy, SEXP input_bytes, SEXP attempt,
		      SEXP catalogue, SEXP filters)
{
	struct rt_recommend_options options = {.size = sizeof options,
					       .force = Rf_asLogical(force),
					       .policy = (enum rt_policy)Rf_asInteger(policy),
					       .input_bytes = Rf_asReal(input_bytes),
					       .attempt = (unsigned)Rf_asInteger(attempt)};
	const char **files = texts_of(paths), **filter = texts_of(filters), *list = text_of(catalogue),
		   *wanted = text_of(form);
	struct rt_problem problem = {""};
	rt_advice *advice = NULL;
	char *text = NULL;
	int error = rt_recommend(files, (size_t)Rf_length(paths), &options, &advice, &problem);

	if (error >= 0 && list)
		error = rt_advice_find_server(advice, list, filter, (size_t)Rf_length(filters), &problem);
	if (error >= 0)
		error = advice_text(advice, wanted, &text, &problem);
	rt_advice_free(advice);
	return text_or_problem(error, text, &problem);
}

static SEXP write_report(SEXP path, SEXP output, SEXP integration, SEXP failed, SEXP price, SEXP history,
			 SEXP catalogue, SEXP instance)
{
	struct rt_report_options options = {.size = sizeof options,
					    .integration = text_of(integration),
					    .failed = Rf_asLogical(failed),
					    .succeeded = !Rf_asLogical(failed),
					    .usd_per_hour = Rf_asReal(price),
					    .history = texts_of(history),
					    .history_count = (size_t)Rf_length(history)};
	struct rt_report_prices prices = {
		.size = sizeof prices, .catalogue = text_of(catalogue), .instance = text_of(instance)};
	struct rt_compared_run run = {text_of(path), text_of(path)};
	struct rt_problem problem = {""};

	return text_or_problem(rt_report_runs(&run, 1, text_of(output), &options, &prices, &problem), NULL,
			       &problem);
}

static SEXP discover_json(SEXP cloud)
{
	char *text = NULL;
	int error = rt_discover(
		RT_DISCOVER_PYTHON | (Rf_asLogical(cloud) ? RT_DISCOVER_CLOUD : RT_DISCOVER_HOST), 0, &text);

	return error < 0 ? fail_call("rt_discover", error) : take_text(text);
}

#define CALL(function, count) \
	{ \
		"rt_" #function, (DL_FUNC)(void (*)(void))(function), count \
	}

attribute_visible void R_init_resourcetracker(DllInfo *library)
{
	static const R_CallMethodDef CALLS[] = {
		CALL(begin, 3),         CALL(end, 2),
		CALL(next_warning, 1),  CALL(wait_for_samples, 3),
		CALL(sample_count, 1),  CALL(output_path, 1),
		CALL(table_of, 2),      CALL(newest_sample, 1),
		CALL(stats_json, 1),    CALL(summary_of, 2),
		CALL(advice_of, 8),     CALL(write_report, 8),
		CALL(discover_json, 1), CALL(adopt_orphans, 0),
		{NULL, NULL, 0},
	};

	R_registerRoutines(library, NULL, CALLS, NULL, NULL);
	R_useDynamicSymbols(library, FALSE);
	R_forceSymbols(library, TRUE);
}
