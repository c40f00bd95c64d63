/*
 * Which cloud this is (--cloud). resource-tracker-net asks the metadata services, and its answer is in the
 * first sample after it has come.
 *
 * The program is started before the job, so that it is not taken for one of the job's processes, and waits
 * for a message that the job has begun. The collector never waits for it: if the run ends sooner, the cloud
 * stays unknown.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/scan.h"
#include "collect/collector.h"
#include "launch/detached.h"
#include "metric/typed_rows.h"

enum { MOST_ANSWER_BYTES = 16 << 10 };

struct cloud {
	int socket_fd; /* -1: the answer is complete, or the program has exited */
	pid_t pid;
	struct buffer answer; /* lines such as "cloud_region_id=eu-central-1", then "end" */
	bool complete;
	bool told; /* already in a sample */
	char warning[200];
};

static int start_cloud_query(const struct collect_context *context, struct cloud *cloud)
{
	const char *const argv[] = {NET_PROGRAM.name,  "discover",    "cloud",
				    "--lines",         "--when-told", context->root_dir ? "--root" : NULL,
				    context->root_dir, NULL};
	struct detached detached = {
		.program = &NET_PROGRAM, .argv = argv, .environment = context->environment, .silent = true};

	return detached_start(&detached, &cloud->socket_fd, &cloud->pid);
}

static int cloud_open(struct collect_context *context, void **ret_state)
{
	struct cloud *cloud;
	int error;

	/* The collector then has no state. */
	*ret_state = NULL;
	if (!context->cloud)
		return 0;
	cloud = calloc(1, sizeof *cloud);
	if (!cloud)
		return -ENOMEM;
	cloud->socket_fd = -1;
	cloud->answer = BUFFER(MOST_ANSWER_BYTES);
	*ret_state = cloud;
	error = start_cloud_query(context, cloud);
	if (error < 0) {
		snprintf(cloud->warning, sizeof cloud->warning,
			 "the cloud is not asked for: resource-tracker-net cannot be started: %s",
			 strerror(-error));
		context->warning = cloud->warning;
		return 0;
	}
	context->helper_count++;
	/* If the caller adopts orphans and tracks itself, the program would count as part of the job. */
	if (context->tree)
		process_tree_exclude(context->tree, cloud->pid);
	return 0;
}

/* Tells the program that the job has begun. */
static void cloud_prepare(void *state, struct collect_context *context)
{
	struct cloud *cloud = state;

	(void)context;
	if (cloud && cloud->socket_fd >= 0)
		(void)send(cloud->socket_fd, "\n", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void let_go_of_cloud(struct cloud *cloud)
{
	if (cloud->socket_fd < 0)
		return;
	close(cloud->socket_fd);
	cloud->socket_fd = -1;
	detached_reap(cloud->pid);
}

static void read_cloud_answer(struct cloud *cloud)
{
	static const char END[] = "end\n";
	char bytes[1024];
	ssize_t length;

	while (cloud->socket_fd >= 0 &&
	       (length = recv(cloud->socket_fd, bytes, sizeof bytes, MSG_DONTWAIT)) != -1) {
		if (length > 0)
			buffer_add(&cloud->answer, bytes, (size_t)length);
		else
			let_go_of_cloud(cloud);
	}
	/* An incomplete answer is not used. */
	cloud->complete = cloud->answer.length >= strlen(END) &&
			  strcmp(cloud->answer.data + cloud->answer.length - strlen(END), END) == 0;
}

static void fill_cloud_row(const struct cloud *cloud, struct frame *frame)
{
	struct cloud_row *row = ADD_ROW(frame, cloud, NULL);
	const struct {
		const char *name;
		const char **field;
	} FIELDS[] = {
		{"cloud_vendor_id", &row->vendor_id},         {"cloud_account_id", &row->account_id},
		{"cloud_region_id", &row->region_id},         {"cloud_zone_id", &row->zone_id},
		{"cloud_instance_type", &row->instance_type},
	};
	struct scan lines = scan_bytes(cloud->answer.data, cloud->answer.length), line, name;

	for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++)
		*FIELDS[i].field = no_text(ENOENT);
	while (scan_line(&lines, &line)) {
		if (!scan_until(&line, '=', &name))
			continue;
		for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++)
			if (scan_is(&name, FIELDS[i].name))
				*FIELDS[i].field = frame_text(frame, line.at, scan_left(&line));
	}
}

static void cloud_collect(void *state, struct collect_context *context, struct frame *frame)
{
	struct cloud *cloud = state;

	if (!cloud) {
		frame_set_missing(frame, ROW_cloud, ABSENT_NOT_GIVEN);
		return;
	}
	read_cloud_answer(cloud);
	if (cloud->socket_fd >= 0)
		context->helper_count++;
	if (!cloud->complete || cloud->told || context->progress.baseline)
		return;
	fill_cloud_row(cloud, frame);
	cloud->told = true;
}

static void cloud_close(void *state)
{
	struct cloud *cloud = state;

	if (!cloud)
		return;
	let_go_of_cloud(cloud);
	buffer_done(&cloud->answer);
	free(cloud);
}

const struct collector CLOUD_COLLECTOR = {
	.name = "cloud",
	.open = cloud_open,
	.collect = cloud_collect,
	.prepare = cloud_prepare,
	.close = cloud_close,
	.fills = (const enum row_kind[]){ROW_cloud, ROW_KINDS},
};
