/*
 * Devices of /sys/class/drm and their sensors; see drm_device.h.
 *
 * hwmon gives millidegrees, microwatts, microjoules and hertz.
 */
#include "gpu/drm_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scan.h"

static bool is_one_of(const char *driver, const char *const *drivers)
{
	for (; *drivers; drivers++)
		if (strcmp(driver, *drivers) == 0)
			return true;
	return false;
}

bool drm_has_driver(struct root *root, const char *const *drivers)
{
	struct drm_card cards[GPU_DEVICES_MAX];
	int count = read_sys_class_drm(root, cards, GPU_DEVICES_MAX);

	for (int i = 0; i < count && i < GPU_DEVICES_MAX; i++)
		if (is_one_of(cards[i].driver, drivers))
			return true;
	return false;
}

static int open_folder(const struct root *root, const char *format, int number)
{
	char path[64];

	if (number < 0)
		return -1;
	snprintf(path, sizeof path, format, number);
	return root_open_file(root, path, O_DIRECTORY);
}

/* device/hwmon/hwmonN: the only folder there. */
static int open_hwmon(int device_fd)
{
	struct root_dir dir = ROOT_DIR;
	const char *name;
	char path[64];
	int fd = -1;

	if (device_fd < 0 || root_dir_open_at(device_fd, "hwmon", &dir) < 0)
		return -1;
	while (fd < 0 && (name = root_dir_next(&dir))) {
		if (strncmp(name, "hwmon", strlen("hwmon")) != 0 || strlen(name) > sizeof path / 2)
			continue;
		snprintf(path, sizeof path, "hwmon/%s", name);
		fd = openat(device_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	root_dir_close(&dir);
	return fd;
}

int drm_devices_open(struct root *root, const char *const *drivers, struct drm_devices *ret_devices)
{
	struct drm_card cards[GPU_DEVICES_MAX];
	int count = read_sys_class_drm(root, cards, GPU_DEVICES_MAX);

	ret_devices->count = 0;
	for (int i = 0; i < count && i < GPU_DEVICES_MAX; i++) {
		struct drm_device *drm = &ret_devices->devices[ret_devices->count];

		if (!is_one_of(cards[i].driver, drivers))
			continue;
		*drm = (struct drm_device){.card = cards[i], .energy_joules = -1};
		drm->device_fd = open_folder(root, "sys/class/drm/renderD%d/device", cards[i].render);
		drm->card_fd = open_folder(root, "sys/class/drm/card%d", cards[i].card);
		drm->hwmon_fd = open_hwmon(drm->device_fd);
		ret_devices->count++;
	}
	return ret_devices->count ? 0 : -ENOENT;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void drm_devices_close(struct drm_devices *devices)
{
	for (int64_t i = 0; i < devices->count; i++) {
		close_if_open(devices->devices[i].device_fd);
		close_if_open(devices->devices[i].card_fd);
		close_if_open(devices->devices[i].hwmon_fd);
	}
	devices->count = 0;
}

struct gpu_device *drm_add_device(struct gpu_survey *survey, const struct drm_device *drm, const char *vendor)
{
	struct gpu_device *device = gpu_survey_add_device(survey, vendor);
	char text[GPU_WORD_SIZE];

	if (!device)
		return NULL;
	device->file_number = drm->card.render;
	device->card_number = drm->card.card;
	snprintf(device->host_id, sizeof device->host_id, "%s", drm->card.address);
	snprintf(device->uuid, sizeof device->uuid, "%s-%s", drm->card.driver, drm->card.address);
	if (drm->card.vendor_id >= 0) {
		snprintf(text, sizeof text, "%04x:%04x", (unsigned)drm->card.vendor_id,
			 (unsigned)drm->card.device_id);
		gpu_device_add_detail(device, "pci_id", text);
		snprintf(device->name, sizeof device->name, "%s GPU %s", vendor, text);
	} else {
		snprintf(device->name, sizeof device->name, "%s GPU", vendor);
	}
	gpu_device_add_detail(device, "driver", drm->card.driver);
	return device;
}

/* ---- files ----------------------------------------------------------------------------------------- */

/* Drivers have many ways to refuse a value that the device lacks. */
static int absence_reason(ssize_t error)
{
	switch (-error) {
	case ENOENT:
	case EINVAL:
	case ENODATA:
	case ENOSYS:
		return EOPNOTSUPP;
	case EPERM:
		return EACCES;
	case ENXIO:
		return ENODEV;
	default:
		return (int)-error;
	}
}

struct gpu_number drm_number(struct root *root, int dir_fd, const char *name, double scale)
{
	ssize_t length = dir_fd < 0 ? -ENOENT : root_read_at(root, dir_fd, name);
	struct scan text;
	int64_t value;

	if (length < 0)
		return gpu_absent(absence_reason(length));
	text = scan_bytes(root->text.data, (size_t)length);
	return scan_i64(&text, &value) ? gpu_value((double)value * scale) : gpu_absent(EIO);
}

struct gpu_number drm_first_number(struct root *root, int dir_fd, const char *const *names, double scale)
{
	struct gpu_number first = gpu_absent(EOPNOTSUPP);

	for (; *names; names++) {
		struct gpu_number number = drm_number(root, dir_fd, *names, scale);

		if (!number.error)
			return number;
		/* An unreadable file is a better reason than an absent one. */
		if (first.error == EOPNOTSUPP)
			first = number;
	}
	return first;
}

void drm_text(struct root *root, int dir_fd, const char *name, char *ret_text, size_t size)
{
	ssize_t length = dir_fd < 0 ? -ENOENT : root_read_at(root, dir_fd, name);
	struct scan text;

	ret_text[0] = '\0';
	if (length < 0)
		return;
	text = scan_trim(scan_bytes(root->text.data, (size_t)length));
	scan_copy(&text, ret_text, size);
}

/* ---- readings that vendors share ------------------------------------------------------------------- */

bool drm_asleep(struct root *root, const struct drm_device *drm, struct gpu_device *device)
{
	char status[GPU_WORD_SIZE];

	drm_text(root, drm->device_fd, "power/runtime_status", status, sizeof status);
	if (strcmp(status, "suspended") != 0)
		return false;
	for (int i = GPU_UTILIZATION_PCT; i < GPU_BUSY_SECS; i++)
		device->readings[i] = gpu_absent(EAGAIN);
	/* A device without power is idle and its memory is empty. */
	device->readings[GPU_UTILIZATION_PCT] = gpu_value(0);
	if (device->memory_kind == GPU_MEMORY_DEDICATED)
		device->readings[GPU_VRAM_USED_BYTES] = gpu_value(0);
	return true;
}

void drm_read_fan(struct root *root, const struct drm_device *drm, struct gpu_device *device)
{
	struct gpu_number level = drm_number(root, drm->hwmon_fd, "pwm1", 1);
	struct gpu_number full = drm_number(root, drm->hwmon_fd, "pwm1_max", 1);

	if (level.error) {
		level = drm_number(root, drm->hwmon_fd, "fan1_input", 1);
		full = drm_number(root, drm->hwmon_fd, "fan1_max", 1);
	}
	if (!level.error && full.error)
		level = gpu_absent(EOPNOTSUPP);
	device->readings[GPU_FAN_PCT] = level.error || full.value <= 0
						? gpu_absent(level.error ? (int)level.error : EIO)
						: gpu_value(100 * level.value / full.value);
}

void drm_power_from_energy(struct drm_device *drm, struct gpu_device *device, int64_t now_ns)
{
	struct gpu_number energy = device->readings[GPU_ENERGY_JOULES];
	double before = drm->energy_joules, elapsed_secs = ns_to_secs(now_ns - drm->energy_at_ns);

	if (energy.error)
		return;
	drm->energy_joules = energy.value;
	drm->energy_at_ns = now_ns;
	device->energy_source = GPU_ENERGY_COUNTER;
	device->readings[GPU_POWER_WATTS] = before < 0 || energy.value < before || elapsed_secs <= 0
						    ? gpu_absent(EAGAIN)
						    : gpu_value((energy.value - before) / elapsed_secs);
}
