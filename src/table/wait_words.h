/* A wait of the job in words: "TCP port 5432 of another machine", "storage: disk vda (ext4)". */
#pragma once

#include <stddef.h>

/* `target` is "" where the class says all. Returns `text`. */
const char *wait_words(const char *class, const char *target, char *text, size_t size);
