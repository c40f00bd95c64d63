/* Tests of src/kernel/proc_pid_fdinfo.c, with texts of amdgpu, i915 and xe. */
#include "kernel.h"

#include "kernel/proc_pid_fdinfo.h"

static const char AMDGPU[] =
	"pos:\t0\nflags:\t02100002\nmnt_id:\t24\nino:\t1013\ndrm-driver:\tamdgpu\ndrm-client-id:\t17\n"
	"drm-pdev:\t0000:03:00.0\npasid:\t32770\ndrm-memory-vram:\t141300 KiB\n"
	"drm-memory-gtt: \t7 MiB\ndrm-shared-vram:\t0\namd-memory-visible-vram:\t1024 KiB\n"
	"drm-engine-gfx:\t91827364 ns\ndrm-engine-enc_1:\t5 ns\n";

static const char I915[] =
	"pos:\t0\ndrm-driver:\ti915\ndrm-client-id:\t9\ndrm-pdev:\t0000:00:02.0\n"
	"drm-total-system0:\t208 MiB\ndrm-shared-system0:\t16 KiB\ndrm-active-system0:\t0\n"
	"drm-resident-system0:\t109 MiB\ndrm-purgeable-system0:\t10 MiB\ndrm-memory-system0:\t1 MiB\n"
	"drm-engine-render:\t9288864723 ns\ndrm-engine-video:\t0 ns\ndrm-engine-capacity-video:\t2\n";

static const char XE[] =
	"drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\ndrm-cycles-rcs:\t28257900\n"
	"drm-total-cycles-rcs:\t7655183225\ndrm-engine-capacity-rcs:\t1\ndrm-maxfreq-gt0:\t2400 MHz\n";

static struct proc_pid_fdinfo fdinfo_of(const char *text)
{
	struct proc_pid_fdinfo fdinfo;

	assert_int_equal(parse_proc_pid_fdinfo(text, strlen(text), &fdinfo), 0);
	return fdinfo;
}

static void amdgpu_speaks_the_older_memory_keys(void **state)
{
	struct proc_pid_fdinfo fdinfo = fdinfo_of(AMDGPU);

	(void)state;
	assert_string_equal(fdinfo.driver, "amdgpu");
	assert_string_equal(fdinfo.device, "0000:03:00.0");
	assert_int_equal(fdinfo.client_id, 17);
	assert_int_equal(fdinfo.engine_count, 2);
	assert_string_equal(fdinfo.engines[0].name, "gfx");
	assert_int_equal(fdinfo.engines[0].busy_ns, 91827364);
	assert_int_equal(fdinfo.engines[0].capacity, 1);
	assert_int_equal(fdinfo.engines[0].cycles, -1);
	assert_string_equal(fdinfo.engines[1].name, "enc_1");
	assert_int_equal(fdinfo.region_count, 2);
	assert_string_equal(fdinfo.regions[0].name, "vram");
	assert_int_equal(fdinfo.regions[0].resident_bytes, 141300LL << 10);
	assert_int_equal(fdinfo.regions[0].shared_bytes, 0);
	assert_int_equal(fdinfo.regions[0].total_bytes, -1);
	assert_int_equal(fdinfo.regions[1].resident_bytes, 7LL << 20);
}

static void i915_has_capacities_and_regions(void **state)
{
	struct proc_pid_fdinfo fdinfo = fdinfo_of(I915);

	(void)state;
	assert_int_equal(fdinfo.region_count, 1);
	assert_int_equal(fdinfo.regions[0].total_bytes, 208LL << 20);
	assert_int_equal(fdinfo.regions[0].shared_bytes, 16LL << 10);
	assert_int_equal(fdinfo.regions[0].active_bytes, 0);
	assert_int_equal(fdinfo.regions[0].resident_bytes, 109LL << 20);
	assert_int_equal(fdinfo.regions[0].purgeable_bytes, 10LL << 20);
	assert_int_equal(fdinfo.engine_count, 2);
	assert_int_equal(fdinfo.engines[0].busy_ns, 9288864723);
	assert_string_equal(fdinfo.engines[1].name, "video");
	assert_int_equal(fdinfo.engines[1].capacity, 2);
}

static void xe_counts_cycles(void **state)
{
	struct proc_pid_fdinfo fdinfo = fdinfo_of(XE);

	(void)state;
	assert_int_equal(fdinfo.engine_count, 1);
	assert_string_equal(fdinfo.engines[0].name, "rcs");
	assert_int_equal(fdinfo.engines[0].cycles, 28257900);
	assert_int_equal(fdinfo.engines[0].total_cycles, 7655183225);
	assert_int_equal(fdinfo.engines[0].busy_ns, -1);
	assert_int_equal(fdinfo.region_count, 0);
}

static void other_descriptors_are_refused(void **state)
{
	static const char EVENTFD[] =
		"pos:\t0\nflags:\t04002\nmnt_id:\t16\neventfd-count: 0\nxdrm-driver:\tx\n";
	struct proc_pid_fdinfo fdinfo = {.client_id = -7};

	(void)state;
	assert_int_equal(parse_proc_pid_fdinfo(EVENTFD, strlen(EVENTFD), &fdinfo), -EBADMSG);
	assert_int_equal(parse_proc_pid_fdinfo("", 0, &fdinfo), -EBADMSG);
	assert_int_equal(fdinfo.client_id, -7);
}

static void odd_lines_lose_only_themselves(void **state)
{
	struct proc_pid_fdinfo fdinfo =
		fdinfo_of("drm-driver:\tx\ndrm-client-id:\t?\ndrm-engine-:\t5 ns\ndrm-engine-a:\tb\n"
			  "drm-memory-v:\t5 GiB\ndrm-memory-w:\t9223372036854775807 KiB\n"
			  "drm-engine-0123456789012345678901234567890123456789:\t5 ns\n");

	(void)state;
	assert_int_equal(fdinfo.client_id, -1);
	assert_int_equal(fdinfo.engine_count, 0);
	assert_int_equal(fdinfo.region_count, 0);
}

static void more_engines_than_fit_are_left_out(void **state)
{
	struct proc_pid_fdinfo fdinfo;
	char text[4096] = "drm-driver:\tx\n";
	size_t length = strlen(text);

	(void)state;
	for (int i = 0; i < 40; i++)
		length += (size_t)snprintf(text + length, sizeof text - length,
					   "drm-engine-e%d:\t%d ns\ndrm-total-r%d:\t%d\n", i, i, i, i);
	fdinfo = fdinfo_of(text);
	assert_int_equal(fdinfo.engine_count, DRM_ENGINES_MAX);
	assert_int_equal(fdinfo.region_count, DRM_REGIONS_MAX);
	assert_int_equal(fdinfo.engines[15].busy_ns, 15);
}

static void parse_any(const char *bytes, size_t length)
{
	struct proc_pid_fdinfo fdinfo;

	(void)parse_proc_pid_fdinfo(bytes, length, &fdinfo);
}

static void every_beginning_is_harmless(void **state)
{
	(void)state;
	each_prefix(AMDGPU, parse_any);
	each_prefix(I915, parse_any);
}

static void figures_that_a_driver_lacks_are_absent(void **state)
{
	struct proc_pid_fdinfo fdinfo =
		fdinfo_of("drm-driver:\tx\ndrm-total-r:\t5\ndrm-cycles-e:\t6\ndrm-engine-f:\t7 ns\n");

	(void)state;
	assert_string_equal(fdinfo.device, "");
	assert_int_equal(fdinfo.client_id, -1);
	assert_true(fdinfo.regions[0].total_bytes == 5 && fdinfo.regions[0].shared_bytes == -1 &&
		    fdinfo.regions[0].resident_bytes == -1 && fdinfo.regions[0].purgeable_bytes == -1 &&
		    fdinfo.regions[0].active_bytes == -1);
	assert_true(fdinfo.engines[0].busy_ns == -1 && fdinfo.engines[0].capacity == 1 &&
		    fdinfo.engines[0].cycles == 6 && fdinfo.engines[0].total_cycles == -1);
	assert_true(fdinfo.engines[1].busy_ns == 7 && fdinfo.engines[1].cycles == -1);
	fdinfo = fdinfo_of("drm-driver:\tx\ndrm-shared-r:\t5\n");
	assert_int_equal(fdinfo.regions[0].total_bytes, -1);
}

static void numbers_and_names_have_their_most(void **state)
{
	/* 31 bytes of a name fit, and a NUL is none of them. */
	static const char NAMES[] =
		"drm-driver:\tx\ndrm-engine-0123456789012345678901234567890:\t5 ns\n"
		"drm-engine-01234567890123456789012345678901:\t6 ns\ndrm-engine-a\0b:\t7 ns\n"
		"drm-total-0123456789012345678901234567890:\t5\n"
		"drm-total-01234567890123456789012345678901:\t6\ndrm-total-a\0b:\t7\ndrm-total-:\t8\n";
	struct proc_pid_fdinfo fdinfo = fdinfo_of(
		"drm-driver:\tx\ndrm-client-id:\t9223372036854775807\ndrm-engine-e:\t9223372036854775808 ns\n"
		"drm-total-a:\t9223372036854775807\ndrm-total-b:\t9223372036854775808\n"
		"drm-total-c:\t9007199254740991 KiB\ndrm-total-d:\t9007199254740992 KiB\n"
		"drm-total-e:\t8796093022207 MiB\ndrm-total-f:\t8796093022208 MiB\ndrm-total-g:\tx\n"
		"drm-memory-h:\t8\ndrm-memory-h:\t9\n");

	(void)state;
	assert_true(fdinfo.client_id == INT64_MAX);
	assert_int_equal(fdinfo.engine_count, 0);
	assert_int_equal(fdinfo.region_count, 4);
	assert_true(fdinfo.regions[0].total_bytes == INT64_MAX);
	assert_true(fdinfo.regions[1].total_bytes == INT64_MAX - 1023);
	assert_true(fdinfo.regions[2].total_bytes == INT64_MAX - 1048575);
	assert_string_equal(fdinfo.regions[3].name, "h");
	assert_int_equal(fdinfo.regions[3].resident_bytes, 8);
	assert_int_equal(parse_proc_pid_fdinfo(NAMES, sizeof NAMES - 1, &fdinfo), 0);
	assert_true(fdinfo.engine_count == 1 && fdinfo.region_count == 1);
	assert_int_equal(strlen(fdinfo.engines[0].name), 31);
	assert_int_equal(strlen(fdinfo.regions[0].name), 31);
}

static void resident_memory_is_the_newer_key_if_a_driver_has_both(void **state)
{
	struct proc_pid_fdinfo fdinfo = fdinfo_of("drm-driver:\tx\ndrm-resident-r:\t0\ndrm-memory-r:\t5\n");

	(void)state;
	assert_int_equal(fdinfo.regions[0].resident_bytes, 0);
	fdinfo = fdinfo_of("drm-driver:\tx\ndrm-memory-r:\t5\ndrm-resident-r:\t3\n");
	assert_int_equal(fdinfo.regions[0].resident_bytes, 3);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amdgpu_speaks_the_older_memory_keys),
		cmocka_unit_test(i915_has_capacities_and_regions),
		cmocka_unit_test(xe_counts_cycles),
		cmocka_unit_test(other_descriptors_are_refused),
		cmocka_unit_test(odd_lines_lose_only_themselves),
		cmocka_unit_test(more_engines_than_fit_are_left_out),
		cmocka_unit_test(every_beginning_is_harmless),
		cmocka_unit_test(figures_that_a_driver_lacks_are_absent),
		cmocka_unit_test(numbers_and_names_have_their_most),
		cmocka_unit_test(resident_memory_is_the_newer_key_if_a_driver_has_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
