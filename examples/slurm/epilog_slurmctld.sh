#!/bin/sh
# Keeps the record of each job that jobstats and reportseff read in the job's AdminComment. In slurm.conf:
#
#	EpilogSlurmctld=/etc/slurm/epilog_slurmctld.sh
#
# slurmctld runs it at the end of each job. The recordings are those of the plugin, and are read as the job's user: their contents
# and their names are that user's. /etc/slurm/resource-tracker.conf may have these lines:
#
#	folder=/scratch/recordings     where they are; default: the folder of the job
#	sql="mariadb slurm_acct_db"    a program that runs SQL on slurmdbd's database, in place of sacctmgr
#
# The sacctmgr of Slurm 22.05 needs the latter: it makes capitals small, which destroys the record.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
folder=$SLURM_JOB_WORK_DIR sql=
[ ! -r /etc/slurm/resource-tracker.conf ] || . /etc/slurm/resource-tracker.conf

as_user() {
	if [ "$(id -u)" = 0 ]; then
		timeout 30 runuser -u "$SLURM_JOB_USER" -- "$@"
	else
		timeout 30 "$@"
	fi
}

# The recorders end a moment after their tasks.
record=$(as_user sh -c '
	cd "$1" || exit
	set -- slurm-"$2".*.jsonl
	for recording; do
		[ -f "$recording" ] || exit
		tries=100
		until tail -n 1 "$recording" | grep -q "\"run_end\":{" || [ $((tries -= 1)) = 0 ]; do
			sleep 0.1
		done
	done
	exec resource-tracker export --format jobstats "$@"
' sh "$folder" "$SLURM_JOB_ID" </dev/null 2>/dev/null)
case $record in
JS1:*[!A-Za-z0-9+/=]*) exit 0 ;;
JS1:*) ;;
*) exit 0 ;;
esac

# The last task of an array has the id of the array.
job=$SLURM_JOB_ID
[ "$SLURM_ARRAY_JOB_ID" != "$SLURM_JOB_ID" ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID

store() {
	if [ -n "$sql" ]; then
		echo "UPDATE ${SLURM_CLUSTER_NAME}_job_table SET admin_comment = '$record' WHERE id_job = $SLURM_JOB_ID" \
			"ORDER BY job_db_inx DESC LIMIT 1" | $sql
	else
		sacctmgr -i -Q update job where jobid="$job" set AdminComment="$record"
	fi
}

# slurmdbd learns of the job a moment later.
tries=10
until store >/dev/null 2>&1 && sacct -n -X -P -j "$job" -o AdminComment | grep -qxF "$record"; do
	if [ $((tries -= 1)) = 0 ]; then
		logger -t resource-tracker "job $job: the record is not in AdminComment as it was written" 2>/dev/null
		exit 0
	fi
	sleep 1
done
exit 0
