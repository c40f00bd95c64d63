"""Stands for the program of the reader: a second of work."""
import time

end = time.monotonic() + 1.2
numbers = []
while time.monotonic() < end:
    numbers = [number * number for number in range(200_000)]
