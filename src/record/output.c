/* Where an export goes; see output.h. */
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/write_all.h"

enum { PENDING_BYTES = 256 << 10 };

struct output_gzip {
	z_stream stream;
	unsigned char bytes[64 << 10];
};

char *output_temporary_name(const char *path)
{
	char *name = NULL;

	return asprintf(&name, "%s.%ld.partial", path, (long)getpid()) < 0 ? NULL : name;
}

static int open_target(struct output *output, const char *path)
{
	struct stat status;

	if (strcmp(path, "-") == 0)
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	output->temporary = output_temporary_name(path);
	if (!output->temporary) {
		errno = ENOMEM;
		return -1;
	}
	return open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
}

static int begin_gzip(struct output *output)
{
	enum { GZIP = 15 + 16, USUAL_MEMORY = 8 };

	output->gzip = calloc(1, sizeof(*output->gzip));
	if (!output->gzip)
		return -ENOMEM;
	if (deflateInit2(&output->gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, USUAL_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(output->gzip);
		output->gzip = NULL;
		return -ENOMEM;
	}
	return 0;
}

int output_open(struct output *ret_output, const char *path, bool gzip, struct rt_problem *problem)
{
	struct output output = {.fd = -1, .pending = BUFFER(1 << 30)};
	int result = 0;

	if (!path) {
		*ret_output = output;
		return 0;
	}
	output.path = strdup(path);
	output.fd = open_target(&output, path);
	if (output.fd < 0 || !output.path)
		result = output.path ? -errno : -ENOMEM;
	else if (gzip)
		result = begin_gzip(&output);
	if (result < 0) {
		output_close(&output);
		return problem_set(problem, result, "%s: %s", path, strerror(-result));
	}
	*ret_output = output;
	return 0;
}

static int compress_all(struct output *output, int flush)
{
	struct output_gzip *gzip = output->gzip;
	int result = 0, status;

	gzip->stream.next_in = (unsigned char *)output->pending.data;
	gzip->stream.avail_in = (unsigned)output->pending.length;
	do {
		gzip->stream.next_out = gzip->bytes;
		gzip->stream.avail_out = sizeof(gzip->bytes);
		status = deflate(&gzip->stream, flush);
		result = write_all(output->fd, gzip->bytes, sizeof(gzip->bytes) - gzip->stream.avail_out);
	} while (result == 0 && status == Z_OK && !gzip->stream.avail_out);
	return result;
}

static void write_pending(struct output *output, bool last)
{
	if (!output->error && buffer_error(&output->pending))
		output->error = buffer_error(&output->pending);
	if (!output->error)
		output->error = output->gzip
					? compress_all(output, last ? Z_FINISH : Z_NO_FLUSH)
					: write_all(output->fd, output->pending.data, output->pending.length);
	buffer_clear(&output->pending);
}

void output_write(struct output *output, struct buffer *bytes)
{
	if (!output->error && buffer_error(bytes))
		output->error = buffer_error(bytes);
	buffer_add(&output->pending, bytes->data, bytes->length);
	buffer_clear(bytes);
	if (output->path && output->pending.length >= PENDING_BYTES)
		write_pending(output, false);
}

int output_finish(struct output *output, struct rt_problem *problem)
{
	int fd;

	if (!output->path)
		return output->error ? output->error : buffer_error(&output->pending);
	write_pending(output, true);
	fd = take_fd(&output->fd);
	if (close(fd) < 0 && !output->error)
		output->error = -errno;
	if (!output->error && output->temporary && rename(output->temporary, output->path) < 0)
		output->error = -errno;
	if (output->error)
		return problem_set(problem, output->error, "%s: %s", output->path, strerror(-output->error));
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

void output_close(struct output *output)
{
	if (output->temporary)
		unlink(output->temporary);
	if (output->gzip) {
		deflateEnd(&output->gzip->stream);
		free(output->gzip);
	}
	if (output->fd >= 0)
		close(output->fd);
	buffer_done(&output->pending);
	free(output->temporary);
	free(output->path);
	*output = (struct output){.fd = -1};
}
