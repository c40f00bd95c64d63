/*
 * `resource-tracker discover host|cloud|all` prints the facts of this machine as one JSON object on stdout.
 *
 *   {"host":{"host_id":...,...},"limits":{"cpu_limit_cores":...,...},"gpus":[...],"cloud":{"cloud_vendor_id":...,...,"discovery_secs":0.013}}
 *
 * "host" has the machine's values; "limits" has the limits of a process here, the least over all control groups above it.
 *
 * With --python the members have the names and shapes of the Python packages' get_server_info() and
 * get_cloud_info(): {"server_info":{"os":...,"vcpus":...},"cloud_info":{"vendor":"unknown",...}}.
 *
 * With --lines texts stand as NAME=VALUE, a line each, and "end" is the last line; with --when-told nothing is done
 * before a byte comes on stdin. Both are for the recorder.
 *
 * `host` opens no socket but the one that lists the machine's own addresses; `cloud` asks the metadata services.
 * Exit status: 0, also when every fact is unknown; 2 wrong usage.
 */
#pragma once

struct settings;

int discover_main(const struct settings *settings, int argc, char **argv);
