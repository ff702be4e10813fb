"""Prepare the detections of a Sigma rule: refuse empty lists, and replace placeholders by lists of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sigma.rule import SigmaDetection, SigmaDetectionItem, SigmaRule
from sigma.types import Placeholder, SigmaExpansion, SigmaString

from tamis.errors import SubscriptionError


def prepare(rule: SigmaRule, values: Mapping[str, list[Any]]) -> None:
    """Replace the placeholders of a rule that ``values`` names; these values may have wildcards."""

    def replaced(placeholder: Placeholder) -> Iterator[SigmaString | Placeholder]:
        found = values.get(placeholder.name)
        yield from [placeholder] if found is None else [SigmaString(str(value)) for value in found]

    for detection in rule.detection.detections.values():
        for item in _items(detection):
            if not item.value:
                raise SubscriptionError(f"{item.field or 'keywords'}: the list of values is empty")
            item.value = [
                SigmaExpansion(list(value.replace_placeholders(replaced)))
                if isinstance(value, SigmaString) and value.contains_placeholder()
                else value
                for value in item.value
            ]


def _items(detection: SigmaDetection) -> Iterator[SigmaDetectionItem]:
    for item in detection.detection_items:
        if isinstance(item, SigmaDetection):
            yield from _items(item)
        else:
            yield item
