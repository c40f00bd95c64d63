/* Shared memory with a name. See memory_objects.h. */
#include "job/memory/memory_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/memory/memory_tuning.h"
#include "kernel/proc_pid_mountinfo.h"
#include "kernel/proc_sysvipc_shm.h"

enum { PATH_SIZE = 4096, NAME_SIZE = 96, STAT_BLOCK_BYTES = 512 };
/* As in linux/magic.h, which musl builds lack. */
#define HUGETLBFS 0x958458f6

static void object_done(struct memory_object *object)
{
	free(object->path);
	page_places_done(&object->seen);
}

static void forget_mounts(struct memory_objects *objects)
{
	for (size_t i = 0; i < objects->mount_count; i++)
		free(objects->mounts[i].point);
	free(objects->mounts);
	objects->mounts = NULL;
	objects->mount_count = 0;
}

void memory_objects_done(struct memory_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++)
		object_done(&objects->objects[i]);
	free(objects->objects);
	free(objects->slots);
	forget_mounts(objects);
	*objects = (struct memory_objects){0};
}

/* ---- which files are memory ---------------------------------------------------------------------------- */

static bool path_is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length] || length == 1);
}

static void add_mount(struct memory_objects *objects, const struct mount *mount, bool is_tmpfs)
{
	struct tmpfs_mount *mounts, *added;
	char point[PATH_SIZE];

	if (objects->mount_count == TMPFS_MOST)
		return;
	mounts = realloc(objects->mounts, (objects->mount_count + 1) * sizeof *mounts);
	if (!mounts)
		return;
	objects->mounts = mounts;
	(void)mount_text(&mount->point, point, sizeof point);
	added = &mounts[objects->mount_count];
	*added = (struct tmpfs_mount){.point = strdup(point), .is_tmpfs = is_tmpfs};
	added->device = makedev(mount->major, mount->minor);
	if (added->point)
		objects->mount_count++;
}

static bool is_memory_type(const struct mount *mount)
{
	return scan_is(&mount->type, "tmpfs") || scan_is(&mount->type, "hugetlbfs");
}

static bool is_below_tmpfs(const struct memory_objects *objects, const struct mount *mount)
{
	char point[PATH_SIZE];

	(void)mount_text(&mount->point, point, sizeof point);
	for (size_t i = 0; i < objects->mount_count; i++)
		if (path_is_below(point, objects->mounts[i].point))
			return true;
	return false;
}

void memory_objects_read_mounts(struct memory_objects *objects, struct root *root, pid_t pid)
{
	int64_t now_ns = root_monotonic_ns(root);
	char path[32];
	struct kept_file file = KEPT_FILE(path);
	struct scan mounts, again;
	struct mount mount;
	int error;

	if (objects->mounts_read_ns && now_ns - objects->mounts_read_ns < MOUNTS_AGE_NS)
		return;
	snprintf(path, sizeof path, "proc/%d/mountinfo", (int)pid);
	error = read_proc_pid_mountinfo(root, &file, &mounts);
	kept_file_close(&file);
	if (error < 0)
		return;
	objects->mounts_read_ns = now_ns;
	forget_mounts(objects);
	again = mounts;
	while (proc_pid_mountinfo_next(&mounts, &mount))
		if (is_memory_type(&mount))
			add_mount(objects, &mount, true);
	while (proc_pid_mountinfo_next(&again, &mount))
		if (!is_memory_type(&mount) && is_below_tmpfs(objects, &mount))
			add_mount(objects, &mount, false);
}

/* Decides by the deepest mount: a stat(2) on any other filesystem might hang. */
static bool path_is_memory(const struct memory_objects *objects, const char *path)
{
	const struct tmpfs_mount *deepest = NULL;

	for (size_t i = 0; i < objects->mount_count; i++) {
		const struct tmpfs_mount *mount = &objects->mounts[i];

		if (path_is_below(path, mount->point) &&
		    (!deepest || strlen(mount->point) >= strlen(deepest->point)))
			deepest = mount;
	}
	return deepest && deepest->is_tmpfs;
}

static bool name_begins(const struct scan *name, const char *text)
{
	return scan_left(name) >= strlen(text) && memcmp(name->at, text, strlen(text)) == 0;
}

/* Files of the kernel's internal tmpfs and hugetlbfs, which have no mount point. */
static bool is_nameless(const struct scan *name)
{
	return name_begins(name, "/memfd:") || name_begins(name, "/dev/zero (deleted)") ||
	       name_begins(name, "/SYSV") || name_begins(name, "/anon_hugepage");
}

/* Anonymous memory has the inode 0, and so has the first System V segment of an IPC namespace: its id is 0. */
bool memory_objects_has(const struct memory_objects *objects, const struct memory_area *area)
{
	if (!area->inode && !name_begins(&area->name, "/SYSV"))
		return false;
	if (is_nameless(&area->name))
		return true;
	for (size_t i = 0; i < objects->mount_count; i++)
		if (objects->mounts[i].is_tmpfs && objects->mounts[i].device == area->device)
			return true;
	return false;
}

/* ---- the table ------------------------------------------------------------------------------------------- */

static uint32_t *object_slot(const struct memory_objects *objects, uint64_t device, uint64_t inode)
{
	size_t at = (size_t)((inode ^ device << 32) * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	for (;; at++) {
		uint32_t *slot = &objects->slots[at & (2 * objects->capacity - 1)];

		if (!*slot || (objects->objects[*slot - 1].device == device &&
			       objects->objects[*slot - 1].inode == inode))
			return slot;
	}
}

static void index_objects(struct memory_objects *objects)
{
	memset(objects->slots, 0, 2 * objects->capacity * sizeof *objects->slots);
	for (size_t i = 0; i < objects->count; i++)
		*object_slot(objects, objects->objects[i].device, objects->objects[i].inode) =
			(uint32_t)i + 1;
}

struct memory_object *memory_objects_find(const struct memory_objects *objects, uint64_t device,
					  uint64_t inode)
{
	uint32_t slot = objects->count ? *object_slot(objects, device, inode) : 0;

	return slot ? &objects->objects[slot - 1] : NULL;
}

static bool reserve_objects(struct memory_objects *objects)
{
	size_t capacity = objects->capacity ? objects->capacity * 2 : 8;
	struct memory_object *grown;
	uint32_t *slots;

	if (objects->count < objects->capacity)
		return true;
	grown = realloc(objects->objects, capacity * sizeof *grown);
	if (!grown)
		return false;
	objects->objects = grown;
	slots = realloc(objects->slots, 2 * capacity * sizeof *slots);
	if (!slots)
		return false;
	objects->slots = slots;
	objects->capacity = capacity;
	index_objects(objects);
	return true;
}

static struct memory_object *find_or_add(struct memory_objects *objects, uint64_t device, uint64_t inode)
{
	struct memory_object *object = memory_objects_find(objects, device, inode);

	if (object || objects->count >= OBJECTS_MOST || !reserve_objects(objects))
		return object;
	object = &objects->objects[objects->count++];
	*object = (struct memory_object){.device = device, .inode = inode, .held_fd = -1, .kib = -1};
	*object_slot(objects, device, inode) = (uint32_t)objects->count;
	return object;
}

static void note_path(struct memory_object *object, const struct scan *name)
{
	static const char DELETED[] = " (deleted)";
	size_t length = scan_left(name), tail = sizeof DELETED - 1;

	if (object->path || is_nameless(name) || !length || *name->at != '/' ||
	    (length > tail && memcmp(name->end - tail, DELETED, tail) == 0))
		return;
	object->path = strndup(name->at, length);
}

static bool is_on_hugetlbfs(const struct root *root, const char *name)
{
	char path[NAME_SIZE];
	struct statfs filesystem;

	snprintf(path, sizeof path, "/proc/%s", name);
	return root->live && statfs(path, &filesystem) == 0 && filesystem.f_type == HUGETLBFS;
}

struct memory_object *memory_objects_meet(struct memory_objects *objects, const struct root *root, pid_t pid,
					  const struct memory_area *area)
{
	struct memory_object *object = memory_objects_find(objects, area->device, area->inode);
	uint64_t end = (area->offset + (area->end - area->start)) / (uint64_t)root->page_bytes;

	if (!object) {
		char name[NAME_SIZE];

		object = find_or_add(objects, area->device, area->inode);
		if (!object)
			return NULL;
		object->is_system_v = name_begins(&area->name, "/SYSV");
		object->is_faulted = name_begins(&area->name, "/dev/zero");
		snprintf(name, sizeof name, "%d/map_files/%llx-%llx", (int)pid,
			 (unsigned long long)area->start, (unsigned long long)area->end);
		object->is_huge = name_begins(&area->name, "/anon_hugepage") || is_on_hugetlbfs(root, name);
	}
	note_path(object, &area->name);
	object->was_written |= area->shared && area->writable;
	object->is_used = true;
	object->mapped_by = pid;
	object->mapped_start = area->start;
	object->mapped_end = area->end;
	if (end > object->pages)
		object->pages = end;
	return object;
}

/* ---- descriptors ------------------------------------------------------------------------------------------ */

/* Returns false if the table is full. */
static bool meet_descriptor(struct memory_objects *objects, const struct root *root, int folder_fd, pid_t pid,
			    const char *number, const struct scan *target)
{
	struct memory_object *object;
	char name[NAME_SIZE];
	struct stat status;
	struct scan digits = scan_bytes(number, strlen(number));
	uint64_t fd;

	if (!scan_u64(&digits, &fd) || fd > INT32_MAX || fstatat(folder_fd, number, &status, 0) < 0 ||
	    !S_ISREG(status.st_mode))
		return true;
	object = memory_objects_find(objects, status.st_dev, status.st_ino);
	if (!object) {
		object = find_or_add(objects, status.st_dev, status.st_ino);
		if (!object)
			return false;
		snprintf(name, sizeof name, "%d/fd/%s", (int)pid, number);
		object->is_huge = is_on_hugetlbfs(root, name);
	}
	note_path(object, target);
	if (object->held_fd < 0) {
		object->held_by = pid;
		object->held_fd = (int)fd;
		object->lost_before = 0;
	}
	/* The mode of the link in /proc/PID/fd shows how the file was opened. */
	if (!object->was_written && fstatat(folder_fd, number, &status, AT_SYMLINK_NOFOLLOW) == 0)
		object->was_written = status.st_mode & S_IWUSR;
	return true;
}

void memory_objects_begin_search(struct memory_objects *objects)
{
	objects->cut_now = (struct objects_cut){0};
	objects->searches++;
	objects->lost_one = false;
	objects->lost_kib = 0;
}

void memory_objects_end_search(struct memory_objects *objects)
{
	objects->cut = objects->cut_now;
	for (size_t i = 0; i < objects->count; i++)
		if (objects->objects[i].lost_before <= objects->searches)
			objects->objects[i].lost_before = 0;
}

void memory_objects_scan_fds(struct memory_objects *objects, const struct root *root, pid_t pid)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	char path[NAME_SIZE], target[PATH_SIZE];
	const char *name;
	int64_t found = 0, cut = 0, unread = 0;
	int folder_fd;

	snprintf(path, sizeof path, "%d/fd", (int)pid);
	if (!root->live || root_dir_open_at(root->proc_fd, path, &dir) < 0)
		return;
	folder_fd = dirfd(dir.stream);
	name = root_dir_next(&dir);
	for (int i = 0; i < DESCRIPTORS_MOST && name; i++, name = root_dir_next(&dir)) {
		ssize_t length = readlinkat(folder_fd, name, target, sizeof target - 1);
		struct scan text;

		if (length <= 0 || target[0] != '/')
			continue; /* sockets, pipes */
		target[length] = '\0';
		text = scan_bytes(target, (size_t)length);
		if (!name_begins(&text, "/memfd:") && !path_is_memory(objects, target))
			continue;
		found++;
		cut += !meet_descriptor(objects, root, folder_fd, pid, name, &text);
	}
	/* The rest is assumed to be like those that were read. */
	for (; name; name = root_dir_next(&dir))
		unread++;
	cut += unread * found / DESCRIPTORS_MOST;
	objects->cut_now.all += cut;
	objects->cut_now.most = max_i64(objects->cut_now.most, cut);
}

/* ---- sizes ------------------------------------------------------------------------------------------------ */

static bool ask_object_pages(const struct root *root, const struct memory_object *object, const char *path,
			     int64_t *ret_kib)
{
	struct stat status;

	if (fstatat(root->proc_fd, path, &status, 0) < 0 || status.st_dev != object->device ||
	    status.st_ino != object->inode)
		return false;
	*ret_kib = (int64_t)status.st_blocks * STAT_BLOCK_BYTES >> 10;
	return true;
}

static bool ask_segment(struct root *root, const struct memory_object *object, int64_t *ret_kib)
{
	struct shm_segment segment;
	ssize_t length = read_proc_sysvipc_shm(root);

	if (length < 0 ||
	    !parse_proc_sysvipc_shm(root->text.data, (size_t)length, (int64_t)object->inode, &segment) ||
	    segment.resident_bytes < 0)
		return false;
	*ret_kib = segment.resident_bytes >> 10;
	return true;
}

static bool ask_path(const struct root *root, const struct memory_object *object, pid_t pid, int64_t *ret_kib)
{
	char path[PATH_SIZE];
	int length;

	if (!object->path || pid <= 0)
		return false;
	length = snprintf(path, sizeof path, "%d/root%s", (int)pid, object->path);
	return (size_t)length < sizeof path && ask_object_pages(root, object, path, ret_kib);
}

static bool ask_mapping(struct memory_objects *objects, const struct root *root,
			const struct memory_object *object, int64_t *ret_kib)
{
	char path[NAME_SIZE];
	struct stat status;

	if (!object->is_used || !object->mapped_by || objects->map_files_refused)
		return false;
	snprintf(path, sizeof path, "%d/map_files/%llx-%llx", (int)object->mapped_by,
		 (unsigned long long)object->mapped_start, (unsigned long long)object->mapped_end);
	if (ask_object_pages(root, object, path, ret_kib))
		return true;
	if (fstatat(root->proc_fd, path, &status, 0) < 0 && (errno == EPERM || errno == EACCES))
		objects->map_files_refused = true;
	return false;
}

/* Returns whether the job still uses the object. */
static bool refresh_object(struct memory_objects *objects, struct root *root, struct memory_object *object,
			   pid_t root_pid)
{
	int64_t last_kib = object->kib;
	char path[NAME_SIZE];

	object->kib = -1;
	if (object->is_system_v)
		return ask_segment(root, object, &object->kib) || object->is_used;
	if (object->held_fd >= 0) {
		snprintf(path, sizeof path, "%d/fd/%d", (int)object->held_by, object->held_fd);
		if (ask_object_pages(root, object, path, &object->kib))
			return true;
		object->held_fd = -1;
		object->lost_before = objects->searches + 1;
		objects->lost_one = true;
		objects->lost_kib += max_i64(last_kib, 0);
	}
	if (ask_path(root, object, object->mapped_by, &object->kib) ||
	    ask_path(root, object, object->held_by, &object->kib) ||
	    ask_path(root, object, root_pid, &object->kib))
		return object->is_used || object->was_written;
	if (!ask_mapping(objects, root, object, &object->kib) && object->lost_before)
		object->kib = last_kib;
	return object->is_used || object->lost_before;
}

/* If there are very many objects, they take turns. The others keep their sizes. */
static bool is_turn_of(const struct memory_objects *objects, size_t i)
{
	const struct memory_object *object = &objects->objects[i];

	return (object->kib < 0 && !object->seen.count) || (!object->is_used && object->held_fd < 0) ||
	       (i + objects->refreshes) % (objects->count / REFRESHED_MOST + 1) == 0;
}

void memory_objects_refresh(struct memory_objects *objects, struct root *root, pid_t root_pid)
{
	size_t kept = 0, count = objects->count;

	objects->refreshes++;
	for (size_t i = 0; i < count; i++) {
		struct memory_object *object = &objects->objects[i];

		if (is_turn_of(objects, i) && !refresh_object(objects, root, object, root_pid)) {
			object_done(object);
			continue;
		}
		if (kept != i)
			objects->objects[kept] = *object;
		kept++;
	}
	objects->count = kept;
	if (kept < count)
		index_objects(objects);
}

SELDOM void memory_objects_begin_round(struct memory_objects *objects, const struct page_place *object_id,
				       const struct round_begin *begin)
{
	struct memory_object *object = memory_objects_find(objects, object_id->space, object_id->page);

	if (!object || object->kib >= 0)
		return;
	if (!object->round_ns) {
		object->others_kib = begin->others_kib;
		object->first_round_ns = begin->now_ns;
	}
	/* Pages that were seen since the round began may have gone as well. */
	if (!object->round_ns || (begin->fell_kib && begin->before_ns >= object->round_ns)) {
		object->round_ns = begin->now_ns;
		object->round++;
	}
	object->fell_kib += begin->fell_kib;
	object->left_kib += max_i64(0, begin->fell_kib - begin->unmapped_kib);
	objects->in_round = true;
}

/*
 * Returns the size of the pages that the last round has not seen, if members have given most of them back without unmapping them, and the
 * machine has lost most of them. Else they stay, and their users may see them again. `is_last`: the machine has had the time to lose them.
 * The resident sets of a pass are older than the pages that it finds: they may show the loss in the next pass only.
 */
SELDOM static int64_t end_round(struct memory_object *object, int64_t others_kib, int64_t page_bytes,
				bool is_last)
{
	int64_t block_kib = page_bytes << object->seen.level >> 10, gone_kib = 0, unseen_kib = 0;
	bool is_left, is_lost, has_fallen;
	size_t kept = 0;

	for (size_t i = 0; i < object->seen.count; i++)
		if (object->seen.at[i].space < object->judged)
			unseen_kib += block_kib;
		else if (object->seen.at[i].space < object->round)
			gone_kib += block_kib;
	is_left = 2 * object->left_kib >= gone_kib;
	is_lost = 2 * (object->others_kib - others_kib) >= gone_kib;
	has_fallen = 2 * object->fell_kib >= gone_kib;
	if (!is_last && (is_left ? !is_lost : !has_fallen && !object->has_waited)) {
		object->has_waited = !is_left;
		return 0;
	}
	object->has_waited = false;
	if (!is_left || !is_lost) {
		object->doubt_kib += is_lost ? gone_kib : min_i64(gone_kib, object->left_kib);
		unseen_kib += gone_kib;
		gone_kib = 0;
	}
	for (size_t i = 0; i < object->seen.count; i++)
		if (!gone_kib || object->seen.at[i].space < object->judged ||
		    object->seen.at[i].space == object->round)
			object->seen.at[kept++] = object->seen.at[i];
	object->seen.count = kept;
	object->doubt_kib = min_i64(object->doubt_kib, unseen_kib);
	object->judged = object->round;
	object->round_ns = object->fell_kib = object->left_kib = 0;
	return gone_kib;
}

SELDOM int64_t memory_objects_end_rounds(struct memory_objects *objects, int64_t now_ns, int64_t others_kib,
					 int64_t page_bytes)
{
	int64_t gone_kib = 0;

	objects->in_round = false;
	for (size_t i = 0; i < objects->count; i++) {
		struct memory_object *object = &objects->objects[i];

		if (!object->round_ns)
			continue;
		if (object->is_used && object->oldest_ns >= object->round_ns)
			gone_kib += end_round(object, others_kib + gone_kib, page_bytes,
					      now_ns - object->first_round_ns >= REMOVAL_NS);
		objects->in_round |= object->round_ns;
	}
	return gone_kib;
}

/* Objects that the table has no place for are assumed to be like the others. */
static void add_cut(const struct memory_objects *objects, const struct objects_cut *pages,
		    double kib_per_page, double kib_per_descriptor, struct memory_objects_sum *sum)
{
	/* A search of many descriptors takes several ticks. */
	double held_most = (double)max_i64(objects->cut.most, objects->cut_now.most);
	double held_all = (double)max_i64(objects->cut.all, objects->cut_now.all);
	double kib = (double)pages->most * kib_per_page + held_most * kib_per_descriptor;
	double all_kib = (double)pages->all * kib_per_page + held_all * kib_per_descriptor;

	if (kib <= 0)
		return;
	sum->sampled = true;
	sum->kib += (int64_t)kib;
	sum->cut_kib += (int64_t)(all_kib - kib + kib / (double)CUT_DOUBT_PART);
}

struct memory_objects_sum memory_objects_sum(const struct memory_objects *objects,
					     const struct objects_cut *cut_pages, int64_t page_bytes)
{
	struct memory_objects_sum sum = {0};
	double mapped_kib = 0, mapped = 0, held_kib = 0, held = 0;

	for (size_t i = 0; i < objects->count; i++) {
		const struct memory_object *object = &objects->objects[i];
		int64_t kib = object->kib;

		if (kib < 0) {
			double all = (double)object->pages, seen = (double)object->seen.count;
			double block_kib = (double)(page_bytes << object->seen.level) / 1024;

			kib = (int64_t)(seen * block_kib);
			if (kib > (int64_t)object->pages * (page_bytes >> 10))
				kib = (int64_t)object->pages * (page_bytes >> 10);
			sum.sampled = true;
			sum.has_unknown |= !object->is_huge;
			sum.has_written |= !object->is_faulted;
			sum.faulted_kib += kib;
			sum.cut_kib += min_i64(kib, object->fell_kib + object->doubt_kib);
			/* Binomial variance: each block was present or not. */
			if (object->seen.level && all > 0) {
				double share = seen * (double)(UINT64_C(1) << object->seen.level) / all;

				if (share < 1)
					sum.variance += seen * (1 - share) * block_kib * block_kib;
			}
		}
		if (object->lost_before && !object->is_used)
			sum.cut_kib += kib;
		if (object->is_huge) {
			sum.huge_kib += kib;
			continue;
		}
		sum.kib += kib;
		if (object->pages) {
			mapped_kib += (double)kib;
			mapped += (double)object->pages;
		}
		if (object->held_fd >= 0) {
			held_kib += (double)kib;
			held++;
		}
	}
	add_cut(objects, cut_pages, mapped > 0 ? mapped_kib / mapped : 0, held > 0 ? held_kib / held : 0,
		&sum);
	return sum;
}
