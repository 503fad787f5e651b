"""What the words of a request tell."""

import pytest

from hermes_jupyter.agent.wishes import key_word, named_files, wishes_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is in notes.txt?", ("notes.txt",)),
        ("Read ../data/v1.2/a.b.csv, then b.json.", ("../data/v1.2/a.b.csv", "b.json")),
        ("Lies notizen.txt.", ("notizen.txt",)),
        ("a.py and a.py", ("a.py",)),
        ("What is node.js? Use e.g. pandas, df.head(3) and np.array.", ()),
        ("Fetch https://example.org/a.html or www.example.com/b.html", ()),
        ("Write to bob@example.md", ()),
        ("The value is 3.5", ()),
    ],
)
def test_names_of_files_are_found(text, expected):
    assert named_files(text) == expected


@pytest.mark.parametrize(
    "request_",
    [
        "Change the port in a.yaml to 9.", "In a.py replace x by y.", "Please add a line to a.txt.",
        "Read a.txt and write the sum to b.txt.", "Can you delete the file a.txt?",
    ],
)  # fmt: skip
def test_orders_to_change_something_are_known(request_):
    assert wishes_of(request_).change


@pytest.mark.parametrize(
    "request_",
    [
        "What does the function add in a.py return?", "How do I delete a file in Python?",
        "What changed in a.txt?", "Write a poem.", "Which file sets the port?",
    ],
)  # fmt: skip
def test_questions_are_no_orders(request_):
    assert not wishes_of(request_).change


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Make a.py and run it.", True),
        ("Execute a.sh.", True),
        ("What does run() in a.py do?", False),
        ("Why does a.py run so slowly?", False),
    ],
)
def test_orders_to_run_something_are_known(request_, expected):
    assert wishes_of(request_).run == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Which files are in this folder?", True),
        ("List all files.", True),
        ("Was steht in a.txt?", True),
        ("What is the capital of France?", False),
        ("What can you do for me?", False),
        ("What is a file system?", False),
        ("What does the file extension .csv mean?", False),
    ],
)
def test_it_is_known_whether_files_are_asked_about(request_, expected):
    assert wishes_of(request_).about_files == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Which file mentions kiwi?", True),
        ("Where is the port set?", True),
        ("a.txt says in which file the word is. What is the word?", False),
    ],
)
def test_a_question_for_a_file_is_told_from_one_for_what_it_says(request_, expected):
    assert wishes_of(request_).which_file == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Where is the constant MAX_SIZE set?", "MAX_SIZE"),
        ("Who calls parseHeader here, and why?", "parseHeader"),
        ("Who travels to Lisbon?", "travels"),
        ("", ""),
    ],
)
def test_the_word_to_search_for_is_an_identifier_or_the_longest(request_, expected):
    assert key_word(request_) == expected
