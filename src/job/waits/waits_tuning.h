/* The numbers by which the looks for waits are tuned. */
#pragma once

enum {
	/* Threads that one look may read, 20 us each: a chain has 2 to 6, the rest is for siblings and other writers. */
	WAIT_THREADS_MOST = 24,
	/* Descriptors that one look may read, 2 us each. */
	WAIT_LINKS_MOST = 400,
	/* Other threads of a process that one look asks what they wait for, because one of them may be the reason. */
	WAIT_SIBLINGS_MOST = 12,
	/* Threads of a process that are listed to find the newest ones, less than 1 us each. */
	WAIT_THREADS_LISTED = 256,
	/* Descriptors of one poll or epoll that are described. */
	WAIT_POLLED_MOST = 12,
	/* Processes in a chain. */
	WAIT_DEPTH_MOST = 12,
	/* Different waits that are counted one by one. */
	WAIT_ROWS_MOST = 48,
	/* Of these, those that have a path or addresses: the places of a job with many files do not fill the table. */
	WAIT_DETAILS_MOST = WAIT_ROWS_MOST / 3,
	/* Less idle time than this part of a sample (1/20) does not count as a wait. A busy job is not read at all. */
	WAIT_IDLE_PARTS = 20,
};
