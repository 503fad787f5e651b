"""Where the references of a schema lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from referencing.exceptions import NoSuchResource, Unresolvable, Unretrievable
from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY

from hermes_jupyter.road.coercion.dialect import REFERENCES, Links, subschemas


def link(schema: Any) -> Links:
    """Find where references lead; those that lead nowhere or in a circle are removed."""
    links = Links()
    resolver = EMPTY_REGISTRY.resolver_with_root(DRAFT202012.create_resource(schema))
    todo, seen, holders = [(schema, resolver)], set(), []
    while todo:
        current, resolver = todo.pop()
        if not isinstance(current, dict) or id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current.get("$id"), str):
            resolver = resolver.in_subresource(DRAFT202012.create_resource(current))
        for word in REFERENCES:
            if word in current and (found := _resolve(current, word, resolver, links)):
                holders.append(current)
                todo.append(found)
        todo += [(each, resolver) for each in subschemas(current)]
    for holder in holders:
        if _circular(holder, links):
            for word in REFERENCES:
                holder.pop(word, None)
            del links.targets[id(holder)]
    return links


def _resolve(holder: dict[str, Any], word: str, resolver: Any, links: Links) -> Any:
    try:
        found = resolver.lookup(holder[word])
    except (Unresolvable, NoSuchResource, Unretrievable, ValueError, TypeError, AttributeError):
        found = None
    if found is None or not isinstance(found.contents, dict | bool) or id(holder) in links.targets:
        del holder[word]
        return None
    links.targets[id(holder)] = found.contents
    return found.contents, found.resolver


def _circular(holder: dict[str, Any], links: Links) -> bool:
    """Whether the reference comes back to itself without a step into the value."""
    todo, seen = [links.targets[id(holder)]], set()
    while todo:
        current = todo.pop()
        if current is holder:
            return True
        if isinstance(current, dict) and id(current) not in seen:
            seen.add(id(current))
            todo += _in_place(current, links)
    return False


def _in_place(schema: Mapping[str, Any], links: Links) -> Iterator[Any]:
    if id(schema) in links.targets:
        yield links.targets[id(schema)]
    for word in ("allOf", "anyOf", "oneOf"):
        members = schema.get(word)
        yield from members if isinstance(members, list) else ()
    yield from (schema[word] for word in ("not", "if", "then", "else") if word in schema)
    dependent = schema.get("dependentSchemas")
    yield from dependent.values() if isinstance(dependent, dict) else ()
