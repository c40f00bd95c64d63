/* In which system calls a thread waits, and for what kind of thing. */
#pragma once

#include <stdint.h>

#include "job/waits/wait_class.h"

enum wait_kind {
	KIND_UNKNOWN,
	KIND_SLEEP,
	KIND_CHILD,    /* wait4: argument 0 is the child */
	KIND_CHILD_ID, /* waitid: its kind and number */
	KIND_SPAWN,    /* until the child has called exec */
	KIND_READ,     /* argument 0 is the descriptor, as in the next three */
	KIND_WRITE,
	KIND_LOCK_FILE,
	KIND_CONTROL, /* fcntl: a lock of a file by its command */
	KIND_POLL,    /* argument 1: how many descriptors */
	KIND_SELECT,  /* argument 0: the highest one, plus 1 */
	KIND_EPOLL,   /* argument 0 is the epoll descriptor */
	KIND_RING,    /* of io_uring, whose work the kernel does not tell */
	KIND_FUTEX,
	KIND_SIGNAL,
	KIND_SEMAPHORE,
	KIND_MAPPING, /* the map of the process's memory is in use */
	KIND_FILE,    /* a call with the name of a file, or one that flushes all */
};

enum wait_kind wait_kind_of_call(int64_t number);

/* By the function of the kernel in which it waits, where the call may not be read. */
enum wait_class wait_class_of_function(const char *function);
