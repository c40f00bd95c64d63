/*
 * Finds out whether a path leads to a file system that may hang. See may_hang.h.
 *
 * The kernel's table of mounts names all mount points. The path is followed component by component, and each place is
 * compared with the points of served file systems before readlink(2) touches it:
 *
 *	/home/anna/out.jsonl, where /home is a link to /net/homes and nfs is mounted at /net:
 *	"/home" is not in the list, but it is a link to "/net/homes"; "/net" is in the list: the path may hang.
 */
#include "kernel/may_hang.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/read_file.h"
#include "kernel/proc_pid_mountinfo.h"

enum { TABLE_BYTES = 64 << 20, LINKS_MOST = 40 };
/* The start of a recording looks at several paths, and so does its end. */
#define FRESH_NS NSEC_PER_SEC

#define HUNG_NS NSEC_PER_SEC

static struct {
	struct buffer points; /* mount points of served file systems, each with its NUL */
	int64_t read_ns;
	struct buffer hung; /* those that did not answer at hung_ns */
	int64_t hung_ns;
} table = {.points = {.ceiling = TABLE_BYTES}, .hung = {.ceiling = TABLE_BYTES}};

static const char UNKNOWN_POINT[] = "?";

/* Returns the text in the list, or NULL. */
static char *find_text(const struct buffer *list, const char *text)
{
	char *end = list->data ? list->data + list->length : NULL;

	for (char *at = list->data; at < end; at += strlen(at) + 1)
		if (strcmp(at, text) == 0)
			return at;
	return NULL;
}

static char *find_point(const char *point)
{
	return find_text(&table.points, point);
}

/* A newer mount at the same point hides the older one. */
static void take_point(struct scan line)
{
	struct mount mount;
	char point[PATH_MAX], *older;
	bool is_served;

	if ((!table.points.length && mount_line_is_kernels(&line)) || !proc_pid_mountinfo_next(&line, &mount))
		return;
	is_served = mount_is_served(&mount);
	if (!is_served && !table.points.length)
		return;
	mount_text(&mount.point, point, sizeof point);
	older = find_point(point);
	if (older && !is_served)
		*older = '-';
	else if (!older && is_served)
		buffer_add(&table.points, point, strlen(point) + 1);
}

static bool read_mount_table(void)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(TABLE_BYTES);
	int64_t now_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	struct scan mounts, line;

	if (table.read_ns && now_ns - table.read_ns < FRESH_NS)
		return true;
	if (read_whole_file("/proc/self/mountinfo", &text) < 0)
		return false;
	buffer_clear(&table.points);
	mounts = parse_proc_pid_mountinfo(text.data, text.length);
	while (scan_line(&mounts, &line))
		take_point(line);
	table.read_ns = now_ns;
	return !buffer_error(&table.points);
}

struct path_walk {
	char at[PATH_MAX]; /* without links. "": the root */
	size_t length;
	char left[2 * PATH_MAX];
	int links;
};

/* Takes the next component. Returns false at the end of the path, or if the path is too long. */
static bool step_on(struct path_walk *walk)
{
	char *start = walk->left + strspn(walk->left, "/");
	size_t length = strcspn(start, "/");
	bool is_up = length == 2 && start[0] == '.' && start[1] == '.';
	const char *slash = is_up ? strrchr(walk->at, '/') : NULL;

	if (!length || walk->length + length + 2 > sizeof walk->at)
		return false;
	if (is_up) {
		walk->length = slash ? (size_t)(slash - walk->at) : 0;
	} else if (length > 1 || *start != '.') {
		walk->at[walk->length++] = '/';
		memcpy(walk->at + walk->length, start, length);
		walk->length += length;
	}
	walk->at[walk->length] = '\0';
	memmove(walk->left, start + length, strlen(start + length) + 1);
	return true;
}

/* Puts a link's target in its place. Returns false if the path cannot be followed. */
static bool follow_link(struct path_walk *walk)
{
	char target[PATH_MAX];
	ssize_t length = readlink(walk->length ? walk->at : "/", target, sizeof target);
	size_t left = strlen(walk->left);

	if (length < 0)
		return true;
	if (++walk->links > LINKS_MOST || (size_t)length + left + 2 > sizeof walk->left)
		return false;
	memmove(walk->left + length + 1, walk->left, left + 1);
	memcpy(walk->left, target, (size_t)length);
	walk->left[length] = '/';
	walk->length = *target == '/' ? 0 : (size_t)(strrchr(walk->at, '/') - walk->at);
	walk->at[walk->length] = '\0';
	return true;
}

/* The current folder is known without links, so that only its mounts matter. */
static const char *find_point_of_folder(struct path_walk *walk)
{
	const char *point = NULL;

	if (!getcwd(walk->at, sizeof walk->at) || *walk->at != '/')
		return UNKNOWN_POINT;
	walk->length = walk->at[1] ? strlen(walk->at) : 0;
	for (size_t i = 1; i <= walk->length && !point; i++) {
		char kept = walk->at[i];

		if (kept && kept != '/')
			continue;
		walk->at[i] = '\0';
		point = find_point(walk->at);
		walk->at[i] = kept;
	}
	walk->at[walk->length] = '\0';
	return point;
}

/* Returns the mount point at which the path leaves what the kernel serves itself, or NULL. */
static const char *served_point(const char *path)
{
	struct path_walk walk;
	const char *point;

	if (!read_mount_table())
		return UNKNOWN_POINT;
	if (!table.points.length || strlen(path) >= PATH_MAX)
		return NULL;
	walk.length = 0;
	walk.links = 0;
	walk.at[0] = '\0';
	point = find_point("/");
	if (!point && *path != '/')
		point = find_point_of_folder(&walk);
	memcpy(walk.left, path, strlen(path) + 1);
	while (!point && step_on(&walk)) {
		point = find_point(walk.at);
		if (!point && walk.length && !follow_link(&walk))
			break;
	}
	return point;
}

bool path_may_hang(const char *path)
{
	return served_point(path) != NULL;
}

void paths_look_again(void)
{
	table.read_ns = 0;
}

void path_has_hung(const char *path)
{
	const char *point = served_point(path);

	if (!point)
		return;
	table.hung_ns = SYSTEM_CLOCKS.monotonic_ns(NULL);
	if (!path_hangs_now(path))
		buffer_add(&table.hung, point, strlen(point) + 1);
}

bool path_hangs_now(const char *path)
{
	const char *point = served_point(path);

	if (SYSTEM_CLOCKS.monotonic_ns(NULL) - table.hung_ns > HUNG_NS)
		buffer_clear(&table.hung);
	return point && find_text(&table.hung, point);
}
