"""Passwords in command lines, such as `mysql -pX`, and in addresses: `scheme://user:password@host`."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pmem.core.secrets.false_positives import is_password, is_token, is_usual
from pmem.core.secrets.rules import Secret
from pmem.values.patterns import lazily


class Options(NamedTuple):
    """How a program takes a password; of options, each is a word.

    `apart` are options with the password after them, `glued` is one with it in the same word.
    After `named`, `parted` by a sign, come a user and the password; where nothing names them, any
    word may be both. Where one of `last` stands among the words, the last word is the password.
    Where there is an `only`, the options mean a password only once that word came.
    """

    apart: str = ""
    glued: str = ""
    named: str = ""
    parted: str = ""
    last: str = ""
    only: str = ""


_OPTIONS: Final = (
    ("mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump", Options(glued="-p")),
    ("mycli xtrabackup 7z 7za 7zz", Options(glued="-p")),
    (
        "docker podman nerdctl buildah skopeo helm oras crane az oc cf vault wandb",
        Options(apart="-p --password", last="login", only="login"),
    ),
    ("redis-cli valkey-cli", Options(apart="-a --pass")),
    ("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami", Options(apart="-w")),
    ("mongo mongosh mongodump mongorestore mongoexport mongoimport", Options(apart="-p")),
    ("cqlsh rdesktop psexec", Options(apart="-p")),
    ("sqlcmd bcp ipmitool mosquitto_pub mosquitto_sub zip unzip", Options(apart="-P")),
    ("plink pscp psftp", Options(apart="-pw")),
    ("keytool jarsigner", Options(apart="-storepass -keypass -srcstorepass -deststorepass")),
    ("smbclient rpcclient smbget", Options(named="-U --user", parted="%")),
    ("sqlplus expdp impdp", Options(parted="/")),
    ("altool notarytool security", Options(apart="-p --password -w")),
    ("schtasks signtool", Options(apart="/rp /p /RP /P")),
    ("openssl", Options(apart="-k -K")),
    ("lftp", Options(named="-u", parted=",")),
    ("htpasswd", Options(last="-b -nb -cb -bc -bn -bB -nbB -nbm")),
    ("rabbitmqctl", Options(last="add_user change_password")),
    ("nmcli", Options(apart="password")),
)
_PROGRAMS: Final = {name: options for names, options in _OPTIONS for name in names.split()}
_SAYING: Final = ("echo", "printf")
PIPED: Final = ("--password-stdin", "sudo -S", "--stdin", "--with-token", "--passphrase-fd")
"""What reads a password that `echo` said before."""
_PROGRAM: Final = re.compile(
    rf"(?<![\w.$-])(?:{'|'.join(sorted((*_PROGRAMS, *_SAYING), key=len, reverse=True))})"
    r"(?![\w.=:/-])"
)
_WORD: Final = re.compile(
    r"""[ \t\r]*+(?:(?P<end>[\n`;|&]|\Z)"""
    r"""|(?P<word>(?>(?:[^\s'"`;|&]|"[^"\n]{0,256}+"|'[^'\n]{0,256}+'|["'])+)))"""
)
_MARK: Final = "://"
_USER: Final = lazily(r"([^\s/?#@:\"'<>`(){}\[\]$]{0,128}+):([^\s/\"'<>`{}]{1,256})@(?=[\w\[.-])")
_VARIABLE: Final = lazily(r"^\$[A-Za-z_]\w*$|\$[({]")
_SCHEME: Final = lazily(r"[a-z][a-z0-9+.-]{1,20}$", re.IGNORECASE)
_LONGEST_SCHEME: Final = 21
_WEB: Final = ("http", "https", "git", "ftp", "ssh", "svn", "ws", "wss")
_QUOTES: Final = "\"'"
_UNFIT_STARTS: Final = ("$", "<", "{", "-", "%", "(", "[", "@")
_LEAST: Final = 4
_FEWEST_WORDS: Final = 2
_ENDING: Final = ".,)"


class CommandWord(NamedTuple):
    """A word of a command line without the quotes around it, and where it stands."""

    text: str
    start: int


def in_commands(text: str) -> Iterator[Secret]:
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
        words.append(_unquoted(match["word"], match.start("word")))
        place = match.end()
    return words, place


def _unquoted(word: str, start: int) -> CommandWord:
    inner = word.lstrip(_QUOTES)
    return CommandWord(inner.rstrip(_QUOTES), start + len(word) - len(inner))


def _find_passwords(program: str, words: list[CommandWord], after: str) -> Iterator[CommandWord]:
    """Yield the words, or the parts of them, that are passwords."""
    if program in _SAYING:
        piped = after.partition("\n")[0].lstrip()
        if words and piped[:1] == "|" and any(mark in piped for mark in PIPED):
            yield from filter(_is_given, (words[-1],))
        return
    options = _PROGRAMS[program]
    is_open = not options.only
    for word, following in zip(words, (*words[1:], CommandWord("", 0)), strict=False):
        is_open = is_open or word.text == options.only
        if is_open:
            yield from filter(_is_given, _of(options, word, following))
    if {word.text for word in words[:-1]} & {*options.last.split()}:
        password = words[-1]
        if options.only:  # a token after `login`
            is_one = words[-2].text == options.only and is_token(password.text)
        else:
            is_one = len(words) > _FEWEST_WORDS and _is_given(password)
            is_one = is_one and is_password(password.text)
        yield from (password,) if is_one else ()


def _of(options: Options, word: CommandWord, following: CommandWord) -> Iterator[CommandWord]:
    """Yield what may be a password in one word, or after it."""
    value = None
    if word.text in options.apart.split():
        yield following
    elif word.text in options.named.split():
        value = following
    elif options.parted and not options.named:
        value = CommandWord(word.text.partition("@")[0], word.start)
    if value is not None:
        before, found, rest = value.text.partition(options.parted)
        if found and before:
            yield _unquoted(rest, value.start + len(value.text) - len(rest))
    glued = options.glued
    if glued and word.text.startswith(glued) and is_password(word.text[len(glued) :]):
        yield _unquoted(word.text[len(glued) :], word.start + len(glued))


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


def in_addresses(text: str) -> Iterator[Secret]:
    """Yield the passwords in the addresses of a text."""
    place = text.find(_MARK)
    while place >= 0:
        start = place + len(_MARK)
        match = _USER.match(text, start)
        scheme = _SCHEME.search(text[max(0, place - _LONGEST_SCHEME) : place])
        if match and scheme and _is_password(*match.groups()):
            web = scheme[0].lower().partition("+")[0] in _WEB
            yield Secret("url-password" if web else "connection-password", *match.span(2))
        place = text.find(_MARK, match.end() if match else start)


def _is_password(user: str, password: str) -> bool:
    """Tell whether a password is one: not the user's name, a variable, or everybody's first."""
    is_given = password.startswith("%") or _VARIABLE.search(password) is not None
    return password != user and not is_given and not is_usual(password)
