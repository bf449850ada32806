"""What a history holds reads as words, never as the record that keeps it."""

import pytest

from pmem.core.history_values import say_value

CITED = {"file": "src/fees.py", "lines": [3, 3], "digest": "d554af42-1", "blob": "git:40fb"}
WENT = {"at": "2026-11-19T14:00:00Z", "by": "Ben", "verdict": "bad", "text": "Outlook throttled"}
SETTLED = {"at": "2026-11-19T14:00:00Z", "reason": "allowed since May"}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("citations", [CITED, {**CITED, "symbol": "CAP=1"}], "src/fees.py:3, src/fees.py::CAP=1"),
        ("outcomes", [WENT], "bad 2026-11-19: Outlook throttled"),
        ("outcomes", [], "none"),
        ("settled", SETTLED, "at 2026-11-19T14:00:00Z, reason allowed since May"),
        ("relationships", [{"type": "related_to", "target": "mx0km24f-nldfusiv"}],
         "related to nldfusiv"),
        ("pinned", True, "yes"),
        ("subject", None, "not set"),
    ],
)  # fmt: skip
def test_a_value_of_a_history_reads_as_words(name: str, value: object, said: str) -> None:
    assert say_value(name, value, 200) == said
