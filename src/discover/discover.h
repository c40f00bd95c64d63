/*
 * `resource-tracker discover host|cloud|all` prints the facts of this machine as one JSON object on stdout.
 *
 *   {"host":{"host_id":...,...},"limits":{"cpu_limit_cores":...,...},"gpus":[...],"cloud":{"cloud_vendor_id":...,...,"discovery_secs":0.013}}
 *
 * "host" has the machine's values; "limits" has the limits of a process here, the smallest over all control groups
 * above it.
 *
 * With --python the members have the names and shapes of the Python packages' get_server_info() and
 * get_cloud_info(): {"server_info":{"os":...,"vcpus":...},"cloud_info":{"vendor":"unknown",...}}.
 *
 * With --lines each text is a line NAME=VALUE, and the last line is "end". With --when-told the program does
 * nothing until a byte comes on stdin. Both are for the recorder.
 *
 * `host` opens one socket, to list the machine's own addresses; `cloud` asks the metadata services. Exit status:
 * 0, even if every fact is unknown; 2 wrong usage.
 */
#pragma once

struct settings;

int discover_main(const struct settings *settings, char **argv);
