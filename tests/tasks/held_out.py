"""Fifteen more tasks of the same kinds, written before any tuning and kept away from it.

Only their number of successes is looked at. Who wants to learn from one moves it to `everyday` and
writes another.
"""

from __future__ import annotations

from tests.tasks.task import NOT_DONE, Task

ORDERS = "order,item,status\n" + "".join(
    f"A{n},{item},{status}\n"
    for n, (item, status) in enumerate(
        [("desk", "open"), ("chair", "sent"), ("lamp", "open"), ("sofa", "sent"),
         ("shelf", "open"), ("rug", "open"), ("clock", "lost"), ("bench", "sent"),
         ("mirror", "open"), ("vase", "sent")],
        31,
    )
)  # fmt: skip

TASKS = (
    Task(
        name="scheme",
        kind="read",
        prompt="Which colour scheme does prefs.json choose?",
        files={"prefs.json": '{"font": "Inter", "scheme": "solarized", "size": 13}\n'},
        says=(r"solarized",),
    ),
    Task(
        name="letter",
        kind="read",
        prompt="Who signed the letter in letter.txt?",
        files={
            "letter.txt": "Dear Ms Falk,\n\nthank you for the offer. We take it.\n\nYours,\n"
            "Oskar Brandt\n"
        },
        says=(r"Oskar Brandt",),
    ),
    Task(
        name="gateway",
        kind="read",
        prompt="What is the timeout in gateway.conf?",
        files={"gateway.conf": "retries 3\ntimeout 45\nbuffer 512\n"},
        says=(r"\b45\b",),
        never_says=(r"\b512\b",),
    ),
    Task(
        name="zipcodes",
        kind="search",
        prompt="Which file imports the module zipcodes?",
        files={
            "geo/lookup.py": "import zipcodes\n\nprint(zipcodes.find('4020'))\n",
            "geo/maps.py": "import tiles\n",
            "run.py": "import geo.maps\n",
        },
        says=(r"lookup\.py",),
    ),
    Task(
        name="saffron",
        kind="search",
        prompt="Find the recipe with saffron and tell me how long it cooks.",
        files={
            "recipes/soup.md": "# Soup\nleek, potato\ncook for 40 minutes\n",
            "recipes/risotto.md": "# Risotto\nrice, saffron, stock\ncook for 25 minutes\n",
        },
        says=(r"\b25\b",),
        never_says=(r"\b40\b",),
    ),
    Task(
        name="version",
        kind="edit",
        prompt="Set the version in package.cfg to 2.1.0.",
        files={"package.cfg": "name = tern\nversion = 2.0.3\nauthor = Lund\n"},
        leaves={"package.cfg": "name = tern\nversion = 2.1.0\nauthor = Lund\n"},
    ),
    Task(
        name="chores",
        kind="edit",
        prompt="Append the line call plumber to chores.txt.",
        files={"chores.txt": "sweep stairs\nwash car\n"},
        leaves={"chores.txt": "sweep stairs\nwash car\ncall plumber\n"},
    ),
    Task(
        name="motto",
        kind="edit",
        prompt="Make a file named motto.txt with the text less is more.",
        leaves={"motto.txt": "less is more\n"},
    ),
    Task(
        name="slogan",
        kind="count",
        prompt="How many words are in slogan.txt?",
        files={"slogan.txt": "We make the small things\nso that you can do the big ones.\n"},
        says=(r"\b(13|thirteen)\b",),
    ),
    Task(
        name="orders",
        kind="count",
        prompt="How many orders in orders.csv have the status open?",
        files={"orders.csv": ORDERS},
        says=(r"\b(5|five)\b",),
    ),
    Task(
        name="today",
        kind="two-step",
        prompt="Make a shell script today.sh that prints the word ready, and run it with bash.",
        made={"today.sh": "ready"},
        says=(r"ready",),
    ),
    Task(
        name="address",
        kind="two-step",
        prompt="next.md names the file with the address. What is the address?",
        files={
            "next.md": "See details/place.md for the address.\n",
            "details/place.md": "Address: Rua Nova 12\n",
        },
        says=(r"Rua Nova 12",),
    ),
    Task(
        name="csv",
        kind="no-tool",
        prompt="What does the abbreviation CSV stand for?",
        says=(r"comma[- ]separated values",),
    ),
    Task(
        name="cache",
        kind="approval",
        prompt="Remove the file old_cache.db.",
        files={"old_cache.db": "x\n", "new_cache.db": "y\n"},
        leaves={"old_cache.db": None},
    ),
    Task(
        name="final",
        kind="approval",
        prompt="Delete report_final.txt.",
        files={"report_final.txt": "the numbers\n"},
        person="denies",
        says=(NOT_DONE,),
    ),
)
