/*
 * Reads lines of runs (history/run_line.h) from a file, plain or gzip, in constant memory.
 *
 * A reader of 100,000 lines wants few of their ninety keys: the values are found in one pass and stay text until
 * they are asked for. A line that is damaged, or of a newer schema, is counted and left out.
 */
#pragma once

#include "base/scan.h"
#include "figures/run_figures.h"
#include "format/json_scan.h"
#include "record/problem.h"
#include "record/source.h"

/* The keys that readers use beside those of figures, which go by enum run_figure_id. A line may lack any of them. */
#define RUN_KEYS(KEY) \
	KEY(schema) \
	KEY(id) \
	KEY(outcome) \
	KEY(name) \
	KEY(task) \
	KEY(host) \
	KEY(user) \
	KEY(attempt) \
	KEY(rank) \
	KEY(tags) \
	KEY(job_name) \
	KEY(scheduler) \
	KEY(scheduler_job) \
	KEY(cores_asked) \
	KEY(memory_asked_mib) \
	KEY(tasks) \
	KEY(nodes) \
	KEY(memory_needed_mib) \
	KEY(memory_kernel_mib) \
	KEY(oom_had_mib) \
	KEY(oom_next_mib) \
	KEY(input_bytes) \
	KEY(input_source) \
	KEY(cores_needed) \
	KEY(says_little) \
	KEY(cpu_model)
enum run_key {
	RUN_AFTER_FIGURES = RUN_FIGURE_COUNT - 1,
#define RUN_KEY_NAME(key) RUN_##key,
	RUN_KEYS(RUN_KEY_NAME) RUN_KEY_COUNT
};

enum { RUN_LINE_NEWEST_SCHEMA = 1, RUN_KNOWN_KEYS = 512 };

struct run_value {
	enum json_kind kind; /* VALUE_NULL: absent; VALUE_OTHER: an object or list, whose text is `raw` */
	struct scan raw;
};

/* A key that an earlier line had, at the place of its hash. */
struct run_known_key {
	char text[38];        /* with its quotes and the colon */
	unsigned char length; /* of all that. 0: no key has this place */
	unsigned short key;   /* RUN_KEY_COUNT: unused */
	unsigned short next;  /* the place of the key behind it in the last line that had both */
};

/* Lines of files of runs that say nothing to this program. */
struct lines_left_out {
	size_t damaged, newer;
	double newest_schema; /* of the newer lines */
};

struct run_lines {
	struct source source;
	struct run_value values[RUN_KEY_COUNT]; /* valid until the next line */
	size_t read;                            /* lines */
	struct lines_left_out left_out;
	struct run_known_key known[RUN_KNOWN_KEYS];
	struct run_known_key begin; /* the place before the first key */
};

/* Whether a file begins with the line of a run. "-" and files that cannot be read do not. */
bool is_file_of_runs(const char *path);

/* "-" is standard input. The memory is about 26 KiB. run_lines_free() closes and frees it. */
int run_lines_new(struct run_lines **ret_lines, const char *path, struct rt_problem *ret_problem);
void run_lines_free(struct run_lines *lines); /* NULL is allowed. */
/*
 * The result of a file: `result` is that of the last run_lines_next(). -ENODATA: it has lines, and none is a run's.
 */
int run_lines_finish(const struct run_lines *lines, int result, const char *path,
		     struct rt_problem *ret_problem);

static inline void run_lines_cleanup(struct run_lines **lines)
{
	run_lines_free(*lines);
}
#define CLEANUP_RUN_LINES __attribute__((cleanup(run_lines_cleanup)))

/* Adds the lines of one file to the sum of several. */
void lines_left_out_add(struct lines_left_out *sum, const struct lines_left_out *more);
/* "1 damaged line, and 2 lines of schema 9 (this program knows ...)". Nothing if no line was left out. */
void lines_left_out_text(struct buffer *out, const struct lines_left_out *lines);

/* Reads the next whole line of a known schema: 1, 0 at the end, or a negative errno. */
int run_lines_next(struct run_lines *lines);

/* Reads one line that the caller has. Its text must outlive the values. -EBADMSG: it is not a run's. */
int run_lines_read_text(struct run_lines *ret_lines, const char *text, size_t length);

/* NaN: absent, or no number */
double run_real(const struct run_lines *lines, unsigned key);
/* With the descendants that the tracker waited for. NaN: unknown */
double run_whole_secs(const struct run_lines *lines);
/* The text with its escapes, or empty if it is absent. */
struct scan run_text(const struct run_lines *lines, unsigned key);
bool run_text_is(const struct run_lines *lines, unsigned key, const char *text);
/* A text in a map, such as a tag, or false if it is absent. */
bool run_member(const struct run_lines *lines, unsigned key, const char *name, struct scan *ret_text);
