"""Tables written as text, which reads better than a hundred quotes."""


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
