/*
 * Steps of a fixture tree (tests/roots/MACHINE/tN) laid over one folder in place, so that files which are kept open
 * change under the reader's hands as the kernel's do. Failures are those of the running test.
 */
#pragma once

void lay_over(const char *from, const char *to);
void remove_tree(const char *path);
