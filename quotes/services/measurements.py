"""What proposals know: the shipped calibration, and the measurements of this site on top of it."""

import logging
from functools import lru_cache

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from pydantic import ValidationError as FigureError

from catalog.snapshot import snapshot
from catalog.specs import CatalogSnapshot
from configurator import formats
from quotes.models import Measurement
from quotes.sizing.knowledge import Knowledge, shipped, with_measurements
from quotes.sizing.serving.measurements import (
    Comparison,
    OwnMeasurement,
    Unusable,
    compare,
    with_own,
)

logger = logging.getLogger(__name__)


def active_measurements(but: int | None = None) -> tuple[OwnMeasurement, ...]:
    """What counts now, oldest first, without the row whose key is `but`."""
    rows: QuerySet[Measurement] = (
        QuerySet(Measurement).filter(active=True).select_related("model").order_by("pk")
    )
    found = []
    for row in rows:
        if row.pk == but:
            continue
        try:
            found.append(row.as_own())
        except FigureError as error:
            logger.error("measurement %s is left out: %s", row.pk, error)
    return tuple(found)


class _KnownFor:
    """Knowledge by version of the catalog, of which measurements are a part: entering one gives a new version."""

    def __init__(self, catalog: CatalogSnapshot) -> None:
        self.catalog = catalog

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _KnownFor) and self.catalog.version == other.catalog.version

    def __hash__(self) -> int:
        return hash(self.catalog.version)


def current_knowledge(catalog: CatalogSnapshot) -> Knowledge:
    """What is shipped with the measurements of this site; the same object while `catalog` has the same version."""
    return _knowledge(_KnownFor(catalog))


@lru_cache(maxsize=2)
def _knowledge(known: _KnownFor) -> Knowledge:
    own = active_measurements()
    return with_measurements(shipped(), own, known.catalog) if own else shipped()


def compared(row: Measurement) -> Comparison:
    """`row` beside what the model says without and with it, other measurements of this site included.

    Raises ValidationError at the field that sizing cannot use.
    """
    catalog = snapshot()
    others = with_own(shipped().serving, active_measurements(but=row.pk), catalog)
    try:
        return compare(row.as_own(), catalog, others)
    except Unusable as error:
        raise ValidationError({error.field: formats.say(error.message)}) from error
    except FigureError as error:
        raise ValidationError(_("Sizing cannot use these figures: %(reason)s") % {"reason": error}) from error
