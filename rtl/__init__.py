"""The TierV core in Amaranth HDL."""

from importlib.metadata import version

#: Version of the package, as ``mimpid`` shows it.
__version__ = version("tierv")
