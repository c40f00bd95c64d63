"""Work for a tracker to see."""
import time


def burn(secs):
    """Uses CPU time, however busy the machine is."""
    end = time.process_time() + secs
    while time.process_time() < end:
        pass
