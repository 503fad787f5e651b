"""What a model says in the notebooks of ``notebooks/``, for their tests and their kept records."""

from __future__ import annotations

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import Conversation, conversation

LOOK = """print(raw.dtypes)
print(raw.isna().sum())
print(raw[raw.duplicated(keep=False)])
raw["Product"].value_counts(dropna=False)"""
PROBLEMS = """`raw` has 33 rows, every column is text, and these things are wrong:

* **Dates** are written in three ways: `2026-08-01`, `01/08/2026`, `8 Aug 2026`.
* **Products** have several spellings: `Apples`, `apples`, `APPLES`, `Apples ` with a blank.
* **Amounts** with a decimal comma: `5,5` (2026-08-08, plums).
* **Amounts** that are missing: plums of 1 August and pears of 15 August, both South.
* **Prices** with and without the sign `€`.
* **Typed twice**: plums of 2026-08-08, North.
* **No data**: an empty row, and a total at the end."""
CLEAN = """import pandas as pd


def number(column):
    return pd.to_numeric(column.str.replace(",", ".").str.strip("€ "))


def date(column):
    iso = pd.to_datetime(column, format="%Y-%m-%d", errors="coerce")
    return iso.fillna(pd.to_datetime(column[iso.isna()], format="mixed", dayfirst=True))


table = raw.drop_duplicates().dropna(how="all")
table = table[table["Date"] != "Total"]
clean = pd.DataFrame(
    {
        "date": date(table["Date"]),
        "product": table["Product"].str.strip().str.lower(),
        "kg": number(table["Kg"]),
        "price": number(table["Price per kg"]),
        "stall": table["Stall"],
    }
)
clean = clean.dropna(subset="kg").sort_values(["date", "stall", "product"], ignore_index=True)
len(raw), len(clean)"""
CLEANED = (
    "`clean` has 28 of the 33 rows. Left out are the row that was typed twice, the empty one, the "
    "total, and the two without an amount. The other amounts and all prices are numbers now."
)
PLOT = """import matplotlib.pyplot as plt

revenue = clean.assign(revenue=clean["kg"] * clean["price"])
days = revenue.pivot_table(index="date", columns="product", values="revenue", aggfunc="sum")
days.index = [f"{day:%b} {day.day}" for day in days.index]
axes = days.plot.bar(stacked=True, figsize=(6, 3), rot=0, width=0.7)
axes.set(xlabel="", ylabel="revenue in €", title="Two stalls, August 2026")
axes.legend(frameon=False, ncols=3, fontsize="small")
axes.set_ylim(top=days.sum(axis=1).max() * 1.2)
days.sum(axis=1).round(2)"""
BEST = "**22 August** was the best Saturday: 171.80 €. 1 August, the first, brought 122.30 €."
FIXED = """\
`float` reads neither the decimal comma of `"21,8"` nor the empty reading `""`. The corrected cell \
turns commas into points and leaves empty readings out.

```python
numbers = [float(reading.replace(",", ".")) for reading in readings if reading]
print(f"{sum(numbers) / len(numbers):.1f} °C")
```"""
SPENT = "SELECT customer, SUM(quantity * price) FROM orders GROUP BY customer ORDER BY 2 DESC"
REPORT = (
    "Delivery got better: 66 tickets closed, more than the 52 that came in. Login did not: 97 were "
    "opened, 7 stayed open, and it took 7 hours to close one. Look at login next; it brings half "
    "of all tickets."
)

QUICKSTART = (
    conversation(
        "What is in todo.txt", (call("read_file", path="todo.txt"),), "buy milk, call Bob"
    ),
    conversation(
        "Make the file hello.sh",
        (call("write_file", path="hello.sh", content="echo hello\n"),),
        (call("terminal", command="bash hello.sh"),),
        "I made hello.sh; running it prints hello.",
    ),
    conversation(
        "Write the text Hello Ada",
        (call("write_file", path="greet.txt", content="Hello Ada"),),
        "I wrote greet.txt.",
    ),
    conversation(
        "Delete the file old.log", (call("terminal", command="rm old.log"),), "I deleted old.log."
    ),
    conversation(
        "Delete the file keep.txt", (call("terminal", command="rm keep.txt"),), "It stays."
    ),
)
ANSWERS: tuple[Conversation, ...] = (
    *QUICKSTART,
    conversation(
        "What is wrong with the table",
        (call("inspect_variable", name="raw"), call("run_python", code=LOOK)),
        PROBLEMS,
    ),
    conversation("Make a table", (call("run_python", code=CLEAN),), CLEANED),
    conversation("Plot the revenue", (call("run_python", code=PLOT),), BEST),
    conversation("A cell of the user's notebook failed", FIXED),
    conversation(
        "which customer has spent",
        (call("query", sql=SPENT),),
        "Ada has spent the most: **36.00**, before Cleo with 22.50 and Bob with 21.00.",
    ),
    conversation("Support tickets in 2026-09", REPORT),
)
