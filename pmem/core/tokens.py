"""How many tokens a text costs a model, estimated without any vocabulary."""


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text: its UTF-8 bytes divided by four, rounded up.

    For English prose this is the usual rule of four characters a token; counting bytes
    keeps scripts that take several bytes a character from being underestimated.

    Args:
        text: Any text.
    """
    return (len(text.encode("utf-8", "replace")) + 3) // 4
