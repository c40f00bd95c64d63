/* The names of signals: "SIGTERM", "SIGRTMIN+3". They are the same with every libc. */
#pragma once

enum { SIGNAL_NAME_SIZE = 24 };

/* Writes the name and returns it. Without a name: "signal NUMBER". */
const char *signal_name(int number, char ret_name[SIGNAL_NAME_SIZE]);
