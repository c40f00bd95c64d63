/* Descriptors that were inherited: the programs that the recorder starts let go of them. */
#pragma once

/* Closes all descriptors above 2 but these two (-1: none). */
void close_other_descriptors(int keep_a, int keep_b);
