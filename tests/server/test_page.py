"""The page for a phone, in a real Chromium: it lists what waits, and answers."""

import chromium
import pytest
from accessibility import no_serious_findings
from served import TOKEN, kernel_of

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
PHONE = {"width": 390, "height": 844}
EVIL = "rm old.log # <img src=x onerror=alert(1)>\u202e"
MODEL = (
    conversation("delete", (call("terminal", command=EVIL),), "done"),
    conversation(
        "rewrite", (call("write_file", path="old.log", content="new\nlines\n"),), "rewritten"
    ),
)


@pytest.fixture(scope="module")
def kernel(server):
    with ScriptedServer(*MODEL) as model, kernel_of(server, OPENAI_BASE_URL=model.url) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def browser(kernel):
    """Opened after the kernel: while it is open, Playwright's loop runs in the main thread."""
    path = chromium.path()
    if path is None:
        pytest.skip(chromium.MISSING)
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser, kernel, request):
    colours = getattr(request, "param", "light")
    context = browser.new_context(viewport=PHONE, color_scheme=colours)
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda m: m.type == "error" and page.problems.append(m.text))
    page.loaded = []
    page.on("request", lambda request: page.loaded.append(request))
    page.goto(f"{kernel.server.url}hermes/?token={TOKEN}")
    expect(page.locator("#connection")).to_have_text("Connected")
    page.colours = colours
    yield page
    assert page.problems == []
    context.close()


def asking(kernel, prompt):
    (kernel.folder / "old.log").write_text("old\nlines\n")
    kernel.front.run(f"%%agent --background --new\n{prompt}")


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_a_request_is_shown_as_it_is_and_denied_with_a_note(page, kernel, artefacts):
    asking(kernel, "delete")
    card = page.locator("article.waits")
    card.wait_for()
    assert TOKEN not in page.url
    assert card.locator("pre").inner_text() == EVIL.replace("\u202e", "⟨U+202E⟩")
    page.screenshot(path=artefacts / f"phone-{page.colours}.png", full_page=True)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    card.get_by_label("A note with a denial").fill("keep it")
    card.get_by_role("button", name="Deny").click()
    page.locator("#done li").wait_for()
    page.locator("#done .here").wait_for()
    assert "Denied by you on the server's page: keep it" in page.locator("#done").inner_text()
    page.locator("#idle").wait_for()  # the turn has ended
    assert page.locator("#nothing").is_visible()
    assert (kernel.folder / "old.log").exists()


def test_all_that_the_page_loads_is_let_through_by_jupyterhub(page, kernel):
    """It takes a cookie for what is loaded in the plain way, and else only with the XSRF token."""
    page.evaluate("refresh()")
    expect(page.locator("#nothing")).to_be_visible()
    modes = [each.all_headers() for each in page.loaded]
    checked = [each for each in modes if each.get("sec-fetch-mode") not in ("navigate", "no-cors")]
    assert {each.url.rpartition("/")[2] for each in page.loaded} >= {"page.js", "pending"}
    assert [each for each in checked if not each.get("x-xsrftoken")] == []


def test_a_name_that_would_turn_what_follows_it_is_spelled_out(page):
    told = page.evaluate("notebooks.set('k', 'a\u202egnp.ipynb<b>'), where('k')")
    assert told == "a⟨U+202E⟩gnp.ipynb<b>"


FORGED = """request => {
  const told = { notebook: 'a.ipynb', questions: [], turns: [] };
  whole([
    { ...told, kernel: 'liar', requests: [{ id: request.id }, request], turns: [{}] },
    { ...told, kernel: 'other', requests: [request] }
  ]);
  const answered = { id: request.id, outcome: { said: 'Done' } };
  hear({ event: 'answered', kernel: 'liar', request: answered });
  return [...document.querySelectorAll('article.waits pre')].map(each => each.textContent);
}"""


def test_a_kernel_that_lies_hides_nothing_of_another(page, kernel):
    asking(kernel, "delete")
    request = kernel.request()
    kernel.answer(request, "deny")
    page.locator("#idle").wait_for()
    assert page.evaluate(FORGED, request) == [EVIL.replace("\u202e", "⟨U+202E⟩")]


def test_who_is_logged_out_is_told_so(page, kernel):
    page.context.clear_cookies()
    page.evaluate("send(document.body, document.getElementById('news'), 'k', 'stop', {})")
    expect(page.locator("#news")).to_contain_text("logged out")
    assert all("403" in each for each in page.problems)
    page.problems.clear()


def test_a_card_has_no_word_where_there_is_nothing_to_say(page, kernel):
    asking(kernel, "delete")
    card = page.locator("article.waits")
    card.wait_for()
    assert "null" not in card.inner_text()
    card.get_by_role("button", name="Deny").click()
    page.locator("#idle").wait_for()


def test_the_page_is_accessible_in_light_and_dark(page, kernel):
    asking(kernel, "rewrite")
    card = page.locator("article.waits")
    card.locator(".plus").first.wait_for()
    accessible(page)
    card.get_by_role("button", name="Deny").click()
    page.locator("#done li").wait_for()
    page.locator("#idle").wait_for()
    asking(kernel, "delete")
    card.get_by_role("button", name="Edit", exact=True).click()
    accessible(page)
    card.get_by_role("button", name="Deny").click()
    page.locator("#idle").wait_for()


def accessible(page):
    for colours in ("dark", "light"):
        page.emulate_media(color_scheme=colours)
        no_serious_findings(page, "html")


def test_a_command_is_edited_and_runs_as_edited(page, kernel):
    asking(kernel, "delete")
    card = page.locator("article.waits")
    card.get_by_role("button", name="Edit", exact=True).click()
    card.get_by_label("Edit command").fill("cp old.log new.log")
    card.get_by_role("button", name="Run edited").click()
    page.locator("#idle").wait_for()  # the turn has ended
    assert (kernel.folder / "new.log").exists()
    assert (kernel.folder / "old.log").exists()


def test_a_change_is_shown_as_a_diff_and_allowed(page, kernel, artefacts):
    asking(kernel, "rewrite")
    card = page.locator("article.waits")
    card.wait_for()
    assert "+new\n" in card.locator(".plus").all_inner_texts()
    page.screenshot(path=artefacts / f"phone-diff-{page.colours}.png", full_page=True)
    card.get_by_role("button", name="Allow once").click()
    page.locator("#done li").wait_for()
    page.locator("#idle").wait_for()  # the turn has ended
    assert (kernel.folder / "old.log").read_text() == "new\nlines\n"
