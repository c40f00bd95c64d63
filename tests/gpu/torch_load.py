#!/usr/bin/env python3
"""A known load on an NVIDIA GPU by PyTorch: torch_load.py NAME SECS

Prints a line of JSON: when the load began and ended (seconds since the epoch), and its own counts, for each second of it:
floating point operations, or bytes. Nothing of the GPU's setting is changed.
"""
import json
import sys
import time

import torch

MIB = 1 << 20
DEVICE = "cuda:0"


def repeat(secs, step):
    """Calls step() for a time, after a warm-up. Returns (begin, end, calls)."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    begin, calls = time.time(), 0
    while time.time() - begin < secs:
        for _ in range(4):
            step()
        torch.cuda.synchronize()
        calls += 4
    return begin, time.time(), calls


def matrices(kind, size, secs):
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = (torch.randn(size, size, device=DEVICE).to(kind) for _ in range(2))
    out = torch.empty_like(a)
    begin, end, calls = repeat(secs, lambda: torch.matmul(a, b, out=out))
    return {"begin": begin, "end": end, "flops": 2 * size ** 3 * calls / (end - begin)}


def copies(source, target, secs):
    begin, end, calls = repeat(secs, lambda: target.copy_(source, non_blocking=True))
    return {"begin": begin, "end": end, "bytes": source.numel() * calls / (end - begin)}


def on_host():
    return torch.ones(512 * MIB, dtype=torch.uint8).pin_memory()


def on_device():
    return torch.ones(512 * MIB, dtype=torch.uint8, device=DEVICE)


def held(secs):
    memory = torch.ones(4096 * MIB, dtype=torch.uint8, device=DEVICE)
    torch.cuda.synchronize()
    begin = time.time()
    time.sleep(secs)
    return {"begin": begin, "end": time.time(), "mib": memory.numel() / MIB}


class Slow(torch.utils.data.Dataset):
    """Each item costs 50 ms of CPU time: two workers feed 40 items a second to a GPU that could take thousands."""
    def __len__(self):
        return 1 << 20

    def __getitem__(self, item):
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        return torch.zeros(64, 64)


def starved(secs):
    model, begin, batches = torch.nn.Linear(64, 64).to(DEVICE), time.time(), 0
    for batch in torch.utils.data.DataLoader(Slow(), batch_size=8, num_workers=2):
        model(batch.to(DEVICE)).sum().item()
        batches += 1
        if time.time() - begin > secs:
            break
    return {"begin": begin, "end": time.time(), "batches": batches}


def too_much(secs):
    """Asks for more until the device refuses, as a model that is too large does."""
    begin, kept = time.time(), []
    try:
        while True:
            kept.append(torch.ones(2048 * MIB, dtype=torch.uint8, device=DEVICE))
    except torch.OutOfMemoryError as refused:
        torch.cuda.synchronize()
        full = time.time()
        time.sleep(secs)
        print(json.dumps({"begin": full, "end": time.time(), "mib": 2048 * len(kept), "took": full - begin}), flush=True)
        raise SystemExit(1) from refused


LOADS = {
    "tensor": lambda secs: matrices(torch.bfloat16, 8192, secs),
    "fp32": lambda secs: matrices(torch.float32, 8192, secs),
    "fp64": lambda secs: matrices(torch.float64, 4096, secs),
    "to_device": lambda secs: copies(on_host(), on_device(), secs),
    "to_host": lambda secs: copies(on_device(), on_host(), secs),
    "device_copy": lambda secs: copies(on_device(), on_device(), secs),
    "held": held,
    "starved": starved,
    "too_much": too_much,
}

if __name__ == "__main__":
    print(json.dumps(LOADS[sys.argv[1]](float(sys.argv[2]))), flush=True)
