"""``match``: finds the matches of events, with any plan."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame, Observation, Window
from pyspark.sql import functions as F

from tamis.contract.on_error import RAISE, REPORT, SKIP, check_on_error
from tamis.errors import InputError
from tamis.index.audit import Audit
from tamis.index.card import CPU, check_device
from tamis.index.work import COUNTERS
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, current
from tamis.spark.carried_columns import Carry, carried_of, checked_carry, packed, schema_of, unpacked
from tamis.spark.events import events
from tamis.spark.plan import Plan, choose
from tamis.spark.schema import (
    ARRAYS,
    ATTRIBUTES,
    CARRIED,
    ENVELOPE,
    EVENT_FAULT,
    EVENT_ID,
    NOTE,
    PAIRS,
    SCORE,
    SCORED_ARRAYS,
    SCORED_PAIRS,
    SHARD,
    SUBSCRIPTION_ID,
)
from tamis.spark.temporary import Source, path_of
from tamis.spark.worker import REFUSAL, MatchOptions, MatchTask, note_of, too_many
from tamis.spark.workers import ready

SHAPES = ("pairs", "arrays")
_log = logging.getLogger(__name__)


def match(
    source: Source,
    *,
    plan: str = "auto",
    k: int | None = None,
    shape: str = "pairs",
    carry: Carry = (),
    matches_per_event: int | None = None,
    version: int | None = None,
    explain: bool = False,
    work: Observation | None = None,
    on_error: str = REPORT,
    audit: float | None = None,
    device: str = CPU,
) -> Callable[[DataFrame], DataFrame]:
    """Return a transformation of events into their matches: ``events.transform(match(path))``.

    ``source`` is the path of a sharded index. On a local master it may be a DataFrame of subscriptions or a
    :class:`tamis.Index`: either is written to a temporary folder that is deleted when this process ends.

    A row is (event_id, subscription_id, version), with ``k`` also a score. With ``shape="arrays"`` there is a
    row per event with matches, sorted by id, or the best first. ``carry`` lists columns of the events to
    carry, or is ``"all"``. Events that cannot be read match nothing, nor do those with more than
    ``matches_per_event`` matches. With ``on_error="report"`` every task logs their number,
    :func:`match_with_notes` shows both kinds, and :func:`refused_events` the first kind. With ``"raise"`` the
    first of them fails the job. With ``"skip"`` they are not reported. ``explain`` prints the plan and the
    reason for it. ``work`` observes the work done. ``audit`` is a share of the events that the tree evaluator
    matches again; a difference fails the job. ``device`` is that of :meth:`tamis.Index.match_batches`; with
    "cuda" a task takes the card that Spark's resource scheduling gives to it.
    """
    options = options_of(k, shape, matches_per_event, on_error, audit, device)
    names = checked_carry(carry)
    path = path_of(source)

    def matched(frame: DataFrame) -> DataFrame:
        noted = Matcher(path, options, plan, version, explain).run(*canonical_of(frame, names))
        if work is not None:
            noted = observed(noted, work)
        return noted.where(F.col(NOTE).isNull()).drop(NOTE)

    return matched


def match_with_notes(
    source: Source,
    *,
    plan: str = "auto",
    k: int | None = None,
    shape: str = "pairs",
    carry: Carry = (),
    matches_per_event: int | None = None,
    version: int | None = None,
    explain: bool = False,
    on_error: str = REPORT,
    audit: float | None = None,
    device: str = CPU,
) -> Callable[[DataFrame], DataFrame]:
    """Like :func:`match`, with a column ``note``: rows with a note describe refused events and work.

    :func:`refused_of` and :func:`observed` read them. One pass over the events serves all three.
    """
    options = options_of(k, shape, matches_per_event, on_error, audit, device)
    names = checked_carry(carry)
    path = path_of(source)
    return lambda frame: Matcher(path, options, plan, version, explain).run(*canonical_of(frame, names))


def canonical_of(frame: DataFrame, names: tuple[str, ...] | None) -> tuple[DataFrame, tuple[str, ...]]:
    """Return canonical events with the columns to carry, and the names of these columns."""
    carried = carried_of(frame, names)
    others = [name for name in carried if name not in (*ENVELOPE, ATTRIBUTES)]
    kept = events(frame, carry=others)
    return kept, carried


def refused_of(noted: DataFrame) -> DataFrame:
    """Return the refused events of rows with notes: event_id, code, message, text."""
    refused = noted.where(F.col(NOTE).startswith(REFUSAL))
    parsed = refused.withColumn("parsed", F.from_json(NOTE, EVENT_FAULT.spark))
    return parsed.select(EVENT_ID, *[F.col(f"parsed.{name}").alias(name) for name in EVENT_FAULT])


def observed(noted: DataFrame, observation: Observation | str) -> DataFrame:
    """Return the same rows; running them fills in the totals of the work reports, and ``refused``."""
    sums = [F.sum(F.get_json_object(NOTE, f"$.work.{name}").cast("bigint")).alias(name) for name in COUNTERS]
    refused = F.count_if(F.col(NOTE).startswith(REFUSAL)).alias("refused")
    return noted.observe(observation, *sums, refused)


def options_of(
    k: int | None,
    shape: str,
    most: int | None,
    on_error: str = REPORT,
    audit: float | None = None,
    device: str = CPU,
) -> MatchOptions:
    """Return checked options."""
    if audit is not None:
        Audit(audit)
        if k is not None:
            raise InputError("audit compares all matches of an event; it does not go with k")
    check_on_error(on_error)
    check_device(device)
    if device != CPU and k is not None:
        raise InputError("device finds all matches of an event; it does not go with k")
    if shape not in SHAPES:
        raise InputError(f"there is no shape {shape!r}; there are {', '.join(SHAPES)}")
    for name, number in (("k", k), ("matches_per_event", most)):
        if number is not None and number < 1:
            raise InputError(f"{name} must be at least 1, not {number}")
    return MatchOptions(k, shape == "arrays", (), most, on_error=on_error, audit=audit, device=device)


class Matcher:
    """One use of ``match``: a version of an index, a plan and options."""

    def __init__(
        self, path: str, options: MatchOptions, plan: str, version: int | None, explain: bool = False
    ) -> None:
        location = Location(path)
        self._path, self._options, self._requested_plan, self._explain = location.uri, options, plan, explain
        self._manifest: Manifest = current(location, version)
        self._follow = version is None

    def run(self, canonical: DataFrame, carry: tuple[str, ...] = ()) -> DataFrame:
        """Return rows with notes; a stream follows the versions of the index, unless one was requested.

        ``carry`` names columns of ``canonical``, which may have more than the canonical ones.
        """
        self._follow = self._follow and canonical.isStreaming
        own = tuple(name for name in carry if name in ENVELOPE)
        others = tuple(name for name in carry if name not in ENVELOPE)
        self._options = replace(self._options, carry=own, others=others)
        plan = choose(ready(canonical.sparkSession), self._manifest, self._requested_plan)
        self._report_plan(plan)
        frame = packed(canonical, others)
        noted = self._sharded(frame, plan) if plan.name == "sharded" else self._replicated(frame)
        return unpacked(noted, others)

    def _report_plan(self, plan: Plan) -> None:
        text = f"{self._path}, version {self._manifest.number}: {plan}"
        _log.info(text)
        if self._explain:
            sys.stderr.write(text + "\n")

    @property
    def _version(self) -> int | None:
        return None if self._follow else self._manifest.number

    def _replicated(self, frame: DataFrame) -> DataFrame:
        task = MatchTask(self._path, self._version, self._options)
        return frame.mapInArrow(task, schema_of(self._options, frame))

    def _sharded(self, frame: DataFrame, plan: Plan) -> DataFrame:
        """Send every event to every shard; limits per event are applied after all shards have answered."""
        shards = len(self._manifest.shards)
        options = replace(self._options, arrays=False, most=None)
        spread = frame.withColumn(SHARD, F.explode(F.sequence(F.lit(0), F.lit(shards - 1))))
        part = F.pmod(F.xxhash64(EVENT_ID), F.lit(plan.splits)).cast("int")
        spread = spread.repartitionById(shards * plan.splits, F.col(SHARD) * plan.splits + part)
        task = MatchTask(self._path, self._version, options, shards)
        noted = spread.mapInArrow(task, schema_of(options, frame))
        if self._options.k:
            noted = self._best(noted, self._options.k)
        if self._options.most:
            noted = self._bounded(noted, self._options.most)
        return self._arrays(noted) if self._options.arrays else noted

    def _best(self, noted: DataFrame, k: int) -> DataFrame:
        """Return the k best of the best matches of each shard."""
        each = Window.partitionBy(EVENT_ID, F.col(NOTE).isNull())
        order = each.orderBy(F.desc(SCORE), F.asc(SUBSCRIPTION_ID))
        ranked = noted.withColumn("place", F.row_number().over(order))
        return ranked.where(F.col(NOTE).isNotNull() | (F.col("place") <= k)).drop("place")

    def _bounded(self, noted: DataFrame, most: int) -> DataFrame:
        """Replace an event with too many matches by one note."""
        each = Window.partitionBy(EVENT_ID, F.col(NOTE).isNull())
        counted = noted.withColumns(
            {"found": F.count("*").over(each), "place": F.row_number().over(each.orderBy(SUBSCRIPTION_ID))}
        )
        over = F.col(NOTE).isNull() & (F.col("found") > most)
        if self._options.on_error == SKIP:
            return counted.where(~over).drop("found", "place")
        message = note_of(too_many(-1, most), "")
        if self._options.on_error == RAISE:  # in the form of a worker's traceback
            message = f"tamis.errors.EventLimit: {too_many(-1, most).message}"
        pieces = message.split("-1", 1)
        note = F.concat(F.lit(pieces[0]), F.col("found").cast("string"), F.lit(pieces[1]))
        note = F.raise_error(note) if self._options.on_error == RAISE else note
        kept = counted.where(~over | (F.col("place") == 1))
        return kept.withColumn(NOTE, F.when(over, note).otherwise(F.col(NOTE))).drop("found", "place")

    def _arrays(self, noted: DataFrame) -> DataFrame:
        """Return a row per event; notes stay separate rows."""
        each, lists = (SCORED_PAIRS, SCORED_ARRAYS) if self._options.k else (PAIRS, ARRAYS)
        first = [(-F.col(SCORE)).alias("before")] if self._options.k else []
        order = F.array_sort(F.collect_list(F.struct(*first, *each[1:]))).alias("found")
        names_carried = (*self._options.carry, *([CARRIED] if self._options.others else []))
        carried = [F.first(name).alias(name) for name in names_carried]
        matches = noted.where(F.col(NOTE).isNull()).groupBy(EVENT_ID).agg(order, *carried)
        arrays = [F.col(f"found.{one}").alias(many) for one, many in zip(each[1:], lists[1:], strict=True)]
        rows = matches.select(EVENT_ID, *arrays, *names_carried, F.lit(None).cast(NOTE.spark).alias(NOTE))
        notes = noted.where(F.col(NOTE).isNotNull()).select(EVENT_ID, NOTE)
        return rows.unionByName(notes, allowMissingColumns=True)
