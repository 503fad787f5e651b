"""Behind JupyterHub all works below a user's prefix, and no user reaches what is another's."""

from __future__ import annotations

import re

import hub as hubs
import pytest
from applications import free_port, with_labextension
from approvals_panel import Panel
from notebook_page import Page, write_notebook
from playwright.sync_api import expect

from hermes_jupyter.server.routing import ROUTES

pytestmark = pytest.mark.skipif(bool(hubs.missing()), reason=hubs.missing())
KEY = "sk-of-the-hub-0123456789"
PROMPT = "how long is it kept? until friday"
TOKEN = "from hermes_jupyter.api import desktop; print(desktop().hermes.settings.api_key)"
CELLS = (
    "%load_ext hermes_jupyter",
    f"%%agent\n{PROMPT}",
    "%%agent --background --new\ndelete the old log",
    "import os; print(os.environ)",
    "%hermes doctor",
    TOKEN,
    "%%agent --background --new\ntidy the logs",
)
LATER = 6
EXAMPLES = {r"([0-9A-Za-z_-]{1,80})": "0123-abcd", r"([a-z]+\.(?:css|js|svg))": "page.js"}


@pytest.fixture(scope="module")
def hub(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    running = hubs.Hub(
        folder,
        (free_port(), free_port(), free_port()),
        {"HUB_MODEL_KEY": KEY, "JUPYTER_PATH": str(with_labextension(folder / "jupyter"))},
        f"c.HermesServer.models = [{{'name': 'small', 'base_url': {model.url!r},"
        " 'key_env': 'HUB_MODEL_KEY'}]\n"
        "c.HermesServer.hidden_variables = ['JUPYTERHUB_API_TOKEN', 'JPY_API_TOKEN']\n",
    )
    yield running
    running.close()


@pytest.fixture(scope="module")
def as_user(browser, hub):
    """Open a browser of its own, in which a user is logged in."""

    def open_page(user, **about):
        page = browser.new_context(**about).new_page()
        hub.login(page, user)
        return page

    return open_page


@pytest.fixture(scope="module")
def anne(hub, as_user):
    """Her notebook in JupyterLab, after its first cells have run."""
    home = hub.home("anne")
    write_notebook(home / "a.ipynb", {f"c{n}": cell for n, cell in enumerate(CELLS)})
    (home / "old.log").write_text("x")
    page = as_user("anne", viewport={"width": 1100, "height": 900})
    notebook = Page(page, ("lab", hub.of("anne").rstrip("/"), home), "a.ipynb")
    notebook.open()
    for number in range(LATER):
        notebook.run_cell(number)
        notebook.until_idle(number)
    return notebook


def test_a_kernel_asks_the_hubs_model_and_has_no_key(hub, anne, model):
    expect(anne.output(1)).to_contain_text("It stays until Friday.")
    assert model.keys[-1] == f"Bearer {KEY}"
    seen = anne.output(3).inner_text()
    assert "HERMES_SERVER_URL" in seen
    assert KEY not in seen
    assert "_API_TOKEN" not in seen
    expect(anne.output(4)).to_contain_text(
        f"{hubs.PREFIX}user/anne/hermes/ at the address of this page lists what waits"
    )
    log = hub.log.read_text()
    assert "asked small (chat): done" in log
    assert KEY not in log
    assert PROMPT not in log


def test_what_waits_is_answered_on_a_phone_and_in_the_panel(hub, anne, as_user):
    phone = as_user("anne", viewport={"width": 390, "height": 844})
    phone.goto(f"{hub.of('anne')}hermes/")
    expect(phone.locator("#connection")).to_have_text("Connected")
    card = phone.locator("article.waits")
    expect(card).to_contain_text("a.ipynb")
    card.get_by_label("A note with a denial").fill("it is still needed")
    card.get_by_role("button", name="Deny").click()
    expect(phone.locator("#done")).to_contain_text("it is still needed")
    expect(anne.output(2)).to_contain_text("it is still needed")
    expect(phone.locator("#idle")).to_be_visible()  # the turn has ended
    anne.run_cell(LATER)
    expect(card).to_be_visible(timeout=30_000)
    panel = Panel(anne.page)
    expect(panel.card).to_have_count(1, timeout=30_000)  # that which was answered has gone
    panel.click("Allow once")
    expect(phone.locator("#done li")).to_have_count(2)  # it has heard of it
    expect(phone.locator("#idle")).to_be_visible()
    assert not (anne.root / "old.log").exists()


def test_another_user_reaches_nothing_of_it(hub, anne, as_user):
    bob = as_user("bob")
    bob.goto(f"{hub.of('bob')}hermes/")
    xsrf = bob.locator("meta[name=xsrf]").get_attribute("content")
    headers = {"X-XSRFToken": xsrf, "Content-Type": "application/json"}
    ask = bob.context.request
    for pattern in ROUTES:
        path = "/" if pattern == "/?" else pattern
        for part, example in EXAMPLES.items():
            path = path.replace(part, example)
        path = re.sub(r"\(([a-z]+)\|[a-z|]+\)", r"\1", path).replace("([a-z]{2,5})", "md")
        method = "POST" if path.endswith("/answer") else "GET"
        about = {"method": method, "headers": headers}
        about |= {"data": {"request": "r"}} if method == "POST" else {}
        own = ask.fetch(f"{hub.of('bob')}hermes{path}", **about)
        assert own.status in (200, 400, 404), path  # the socket: 400, this is no such request
        assert ask.fetch(f"{hub.of('anne')}hermes{path}", **about).status == 403, path
    closed = bob.evaluate(
        "url => new Promise(done => { const s = new WebSocket(url);"
        " s.onopen = () => done('open'); s.onclose = () => done('closed'); })",
        f"{hub.of('anne')}hermes/api/events".replace("http", "ws", 1),
    )
    assert closed == "closed"


def test_a_kernels_token_is_worth_nothing_at_another_users_server(hub, anne, as_user):
    token = anne.output(5).inner_text().strip()
    assert token.startswith("hermes-lease-")
    ask = as_user("bob").context.request
    headers = {"Authorization": f"Bearer {token}"}
    assert ask.get(f"{hub.of('anne')}hermes/v1/models", headers=headers).status == 200
    assert ask.get(f"{hub.of('bob')}hermes/v1/models", headers=headers).status == 401
    headers = {"Authorization": f"token {token}"}
    assert ask.get(f"{hub.of('anne')}api/kernels", headers=headers).status == 403
