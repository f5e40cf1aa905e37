"""JTAG of the FPGA itself, for the debugger: the registers that its TAP leaves to the design."""

from __future__ import annotations

from migen import Instance, Signal

from tierv.soc.debug import Jtag

from .board import Board, Family

#: USER chains of a 7-series TAP: USER3 is dtmcs, USER4 is dmi (UG470, table 6-3).
_ARTIX7_CHAINS = {"dtmcs": 3, "dmi": 4}


def _artix7() -> Jtag:
    names = ("tck", "tdi", "tdo", "capture", "shift", "update")
    signals = {name: Signal(name=f"jtag_{name}") for name in names}
    parts = []
    for register, chain in _ARTIX7_CHAINS.items():
        select = signals[f"selects_{register}"] = Signal(name=f"jtag_selects_{register}")
        # What does not depend on the chain comes from one of them.
        first = register == "dtmcs"
        parts.append(
            Instance(
                "BSCANE2",
                p_JTAG_CHAIN=chain,
                o_SEL=select,
                i_TDO=signals["tdo"],
                **{f"o_{name.upper()}": signals[name] for name in names if first and name != "tdo"},
            )
        )
    return Jtag(signals, fpga_tap=True, parts=tuple(parts))


def _ecp5() -> Jtag:
    """ER1 (0x32) is dtmcs, ER2 (0x38) is dmi (FPGA-TN-02039): their clock enables are high in
    Capture-DR and Shift-DR."""
    shift, selects_dtmcs, selects_dmi = Signal(), Signal(), Signal()
    signals = {name: Signal(name=f"jtag_{name}") for name in ("tck", "tdi", "tdo", "update")}
    signals |= {
        "shift": shift,
        "capture": ~shift,
        "selects_dtmcs": selects_dtmcs,
        "selects_dmi": selects_dmi,
    }
    tap = Instance(
        "JTAGG",
        o_JTCK=signals["tck"],
        o_JTDI=signals["tdi"],
        o_JSHIFT=shift,
        o_JUPDATE=signals["update"],
        o_JCE1=selects_dtmcs,
        o_JCE2=selects_dmi,
        i_JTDO1=signals["tdo"],
        i_JTDO2=signals["tdo"],
    )
    return Jtag(signals, fpga_tap=True, parts=(tap,))


_MAKERS = {Family.ARTIX7: _artix7, Family.ECP5: _ecp5}


def has_fpga_jtag(board: Board) -> bool:
    """Whether OpenOCD can reach the design in the board's FPGA."""
    return board.family in _MAKERS


def fpga_jtag(board: Board) -> Jtag:
    """Raises ``ValueError`` for a board whose FPGA OpenOCD can't reach the design of."""
    if not has_fpga_jtag(board):
        raise ValueError(
            f"debug must be off for {board.base_name}: a debugger can't get at the design through"
            f" the JTAG of an {board.family.value}"
        )
    return _MAKERS[board.family]()
