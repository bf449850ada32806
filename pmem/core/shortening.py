"""A text cut to a length, at a word's end."""


def shortened(text: str, most: int) -> str:
    """Cut a text at a word's end so that it has `most` characters, the ellipsis included.

    Args:
        text: One line.
        most: Characters at the most, at least two.
    """
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    head, _, _ = cut.rpartition(" ")
    return (head or cut).rstrip(" ,;:") + "…"
