"""Test schedules: they are read, printed back, and exact over every change of the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.contract.schedule import AT_ONCE, DAYS, AtMost, Calendar, Every, Schedule, parse_schedule, period
from tamis.errors import InputError, ScheduleError

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"]
SCHEDULES: st.SearchStrategy[Schedule] = st.one_of(
    st.just(AT_ONCE),
    st.builds(Every, st.integers(1, 366), st.sampled_from(["second", "minute", "hour", "day"])),
    st.builds(AtMost, st.integers(1, 1_000_000), st.sampled_from(["minute", "hour", "day"])),
    st.builds(
        Calendar,
        st.sets(st.integers(0, 6)).map(lambda days: tuple(sorted(days))),
        st.sets(st.integers(0, 1_439), min_size=1, max_size=5).map(lambda times: tuple(sorted(times))),
        st.sampled_from(ZONES),
    ),
)
MOMENTS = st.datetimes(
    datetime(1975, 1, 1), datetime(2060, 1, 1), timezones=st.sampled_from(ZONES).map(ZoneInfo)
)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (None, AT_ONCE),
        ("at once", AT_ONCE),
        (" At  ONCE ", AT_ONCE),
        ("every five minutes", Every(5, "minute")),
        ("every 5 minutes", Every(5, "minute")),
        ("every 2 hours", Every(2, "hour")),
        ("Every minute", Every(1, "minute")),
        ("every 30 seconds", Every(30, "second")),
        ("daily at 9 in Europe/Berlin", Calendar((), (540,), "Europe/Berlin")),
        ("daily at 9:30 in europe/berlin", Calendar((), (570,), "Europe/Berlin")),
        ("daily at 9 and 17 in Europe/Berlin", Calendar((), (540, 1020), "Europe/Berlin")),
        ("daily at 17, 9:05 and 12 in Europe/Berlin", Calendar((), (545, 720, 1020), "Europe/Berlin")),
        ("daily at 9 am, and 12 pm, and 12am", Calendar((), (0, 540, 720), "UTC")),
        ("daily at 11:59pm in America/New_York", Calendar((), (1439,), "America/New_York")),
        ("weekly on Monday at 8 in Etc/GMT+5", Calendar((0,), (480,), "Etc/GMT+5")),
        ("weekly on sun, Wed and Monday at 8", Calendar((0, 2, 6), (480,), "UTC")),
        ("at most 10 per hour", AtMost(10, "hour")),
        ("at most ten an hour", AtMost(10, "hour")),
        ("at most one per day", AtMost(1, "day")),
    ],
)
def test_schedule_is_read(text: str | None, meant: Schedule) -> None:
    assert parse_schedule(text) == meant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("every now and then", "say 'at once'"),
        ("daily", "say 'at once'"),
        ("daily at 9\0", "say 'at once'"),
        ("every 0 minutes", "one second to 366 days"),
        ("every 367 days", "one second to 366 days"),
        ("every 99999999 days", "one second to 366 days"),
        ("at most 0 per hour", "at most 1 to"),
        ("at most 5 per second", "per minute, hour or day"),
        ("daily at 24 in UTC", "24 is no time of the day"),
        ("daily at 9:60 in UTC", "9:60 is no time"),
        ("daily at 13 pm", "13 pm is no time"),
        ("daily at 0 am", "0 am is no time"),
        ("weekly on Moonday at 8", "Moonday is no day"),
        ("daily at 9 in Europe/Berlyn", "did you mean Europe/Berlin"),
        ("daily at 9 in Europe", "time zone Europe is not known"),
        ("daily at 9 in ../../etc/passwd", "say 'at once'"),
        ("daily at 9 in /etc/passwd", "is not known"),
        ("x" * 100_000, "say 'at once'"),
        ("every 5 \u017feconds", "say 'at once'"),  # a long s
        ("wee\u212aly on Monday at 8", "say 'at once'"),  # a Kelvin sign
        ("weekly on \u017funday at 8", "say 'at once'"),
        ("every \u0663 minutes", "say 'at once'"),  # a digit, but not ours
        ("every \u00b2 minutes", "say 'at once'"),
        ("daily at \u0669 in UTC", "say 'at once'"),
        ("at once" + " " * 493 + "garbage", "more than 500 characters"),
        ("at once" + " " * 400 + "garbage", "say 'at once'"),
    ],
)
def test_schedule_is_refused_with_a_hint(text: str, said: str) -> None:
    with pytest.raises(ScheduleError, match=said) as refusal:
        parse_schedule(text)
    assert refusal.value.code == "schedule-invalid"
    assert len(str(refusal.value)) < 500


@given(SCHEDULES)
def test_schedule_prints_back(schedule: Schedule) -> None:
    assert parse_schedule(str(schedule)) == schedule
    assert str(parse_schedule(str(schedule).upper().replace("IN ETC", "in Etc"))) == str(schedule)


@given(
    st.text(max_size=60)
    | st.from_regex(r"(daily|weekly on \w+) at [\d:]{1,5}( [ap]m)?( in [\w/]+)?", fullmatch=True)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        schedule = parse_schedule(text)
    except ScheduleError:
        return
    assert parse_schedule(str(schedule)) == schedule


@given(SCHEDULES, MOMENTS)
def test_periods_tile_time(schedule: Schedule, moment: datetime) -> None:
    start, end = period(schedule, moment)
    assert start.tzinfo is end.tzinfo is UTC
    if schedule == AT_ONCE:
        assert start == end == moment.astimezone(UTC)
        return
    assert start <= moment < end
    assert period(schedule, start) == (start, end)
    assert period(schedule, end - timedelta(microseconds=1)) == (start, end)
    assert period(schedule, end)[0] == end
    assert period(schedule, start - timedelta(microseconds=1))[1] == start


@given(SCHEDULES, MOMENTS)
def test_calendar_is_due_at_its_times(schedule: Schedule, moment: datetime) -> None:
    if not isinstance(schedule, Calendar):
        return
    zone = ZoneInfo(schedule.zone)
    local = period(schedule, moment)[1].astimezone(zone)
    back = local.replace(tzinfo=None)
    skipped = any(  # a time that the clock skipped shows as another one
        _wall(back, time, zone) != back.replace(hour=time // 60, minute=time % 60) for time in schedule.times
    )
    assert skipped or local.hour * 60 + local.minute in schedule.times or schedule.zone == "Pacific/Apia"
    if schedule.days and not skipped and schedule.zone != "Pacific/Apia":
        assert local.weekday() in schedule.days


def _wall(day: datetime, time: int, zone: ZoneInfo) -> datetime:
    there = day.replace(hour=time // 60, minute=time % 60, tzinfo=zone)
    return there.astimezone(UTC).astimezone(zone).replace(tzinfo=None)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "moment", "start", "end"),
    [
        ("every 5 minutes", "2026-11-15 12:07:30", "2026-11-15 12:05", "2026-11-15 12:10"),
        ("at most 10 per hour", "2026-11-15 12:07:30", "2026-11-15 12:00", "2026-11-15 13:00"),
        # Berlin: UTC+1, from 29 March 2026 UTC+2: the day from nine to nine has 23 hours
        ("daily at 9 in Europe/Berlin", "2026-03-28 12:00", "2026-03-28 08:00", "2026-03-29 07:00"),
        ("daily at 9 in Europe/Berlin", "2026-03-29 07:00", "2026-03-29 07:00", "2026-03-30 07:00"),
        # and back on 25 October: 25 hours
        ("daily at 9 in Europe/Berlin", "2026-10-24 12:00", "2026-10-24 07:00", "2026-10-25 08:00"),
        # 2:30 does not exist on 29 March: due at 3:30 summer time
        ("daily at 2:30 in Europe/Berlin", "2026-03-28 12:00", "2026-03-28 01:30", "2026-03-29 01:30"),
        # 2:30 comes twice on 25 October: due the first time
        ("daily at 2:30 in Europe/Berlin", "2026-10-24 12:00", "2026-10-24 00:30", "2026-10-25 00:30"),
        ("daily at 2:30 in Europe/Berlin", "2026-10-25 01:00", "2026-10-25 00:30", "2026-10-26 01:30"),
        # 2:30 and 3:30 are the same moment on 29 March
        (
            "daily at 2:30 and 3:30 in Europe/Berlin",
            "2026-03-29 01:30",
            "2026-03-29 01:30",
            "2026-03-30 00:30",
        ),
        (
            "weekly on Monday at 8 in Europe/Berlin",
            "2026-03-25 12:00",
            "2026-03-23 07:00",
            "2026-03-30 06:00",
        ),
        # half an hour of summer time
        ("daily at 9 in Australia/Lord_Howe", "2026-04-04 12:00", "2026-04-03 22:00", "2026-04-04 22:30"),
        # Samoa had no 30 December 2011
        ("daily at 9 in Pacific/Apia", "2011-12-30 00:00", "2011-12-29 19:00", "2011-12-30 19:00"),
    ],
)
def test_periods_are_exact_over_clock_changes(schedule: str, moment: str, start: str, end: str) -> None:
    assert period(parse_schedule(schedule), at(moment)) == (at(start), at(end))


def test_repeated_hour_counts_as_two_hours() -> None:
    hour, berlin = parse_schedule("every hour"), ZoneInfo("Europe/Berlin")
    first = period(hour, datetime(2026, 10, 25, 2, 30, tzinfo=berlin))
    second = period(hour, datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=1))
    assert first[1] == second[0] == at("2026-10-25 01:00")


def test_schedules_with_equal_numbers_differ_by_kind() -> None:
    every, most = parse_schedule("every 10 hours"), parse_schedule("at most 10 per hour")
    assert every != most
    moment = at("2026-11-15 12:07")
    assert period(every, moment)[1] - period(every, moment)[0] == timedelta(hours=10)
    assert period(most, moment)[1] - period(most, moment)[0] == timedelta(hours=1)


def test_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(InputError, match="time zone"):
        period(AT_ONCE, datetime(2026, 1, 1))
    with pytest.raises(InputError, match="year"):
        period(AT_ONCE, datetime(1, 1, 1, tzinfo=UTC))


def test_days_follow_the_calendar() -> None:
    assert [datetime(2026, 11, 16 + day).strftime("%A") for day in range(7)] == list(DAYS)
