"""Stands for a program that mostly waits."""
import time

time.sleep(2.5)
