"""Takes more memory than the limit of its job."""
import time

memory = []
while True:
    memory.append(b"x" * (1 << 20))
    time.sleep(0.02)
