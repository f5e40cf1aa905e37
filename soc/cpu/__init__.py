"""TierV as a LiteX CPU. Importing this package adds it to LiteX's CPUs."""

from litex.soc.cores import cpu as litex_cpu

from .tierv import TierV

litex_cpu.CPUS[TierV.name] = TierV

__all__ = ["TierV"]
