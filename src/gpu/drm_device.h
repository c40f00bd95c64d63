/* Shared by all vendors that are read through sysfs: a device of /sys/class/drm and its sensors. */
#pragma once

#include "gpu/vendor.h"
#include "kernel/sys_class_drm.h"

struct drm_device {
	struct drm_card card;
	int device_fd;        /* /sys/class/drm/renderDN/device; -1 */
	int card_fd;          /* /sys/class/drm/cardN; -1 */
	int hwmon_fd;         /* device/hwmon/hwmonN; -1 */
	double energy_joules; /* at the last reading, for power from energy; < 0: none */
	int64_t energy_at_ns;
};

struct drm_devices {
	struct drm_device devices[GPU_DEVICES_MAX];
	int64_t count;
};

/* Whether one of `drivers` (ends with NULL) drives a card. */
bool drm_has_driver(struct root *root, const char *const *drivers);
/* Opens the cards of these drivers. Returns 0, or -ENOENT if there are none. */
int drm_devices_open(struct root *root, const char *const *drivers, struct drm_devices *ret_devices);
void drm_devices_close(struct drm_devices *devices);

/* Adds a device to the survey, with address, PCI ids and driver. Returns NULL without room. */
struct gpu_device *drm_add_device(struct gpu_survey *survey, const struct drm_device *drm,
				  const char *vendor);

/* Reads the number in a file, times `scale`. EOPNOTSUPP: no such file. */
struct gpu_number drm_number(struct root *root, int dir_fd, const char *name, double scale);
/* Reads the first of several files that exists. The names end with NULL. */
struct gpu_number drm_first_number(struct root *root, int dir_fd, const char *const *names, double scale);
/* Reads one word or line of text; "": none. */
void drm_text(struct root *root, int dir_fd, const char *name, char *ret_text, size_t size);

/*
 * Reading a sleeping device (runtime power management) would wake it. It does no work, and its sensors are
 * unknown. Returns whether it sleeps, and then fills its readings.
 */
bool drm_asleep(struct root *root, const struct drm_device *drm, struct gpu_device *device);

/* Fan speed in percent, from pwm or rotation. */
void drm_read_fan(struct root *root, const struct drm_device *drm, struct gpu_device *device);
/* Power from the change of the energy counter, for drivers without a power reading. */
void drm_power_from_energy(struct drm_device *drm, struct gpu_device *device, int64_t now_ns);
