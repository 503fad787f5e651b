import json

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.store.sessions.search import search
from hermes_jupyter.store.sessions.words import indexable, query, segmented


@pytest.fixture
def found(sessions):
    """Names of the conversations in which something is found."""

    def find(text, **options):
        matches = search(sessions.database, query(text), **options)
        return [sessions.by_number(match.number).name for match in matches]

    return find


TEXTS = {
    "chinese": "请用Python数据分析这些文件，人工智能很好",
    "japanese": "データを読み込んでグラフを描く。東京の天気",
    "korean": "데이터를 분석해서 그래프를 그려 주세요",
    "english": "Please plot the DataFrame with go and AI; see src/read_file.py, café, ＡＢＣ１２３",
    "russian": "Построй график продаж",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("数据", "chinese"), ("智", "chinese"), ("好", "chinese"), ("人工智能", "chinese"),
        ("工智能", "chinese"), ("Python数据", "chinese"), ("数据分析 文件", "chinese"),
        ("用Python", "chinese"), ("東京", "japanese"), ("天気", "japanese"), ("グラフ", "japanese"),
        ("데이터", "korean"), ("분석", "korean"), ("go", "english"), ("ai", "english"),
        ("DataFrame", "english"), ("frame", "english"), ("read_file", "english"),
        ("read-file", "english"), ("ead_fil", "english"), ("src/read", "english"),
        ("CAFE", "english"), ("abc123", "english"), ("плот OR график", "russian"),
        ("ГРАФИК", "russian"), ("plot frame", "english"), ('"plot the"', "english"),
        ("file.py,", "english"),
    ],
)  # fmt: skip
def test_terms_of_any_script_and_length_are_found(new_talk, found, text, expected):
    for name, said in TEXTS.items():
        new_talk(name).exchange(said, "ok")
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    ["", "   ", "据数", "能智", '"the plot"', "plot nothing", "zz", "-> <-", '"', "*", "NEAR("],
)
def test_what_does_not_stand_there_is_not_found(new_talk, found, text):
    for name, said in TEXTS.items():
        new_talk(name).exchange(said, "ok")
    assert found(text) == []


def test_what_calls_ask_for_and_what_they_answer_is_found(talk, found):
    call = ToolCall(id="c", name="terminal", args={"command": "pip install\tpolars"})
    talk.ask("go")
    talk.say("", call)
    talk.answer(call, json.dumps({"output": "first line\nsecondline\tthird"}))
    talk.end()
    assert found("polars") == found("secondline third") == ["main"]
    assert found("secondline", kinds=("user",)) == []


def test_the_better_match_comes_first_and_the_order_can_be_asked_for(new_talk, found):
    for name, count in (("few", 1), ("many", 5), ("some", 2)):
        talk = new_talk(name)
        for _ in range(count):
            talk.exchange("the budget", "fine")
    assert found("budget") == ["many", "some", "few"]
    assert found("budget", order="newest") == ["some", "many", "few"]
    assert found("budget", order="oldest") == ["few", "many", "some"]
    assert found("budget", limit=1) == ["many"]


def test_a_long_conversation_does_not_hide_the_others(new_talk, found):
    new_talk("old").exchange("budget", "ok")
    long = new_talk("long")
    long.ask("go")
    long.messages.extend({"role": "user", "content": f"budget {n}"} for n in range(700))
    assert sorted(found("budget")) == ["long", "old"]
    assert sorted(found("budget", order="oldest")) == ["long", "old"]


def test_what_was_taken_back_is_not_found_and_what_was_compacted_is(talk, found, sessions):
    talk.ask("one")
    talk.messages.append({"role": "user", "content": "withdrawn"})
    del talk.messages[-1]
    talk.messages.append({"role": "user", "content": "earlier"})
    talk.messages[-1:] = [{"role": "user", "content": "summary"}]
    talk.end()
    assert found("withdrawn") == []
    assert found("earlier") == ["main"]
    assert found("earlier", but_live_of=talk.stored.number) == ["main"]
    assert found("summary", but_live_of=talk.stored.number) == []


def test_a_turn_that_runs_is_found(talk, found):
    talk.ask("budget")
    assert found("budget") == ["main"]
    talk.say("later")
    assert found("later") == ["main"]


def test_a_deleted_conversation_leaves_nothing_in_the_indexes(new_talk, found, sessions):
    for name in ("one", "two"):
        talk = new_talk(name)
        talk.exchange("the budget 数据", "fine words")
        talk.messages.extend({"role": "user", "content": f"budget {n}"} for n in range(600))
        talk.end()
        talk.journal.close()
    sessions.tidy()
    for name in ("one", "two"):
        sessions.delete(sessions.find(name))
        with sessions.database.read() as connection:
            for table, term in (("words", "budget"), ("pieces", "bud")):
                connection.execute(
                    f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 0)"
                )
                sql = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?"
                left = connection.execute(sql, (term,)).fetchone()[0]
                assert (left > 0) is (name == "one")


def test_long_texts_are_indexed_at_both_ends():
    text = "start " + "x " * 20_000 + "end"
    assert indexable(text).startswith("start")
    assert indexable(text).endswith("end")
    assert len(indexable(text)) < 17_000


def test_runs_are_cut_into_pairs():
    assert segmented("用数据a").split() == ["用数", "数据", "据", "a"]
    assert segmented("用数据", ends=False).split() == ["用数", "数据"]
    assert segmented("plain") == "plain"
