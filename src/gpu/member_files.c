/* Searches the descriptors of processes; see member_files.h. */
#include "gpu/member_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scan.h"

#define FIRST_PAUSE_NS (1 * NSEC_PER_SEC)
#define LONGEST_PAUSE_NS (8 * NSEC_PER_SEC)
#define BUDGET_NS (2 * NSEC_PER_MSEC) /* of one pass */

enum { LINK_SIZE = 64 };

void member_files_done(struct member_files *files)
{
	free(files->holders);
	*files = (struct member_files){0};
}

static bool parse_target(const char *target, size_t length, struct gpu_file *ret_file)
{
	struct scan text = scan_bytes(target, length);
	uint64_t number;

	if (scan_literal(&text, "/dev/dri/renderD") || scan_literal(&text, "/dev/dri/card"))
		ret_file->kind = GPU_FILE_DRM;
	else if (scan_literal(&text, "/dev/nvidia"))
		ret_file->kind = GPU_FILE_NVIDIA;
	else
		return false;
	if (!scan_left(&text) || *text.at < '0' || *text.at > '9' || !scan_u64(&text, &number) ||
	    scan_left(&text) || number > INT_MAX)
		return false;
	ret_file->number = (int)number;
	return true;
}

/* The driver of NVIDIA opens its files many times, which tells no more than once. */
static void add_file(struct file_holder *holder, const struct gpu_file *file)
{
	for (int i = 0; file->kind == GPU_FILE_NVIDIA && i < holder->count; i++)
		if (holder->files[i].kind == GPU_FILE_NVIDIA && holder->files[i].number == file->number)
			return;
	if (holder->count < MEMBER_FILES_MAX)
		holder->files[holder->count++] = *file;
	else
		holder->left_out = true;
}

static void look_through(struct file_holder *holder, const struct root *root)
{
	struct root_dir dir = ROOT_DIR;
	int fd = root_open_pid(root, holder->pid, "fd", O_DIRECTORY), error;
	const char *name;

	holder->count = 0;
	holder->denied = fd < 0 ? -fd : 0;
	if (fd < 0)
		return;
	error = root_dir_open_at(fd, ".", &dir);
	holder->denied = -error;
	holder->left_out = false;
	while (!error && (name = root_dir_next(&dir))) {
		struct gpu_file file;
		char target[LINK_SIZE];
		/* The link is read, never followed: its target may hang. */
		ssize_t length = readlinkat(fd, name, target, sizeof target);
		struct scan text = scan_bytes(name, strlen(name));
		uint64_t number;

		if (length <= 0 || !parse_target(target, (size_t)length, &file) ||
		    !scan_u64(&text, &number) || number > INT_MAX)
			continue;
		file.fd = (int)number;
		add_file(holder, &file);
	}
	root_dir_close(&dir);
	close(fd);
}

bool member_file_is_open(const struct root *root, pid_t pid, const struct gpu_file *file)
{
	char path[LINK_SIZE], target[LINK_SIZE];
	struct gpu_file now;
	ssize_t length;

	snprintf(path, sizeof path, "proc/%d/fd/%d", pid, file->fd);
	length = root_link(root, path, target, sizeof target);
	return length > 0 && parse_target(target, (size_t)length, &now) && now.kind == file->kind &&
	       now.number == file->number;
}

void member_files_look_again(struct file_holder *holder)
{
	holder->look_at_ns = 0;
	holder->look_pause_ns = 0;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t first = *(const pid_t *)a, second = *(const pid_t *)b;

	return (first > second) - (first < second);
}

static int compare_holders(const void *a, const void *b)
{
	return compare_pids(&((const struct file_holder *)a)->pid, &((const struct file_holder *)b)->pid);
}

static struct file_holder *find_file_holder(struct member_files *files, size_t known, pid_t pid)
{
	const struct file_holder key = {.pid = pid};

	return known ? bsearch(&key, files->holders, known, sizeof key, compare_holders) : NULL;
}

/* Keeps the holders that are still members and adds new ones, in the order of pids. */
static int take_members(struct member_files *files, const pid_t *pids, size_t count)
{
	size_t known = files->count, kept = 0;

	if (files->capacity < known + count) {
		struct file_holder *grown = reallocarray(files->holders, known + count, sizeof *grown);

		if (!grown)
			return -ENOMEM;
		files->holders = grown;
		files->capacity = known + count;
	}
	for (size_t i = 0; i < known; i++)
		files->holders[i].present = false;
	for (size_t i = 0; i < count; i++) {
		struct file_holder *holder = find_file_holder(files, known, pids[i]);

		if (!holder) {
			holder = &files->holders[files->count++];
			*holder = (struct file_holder){.pid = pids[i]};
		}
		holder->present = true;
	}
	for (size_t i = 0; i < files->count; i++)
		if (files->holders[i].present)
			files->holders[kept++] = files->holders[i];
	files->count = kept;
	if (kept)
		qsort(files->holders, kept, sizeof(files->holders[0]), compare_holders);
	return 0;
}

int member_files_update(struct member_files *files, struct root *root, const pid_t *pids, size_t count,
			int64_t now_ns)
{
	int64_t began_ns = root_monotonic_ns(root);
	int error = take_members(files, pids,
				 count < MEMBER_FILES_MEMBERS_MAX ? count : MEMBER_FILES_MEMBERS_MAX);

	if (error < 0)
		return error;
	for (size_t i = 0; i < files->count && root_monotonic_ns(root) - began_ns < BUDGET_NS; i++) {
		struct file_holder *holder = &files->holders[files->next++ % files->count];

		if (holder->look_at_ns > now_ns)
			continue;
		look_through(holder, root);
		holder->look_pause_ns = holder->look_pause_ns ? holder->look_pause_ns * 2 : FIRST_PAUSE_NS;
		if (holder->look_pause_ns > LONGEST_PAUSE_NS)
			holder->look_pause_ns = LONGEST_PAUSE_NS;
		holder->look_at_ns = now_ns + holder->look_pause_ns;
	}
	return 0;
}
