"""CoreMark's port, with a stand-in for its sources that uses all that they want of a port."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierv.sim.cores import cores, kernels
from tierv.sim.cores.bench import check_coremarks
from tierv.sim.cores.run import RunError

HEADER = """
#pragma once
#define SEED_VOLATILE 2
#define MEM_STATIC 0
#include "core_portme.h"
#if HAS_STDIO
#include <stdio.h>
#endif
#if HAS_PRINTF
#define ee_printf printf
#endif
typedef ee_u32 secs_ret;
void start_time(void);
void stop_time(void);
CORE_TICKS get_time(void);
secs_ret time_in_secs(CORE_TICKS ticks);
ee_u16 work(ee_u16 value);
"""
#: Prints what CoreMark prints, with results of its performance run if the port gives its seeds.
MAIN = """
#include "coremark.h"
#if SEED_METHOD != SEED_VOLATILE || MEM_METHOD != MEM_STATIC || HAS_FLOAT || !MAIN_HAS_NOARGC
#error "the port is another one"
#endif
extern volatile ee_s32 seed1_volatile, seed2_volatile, seed3_volatile, seed4_volatile,
    seed5_volatile;
static ee_u8 memory[64];
int main(void)
{
    core_portable port;
    int argc = 0;
    char *argv[1];
    portable_init(&port, &argc, argv);
    int good = seed1_volatile == 0 && seed2_volatile == 0 && seed3_volatile == 0x66 &&
               seed5_volatile == 0 && default_num_contexts == 1;
    good &= ((ee_ptr_int)align_mem(memory + 1) & 3) == 0 && align_mem(memory) == (void *)memory;
    ee_u16 value = 1;
    start_time();
    for (ee_s32 pass = 0; pass < seed4_volatile; pass++) {
        value = work(value);
    }
    stop_time();
    ee_printf("Total ticks      : %lu\\n", (unsigned long)get_time());
    ee_printf("Total time (secs): %d\\n", (int)time_in_secs(get_time()));
    ee_printf("Compiler version : %s\\n", COMPILER_VERSION);
    ee_printf("Compiler flags   : %s\\n", COMPILER_FLAGS);
    ee_printf("Memory location  : %s\\n", MEM_LOCATION);
    ee_printf("seedcrc          : 0x%04x\\n", good ? 0xe9f5 : 0);
    ee_printf("[%d]crclist       : 0x%04x\\n", 0, CRCLIST);
    ee_printf("[%d]crcmatrix     : 0x%04x\\n", 0, 0x1fd7);
    ee_printf("[%d]crcstate      : 0x%04x\\n", 0, 0x8e3a);
    ee_printf("[%d]crcfinal      : 0x%04x\\n", 0, value);
    portable_fini(&port);
    return 0;
}
"""
WORK = """
#include "coremark.h"
ee_u16 work(ee_u16 value)
{
    for (int bit = 0; bit < 1000; bit++) {
        value = (ee_u16)(value << 1 ^ (value & 0x8000 ? 0x1021 : 0));
    }
    return value;
}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    files = dict.fromkeys(kernels.COREMARK_SOURCES, '#include "coremark.h"\n')
    files |= {"coremark.h": HEADER, "core_util.c": WORK}
    files["core_main.c"] = MAIN.replace("CRCLIST", "0xe714")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_timed_part_is_what_is_measured(checkout):
    core = cores.vexriscv("standard")
    few, many = (kernels.run_coremark(core, checkout, iterations) for iterations in (3, 13))
    assert 3 * 1000 < few.instructions < few.cycles
    # Ten more passes of a thousand rounds.
    assert many.instructions - few.instructions == pytest.approx(
        10 * (few.instructions - 20) / 3, rel=0.02
    )
    assert kernels.coremark_per_mhz(many, 13) == pytest.approx(13e6 / many.cycles)


def test_a_wrong_result_is_named(checkout):
    (checkout / "core_main.c").write_text(MAIN.replace("CRCLIST", "0xe715"))
    with pytest.raises(RunError, match="crclist on PicoRV32 is 0xe715, not 0xe714"):
        kernels.run_coremark(cores.picorv32(), checkout, 1)


@pytest.mark.parametrize(("iterations", "wanted"), [(1, "0xe714"), (2, "0x72be"), (10, "0xfcaf")])
def test_a_wrong_result_behind_the_first_iteration_is_named(checkout, iterations, wanted):
    with pytest.raises(RunError, match=f"crcfinal on PicoRV32 is 0x.*, not {wanted}"):
        kernels.run_coremark(cores.picorv32(), checkout, iterations)


def test_all_cores_must_find_the_same_if_it_is_not_known_what():
    rows = [
        {"kernel": "crc", "core": "A"},
        {"kernel": "coremark", "core": "A", "crcfinal": "0x2e87"},
        {"kernel": "coremark", "core": "B", "crcfinal": "0x2e87"},
    ]
    check_coremarks(rows)
    rows.append({"kernel": "coremark tuned", "core": "B", "crcfinal": "0x2e86"})
    with pytest.raises(RunError, match=r"0x2e86 \(coremark tuned on B\)"):
        check_coremarks(rows)


def test_another_folder_is_refused(tmp_path, checkout):
    (checkout / "coremark.h").unlink()
    with pytest.raises(
        ValueError, match=r"COREMARK must be a checkout of CoreMark with coremark\.h"
    ):
        kernels.run_coremark(cores.picorv32(), checkout, 1)
    with pytest.raises(ValueError, match=f"core_list_join.c in it, not {tmp_path / 'nothing'}"):
        kernels.check_coremark(tmp_path / "nothing")
