/* Fills a run from a recording. See feed.h. */
#include "live/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_lock.h"
#include "metric/typed_rows.h"
#include "record/reader.h"

enum { SAMPLES_AT_ONCE = 2000, SILENT_WITHOUT_LOCK_SECS = 3600, SILENT_SECS = 10 };
#define LOOK_NS (2 * NSEC_PER_SEC)

int feed_begin(struct feed *ret_feed, const char *path, bool is_pipe, const char *name, unsigned number,
	       int64_t now_ns)
{
	*ret_feed = (struct feed){.path = strdup(path), .is_pipe = is_pipe};
	if (!ret_feed->path)
		return -ENOMEM;
	run_begin(&ret_feed->run, name, number, now_ns);
	return 0;
}

void feed_done(struct feed *feed)
{
	record_close(feed->record);
	run_done(&feed->run);
	free(feed->path);
	*feed = (struct feed){0};
}

/*
 * Whether a recorder may still write to it. A file whose lock cannot tell (another machine, a copy that grows) counts as live
 * for an hour after its last byte.
 */
static bool may_grow(const struct feed *feed)
{
	CLEANUP_CLOSE int fd = -1;
	struct stat status;

	if (feed->is_pipe)
		return true;
	fd = open(feed->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status) < 0)
		return false;
	if (!S_ISREG(status.st_mode))
		return true;
	return is_locked_by_writer(fd, LOCK_SH) || time(NULL) - status.st_mtime < SILENT_WITHOUT_LOCK_SECS;
}

/* Whether its writer has gone. One that takes no lock, such as a copy that grows, is given some time between its writes. */
static bool is_abandoned(const struct feed *feed)
{
	struct stat status;
	CLEANUP_CLOSE int fd =
		feed->is_pipe ? -1 : open(feed->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (feed->is_pipe)
		return false;
	if (fd < 0 || fstat(fd, &status) < 0)
		return true;
	return !is_locked_by_writer(fd, LOCK_SH) &&
	       (double)(time(NULL) - status.st_mtime) > fmax(SILENT_SECS, 5 * feed->run.interval_secs);
}

/* Returns 1 if there is a record to read now, 0 if nothing has been written yet, or a negative errno. */
static int open_record(struct feed *feed, struct rt_problem *problem)
{
	struct record_options options = {.follows = may_grow(feed)};
	const char *paths[] = {feed->path};
	int r;

	if (feed->record)
		return 1;
	moment_want(&options.wanted);
	metric_set_add_kind(&options.wanted, ROW_run_start);
	metric_set_add_kind(&options.wanted, ROW_run_end);
	metric_set_add_kind(&options.wanted, ROW_run_start_scheduler);
	metric_set_add_kind(&options.wanted, ROW_signal_at);
	metric_set_add_kind(&options.wanted, ROW_wait);
	r = record_open(paths, 1, &options, &feed->record, problem);
	if (r == -ENODATA && options.follows)
		return 0;
	return r < 0 ? r : 1;
}

/* Once a run. Its first sample has its identity. */
static void ask_history(struct feed *feed, const struct frame *frame)
{
	const char *job_name = frame->sample->job_name;

	if (feed->asked == feed->run.run_index + 1 || feed->run.is_machine)
		return;
	feed->asked = feed->run.run_index + 1;
	usual_time_find(feed->record, text_absent(job_name) ? NULL : job_name,
			feed->run.pid ? feed->run.pid : no_count(ABSENT_NOT_GIVEN), &feed->run.usual);
}

static int read_fed_samples(struct feed *feed, int64_t now_ns, struct rt_problem *problem)
{
	const struct frame *frame;
	int count = 0, r = 1;

	while (count < SAMPLES_AT_ONCE && (r = record_next(feed->record, &frame)) > 0) {
		r = run_take(&feed->run, frame, record_identity(feed->record), record_run(feed->record),
			     record_interval_secs(feed->record));
		if (r < 0)
			return problem_set(problem, r, "out of memory");
		feed->run.heard_ns = now_ns;
		ask_history(feed, frame);
		count++;
	}
	if (r < 0) {
		if (problem)
			*problem = *record_problem(feed->record);
		return r;
	}
	return count;
}

/* Looks whether the recorder of a silent run is still there: at once, and later from time to time. */
static void look_for_recorder(struct feed *feed, int64_t now_ns)
{
	double interval = isnan(feed->run.interval_secs) ? 1 : feed->run.interval_secs;
	bool is_first = !feed->looked_ns;

	if (!is_first &&
	    (now_ns - feed->looked_ns < LOOK_NS || ns_to_secs(now_ns - feed->run.heard_ns) < 3 * interval))
		return;
	feed->looked_ns = now_ns;
	if (run_is_live(&feed->run) && is_abandoned(feed))
		run_lose(&feed->run, "no end is recorded");
}

int feed_read(struct feed *feed, int64_t now_ns, struct rt_problem *ret_problem)
{
	int r;

	if (feed->ended)
		return 0;
	r = open_record(feed, ret_problem);
	if (r > 0)
		r = read_fed_samples(feed, now_ns, ret_problem);
	if (r < 0) {
		feed->ended = true;
		return r;
	}
	if (r == 0)
		look_for_recorder(feed, now_ns);
	feed->was_live |= r == 0 && run_is_live(&feed->run);
	return r;
}
