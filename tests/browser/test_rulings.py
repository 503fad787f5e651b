"""What a person sees and does at an approval: edit, note, expiry, and all by keyboard."""

import pytest
from applications import ONE_IS_ENOUGH
from playwright.sync_api import expect

pytestmark = ONE_IS_ENOUGH

RECORD = "application/vnd.hermes.turn+json"
FOCUSED = "document.activeElement.innerText || document.activeElement.placeholder || ''"


@pytest.fixture
def waiting(notebook):
    """A notebook whose second cell waits for an answer before it deletes old.log."""
    return asking(notebook, "delete old.log")


@pytest.fixture
def two(notebook):
    """The same with a card for each of two calls that run at once."""
    return asking(notebook, "overwrite both logs")


def asking(notebook, prompt):
    page = notebook(f"%%agent\n{prompt}")
    for name in ("old.log", "new.log"):
        (page.folder / name).write_text("x")
    page.run_all()
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    return page


def left(page):
    """The files that are as they were."""
    return sorted(path.name for path in page.folder.glob("*.log") if path.read_text() == "x")


def area(page):
    return page.page.locator(".hermes-edit textarea")


def note(page, nth=0):
    return page.page.locator(".hermes-field input").nth(nth)


def told(model):
    """What the model read of its calls."""
    bodies = [body for _, body in model.requests if body.get("messages")]
    return [m["content"] for body in bodies for m in body["messages"] if m["role"] == "tool"]


def both_themes(page, name):
    page.shot(name)
    page.theme("JupyterLab Dark")
    page.shot(f"{name}-dark")
    page.theme("JupyterLab Light")


def test_edit_then_run_runs_what_was_typed(waiting):
    waiting.button("Edit").click()
    expect(area(waiting)).to_be_focused()
    waiting.page.keyboard.press("Control+A")
    waiting.page.keyboard.type("rm new.log")
    both_themes(waiting, "edit")
    waiting.button("Run edited").click()
    waiting.until_idle(1)
    assert left(waiting) == ["old.log"]
    expect(waiting.output(1)).to_contain_text("Edited by you")
    waiting.save()
    record = waiting.saved()["cells"][1]["outputs"][0]["data"][RECORD]
    assert [e["edited"] for e in record["events"] if e["type"] == "called"] == ["rm new.log"]
    waiting.page.locator("summary").last.click()
    both_themes(waiting, "edited")


def test_a_click_does_not_overtake_what_was_typed_before_it(waiting):
    """The page keeps the second change back until the kernel has answered the first."""
    waiting.button("Edit").click()
    expect(area(waiting)).to_be_focused()
    area(waiting).evaluate(
        """area => {
            for (const text of ['rm old.log new.log', 'rm new.log']) {
                area.value = text;
                area.dispatchEvent(new Event('change', {bubbles: true}));
            }
            [...document.querySelectorAll('button')]
                .find(button => button.innerText == 'Run edited').click();
        }"""
    )
    waiting.until_idle(1)
    assert left(waiting) == ["old.log"]


def test_enter_in_the_field_of_an_edit_makes_a_new_line(waiting):
    waiting.button("Edit").click()
    expect(area(waiting)).to_be_focused()
    waiting.page.keyboard.press("Control+End")
    waiting.page.keyboard.press("Enter")
    waiting.page.keyboard.type("rm new.log")
    expect(area(waiting)).to_have_value("rm old.log\nrm new.log")
    waiting.button("Cancel").click()
    expect(waiting.button("Edit")).to_be_focused()
    assert waiting.is_busy(1)
    assert left(waiting) == ["new.log", "old.log"]
    waiting.button("Deny").click()
    waiting.until_idle(1)


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_deny_with_a_note(waiting, model, way):
    said = f"keep the logs until friday ({way}, {waiting.app})"
    note(waiting).click()
    waiting.page.keyboard.type(said)
    if way == "click":
        both_themes(waiting, "note")
        waiting.button("Deny").click()
    else:
        waiting.page.keyboard.press("Enter")
    waiting.until_idle(1)
    assert left(waiting) == ["new.log", "old.log"]
    expect(waiting.output(1)).to_contain_text(f"Denied by you: {said}")
    assert any(said in str(text) for text in told(model))
    both_themes(waiting, "denied")


def test_a_click_after_the_answer_reads_as_expired(two):
    """The other card keeps the turn waiting, so that there is something to see."""
    expect(two.page.locator(".hermes-card")).to_have_count(2)
    two.page.evaluate(
        """() => { for (const label of ['Deny', 'Allow once'])
            [...document.querySelectorAll('button')].find(b => b.innerText == label).click(); }"""
    )
    expect(two.output(1)).to_contain_text("Denied by you · expired: a later click changed nothing")
    expect(two.page.get_by_role("button", name="Allow once")).to_have_count(1)
    both_themes(two, "expired")
    two.button("Deny").click()
    two.until_idle(1)
    assert left(two) == ["new.log", "old.log"]


def test_each_card_is_answered_in_its_own_lane(two):
    both_themes(two, "cards")
    note(two, 1).fill("this one stays")
    note(two, 1).press("Enter")
    expect(two.output(1)).to_contain_text("Denied by you: this one stays")
    two.button("Allow once").click()
    two.until_idle(1)
    assert left(two) == ["new.log"]


def test_a_button_that_appears_or_moves_is_not_hit_by_a_click_that_was_meant_for_another(two):
    """A double click on the first card must not allow the call of the second."""
    expect(two.page.locator(".hermes-card")).to_have_count(2)
    first, second = (two.page.get_by_role("button", name="Allow once").nth(n) for n in (0, 1))
    two.page.evaluate(
        """() => new MutationObserver((_, observer) => {
            if (document.querySelectorAll('.hermes-card').length != 1) return;
            const { pointerEvents } = getComputedStyle(document.querySelector('.hermes-allow'));
            window.hasPaused = pointerEvents == 'none';
            if (window.hasPaused) observer.disconnect();
        }).observe(document.body, {subtree: true, childList: true, attributes: true})"""
    )
    first.click()
    two.page.wait_for_function("window.hasPaused")  # once the other card has moved
    expect(two.page.get_by_role("button", name="Allow once")).to_have_css("pointer-events", "auto")
    expect(second).to_have_count(0)
    two.button("Deny").click()
    two.until_idle(1)
    assert left(two) == ["new.log"]


def test_the_pause_of_a_new_button_is_long_enough_to_notice_it(notebook):
    page = notebook("%%agent\ndelete old.log")
    (page.folder / "old.log").write_text("x")
    page.page.evaluate(
        """() => document.addEventListener('animationstart', ({ target, animationName }) => {
            if (!target.matches('.hermes-allow')) return;
            const { effect } = target.getAnimations().find(a => a.animationName == animationName);
            const held = effect.getKeyframes().filter(each => each.pointerEvents == 'none');
            window.pause = effect.getComputedTiming().endTime * held.at(-1).computedOffset;
        })"""
    )
    page.run_all()
    page.page.wait_for_function("window.pause", timeout=30_000)
    assert 350 < page.page.evaluate("window.pause") < 2_000
    page.button("Deny").click()
    page.until_idle(1)


def reach(page, label, most=40):
    """Press Tab until this has the focus; what had it on the way."""
    on_the_way = []
    for _ in range(most):
        on_the_way.append(page.page.evaluate(FOCUSED))
        if on_the_way[-1].startswith(label):
            return on_the_way
        page.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {label}: {on_the_way}")


def test_all_of_it_by_keyboard(waiting):
    waiting.page.evaluate("document.querySelector('.jp-CodeCell.jp-mod-selected')?.focus()")
    waiting.page.keyboard.press("Escape")
    reach(waiting, "Allow once")
    order = reach(waiting, "and say why")
    assert [label for label in order if not label.startswith("Always")] == [
        "Allow once", "Allow this session", "Edit", "Deny", "and say why: the model reads it",
    ]  # fmt: skip
    for _ in range(2):
        waiting.page.keyboard.press("Shift+Tab")
    assert waiting.page.evaluate(FOCUSED) == "Edit"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert waiting.page.evaluate(outline) == "solid"
    waiting.shot("keyboard")
    waiting.page.keyboard.press("Enter")
    expect(area(waiting)).to_be_focused()
    waiting.page.keyboard.press("Control+A")
    waiting.page.keyboard.type("rm new.log")
    waiting.page.keyboard.press("Tab")
    assert waiting.page.evaluate(FOCUSED) == "Run edited"
    waiting.page.keyboard.press("Enter")
    waiting.until_idle(1)
    assert left(waiting) == ["old.log"]
