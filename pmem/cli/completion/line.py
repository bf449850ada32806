"""What a command line that is being typed asks for next; only the table of commands is needed."""

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Table = dict[str, Any]
    Param = dict[str, Any]


class Asked:
    """What is to be completed.

    Args:
        command: The command's words; empty before there is one.
        incomplete: What was typed of the value so far.
        before: What stands in the same word before it, such as `--type=`.
        names: Commands that may stand here.
        flags: Options that may stand here, and what they do.
        param: The option or argument whose value stands here; None where there is none.
        given: The values of options given so far, the last one by its flag.
        positionals: The words given so far that are arguments.
    """

    def __init__(
        self,
        *,
        command: str,
        incomplete: str,
        before: str = "",
        names: "dict[str, str] | None" = None,
        flags: "dict[str, str] | None" = None,
        param: "Param | None" = None,
        given: "dict[str, str] | None" = None,
        positionals: "Sequence[str]" = (),
    ) -> None:
        self.command, self.incomplete, self.before = command, incomplete, before
        self.names, self.flags, self.param = names or {}, flags or {}, param
        self.given, self.positionals = given or {}, positionals


def asked(table: "Table", words: "Sequence[str]") -> Asked:
    """Tell what the last word of a command line is to become.

    Args:
        table: All commands, as `pmem.cli.manual.reference` has them.
        words: The words after the program's name; the last is the one being typed, maybe empty.
    """
    line = _Line(table)
    for word in words[:-1]:
        line.take(word)
    return line.ask(words[-1] if words else "")


class _Line:
    """The words of a line so far."""

    def __init__(self, table: "Table") -> None:
        self._commands: Table = table["commands"]
        self._shared: list[Param] = table["options"]
        self._top = [name for part in table["sections"] for name in part["commands"]]
        self.command = ""
        self._positionals: list[str] = []
        self._given: dict[str, str] = {}
        self._waiting: Param | None = None
        self._is_past_options = False

    def take(self, word: str) -> None:
        if self._waiting is not None:
            self._note(self._waiting, word)
            self._waiting = None
        elif self._is_past_options or not word.startswith("-") or word == "-":
            self._take_positional(word)
        elif word == "--":
            self._is_past_options = True
        else:
            flag, sign, value = word.partition("=")
            param = self._option(flag)
            if param is not None and sign:
                self._note(param, value)
            elif param is not None and param["type"] == "flag":
                self._note(param, "")
            else:
                self._waiting = param

    def ask(self, word: str) -> Asked:
        if self._waiting is not None:
            return self._asked(word, param=self._waiting)
        flag, sign, value = word.partition("=")
        if not self._is_past_options and word.startswith("-"):
            if sign:
                return self._asked(value, before=f"{flag}=", param=self._option(flag))
            return self._asked(word, flags=self._flags())
        names = self._members() if not self._positionals else []
        summaries = {name: self._summary(name) for name in names}
        return self._asked(word, names=summaries, param=self._argument())

    def _asked(self, incomplete: str, **more: "Any") -> Asked:
        return Asked(
            command=self.command,
            incomplete=incomplete,
            given=self._given,
            positionals=self._positionals,
            **more,
        )

    def _take_positional(self, word: str) -> None:
        name = f"{self.command} {word}".strip()
        if not self._positionals and word in self._members():
            self.command = name
            return
        default = self._entry().get("default")
        if default:
            self.command = f"{self.command} {default}"
        self._positionals.append(word)

    def _entry(self) -> "dict[str, Any]":
        return self._commands.get(self.command, {})  # type: ignore[no-any-return]

    def _members(self) -> list[str]:
        return self._top if not self.command else self._entry().get("commands", [])

    def _summary(self, name: str) -> str:
        entry = self._commands.get(f"{self.command} {name}".strip(), {})
        return str(entry.get("summary", ""))

    def _default_entry(self) -> "dict[str, Any]":
        """Return the command that is meant: a group's default where none was named."""
        default = self._entry().get("default")
        return self._commands[f"{self.command} {default}"] if default else self._entry()

    def _argument(self) -> "Param | None":
        arguments = self._default_entry().get("arguments", [])
        place = len(self._positionals)
        if place < len(arguments):
            return arguments[place]  # type: ignore[no-any-return]
        return arguments[-1] if arguments and arguments[-1]["repeatable"] else None

    def _options(self) -> "list[Param]":
        return [*self._default_entry().get("options", ()), *self._shared]

    def _option(self, flag: str) -> "Param | None":
        return next((each for each in self._options() if flag in each["flags"]), None)

    def _flags(self) -> dict[str, str]:
        """Return the long options, and the short ones that have no other form."""
        found: dict[str, str] = {}
        for each in self._options():
            is_done = each["flags"][0] in self._given and not each["repeatable"]
            if is_done or (self.command and each["flags"] == ["--version"]):
                continue
            long = [flag for flag in each["flags"] if flag.startswith("--")]
            for flag in long or each["flags"]:
                found.setdefault(flag, each["help"])
        return found

    def _note(self, param: "Param", value: str) -> None:
        self._given[param["flags"][0]] = value
