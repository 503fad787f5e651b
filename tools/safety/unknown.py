"""What a program without a model may do, by the look of its arguments.

It is the project's own, or one that nobody has described. What runs the project's code is not asked
about, so only words and options count that say of themselves that something is changed.
"""

from __future__ import annotations

import itertools
import re

from tools.safety.effect import Effect
from tools.safety.places import is_device, is_harmless_device, secret_in_word
from tools.safety.programs import reads_secret
from tools.safety.scene import Scene
from tools.safety.shell.values import Word

CHANGING = re.compile(
    r"(?i)(?:delete|destroy|remove|purge|drop|wipe|erase|kill|terminate|uninstall|install|publish|"
    r"upload|deploy|push|reset|flush|truncate|overwrite|rollback|revoke|prune|force-\w+|unlink|"
    r"shutdown|reboot|rm|del|nuke|clobber|format-disk|factory-reset)(?:[-_:]\w+)*|\w+[-_:](?:delete|"
    r"destroy|remove|purge|drop|wipe|install|uninstall|upload|publish|deploy|reset|kill|prune)"
)
CHANGING_OPTION = re.compile(
    r"--(?:delete(?:-\w+)*|remove(?:-\w+)*|purge|force(?:-\w+)*|overwrite|in-?place|destroy|wipe|"
    r"uninstall|install|upload|publish|deploy|exec|yes-i-\w+|apply|write|prune|truncate|replace|drop|"
    r"reset|no-dry-run|clobber|(?:un)?install-\w+|delete|kill)(?:=.*)?"
)
OUTPUT_OPTION = re.compile(
    r"--(?:out(?:put)?(?:-?file)?|outfile|save|export)(?:=.+)?|-o(?:ut(?:put|file)?)?"
)
FORMAT = re.compile(
    r"-.*|/dev/std\w+|/dev/null|json\S*|ya?ml|table|wide|text|csv|tsv|name|xml|md|html|plain|"
)
FIRST = re.compile(
    r"(?:apply|write|set|unset|enable|disable|stop|restart|create|submit|cancel|migrate|restore|"
    r"rename|revert|login|logout|update|upgrade|add|send|unmount|eject|import|revoke|expire|evict|"
    r"abort|suspend|resume|scale|drain|promote|transfer|rotate|attach|detach)(?:[-:]\w+)*"
)
"""Changes something, as the first word behind the name of a program."""
MADE = re.compile(
    r"(?i)[^-=].*\.(?:png|jpe?g|gif|svg|webp|tiff?|bmp|ico|eps|pdf|ps|html?|docx?|odt|epub|pptx?|"
    r"xlsx?|mp[34]|wav|flac|ogg|opus|webm|mkv|mov|avi|m4a|zip|gz|bz2|xz|zst|7z|tar|tgz|iso|nc|h5|"
    r"hdf5|parquet|feather|arrow|npy|npz|bam|vcf|bed|shp|gpkg|geojson|onnx|gguf|pt|safetensors|stl|"
    r"obj|ply|wasm|so|o|a|exe|bin|db|sqlite3?)"
)
"""The name of what a conversion makes."""
HOSTS = frozenset(("--host", "--bind", "--ip", "--address", "--listen", "-b", "-H", "--addr"))
EVERYWHERE = frozenset(("0.0.0.0", "::", "[::]", "*"))
WITH_ENDING = re.compile(r"[^-=].*\.\w{1,9}")


def effects_of_unknown(head: str, name: str, given: list[Word], scene: Scene) -> list[Effect]:
    """Of a call of the program written ``head``."""
    texts = [word.text for word in given]
    if "--help" in texts or "--dry-run" in texts or "--version" in texts[:1]:
        return []
    effects = [reads_secret(s, scene) for text in texts if (s := secret_in_word(text, scene))]
    for number, text in enumerate(texts):
        if text.startswith("-"):
            value = text.partition("=")[2] or next(iter(texts[number + 1 :]), "")
            if OUTPUT_OPTION.fullmatch(text) and not FORMAT.fullmatch(value):
                effects.append(Effect(f"may overwrite {value}", kind="writes", targets=(value,)))
            if CHANGING_OPTION.fullmatch(text):
                effects.append(Effect(f"runs {name} with {text}", kind="unclear"))
        elif number < 4 and CHANGING.fullmatch(text) and "/" not in text:
            effects.append(Effect(f"runs {name} {text}", kind="unclear"))
    if "/" not in head and "." not in head:  # a script of the project has either
        effects += _of_installed(name, texts)
    for text in texts:
        if text.startswith("/dev/") and is_device(text) and not is_harmless_device(text):
            effects.append(Effect(f"gives {name} the device {text}", kind="system"))
    return effects


def _listens(texts: list[str]) -> bool:
    pairs = itertools.pairwise(text for text in " ".join(texts).replace("=", " ").split())
    return any(name in HOSTS and value in EVERYWHERE for name, value in pairs)


def _of_installed(name: str, texts: list[str]) -> list[Effect]:
    effects = []
    if _listens(texts):
        effects.append(Effect(f"{name} serves to the network", kind="listens"))
    if texts and FIRST.fullmatch(texts[0]):
        effects.append(Effect(f"runs {name} {texts[0]}", kind="unclear"))
    files = [text for text in texts if WITH_ENDING.fullmatch(text)]
    if len(files) > 1 and files[-1] == texts[-1] and MADE.fullmatch(files[-1]):
        made = files[-1]
        if _ending(made) != _ending(files[-2]):
            effects.append(Effect(f"may overwrite {made}", kind="writes", targets=(made,)))
    return effects


def _ending(text: str) -> str:
    return text.rpartition(".")[2].lower()
