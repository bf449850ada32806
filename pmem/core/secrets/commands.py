"""Passwords in the command lines of well-known programs: `mysql -pX`, `redis-cli -a X`."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pmem.core.secrets.false_positives import is_password, is_token, is_usual
from pmem.core.secrets.secret import Secret


class Options(NamedTuple):
    """How a program takes a password.

    `apart` are options with the password after them, `glued` those with it in the same word.
    After `named`, `parted` by a sign, come a user and the password. `last` says that the
    password is the last word, where that word stands among the others. Where there is an `only`,
    the options mean a password only once that word came.
    """

    apart: tuple[str, ...] = ()
    glued: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    parted: str = ""
    last: tuple[str, ...] = ()
    only: str = ""


_MYSQL: Final = Options(glued=("-p",))
_LOGIN: Final = Options(apart=("-p", "--password"), last=("login",), only="login")
_LDAP: Final = Options(apart=("-w",))
_MONGO: Final = Options(apart=("-p",))
_CAPITAL: Final = Options(apart=("-P",))
_SAMBA: Final = Options(named=("-U", "--user"), parted="%")
_ORACLE: Final = Options(named=("",), parted="/")
_STORES: Final = Options(apart=("-storepass", "-keypass", "-srcstorepass", "-deststorepass"))
_PROGRAMS: Final[dict[str, Options]] = {
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh"), _MYSQL),
    **dict.fromkeys(("mariadb", "mariadb-dump", "mycli", "xtrabackup"), _MYSQL),
    **dict.fromkeys(("7z", "7za", "7zz"), _MYSQL),
    **dict.fromkeys(("docker", "podman", "nerdctl", "buildah", "skopeo", "helm"), _LOGIN),
    **dict.fromkeys(("oras", "crane", "az", "oc", "cf", "vault"), _LOGIN),
    **dict.fromkeys(("redis-cli", "valkey-cli"), Options(apart=("-a", "--pass"))),
    **dict.fromkeys(("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami"), _LDAP),
    **dict.fromkeys(("mongo", "mongosh", "mongodump", "mongorestore", "mongoexport"), _MONGO),
    **dict.fromkeys(("mongoimport", "cqlsh", "rdesktop", "psexec"), _MONGO),
    **dict.fromkeys(("sqlcmd", "bcp", "ipmitool", "mosquitto_pub", "mosquitto_sub"), _CAPITAL),
    **dict.fromkeys(("zip", "unzip"), _CAPITAL),
    **dict.fromkeys(("plink", "pscp", "psftp"), Options(apart=("-pw",))),
    **dict.fromkeys(("keytool", "jarsigner"), _STORES),
    **dict.fromkeys(("smbclient", "rpcclient", "smbget"), _SAMBA),
    **dict.fromkeys(("sqlplus", "expdp", "impdp"), _ORACLE),
    **dict.fromkeys(
        ("altool", "notarytool", "security"), Options(apart=("-p", "--password", "-w"))
    ),
    **dict.fromkeys(("schtasks", "signtool"), Options(apart=("/rp", "/p", "/RP", "/P"))),
    "wandb": _LOGIN,
    "openssl": Options(apart=("-k", "-K")),
    "lftp": Options(named=("-u",), parted=","),
    "htpasswd": Options(last=("-b", "-nb", "-cb", "-bc", "-bn", "-bB", "-nbB", "-nbm")),
    "rabbitmqctl": Options(last=("add_user", "change_password")),
    "nmcli": Options(apart=("password",)),
    "echo": Options(last=("echo",)),
    "printf": Options(last=("printf",)),
}
PIPED: Final = ("--password-stdin", "sudo -S", "--stdin", "--with-token", "--passphrase-fd")
"""What reads a password that `echo` said before."""
_PROGRAM: Final = re.compile(
    rf"(?<![\w.$-])(?:{'|'.join(sorted(_PROGRAMS, key=len, reverse=True))})(?![\w.=:/-])"
)
_WORD: Final = re.compile(
    r"""[ \t\r]*+(?:(?P<end>[\n`;|&]|\Z)"""
    r"""|(?P<word>(?>(?:[^\s'"`;|&]|"[^"\n]{0,256}+"|'[^'\n]{0,256}+'|["'])+)))"""
)
_QUOTES: Final = "\"'"
_UNFIT_STARTS: Final = ("$", "<", "{", "-", "%", "(", "[", "@")
_LEAST: Final = 4
_FEWEST_WORDS: Final = 2
_ENDING: Final = ".,)"


class CommandWord(NamedTuple):
    """A word of a command line without the quotes around it, and where it stands."""

    text: str
    start: int


def passwords(text: str) -> Iterator[Secret]:
    """Yield the passwords that commands in a text are given."""
    place = 0
    while (match := _PROGRAM.search(text, place)) is not None:
        words, place = _words(text, match.end())
        for word in _find_passwords(match[0], words, text[place : place + 200]):
            yield Secret("command-password", word.start, word.start + len(word.text))
        place = max(place, match.end())


def _words(text: str, place: int) -> tuple[list[CommandWord], int]:
    """Return the words up to the end of a command, and where that is."""
    words = []
    while (match := _WORD.match(text, place)) is not None and match["end"] is None:
        words.append(_unquote_word(match["word"], match.start("word")))
        place = match.end()
    return words, place


def _unquote_word(word: str, start: int) -> CommandWord:
    inner = word.lstrip(_QUOTES)
    return CommandWord(inner.rstrip(_QUOTES), start + len(word) - len(inner))


def _find_passwords(program: str, words: list[CommandWord], after: str) -> Iterator[CommandWord]:
    """Yield the words, or the parts of them, that are passwords."""
    options = _PROGRAMS[program]
    if program in ("echo", "printf"):
        piped = after.partition("\n")[0].lstrip()
        if words and piped[:1] == "|" and any(mark in piped for mark in PIPED):
            yield from filter(_is_given, (words[-1],))
        return
    is_open = not options.only
    for word, following in zip(words, (*words[1:], CommandWord("", 0)), strict=False):
        is_open = is_open or word.text == options.only
        if is_open:
            yield from filter(_is_given, _of(options, word, following))
    if any(word.text in options.last for word in words[:-1]) and _ends(options, words):
        yield words[-1]


def _of(options: Options, word: CommandWord, following: CommandWord) -> Iterator[CommandWord]:
    """Yield what may be a password in one word, or after it."""
    if word.text in options.apart:
        yield following
    elif word.text in options.named:
        yield from _second(following, options.parted)
    elif "" in options.named:
        yield from _second(CommandWord(word.text.partition("@")[0], word.start), options.parted)
    for option in options.glued:
        if word.text.startswith(option) and is_password(word.text[len(option) :]):
            yield _unquote_word(word.text[len(option) :], word.start + len(option))


def _second(word: CommandWord, sign: str) -> Iterator[CommandWord]:
    before, found, rest = word.text.partition(sign)
    if found and before:
        yield CommandWord(
            rest.lstrip(_QUOTES), word.start + len(word.text) - len(rest.lstrip(_QUOTES))
        )


def _ends(options: Options, words: list[CommandWord]) -> bool:
    """Tell whether a command's last word is a password: a token after `login`, else any."""
    if options.only:
        return words[-2].text == options.only and is_token(words[-1].text)
    return len(words) > _FEWEST_WORDS and _is_given(words[-1]) and is_password(words[-1].text)


def _is_given(word: CommandWord) -> bool:
    """Tell whether a word can be a password where one is expected: plain words are prose."""
    value = word.text.rstrip(_ENDING)
    return (
        len(value) >= _LEAST
        and not value.startswith(_UNFIT_STARTS)
        and not (value.isalpha() and (value.islower() or value.istitle()))
        and not value.isdigit()
        and "://" not in value
        and not is_usual(value)
    )
