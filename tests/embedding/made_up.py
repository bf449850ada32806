"""A made-up embedder, run as a program: texts that name the same things point the same way.

Its first argument says what it does: `well`, or how it fails. What it is asked is appended to the
file that the second one names, a line each, and where it runs after that.
"""

import json
import os
import sys

THINGS = (("cat", "kitten", "tabby"), ("dog", "puppy", "terrier"), ("car", "van", "bus"))


def vector(text: str) -> list[float]:
    """Return how often a text names each thing, and a little of everything."""
    words = [word.strip(".,:?!'").lower() for word in text.split()]
    return [0.1 + sum(word in names for word in words) for names in THINGS]


def main() -> None:
    asked = json.loads(sys.stdin.read())
    manner, log = sys.argv[1:3]
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps({**asked, "where": os.getcwd()}) + "\n")
    with open(log, encoding="utf-8") as file:
        if manner == "tires" and len(file.readlines()) > 1:
            sys.exit("enough")
    vectors = [vector(text) for text in asked["input"]]
    if manner == "fails":
        print("the model is gone, sk-ant-api03-" + "Zq7Lw2Rk9Tb4Xn6Vd1Ms8Hf3" * 4, file=sys.stderr)
        sys.exit(3)
    if manner == "mumbles":
        print("well, near enough")
        return
    if manner == "forgets":
        vectors.append([1.0, 2.0, 3.0])
    if manner == "zeros":
        vectors = [[0.0, 0.0, 0.0] for _ in vectors]
    if manner == "huge":
        vectors = [[1e308, 1e308, 1e308] for _ in vectors]
    found = [{"index": place, "embedding": made} for place, made in enumerate(vectors)]
    print(json.dumps({"data": list(reversed(found))}))


if __name__ == "__main__":
    main()
