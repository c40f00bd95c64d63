/*
 * Shared by workload.c and chaos.c: the file for their use, random numbers, and CPU time to burn.
 */
#pragma once

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { FAILED = 111 }; /* exit status of a process that could not do its part */

#define NSEC_PER_USEC INT64_C(1000)
#define NSEC_PER_MSEC INT64_C(1000000)

struct truth {
	_Atomic int64_t cpu_ns;
	_Atomic int64_t processes;
	_Atomic int64_t unwaited_ns;
};

/* All children share it after truth_open() has mapped the file. */
extern struct truth *truth;
extern const char *truth_path;
/* The seed of this process; not 0. */
extern uint64_t seed;

/* Prints `what` and errno, and exits. */
_Noreturn void die(const char *what);

void truth_open(const char *path);

/* Parses an argument; exits if it is not a number from 0 to 2^31-1. */
int number_argument(const char *text);

/* Returns a random number from 0 to limit - 1. */
unsigned below(unsigned limit);
/* Returns the seed for the next child. */
uint64_t seed_of_child(void);

int64_t clock_ns(clockid_t clock);
/* Uses that much CPU time in this thread. */
void burn(int64_t ns);
void sleep_ns(int64_t ns);

/*
 * Reaps a child (-1: any), with any clone flags, and returns its CPU time, including its exit: it reads the
 * clock of the zombie.
 */
int64_t reap_cpu_ns(pid_t pid, siginfo_t *ret_info);
