/*
 * The lists and times of the search for the process that failed first. docs/CAUSES.md says how they were found; bench/failures tries
 * them.
 */
#pragma once

#include <signal.h>

#include "base/clock.h"

/* Programs that answer a question by 1 or 2. */
#define QUESTIONS \
	" grep egrep fgrep zgrep rg test [ diff cmp false expr which pgrep pkill pidof ls kill ping getent " \
	"command type hash id stat readlink mountpoint systemctl dpkg rpm pkg-config locale tty "
/* Programs that run others and end with their status. */
#define SHELLS \
	" sh bash dash ash ksh mksh zsh fish busybox env nice ionice nohup setsid stdbuf time taskset " \
	"numactl timeout sudo su chroot unshare script flock "
/* Programs that run others until one fails. */
#define MAKERS " make gmake ninja samu xargs parallel "
/* Programs that end others at a limit: these failed, by taking too long. */
#define LIMITERS " timeout "

#define SIGNAL_BIT(number) (1U << (number))
#define CRASH_SIGNALS \
	(SIGNAL_BIT(SIGQUIT) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGABRT) | \
	 SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSEGV) | \
	 SIGNAL_BIT(SIGXCPU) | SIGNAL_BIT(SIGXFSZ) | SIGNAL_BIT(SIGSYS))
/* Mostly sent on purpose: SIGPIPE ends the writer of "| head". */
#define POLITE_SIGNALS \
	(SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGUSR2) | \
	 SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGALRM) | SIGNAL_BIT(SIGTERM))

/* A program that handles a failure of its child and ends because of it needs less, with its message and its clean-up. */
#define WENT_ON_NS (300 * NSEC_PER_MSEC)
/* All threads of a process end within this time. */
#define TOLD_AGAIN_NS NSEC_PER_SEC
