/*
 * Lays the steps of a fixture machine (TEST_ROOTS/MACHINE/tN) over one folder in place, so that open files
 * change under the reader as the kernel's files do. A failure fails the running test.
 */
#pragma once

/* Makes `to` equal to `from`, a folder named tN; files that step N leaves unchanged are not written. */
void lay_over(const char *from, const char *to);
void remove_tree(const char *path);
