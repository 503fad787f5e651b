"""Which of many tools are meant by some words: an inverted index, ranked by BM25."""

from __future__ import annotations

import heapq
import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.agent.tool_search.vocabulary import SHORTEST_START, Vocabulary
from hermes_jupyter.agent.tool_search.words import is_spelled, joined, terms, weighted_terms

NAME, SOURCE, DESCRIPTION, PARAMETER, PARAMETER_TEXT = 3.0, 1.5, 1.0, 0.7, 0.3
"""How often a word counts where it stands."""
SATURATION = 1.2
"""``k1`` of BM25: how soon the same word once more adds nothing."""
LENGTH = 0.4
"""``b`` of BM25: how much a long text is held against a tool. Long schemas are often good ones."""
MAX_TERMS = 32
"""Of a query; the rarest count."""
MAX_STEPS = 15_000
"""Entries of the index to add up. After that, only the best so far are looked up."""
CANDIDATES = 128
LEAST = 0.1
"""Of the best match's score; what is below has little to do with the query."""
SURE = 1_000.0
"""A score above all others."""
MAX_DEPTH = 3
MAX_PARAMETERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolText:
    """What is known of a tool in words."""

    name: str
    source: str = ""
    """The toolset it belongs to."""
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    """Its JSON schema."""

    def fields(self) -> Iterator[tuple[str, float]]:
        """Each text, and how much its words count."""
        yield self.name, NAME
        yield self.source, SOURCE
        yield self.description, DESCRIPTION
        yield from _parameter_texts(self.parameters, MAX_DEPTH)


@dataclass(frozen=True, slots=True)
class _Postings:
    """The tools that a term is in, in order, and what it adds to the score of each."""

    tools: array[int]
    scores: array[float]

    def of(self, tool: int) -> float:
        place = bisect_left(self.tools, tool)
        found = place < len(self.tools) and self.tools[place] == tool
        return self.scores[place] if found else 0.0


class ToolIndex:
    """Finds tools by words. Never changes, so that any thread may search it."""

    def __init__(self, tools: Iterable[ToolText]) -> None:
        self.tools = tuple(sorted(tools, key=lambda tool: tool.name))
        self._postings = _postings([_counts(tool) for tool in self.tools])
        self._vocabulary = Vocabulary(self._postings.keys())
        self._names = [joined(tool.name) for tool in self.tools]

    def search(self, query: str, limit: int) -> list[ToolText]:
        """The best matches, best first. A tool named in the query comes before all others."""
        scores = self._scores(query)
        enough = LEAST * max(scores, default=0.0)
        self._add_named(query, scores)
        least = max([enough, *heapq.nlargest(limit, scores)[limit - 1 :]])
        found = [number for number, score in enumerate(scores) if score >= least and score > 0]
        found.sort(key=lambda number: -scores[number])  # stable: equal ones stay in order of names
        return [self.tools[number] for number in found[:limit]]

    def _add_named(self, query: str, scores: list[float]) -> None:
        """Put a tool of just this name first; where no word is known, tools with it inside."""
        whole = joined(query)
        if whole in self._names:
            scores[self._names.index(whole)] += SURE
        elif len(whole) >= SHORTEST_START and not any(scores):
            for number, name in enumerate(self._names):
                scores[number] = float(whole in name)

    def _scores(self, query: str) -> list[float]:
        """A score for each tool."""
        scores = [0.0] * len(self.tools)
        found = self._meant(query)
        steps = 0
        candidates: Sequence[int] = ()
        for weight, postings in found:
            if steps > MAX_STEPS:
                candidates = candidates or heapq.nlargest(
                    CANDIDATES, range(len(scores)), scores.__getitem__
                )
                for tool in candidates:
                    scores[tool] += weight * postings.of(tool)
                continue
            steps += len(postings.tools)
            for tool, score in zip(postings.tools, postings.scores, strict=True):
                scores[tool] += weight * score
        return scores

    def _meant(self, query: str) -> list[tuple[float, _Postings]]:
        """What to add up: rare terms first, since they tell most."""
        weights: dict[str, float] = {}
        for term, weight in weighted_terms(query).items():
            forms = self._vocabulary.forms(term) if is_spelled(term) else {term: 1.0}
            for form, surely in forms.items():
                weights[form] = max(weight * surely, weights.get(form, 0.0))
        there = [
            (weight, self._postings[term])
            for term, weight in weights.items()
            if term in self._postings
        ]
        there.sort(key=lambda each: len(each[1].tools))
        return there[:MAX_TERMS]


def _parameter_texts(schema: Any, depth: int) -> Iterator[tuple[str, float]]:
    """Names, descriptions and choices of the parameters, also those inside of others."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or depth == 0:
        return
    for name, about in list(properties.items())[:MAX_PARAMETERS]:
        yield str(name), PARAMETER
        if not isinstance(about, Mapping):
            continue
        if isinstance(text := about.get("description"), str):
            yield text, PARAMETER_TEXT
        if isinstance(choices := about.get("enum"), list):
            yield " ".join(map(str, choices[:MAX_PARAMETERS])), PARAMETER_TEXT
        yield from _parameter_texts(about, depth - 1)
        yield from _parameter_texts(about.get("items"), depth - 1)


def _counts(tool: ToolText) -> dict[str, float]:
    counts: dict[str, float] = {}
    for text, weight in tool.fields():
        for word_terms in terms(text):
            for term in word_terms:
                counts[term] = counts.get(term, 0.0) + weight
    return counts


def _postings(tools: Sequence[Mapping[str, float]]) -> dict[str, _Postings]:
    """By term. What BM25 can say before there is a query, it says here."""
    lengths = [sum(counts.values()) for counts in tools]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    gathered: dict[str, tuple[array[int], array[float]]] = {}
    for number, (counts, length) in enumerate(zip(tools, lengths, strict=True)):
        damping = SATURATION * (1 - LENGTH + LENGTH * length / (average or 1.0))
        for term, count in counts.items():
            if (entry := gathered.get(term)) is None:
                entry = gathered[term] = (array("L"), array("d"))
            entry[0].append(number)
            entry[1].append(count / (count + damping))
    return {
        term: _Postings(numbers, _times(_rarity(len(numbers), len(tools)), shares))
        for term, (numbers, shares) in gathered.items()
    }


def _rarity(having: int, of: int) -> float:
    """The weight of a term: the rarer, the more it tells."""
    return (SATURATION + 1) * math.log(1 + (of - having + 0.5) / (having + 0.5))


def _times(factor: float, values: array[float]) -> array[float]:
    return array("d", [factor * value for value in values])
