/* Reading the kernel's files below one directory. See root.h. */
#include "kernel/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"

enum {
	TEXT_CEILING = 16 << 20,
	SMALLEST_PAGE = 4096,
	PATH_SIZE = 4096,
	PID_PATH_SIZE = 128,
	/*
	 * Kept files take a share of the program's descriptors: never the last ones, and never more than are
	 * useful.
	 */
	FILES_OF_OTHERS = 64,
	MANY_FILES = 1024,
};

/* DIR/.root: constants of the machine that a tree was captured on. */
static void read_captured_constants(struct root *root)
{
	struct scan text, line, word;
	uint64_t value;
	ssize_t length = root_read(root, ".root");

	if (length < 0)
		return;
	text = scan_bytes(root->text.data, (size_t)length);
	while (scan_line(&text, &line)) {
		if (!scan_word(&line, &word) || !scan_u64(&line, &value) || !value || value > INT32_MAX)
			continue;
		if (scan_is(&word, "clock_ticks"))
			root->clock_ticks = (int64_t)value;
		else if (scan_is(&word, "page_bytes"))
			root->page_bytes = (int64_t)value;
	}
}

int root_open(struct root *ret_root, const char *dir, const struct clocks *clocks)
{
	struct root root = {
		.dir_fd = -1,
		.proc_fd = -1,
		.clock_ticks = sysconf(_SC_CLK_TCK),
		.page_bytes = sysconf(_SC_PAGESIZE),
		.clocks = clocks ? *clocks : SYSTEM_CLOCKS,
		.text = BUFFER(TEXT_CEILING),
	};

	if (!dir || !*dir)
		dir = "/";
	root.live = strcmp(dir, "/") == 0;
	root.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root.dir_fd < 0)
		return -errno;
	root.proc_fd = openat(root.dir_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!root.live)
		read_captured_constants(&root);
	*ret_root = root;
	return 0;
}

void root_close(struct root *root)
{
	if (root->dir_fd >= 0)
		close(root->dir_fd);
	if (root->proc_fd >= 0)
		close(root->proc_fd);
	root->dir_fd = root->proc_fd = -1;
	buffer_done(&root->text);
}

/*
 * seq_file returns whole records: as many as fit into one page (4 KiB or more), or one larger one. So a short
 * answer is not the end of the file. But if less than half a page came, no record of at most half a page was
 * left out.
 */
static bool is_whole(const struct buffer *text, size_t got, size_t room)
{
	return got < room && text->length < SMALLEST_PAGE / 2;
}

static ssize_t pread_text(struct root *root, int fd, bool to_end)
{
	struct buffer *text = &root->text;

	buffer_clear(text);
	for (;;) {
		size_t room;
		ssize_t got;

		if (buffer_reserve(text, SMALLEST_PAGE) < 0)
			return buffer_error(text);
		room = text->capacity - text->length - 1;
		got = pread(fd, text->data + text->length, room, (off_t)text->length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = -errno;

			buffer_clear(text);
			return error;
		}
		text->length += (size_t)got;
		text->data[text->length] = '\0';
		if (!got || (!to_end && is_whole(text, (size_t)got, room)))
			return (ssize_t)text->length;
	}
}

ssize_t root_pread(struct root *root, int fd)
{
	return pread_text(root, fd, false);
}

ssize_t root_pread_to_end(struct root *root, int fd)
{
	return pread_text(root, fd, true);
}

static ssize_t read_once_at(struct root *root, int dir_fd, const char *path)
{
	CLEANUP_CLOSE int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		int error = -errno;

		buffer_clear(&root->text);
		return error;
	}
	return root_pread(root, fd);
}

void kept_files_init(struct kept_files *files)
{
	struct rlimit limit;

	*files = (struct kept_files){.count = 0};
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		files->first_not_kept =
			limit.rlim_cur > MANY_FILES ? MANY_FILES : (int)limit.rlim_cur - FILES_OF_OTHERS;
}

void kept_files_close(struct kept_files *files)
{
	for (int i = 0; i < files->count; i++)
		close(files->files[i].fd);
	files->count = 0;
}

static int find_kept(const struct kept_files *files, int dir_fd, const char *name)
{
	for (int i = 0; i < files->count; i++)
		if (files->files[i].dir_fd == dir_fd && strcmp(files->files[i].name, name) == 0)
			return i;
	return -1;
}

static bool keep_root_file(struct kept_files *files, int dir_fd, const char *name, int fd)
{
	if (files->count >= KEPT_FILES_MOST || fd >= files->first_not_kept)
		return false;
	files->files[files->count].dir_fd = dir_fd;
	files->files[files->count].name = name;
	files->files[files->count++].fd = fd;
	return true;
}

static ssize_t read_kept_at(struct root *root, int dir_fd, const char *name)
{
	struct kept_files *files = root->keep_in;
	int i = find_kept(files, dir_fd, name), fd;
	ssize_t length;

	if (i >= 0) {
		length = root_pread(root, files->files[i].fd);
		if (length < 0) {
			close(files->files[i].fd);
			files->files[i] = files->files[--files->count];
		}
		return length;
	}
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		int error = -errno;

		buffer_clear(&root->text);
		return error;
	}
	length = root_pread(root, fd);
	if (length < 0 || !keep_root_file(files, dir_fd, name, fd))
		close(fd);
	return length;
}

ssize_t root_read_at(struct root *root, int dir_fd, const char *path)
{
	return root->keep_in ? read_kept_at(root, dir_fd, path) : read_once_at(root, dir_fd, path);
}

ssize_t root_read(struct root *root, const char *path)
{
	return root_read_at(root, root->dir_fd, path);
}

ssize_t root_readf(struct root *root, const char *format, ...)
{
	char path[PATH_SIZE];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	if ((size_t)length >= sizeof path)
		return -ENAMETOOLONG;
	return root_read(root, path);
}

int root_open_pid(const struct root *root, pid_t pid, const char *name, int flags)
{
	char path[PID_PATH_SIZE];
	int length = snprintf(path, sizeof path, "%d/%s", (int)pid, name), fd;

	if ((size_t)length >= sizeof path)
		return -ENAMETOOLONG;
	if (root->proc_fd < 0)
		return -ENOENT;
	fd = openat(root->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	return fd < 0 ? -errno : fd;
}

ssize_t root_read_pid(struct root *root, pid_t pid, const char *name)
{
	CLEANUP_CLOSE int fd = root_open_pid(root, pid, name, 0);

	if (fd < 0) {
		buffer_clear(&root->text);
		return fd;
	}
	return root_pread(root, fd);
}

static int open_kept(const struct root *root, struct kept_file *file)
{
	if (file->fd < 0)
		file->fd = root_open_file(root, file->path, 0);
	return file->fd;
}

static ssize_t reread_file(struct root *root, struct kept_file *file, bool to_end)
{
	ssize_t length = open_kept(root, file);

	if (length >= 0)
		length = pread_text(root, file->fd, to_end);
	if (length < 0)
		kept_file_close(file);
	return length;
}

ssize_t root_reread(struct root *root, struct kept_file *file)
{
	return reread_file(root, file, false);
}

ssize_t root_reread_to_end(struct root *root, struct kept_file *file)
{
	return reread_file(root, file, true);
}

ssize_t root_reread_beginning(struct root *root, struct kept_file *file)
{
	struct buffer *text = &root->text;
	ssize_t got = open_kept(root, file);

	buffer_clear(text);
	if (got < 0)
		return got;
	if (buffer_reserve(text, SMALLEST_PAGE) < 0)
		return buffer_error(text);
	got = pread(file->fd, text->data, text->capacity - 1, 0);
	if (got < 0)
		return -errno;
	text->length = (size_t)got;
	/* A plain file may be cut in the middle of a line. */
	while (text->length && text->data[text->length - 1] != '\n')
		text->length--;
	text->data[text->length] = '\0';
	return (ssize_t)text->length;
}

void kept_file_close(struct kept_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

ssize_t root_link(const struct root *root, const char *path, char *ret_target, size_t size)
{
	ssize_t length;

	if (!size)
		return -EINVAL;
	length = readlinkat(root->dir_fd, path, ret_target, size - 1);
	if (length < 0)
		return -errno;
	ret_target[length] = '\0';
	return length;
}

ssize_t root_link_name_at(int dir_fd, const char *path, char *ret_name, size_t size)
{
	char target[PATH_SIZE];
	ssize_t length = readlinkat(dir_fd, path, target, sizeof target);
	struct scan name, before;

	if (length < 0)
		return -errno;
	name = scan_bytes(target, (size_t)length);
	while (scan_until(&name, '/', &before))
		continue;
	scan_copy(&name, ret_name, size);
	return (ssize_t)strlen(ret_name);
}

int root_open_file(const struct root *root, const char *path, int flags)
{
	int fd = openat(root->dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);

	return fd < 0 ? -errno : fd;
}

bool root_exists_at(int dir_fd, const char *path)
{
	return faccessat(dir_fd, path, F_OK, 0) == 0;
}

bool root_exists(const struct root *root, const char *path)
{
	return root_exists_at(root->dir_fd, path);
}

int root_dir_open_at(int dir_fd, const char *path, struct root_dir *ret_dir)
{
	CLEANUP_CLOSE int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	DIR *stream;

	if (fd < 0)
		return -errno;
	stream = fdopendir(fd);
	if (!stream)
		return -errno;
	(void)take_fd(&fd);
	ret_dir->stream = stream;
	return 0;
}

int root_dir_open(const struct root *root, const char *path, struct root_dir *ret_dir)
{
	return root_dir_open_at(root->dir_fd, path, ret_dir);
}

const char *root_dir_next(struct root_dir *dir)
{
	const struct dirent *entry;

	do
		entry = readdir(dir->stream);
	while (entry && entry->d_name[0] == '.');
	return entry ? entry->d_name : NULL;
}

void root_dir_close(struct root_dir *dir)
{
	if (dir->stream)
		closedir(dir->stream);
	dir->stream = NULL;
}

int root_read_i64_at(struct root *root, int dir_fd, const char *path, int64_t *ret_value)
{
	ssize_t length = root_read_at(root, dir_fd, path);
	struct scan text;

	if (length < 0)
		return (int)length;
	text = scan_bytes(root->text.data, (size_t)length);
	return scan_i64(&text, ret_value) ? 0 : -EBADMSG;
}

int root_read_i64(struct root *root, const char *path, int64_t *ret_value)
{
	return root_read_i64_at(root, root->dir_fd, path, ret_value);
}

int root_read_word_at(struct root *root, int dir_fd, const char *path, char *ret_text, size_t size)
{
	ssize_t length = root_read_at(root, dir_fd, path);
	struct scan text;

	if (length < 0)
		return (int)length;
	text = scan_trim(scan_bytes(root->text.data, (size_t)length));
	scan_copy(&text, ret_text, size);
	return 0;
}

int root_read_word(struct root *root, const char *path, char *ret_text, size_t size)
{
	return root_read_word_at(root, root->dir_fd, path, ret_text, size);
}

int64_t root_thread_cpu_ns(const struct root *root)
{
	struct timespec now;

	if (!root->live || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) < 0)
		return root_monotonic_ns(root);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

int64_t root_boot_ticks(const struct root *root)
{
	struct timespec now;

	if (!root->live || clock_gettime(CLOCK_BOOTTIME, &now) < 0)
		return 0;
	return now.tv_sec * root->clock_ticks + now.tv_nsec / (NSEC_PER_SEC / root->clock_ticks);
}
