/* Closes inherited descriptors in programs that the recorder starts. */
#pragma once

/* Closes all descriptors above 2 except these two (-1: none). */
void close_other_descriptors(int keep_a, int keep_b);
