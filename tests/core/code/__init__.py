"""Program text: literals, folding, definitions, constants."""
