# A thin front of tools/setup, Meson and Ninja. Every target first sets up the machine: packages that a Debian-like
# machine lacks are installed, or named in one line. A newcomer needs `./run` and `./test` only, which call it.

BUILD = build
PREFIX = /usr/local
FUZZ_SECONDS = 10
FUZZ_RUNS =
SOAK_SECONDS = 600
BENCHES = run counts harm network peers python advice odd bottlenecks fleet
# Warnings are errors in CI. DEBUG=1 keeps debug data, OFFLINE=1 fetches nothing while it builds.
# The cache of libraries is root's. The PATH of many users, and of su, lacks /sbin.
LDCONFIG = test -n "$(DESTDIR)" || test "$$(id -u)" != 0 || PATH="$$PATH:/usr/sbin:/sbin" ldconfig
SETUP_FLAGS = --prefix=$(PREFIX) $(if $(CI),-Dwerror=true) $(if $(DEBUG),-Ddebug=true) $(if $(OFFLINE),-Doffline=true)

.PHONY: all run test check hook bench engines slurm install uninstall site release tarball lint fuzz fuzz-build soak clean wheel python
.NOTPARALLEL:

all:
	@tools/setup build
	@TARGET=product tools/build $(BUILD) $(SETUP_FLAGS)

run:
	@tools/setup build
	@TARGET=runnable tools/build $(BUILD) $(SETUP_FLAGS)
	@tools/run-example $(BUILD)/resource-tracker

test:
	@tools/setup test
	@tools/build $(BUILD) $(SETUP_FLAGS)
	@tools/run-tests $(BUILD) $(TESTS)

# make check: layers, style, prose and unit tests. make check ROOM=memory: the unit tests of one folder of src/. make hook: the same before
# each commit.
check:
	@tools/setup test
	@tools/check $(BUILD) $(ROOM)

hook:
	@ln -sf ../../tools/pre-commit "$$(git rev-parse --git-path hooks)/pre-commit"

# make bench: every figure beside its limit, on a quiet machine. One that fails does not keep the others from being measured.
bench:
	@tools/setup bench
	@tools/build $(BUILD) $(SETUP_FLAGS)
	@failed=; \
	for name in $(BENCHES); do \
		echo "== bench/$$name"; bench/$$name $(BUILD) || failed="$$failed $$name"; \
	done; \
	tools/run-tests $(BUILD) --no-meson --cost || failed="$$failed cost"; \
	[ -z "$$failed" ] || { echo "make bench: not measured, or above a ceiling:$$failed" >&2; exit 1; }

# Streams jobs through faults into real engines of OTLP and compares what they say. The engines are built once (half an hour), and
# kept below build-ci.
engines:
	@tools/setup build
	@ENGINES_JOBS=20 ENGINES_LIMIT_SECS=7200 tools/ci-job engines

# Runs jobs on a real Slurm, with control groups of version 1 and then of version 2. It needs root, and ten minutes at first.
slurm:
	@tools/setup build
	@SLURM_LIMIT_SECS=3600 tools/ci-job slurm

install: all
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild
	@$(LDCONFIG)
	@test -n "$(DESTDIR)" || tools/install-hints "$(PREFIX)"

# make release VERSION=0.1.0: the artefacts of a release (docs/RELEASING.md) in build-release/out, built twice, compared, and each tried in
# bare root filesystems. make tarball: only the archive of static programs for this machine.
release:
	@tools/setup build release smoke
	@packaging/release-all $(VERSION) $(RELEASE_FLAGS)

tarball:
	@tools/setup build release
	@packaging/release --only tarball --arch $$(uname -m)

# With the PREFIX and DESTDIR of make install.
uninstall:
	@tools/uninstall $(BUILD) "$(PREFIX)" "$(DESTDIR)"
	@$(LDCONFIG)

# The Python package: a wheel in BUILD/wheel, and a copy to use in place with PYTHONPATH=BUILD/python.
wheel:
	@tools/setup wheel
	@TARGET=wheel tools/build $(BUILD) $(SETUP_FLAGS)
	@tools/python-wheel $(BUILD)

python:
	@tools/setup wheel
	@TARGET=wheel tools/build $(BUILD) $(SETUP_FLAGS)
	@tools/python bindings/python/backend.py in-place $(BUILD)

lint:
	@tools/setup build lint
	@tools/build $(BUILD) $(SETUP_FLAGS)
	@tools/lint $(BUILD)

# The documents, man pages and headers as one site that works offline: BUILD/site/index.html.
site:
	@tools/setup build site
	@TARGET=product tools/build $(BUILD) $(SETUP_FLAGS)
	@tools/make-site $(BUILD)

fuzz: fuzz-build
	@tools/run-fuzz $(BUILD)-fuzz $(FUZZ_SECONDS) $(FUZZ_RUNS)

fuzz-build:
	@tools/setup fuzz
	@CC=clang CXX=clang++ tools/build $(BUILD)-fuzz -Dfuzz=true -Ddebug=true -Db_sanitize=address,undefined -Db_lundef=false \
		-Dtests=enabled -Dtoml=disabled

soak:
	@tools/setup soak
	@tools/build $(BUILD) $(SETUP_FLAGS)
	@tests/soak/run $(BUILD) $(SOAK_SECONDS)

clean:
	rm -rf $(BUILD) $(BUILD)-*
