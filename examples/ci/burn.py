"""A step of the examples: takes MiB of memory and half a second of CPU time, and prints the CPU time that it knows of itself."""
import sys
import time

memory = b"x" * (int(sys.argv[1]) << 20)
until = time.process_time() + 0.5
while time.process_time() < until:
    pass
print(len(memory) >> 20, time.process_time())
