/* Tests of src/discover/discover.c, ask_recorder.c, host_gpus.c, host_limits.c and cloud.c: this test stands for the recorder. */
#include "loopback.h"

#include <errno.h>
#include <ifaddrs.h>

#include "base/cleanup.h"
#include "discover/cloud.h"
#include "discover/discover.h"
#include "discover/discovery.h"
#include "discover/host.h"
#include "launch/child.h"
#include "net/settings.h"

/* ---- the recorder ------------------------------------------------------------------------------------------------- */

static struct {
	const char *first, *second; /* texts that it writes, one after the other */
	bool stays;                 /* until it is ended */
	int error;                  /* it cannot be started */
	int started, ended;
	char words[500];
	char *variables; /* a line for each */
} recorder;

static void note_variables(char *const *environment)
{
	size_t size;
	FILE *text;

	free(recorder.variables);
	recorder.variables = NULL;
	text = open_memstream(&recorder.variables, &size);
	assert_non_null(text);
	while (*environment)
		fprintf(text, "\n%s\n", *environment++);
	fclose(text);
}

static void write_samples(int fd)
{
	(void)!write(fd, recorder.first, strlen(recorder.first));
	if (recorder.second) {
		usleep(20000);
		(void)!write(fd, recorder.second, strlen(recorder.second));
	}
	while (recorder.stays)
		pause();
}

int child_start_with_pipe(const struct child_program *child, int *ret_fd, pid_t *ret_pid)
{
	int ends[2];

	assert_ptr_equal(child->program, &RECORDER_PROGRAM);
	assert_true(child->silent);
	recorder.words[0] = '\0';
	for (const char *const *word = child->argv; *word; word++)
		snprintf(recorder.words + strlen(recorder.words),
			 sizeof recorder.words - strlen(recorder.words), "%s ", *word);
	note_variables(child->environment);
	if (recorder.error)
		return recorder.error;
	recorder.started++;
	put_text("started", "");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*ret_pid = fork();
	if (*ret_pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		write_samples(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	*ret_fd = ends[0];
	return 0;
}

int child_wait(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	recorder.ended++;
	return status;
}

/* ---- a machine ---------------------------------------------------------------------------------------------------- */

static struct root root;
static struct settings settings;

static int begin(void **state)
{
	if (scratch_enter(state) < 0)
		return -1;
	memset(&recorder, 0, sizeof recorder);
	recorder.first = "";
	settings = (struct settings){0};
	unsetenv("TRACKER_NVML_LIBRARY");
	put_below("proc/meminfo", "MemTotal: 2098176 kB\n");
	put_below("proc/cpuinfo",
		  "processor\t: 0\nmodel name\t: Fast One\nprocessor\t: 1\nmodel name\t: Fast One\n");
	put_below("proc/sys/kernel/hostname", "box\n");
	return root_open(&root, ".", NULL);
}

static int end(void **state)
{
	root_close(&root);
	free(recorder.variables);
	recorder.variables = NULL;
	return scratch_leave(state);
}

/* ---- GPUs --------------------------------------------------------------------------------------------------------- */

#define TOO_EARLY "{\"timestamp_secs\":1,\"gpu\":[],\"totals\":{\"gpu_vram_mib\":null}}\n"
#define NO_GPU "{\"timestamp_secs\":1,\"gpu\":[],\"totals\":{\"gpu_vram_mib\":0.0}}\n"
#define GPU(uuid, parent, kind, bytes) \
	"{\"uuid\":\"" uuid \
	"\",\"name\":\"A100\",\"vendor\":\"NVIDIA\",\"host_id\":\"0000:01:00.0\",\"mig_parent\":" parent \
	",\"memory_kind\":" kind ",\"vram_total_bytes\":" bytes "}"
#define TWO_GPUS \
	"{\"timestamp_secs\":1,\"gpu\":[" GPU("GPU-1", "null", "\"dedicated\"", "3145728") "," GPU( \
		"MIG-1", "\"GPU-1\"", "null", "1048576") "," GPU("GPU-2", "null", "\"unified\"", \
								 "5242880") "]}\n"

static struct host_gpus gpus;

/* Whether the recorder was asked. */
static bool is_asked_for_gpus(void)
{
	int before = recorder.started;

	host_gpus_discover(&root, ".", &gpus);
	return recorder.started > before;
}

static void a_machine_without_devices_has_no_gpu(void **state)
{
	static const char *const DEVICES[] = {"dev/nvidiactl", "dev/dxg", "dev/dri"};

	(void)state;
	assert_false(is_asked_for_gpus());
	assert_true(gpus.known && gpus.count == 0);
	assert_int_equal(setenv("TRACKER_NVML_LIBRARY", "", 1), 0);
	assert_false(is_asked_for_gpus());
	assert_int_equal(setenv("TRACKER_NVML_LIBRARY", "lib.so", 1), 0);
	assert_true(is_asked_for_gpus());
	assert_int_equal(unsetenv("TRACKER_NVML_LIBRARY"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(DEVICES); i++) {
		put_below(DEVICES[i], "");
		assert_true(is_asked_for_gpus());
		/* It has ended without an answer. */
		assert_false(gpus.known);
		assert_int_equal(unlink(DEVICES[i]), 0);
	}
	assert_int_equal(recorder.ended, recorder.started);
}

static void whole_gpus_are_listed(void **state)
{
	(void)state;
	put_below("dev/dri", "");
	recorder.first = TOO_EARLY TWO_GPUS;
	recorder.stays = true;
	assert_true(is_asked_for_gpus());
	assert_string_equal(recorder.words,
			    "resource-tracker --format json --output - --config /dev/null --root . --metrics "
			    "gpu.*,totals.gpu_vram_mib --gpus all --interval 0.2 --duration 5 ");
	assert_int_equal(recorder.ended, 1);
	assert_true(gpus.known);
	assert_int_equal(gpus.count, 2);
	assert_string_equal(gpus.items[0].uuid, "GPU-1");
	assert_string_equal(gpus.items[0].name, "A100");
	assert_string_equal(gpus.items[0].vendor, "NVIDIA");
	assert_string_equal(gpus.items[0].host_id, "0000:01:00.0");
	assert_string_equal(gpus.items[0].memory_kind, "dedicated");
	assert_int_equal(gpus.items[0].vram_bytes, 3145728);
	assert_string_equal(gpus.items[1].uuid, "GPU-2");
	/* A sum without GPUs says that there are none. */
	recorder.first = TOO_EARLY NO_GPU;
	assert_true(is_asked_for_gpus());
	assert_true(gpus.known && gpus.count == 0);
	recorder.error = -ENOENT;
	assert_false(is_asked_for_gpus());
	assert_false(gpus.known);
}

static void a_device_may_lack_values(void **state)
{
	static char name[HOST_GPU_TEXT_SIZE + 10], line[400];

	(void)state;
	put_below("dev/dri", "");
	memset(name, 'x', sizeof name - 1);
	snprintf(line, sizeof line, "{\"timestamp_secs\":1,\"gpu\":[{\"name\":\"%s\",\"vendor\":null}]}\n",
		 name);
	recorder.first = line;
	assert_true(is_asked_for_gpus());
	assert_int_equal(gpus.count, 1);
	assert_true(gpus.known);
	assert_int_equal(strlen(gpus.items[0].name), HOST_GPU_TEXT_SIZE - 1);
	assert_string_equal(gpus.items[0].vendor, "");
	assert_string_equal(gpus.items[0].uuid, "");
	assert_true(count_absent(gpus.items[0].vram_bytes));
}

/* 64 devices are listed. A sample has more bytes than a pipe, and comes in pieces. */
static void a_long_sample_comes_in_pieces(void **state)
{
	static char first[200000], second[20000] = "y\",\"gpu\":[";

	(void)state;
	put_below("dev/dri", "");
	snprintf(first, sizeof first, "no sample\n{\"timestamp_secs\":1,\"unknown\":\"");
	memset(first + strlen(first), 'x', sizeof first - strlen(first) - 1);
	for (int i = 0; i < HOST_GPUS_MAX + 1; i++)
		snprintf(second + strlen(second), sizeof second - strlen(second),
			 "%s{\"uuid\":\"%d\",\"mig_parent\":null}", i ? "," : "", i);
	strcat(second, "]}\n");
	recorder.first = first;
	recorder.second = second;
	assert_true(is_asked_for_gpus());
	assert_int_equal(gpus.count, HOST_GPUS_MAX);
	assert_string_equal(gpus.items[HOST_GPUS_MAX - 1].uuid, "63");
}

/* A user has set them for recordings, and not for this one. */
static void settings_of_recordings_are_left_out(void **state)
{
	(void)state;
	put_below("dev/dri", "");
	setenv("TRACKER_OUTPUT", "x", 1);
	setenv("SENTINEL_API_TOKEN", "x", 1);
	setenv("TRACKER_HELPER", "x", 1);
	setenv("TRACKER_NVML_LIBRARY", "x", 1);
	setenv("TRACKERS", "x", 1);
	(void)is_asked_for_gpus();
	unsetenv("TRACKER_OUTPUT");
	unsetenv("SENTINEL_API_TOKEN");
	unsetenv("TRACKER_HELPER");
	unsetenv("TRACKER_NVML_LIBRARY");
	unsetenv("TRACKERS");
	assert_null(strstr(recorder.variables, "\nTRACKER_OUTPUT="));
	assert_null(strstr(recorder.variables, "\nSENTINEL_API_TOKEN="));
	assert_non_null(strstr(recorder.variables, "\nTRACKER_HELPER=x\n"));
	assert_non_null(strstr(recorder.variables, "\nTRACKER_NVML_LIBRARY=x\n"));
	assert_non_null(strstr(recorder.variables, "\nTRACKERS=x\n"));
	assert_non_null(strstr(recorder.variables, "\nPATH="));
}

/* ---- limits ------------------------------------------------------------------------------------------------------- */

static void limits_are_those_of_this_process(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);
	struct json_writer json = JSON_WRITER(&out);
	struct host_limits limits;
	char words[60];

	(void)state;
	recorder.first = "{\"timestamp_secs\":1}\n{\"timestamp_secs\":1,\"limits\":{\"cpu_limit_cores\":1.5,"
			 "\"memory_limit_mib\":1024.12345,\"cpuset_cores\":2}}\n";
	host_limits_discover("/", &limits);
	snprintf(words, sizeof words, "--interval 0.005 --duration 1 --pid %d ", (int)getpid());
	assert_non_null(strstr(recorder.words, words));
	assert_non_null(strstr(recorder.words, " --root / --metrics limits.* "));
	assert_true(limits.cpu_limit_cores == 1.5 && limits.memory_limit_mib == 1024.12345);
	assert_int_equal(limits.cpuset_cores, 2);
	host_limits_write(&json, &limits);
	assert_string_equal(out.data,
			    "{\"cpu_limit_cores\":1.5,\"memory_limit_mib\":1024.123,\"cpuset_cores\":2}");
	/* A captured machine has no process of ours. */
	recorder.first = "";
	host_limits_discover(".", &limits);
	assert_null(strstr(recorder.words, "--pid"));
	assert_non_null(strstr(recorder.words, " --root . "));
	assert_true(real_absent(limits.cpu_limit_cores) && real_absent(limits.memory_limit_mib) &&
		    count_absent(limits.cpuset_cores));
}

/* ---- the address -------------------------------------------------------------------------------------------------- */

enum { ADDRESSES_MOST = 8 };

static struct {
	struct ifaddrs list[ADDRESSES_MOST];
	union {
		struct sockaddr any;
		struct sockaddr_in inet;
		struct sockaddr_in6 inet6;
	} sockets[ADDRESSES_MOST];
	size_t count;
	bool fails;
} interfaces;

int getifaddrs(struct ifaddrs **ret_list)
{
	if (interfaces.fails)
		return -1;
	*ret_list = interfaces.count ? interfaces.list : NULL;
	return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
	(void)list;
}

/* Adds an address behind the others. NULL: the interface has none. */
static void add_address(const char *interface, const char *text)
{
	size_t at = interfaces.count++;
	struct sockaddr_in *inet = &interfaces.sockets[at].inet;
	struct sockaddr_in6 *inet6 = &interfaces.sockets[at].inet6;

	assert_true(at < ADDRESSES_MOST);
	interfaces.list[at] = (struct ifaddrs){.ifa_name = (char *)(uintptr_t)interface};
	if (at)
		interfaces.list[at - 1].ifa_next = &interfaces.list[at];
	if (!text)
		return;
	interfaces.list[at].ifa_addr = &interfaces.sockets[at].any;
	if (strchr(text, ':')) {
		inet6->sin6_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, text, &inet6->sin6_addr), 1);
	} else {
		inet->sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, text, &inet->sin_addr), 1);
	}
}

static const char *address_found(void)
{
	static struct facts facts;

	facts = (struct facts){0};
	root.live = true;
	host_discover(&root, &facts);
	root.live = false;
	memset(&interfaces, 0, sizeof interfaces);
	return fact_text(&facts, HOST_IP) ? fact_text(&facts, HOST_IP) : "";
}

#define ROUTES_HEAD "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
#define ROUTE(interface, metric) interface "\t00000000\t010200C0\t0003\t0\t0\t" metric "\t00000000\t0\t0\t0\n"
#define ZEROS "00000000000000000000000000000000"
#define ROUTE6(interface) \
	ZEROS " 00 " ZEROS \
	      " 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003     " interface "\n"

static void the_address_is_that_of_the_default_route(void **state)
{
	(void)state;
	put_below("proc/net/route", ROUTES_HEAD ROUTE("eth0", "100") ROUTE("eth1", "50") ROUTE("eth2", "50"));
	put_below("proc/net/ipv6_route", ROUTE6("eth2"));
	add_address("eth0", "10.0.0.1");
	add_address("eth1", NULL);
	add_address("eth1", "2001:db8::1");
	add_address("eth1", "169.254.1.1");
	add_address("eth1", "0.0.0.0");
	add_address("eth1", "127.0.0.2");
	add_address("eth1", "10.0.0.2");
	add_address("eth1", "10.0.0.3");
	assert_string_equal(address_found(), "10.0.0.2");
	/* Without one, that of the other family. */
	add_address("eth1", "169.254.1.1");
	add_address("eth2", "10.0.0.4");
	add_address("eth2", "fe80::1");
	add_address("eth2", "::1");
	add_address("eth2", "2001:db8::2");
	assert_string_equal(address_found(), "2001:db8::2");
	add_address("eth1", "169.253.1.1");
	assert_string_equal(address_found(), "169.253.1.1");
	add_address("eth1", "126.0.0.1");
	assert_string_equal(address_found(), "126.0.0.1");
	interfaces.fails = true;
	add_address("eth1", "10.0.0.2");
	assert_string_equal(address_found(), "");
	assert_string_equal(address_found(), "");
	assert_int_equal(unlink("proc/net/route") | unlink("proc/net/ipv6_route"), 0);
	add_address("eth1", "10.0.0.2");
	assert_string_equal(address_found(), "");
}

/* ---- the cloud ---------------------------------------------------------------------------------------------------- */

#define OK(body) ANSWER("200 OK", "", body)
#define MISSING ANSWER("404 Not Found", "", "")

/* The facts of the vendor that names itself in the firmware, by these answers of its service. */
static const char *cloud_of(const char *system_vendor, const char *const answers[], struct facts *ret_facts)
{
	struct loopback server;
	struct http_client http;
	struct sys_dmi dmi = {0};

	*ret_facts = (struct facts){0};
	snprintf(dmi.system_vendor, sizeof dmi.system_vendor, "%s", system_vendor);
	loopback_serve(&server, answers);
	assert_int_equal(http_open(&http, NULL), 0);
	cloud_discover(&http, &dmi, server.url, ret_facts);
	http_close(&http);
	loopback_end(&server);
	free(server.asked);
	return fact_text(ret_facts, CLOUD_VENDOR_ID);
}

#define CLOUD(vendor, ...) cloud_of(vendor, (const char *const[]){__VA_ARGS__, NULL}, &facts)

static void a_cloud_proves_its_identity(void **state)
{
	struct facts facts;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_string_equal(CLOUD("Hetzner", OK("instance-id: 5\nregion: eu-central\n")), "hcloud");
	assert_string_equal(fact_text(&facts, CLOUD_REGION_ID), "eu-central");
	assert_null(CLOUD("Hetzner", OK("instance-id: 5\n")));
	assert_null(CLOUD("Hetzner", ANSWER("404 Not Found", "", "instance-id: 5\nregion: eu-central\n")));
	assert_null(CLOUD("Hetzner", ANSWER("300 Choices", "", "instance-id: 5\nregion: eu-central\n")));
	assert_string_equal(CLOUD("Hetzner", ANSWER("299 Odd", "", "instance-id: 5\nregion: eu-central\n")),
			    "hcloud");
	assert_null(fact_text(&facts, CLOUD_INSTANCE_TYPE));
	/* Google says so in a header as well. */
#define FROM_GOOGLE(flavor, body) ANSWER("200 OK", "Metadata-Flavor: " flavor "\r\n", body)
	assert_string_equal(CLOUD("Google", FROM_GOOGLE("Google", "projects/1/machineTypes/n1-standard-1"),
				  FROM_GOOGLE("Google", "projects/1/zones/us-central1-a"), MISSING),
			    "gcp");
	assert_string_equal(fact_text(&facts, CLOUD_REGION_ID), "us-central1");
	assert_string_equal(fact_text(&facts, CLOUD_INSTANCE_TYPE), "n1-standard-1");
	assert_null(CLOUD("Google", FROM_GOOGLE("Other", "projects/1/machineTypes/n1-standard-1")));
	assert_null(CLOUD("Google", OK("projects/1/machineTypes/n1-standard-1")));
	assert_null(CLOUD("Google", FROM_GOOGLE("Google", "projects/1/machineTypes/n1-standard-1"), MISSING));
}

/* Its last steps are optional, and its first one may be refused. */
static void a_token_is_used_in_later_steps(void **state)
{
	static const char *const ANSWERS[] = {OK("secret"),
					      OK("amazonaws.com"),
					      OK("eu-west-1"),
					      OK("t3.micro"),
					      MISSING,
					      OK("{\"AccountId\":\"12\"}"),
					      NULL};
	struct http_client http;
	struct sys_dmi dmi = {.system_vendor = "Amazon EC2"};
	struct facts facts = {0};
	struct loopback server;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	loopback_serve(&server, ANSWERS);
	assert_int_equal(http_open(&http, NULL), 0);
	cloud_discover(&http, &dmi, server.url, &facts);
	http_close(&http);
	loopback_end(&server);
	assert_string_equal(fact_text(&facts, CLOUD_VENDOR_ID), "aws");
	assert_string_equal(fact_text(&facts, CLOUD_REGION_ID), "eu-west-1");
	assert_string_equal(fact_text(&facts, CLOUD_INSTANCE_TYPE), "t3.micro");
	assert_null(fact_text(&facts, CLOUD_ZONE_ID));
	assert_string_equal(fact_text(&facts, CLOUD_ACCOUNT_ID), "12");
	assert_true(loopback_was_asked(&server, "PUT /latest/api/token "));
	assert_true(loopback_was_asked(&server, "X-aws-ec2-metadata-token-ttl-seconds: 300\r\n"));
	assert_true(loopback_was_asked(&server, "GET /latest/meta-data/services/domain "));
	assert_true(loopback_was_asked(&server, "X-aws-ec2-metadata-token: secret\r\n"));
	free(server.asked);
	assert_string_equal(
		CLOUD("Amazon EC2", MISSING, OK("amazonaws.com"), OK("eu-west-1"), MISSING, MISSING, MISSING),
		"aws");
	assert_null(fact_text(&facts, CLOUD_INSTANCE_TYPE));
	assert_null(CLOUD("Amazon EC2", MISSING, MISSING));
	/* It cannot be reached. */
	assert_null(cloud_of("Amazon EC2", (const char *const[]){NULL}, &facts));
}

/* ---- the command -------------------------------------------------------------------------------------------------- */

/* Returns the exit code. The output is in the file "out", and `told` is its standard input. */
static int discover_with(const char *told, char **argv)
{
	int status, ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], told, strlen(told)), strlen(told));
	close(ends[1]);
	pid = fork();
	if (pid == 0) {
		int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600),
		    errors = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(ends[0], STDIN_FILENO);
		dup2(access("full", F_OK) == 0 ? open("/dev/full", O_WRONLY) : out, STDOUT_FILENO);
		dup2(errors, STDERR_FILENO);
		_exit(discover_main(&settings, argv));
	}
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define WORD(text) ((char[]){text})
#define DISCOVER(...) discover_with("", (char *[]){WORD("discover"), __VA_ARGS__, NULL})
#define HERE WORD("--root"), WORD(".")

static void assert_output_begins(const char *wanted)
{
	char *text = get_file("out", NULL);

	if (strncmp(text, wanted, strlen(wanted)) != 0)
		fail_msg("%s does not begin with %s", text, wanted);
	free(text);
}

static void facts_are_written_for_programs(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--python")), 0);
	assert_file_text(
		"out", "{\"server_info\":{\"os\":\"posix\",\"vcpus\":2,\"memory_mib\":2049.0,\"gpu_count\":0,"
		       "\"gpu_names\":[],\"gpu_name\":\"\",\"gpu_memory_mib\":0.0}}\n");
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--lines")), 0);
	assert_file_text("out", "host_hostname=box\nhost_cpu_model=Fast One\nend\n");
	put_below("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--lines")), 0);
	assert_output_begins("host_id=0123456789abcdef0123456789abcdef\nhost_hostname=box\n");
	assert_int_equal(unlink("etc/machine-id"), 0);
	/* Neither form has the limits, for which the recorder would be started. */
	assert_int_equal(access("started", F_OK), -1);
	put_below("dev/dri", "");
	recorder.first = TWO_GPUS;
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--python")), 0);
	assert_file_text(
		"out", "{\"server_info\":{\"os\":\"posix\",\"vcpus\":2,\"memory_mib\":2049.0,\"gpu_count\":2,"
		       "\"gpu_names\":[\"A100\",\"A100\"],\"gpu_name\":\"A100\",\"gpu_memory_mib\":3.0}}\n");
	/* Both come from a pipe: the recorder of the limits has none. */
	assert_int_equal(DISCOVER(WORD("host"), HERE), 0);
	assert_output_begins(
		"{\"host\":{\"host_id\":null,\"host_hostname\":\"box\",\"host_ip\":null,"
		"\"host_server_allocation\":null,\"host_vcpus\":2,\"host_cpu_model\":\"Fast One\","
		"\"host_memory_mib\":2049,\"host_gpu_model\":\"A100\",\"host_gpu_count\":2,"
		"\"host_gpu_memory_mib\":3,\"host_storage_gb\":null},"
		"\"limits\":{\"cpu_limit_cores\":null,\"memory_limit_mib\":null,\"cpuset_cores\":null},"
		"\"gpus\":[{\"uuid\":\"GPU-1\"");
	/* A user who hides their number hides them. */
	setenv("TRACKER_HOST_GPU_COUNT", "0", 1);
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--python")), 0);
	unsetenv("TRACKER_HOST_GPU_COUNT");
	assert_output_begins(
		"{\"server_info\":{\"os\":\"posix\",\"vcpus\":2,\"memory_mib\":2049.0,\"gpu_count\":0,"
		"\"gpu_names\":[],\"gpu_name\":\"\"");
	assert_int_equal(unlink("proc/cpuinfo") | unlink("proc/meminfo"), 0);
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--python")), 0);
	assert_output_begins("{\"server_info\":{\"os\":\"posix\",\"vcpus\":null,\"memory_mib\":null,");
}

static void people_get_a_list(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--color"), WORD("always"), WORD("--no-pager")),
			 0);
	assert_output_begins("\x1b");
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--color"), WORD("always"), WORD("--json")), 0);
	assert_output_begins("{\"host\"");
	assert_int_equal(DISCOVER(WORD("host"), HERE, WORD("--color"), WORD("always"), WORD("--python")), 0);
	assert_output_begins("{\"server_info\"");
	put_text("full", "");
	assert_int_equal(DISCOVER(WORD("host"), HERE), 1);
}

static void the_cloud_is_asked_if_wanted(void **state)
{
	static const char *const ANSWERS[] = {OK("instance-id: 5\nregion: eu-central\n"),
					      OK("instance-id: 5\nregion: eu-central\n"), NULL};
	struct loopback server;

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	put_below("sys/class/dmi/id/sys_vendor", "Hetzner\n");
	loopback_serve(&server, ANSWERS);
	settings.metadata_url = server.url;
	assert_int_equal(DISCOVER(WORD("cloud"), HERE, WORD("--python")), 0);
	assert_output_begins("{\"cloud_info\":{\"vendor\":\"hcloud\",\"instance_type\":\"unknown\","
			     "\"region\":\"eu-central\","
			     "\"discovery_time\":0.");
	assert_int_equal(DISCOVER(WORD("all"), HERE, WORD("--lines")), 0);
	assert_file_text("out", "host_hostname=box\nhost_cpu_model=Fast One\ncloud_vendor_id=hcloud\n"
				"cloud_region_id=eu-central\nend\n");
	loopback_end(&server);
	free(server.asked);
	/* Another maker than a cloud's: nothing is asked. */
	put_below("sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
	assert_int_equal(DISCOVER(WORD("all"), HERE, WORD("--python")), 0);
	assert_output_begins("{\"server_info\":{");
	assert_int_equal(DISCOVER(WORD("cloud"), HERE), 0);
	assert_output_begins(
		"{\"cloud\":{\"cloud_vendor_id\":null,\"cloud_account_id\":null,\"cloud_region_id\":null,"
		"\"cloud_zone_id\":null,\"cloud_instance_type\":null,\"discovery_secs\":0.");
}

static void the_recorder_tells_when_to_begin(void **state)
{
	char *argv[] = {WORD("discover"), WORD("host"), HERE, WORD("--lines"), WORD("--when-told"), NULL};

	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(discover_with("", argv), 0);
	assert_file_text("out", "");
	assert_int_equal(discover_with("x", argv), 0);
	assert_file_text("out", "host_hostname=box\nhost_cpu_model=Fast One\nend\n");
}

static void assert_says(const char *words)
{
	char *text = get_file("err", NULL);

	if (!strstr(text, words) || strchr(text, '\n') != strrchr(text, '\n'))
		fail_msg("'%s' is not all of: %s", words, text);
	free(text);
}

static void wrong_words_are_refused(void **state)
{
	(void)state;
	NEEDS_THE_KERNEL_ITSELF();
	assert_int_equal(DISCOVER(NULL), 2);
	assert_says("name one of host, cloud, all");
	assert_int_equal(DISCOVER(WORD("hosts")), 2);
	assert_int_equal(DISCOVER(WORD("host"), WORD("cloud")), 2);
	assert_int_equal(DISCOVER(WORD("host"), WORD("--no-such-option")), 2);
	assert_says("--no-such-option");
	assert_int_equal(DISCOVER(WORD("host"), WORD("--root"), WORD("missing")), 2);
	assert_says("missing: No such file or directory");
	assert_file_text("out", "");
}

#define DISCOVER_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		DISCOVER_TEST(a_machine_without_devices_has_no_gpu),
		DISCOVER_TEST(whole_gpus_are_listed),
		DISCOVER_TEST(a_device_may_lack_values),
		DISCOVER_TEST(a_long_sample_comes_in_pieces),
		DISCOVER_TEST(settings_of_recordings_are_left_out),
		DISCOVER_TEST(limits_are_those_of_this_process),
		DISCOVER_TEST(the_address_is_that_of_the_default_route),
		DISCOVER_TEST(a_cloud_proves_its_identity),
		DISCOVER_TEST(a_token_is_used_in_later_steps),
		DISCOVER_TEST(facts_are_written_for_programs),
		DISCOVER_TEST(people_get_a_list),
		DISCOVER_TEST(the_cloud_is_asked_if_wanted),
		DISCOVER_TEST(the_recorder_tells_when_to_begin),
		DISCOVER_TEST(wrong_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
