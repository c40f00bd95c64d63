/* Closes inherited descriptors in processes that the recorder starts. */
#pragma once

/* Closes all descriptors from `first` on except these two (-1: none). */
void close_descriptors(int first, int keep_a, int keep_b);
