/*
 * Absent is a value that carries its reason, so assigning a field makes it present.
 *
 * An absent real is a NaN with the reason in its low bits, an absent count is one of the lowest integers, and
 * an absent text is a pointer into the first page, where no text can be. Reasons are errno values or those
 * below.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum absent_reason {
	/* 1 to 999: errno */
	ABSENT_NOT_COLLECTED = 1000, /* no collector set it */
	ABSENT_FIRST_SAMPLE,         /* needs an earlier sample */
	ABSENT_COUNTER_RESET,        /* the counter went backwards */
	ABSENT_NOT_TRACKED,          /* no process is tracked */
	ABSENT_NOT_WANTED,           /* switched off by --metrics, --no-system, --no-process */
	ABSENT_NO_LIMIT,             /* there is no limit */
	ABSENT_NO_SUCH_COUNTER,      /* this kernel or device lacks the counter */
	ABSENT_ZOMBIE,               /* the process has exited: its memory is gone or being freed */
	ABSENT_PSS_TOO_COSTLY,       /* reading it would stall the job */
	ABSENT_NOT_SAMPLED,          /* the value is exact, so it has no sampling error */
	ABSENT_PSS_OFF,              /* switched off by --pss off */
	ABSENT_NOT_YET,              /* the run was too short, or a helper has not answered yet */
	ABSENT_STALE,                /* a helper's last answer is too old */
	ABSENT_NO_CGROUP,            /* the cgroup could not be found */
	ABSENT_NOT_A_VALUE,          /* the kernel reports -1, "unknown", ... */
	ABSENT_NO_ATTRIBUTION,       /* cannot be assigned to the job */
	ABSENT_IN_PROGRAM,           /* the tracker is part of the tracked program */
	ABSENT_NOT_GIVEN,            /* the collector did not set it, or was not asked for it */
	ABSENT_NOT_THIS_END,         /* the run ended in another way */
	ABSENT_UNSEEN_EXITS,         /* processes may have come and gone between two samples */
	ABSENT_UNSEEN_ENDS,          /* the kernel did not tell of all connections that ended */
	ABSENT_NOT_COUNTED,          /* the counter does not move with time */
	ABSENT_IMPOSSIBLE,           /* more than the machine can do */
	ABSENT_LEFT_OUT,             /* more processes came than can be read at a bounded cost */
	ABSENT_NO_EVENTS,            /* the kernel does not tell of processes that end */
	ABSENT_EVENTS_LOST,          /* it told of more of them than were read */
	ABSENT_END
};

static inline double no_real(int reason)
{
	uint64_t bits = UINT64_C(0x7ff8000000000000) | (uint64_t)(uint32_t)(reason < 0 ? -reason : reason);
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline int64_t no_count(int reason)
{
	return INT64_MIN + (reason < 0 ? -reason : reason);
}

static inline const char *no_text(int reason)
{
	return (const char *)(uintptr_t)(reason < 0 ? -reason : reason);
}

/* Drops the fraction. Absent if a count cannot hold the value. */
static inline int64_t count_of_real(double value)
{
	return value > -9e18 && value < 9e18 ? (int64_t)value : no_count(ABSENT_NOT_A_VALUE);
}

/* Returns 0 if the value is present, else the reason. */
static inline int real_absent(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	if ((bits & UINT64_C(0x7ff0000000000000)) != UINT64_C(0x7ff0000000000000))
		return 0;
	/* An infinity, or a NaN from arithmetic, is not a measurement either. */
	bits &= UINT64_C(0xffff);
	return bits && bits < ABSENT_END ? (int)bits : ABSENT_NOT_A_VALUE;
}

static inline int count_absent(int64_t value)
{
	return value < INT64_MIN + ABSENT_END ? (int)(value - INT64_MIN) : 0;
}

/* The sum of two counts. A sum beyond INT64_MAX, which a damaged recording can ask for, is INT64_MAX. */
static inline int64_t count_sum(int64_t one, int64_t other)
{
	int64_t sum;

	return __builtin_add_overflow(one, other, &sum) ? INT64_MAX : sum;
}

/* NaN: absent */
static inline double real_of_count(int64_t count)
{
	return count_absent(count) ? (double)NAN : (double)count;
}

static inline int text_absent(const char *value)
{
	if (!value)
		return ABSENT_NOT_COLLECTED;
	return (uintptr_t)value < ABSENT_END ? (int)(uintptr_t)value : 0;
}

/* Returns one line for people, never NULL. */
const char *absent_reason_text(int reason);
