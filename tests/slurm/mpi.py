"""Four ranks with different memory and CPU time."""
import time

from mpi4py import MPI

rank = MPI.COMM_WORLD.Get_rank()
memory = b"x" * ((30 << 20) * (rank + 1))
until = time.process_time() + 0.5 * (rank + 1)
while time.process_time() < until:
    pass
assert MPI.COMM_WORLD.allreduce(rank) == 6 and len(memory) == (30 << 20) * (rank + 1)
# The end of MPI waits busily for the slowest rank.
MPI.Finalize()
with open(f"clock.{rank}", "w") as clock:
    clock.write(str(time.process_time()))
