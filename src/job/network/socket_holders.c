/* Sockets among the descriptors of processes. See socket_holders.h. */
#include "job/network/socket_holders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scan.h"
#include "job/network/network_tuning.h"
#include "job/tree/process_files.h"

enum {
	LINK_SIZE = 64,
	PATH_SIZE = 64,
	PROTOCOL_SIZE = 32,
};

void socket_holders_done(struct socket_holders *holders)
{
	id_table_done(&holders->seen);
	*holders = (struct socket_holders){0};
}

/* ---- one process ------------------------------------------------------------------------------------------ */

/* The inode of "socket:[INODE]", or 0. */
static uint64_t socket_inode(int folder_fd, const char *name)
{
	char target[LINK_SIZE];
	ssize_t length = readlinkat(folder_fd, name, target, sizeof target);
	struct scan text = scan_bytes(target, length > 0 ? (size_t)length : 0);
	uint64_t inode;

	return scan_literal(&text, "socket:[") && scan_u64(&text, &inode) ? inode : 0;
}

/* An unknown name may be that of TCP: the table of sockets will tell. */
static enum socket_protocol protocol_of(pid_t pid, const char *name)
{
	static const char *const DATAGRAMS[] = {"UDP", "RAW", "PING", "DCCP", "SCTP", "PACKET", "XDP"};
	static const char *const LOCAL[] = {"UNIX", "NETLINK", "AF_VSOCK", "ALG"};
	char path[PATH_SIZE], protocol[PROTOCOL_SIZE] = "";

	snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)pid, name);
	(void)getxattr(path, "system.sockprotoname", protocol, sizeof protocol);
	for (size_t i = 0; i < sizeof DATAGRAMS / sizeof *DATAGRAMS; i++)
		if (strncmp(protocol, DATAGRAMS[i], strlen(DATAGRAMS[i])) == 0)
			return SOCKET_DATAGRAM;
	for (size_t i = 0; i < sizeof LOCAL / sizeof *LOCAL; i++)
		if (strncmp(protocol, LOCAL[i], strlen(LOCAL[i])) == 0)
			return SOCKET_LOCAL;
	return SOCKET_TCP;
}

static int search_one(struct socket_holders *holders, const struct root *root, pid_t pid, socket_visit *visit,
		      void *context)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	char path[PATH_SIZE];
	const char *name;
	int error;

	snprintf(path, sizeof path, "%d/fd", (int)pid);
	error = root_dir_open_at(root->proc_fd, path, &dir);
	for (int i = 0; error >= 0 && i < DESCRIPTORS_MOST && (name = root_dir_next(&dir)); i++) {
		uint64_t inode = socket_inode(dirfd(dir.stream), name);
		uint32_t known;
		enum socket_protocol protocol;

		if (!inode)
			continue;
		if (id_table_find(&holders->seen, inode, &known)) {
			if (known == SOCKET_TCP)
				visit(context, inode, SOCKET_TCP);
			continue;
		}
		protocol = protocol_of(pid, name);
		if (holders->seen.count >= SEEN_MOST)
			id_table_clear(&holders->seen);
		(void)id_table_put(&holders->seen, inode, protocol);
		if (protocol != SOCKET_LOCAL)
			visit(context, inode, protocol);
	}
	return error;
}

/* Visits a descriptor if it is a socket of the internet. Returns whether it is open. */
static bool visit_own_descriptor(const struct root *root, int fd, own_socket_visit *visit, void *context)
{
	char name[PATH_SIZE];
	socklen_t size = sizeof(int);
	uint64_t inode;
	int domain;

	if (fd == root->dir_fd || fd == root->proc_fd)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0)
		return errno == ENOTSOCK;
	if (domain != AF_INET && domain != AF_INET6)
		return true;
	snprintf(name, sizeof name, "self/fd/%d", fd);
	inode = socket_inode(root->proc_fd, name);
	if (inode)
		visit(context, fd, inode);
	return true;
}

/*
 * Since Linux 6.2 the size of the folder is the number of open descriptors, so the first few numbers can be tried until all were
 * found. That takes a tenth of the time of a listing. Returns -1, or the next number after a gap: a shell may have left one at 255.
 */
static int search_first_numbers(const struct root *root, own_socket_visit *visit, void *context)
{
	struct stat folder = {0};
	int64_t left;
	int closed = 0, fd = 0;

	(void)fstatat(root->proc_fd, "self/fd", &folder, AT_SYMLINK_NOFOLLOW);
	left = folder.st_size;
	for (; left > 0 && closed < CLOSED_MOST; fd++) {
		bool is_open = visit_own_descriptor(root, fd, visit, context);

		left -= is_open;
		closed = is_open ? 0 : closed + 1;
	}
	return fd && !left ? -1 : fd;
}

void socket_holders_search_self(const struct root *root, own_socket_visit *visit, void *context)
{
	CLEANUP_ROOT_DIR struct root_dir dir = ROOT_DIR;
	const char *name;
	int next = search_first_numbers(root, visit, context);

	if (next < 0 || root_dir_open_at(root->proc_fd, "self/fd", &dir) < 0)
		return;
	while ((name = root_dir_next(&dir))) {
		struct scan digits = scan_bytes(name, strlen(name));
		uint64_t fd;

		if (scan_u64(&digits, &fd) && fd >= (uint64_t)next)
			(void)visit_own_descriptor(root, (int)fd, visit, context);
	}
}

/* ---- all members ------------------------------------------------------------------------------------------ */

/* The descriptors of a zombie, which has none, may be denied as well. */
static bool has_ended(const struct process_tree *tree, const struct member *member)
{
	struct proc_pid_stat stat;

	return read_proc_pid_stat(tree->root, member->pid, &stat) < 0 || proc_pid_stat_is_exiting(&stat) ||
	       stat.start_ticks != member->start_ticks;
}

static void search_member(struct socket_holders *holders, const struct process_tree *tree,
			  struct member *member, socket_visit *visit, void *context)
{
	/* An attached recorder searches before the first pass, which reads the clocks. */
	int64_t looked_ns = member->cpu.looked_ns,
		clock_ns = looked_ns >= 0 ? looked_ns : process_clock_ns(member->pid);
	int error = search_one(holders, tree->root, member->pid, visit, context);

	member->sockets = (struct member_sockets){holders->searches, clock_ns};
	if ((error == -EACCES || error == -EPERM) && !has_ended(tree, member))
		holders->denied = true;
}

/* CPU time since the first call. The clock is a system call, so it is first read for the first process that is searched. */
static int64_t used_ns(int64_t *begun_ns)
{
	int64_t now_ns = thread_cpu_now_ns();

	if (!*begun_ns)
		*begun_ns = now_ns;
	return now_ns - *begun_ns;
}

int64_t socket_holders_search(struct socket_holders *holders, struct process_tree *tree, int64_t allowance_ns,
			      socket_visit *visit, void *context)
{
	bool limited = allowance_ns >= 0;
	int64_t begun_ns = limited ? 0 : thread_cpu_now_ns();

	holders->is_complete = true;
	holders->searches++;
	/* A new process first: it may be gone soon. */
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[i];

		if (member->sockets.searched || member->is_zombie)
			continue;
		if (limited && used_ns(&begun_ns) >= allowance_ns)
			holders->is_complete = false;
		else
			search_member(holders, tree, member, visit, context);
	}
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->members[holders->next++ % tree->count];
		const struct member_sockets *last = &member->sockets;

		if (last->searched == holders->searches || member->is_zombie ||
		    (last->clock_ns == member->cpu.looked_ns && last->clock_ns >= 0))
			continue;
		if (limited && used_ns(&begun_ns) >= allowance_ns) {
			holders->next--;
			holders->is_complete = false;
			break;
		}
		search_member(holders, tree, member, visit, context);
	}
	return begun_ns ? used_ns(&begun_ns) : 0;
}
