"""Toolsets that configurations of Hermes Agent name, as data.

They are understood whether or not their tools are here: what is registered counts, the rest comes
to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools that are switched on and off together."""

    description: str
    tools: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    """Other toolsets that belong to this one."""
    without: tuple[str, ...] = ()
    """Toolsets whose tools never belong to it, whatever includes them."""


def _of(names: str, prefix: str = "") -> tuple[str, ...]:
    return tuple(prefix + name for name in names.split())


BROWSER = _of(
    "back click console get_images navigate press scroll snapshot type vision", prefix="browser_"
)
HOME_ASSISTANT = _of("call_service get_state list_entities list_services", prefix="ha_")
KANBAN = _of(
    "attach attach_url attachments block comment complete create heartbeat link list "
    "request_changes request_review show unblock",
    prefix="kanban_",
)
REINFORCEMENT = _of(
    "check_status edit_config get_current_config get_results list_environments list_runs "
    "select_environment start_training stop_training test_inference",
    prefix="rl_",
)
FEISHU_DRIVE = _of(
    "add_comment list_comment_replies list_comments reply_comment", prefix="feishu_drive_"
)
SPOTIFY = _of("albums devices library playback playlists queue search", prefix="spotify_")
YUANBAO = _of(
    "query_group_info query_group_members search_sticker send_dm send_sticker", prefix="yb_"
)

KNOWN: Mapping[str, Toolset] = {
    "browser": Toolset("Use a web browser.", BROWSER),
    "browser-cdp": Toolset("Steer a browser directly.", ("browser_cdp", "browser_dialog")),
    "coding": Toolset(
        "For work on code.",
        includes=(
            "file", "terminal", "web", "skills", "todo", "delegation", "vision", "browser",
            "memory", "session_search", "clarify", "code_execution",
        ),
    ),
    "computer_use": Toolset("Use mouse, keyboard and screen.", ("computer_use",)),
    "context_engine": Toolset("Tools of the context engine."),
    "cronjob": Toolset("Plan work for later.", ("cronjob",)),
    "debugging": Toolset("For finding faults.", includes=("terminal", "web", "file")),
    "discord": Toolset("Read and write in Discord.", ("discord",)),
    "discord_admin": Toolset("Look after a Discord server.", ("discord_admin",)),
    "feishu_doc": Toolset("Read Feishu documents.", ("feishu_doc_read",)),
    "feishu_drive": Toolset("Comment Feishu documents.", FEISHU_DRIVE),
    "homeassistant": Toolset("Look at and steer a smart home.", HOME_ASSISTANT),
    "image_gen": Toolset("Make images.", ("image_generate",)),
    "kanban": Toolset("Work off a board of tasks.", KANBAN),
    "messaging": Toolset("Write to people.", ("send_message",)),
    "project": Toolset(
        "Named workspaces.", ("project_create", "project_list", "project_switch")
    ),
    "rl": Toolset("Train models.", REINFORCEMENT),
    "search": Toolset("Search the web.", ("web_search",)),
    "spotify": Toolset("Play music.", SPOTIFY),
    "tts": Toolset("Speak.", ("text_to_speech",)),
    "video": Toolset("Look at videos.", ("video_analyze",)),
    "video_gen": Toolset(
        "Make videos.", ("video_generate", "xai_video_edit", "xai_video_extend")
    ),
    "web": Toolset("Search and read the web.", ("web_extract", "web_search")),
    "x_search": Toolset("Search X.", ("x_search",)),
    "yuanbao": Toolset("Use Yuanbao.", YUANBAO),
    "hermes-webhook": Toolset(
        "For messages from strangers: looks, and changes nothing.",
        ("clarify", "vision_analyze", "web_extract", "web_search"),
    ),
}  # fmt: skip

FORMER: Mapping[str, str] = {
    "browser_tools": "browser",
    "cronjob_tools": "cronjob",
    "file_tools": "file",
    "image_tools": "image_gen",
    "moa_tools": "moa",
    "rl_tools": "rl",
    "skills_tools": "skills",
    "terminal_tools": "terminal",
    "tts_tools": "tts",
    "vision_tools": "vision",
    "web_tools": "web",
}
"""What toolsets were called once, and what they are called now."""

PLATFORMS: Mapping[str, str] = {
    **dict.fromkeys(("hermes-acp", "hermes-api-server", "hermes-cron"), "headless"),
    **dict.fromkeys(
        _of(
            "bluebubbles cli dingtalk discord email feishu gateway homeassistant matrix mattermost "
            "qqbot signal slack sms telegram wecom wecom-callback weixin whatsapp yuanbao",
            prefix="hermes-",
        ),
        "notebook",
    ),
}
"""All that an agent has by default somewhere else, and the default that is nearest to it here."""
