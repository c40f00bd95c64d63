/*
 * Access to the kernel's files, and to everything else that the host supplies.
 *
 * All of /proc, /sys and /etc is read relative to one directory descriptor, so that a captured tree (`--root
 * DIR`) gives the same numbers on any machine. A tree that is not live also fixes the clock tick and the page
 * size (optional file DIR/.root with "clock_ticks 100", "page_bytes 4096").
 *
 * Paths are relative: "proc/stat", not "/proc/stat". Symbolic links inside a captured tree must be relative,
 * too (root_link() reads them without following them).
 *
 * All functions return 0 or a length on success and a negative errno otherwise. Not thread-safe: one root
 * belongs to one tracker.
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/clock.h"

struct kept_files;

struct root {
	int dir_fd;          /* of DIR, or -1 when closed */
	int proc_fd;         /* of DIR/proc, or -1 if there is none */
	bool live;           /* DIR is "/": processes can be asked by system call as well */
	int64_t clock_ticks; /* per second, of /proc/PID/stat and /proc/stat */
	int64_t page_bytes;  /* a multiple of 1,024 */
	struct clocks clocks;
	struct buffer text;         /* contents of the last read; valid until the next one */
	struct kept_files *keep_in; /* NULL: root_read_at() closes what it opened */
	int64_t allocated_pages; /* by the machine, when that was last looked at (proc_vmstat.h). 0: unknown */
};

/* Opens DIR ("/" or NULL: the live system). clocks may be NULL for the system's. */
int root_open(struct root *ret_root, const char *dir, const struct clocks *clocks);
void root_close(struct root *root);

/* Reads a whole file into root->text (at most 16 MiB) and returns its length. */
ssize_t root_read(struct root *root, const char *path);
ssize_t root_readf(struct root *root, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same relative to an open directory descriptor (a cgroup's folder, a device's). */
ssize_t root_read_at(struct root *root, int dir_fd, const char *path);
/* Reads DIR/proc/PID/NAME, or opens it for root_pread(), returning its descriptor or a negative errno. */
ssize_t root_read_pid(struct root *root, pid_t pid, const char *name);
int root_open_pid(const struct root *root, pid_t pid, const char *name, int flags);

/*
 * A file that is read at every tick stays open and is read again from its start. It is opened at the first
 * read and again after an error that means "this file has gone". Initialise with KEPT_FILE("proc/stat").
 */
struct kept_file {
	const char *path; /* must outlive the kept file */
	int fd;           /* -1: not open */
};
#define KEPT_FILE(relative_path) ((struct kept_file){(relative_path), -1})

ssize_t root_reread(struct root *root, struct kept_file *file);
ssize_t root_reread_to_end(struct root *root, struct kept_file *file);
/* As root_reread(), but only what one call returns: the first lines, which fit into a page. */
ssize_t root_reread_beginning(struct root *root, struct kept_file *file);
void kept_file_close(struct kept_file *file);

/*
 * Files in folders that are read at every tick. While root->keep_in points here, root_read_at() keeps the files
 * that it opens, and reads them again from their start the next time. Only for files that root_pread() can
 * read. The owner sets keep_in only around its own reads, and empties this after closing a folder. Initialise
 * with kept_files_init().
 */
enum { KEPT_FILES_MOST = 12 };

struct kept_files {
	struct {
		int dir_fd;
		int fd;
		const char *name; /* must outlive this */
	} files[KEPT_FILES_MOST];
	int count;
	int first_not_kept; /* this descriptor and higher ones are left to others */
};

void kept_files_init(struct kept_files *files);
void kept_files_close(struct kept_files *files);

/*
 * Reads a descriptor from its start into root->text. The descriptor stays open.
 *
 * root_pread() takes one call for most files. It is right for every file that the kernel writes in one piece
 * or in records shorter than 2 KiB. root_pread_to_end() costs a call more (0.3 us) and is right for all: mounts, maps
 * and CPUs have longer records. root_read() and its kin, and root_reread(), use root_pread().
 */
ssize_t root_pread(struct root *root, int fd);
ssize_t root_pread_to_end(struct root *root, int fd);

/* The target of a symbolic link, or its last component, NUL-terminated, cut to fit. Returns its length. */
ssize_t root_link(const struct root *root, const char *path, char *ret_target, size_t size);
ssize_t root_link_name_at(int dir_fd, const char *path, char *ret_name, size_t size);

/* Opens a file or a directory (O_DIRECTORY in flags) read-only, close-on-exec. */
int root_open_file(const struct root *root, const char *path, int flags);

bool root_exists(const struct root *root, const char *path);
bool root_exists_at(int dir_fd, const char *path);

/*
 * The names in a directory, without those that begin with a dot, in no order:
 *
 *   CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
 *   if (root_dir_open(root, "sys/class/net", &dir) == 0)
 *           while ((name = root_dir_next(&dir)))
 *
 * A name is valid until the next call.
 */
struct root_dir {
	DIR *stream; /* NULL: not open */
};
#define ROOT_DIR ((struct root_dir){NULL})

int root_dir_open(const struct root *root, const char *path, struct root_dir *ret_dir);
int root_dir_open_at(int dir_fd, const char *path, struct root_dir *ret_dir);
const char *root_dir_next(struct root_dir *dir);
void root_dir_close(struct root_dir *dir);

static inline void cleanup_root_dir(struct root_dir *dir)
{
	root_dir_close(dir);
}
#define CLEANUP_ROOT_DIR __attribute__((cleanup(cleanup_root_dir)))

/*
 * One number or one trimmed text of a small file below dir_fd ("mtu"), or below the root. The text is
 * NUL-terminated and cut to fit.
 */
int root_read_i64(struct root *root, const char *path, int64_t *ret_value);
int root_read_i64_at(struct root *root, int dir_fd, const char *path, int64_t *ret_value);
int root_read_word(struct root *root, const char *path, char *ret_text, size_t size);
int root_read_word_at(struct root *root, int dir_fd, const char *path, char *ret_text, size_t size);

static inline int64_t root_monotonic_ns(const struct root *root)
{
	return root->clocks.monotonic_ns(root->clocks.context);
}

static inline int64_t root_realtime_ns(const struct root *root)
{
	return root->clocks.realtime_ns(root->clocks.context);
}

/*
 * CPU time of the calling thread, to tell how long a reading takes: another process may run meanwhile. The monotonic clock
 * for a captured machine.
 */
int64_t root_thread_cpu_ns(const struct root *root);

/*
 * Ticks since the boot of the machine, as in the start time of /proc/PID/stat, or 0 for a captured machine, which
 * has no present time.
 */
int64_t root_boot_ticks(const struct root *root);
