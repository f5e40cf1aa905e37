"""The planted bugs. Each is reachable: the check named beside it fails because of it."""

from __future__ import annotations

from . import (
    plants_of_bus,
    plants_of_caches,
    plants_of_instructions,
    plants_of_isolation,
    plants_of_programs,
    plants_of_tiers,
)
from .planting import Plant

PLANTS: dict[str, Plant] = {
    plant.name: plant
    for module in (
        plants_of_instructions,
        plants_of_isolation,
        plants_of_tiers,
        plants_of_programs,
        plants_of_bus,
        plants_of_caches,
    )
    for plant in module.PLANTS
}
