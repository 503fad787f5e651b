"""A cell that counts clicks on a button of its own while it is busy, and when it heard them."""

LABEL = "count"
CELL = """\
import asyncio, json, time, uuid
import ipywidgets
from IPython.display import display
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.runner import run_in_cell
owned, kernel, heard = set(), get_ipython().kernel, []
cell = Cell(kernel, owned)
name = uuid.uuid4().hex
cell.own_comm(name)
button = ipywidgets.Button(description='count', model_id=name)
text = ipywidgets.HTML('0 heard')
async def main():
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    def clicked(_):
        heard.append(time.monotonic())
        text.value = f'{len(heard)} heard'
        if len(heard) == CLICKS:
            loop.call_soon_threadsafe(done.set)
    button.on_click(clicked)
    display(ipywidgets.VBox([button, text]))
    print('ready', flush=True)
    await done.wait()
run_in_cell(cell, main, kernel=kernel, owned=owned, commands={})
print('heard', json.dumps(heard))
"""


def cell(clicks: int) -> str:
    """The cell's code; it ends after so many clicks."""
    return f"CLICKS = {clicks}\n{CELL}"
