"""A shop's history: forty edits of Python, TypeScript and Go, and what a reader says of each."""

from pathlib import Path
from typing import Final

from pmem.values.records import MemoryType
from tests.histories.steps import (
    Change,
    Edit,
    Remembered,
    Step,
    append,
    lines,
    move,
    remove,
    rename,
    replace,
    together,
)

_BEGUN: Final = Path(__file__).with_name("shop_files")
FILES: Final = {
    path.relative_to(_BEGUN).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(_BEGUN.rglob("*.txt"))
}
"""The files with which the history begins, in three languages."""

MEMORIES: Final[dict[str, Remembered]] = {
    "retries": Remembered(
        "The payment vendor allows three retries", MemoryType.CONSTRAINT,
        "RETRIES", "RETRIES", "RETRIES",
    ),
    "window": Remembered(
        "Refunds are possible for a time", MemoryType.DECISION, "WINDOW_DAYS =", "WINDOW_DAYS =",
        "WINDOW_DAYS",
    ),
    "settle": Remembered(
        "The ledger is locked before the vendor is asked", MemoryType.DECISION,
        "def settle(", "ledger.unlock(order)", "Refunds.settle",
    ),
    "allowed": Remembered(
        "The last day of the window still counts", MemoryType.FACT,
        "def allowed(", "WINDOW_DAYS", "Refunds.allowed",
    ),
    "wait": Remembered(
        "Waiting without a limit blocked all workers", MemoryType.DEAD_END,
        "def wait(", "time.sleep(", "wait",
    ),
    "items": Remembered(
        "A cart holds fifty items, as the warehouse packs no more", MemoryType.CONSTRAINT,
        "MAX_ITEMS =", "MAX_ITEMS =", "MAX_ITEMS",
    ),
    "total": Remembered(
        "Tax is added to the sum, not to each line", MemoryType.DECISION,
        "function total(", "return round(", "total",
    ),
    "add": Remembered(
        "Adding to a cart makes a new array, since views compare by identity", MemoryType.DECISION,
        "const add", "return ", "add",
    ),
    "round": Remembered(
        "Amounts are rounded to cents", MemoryType.FACT, "function round(", "return Math.", "round"
    ),
    "max": Remembered(
        "The broker drops a job after five tries", MemoryType.FACT,
        "maxRetries", "maxRetries", "maxRetries",
    ),
    "ack": Remembered(
        "The broker waits half a minute for an answer", MemoryType.FACT,
        "ackTimeout", "ackTimeout", "ackTimeout",
    ),
    "push": Remembered(
        "A full queue refuses jobs, so that callers slow down", MemoryType.DECISION,
        "Queue) Push(", "return nil", "Queue.Push",
    ),
    "pop": Remembered(
        "The oldest job comes first", MemoryType.FACT, "Queue) Pop(", "return job,", "Queue.Pop"
    ),
    "money": Remembered(
        "Amounts are decimals, never floats", MemoryType.CONSTRAINT, places=("billing/**",)
    ),
    "views": Remembered(
        "Carts are never changed in place", MemoryType.PREFERENCE, places=("web/**/*.ts",)
    ),
    "goroutines": Remembered(
        "A goroutine for each job ran out of memory", MemoryType.DEAD_END,
        places=("/server/queue.go",)
    ),
}  # fmt: skip
"""What is remembered, by a name for each; the last three apply to files, and rest on nothing."""

_REFUNDS: Final = "billing/refunds.py"
_REFUNDING: Final = "billing/refunding.py"
_CART: Final = "web/src/cart.ts"
_FORMAT: Final = "web/src/format.ts"
_BASKET: Final = "web/src/basket.ts"
_QUEUE: Final = "server/queue.go"
_BACKLOG: Final = "server/backlog.go"
_POPPING: Final = "server/pop.go"
_POP: Final = """\

// Pop takes the oldest job.
func (q *Queue) Pop() (Job, error) {
	if len(q.jobs) == 0 {
		return Job{}, errors.New("queue is empty")
	}
	job := q.jobs[0]
	q.jobs = q.jobs[1:]
	return job, nil
}
"""


def _step(title: str, change: Change, edit: Edit, hits: str = "", rules: str = "") -> Step:
    return Step(title, change, edit, frozenset(hits.split()), frozenset(rules.split()))


def _half_indented(line: str) -> str:
    code = line.lstrip(" ")
    return " " * ((len(line) - len(code)) // 2) + code


def _with_tabs(line: str) -> str:
    code = line.lstrip(" ")
    return "\t" * ((len(line) - len(code)) // 2) + code


def _with_spaces(line: str) -> str:
    code = line.lstrip("\t")
    return "    " * (len(line) - len(code)) + code


STEPS: Final[tuple[Step, ...]] = (
    _step(
        "Say more in the module's docstring", Change.ELSEWHERE,
        replace(_REFUNDS, ('of orders."""\n\nimport', 'of orders, whole or in part."""\n\nimport')),
        rules="money",
    ),
    _step(
        "Align the constants", Change.FORMAT,
        replace(
            _REFUNDS, ("RETRIES = 3", "RETRIES     = 3"), ("FEE = D", "FEE         = D")
        ),
    ),
    _step(
        "Break a long signature, with a comma at its end", Change.FORMAT,
        replace(
            _REFUNDS,
            (
                "def settle(self, order, amount):",
                "def settle(\n        self,\n        order,\n        amount,\n    ):",
            ),
        ),
    ),
    _step(
        "Retry five times", Change.MEANING, replace(_REFUNDS, ("RETRIES     = 3", "RETRIES = 5")),
        hits="retries", rules="money",
    ),
    _step(
        "Add a report", Change.ELSEWHERE,
        append(_REFUNDS, "\n\ndef report(refunds):\n    return len(refunds)\n"), rules="money",
    ),
    _step(
        "Use single quotes", Change.FORMAT,
        replace(
            _REFUNDS, ('"0.25"', "'0.25'"), ('"nothing to give back"', "'nothing to give back'")
        ),
    ),
    _step(
        "Do not lock the ledger any more", Change.MEANING,
        replace(_REFUNDS, ("        self.ledger.lock(order)\n", "")), hits="settle", rules="money",
    ),
    _step(
        "Indent by two blanks", Change.FORMAT, lines(_REFUNDS, _half_indented),
    ),
    _step(
        "Put the waiting above the class", Change.MOVE,
        move(
            _REFUNDS, "\n\ndef wait(attempt):\n  time.sleep(min(60, 2**attempt))\n",
            _REFUNDS, "\n\nclass Refunds:",
        ),
        rules="money",
    ),
    _step(
        "Refund for a month", Change.MEANING,
        replace(_REFUNDS, ("WINDOW_DAYS = 90", "WINDOW_DAYS = 30")), hits="window", rules="money",
    ),
    _step(
        "Give the waiting a file of its own", Change.MOVE,
        together(
            append("billing/patience.py", '"""Patience."""\n\nimport time\n'),
            move(
                _REFUNDS, "\n\ndef wait(attempt):\n  time.sleep(min(60, 2**attempt))\n",
                "billing/patience.py",
            ),
        ),
        rules="money",
    ),
    _step("Rename the file", Change.MOVE, rename(_REFUNDS, _REFUNDING)),
    _step(
        "Rename the file back, and leave the last day out", Change.MEANING,
        together(rename(_REFUNDING, _REFUNDS), replace(_REFUNDS, ("<= WINDOW", "< WINDOW"))),
        hits="allowed", rules="money",
    ),
    _step(
        "Unlock only when all went well", Change.MEANING,
        replace(
            _REFUNDS,
            (
                "    finally:\n      self.ledger.unlock(order)",
                "    finally:\n      pass\n    self.ledger.unlock(order)",
            ),
        ),
        hits="settle", rules="money",
    ),
    _step(
        "Wait without a limit again", Change.MEANING,
        replace("billing/patience.py", ("min(60, 2**attempt)", "2**attempt")),
        hits="wait", rules="money",
    ),
    _step(
        "Import one name more", Change.ELSEWHERE,
        replace(_CART, ("{ round }", "{ round, show }")), rules="views",
    ),
    _step(
        "Indent by tabs", Change.FORMAT, lines(_CART, _with_tabs),
    ),
    _step(
        "Indent by blanks again", Change.FORMAT,
        lines(_CART, lambda line: "  " * (len(line) - len(line.lstrip("\t"))) + line.lstrip("\t")),
    ),
    _step(
        "Break the parameters of a function", Change.FORMAT,
        replace(
            _CART,
            (
                "const add = (lines: Line[], line: Line): Line[] => {",
                "const add = (\n  lines: Line[],\n  line: Line,\n): Line[] => {",
            ),
        ),
    ),
    _step(
        "Pack a hundred items", Change.MEANING,
        replace(_CART, ("MAX_ITEMS = 50", "MAX_ITEMS = 100")), hits="items", rules="views",
    ),
    _step(
        "Add a field to the line", Change.ELSEWHERE,
        replace(_CART, ("  price: number;\n", "  price: number;\n  note?: string;\n")),
        rules="views",
    ),
    _step(
        "Tax each line", Change.MEANING,
        replace(
            _CART,
            ("sum += line.price * line.count", "sum += line.price * line.count * (1 + TAX)"),
            ("round(sum * (1 + TAX))", "round(sum)"),
        ),
        hits="total", rules="views",
    ),
    _step(
        "Change another rate", Change.ELSEWHERE,
        replace(_CART, ("TAX = 0.19", "TAX = 0.16")), rules="views",
    ),
    _step(
        "Use single quotes in the cart", Change.FORMAT,
        replace(_CART, ('"the cart is full"', "'the cart is full'"), ('"./format"', "'./format'")),
    ),
    _step(
        "Change the cart in place", Change.MEANING,
        replace(_CART, ("return [...lines, line];", "lines.push(line);\n  return lines;")),
        hits="add", rules="views",
    ),
    _step(
        "Put rounding at the end of its file, below a new function", Change.MOVE,
        lambda files: files.update(
            {_FORMAT: "export const show = (v: number) => `${v}`;\n\n" + files[_FORMAT]}
        ),
        rules="views",
    ),
    _step(
        "Round to whole amounts", Change.MEANING,
        replace(_FORMAT, ("Math.round(value * 100) / 100", "Math.round(value)")),
        hits="round", rules="views",
    ),
    _step("Rename the cart", Change.MOVE, rename(_CART, _BASKET)),
    _step(
        "Write windows line ends", Change.FORMAT,
        lambda files: files.update({_BASKET: files[_BASKET].replace("\n", "\r\n")}),
    ),
    _step(
        "Align the constants of Go", Change.FORMAT,
        replace(_QUEUE, ("maxRetries = 5", "maxRetries   = 5"), ("ackTimeout =", "ackTimeout   =")),
    ),
    _step(
        "Add a constant", Change.ELSEWHERE,
        replace(_QUEUE, ("maxRetries   = 5", "maxJobs      = 1000\n\tmaxRetries   = 5")),
        rules="goroutines",
    ),
    _step(
        "Try a job eight times", Change.MEANING,
        replace(_QUEUE, ("maxRetries   = 5", "maxRetries   = 8")), hits="max", rules="goroutines",
    ),
    _step(
        "Name the limit", Change.MEANING,
        replace(_QUEUE, ("len(q.jobs) >= 1000", "len(q.jobs) >= maxJobs")),
        hits="push", rules="goroutines",
    ),
    _step(
        "Give the taking of jobs a file of its own", Change.MOVE,
        together(append(_POPPING, "package server\n"), move(_QUEUE, _POP, _POPPING)),
        rules="goroutines",
    ),
    _step("Indent Go by blanks", Change.FORMAT, lines(_QUEUE, _with_spaces)),
    _step(
        "Count those that wait", Change.ELSEWHERE,
        append(_QUEUE, "\nfunc (q *Queue) Size() int { return len(q.jobs) }\n"), rules="goroutines",
    ),
    _step(
        "Take the newest job", Change.MEANING,
        replace(
            _POPPING,
            ("job := q.jobs[0]", "job := q.jobs[len(q.jobs)-1]"),
            ("q.jobs = q.jobs[1:]", "q.jobs = q.jobs[:len(q.jobs)-1]"),
        ),
        hits="pop",
    ),
    _step(
        "Wait a minute and rename the file", Change.MEANING,
        together(
            replace(_QUEUE, ("30 * time.Second", "60 * time.Second")), rename(_QUEUE, _BACKLOG)
        ),
        hits="ack", rules="goroutines",
    ),
    _step(
        "Say more in the readme", Change.ELSEWHERE, append("README.md", "\nIt ships them, too.\n"),
    ),
    _step(
        "Take the ledger's lock out", Change.ELSEWHERE,
        remove("billing/ledger.py"), rules="money",
    ),
)  # fmt: skip
"""What happens, one commit each."""
