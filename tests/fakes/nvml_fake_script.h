/* The answers of the fake NVML; see nvml_fake_script.c for the language. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "gpu/nvml_abi.h"

enum { DEVICES = 16, INSTANCES = 8, PROCESSES = 1024, RULES = 64, INSTANCE_BASE = 0x1000 };

struct process {
	int device, instance; /* instance -1: the whole device */
	unsigned pid;
	char lists[8];
	uint64_t bytes;
	int sm;
	double age_secs; /* age of its sample; 0: always new */
};

struct rule {
	char function[64];
	char what[8]; /* result, hang, crash */
	int result;
	int device; /* -1: all */
};

struct nvml_script {
	struct timespec changed;
	int gpus;
	bool gone[DEVICES];
	unsigned utilization[DEVICES][2];
	uint64_t memory[DEVICES][3];
	uint64_t energy[DEVICES];
	int instances[DEVICES];
	double gpm[DEVICES];
	unsigned long long gpm_us; /* between two samples; 0: as the clock says */
	int gpm_lacks, gpm_nan;    /* metrics; 0: none */
	int xids[DEVICES], told_xids[DEVICES];
	unsigned xid[DEVICES];
	unsigned ecc[DEVICES][2], remapped[DEVICES][4];
	int record_bytes;
	bool only_new_utilization;
	double sampling_secs;
	struct process processes[PROCESSES];
	int process_count;
	struct rule rules[RULES];
	int rule_count;
	int all_bits; /* 32, 64: numbers have so many bits set */
	char log[256];
	uint64_t loaded_us;
};

extern struct nvml_script script;

uint64_t now_us(void);
/* Reads the script again if it has changed. */
void read_script(void);

/* Returns the device that has this number now, without those that have gone; DEVICES: none. */
int device_numbered(int number);
int index_of(nvml_device device);
int instance_of(nvml_device device); /* Returns -1 for a whole device. */

/* Returns the result that the script sets for a function; NVML_SUCCESS: its usual work. */
int enter(const char *function, nvml_device device);
