"""What is told of jobs: no match is lost, none is told twice, and not too many at once."""

import pytest

from tools.environments import job_watch
from tools.environments.job_watch import Watch
from tools.environments.jobs import Job, JobEnd, JobOptions, JobRecord, Output


class Printed(Job):
    """A job of which a test says what it has printed and whether it has ended."""

    seconds_between_looks = 0.0

    def __init__(self, name="proc_1", **options):
        super().__init__(
            JobRecord(
                id=name, command="make", cwd="/", place="local", owner="k", session="main",
                started_at=0.0, pid=1, birth="1", options=JobOptions(**options),
            )
        )  # fmt: skip
        self.printed = b""
        self.how = None

    def look(self):
        return self.how

    def read(self, offset, limit):
        start = offset if offset >= 0 else max(0, len(self.printed) + offset)
        part = self.printed[start : start + limit]
        return Output(data=part, start=start, total=len(self.printed))

    def write(self, data):
        return len(data)

    def close_input(self):
        pass

    def kill(self):
        pass

    def forget(self):
        pass


class Sink(list):
    def add(self, event):
        self.append(event)

    def withdraw(self, event_id):
        pass

    @property
    def kinds(self):
        return [event.kind for event in self]


@pytest.fixture
def now(monkeypatch):
    """A clock: the test sets it."""
    clock = [1_000.0]
    monkeypatch.setattr(job_watch.time, "time", lambda: clock[0])
    return clock


@pytest.fixture
def sink():
    return Sink()


@pytest.fixture
def watch(sink, tmp_path, monkeypatch):
    monkeypatch.setattr(job_watch.threading.Thread, "start", lambda self: None)  # the test looks
    opened = Watch(sink)
    yield lambda *jobs: [opened.add(job, folder_of(tmp_path, job)) for job in jobs] and opened
    opened._thread = None
    opened.close()


def folder_of(parent, job):
    folder = parent / job.id
    folder.mkdir(exist_ok=True)
    return folder


def test_the_end_is_told_with_the_last_output(watch, sink, now):
    job = Printed(notify_on_complete=True)
    looking = watch(job)
    looking.look()
    assert sink == []
    job.printed, job.how = b"a\nb\n", JobEnd(exit_code=2, ended_at=3.0)
    assert looking.look() is False
    assert sink.kinds == ["ended"]
    assert "exit code 2 after 3.0 s" in sink[0].text
    assert sink[0].output == "a\nb\n"


def test_lines_are_matched_when_they_are_complete(watch, sink, now):
    job = Printed(watch_patterns=("ready",))
    looking = watch(job)
    job.printed = b"not yet\nrea"
    looking.look()
    assert sink == []
    job.printed += "dy ü\nmore".encode()
    looking.look()
    assert [event.output for event in sink] == ["ready ü"]
    assert sink[0].id == "proc_1:8"


def test_the_last_line_counts_when_it_has_ended(watch, sink, now):
    job = Printed(watch_patterns=("ready",))
    job.printed, job.how = b"ready", JobEnd(exit_code=0, ended_at=1.0)
    watch(job).look()
    assert sink.kinds == ["matched"]


def test_matches_in_quick_succession_are_told_together(watch, sink, now):
    job = Printed(watch_patterns=("x",))
    looking = watch(job)
    for _ in range(10):
        job.printed += b"x\n"
        looking.look()
    assert len(sink) == 1
    now[0] += 15
    looking.look()
    assert len(sink) == 2
    assert "8 more lines" in sink[1].text


def test_one_that_matches_all_the_time_is_watched_no_more(watch, sink, now):
    job = Printed(watch_patterns=("x",))
    looking = watch(job)
    for _ in range(20):
        job.printed += b"x\nx\n"
        looking.look()
        now[0] += 16
    assert sink.kinds == ["matched"] * 4 + ["unwatched"]
    job.how = JobEnd(exit_code=0, ended_at=1.0)
    looking.look()
    assert sink.kinds[-1] == "ended"


def test_all_together_do_not_tell_too_much_and_lose_nothing(watch, sink, now):
    jobs = [Printed(f"proc_{number}", watch_patterns=("x",)) for number in range(20)]
    looking = watch(*jobs)
    for job in jobs:
        job.printed = b"x\n"
    looking.look()
    assert len(sink) == 15
    now[0] += 29
    looking.look()
    assert len(sink) == 15
    now[0] += 2
    looking.look()
    assert sorted(event.job for event in sink) == sorted(job.id for job in jobs)


def test_a_crash_after_an_event_makes_the_same_event_again(watch, sink, now, tmp_path):
    job = Printed(watch_patterns=("x",))
    job.printed = b"x1\nx2\n"
    looking = watch(job)
    sink.add = lambda event: (_ for _ in ()).throw(OSError("crash"))
    looking.look()
    del sink.add
    job.printed += b"x3\n"
    again = Watch(sink)
    again.add(job, tmp_path / job.id)
    again.look()
    assert [(event.id, event.output) for event in sink] == [("proc_1:3", "x2")]
    now[0] += 16
    again.look()
    assert [(event.id, event.output) for event in sink][1:] == [("proc_1:6", "x3")]


def test_nobody_is_told_who_has_not_asked(watch, sink):
    job = Printed()
    job.how = JobEnd(exit_code=0, ended_at=1.0)
    assert watch(job).look() is False
    assert sink == []
