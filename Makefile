# Everything starts here; `make` alone prints help.

APT_PACKAGES := g++ ccache make perl python3-venv libpython3-dev gcc-riscv64-unknown-elf \
                picolibc-riscv64-unknown-elf meson ninja-build zlib1g-dev liblz4-dev device-tree-compiler iproute2 iputils-ping \
                openocd gdb-multiarch
# For `make fuzz` alone.
FUZZ_PACKAGES := clang libclang-rt-dev llvm

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
# One experiment, its options, and where its results go.
E       ?= E1
ARGS    ?=
# A board of `make boards`.
BOARD   ?=
# The serial port of this computer that is its console.
PORT    ?=
TIERS   ?= 3
OUTPUT  ?= build/tierv.v
# A process for each processor; the tests of a file share what they build. Those of few tests may be
# long ones, which are not to come last.
PYTEST  := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
# Proofs of the core: those of the short set, if no more is said.
FORMAL  := PYTHONPATH=tests $(BIN)/python -m formal
# How long `make fuzz` looks for inputs, all targets together.
FUZZ_SECONDS ?= 60
# A checkout of CoreMark for bench-core, instead of the one in a Python package.
COREMARK ?=

export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
# setup is a make of its own: beside it, another would install the same packages.
.NOTPARALLEL:
.PHONY: help setup packages test test-all bench bench-net bench-serial bench-full bench-core synth experiment readme sim verilog generate \
        boards bitstream firmware load flash selftest needs-board \
        formal formal-full coverage mutants fuzz lint clean

help:
	@echo "make test                       run the tests, and prove the core (sets everything up first)"
	@echo "make test-all                   run the long tests too"
	@echo "make bench                      run the experiments with core and driver at CI length: tables, plots"
	@echo "make bench-net                  run those with the network stack"
	@echo "make bench-full                 run all experiments at full length"
	@echo "make bench-serial               run the experiments with serial ports"
	@echo "make bench-core [COREMARK=DIR]  measure the core beside its peers; ARGS=--help"
	@echo "make synth [ARGS=..]            size and clock on FPGAs, and the peers'; ARGS=--help shows options"
	@echo "make experiment E=E5 [ARGS=..]  run one experiment; ARGS=--help shows its options"
	@echo "make readme                     run the experiments and write their figures into the README"
	@echo "make sim                        interactive simulation: console here, Ethernet on a TAP or socket"
	@echo "make verilog [TIERS=3] [ARGS=..] write the core to $(OUTPUT); ARGS=--help shows its options"
	@echo "make boards                     list the FPGA boards"
	@echo "make bitstream BOARD=arty       the board's project for its FPGA tools, and the bitstream; ARGS=--help"
	@echo "make load BOARD=arty            load it into the FPGA; make flash BOARD=.. keeps it"
	@echo "make selftest BOARD=arty PORT=/dev/ttyUSB1  what its self-test tells on the console; ARGS=--help"
	@echo "make firmware BOARD=ecpix5      new firmware in an existing bitstream of an ECP5"
	@echo "make generate                   make the generated tables of the documents anew"
	@echo "make formal                     only prove the core: the short set"
	@echo "make formal-full                prove everything, and find every planted bug"
	@echo "make coverage                   line and toggle coverage of the core; ARGS=--missing lists gaps"
	@echo "make mutants [ARGS=serial]      plant faults in core and SoC and see tests find them; ARGS=--help"
	@echo "make fuzz [FUZZ_SECONDS=60]     fuzz the stack and what hosts may say; ARGS=<targets>"
	@echo "make lint                       check format and style"
	@echo "make setup                      only install what all of these need"
	@echo "make clean                      remove everything built"

# Debian packages: installed if we may, otherwise the line to run is printed.
packages: | build
	@missing=$$(for p in $(APT_PACKAGES); do \
	    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	    line="apt-get install -y --no-install-recommends $$(echo $$missing)"; \
	    if [ "$$(id -u)" = 0 ]; then run=""; \
	    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then run="sudo"; \
	    else echo "please run: sudo apt-get update && sudo $$line"; exit 1; fi; \
	    echo "installing Debian packages:" $$missing; \
	    $$run apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$run $$line >build/apt.log 2>&1 \
	        || { tail -n 20 build/apt.log; exit 1; }; \
	fi

build:
	@mkdir -p build

$(VENV)/.complete: pyproject.toml constraints.txt
	@echo "installing Python packages into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check pip==24.0
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .[sim,test,boards]
	@touch $@

$(VENV)/.formal: $(VENV)/.complete
	@echo "installing Python packages for formal proofs into $(VENV)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .[formal]
	@touch $@

$(VENV)/.synth: $(VENV)/.complete
	@echo "installing Python packages for synthesis into $(VENV)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .[synth]
	@touch $@

setup:
	@$(MAKE) --silent --no-print-directory packages
	@$(MAKE) --silent --no-print-directory $(VENV)/.complete

test: setup $(VENV)/.formal
	@$(PYTEST)
	@$(FORMAL)

test-all: setup $(VENV)/.formal $(VENV)/.synth
	@$(PYTEST) -m "slow or not slow"
	@$(FORMAL)

bench: setup
	@$(BIN)/python -m tierv.sim.experiments bench stack $(ARGS)

bench-net: setup
	@$(BIN)/python -m tierv.sim.experiments bench net $(ARGS)

bench-serial: setup
	@$(BIN)/python -m tierv.sim.experiments bench serial $(ARGS)

bench-full: setup
	@$(BIN)/python -m tierv.sim.experiments bench --full $(ARGS)

bench-core: setup
	@$(BIN)/python -m tierv.sim.cores bench $(if $(COREMARK),--coremark "$(COREMARK)") $(ARGS)

synth: setup $(VENV)/.synth
	@$(BIN)/python -m tierv.sim.synthesis run $(ARGS)

experiment: setup
	@$(BIN)/python -m tierv.sim.experiments $(E) $(ARGS)

sim: setup
	@$(BIN)/python -m tierv.sim interactive $(ARGS)

verilog: setup
	@$(BIN)/python -m tierv.rtl.verilog --tiers $(TIERS) $(ARGS) "$(OUTPUT)"

boards: setup
	@$(BIN)/python -m tierv.boards list

needs-board:
	@test -n "$(BOARD)" || { echo "say which board, BOARD=..; make boards lists them"; exit 1; }

bitstream firmware: needs-board setup $(VENV)/.synth
	@$(BIN)/python -m tierv.boards $@ $(BOARD) $(ARGS)

# A line that begins with "load" is a directive of GNU make.
flash load: needs-board setup
	@$(BIN)/python -m tierv.boards $@ $(BOARD) $(ARGS)

selftest: needs-board setup
	@$(BIN)/python -m tierv.boards $@ $(BOARD) $(if $(PORT),--port "$(PORT)") $(ARGS)

generate: setup
	@$(BIN)/python -m tierv.rtl.document manual

readme: bench bench-net bench-serial
	@$(BIN)/python -m tierv.sim.experiments update-readme

formal: setup $(VENV)/.formal
	@$(FORMAL) $(ARGS)

formal-full: setup $(VENV)/.formal
	@$(FORMAL) --full $(ARGS)

coverage: setup
	@PYTHONPATH=tests $(BIN)/python tests/rtl/core_coverage.py $(ARGS)

mutants: setup $(VENV)/.formal
	@PYTHONPATH=tests:tests/rtl:tests/soc $(BIN)/python tests/all_mutants.py $(ARGS)

fuzz: setup
	@$(MAKE) --silent --no-print-directory packages APT_PACKAGES="$(FUZZ_PACKAGES)"
	@PYTHONPATH=tests $(BIN)/python tests/firmware/fuzz_run.py run --seconds $(FUZZ_SECONDS) $(ARGS)

lint: setup
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/codespell

clean:
	rm -rf build
