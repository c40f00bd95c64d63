/*
 * Compares the output for the fixture machines, line by line, with tests/golden/MACHINE.{jsonl,csv}.
 *
 * Each step of a tree is laid over one folder in place, so that files which collectors keep open change as
 * the kernel's do. The tracker attaches to process 100 at t0; one sample follows per later step, a second
 * apart. UPDATE_GOLDEN=1 writes the files anew: review the difference as a change of the format.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture_machine.h"
#include "lay_tree.h"
#include "unit.h"

#include "base/cleanup.h"
#include "format/sample_format.h"

enum { PATH_SIZE = 4096 };

static const char *const MACHINES[] = {
	"hand-made-altra-256cpu-6.8",
	"hand-made-cgroup1-4.18",
	"hand-made-cgroup2-6.6",
	"hand-made-container-nocgroupns-5.10",
	"hand-made-container-overlay-6.5",
	"firecracker-6.18",
	"hand-made-hybrid-5.4",
	"hand-made-hypervisor-5.15",
	"hand-made-kubernetes1-4.19",
	"hand-made-kubernetes2-5.15",
	"hand-made-slurm-5.14",
	"hand-made-storage-zfs-5.15",
	"hand-made-vm-3.10",
	"hand-made-workstation-6.1",
	"qemu-arm64-6.1",
	"qemu-ppc64le-6.1",
	"qemu-riscv64-6.12",
	"qemu-s390x-6.1",
	"qemu-x86-cgroup1-5.10",
	"qemu-x86-container-6.12",
	"qemu-x86-diskless-6.12",
	"qemu-x86-networks-6.12",
	"qemu-x86-numa-6.12",
	"qemu-x86-raid-hybrid-5.10",
	"qemu-x86-virtio-6.12",
	"qemu-x86-zram-6.12",
};

/* ---- comparing -------------------------------------------------------------------------------------------- */

static void compare(const char *machine, const char *extension, const struct buffer *printed)
{
	CLEANUP_BUFFER struct buffer golden = BUFFER(16 << 20);
	char path[PATH_SIZE], bytes[65536];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "%s/%s.%s", getenv("TEST_GOLDEN"), machine, extension);
	if (getenv("UPDATE_GOLDEN")) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, printed->data, printed->length), printed->length);
		close(fd);
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	while ((got = read(fd, bytes, sizeof bytes)) > 0)
		buffer_add(&golden, bytes, (size_t)got);
	close(fd);
	assert_string_equal(printed->data, golden.data);
}

static void sample_steps(const char *name, const char *folder, struct buffer *jsonl, struct buffer *csv)
{
	struct format_options options = {.header = true};
	struct format_state json_state = {0}, csv_state = {0};
	struct frame frames[STEPS_MOST] = {0};
	struct machine machine;
	char from[PATH_SIZE];
	int steps = 1;

	machine_open(&machine, folder);
	machine_sample(&machine, &frames[0], NULL);
	CSV_FORMAT.begin(csv, &options);
	for (; steps < STEPS_MOST; steps++) {
		snprintf(from, sizeof from, "%s/%s/t%d", getenv("TEST_ROOTS"), name, steps);
		if (access(from, F_OK) < 0)
			break;
		lay_over(from, folder);
		machine.step = steps;
		machine_sample(&machine, &frames[steps], &frames[steps - 1]);
		JSONL_FORMAT.sample(jsonl, &frames[steps], &options, &json_state);
		CSV_FORMAT.sample(csv, &frames[steps], &options, &csv_state);
	}
	assert_true(steps > 1);
	for (int i = 0; i < STEPS_MOST; i++)
		frame_done(&frames[i]);
	machine_close(&machine);
}

static void test_machine(void **state)
{
	const char *name = *state;
	CLEANUP_BUFFER struct buffer jsonl = BUFFER(16 << 20), csv = BUFFER(16 << 20);
	char folder[] = "/dev/shm/resource-tracker-golden-XXXXXX", from[PATH_SIZE];

	assert_non_null(mkdtemp(folder));
	snprintf(from, sizeof from, "%s/%s/t0", getenv("TEST_ROOTS"), name);
	lay_over(from, folder);
	sample_steps(name, folder, &jsonl, &csv);
	remove_tree(folder);
	compare(name, "jsonl", &jsonl);
	compare(name, "csv", &csv);
}

UNIT_TESTS
{
	struct CMUnitTest tests[ARRAY_SIZE(MACHINES)];

	for (size_t i = 0; i < ARRAY_SIZE(MACHINES); i++)
		tests[i] = (struct CMUnitTest){.name = MACHINES[i],
					       .test_func = test_machine,
					       .initial_state = (void *)(uintptr_t)MACHINES[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
