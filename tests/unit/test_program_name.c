/* Tests of src/job/programs/program_name.c. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "job/programs/program_name.h"

/* `arguments` has blanks between the arguments. Returns the length. */
static size_t cmdline_of(const char *arguments, char cmdline[static 512])
{
	size_t length = strlen(arguments) + 1;

	memcpy(cmdline, arguments, length);
	for (size_t i = 0; i < length; i++)
		if (cmdline[i] == ' ')
			cmdline[i] = '\0';
	/* "|" stands for a blank within an argument. */
	for (size_t i = 0; i < length; i++)
		if (cmdline[i] == '|')
			cmdline[i] = ' ';
	return length;
}

static void assert_name(const char *arguments, const char *expected)
{
	char cmdline[512], name[PROGRAM_NAME_BYTES];
	size_t length = cmdline_of(arguments, cmdline);

	program_name(cmdline, length, "comm", name);
	assert_string_equal(name, expected);
}

static void assert_run(const char *arguments, const char *expected)
{
	char cmdline[512], name[PROGRAM_NAME_BYTES];
	size_t length = cmdline_of(arguments, cmdline);

	run_name(cmdline, length, "demo", name);
	assert_string_equal(name, expected);
}

static void runs_are_called_by_script_and_target(void **state)
{
	(void)state;
	assert_run("python3 -u /home/me/train.py --key secret", "train.py");
	assert_run("/usr/bin/python3.12 -m pytest -k secret", "pytest");
	assert_run("Rscript fit.R secret", "fit.R");
	assert_run("java -Xmx1g -jar /opt/app.jar secret", "app.jar");
	assert_run("bash run.sh", "run.sh");
	assert_run("bash --noprofile --norc -eo pipefail /tmp/step.sh", "step.sh");
	assert_run("bash -1o /tmp/step.sh", "step.sh");
	assert_run("python3 -uW ignore train.py", "train.py");
	assert_run("java -Dkey=cp -server org.x.Main", "org.x.Main");
	/* Code from an argument or the input has no name, so the folder tells runs apart. */
	assert_run("sh -c make|SECRET=1", "sh (demo)");
	assert_run("python3", "python3 (demo)");
	assert_run("make -j 4 -C /src KEY=secret test all", "make test");
	assert_run("make -j4", "make");
	assert_run("make -f secret.mk", "make");
	assert_run("ninja -j 2 -C build lib/libx.a", "ninja libx.a");
	assert_run("sleep 5", "sleep");
	assert_run("./a.out secret", "a.out");
}

static void runs_are_called_by_the_command_behind_a_starter(void **state)
{
	(void)state;
	assert_run("env -u HOME KEY=secret -- OTHER=x python3 train.py", "train.py");
	assert_run("timeout -k 5 --signal=INT 60 nice -n5 python3 other.py", "other.py");
	assert_run("nice -5 make -j2 test", "make test");
	assert_run("nohup ./a.out", "a.out");
	assert_run("taskset -c 0-3 stdbuf -oL -e 0 sh -c x", "sh (demo)");
	assert_run("mpirun -np 4 --map-by=core ./solver secret", "solver");
	assert_run("uv run --with rich train.py", "train.py");
	assert_run("conda run -n base python -m pytest", "pytest");
	/* An option that is not known may take a value, and a command may lack. */
	assert_run("mpirun --mca key secret ./solver", "mpirun");
	assert_run("time -a|-p ./solver", "time");
	assert_run("env -S secret", "env");
	assert_run("timeout 5", "timeout");
	assert_run("nice -n", "nice");
	assert_run("uv pip install secret", "uv");
	assert_run("nice KEY=secret", "KEY=secret");
	assert_run("env A=secret", "env");
}

/* The first word behind a starter is the command, unless the starter has a word of its own before it. */
static void each_starter_is_followed_by_its_command(void **state)
{
	static const char *const PLAIN[] = {"env",    "nice",   "nohup",      "setsid",     "stdbuf",
					    "ionice", "time",   "numactl",    "mpirun",     "mpiexec",
					    "srun",   "uv run", "poetry run", "pipenv run", "conda run"};
	static const char *const WITH_A_WORD[] = {"timeout", "taskset", "chrt"};
	char arguments[100];

	(void)state;
	for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++) {
		snprintf(arguments, sizeof arguments, "%s ./solver ./other", PLAIN[i]);
		assert_run(arguments, "solver");
		snprintf(arguments, sizeof arguments, "%s -- ./solver ./other", PLAIN[i]);
		assert_run(arguments, "solver");
	}
	for (size_t i = 0; i < sizeof WITH_A_WORD / sizeof *WITH_A_WORD; i++) {
		snprintf(arguments, sizeof arguments, "%s 1 ./solver ./other", WITH_A_WORD[i]);
		assert_run(arguments, "solver");
		snprintf(arguments, sizeof arguments, "%s 1", WITH_A_WORD[i]);
		assert_run(arguments, WITH_A_WORD[i]);
	}
	/* Only env sets variables. */
	assert_run("nice A=1 ./solver", "A=1");
	assert_run("env A=1 B=2 ./solver", "solver");
	/* A value may stand behind its letter, behind a sign, or alone. */
	assert_run("ionice -c2 -n 7 ./solver", "solver");
	assert_run("ionice --class=2 ./solver", "solver");
	assert_run("ionice --clash=2 ./solver", "ionice");
	assert_run("nice -19 ./solver", "solver");
	assert_run("nice -1x ./solver", "nice");
	assert_run("poetry ./solver", "poetry");
	assert_run("uv", "uv");
}

static void options_values_and_numbers_are_never_targets(void **state)
{
	(void)state;
	assert_run("make -C", "make");
	assert_run("make -j 8 A=1 -- sub/dir/all", "make all");
	assert_run("gmake -o x y", "gmake y");
	assert_run("ninja -k 0 -j 9", "ninja");
}

static void programs_have_the_name_of_their_file(void **state)
{
	(void)state;
	assert_name("/usr/lib/gcc/cc1plus -quiet secret", "cc1plus");
	assert_name("make -j2", "make");
	assert_name("-bash", "bash");
	assert_name("postgres:|14/main:|checkpointer", "postgres");
	assert_name("nginx:|worker|process", "nginx");
	assert_name("./a.out", "a.out");
	assert_name("gcc-12 x.c", "gcc-12");
	assert_name("/opt/x/", "/opt/x/");
	assert_name("-", "-");
	assert_name("/", "/");
}

static void interpreters_have_their_script(void **state)
{
	(void)state;
	assert_name("python3 train.py --password secret", "python3 train.py");
	assert_name("/usr/bin/python3.11 -u -W ignore /srv/x/train.py secret", "python3.11 train.py");
	assert_name("python3 -m pytest tests", "python3 pytest");
	assert_name("python3 -c import|secret", "python3");
	assert_name("python3", "python3");
	assert_name("python3 -", "python3");
	assert_name("bash build.sh", "bash build.sh");
	assert_name("bash -e -o pipefail ./ci/build.sh", "bash build.sh");
	assert_name("sh -c make|secret", "sh");
	assert_name("java -Xmx1g -cp a.jar:b.jar org.x.Main secret", "java org.x.Main");
	assert_name("java -Dk=v -jar /opt/tool.jar secret", "java tool.jar");
	assert_name("java -p mods -m app/org.x.Main", "java org.x.Main");
	assert_name("perl -w -I lib tool.pl", "perl tool.pl");
	assert_name("perl -e print|1 secret", "perl");
	assert_name("node --max-old-space-size=4096 -r ts-node/register server.js", "node server.js");
	assert_name("/usr/lib/R/bin/exec/Rscript analysis.R", "Rscript analysis.R");
	assert_name("php -d x=1 -f job.php secret", "php job.php");
	assert_name("bash -- job.sh", "bash job.sh");
	assert_name("bash --", "bash");
	assert_name("bash +e job.sh", "bash job.sh");
	assert_name("php --file=/srv/job.php", "php job.php");
	assert_name("php --file= job.php", "php job.php");
	assert_name("java -cp", "java");
	assert_name("python3 -m", "python3");
	/* The last of several letters takes the value. */
	assert_name("bash -eo pipefail job.sh", "bash job.sh");
	assert_name("zsh -ZAo x job.sh", "zsh job.sh");
	assert_name("zsh -zao x job.sh", "zsh job.sh");
	assert_name("bash -o", "bash");
	/* Words that end with the letter of such an option: a script, and a word of Java behind its dash. */
	assert_name("bash foo secret", "bash foo");
	assert_name("java -zip Main secret", "java Main");
}

static void a_code_argument_behind_other_letters_names_no_script(void **state)
{
	(void)state;
	assert_name("bash -lc make|secret", "bash");
	assert_name("sh -ec make|secret", "sh");
	assert_name("python3 -Ic import|secret", "python3");
	assert_name("perl -ne print|1 secret", "perl");
	assert_name("python3 -cprint(1) secret", "python3");
}

static void assert_titled(const char *title, const char *comm, const char *expected)
{
	char name[PROGRAM_NAME_BYTES];

	program_name(title, strlen(title) + 1, comm, name);
	assert_string_equal(name, expected);
}

static void the_name_ends_before_a_title(void **state)
{
	(void)state;
	assert_titled("redis-server unixsocket:/run/redis/s", "redis-server", "redis-server");
	assert_titled("/usr/bin/redis-server *:6379", "redis-server", "redis-server");
	assert_titled("/opt/a-name-of-many-letters /x/y", "a-name-of-many-", "a-name-of-many-letters");
	/* A path with a blank: the first word is the name of another program. */
	assert_titled("/opt/my tools/solver", "solver", "solver");
	assert_titled("/opt/my tools/my", "my", "my");
}

static void a_worker_of_a_data_loader_has_its_own_name(void **state)
{
	(void)state;
	assert_titled("python3", "pt_data_worker", "pt_data_worker");
	assert_titled("python3", "pt_main_thread", "python3");
}

static void without_arguments_the_kernel_name_counts(void **state)
{
	char name[PROGRAM_NAME_BYTES];

	(void)state;
	program_name("", 0, "cc1", name);
	assert_string_equal(name, "cc1");
	program_name("\0\0", 2, "cc1", name);
	assert_string_equal(name, "cc1");
	program_name("", 0, "", name);
	assert_string_equal(name, "?");
}

static void long_names_are_cut_and_odd_bytes_are_harmless(void **state)
{
	char cmdline[512], name[PROGRAM_NAME_BYTES];

	(void)state;
	memset(cmdline, 'x', sizeof cmdline);
	program_name(cmdline, sizeof cmdline, "c", name);
	assert_int_equal(strlen(name), PROGRAM_NAME_BYTES - 1);
	memcpy(cmdline, "python3", 8);
	program_name(cmdline, sizeof cmdline, "c", name);
	assert_int_equal(strlen(name), PROGRAM_NAME_BYTES - 1);
	assert_memory_equal(name, "python3 xx", 10);
	for (size_t length = 0; length < sizeof cmdline; length++) {
		program_name(cmdline, length, "c", name);
		run_name(cmdline, length,
			 "a folder whose name is very long and would not fit behind anything else", name);
	}
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_called_by_script_and_target),
		cmocka_unit_test(runs_are_called_by_the_command_behind_a_starter),
		cmocka_unit_test(each_starter_is_followed_by_its_command),
		cmocka_unit_test(options_values_and_numbers_are_never_targets),
		cmocka_unit_test(programs_have_the_name_of_their_file),
		cmocka_unit_test(interpreters_have_their_script),
		cmocka_unit_test(a_code_argument_behind_other_letters_names_no_script),
		cmocka_unit_test(the_name_ends_before_a_title),
		cmocka_unit_test(a_worker_of_a_data_loader_has_its_own_name),
		cmocka_unit_test(without_arguments_the_kernel_name_counts),
		cmocka_unit_test(long_names_are_cut_and_odd_bytes_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
