"""What it costs to judge a command before it runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks.rows import Row, spread
from tools.safety import judge_command
from tools.safety.shell.reading import read_program

CASES = Path(__file__).parents[1] / "unit" / "tools" / "safety" / "cases.txt"
ROUNDS = 25
FOLDER = "/data/project"
ANALYSIS = """
df = pd.read_csv("data/sales_{0}.csv", parse_dates=["day"])
df["ratio_{0}"] = df.a / df.b
for city, part in df.groupby("city"):
    print(city, part["price"].mean(), len(part), {0})
fig, ax = plt.subplots(figsize=(8, {0}))
ax.plot(df.day, df.price, label="price {0}")
ax.set_title(f"Prices of {{len(df)}} days")
model = fit(df[["a", "b"]].to_numpy(), df["y"].values, alpha={0})
print({{k: round(v, 3) for k, v in model.params.items() if v > {0}}})
"""
LONG = {
    "a long word": "echo " + "a" * 3_995,
    "a quoted text": "git commit -m '" + "word " * 797 + "'",
    "a here-document": "cat <<'X'\n" + "some text here\n" * 265 + "X\n",
    "250 file names": "cat " + " ".join(f"src/file_{number}.py" for number in range(250)),
    "Python code": "python -c '" + "print(1)\n" * 440 + "'",
    "an analysis in Python": "python - <<'X'\n" + "".join(map(ANALYSIS.format, range(9))) + "X\n",
    "Python that must be read": (
        "python - <<'X'\nimport os\n" + "".join(map(ANALYSIS.format, range(9))) + "os.getcwd()\nX\n"
    ),
    "a script of 130 lines": (
        'for f in *.csv; do wc -l "$f"; done\nif [ -f x ]; then cat x; fi\n' * 62
    ),
    "235 stages of a pipe": "grep 'a' file | " * 235 + "cat",
}


def rows() -> Iterator[Row]:
    began = time.perf_counter()
    judge_command("git status", FOLDER)
    first = (time.perf_counter() - began) * 1e3
    yield Row(what="first verdict: parser and models", value=first, unit="ms")
    safe = [line.split(maxsplit=1)[1] for line in _lines() if line.startswith("safe")]
    everyday = spread([_seconds(command) for _ in range(ROUNDS) for command in safe], 1e6)
    yield Row(
        what="verdict on an everyday command: median",
        value=everyday.median,
        unit="us",
        target=50,
        detail=everyday.detail("us"),
        theirs="hermes-agent 0.19.0: 200 to 1200 us (quoted)",
    )
    for name, command in LONG.items():
        samples = spread([_seconds(command) for _ in range(ROUNDS)], 1e3)
        yield Row(
            what=f"verdict on 4,000 characters: {name}",
            value=samples.median,
            unit="ms",
            target=1,
            detail=samples.detail("ms"),
            theirs="hermes-agent 0.19.0: 42 to 94 ms (quoted)",
        )
    megabyte = spread([_seconds("ls; " * 250_000) for _ in range(ROUNDS)], 1e3)
    yield Row(what="verdict on 1 MB", value=megabyte.median, unit="ms", target=50)


def _lines() -> list[str]:
    return CASES.read_text(encoding="utf-8").splitlines()


def _seconds(command: str) -> float:
    """Of a text that was not read before."""
    read_program.cache_clear()
    judge = partial(judge_command, command, FOLDER)
    began = time.perf_counter()
    judge()
    return time.perf_counter() - began
