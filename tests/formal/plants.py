"""The planted bugs. Each is reachable: the check named beside it fails because of it."""

from __future__ import annotations

from .planting import Plant

_ALL = [
    Plant(
        name="xor-is-or",
        module="backend.alu",
        text="computed.eq(first ^ second)",
        bug="computed.eq(first | second)",
        check="instructions-register",
        finds="xor",
        short=True,
    ),
    Plant(
        name="signed-compare-is-unsigned",
        module="backend.alu",
        text="Mux(is_unsigned, second[31], first[31])",
        bug="Mux(is_unsigned, second[31], second[31])",
        check="instructions-branch",
        finds="blt",
    ),
    Plant(
        name="arithmetic-shift-fills-with-zero",
        module="backend.alu",
        text="fill = control.alternate & first[31]",
        bug="fill = control.alternate & 0",
        check="instructions-shift",
        finds="sra",
    ),
    Plant(
        name="auipc-drops-a-bit",
        module="backend.decode",
        text="self.distance.eq(immediate_u[2:])",
        bug="self.distance.eq(immediate_u[2:31])",
        check="instructions-immediate",
        finds="auipc",
    ),
    Plant(
        name="mulhsu-is-mulhu",
        module="backend.muldiv",
        text="self.result.eq(altops(self.funct3, self.first, self.second))\n            return m",
        bug="self.result.eq(altops(self.funct3 | (self.funct3[1] & 1), self.first, self.second))"
        "\n            return m",
        check="instructions-multiply",
        finds="mulhsu",
    ),
    Plant(
        name="rem-is-div",
        module="backend.muldiv",
        text="m.d.comb += self.result.eq(altops(self.funct3, self.first, self.second))",
        bug="m.d.comb += self.result.eq(altops(self.funct3 & 5, self.first, self.second))",
        check="instructions-divide",
        finds="rem",
    ),
    Plant(
        name="jal-overlooks-a-misaligned-target",
        module="backend.decode",
        text="word[21]),\n                ]",
        bug="word[22]),\n                ]",
        check="instructions-jump",
        finds="jal",
    ),
    Plant(
        name="byte-load-of-the-wrong-half",
        module="backend.writeback",
        text="half = Mux(place[1], word[16:], word[:16])",
        bug="half = Mux(place[1] & place[0], word[16:], word[:16])",
        check="instructions-load",
        finds="lb",
    ),
    Plant(
        name="half-word-store-of-one-byte",
        module="backend.execute",
        text="mask.eq(Mux(address[1], 0b1100, 0b0011))",
        bug="mask.eq(Mux(address[1], 0b0100, 0b0011))",
        check="instructions-store",
        finds="sh",
    ),
    Plant(
        name="reserved-branch-is-legal",
        module="backend.decode",
        text="legal.eq(funct3[1:] != 0b01)",
        bug="legal.eq(1)",
        check="instructions-others",
        finds="retires_only_what_exists",
    ),
]
PLANTS: dict[str, Plant] = {plant.name: plant for plant in _ALL}
