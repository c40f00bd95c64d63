/* The reasons of absent values in words; see absent.h. */
#include "metric/absent.h"

#include <string.h>

#include "base/cleanup.h"

static const char *const TEXTS[] = {
	[ABSENT_NOT_COLLECTED - ABSENT_NOT_COLLECTED] = "not measured here",
	[ABSENT_FIRST_SAMPLE - ABSENT_NOT_COLLECTED] = "needs an earlier sample",
	[ABSENT_COUNTER_RESET - ABSENT_NOT_COLLECTED] = "the counter went backwards",
	[ABSENT_NOT_TRACKED - ABSENT_NOT_COLLECTED] = "no process is tracked",
	[ABSENT_NOT_WANTED - ABSENT_NOT_COLLECTED] = "switched off by an option",
	[ABSENT_NO_LIMIT - ABSENT_NOT_COLLECTED] = "there is no limit",
	[ABSENT_NO_SUCH_COUNTER - ABSENT_NOT_COLLECTED] = "this kernel or device does not count it",
	[ABSENT_ZOMBIE - ABSENT_NOT_COLLECTED] =
		"the process has ended: its memory is gone, or the kernel is freeing it",
	[ABSENT_PSS_TOO_COSTLY - ABSENT_NOT_COLLECTED] = "reading it now would stall the job (see --pss)",
	[ABSENT_NOT_SAMPLED - ABSENT_NOT_COLLECTED] = "nothing was sampled, so there is no sampling error",
	[ABSENT_PSS_OFF - ABSENT_NOT_COLLECTED] = "switched off by --pss off",
	[ABSENT_NOT_YET - ABSENT_NOT_COLLECTED] =
		"not read yet: the run was too short, or a helper process has not answered",
	[ABSENT_STALE - ABSENT_NOT_COLLECTED] = "the helper process's last answer is too old",
	[ABSENT_NO_CGROUP - ABSENT_NOT_COLLECTED] = "the cgroup's files could not be found",
	[ABSENT_NOT_A_VALUE - ABSENT_NOT_COLLECTED] = "the kernel gives no usable value",
	[ABSENT_NO_ATTRIBUTION - ABSENT_NOT_COLLECTED] = "the part that belongs to the job is unknown",
	[ABSENT_IN_PROGRAM - ABSENT_NOT_COLLECTED] = "the tracker is a part of another program",
	[ABSENT_NOT_GIVEN - ABSENT_NOT_COLLECTED] = "it was not given or not requested",
	[ABSENT_NOT_THIS_END - ABSENT_NOT_COLLECTED] = "the run ended in another way",
	[ABSENT_UNSEEN_EXITS - ABSENT_NOT_COLLECTED] = "processes may have come and gone between two samples",
	[ABSENT_UNSEEN_ENDS - ABSENT_NOT_COLLECTED] =
		"the kernel did not tell of every connection that ended: too many did, or it cannot",
	[ABSENT_NOT_COUNTED - ABSENT_NOT_COLLECTED] =
		"the kernel does not count: the counter stands still while time passes",
	[ABSENT_IMPOSSIBLE - ABSENT_NOT_COLLECTED] = "the counter claims more than this machine can do",
	[ABSENT_NO_EVENTS - ABSENT_NOT_COLLECTED] =
		"the kernel does not tell this user here how processes end, or the program does not listen",
	[ABSENT_EVENTS_LOST - ABSENT_NOT_COLLECTED] =
		"some ends of processes were missed: more came than can be heard at a bounded cost",
	[ABSENT_LEFT_OUT - ABSENT_NOT_COLLECTED] = "more processes came than can be read at a bounded cost",
};

const char *absent_reason_text(int reason)
{
	if (reason < 0)
		reason = -reason;
	if (reason >= ABSENT_NOT_COLLECTED && reason < ABSENT_END)
		return TEXTS[reason - ABSENT_NOT_COLLECTED];
	/* Only known errno values are passed to strerror(), and for those it returns constant text. */
	return reason > 0 && reason < ABSENT_NOT_COLLECTED ? strerror(reason) : "unknown";
}
