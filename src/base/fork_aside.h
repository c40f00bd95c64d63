/* Processes for work on files that may hang. */
#pragma once

#include <sys/types.h>

/*
 * Forks. The child holds no descriptor but `kept_fd` and `also_fd` (-1: none), gets no signal that the kernel lets it block, and belongs to no
 * terminal, so nothing waits for it if it is stuck in the kernel. Returns as fork(2).
 */
pid_t fork_aside(int kept_fd, int also_fd);
