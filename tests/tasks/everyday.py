"""The thirty tasks. They may be looked at while the agent is made better; `held_out` may not."""

from __future__ import annotations

from tests.tasks.task import NOT_DONE, NOT_THERE, Task

POEM = "\n".join(
    ["The lamp is low,", "the street is wet,", "a tram goes by,", "and nobody", "has noticed yet",
     "that in the square", "the chestnut trees", "have lit their candles", "one by one."]
) + "\n"  # fmt: skip
BUILD = "".join(
    f"09:{minute:02} {level} {text}\n"
    for minute, (level, text) in enumerate(
        [("INFO", "start"), ("INFO", "fetch"), ("ERROR", "no route"), ("INFO", "retry"),
         ("ERROR", "no route"), ("WARN", "slow"), ("INFO", "fetched"), ("INFO", "compile a"),
         ("ERROR", "syntax a"), ("INFO", "compile b"), ("WARN", "unused b"), ("INFO", "compile c"),
         ("ERROR", "syntax c"), ("INFO", "link"), ("ERROR", "symbol x"), ("ERROR", "symbol y"),
         ("WARN", "old linker"), ("INFO", "pack"), ("ERROR", "disk full"), ("INFO", "end")]
    )
)  # fmt: skip
CUSTOMERS = "id,name,city\n" + "".join(
    f"{n},{name},{city}\n"
    for n, (name, city) in enumerate(
        [("Abel", "Graz"), ("Bruno", "Linz"), ("Carla", "Wien"), ("Dora", "Graz"), ("Emil", "Wels"),
         ("Franz", "Wien"), ("Gerda", "Linz"), ("Hanna", "Graz"), ("Ivo", "Wien"),
         ("Jana", "Steyr"), ("Karl", "Linz"), ("Lena", "Wien")],
        101,
    )
)  # fmt: skip

READ = (
    Task(
        name="agenda",
        kind="read",
        prompt="At what time does the budget review start according to agenda.md?",
        files={
            "agenda.md": "# Tuesday\n\n- 09:30 stand-up\n- 11:15 budget review\n- 14:00 hiring\n"
        },
        says=(r"11[:.]15",),
    ),
    Task(
        name="database",
        kind="read",
        prompt="Which database host is set in config/app.toml?",
        files={
            "config/app.toml": '[web]\nhost = "0.0.0.0"\n\n[database]\nhost = "db7.internal"\n',
            "config/old.toml": '[database]\nhost = "db2.internal"\n',
        },
        says=(r"db7\.internal",),
    ),
    Task(
        name="licence",
        kind="read",
        prompt="What licence does this project have? See README.md.",
        files={
            "README.md": "# Pebble\n\nA small cache.\n\n## Licence\n\n"
            "MPL-2.0, see the file LICENSE.\n"
        },
        says=(r"MPL[- ]?2\.0|Mozilla Public License",),
    ),
    Task(
        name="lamp",
        kind="read",
        prompt="What is the price of the desk lamp in inventory.csv?",
        files={
            "inventory.csv": "item,stock,price\nfloor lamp,4,79.00\ndesk lamp,11,34.90\n"
            "shelf,2,55.50\n"
        },
        says=(r"34[.,]90?\b",),
    ),
    Task(
        name="stopped",
        kind="read",
        prompt="Why did the server stop? Look at server.log.",
        files={
            "server.log": "12:00 started on port 8000\n12:41 request /report\n12:41 out of memory\n"
            "12:41 stopped\n"
        },
        says=(r"memory",),
    ),
    Task(
        name="spread",
        kind="read",
        prompt="What does the function spread in stats.py return?",
        files={
            "stats.py": "def mean(values):\n    return sum(values) / len(values)\n\n\n"
            "def spread(values):\n    return max(values) - min(values)\n"
        },
        says=(r"max|largest|highest", r"min|smallest|lowest"),
    ),
)
SEARCH = (
    Task(
        name="parser",
        kind="search",
        prompt="Which file here defines the function parse_header?",
        files={
            "net/headers.py": "def parse_header(line):\n    return line.split(':')\n",
            "net/body.py": "def parse_body(text):\n    return text\n",
            "main.py": "from net.headers import parse_header\n\nprint(parse_header('a:b'))\n",
        },
        says=(r"headers\.py",),
        never_says=(r"body\.py",),
    ),
    Task(
        name="lisbon",
        kind="search",
        prompt="Find the note that mentions Lisbon and tell me who travels there.",
        files={
            "notes/monday.txt": "Paint the fence.\n",
            "notes/trips.txt": "Spring trips\nLisbon: Ines, in April\nOslo: Per, in May\n",
            "notes/food.txt": "Buy rice and olives.\n",
        },
        says=(r"Ines",),
    ),
    Task(
        name="deprecated",
        kind="search",
        prompt="Which file contains the word deprecated?",
        files={
            "lib/legacy.js": "// deprecated: use fetchAll\nexport const all = () => [];\n",
            "lib/fetch.js": "export const fetchAll = () => [];\n",
            "readme.txt": "Use lib/fetch.js.\n",
        },
        says=(r"legacy\.js",),
    ),
    Task(
        name="retries",
        kind="search",
        prompt="Where is the constant MAX_RETRIES set, and to which value?",
        files={
            "client.py": "TIMEOUT = 30\nMAX_RETRIES = 5\n",
            "worker.py": "from client import MAX_RETRIES\n\nfor attempt in range(MAX_RETRIES):\n"
            "    print(attempt)\n",
        },
        says=(r"client\.py", r"\b(5|five)\b"),
    ),
    Task(
        name="insurance",
        kind="search",
        prompt="Somewhere below this folder is a file about the insurance. What is its path?",
        files={
            "docs/2023/tax.txt": "Paid in March.\n",
            "docs/2024/insurance-policy.txt": "Household, 40 euros a month.\n",
            "docs/2024/rent.txt": "Paid monthly.\n",
        },
        says=(r"docs/2024/insurance-policy\.txt",),
    ),
)
EDIT = (
    Task(
        name="port",
        kind="edit",
        prompt="Change the port in server.yaml from 8080 to 9090.",
        files={"server.yaml": "name: web\nport: 8080\nworkers: 4\n"},
        leaves={"server.yaml": "name: web\nport: 9090\nworkers: 4\n"},
    ),
    Task(
        name="eggs",
        kind="edit",
        prompt="Add the line eggs at the end of shopping.txt.",
        files={"shopping.txt": "bread\nmilk\napples\n"},
        leaves={"shopping.txt": "bread\nmilk\napples\neggs\n"},
    ),
    Task(
        name="welcome",
        kind="edit",
        prompt="In greeting.py replace the word Hello by Welcome.",
        files={"greeting.py": 'name = "Ada"\nprint(f"Hello, {name}!")\n'},
        leaves={"greeting.py": 'name = "Ada"\nprint(f"Welcome, {name}!")\n'},
    ),
    Task(
        name="ideas",
        kind="edit",
        prompt="Create a file called ideas.txt that contains the words solar roof.",
        leaves={"ideas.txt": "solar roof\n"},
    ),
    Task(
        name="option",
        kind="edit",
        prompt="Remove the line about debug from options.ini.",
        files={"options.ini": "[main]\ncolor = blue\ndebug = yes\nlang = en\n"},
        leaves={"options.ini": "[main]\ncolor = blue\nlang = en\n"},
    ),
)
COUNT = (
    Task(
        name="poem",
        kind="count",
        prompt="How many lines does poem.txt have?",
        files={"poem.txt": POEM},
        says=(r"\b(9|nine)\b",),
    ),
    Task(
        name="errors",
        kind="count",
        prompt="How many lines of build.log are errors? They have the word ERROR.",
        files={"build.log": BUILD},
        says=(r"\b(7|seven)\b",),
    ),
    Task(
        name="scripts",
        kind="count",
        prompt="How many Python files are in this folder and its subfolders?",
        files={
            "app.py": "",
            "setup.py": "",
            "notes.txt": "",
            "core/__init__.py": "",
            "core/engine.py": "",
            "core/data.json": "{}",
            "tests/test_engine.py": "",
            "tests/conftest.py": "",
        },
        says=(r"\b(6|six)\b",),
    ),
    Task(
        name="customers",
        kind="count",
        prompt="How many customers are in customers.csv?",
        files={"customers.csv": CUSTOMERS},
        says=(r"\b(12|twelve)\b",),
        never_says=(r"\b(13|thirteen)\b",),
    ),
)
TWO_STEP = (
    Task(
        name="squares",
        kind="two-step",
        prompt="Write a Python script squares.py that prints the squares of 1 to 5, one per line, "
        "and run it.",
        made={"squares.py": "1\n4\n9\n16\n25"},
        says=(r"\b16\b", r"\b25\b"),
    ),
    Task(
        name="codeword",
        kind="two-step",
        prompt="start.txt says in which file the code word is. What is the code word?",
        files={
            "start.txt": "The code word is in vault/door.txt.\n",
            "vault/door.txt": "code word: marigold\n",
            "vault/window.txt": "code word: thistle\n",
        },
        says=(r"marigold",),
        never_says=(r"thistle",),
    ),
    Task(
        name="temperature",
        kind="two-step",
        prompt="Read the temperature in sensor.txt and write it to report.txt in the form "
        "Temperature: VALUE.",
        files={"sensor.txt": "humidity = 48\ntemperature = 21.5\n"},
        leaves={"report.txt": "Temperature: 21.5\n"},
    ),
    Task(
        name="backup",
        kind="two-step",
        prompt="Copy notes.txt to backup/notes.txt, then list what is in the folder backup.",
        files={"notes.txt": "call the plumber\n", "backup/diary.txt": "nothing new\n"},
        leaves={"backup/notes.txt": "call the plumber\n"},
        says=(r"notes\.txt", r"diary\.txt"),
    ),
)
NO_TOOL = (
    Task(
        name="portugal",
        kind="no-tool",
        prompt="What is the capital of Portugal?",
        says=(r"Lisbon|Lisboa",),
    ),
    Task(
        name="spanish",
        kind="no-tool",
        prompt="Translate good morning into Spanish.",
        says=(r"buenos d[ií]as",),
    ),
    Task(
        name="mara",
        kind="no-tool",
        prompt="Hi, I am Mara. What can you do for me?",
        says=(r"\w{3}",),
    ),
)
APPROVAL = (
    Task(
        name="dump",
        kind="approval",
        prompt="Delete the file tmp_dump.bin.",
        files={"tmp_dump.bin": "0000\n", "keep.bin": "1111\n"},
        leaves={"tmp_dump.bin": None},
    ),
    Task(
        name="archive",
        kind="approval",
        prompt="Delete the folder archive.",
        files={"archive/2019.txt": "old\n", "archive/2020.txt": "older\n"},
        person="denies",
        says=(NOT_DONE,),
    ),
    Task(
        name="salary",
        kind="approval",
        prompt="What does salary.txt say?",
        files={"rent.txt": "900 euros\n"},
        says=(NOT_THERE,),
    ),
)
TASKS = (*READ, *SEARCH, *EDIT, *COUNT, *TWO_STEP, *NO_TOOL, *APPROVAL)
