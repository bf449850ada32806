"""Memories that give orders to the model that reads them, instead of stating what is so.

Made for precision: what a project asks of people and agents ("always run make check before a
commit") is no finding. What is found is a reason to look, and what is not found is no proof: no
rules detect every injection. Every pattern has bounded parts, so the time is linear in the text.
"""

import re
from collections.abc import Iterator
from typing import Final

from pmem.values.patterns import lazily

MOST_CHARACTERS: Final = 200_000
"""Of a text so many are looked at: no memory that pmem writes is longer."""

_BOUND: Final = "(?:earlier|previous|prior|preceding|above|foregoing|other|system|safety|original)"
_RULES: Final = (
    "(?:instructions?|prompts?|rules|guidelines|directions|directives|messages|context|commands)"
)
_MODEL: Final = "(?:ai|llm|language model|assistant|chatbot|claude|chatgpt|gpt|copilot|gemini)"
_THIS: Final = (
    "(?:message|memory|note|text|entry|record|document|file|line|content|context|fact|prompt"
    "|instruction|again|now|here)"
)
_HIDE: Final = "(?:tell|mention|reveal|show|inform|report|disclose|notify|say|alert)"
_WHOM: Final = "(?:the |any |your )?(?:user|users|human|humans|developer|operator|anyone|anybody)"
_SENT: Final = (
    "(?:conversation|system prompt|api keys?|secrets?|credentials?|passwords?|tokens?"
    "|environment variables?|env vars?|private keys?|ssh keys?|\\.env|chat history|memories)"
)

_PATTERNS: Final = {
    "tells the reader to drop its instructions": (
        r"\b(?:ignore|disregard|forget|override|bypass|discard|overrule)"
        rf" (?:(?:all|any|every|each|of|the|your|my|these|those|and) ){{0,5}}{_BOUND}"
        rf"(?: and {_BOUND})?(?: (?:user|system|safety|your|given|project))?"
        rf" {_RULES}\b",
        r"\b(?:ignore|disregard|forget|override) (?:(?:all|any|of|everything) ){0,3}"
        r"(?:your|you were|you have been) (?:(?:told|given|system|safety|initial) ){0,2}"
        rf"(?:{_RULES}|told|before|guardrails|training)\b",
        r"\b(?:ignore|forget|disregard) everything (?:above|before|you (?:were|have been|know))",
        r"\bdo not (?:follow|obey) (?:(?:any|the|your|of) ){0,3}"
        rf"(?:{_BOUND}|system|developer) {_RULES}\b",
        r"\bnew (?:system )?(?:instructions|prompt) ?(?::|follow|for the (?:ai|model|assistant))",
        r"\b(?:these|this|the following) (?:instructions?|rules?|message)"
        r" (?:supersedes?|overrides?|replaces?|takes? precedence over) (?:all|any|your|every)\b",
    ),
    "tells the reader who it is": (
        r"\b(?:from now on|henceforth),? you (?:are|will|must|shall|act|behave|should)\b",
        r"\byou are (?:now|no longer) (?:an? |the |in |bound |free |restricted )",
        rf"\byou are an? (?:\w{{1,20}} ){{0,2}}{_MODEL}\b",
        r"\b(?:act|behave|respond|pretend|roleplay) as (?:if you (?:are|were|had)"
        r"|(?:an? )?(?:unrestricted|unfiltered|jailbroken|root|dan\b))",
        r"\b(?:developer|god|dan|jailbreak|unrestricted) mode (?:is )?(?:enabled|on|activated)\b",
        r"\bas (?:an?|the) (?:ai|llm|language model)(?: \w{1,20})?,? you\b",
    ),
    "commands the reader": (
        r"\byou (?:must|have to|are required to|need to) (?:now |always |immediately |first "
        r"|silently |secretly |only )?(?:send|post|upload|email|reply|respond|say|obey|comply"
        r"|reveal|forward|exfiltrate|ignore)\b",
        r"\byou (?:must|have to|are required to|need to) (?:now |always |immediately |first "
        r"|silently |secretly )?(?:run|execute|call|invoke|output|print|write|delete|download"
        r"|fetch|curl|install|use)\b[^\n]{0,80}"
        r"(?:\btool\b|payload|script at|the (?:script|command) below|answering|respond"
        r"|reply|curl |sudo |rm -|https?:|example\.)",
        r"\byou are (?:ordered|instructed|commanded) to \w",
        rf"\b(?:{_MODEL})s?(?: models?)?(?:,|:| reading this|, when you)"
        r" (?:please )?(?:you|run|execute|call|send|ignore|do not|don't|must|read|fetch|upload)\b",
        r"\b(?:attention|note|message|notice|instructions?),?(?: to| for)? (?:the |all |any )?"
        rf"(?:ai )?(?:{_MODEL}|agent|model)s?(?: reading| that reads?|:|, you)",
        r"\bwhen(?:ever)? you (?:read|see|process|load|receive|recall) this"
        rf"(?: {_THIS}){{0,2}},? (?:you |please |immediately |always )?(?:\w{{1,12}} )?"
        r"(?:run|execute|call|send|post|reply|respond|output|write|delete|fetch|ignore|append|add"
        r"|upload|email|forward|say|must|should)",
        r"\b(?:silently|secretly|covertly|quietly|without asking|without telling)(?: \w{1,20}){0,4}"
        r" (?:run|execute|send|upload|post|email|forward|add|append|insert|include|delete|install"
        r"|exfiltrate|copy|disable)\b",
        r"(?<!never )(?<!not )(?<!n't )\b(?:run|execute|send|upload|post|email|forward|add|append"
        r"|insert|delete|install|copy|disable)\b[^.\n]{1,80} without (?:asking|telling"
        r"|informing|notifying|mentioning)"
        rf" (?:it to )?{_WHOM}",
    ),
    "tells the reader to hide something": (
        rf"\bwithout (?:asking|telling|informing|notifying) {_WHOM},? (?:please )?(?:run|execute"
        r"|send|upload|add|append|insert|delete|install|copy|disable)\b",
        rf"\b(?:do not|don't|never|must not)(?: ever)? {_HIDE}(?: (?:this|that|it|about|to)){{0,3}}"
        rf" {_WHOM}\b(?! that (?!you))"
        r"(?! (?:(?:the|an?|any) )?(?:internal |raw |full )?(?:id|name|data|input|error"
        r"|account|agent|interface|role|table|group|stack trace|traceback))",
        rf"\b(?:keep|hide) (?:this|it|these instructions?) (?:secret |hidden )?from {_WHOM}\b",
    ),
    "asks the reader for what it must not give": (
        r"\b(?:send|post|upload|email|forward|exfiltrate|leak|transmit|submit)"
        rf" (?:(?:all|any|the|your|their|every|user|user's|contents? of|of|this|whole|full|entire)"
        rf" ){{0,4}}{_SENT}(?: (?:\w|[-/.]){{1,30}}){{0,6}} (?:to|at)"
        r" (?:http|[\w.+-]{1,64}@)",
        r"\b(?:reveal|print|repeat|output|leak|disclose|show|give)"
        r" (?:me |us )?(?:your|the) (?:(?:hidden|full|secret|initial|entire|whole) ){0,2}"
        r"(?:system prompt|system message|initial instructions)\b",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&]\w{1,30}=(?:\{|<|%7B|\$)",
        r"\b(?:curl|wget)\b[^\n|]{1,200}\| ?(?:sudo )?(?:ba|z|da)?sh\b[^\n]{0,80}"
        r"\b(?:you|assistant|agent|model)\b",
    ),
    "has the markup of a conversation or of a tool call": (
        r"<\|(?:im_start|im_end|system|user|assistant|end|endoftext|start_header_id"
        r"|end_header_id|eot_id|tool_call|begin_of_text)\|>",
        r"\[/?INST\]|<</?SYS>>",
        r"</?(?:antml:)?(?:function_calls?|invoke|tool_calls?|tool_use|tool_result"
        r"|function_results|parameter name=)[^>\n]{0,80}>",
        r"</?(?:system|system-reminder|system_prompt|assistant|human|untrusted|instructions)>",
        r"^(?:#{1,6} |\*{1,2})?(?:system|assistant|human)(?: (?:prompt|message))?\*{0,2}:"
        r" {0,3}(?:you (?!need)|ignore|the user|override|new |disregard|i (?:will|must))",
        r"\{\s{0,5}[\"'](?:tool_calls?|function_call|tool_use)[\"']\s{0,5}:",
        r"[\"']role[\"']\s{0,5}:\s{0,5}[\"'](?:system|assistant|tool)[\"']\s{0,5},"
        r"\s{0,5}[\"']content[\"']",
    ),
}
"""What each finding says, and the patterns that it is made of; cases aside."""

_SIGNS: Final = {
    "tells the reader to drop its instructions": (
        *("ignore", "disregard", "forget", "override", "bypass", "discard", "overrule"),
        *("do not follow", "do not obey", "new system ", "new instructions", "new prompt"),
        *("supersede", "replace", "precedence over"),
    ),
    "tells the reader who it is": (
        *("you", "act as ", "behave as ", "respond as ", "pretend as ", "roleplay as ", " mode "),
    ),
    "commands the reader": (
        *("you", "without ", "silently ", "secretly ", "covertly ", "quietly ", " reading"),
        *("ai,", "ai:", "ai ", "ais,", "ais:", "ais ", "llm", "language model", "assistant"),
        *("chatbot", "claude", "gpt", "copilot", "gemini", "agent:", "agents:", "model:"),
        *("models:", " that read"),
    ),
    "tells the reader to hide something": (
        *("user", "human", "developer", "operator", "anyone", "anybody"),
    ),
    "asks the reader for what it must not give": (
        *("http", "@", "system prompt", "system message", "initial instructions", "![", "curl"),
        "wget",
    ),
    "has the markup of a conversation or of a tool call": (
        *("<", "inst]", "system", "assistant", "human", "tool_call", "function_call"),
        *("tool_use", 'role"', "role'"),
    ),
}
"""What each of a finding's patterns needs one of, in small letters; most texts have none of them.

Looking for it takes a fiftieth of the time that the patterns take.
"""

_COMPILED: Final = {
    what: lazily("|".join(parts), re.IGNORECASE | re.MULTILINE) for what, parts in _PATTERNS.items()
}
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/]{40,4096}={0,2}")
_MOST_ENCODED: Final = 50
_HIDDEN: Final = re.compile(
    "[\u202a-\u202e\u2066-\u2069\U000e0020-\U000e007f\ufff0-\ufffb\x00-\x08\x0e-\x1f\x7f-\x9f]"
    "|[\u200b\u2060-\u2064\ufeff]{3}"
)
"""What nobody writes by accident: tags, directions, controls; zero width in a row."""


def instruction_in(text: str) -> str | None:
    """Say what in a text speaks to the model that reads it, such as `commands the reader`."""
    return next(_find_instructions(text[:MOST_CHARACTERS]), None)


def _find_instructions(text: str) -> Iterator[str]:
    if not text.isascii() and _HIDDEN.search(text):
        yield "has hidden characters"
    plain = _plain(text)
    small = plain.lower()
    for what, pattern in _COMPILED.items():
        if any(sign in small for sign in _SIGNS[what]) and pattern.search(plain):
            yield what
    for encoded in _decoded(text):
        if any(pattern.search(encoded) for pattern in _COMPILED.values()):
            yield "has instructions in base64"


def _plain(text: str) -> str:
    """Return a text as it reads: one space between words, straight quotes, nothing unseen."""
    from unicodedata import normalize

    if not text.isascii():
        text = normalize("NFKC", text).translate(_UNSEEN)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    joined = "\n".join(lines)
    return joined.replace("\n", " ") + "\n" + joined if "\n" in joined else joined


def _decoded(text: str) -> Iterator[str]:
    from base64 import b64decode

    for number, found in enumerate(_ENCODED.finditer(text)):
        if number == _MOST_ENCODED:
            return
        whole = found[0].rstrip("=")
        try:
            yield b64decode(whole + "=" * (-len(whole) % 4)).decode()
        except ValueError:
            continue


_UNSEEN: Final = str.maketrans(
    {"’": "'", "‘": "'", "İ": "i", "ı": "i"} | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff")
)
