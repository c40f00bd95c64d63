/* Computes the job's part of each GPU. See gpu_account.h. */
#include "collect/gpu_account.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

static double no_more_than(double value, double most)
{
	return value < most ? value : most;
}

static bool same_device(const struct gpu_survey *a, const struct gpu_survey *b, int64_t index)
{
	return index < b->device_count && strcmp(a->devices[index].uuid, b->devices[index].uuid) == 0;
}

static bool is_later(const struct timed_survey *now, const struct timed_survey *before)
{
	return before->at_ns && now->at_ns > before->at_ns;
}

/* ---- over time ------------------------------------------------------------------------------------- */

static struct gpu_number device_utilization(const struct timed_survey *now, const struct timed_survey *before,
					    int64_t index, bool same_device)
{
	const struct gpu_number *new = now->survey->devices[index].readings, *old;
	double covered_secs;

	if (new[GPU_UTILIZATION_PCT].error || !same_device)
		return new[GPU_UTILIZATION_PCT];
	old = before->survey->devices[index].readings;
	if (new[GPU_COVERED_SECS].error || old[GPU_COVERED_SECS].error)
		return new[GPU_UTILIZATION_PCT];
	covered_secs = new[GPU_COVERED_SECS].value - old[GPU_COVERED_SECS].value;
	if (covered_secs <= 0 || new[GPU_BUSY_SECS].value < old[GPU_BUSY_SECS].value)
		return new[GPU_UTILIZATION_PCT];
	return gpu_value(no_more_than(
		100 * (new[GPU_BUSY_SECS].value - old[GPU_BUSY_SECS].value) / covered_secs, 100));
}

/* Processes usually keep their places in the list. */
static const struct gpu_process *find_gpu_process(const struct gpu_survey *survey, int64_t guess,
						  const struct gpu_process *process)
{
	for (int64_t n = 0; n < survey->process_count; n++) {
		const struct gpu_process *found = &survey->processes[(guess + n) % survey->process_count];

		if (found->pid == process->pid && found->device == process->device)
			return found;
	}
	return NULL;
}

/* `same_device`: it had the same place in the earlier survey. */
static struct gpu_number process_rate(const struct timed_survey *now, const struct timed_survey *before,
				      int64_t index, bool same_device)
{
	const struct gpu_process *process = &now->survey->processes[index], *earlier;
	double secs = ns_to_secs(now->at_ns - before->at_ns), busy_secs;

	if (process->utilization_pct.error)
		return process->utilization_pct;
	if (process->busy_secs.error || !same_device)
		return gpu_value(process->utilization_pct.value / 100);
	earlier = find_gpu_process(before->survey, index, process);
	busy_secs = process->busy_secs.value -
		    (earlier && !earlier->busy_secs.error ? earlier->busy_secs.value : 0);
	/* The counters of a restarted helper begin at zero. */
	if (busy_secs < 0)
		return gpu_value(process->utilization_pct.value / 100);
	return gpu_value(no_more_than(busy_secs / secs, 1));
}

/* ---- whose ----------------------------------------------------------------------------------------- */

static bool gpu_is_member(const struct gpu_members *members, int64_t pid)
{
	if (!members->tree || pid <= 0 || pid > INT32_MAX)
		return false;
	if (process_tree_find(members->tree, (pid_t)pid))
		return true;
	for (size_t i = 0; i < members->gone_count; i++)
		if (members->gone[i] == pid)
			return true;
	return false;
}

static void add_device_number(struct gpu_number *sum, struct gpu_number part)
{
	/* If a part is unknown, the sum is unknown. */
	if (sum->error)
		return;
	*sum = part.error ? part : gpu_value(sum->value + part.value);
}

/* A device that uses the machine's memory has no memory of its own. */
static struct gpu_number vram_of(const struct gpu_process *process, const struct gpu_device *device)
{
	if (process->vram_bytes.error == EOPNOTSUPP && device->memory_kind == GPU_MEMORY_UNIFIED)
		return gpu_value(0);
	return process->vram_bytes;
}

static void add_gpu_member(struct device_account *account, const struct gpu_process *process,
			   const struct gpu_device *device, struct gpu_number rate, bool is_root)
{
	account->process_count++;
	add_device_number(&account->usage, rate);
	add_device_number(&account->vram_bytes, vram_of(process, device));
	if (is_root)
		account->main_vram_bytes = vram_of(process, device);
}

static void begin_account(struct device_account *account, struct gpu_number utilization)
{
	*account = (struct device_account){
		.usage = gpu_value(0),
		.vram_bytes = gpu_value(0),
		.main_vram_bytes = gpu_value(0),
		.unattributed_vram_bytes = gpu_absent(EOPNOTSUPP),
		.utilization_pct = utilization,
	};
}

static void nothing_known(struct device_account *account, int error)
{
	account->usage = account->used_part = account->vram_bytes = account->main_vram_bytes =
		gpu_absent(error);
	account->attribution = "none";
}

static const char *method_of(const struct gpu_device *device)
{
	if (device->pids == GPU_PIDS_MAPPED)
		return "nspid";
	/* The driver knows about strangers only if it lists processes. */
	return device->tenant_count >= 0 ? "pid" : "fdinfo";
}

static struct gpu_number whole_device(const struct device_account *account)
{
	if (account->utilization_pct.error)
		return account->utilization_pct;
	return gpu_value(account->utilization_pct.value / 100);
}

/* Where MPS has clients, it has a server: the one process that is none. It works for the job if all clients are the job's. */
static bool has_strangers(const struct gpu_device *device, const struct device_account *account)
{
	bool server_alone = account->client_count > 0 && device->tenant_count == account->client_count + 1;

	return server_alone ? account->stranger_client_count > 0 : account->stranger_count > 0;
}

/* The pids are in our namespace: the members' figures are summed up already. */
static void judge_known(const struct gpu_device *device, struct device_account *account)
{
	account->attribution = method_of(device);
	if (!account->usage.error || device->tenant_count <= 0 || has_strangers(device, account))
		return;
	/* The driver does not report the use of single processes, but all of them belong to the job. */
	account->usage = whole_device(account);
	account->attribution = "device";
}

/* The pids are from another namespace. `sole` is the only process on the device, if there is exactly one. */
static void judge_foreign(const struct gpu_device *device, struct device_account *account,
			  const struct gpu_process *sole, struct gpu_number sole_rate)
{
	if (device->holder_count == 0) {
		account->attribution = "files";
		return;
	}
	if (device->tenant_count != 1 || device->holder_count < 1 || !sole) {
		nothing_known(account,
			      device->readings[GPU_UTILIZATION_PCT].error == ENODEV ? ENODEV : EXDEV);
		return;
	}
	account->process_count = 1;
	account->usage = sole_rate.error ? whole_device(account) : sole_rate;
	account->vram_bytes = sole->vram_bytes;
	account->main_vram_bytes = gpu_absent(EXDEV);
	account->attribution = "device";
}

/* `all_there`: the survey had room for every process of the machine. */
static void judge_device(const struct gpu_device *device, struct device_account *account,
			 const struct gpu_process *sole, struct gpu_number sole_rate, bool all_there)
{
	struct gpu_number share = device->readings[GPU_SHARE];

	if (account->divided)
		nothing_known(account, EOPNOTSUPP);
	else if (device->pids == GPU_PIDS_NOT_ASKED)
		nothing_known(account, EINPROGRESS);
	else if (!all_there)
		nothing_known(account, ENOBUFS);
	else if (device->pids == GPU_PIDS_OURS || device->pids == GPU_PIDS_MAPPED)
		judge_known(device, account);
	else
		judge_foreign(device, account, sole, sole_rate);
	account->used_part = account->usage;
	if (account->usage.error)
		return;
	account->usage = share.error && account->usage.value > 0
				 ? share
				 : gpu_value(account->usage.value * share.value);
}

/* Memory in use that no listed process holds: the memory of hidden processes, or of the driver. */
static void find_unattributed(const struct gpu_survey *survey, int64_t index, double listed_bytes,
			      bool all_listed, struct device_account *account)
{
	struct gpu_number used = survey->devices[index].readings[GPU_VRAM_USED_BYTES];

	if (used.error || !all_listed || survey->devices[index].tenant_count < 0)
		return;
	account->unattributed_vram_bytes =
		gpu_value(used.value > listed_bytes ? used.value - listed_bytes : 0);
}

void gpu_account_too_early(struct device_account *account)
{
	nothing_known(account, EINPROGRESS);
}

/* Sums over the processes of each device. */
struct holder_gathering {
	const struct gpu_process *sole[GPU_DEVICES_MAX]; /* the last process; the only one if there is one */
	struct gpu_number sole_rate[GPU_DEVICES_MAX];
	double listed_bytes[GPU_DEVICES_MAX];
	bool some_unlisted[GPU_DEVICES_MAX];
	bool same[GPU_DEVICES_MAX]; /* has the same place as in the earlier survey */
};

static void gather_process(struct holder_gathering *gathering, const struct timed_survey *now,
			   const struct timed_survey *before, int64_t index,
			   const struct gpu_members *members, struct device_account *accounts,
			   struct process_share *ret_share)
{
	const struct gpu_process *process = &now->survey->processes[index];
	int64_t device = process->device, pids = now->survey->devices[device].pids;
	struct gpu_number rate = process_rate(now, before, index, gathering->same[device]);
	bool is_client = process->kinds & GPU_PROCESS_MPS_CLIENT;

	gathering->sole[device] = process;
	gathering->sole_rate[device] = rate;
	if (process->vram_bytes.error)
		gathering->some_unlisted[device] = true;
	else
		gathering->listed_bytes[device] += process->vram_bytes.value;
	*ret_share = (struct process_share){rate, gpu_is_member(members, process->pid)};
	accounts[device].client_count += is_client;
	accounts[device].stranger_client_count += is_client && !ret_share->is_member;
	if (!ret_share->is_member)
		accounts[device].stranger_count++;
	else if (pids == GPU_PIDS_OURS || pids == GPU_PIDS_MAPPED)
		add_gpu_member(&accounts[device], process, &now->survey->devices[device], rate,
			       process->pid == members->tree->root_pid);
}

void gpu_account(const struct timed_survey *now, const struct timed_survey *before,
		 const struct gpu_members *members, struct device_account *ret_accounts,
		 struct process_share *ret_shares)
{
	const struct gpu_survey *survey = now->survey;
	struct holder_gathering gathering;

	for (int64_t i = 0; i < survey->device_count; i++) {
		gathering.sole[i] = NULL;
		gathering.listed_bytes[i] = 0;
		gathering.some_unlisted[i] = false;
		gathering.same[i] = is_later(now, before) && same_device(survey, before->survey, i);
		begin_account(&ret_accounts[i], device_utilization(now, before, i, gathering.same[i]));
	}
	for (int64_t i = 0; i < survey->device_count; i++)
		if (survey->devices[i].parent >= 0)
			ret_accounts[survey->devices[i].parent].divided = true;
	for (int64_t i = 0; i < survey->process_count; i++)
		gather_process(&gathering, now, before, i, members, ret_accounts, &ret_shares[i]);
	for (int64_t i = 0; i < survey->device_count; i++) {
		if (members->tree)
			judge_device(&survey->devices[i], &ret_accounts[i], gathering.sole[i],
				     gathering.sole_rate[i], !survey->left_out_count);
		find_unattributed(survey, i, gathering.listed_bytes[i], !gathering.some_unlisted[i],
				  &ret_accounts[i]);
	}
}
