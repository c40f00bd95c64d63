/* Names the thing behind a descriptor. See wait_target.h. */
#include "job/waits/wait_target.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scan.h"
#include "job/tree/process_files.h"
#include "job/waits/wait_call.h"
#include "kernel/proc_pid_mountinfo.h"

/* Newer than some of the C libraries that we build with. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

static const char OWN[] = "its own";

enum { PATH_SIZE = 64, LINK_SIZE = 256, DESCRIPTORS_LISTED = 128 };

/* Descriptors whose link tells all by its beginning. */
static const struct {
	const char *beginning;
	uint8_t class;
	uint8_t strength;
	const char *target;
} LINKS[] = {
	{"/dev/pts/", WAIT_TERMINAL, WAIT_STRONG, ""},       {"/dev/tty", WAIT_TERMINAL, WAIT_STRONG, ""},
	{"/dev/console", WAIT_TERMINAL, WAIT_STRONG, ""},    {"/dev/", WAIT_OTHER, WAIT_WEAK, "a device"},
	{"anon_inode:[timerfd]", WAIT_SLEEP, WAIT_WEAK, ""}, {"anon_inode:", WAIT_EVENTS, WAIT_WEAK, ""},
};

enum wait_strength wait_ends(struct found_wait *found, pid_t pid, enum wait_class class, const char *target,
			     enum wait_strength strength)
{
	*found = (struct found_wait){.class = class, .pid = pid, .fd = -1};
	snprintf(found->target, sizeof found->target, "%s", target);
	return strength;
}

const char *wait_function(struct wait_chain *chain, pid_t pid, pid_t tid)
{
	char path[PATH_SIZE];
	ssize_t length;

	snprintf(path, sizeof path, "task/%d/wchan", (int)tid);
	length = root_read_pid(chain->tree->root, pid, path);
	return length > 0 ? chain->tree->root->text.data : "0";
}

/* ---- descriptors of the job ---- */

static bool read_link(struct wait_chain *chain, pid_t pid, int fd, char link[LINK_SIZE])
{
	char path[PATH_SIZE];
	ssize_t length;

	snprintf(path, sizeof path, "%d/fd/%d", (int)pid, fd);
	length = readlinkat(chain->tree->root->proc_fd, path, link, LINK_SIZE - 1);
	chain->links_left--;
	link[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Lists the descriptors, the newest first. Returns how many. */
static int list_descriptors(const struct wait_chain *chain, pid_t pid, int ret_fds[DESCRIPTORS_LISTED])
{
	char path[PATH_SIZE];
	DIR *directory;
	int count = 0, fd;

	snprintf(path, sizeof path, "%d/fd", (int)pid);
	directory = process_folder_open(chain->tree->root, path);
	if (!directory)
		return 0;
	/* Zero ends the list, so it is added below. */
	while (count < DESCRIPTORS_LISTED - 1 && (fd = process_folder_next(directory)) > 0) {
		int at = count++;

		for (; at && ret_fds[at - 1] < fd; at--)
			ret_fds[at] = ret_fds[at - 1];
		ret_fds[at] = fd;
	}
	closedir(directory);
	ret_fds[count++] = 0;
	return count;
}

/* The permissions of the link tell how the descriptor may be used. */
static bool link_allows(const struct wait_chain *chain, pid_t pid, int fd, mode_t mode)
{
	char path[PATH_SIZE];
	struct stat link;

	snprintf(path, sizeof path, "%d/fd/%d", (int)pid, fd);
	return fstatat(chain->tree->root->proc_fd, path, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
	       link.st_mode & mode;
}

/* Whether a process holds what is wanted behind this descriptor. */
typedef bool holder_test(struct wait_chain *chain, pid_t pid, int fd, const void *wanted);

/* Follows the edge to the processes of the job that have the same file open, and pass the test: the newest first. */
static enum wait_strength follow_holders(struct wait_chain *chain, pid_t pid, const char *link,
					 holder_test *test, const void *wanted, struct found_wait *found,
					 bool *ret_is_held)
{
	enum wait_strength best = WAIT_NONE;

	for (size_t i = chain->tree->count; i-- && best != WAIT_STRONG;) {
		const struct member *member = &chain->tree->members[i];
		int fds[DESCRIPTORS_LISTED], count;
		char other_link[LINK_SIZE];

		if (member->pid == pid || member->is_zombie || chain->links_left <= 0)
			continue;
		count = list_descriptors(chain, member->pid, fds);
		for (int j = 0; j < count && chain->links_left > 0; j++) {
			struct found_wait other;
			enum wait_strength strength;

			if (!read_link(chain, member->pid, fds[j], other_link) ||
			    strcmp(link, other_link) != 0 || !test(chain, member->pid, fds[j], wanted))
				continue;
			strength = chain->follow(chain, member->pid, &other);
			*ret_is_held = true;
			if (strength > best) {
				best = strength;
				*found = other;
			}
			break;
		}
	}
	return best;
}

static bool is_other_end(struct wait_chain *chain, pid_t pid, int fd, const void *wanted)
{
	return link_allows(chain, pid, fd, *(const mode_t *)wanted);
}

static enum wait_strength wait_at_pipe(struct wait_chain *chain, pid_t pid, const char *link, bool writes,
				       struct found_wait *found)
{
	bool is_held = false;
	const mode_t other_end = writes ? S_IRUSR : S_IWUSR;
	const struct member *member = process_tree_find(chain->tree, pid);
	enum wait_strength strength =
		follow_holders(chain, pid, link, is_other_end, &other_end, found, &is_held);
	int fds[DESCRIPTORS_LISTED], count;
	char own_link[LINK_SIZE];

	if (strength == WAIT_STRONG)
		return strength;
	count = list_descriptors(chain, pid, fds);
	for (int i = 0; i < count && chain->links_left > 0; i++) {
		if (!read_link(chain, pid, fds[i], own_link) || strcmp(own_link, link) != 0 ||
		    !link_allows(chain, pid, fds[i], other_end))
			continue;
		/* make takes a job slot out of a pipe of which it has both ends. */
		if (member && strstr(member->program.comm, "make"))
			return wait_ends(found, pid, WAIT_JOBSERVER, "", WAIT_WEAK);
		return strength ? strength : wait_ends(found, pid, WAIT_PIPE, OWN, WAIT_WEAK);
	}
	if (strength)
		return strength;
	/* Idle processes of the job wait for each other, and a search that was cut short has not seen all. */
	if (is_held || chain->links_left <= 0)
		return wait_ends(found, pid, WAIT_PIPE, "another process of the job", WAIT_WEAK);
	return wait_ends(found, pid, WAIT_PIPE, "a process outside the job", WAIT_STRONG);
}

/* ---- sockets ---- */

static bool is_own_machine(const struct sockaddr_storage *address)
{
	const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	const uint8_t *four = (const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;

	if (address->ss_family == AF_INET)
		return four[0] == 127;
	return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

static int number_option(int fd, int option)
{
	int value = 0;
	socklen_t size = sizeof value;

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) < 0 ? 0 : value;
}

static enum wait_strength wait_at_local_socket(struct wait_chain *chain, pid_t pid, int copy,
					       struct found_wait *found)
{
	struct ucred peer = {0};
	socklen_t size = sizeof peer;

	if (number_option(copy, SO_ACCEPTCONN))
		return wait_ends(found, pid, WAIT_SOCKET, "a client of a unix socket", WAIT_WEAK);
	if (getsockopt(copy, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid == pid)
		return WAIT_NONE; /* a pair of its own */
	if (process_tree_find(chain->tree, peer.pid))
		return chain->follow(chain, peer.pid, found);
	return wait_ends(found, pid, WAIT_SOCKET, "a unix socket of another process", WAIT_STRONG);
}

static enum wait_strength wait_at_copy(struct wait_chain *chain, pid_t pid, int copy,
				       struct found_wait *found)
{
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof address;
	int domain = number_option(copy, SO_DOMAIN);
	bool listens = number_option(copy, SO_ACCEPTCONN);
	char target[WAIT_TARGET_SIZE];

	if (domain == AF_UNIX)
		return wait_at_local_socket(chain, pid, copy, found);
	if (domain != AF_INET && domain != AF_INET6)
		return wait_ends(found, pid, WAIT_SOCKET, "the kernel", WAIT_WEAK);
	if (listens ? getsockname(copy, (struct sockaddr *)&address, &size) < 0
		    : getpeername(copy, (struct sockaddr *)&address, &size) < 0)
		return wait_ends(found, pid, WAIT_SOCKET, "a connection that is being made", WAIT_STRONG);
	snprintf(target, sizeof target, "%s%s port %d%s", listens ? "a client of " : "",
		 number_option(copy, SO_TYPE) == SOCK_DGRAM ? "UDP" : "TCP",
		 ntohs(((struct sockaddr_in *)(void *)&address)->sin_port),
		 listens                    ? ""
		 : is_own_machine(&address) ? " of this machine"
					    : " of another machine");
	return wait_ends(found, pid, WAIT_SOCKET, target, listens ? WAIT_WEAK : WAIT_STRONG);
}

int wait_copy_socket(pid_t pid, int fd)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);

	if (process >= 0)
		close(process);
	return copy;
}

/* The kernel tells the peer of a socket by a copy of its descriptor, which is closed at once. */
static enum wait_strength wait_at_socket(struct wait_chain *chain, pid_t pid, int fd,
					 struct found_wait *found)
{
	int copy = wait_copy_socket(pid, fd);
	enum wait_strength strength = copy < 0 ? wait_ends(found, pid, WAIT_SOCKET, "", WAIT_STRONG)
					       : wait_at_copy(chain, pid, copy, found);

	if (copy >= 0)
		close(copy);
	return strength;
}

/* ---- files ---- */

/* Finds a line "KEY:<tab>VALUE" of fdinfo in the text that was read last. */
static bool find_fdinfo_line(const struct root *root, ssize_t length, const char *key, struct scan *ret_value)
{
	struct scan text = scan_bytes(root->text.data, length > 0 ? (size_t)length : 0), line;

	while (scan_line(&text, &line))
		if (scan_literal(&line, key)) {
			*ret_value = line;
			return true;
		}
	return false;
}

static ssize_t read_fdinfo(struct wait_chain *chain, pid_t pid, int fd)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "fdinfo/%d", fd);
	return root_read_pid(chain->tree->root, pid, path);
}

/* The disk of an open file, or the kind of its file system. Nothing asks the file system itself, which may hang. */
static enum wait_strength wait_at_storage(struct wait_chain *chain, pid_t pid, int fd,
					  struct found_wait *found)
{
	struct root *root = chain->tree->root;
	ssize_t length = read_fdinfo(chain, pid, fd);
	char path[PATH_SIZE], disk[32] = "", type[24];
	struct scan value, mounts;
	struct mount mount;
	int64_t id;

	(void)wait_ends(found, pid, WAIT_STORAGE, "", WAIT_STRONG);
	if (!find_fdinfo_line(root, length, "mnt_id:\t", &value) || !scan_i64(&value, &id))
		return WAIT_STRONG;
	length = root_read_pid(root, pid, "mountinfo");
	mounts = parse_proc_pid_mountinfo(root->text.data, length > 0 ? (size_t)length : 0);
	while (proc_pid_mountinfo_next(&mounts, &mount)) {
		if (mount.id != id)
			continue;
		(void)mount_text(&mount.type, type, sizeof type);
		snprintf(path, sizeof path, "sys/dev/block/%u:%u", mount.major, mount.minor);
		if (root_link_name_at(root->dir_fd, path, disk, sizeof disk) > 0)
			snprintf(found->target, sizeof found->target, "disk %s (%s)", disk, type);
		else
			snprintf(found->target, sizeof found->target, "%s", type);
		break;
	}
	return WAIT_STRONG;
}

/* A disk that is read without a file system. */
static bool wait_at_raw_disk(const struct wait_chain *chain, pid_t pid, const char *link,
			     struct found_wait *found)
{
	char path[LINK_SIZE + 16], disk[32];

	snprintf(path, sizeof path, "sys/class/block/%s", strrchr(link, '/') + 1);
	if (root_link_name_at(chain->tree->root->dir_fd, path, disk, sizeof disk) <= 0)
		return false;
	(void)wait_ends(found, pid, WAIT_STORAGE, "", WAIT_STRONG);
	snprintf(found->target, sizeof found->target, "disk %s", disk);
	return true;
}

static bool has_lock(struct wait_chain *chain, pid_t pid, int fd, const void *wanted)
{
	struct scan line;

	(void)wanted;
	return find_fdinfo_line(chain->tree->root, read_fdinfo(chain, pid, fd), "lock:", &line);
}

enum wait_strength wait_at_file_lock(struct wait_chain *chain, pid_t pid, int fd, struct found_wait *found)
{
	char link[LINK_SIZE];
	enum wait_strength strength = WAIT_NONE;
	bool is_held = false;

	if (read_link(chain, pid, fd, link))
		strength = follow_holders(chain, pid, link, has_lock, NULL, found, &is_held);
	if (strength)
		return strength;
	(void)wait_ends(found, pid, WAIT_FILE_LOCK, is_held ? "held in the job" : "held by another process",
			WAIT_STRONG);
	found->fd = fd;
	return WAIT_STRONG;
}

/* ---- any descriptor ---- */

static enum wait_strength at_descriptor(struct wait_chain *chain, pid_t pid, pid_t tid, int fd, bool writes,
					struct found_wait *found)
{
	char link[LINK_SIZE];

	if (!read_link(chain, pid, fd, link))
		return wait_ends(found, pid, WAIT_OTHER, "", WAIT_WEAK);
	if (strncmp(link, "pipe:", 5) == 0)
		return wait_at_pipe(chain, pid, link, writes, found);
	if (strncmp(link, "socket:", 7) == 0)
		return wait_at_socket(chain, pid, fd, found);
	if (strncmp(link, "/dev/", 5) == 0 && wait_at_raw_disk(chain, pid, link, found))
		return WAIT_STRONG;
	for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++)
		if (strncmp(link, LINKS[i].beginning, strlen(LINKS[i].beginning)) == 0)
			return wait_ends(found, pid, LINKS[i].class, LINKS[i].target, LINKS[i].strength);
	if (link[0] == '/' && tid && wait_class_of_function(wait_function(chain, pid, tid)) == WAIT_PIPE)
		return wait_at_pipe(chain, pid, link, writes, found);
	return wait_at_storage(chain, pid, fd, found);
}

/* Where the chain ends at this process, the descriptor is kept. */
static enum wait_strength with_descriptor(enum wait_strength strength, struct found_wait *found, pid_t pid,
					  int fd)
{
	if (strength && found->pid == pid)
		found->fd = fd;
	return strength;
}

enum wait_strength wait_at_descriptor(struct wait_chain *chain, pid_t pid, pid_t tid, int fd, bool writes,
				      struct found_wait *found)
{
	return with_descriptor(at_descriptor(chain, pid, tid, fd, writes, found), found, pid, fd);
}

/* A file is always ready, so no poll waits for it, but a ring does. Descriptors of the process's own wake-ups tell nothing. */
static enum wait_strength wait_at_polled(struct wait_chain *chain, pid_t pid, int fd,
					 struct found_wait *found)
{
	enum wait_strength strength = wait_at_descriptor(chain, pid, 0, fd, false, found);

	bool is_wake_up = found->class == WAIT_STORAGE || found->class == WAIT_OTHER ||
			  found->class == WAIT_EVENTS || strcmp(found->target, OWN) == 0;

	if (chain->reads_files && strength && found->class == WAIT_STORAGE && found->pid == pid)
		return WAIT_WEAK;
	return strength && is_wake_up && found->pid == pid ? WAIT_NONE : strength;
}

/* The first of the descriptors that names the reason, else the best. */
static enum wait_strength wait_at_list(struct wait_chain *chain, pid_t pid, const int *fds, int count,
				       struct found_wait *found)
{
	enum wait_strength best = WAIT_NONE;

	for (int i = 0; i < count && i < WAIT_POLLED_MOST && best != WAIT_STRONG && !chain->runs; i++) {
		struct found_wait other;
		enum wait_strength strength = wait_at_polled(chain, pid, fds[i], &other);

		if (strength > best) {
			best = strength;
			*found = other;
		}
	}
	return best;
}

enum wait_strength wait_at_any(struct wait_chain *chain, pid_t pid, int below, struct found_wait *found)
{
	int fds[DESCRIPTORS_LISTED], first = 0, count = list_descriptors(chain, pid, fds);

	while (first < count && fds[first] >= below)
		first++;
	return wait_at_list(chain, pid, fds + first, count - first, found);
}

enum wait_strength wait_at_epoll(struct wait_chain *chain, pid_t pid, int fd, struct found_wait *found)
{
	ssize_t length = read_fdinfo(chain, pid, fd);
	struct scan text = scan_bytes(chain->tree->root->text.data, length > 0 ? (size_t)length : 0), line;
	int fds[WAIT_POLLED_MOST], count = 0;

	while (count < WAIT_POLLED_MOST && scan_line(&text, &line)) {
		int64_t number;

		if (scan_literal(&line, "tfd:") && scan_i64(&line, &number))
			fds[count++] = (int)number;
	}
	return wait_at_list(chain, pid, fds, count, found);
}
