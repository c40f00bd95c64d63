/* Tests of src/kernel/proc_cpuinfo.c. */
#include <stdio.h>

#include "kernel.h"

#include "kernel/proc_cpuinfo.h"

static struct proc_cpuinfo cpuinfo_of(const char *text)
{
	struct proc_cpuinfo cpuinfo;

	assert_int_equal(parse_proc_cpuinfo(text, strlen(text), &cpuinfo), 0);
	return cpuinfo;
}

static void x86_has_a_model_name(void **state)
{
	struct proc_cpuinfo cpuinfo = cpuinfo_of("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD "
						 "EPYC\n\nprocessor\t: 1\nmodel name\t: other\n");

	(void)state;
	assert_int_equal(cpuinfo.cpu_count, 2);
	assert_string_equal(cpuinfo.model, "AMD EPYC");
	assert_string_equal(cpuinfo.hardware, "");
}

static void arm_numbers_become_names(void **state)
{
	struct proc_cpuinfo cpuinfo =
		cpuinfo_of("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n\n");

	(void)state;
	assert_string_equal(cpuinfo.model, "ARM Neoverse-V1");
	cpuinfo = cpuinfo_of("processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: 0x7\n");
	assert_string_equal(cpuinfo.model, "ARM implementer 0x99 part 0x007");
	cpuinfo = cpuinfo_of("processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: seven\n");
	assert_string_equal(cpuinfo.model, "");
}

/* Numbers from the MIDR_EL1 listings of Arm and the makers, in the words of /proc/cpuinfo. */
static void each_known_core_has_its_name(void **state)
{
	static const char *const CORES[][3] = {
		{"0x41", "0xc07", "ARM Cortex-A7"},
		{"0x41", "0xc08", "ARM Cortex-A8"},
		{"0x41", "0xc09", "ARM Cortex-A9"},
		{"0x41", "0xc0f", "ARM Cortex-A15"},
		{"0x41", "0xd03", "ARM Cortex-A53"},
		{"0x41", "0xd04", "ARM Cortex-A35"},
		{"0x41", "0xd05", "ARM Cortex-A55"},
		{"0x41", "0xd07", "ARM Cortex-A57"},
		{"0x41", "0xd08", "ARM Cortex-A72"},
		{"0x41", "0xd09", "ARM Cortex-A73"},
		{"0x41", "0xd0a", "ARM Cortex-A75"},
		{"0x41", "0xd0b", "ARM Cortex-A76"},
		{"0x41", "0xd0c", "ARM Neoverse-N1"},
		{"0x41", "0xd0d", "ARM Cortex-A77"},
		{"0x41", "0xd0e", "ARM Cortex-A76AE"},
		{"0x41", "0xd40", "ARM Neoverse-V1"},
		{"0x41", "0xd41", "ARM Cortex-A78"},
		{"0x41", "0xd42", "ARM Cortex-A78AE"},
		{"0x41", "0xd44", "ARM Cortex-X1"},
		{"0x41", "0xd46", "ARM Cortex-A510"},
		{"0x41", "0xd47", "ARM Cortex-A710"},
		{"0x41", "0xd48", "ARM Cortex-X2"},
		{"0x41", "0xd49", "ARM Neoverse-N2"},
		{"0x41", "0xd4a", "ARM Neoverse-E1"},
		{"0x41", "0xd4d", "ARM Cortex-A715"},
		{"0x41", "0xd4e", "ARM Cortex-X3"},
		{"0x41", "0xd4f", "ARM Neoverse-V2"},
		{"0x41", "0xd83", "ARM Neoverse-V3AE"},
		{"0x41", "0xd84", "ARM Neoverse-V3"},
		{"0x41", "0xd8e", "ARM Neoverse-N3"},
		{"0x42", "0x516", "Broadcom ThunderX2"},
		{"0x43", "0x0a1", "Cavium ThunderX"},
		{"0x43", "0x0af", "Cavium ThunderX2"},
		{"0x46", "0x001", "Fujitsu A64FX"},
		{"0x48", "0xd01", "HiSilicon Kunpeng-920"},
		{"0x48", "0xd02", "HiSilicon Kunpeng-920B"},
		{"0x4e", "0x004", "NVIDIA Carmel"},
		{"0x50", "0x000", "APM X-Gene"},
		{"0x51", "0xc00", "Qualcomm Falkor"},
		{"0x61", "0x022", "Apple M1"},
		{"0x61", "0x023", "Apple M1"},
		{"0x61", "0x032", "Apple M2"},
		{"0x61", "0x033", "Apple M2"},
		{"0x6d", "0xd49", "Microsoft Azure Cobalt 100"},
		{"0x70", "0x662", "Phytium FT-2000"},
		{"0xc0", "0xac3", "Ampere-1"},
		{"0xc0", "0xac4", "Ampere-1a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof CORES / sizeof CORES[0]; i++) {
		char text[100];

		snprintf(text, sizeof text, "processor\t: 0\nCPU implementer\t: %s\nCPU part\t: %s\n",
			 CORES[i][0], CORES[i][1]);
		assert_string_equal(cpuinfo_of(text).model, CORES[i][2]);
	}
}

static void all_types_of_cores_are_named(void **state)
{
	static const char *const PARTS[] = {"0xd46", "0xd46", "0xd46", "0xd47",
					    "0xd47", "0xd4d", "0xd4d", "0xd4e"};
	char text[1024], *end = text;
	struct proc_cpuinfo cpuinfo;

	(void)state;
	for (int i = 0; i < 8; i++)
		end += sprintf(end, "processor\t: %d\nCPU implementer\t: 0x41\nCPU part\t: %s\n\n", i,
			       PARTS[i]);
	cpuinfo = cpuinfo_of(text);
	assert_int_equal(cpuinfo.cpu_count, 8);
	assert_string_equal(cpuinfo.model,
			    "3 ARM Cortex-A510 + 2 ARM Cortex-A710 + 2 ARM Cortex-A715 + 1 ARM Cortex-X3");
	/* More types than have room, and names longer than it, are cut. */
	end = text;
	for (int i = 0; i < 10; i++)
		end += sprintf(end, "processor\t: %d\nCPU implementer\t: 0x77\nCPU part\t: 0xf0%d\n", i, i);
	cpuinfo = cpuinfo_of(text);
	assert_int_equal(cpuinfo.cpu_count, 10);
	assert_int_equal(strncmp(cpuinfo.model, "1 ARM implementer 0x77 part 0xf00 + 1 ARM", 41), 0);
}

static void old_arm_has_one_text_for_all(void **state)
{
	struct proc_cpuinfo cpuinfo =
		cpuinfo_of("Processor\t: ARMv7 Processor rev 5 (v7l)\nprocessor\t: 0\n\nprocessor\t: 1\n"
			   "CPU implementer\t: 0x41\nCPU part\t: 0xc07\nHardware\t: BCM2709\n");

	(void)state;
	assert_int_equal(cpuinfo.cpu_count, 2);
	assert_string_equal(cpuinfo.model, "ARM Cortex-A7");
	assert_string_equal(cpuinfo.hardware, "BCM2709");
}

static void other_architectures_are_counted(void **state)
{
	struct proc_cpuinfo cpuinfo =
		cpuinfo_of("vendor_id       : IBM/S390\n# processors    : 4\n"
			   "processor 0: version = FF,  identification = 1,  machine = 8561\n");

	(void)state;
	assert_int_equal(cpuinfo.cpu_count, 4);
	cpuinfo = cpuinfo_of(
		"processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\nclock\t\t: 3800.0\n");
	assert_int_equal(cpuinfo.cpu_count, 1);
	assert_string_equal(cpuinfo.model, "POWER9 (architected), altivec supported");
}

static void long_models_are_cut(void **state)
{
	char text[400] = "model name : ";

	(void)state;
	memset(text + strlen(text), 'm', 300);
	assert_int_equal(strlen(cpuinfo_of(text).model), 127);
}

static void parse_cpuinfo_refuses_other_texts(void **state)
{
	struct proc_cpuinfo cpuinfo = {.cpu_count = 7};

	(void)state;
	assert_int_equal(parse_proc_cpuinfo("", 0, &cpuinfo), -EBADMSG);
	assert_int_equal(parse_proc_cpuinfo("processor : x\nflags : fpu\n", 26, &cpuinfo), -EBADMSG);
	assert_int_equal(cpuinfo.cpu_count, 7);
}

static void the_fixture_is_read(void **state)
{
	struct root root = test_root("hand-made-altra-256cpu-6.8/t2");
	struct proc_cpuinfo cpuinfo;

	(void)state;
	assert_int_equal(read_proc_cpuinfo(&root, &cpuinfo), 0);
	assert_int_equal(cpuinfo.cpu_count, 256);
	assert_string_equal(cpuinfo.model, "ARM Neoverse-N1");
	root_close(&root);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_has_a_model_name),
		cmocka_unit_test(arm_numbers_become_names),
		cmocka_unit_test(each_known_core_has_its_name),
		cmocka_unit_test(all_types_of_cores_are_named),
		cmocka_unit_test(old_arm_has_one_text_for_all),
		cmocka_unit_test(other_architectures_are_counted),
		cmocka_unit_test(long_models_are_cut),
		cmocka_unit_test(parse_cpuinfo_refuses_other_texts),
		cmocka_unit_test(the_fixture_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
