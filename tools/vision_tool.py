"""Look at an image: with the model's own eyes, or with those of another model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from tools.files.consent import guard_reading
from tools.images.fetching import is_private
from tools.images.picture import MARK, Picture, UnusableImage
from tools.images.sources import DATA, WEB, path_of, picture_from
from tools.registry import registry, tool_error, tool_result
from tools.safety import Objection

SECONDS = 180.0
NO_EYES = (
    "no model here sees images: the user can name one that does with "
    "%config Hermes.vision_model = 'NAME'"
)

SCHEMA = {
    "name": "vision_analyze",
    "description": (
        "Look at an image. It may be a file (path), an http(s) address, a data: text, a variable "
        "of the notebook (a figure of matplotlib or plotly, a Pillow image, an array of pixels), "
        "or an image of this conversation (image:...). Figures that run_python shows come to you "
        "by themselves, if you can see. SVG is text: use read_file."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "image_url": {
                "type": "string",
                "description": "Path, address, data: text, name of a variable, or image:...",
            },
            "question": {"type": "string", "description": "What you want to know about it."},
        },
        "required": ["image_url", "question"],
    },
}


class Eyes(Protocol):
    """Who sees images in this turn."""

    @property
    def are_own(self) -> bool:
        """Does the model that has called see them itself?"""

    async def look(self, picture: Picture, question: str) -> str:
        """What another model says.

        Raises
        ------
        LookupError
            If there is none. For the model, as are all errors.
        """


async def vision_analyze(args: Mapping[str, Any], **context: Any) -> str:
    """Handler: the image itself, or what another model says of it."""
    eyes: Eyes | None = context.get("eyes")
    question = str(args["question"])
    try:
        picture = await picture_from(str(args["image_url"]), context)
    except UnusableImage as problem:
        return tool_error(str(problem), success=False)
    if eyes is None:
        return tool_error(NO_EYES, success=False, image=picture.words)
    if eyes.are_own and not context.get("by_hand"):
        context["on_image"](picture)
        return tool_result(success=True, image=picture.words, shown="below these results")
    try:
        analysis = await eyes.look(picture, question)
    except LookupError as problem:
        return tool_error(str(problem.args[0]), success=False, image=picture.words)
    return tool_result(success=True, image=picture.words, analysis=analysis)


def needs_a_model() -> tuple[bool, str]:
    """Lifted where the settings name a model that sees."""
    return False, NO_EYES


def objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """A machine of the user's own network is asked about, and so are files that hold secrets."""
    source = str(args["image_url"]).strip()
    if source.lower().startswith(WEB):
        host = urlsplit(source).hostname or ""
        if not is_private(host):
            return None
        return Objection(
            f"reads from {host}, a machine of your own network",
            source,
            f"reading images from {host} in this session",
        )
    if source.lower().startswith(DATA) or source.startswith(MARK):
        return None
    return guard_reading(path_of(source), context)


registry.register(
    name="vision_analyze",
    toolset="vision",
    schema=SCHEMA,
    handler=vision_analyze,
    emoji="👁️",
    check_fn=needs_a_model,
    guard_fn=objection,
    effects="read",
    timeout=SECONDS,
    trusted=False,
)
