"""Four ranks with different memory and CPU time."""
import time

from mpi4py import MPI

rank = MPI.COMM_WORLD.Get_rank()
memory = b"x" * ((30 << 20) * (rank + 1))
until = time.process_time() + 0.5 * (rank + 1)
while time.process_time() < until:
    pass
print(MPI.COMM_WORLD.allreduce(rank), len(memory), flush=True)
