"""Takes more memory than the limit of its job: grow.py [SECONDS between two MiB, 0.02 unless told]"""
import sys
import time

pause_secs = float(sys.argv[1]) if len(sys.argv) > 1 else 0.02
memory = []
while True:
    memory.append(b"x" * (1 << 20))
    time.sleep(pause_secs)
