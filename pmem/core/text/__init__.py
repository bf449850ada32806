"""One reading of text: terms, sentences, blocks, who speaks, commands and paths."""
