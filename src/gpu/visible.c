/* Parses the lists of visible devices; see visible.h. */
#include "gpu/visible.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/scan.h"

/* A variable that is set counts even if it is empty: it then hides every device. */
static bool find_variable(struct scan environment, const char *name, struct scan *ret_value)
{
	struct scan entry;

	while (scan_until(&environment, '\0', &entry)) {
		if (!scan_literal(&entry, name) || !scan_literal(&entry, "="))
			continue;
		*ret_value = entry;
		return true;
	}
	return false;
}

static bool same_models(const struct gpu_survey *survey, const char *vendor)
{
	const char *first = NULL;

	for (int64_t i = 0; i < survey->device_count; i++) {
		const struct gpu_device *device = &survey->devices[i];

		if (strcasecmp(device->vendor, vendor) != 0 || device->parent >= 0)
			continue;
		if (!first)
			first = device->name;
		else if (strcmp(first, device->name) != 0)
			return false;
	}
	return true;
}

/* "GPU-8932f937" stands for the only device whose UUID begins with it; MIG instances likewise. */
static bool names_uuid(const struct gpu_device *device, const struct scan *word)
{
	size_t length = scan_left(word);

	return length && strlen(device->uuid) >= length && strncasecmp(device->uuid, word->at, length) == 0;
}

static bool is_number(const struct scan *word, uint64_t *ret_number)
{
	struct scan text = *word;

	return scan_u64(&text, ret_number) && scan_left(&text) == 0;
}

/* CUDA and ROCm count the devices that the job may open; Slurm has the numbers of the device files. */
enum numbering { BY_PLACE, BY_FILE };

struct list {
	const char *vendor;
	enum numbering numbering;
	struct scan words;
};

static bool is_of(const struct gpu_device *device, const char *vendor)
{
	return strcasecmp(device->vendor, vendor) == 0;
}

static int64_t number_of(const struct gpu_survey *survey, const struct gpu_device *whole,
			 const struct list *list)
{
	int64_t place = 0;

	if (list->numbering == BY_FILE)
		return whole->file_number >= 0 ? whole->file_number : whole->index;
	for (const struct gpu_device *device = survey->devices; device != whole; device++)
		place += device->parent < 0 && is_of(device, list->vendor);
	return place;
}

/* An instance is visible when its whole device is. */
static bool names_device(const struct gpu_survey *survey, const struct gpu_device *device,
			 const struct list *list, struct scan word)
{
	const struct gpu_device *whole = device->parent >= 0 ? &survey->devices[device->parent] : device;
	int64_t number = number_of(survey, whole, list);
	uint64_t first, last;

	if (!is_of(device, list->vendor))
		return false;
	if (is_number(&word, &first))
		return number == (int64_t)first;
	if (names_uuid(device, &word) || (device != whole && names_uuid(whole, &word)))
		return true;
	/* "0-3" of Slurm; "0.1" of Level Zero is a tile of device 0. */
	if (!scan_u64(&word, &first))
		return false;
	if (scan_literal(&word, "."))
		return number == (int64_t)first;
	return scan_literal(&word, "-") && scan_u64(&word, &last) && !scan_left(&word) &&
	       number >= (int64_t)first && number <= (int64_t)last;
}

static bool next_word(struct scan *list, struct scan *ret_word)
{
	if (!scan_left(list))
		return false;
	if (!scan_until(list, ',', ret_word)) {
		*ret_word = *list;
		list->at = list->end;
	}
	*ret_word = scan_trim(*ret_word);
	return true;
}

static bool is_known(const struct gpu_survey *survey, const struct list *list, struct scan word)
{
	for (int64_t i = 0; i < survey->device_count; i++)
		if (names_device(survey, &survey->devices[i], list, word))
			return true;
	return false;
}

static void apply_visible_list(struct gpu_survey *survey, const struct list *list)
{
	struct scan words = list->words, word;

	for (int64_t i = 0; i < survey->device_count; i++)
		if (is_of(&survey->devices[i], list->vendor))
			survey->devices[i].visible = 0;
	/* As the vendors' own libraries do, the list ends at the first word that names no device ("-1"). */
	while (next_word(&words, &word) && is_known(survey, list, word)) {
		for (int64_t i = 0; i < survey->device_count; i++)
			if (names_device(survey, &survey->devices[i], list, word))
				survey->devices[i].visible = 1;
	}
}

static bool has_numbers(struct scan list)
{
	struct scan word;
	uint64_t number;

	while (next_word(&list, &word))
		if (is_number(&word, &number))
			return true;
	return false;
}

static void mark_nvidia(struct gpu_survey *survey, struct scan environment)
{
	struct list list = {.vendor = "NVIDIA", .numbering = BY_FILE};
	struct scan order, words, first;

	if (!find_variable(environment, "CUDA_VISIBLE_DEVICES", &list.words)) {
		if (!find_variable(environment, "SLURM_STEP_GPUS", &list.words) &&
		    !find_variable(environment, "SLURM_JOB_GPUS", &list.words))
			return;
		/*
		 * In CUDA's list an unknown word hides devices. In Slurm's it hides none, because Slurm's control
		 * groups do the hiding.
		 */
		words = list.words;
		if (next_word(&words, &first) && is_known(survey, &list, first))
			apply_visible_list(survey, &list);
		return;
	}
	/*
	 * By default CUDA numbers the fastest device first. Among unlike devices a number therefore identifies
	 * nothing.
	 */
	if (has_numbers(list.words) && !same_models(survey, "NVIDIA") &&
	    !(find_variable(environment, "CUDA_DEVICE_ORDER", &order) && scan_is(&order, "PCI_BUS_ID")))
		return;
	list.numbering = BY_PLACE;
	apply_visible_list(survey, &list);
}

void gpu_mark_visible(struct gpu_survey *survey, const char *environment, size_t length)
{
	struct scan all = scan_bytes(environment, length);
	struct list amd = {.vendor = "AMD", .numbering = BY_PLACE};
	struct list intel = {.vendor = "Intel", .numbering = BY_PLACE};

	for (int64_t i = 0; i < survey->device_count; i++)
		survey->devices[i].visible = 1;
	mark_nvidia(survey, all);
	if (find_variable(all, "ROCR_VISIBLE_DEVICES", &amd.words) ||
	    find_variable(all, "HIP_VISIBLE_DEVICES", &amd.words))
		apply_visible_list(survey, &amd);
	if (find_variable(all, "ZE_AFFINITY_MASK", &intel.words) && scan_left(&intel.words))
		apply_visible_list(survey, &intel);
}
