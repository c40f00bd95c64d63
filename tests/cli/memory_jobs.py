"""Jobs whose memory is hard to measure, as programs of tests/fakes/memory-job.c, and random jobs.

JOBS are those that tests/cli/test_memory_truth.py can afford; bench/memory runs them and larger ones.
"""
import dataclasses
import random


@dataclasses.dataclass(frozen=True)
class Job:
    program: str
    needs: str = ""  # "root": only root can read it; "root meter": only a meter of root can; "hugetlb": huge pages set aside by root; "swap": a swap file

    @property
    def words(self):
        return self.program.split()


def sharers(kind, mib, others=6):
    """The first process shares a mapping with children that only fork and with children that call exec."""
    forked = others // 2
    after_exec = "attach" if kind != "shared" else "private 1"
    return Job(f"{kind} {mib} fork {forked} {{ read sleep 4200 }} fork {others - forked} {{ exec {{ {after_exec} sleep 4000 }} }} sleep 4200")


JOBS = {
    "one process": Job("private 20 sleep 4300"),
    "300 MiB read by 8": Job("private 300 fork 8 { read sleep 4300 }"),
    "480 MiB read by 4": Job("private 480 fork 4 { read sleep 4300 }"),
    "200 MiB, half overwritten by 3": Job("private 200 fork 3 { overwrite 50 sleep 4300 }"),
    "200 MiB, every other page overwritten by 2": Job("private 200 fork 2 { scatter 50 sleep 4300 }"),
    "200 MiB, pages overwritten at random": Job("seed 7 private 200 fork 4 { poke 9000 sleep 4300 }"),
    "40 MiB, 2 % overwritten by 200": Job("private 40 fork 200 { overwrite 2 sleep 6500 }"),
    "300 MiB shared, anonymous": sharers("shared", 300),
    "300 MiB shared, memfd": sharers("memfd", 300),
    "300 MiB shared, /dev/shm": sharers("shm", 300),
    "300 MiB shared, POSIX": sharers("posix", 300),
    "300 MiB shared, System V": sharers("sysv", 300),
    "four shared mappings of their own": Job("fork 4 { shared 120 sleep 4300 }"),
    "40 forks with shared memory of their own": Job("private 20 fork 40 { sysv 4 sleep 4300 }"),
    "two families of forks": Job("fork 1 { private 150 fork 4 { read overwrite 10 sleep 4300 } } "
                                 "fork 1 { private 100 fork 3 { read overwrite 30 sleep 4300 } }"),
    "forks of forks": Job("private 120 fork 2 { private 30 fork 2 { private 10 fork 2 { read sleep 4300 } } }"),
    "forks of forks that wrote before": Job("private 120 fork 2 { overwrite 60 fork 3 { read sleep 4300 } }"),
    "forks whose parent wrote afterwards": Job("private 100 fork 2 { sleep 4300 } overwrite 80 fork 2 { sleep 4300 } overwrite 50"),
    "forks whose parent wrote much later": Job("private 100 fork 2 { sleep 5300 } sleep 1200 overwrite 80 fork 2 { sleep 4100 } sleep 1200 "
                                               "overwrite 50"),
    "forks that overwrite more and more": Job("private 150 fork 8 { read sleep 600 overwrite 20 sleep 700 overwrite 40 sleep 700 overwrite 60 "
                                              "sleep 700 overwrite 80 sleep 2500 }"),
    "forks whose parent has ended": Job("fork 1 { private 200 fork 4 { read sleep 4300 } exec { sleep 1 } }"),
    "cousins whose parents called exec": Job("private 5 fork 3 { fork 1 { private 85 fork 2 { read sleep 4300 } exec { sleep 4600 } } "
                                             "sleep 4700 }"),
    "huge pages": Job("huge 256 fork 4 { read sleep 4300 }"),
    "huge pages, a tenth overwritten": Job("huge 200 fork 3 { scatter 10 sleep 4300 }"),
    "split huge pages": Job("huge 200 pieces 256 fork 2 { read sleep 4300 }"),
    "huge pages with holes": Job("huge 200 holes 512 fork 2 { read sleep 4300 }"),
    "split huge pages, and forks that own some": Job("huge 160 pieces 256 fork 3 { read private 40 sleep 4300 }"),
    "huge pages that their owner has enlarged": Job("huge 120 enlarge 17 fork 2 { read sleep 4300 }"),
    "huge pages that forks enlarge": Job("private 100 huge 40 fork 3 { enlarge 20 sleep 4300 }"),
    "split huge pages that forks move": Job("private 20 huge 100 holes 512 fork 3 { move read sleep 4300 }"),
    "huge pages of forks that freed others": Job("huge 80 fork 3 { free huge 60 pieces 256 sleep 4300 }"),
    "memory that forks move as they enlarge it": Job("private 1 move huge 40 fork 4 { enlarge 12 sleep 4300 } memfd 40 sleep 4300"),
    "a child that calls exec": Job("private 300 fork 1 { exec { private 40 sleep 4300 } } fork 1 { sleep 1500 exec { sleep 2500 } }"),
    "memory freed and taken again": Job("private 250 fork 2 { sleep 5800 } sleep 1300 free private 120 sleep 1200 dontneed sleep 700 "
                                        "free private 200"),
    "children that free what they inherited": Job("private 300 fork 3 { free private 30 sleep 4300 }"),
    "grows from 10 to 600 MiB": Job("private 10 sleep 300 grow 590 4000 sleep 300"),
    "grows in four children": Job("private 100 fork 4 { grow 120 3800 sleep 500 }"),
    "files in /dev/shm, not mapped": Job("open-shm 200 sleep 4300"),
    "memfd, not mapped": Job("open-memfd 200 fork 3 { sleep 4300 }"),
    "memfd, unmapped": Job("memfd 150 unmap sleep 4300"),
    "memfds of 120 forks, not mapped": Job("private 5 fork 120 { open-memfd 3 sleep 4300 }"),
    "memfds of forks that end before the others": Job("private 5 fork 8 { open-memfd 20 sleep 2400 } fork 60 { sleep 4400 } sleep 4300"),
    "forks whose own forks have ended": Job("private 2 fork 5 { private 60 fork 4 { sleep 1700 } sleep 4300 }"),
    "forks whose own forks have freed it": Job("private 2 fork 4 { private 50 fork 2 { sleep 1400 free sleep 3000 } sleep 4400 }"),
    "shared memory whose writer has ended": Job("memfd 200 unmap fork 2 { sleep 4300 } sleep 1200"),
    "short children that come and go": Job("private 150 " + "fork 8 { read burn 20 sleep 700 } wait " * 6),
    "many threads": Job("private 100 threads 64 fork 3 { threads 16 sleep 4300 } sleep 4300"),
    "a file in areas of 3 pages": Job("private 100 file 60 pieces 3 sleep 4300"),
    "a file that four map": Job("file 200 fork 3 { read sleep 4300 } sleep 4300"),
    "shared memory that only others wrote": Job("shared 200 dontneed sleep 4300", needs="root"),
    "a memfd that one process maps three times": Job("memfd 200 view 2 sleep 4300"),
    "a private mapping of a memfd that is closed": Job("private-memfd 36 sleep 4300", needs="root meter"),
    "private mappings of a memfd in forks": Job("private 5 private-memfd 30 fork 2 { read sleep 4300 }", needs="root meter"),
    "hugetlb": Job("hugetlb 48 fork 2 { sleep 4300 }", needs="hugetlb"),
    "hugetlb, shared": Job("hugetlb-shared 48 fork 2 { read sleep 4300 }", needs="hugetlb"),
}


def random_job(seed, odd=False):
    """Returns a program that forks, writes, shares, calls exec and frees at random: up to about 500 MiB and 60
    processes. An odd one splits, moves and enlarges mappings, too, and has more huge pages.
    """
    draw = random.Random(seed)
    budget = {"mib": 300, "processes": 40}

    def some_memory():
        mib = min(draw.choice([1, 2, 5, 10, 20, 40, 80]), max(1, budget["mib"] // 4))
        budget["mib"] -= mib
        huge = ["huge"] * 5 if odd else []
        return [draw.choice(["private"] * 5 + ["shared", "memfd", "shm", "posix", "sysv", "huge", "open-memfd", "open-shm", *huge]), str(mib)]

    def block(depth, copies):
        words = ["seed", str(draw.randrange(1, 10**6))]
        for _ in range(draw.randint(2, 5)):
            kind = draw.choice(["take", "take", "write", "write", "fork", "fork", "free", "read", "sleep", "exec", *["alter"] * (3 * odd)])
            if kind == "take" and budget["mib"] > 4 * copies:
                before = budget["mib"]
                words += some_memory()
                budget["mib"] -= (before - budget["mib"]) * (copies - 1)
            elif kind == "write":
                words += draw.choice([["overwrite", str(draw.randint(1, 60))], ["scatter", str(draw.randint(1, 40))],
                                      ["poke", str(draw.randint(10, 2000))]])
            elif kind == "fork" and depth < 3 and budget["processes"] > 0:
                count = draw.randint(1, max(1, min(5, budget["processes"])))
                budget["processes"] -= count * copies
                words += ["fork", str(count), "{", *block(depth + 1, copies * count), "}"]
            elif kind == "free" and draw.random() < 0.5:
                words += [draw.choice(["free", "dontneed"])]
            elif kind == "alter":
                words += draw.choice([["move"], [draw.choice(["split", "holes"]), str(draw.choice([7, 300, 512]))], ["enlarge", str(draw.randint(1, 20))]])
            elif kind == "read":
                words += ["read"]
            elif kind == "sleep":
                words += ["sleep", str(draw.randint(50, 900))]
            elif kind == "exec" and depth and draw.random() < 0.4:
                return [*words, "exec", "{", "attach", "private", "2", "sleep", str(draw.randint(2000, 4500)), "}"]
        return [*words, "sleep", str(draw.randint(1500, 4000))]

    # In every case the first process lives for four seconds, because the peak is promised for such jobs.
    return Job(" ".join([*some_memory(), *block(0, 1), "sleep", "2500"]))
