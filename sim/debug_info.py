"""What a program's debug information (DWARF) says about its variables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

_TRANSPARENT = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")
_ARRAY, _POINTER = "DW_TAG_array_type", "DW_TAG_pointer_type"
_STRUCTURES = ("DW_TAG_structure_type", "DW_TAG_union_type")


class NotInProgramError(KeyError):
    """A program does not have the symbol, member or enumeration that the message names."""

    def __str__(self) -> str:
        return str(self.args[0])


def _name(die: DIE) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def _type(die: DIE) -> DIE:
    """The type of a variable, member or type, without its other names."""
    kind = die.get_DIE_from_attribute("DW_AT_type")
    while kind.tag in _TRANSPARENT:
        kind = kind.get_DIE_from_attribute("DW_AT_type")
    return kind


def _size(kind: DIE) -> int:
    if "DW_AT_byte_size" in kind.attributes:
        return kind.attributes["DW_AT_byte_size"].value
    if kind.tag == _POINTER:
        return 4
    if kind.tag != _ARRAY:
        raise ValueError(f"a {kind.tag} has no size")
    return _size(_type(kind)) * math.prod(_dimensions(kind))


def _dimensions(array: DIE) -> list[int]:
    """Elements of an array, which are 0 if it does not say how many."""
    bounds = [bound.attributes.get("DW_AT_upper_bound") for bound in array.iter_children()]
    return [bound.value + 1 if bound else 0 for bound in bounds]


def _variable(units: Iterator[CompileUnit], name: str) -> DIE | None:
    """What says the type of a variable: best not one that says it for another compilation."""
    declared = None
    for unit in units:
        for die in unit.get_top_DIE().iter_children():
            if die.tag != "DW_TAG_variable":
                continue
            is_completed = "DW_AT_specification" in die.attributes
            named = die.get_DIE_from_attribute("DW_AT_specification") if is_completed else die
            if _name(named) == name and "DW_AT_type" in die.attributes:
                if "DW_AT_declaration" not in die.attributes:
                    return die
                declared = declared or die
    return declared


@cache
def member(path: Path, variable: str, members: tuple[str, ...]) -> tuple[int, int]:
    """Offset in a variable, and size, of a member of a member and so on, in bytes.

    The number of an element is a member of an array.

    Raises ``NotInProgramError`` naming what the program does not have.
    """
    with path.open("rb") as file:
        units = ELFFile(file).get_dwarf_info().iter_CUs()
        die = _variable(units, variable)
        if die is None:
            raise NotInProgramError(f"{path.name} has no debug information about {variable!r}")
        kind, offset = _type(die), 0
        for name in members:
            if name.isdigit() and kind.tag == _ARRAY:
                elements = _dimensions(kind)
                if len(elements) != 1:
                    raise NotInProgramError(
                        f"{variable!r} of {path.name} has an array of {len(elements)} dimensions,"
                        f" which has no element {name!r}"
                    )
                if int(name) >= elements[0]:
                    raise NotInProgramError(f"{variable!r} of {path.name} has no element {name!r}")
                kind = _type(kind)
                offset += int(name) * _size(kind)
                continue
            children = kind.iter_children() if kind.tag in _STRUCTURES else iter(())
            child = next((child for child in children if _name(child) == name), None)
            if child is None:
                raise NotInProgramError(f"{variable!r} of {path.name} has no member {name!r}")
            if "DW_AT_bit_size" in child.attributes:
                raise NotInProgramError(f"{name!r} of {variable!r} is a bit field")
            location = child.attributes.get("DW_AT_data_member_location")
            offset += location.value if location else 0
            kind = _type(child)
        return offset, _size(kind)


@cache
def enumerators(path: Path, first: str) -> tuple[str, ...]:
    """Names in the enumeration whose first name is ``first``, in the order of their values.

    Raises ``NotInProgramError`` if the program has no such enumeration.
    """
    with path.open("rb") as file:
        for unit in ELFFile(file).get_dwarf_info().iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                if die.tag != "DW_TAG_enumeration_type":
                    continue
                values = {
                    _name(one): one.attributes["DW_AT_const_value"].value
                    for one in die.iter_children()
                }
                if min(values, key=values.__getitem__, default="") == first:
                    return tuple(sorted(values, key=values.__getitem__))
    raise NotInProgramError(f"{path.name} has no enumeration that begins with {first!r}")
