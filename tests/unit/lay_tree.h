/*
 * Steps of a fixture machine (TEST_ROOTS/MACHINE/tN) laid over one folder in place, so that kept files change under the
 * reader's hands as the kernel's do. Failures are those of the running test.
 */
#pragma once

/* Makes `to` equal to `from`, a folder named tN; files that step N leaves unchanged are not written. */
void lay_over(const char *from, const char *to);
void remove_tree(const char *path);
