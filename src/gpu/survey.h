/*
 * A survey: the state of all GPUs of the machine, and of the processes on them, at one moment. The helper
 * process makes it, because vendor libraries and drivers may hang or crash. The recorder gets it as plain bytes
 * without pointers; every array is bounded. All numbers are in base units.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	GPU_DEVICES_MAX = 128, /* MIG instances are devices too */
	GPU_PROCESSES_MAX = 1024,
	GPU_DETAILS_MAX = 6,
	GPU_MEMBERS_MAX = 16384,
	GPU_TEXT_SIZE = 96,
	GPU_WORD_SIZE = 32,
	GPU_DETAIL_SIZE = 64,
};

/*
 * A number, or the reason why it is absent, a positive errno. EOPNOTSUPP: this device or driver does not count
 * it; EAGAIN: it needs an earlier reading; EACCES; ENODEV: the device is gone; EIO; ETIMEDOUT.
 */
struct gpu_number {
	double value;
	int64_t error; /* 0: the value is present */
};

enum gpu_reading {
	GPU_SHARE, /* of a MIG instance: its part of the whole device, 0 to 1; 1 for whole devices */
#define GPU_READING(id, ...) id,
#include "gpu/readings.def"
	/* kept by the survey: utilisation added up over time, so that readers at any interval get its mean */
	GPU_BUSY_SECS,
	GPU_COVERED_SECS, /* for how long GPU_BUSY_SECS was added up */
	GPU_READINGS
};

enum gpu_throttle {
	GPU_THROTTLE_IDLE = 1 << 0,
	GPU_THROTTLE_CLOCK_SETTING = 1 << 1,
	GPU_THROTTLE_POWER_CAP = 1 << 2,
	GPU_THROTTLE_HARDWARE = 1 << 3,
	GPU_THROTTLE_SYNC_BOOST = 1 << 4,
	GPU_THROTTLE_THERMAL_SOFTWARE = 1 << 5,
	GPU_THROTTLE_THERMAL_HARDWARE = 1 << 6,
	GPU_THROTTLE_POWER_BRAKE = 1 << 7,
	GPU_THROTTLE_DISPLAY_CLOCK = 1 << 8,
	GPU_THROTTLE_BITS = 9,
};

enum gpu_memory_kind { GPU_MEMORY_UNKNOWN, GPU_MEMORY_DEDICATED, GPU_MEMORY_UNIFIED };

enum gpu_energy_source { GPU_ENERGY_NONE, GPU_ENERGY_COUNTER, GPU_ENERGY_FROM_POWER };

/* How reliable the process ids of a device's processes are. */
enum gpu_pids {
	GPU_PIDS_UNKNOWN,   /* the device lists no processes, or those of the job must not be looked at */
	GPU_PIDS_NOT_ASKED, /* kernel drivers are asked for each process of the job, which is not known yet */
	GPU_PIDS_OURS,      /* they are valid in our /proc */
	GPU_PIDS_MAPPED,    /* found among the NSpid of the job's members, now valid in our /proc */
	GPU_PIDS_FOREIGN,   /* they belong to a namespace that is invisible from here */
};

struct gpu_detail {
	char name[GPU_WORD_SIZE];
	char value[GPU_DETAIL_SIZE];
};

struct gpu_device {
	char uuid[GPU_TEXT_SIZE]; /* never empty: a device without one gets vendor and address */
	char name[GPU_TEXT_SIZE];
	char vendor[GPU_WORD_SIZE];
	char device_type[GPU_WORD_SIZE];
	char host_id[GPU_WORD_SIZE]; /* PCI address "0000:03:00.0", else an index */
	struct gpu_detail details[GPU_DETAILS_MAX];
	int64_t detail_count;
	int64_t index;       /* in the vendor's numbering; an instance (MIG) has its device's number */
	int64_t file_number; /* N of /dev/nvidiaN or /dev/dri/renderDN; -1: unknown */
	int64_t card_number; /* N of /dev/dri/cardN; -1: unknown, or no such device */
	int64_t parent;      /* the place of the device of this instance; -1: a whole device */
	int64_t gpu_instance;
	int64_t compute_instance; /* -1: none */
	int64_t visible;          /* 1: not hidden from the job by its environment */
	int64_t memory_kind;
	int64_t energy_source;
	int64_t pids;         /* enum gpu_pids */
	int64_t tenant_count; /* processes on the device, of any user; -1 unknown */
	int64_t holder_count; /* members of the job that hold its device file open; -1: unknown or not asked */
	struct gpu_number readings[GPU_READINGS];
};

/* Clients of NVIDIA's MPS work through its server, which has the time of them all in the driver's samples. */
enum gpu_process_kind { GPU_PROCESS_COMPUTE = 1, GPU_PROCESS_GRAPHICS = 2, GPU_PROCESS_MPS_CLIENT = 4 };

/* One process on one device; (device, pid) occurs once. */
struct gpu_process {
	int64_t device; /* index into devices */
	int64_t pid;
	int64_t kinds; /* a set of gpu_process_kind */
	struct gpu_number vram_bytes;
	struct gpu_number busy_secs;       /* of compute, added up since it was first seen; divides by GPUs */
	struct gpu_number utilization_pct; /* the latest reading */
	struct gpu_number memory_utilization_pct;
	struct gpu_number encoder_utilization_pct;
	struct gpu_number decoder_utilization_pct;
};

/* Only the used parts of the arrays are handed over: see gpu_survey_bytes(). */
struct gpu_survey {
	int64_t at_ns; /* CLOCK_MONOTONIC: the beginning of the survey, and the time up to which sums were made */
	int64_t device_count;
	int64_t process_count;
	int64_t left_out_count; /* devices and processes for which there was no room */
	int64_t error;          /* errno of a vendor that could not be asked; 0: all answered */
	char problem[256];      /* a message about it for the user; "": none */
	struct gpu_device devices[GPU_DEVICES_MAX];
	struct gpu_process processes[GPU_PROCESSES_MAX];
};

/* The recorder's message to the surveyor at the start. */
struct gpu_setup {
	char root_dir[4096];        /* "" is "/" */
	char vendor[GPU_WORD_SIZE]; /* only this vendor; "" is any */
	int64_t interval_ns;        /* between samples */
	/*
	 * The job before the first request names it, or the recorder, with whose environment a wrapped job starts. 0: no job
	 */
	pid_t job;
};

/* The recorder's message to the surveyor at every sample. */
struct gpu_request {
	int64_t sampled_ns; /* CLOCK_MONOTONIC */
	int64_t member_count;
	pid_t members[GPU_MEMBERS_MAX]; /* the root first */
};

static inline struct gpu_number gpu_value(double value)
{
	return (struct gpu_number){value, 0};
}

static inline struct gpu_number gpu_absent(int error)
{
	return (struct gpu_number){0, error < 0 ? -error : error};
}

static inline size_t gpu_request_bytes(const struct gpu_request *request)
{
	return offsetof(struct gpu_request, members) +
	       (size_t)request->member_count * sizeof(request->members[0]);
}

/*
 * Packs the used parts of a survey, without gaps. ret_bytes has room for sizeof(struct gpu_survey). Returns the
 * length. Unpacking works in place: `survey` holds the packed bytes before. It checks everything: if the bytes
 * are not a valid survey it returns -EBADMSG, otherwise it terminates texts and keeps indexes in range.
 */
size_t gpu_survey_pack(const struct gpu_survey *survey, void *ret_bytes);
int gpu_survey_unpack(struct gpu_survey *survey, size_t length);

/* ---- for vendors ------------------------------------------------------------------------------------------ */

/* Adds a device with all readings absent (EOPNOTSUPP). Returns NULL without room. */
struct gpu_device *gpu_survey_add_device(struct gpu_survey *survey, const char *vendor);

/*
 * Finds a process on a device among processes [from, process_count), or adds it. Returns NULL if there is none,
 * or no room. A caller that adds all processes of a device together passes the first of them as `from`, to
 * search only those.
 */
struct gpu_process *gpu_survey_find(struct gpu_survey *survey, int64_t from, int64_t device, int64_t pid);
struct gpu_process *gpu_survey_process(struct gpu_survey *survey, int64_t from, int64_t device, int64_t pid);

void gpu_device_add_detail(struct gpu_device *device, const char *name, const char *value);
void gpu_copy_text(char *ret_text, size_t size, const char *text);
