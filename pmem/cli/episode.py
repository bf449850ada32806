"""The commands for episodes: key moments, and the arc that they draw."""

from collections.abc import Iterator

from pmem.cli.asking import asks
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line, listed
from pmem.conversation.episodes import EpisodeRequest, EpisodesRequest
from pmem.core.extraction.episodes import Arc
from pmem.memory.conversations import LookRequest
from pmem.memory.reading import EpisodeShowRequest, ShownRecord
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.records import Episode, EpisodeType
from pmem.values.times import day

_TYPE_WIDTH = max(map(len, EpisodeType))


@asks(EpisodeRequest)
def add(session: CommandSession, request: EpisodeRequest) -> Answer:
    """Add an episode by hand; messages make others by themselves."""
    made = session.run(table.ADD_EPISODE, request)
    return Answer(data=made, lines=[[("added ", "green"), *_episode_line(made)]])


@asks(EpisodesRequest)
def list_(session: CommandSession, request: EpisodesRequest) -> Answer:
    """List episodes, the earliest first."""
    found = session.run(table.EPISODES, request)
    screen = drawn(session, "lists.episode_screen", found.items)
    return listed(found, "no episode; `pmem episode add` adds one", screen=screen)


@asks(EpisodeShowRequest)
def show(session: CommandSession, request: EpisodeShowRequest) -> Answer:
    """Show an episode."""
    record = session.run(table.EPISODE, request)
    screen = drawn(session, "record.record_screen", ShownRecord(record=record))
    return Answer(data=record, screen=screen)


@asks(LookRequest)
def arc(session: CommandSession, request: LookRequest) -> Answer:
    """Show how a conversation went: beginning, middle, end."""
    found = session.run(table.ARC, request)
    is_empty = not (found.beginning or found.middle or found.end)
    note = "no episode yet in this conversation" * is_empty
    return Answer(data=found, lines=_arc_lines(found), note=note)


def _arc_lines(found: Arc) -> Iterator[Line]:
    key = {episode.id for episode in found.key_moments}
    for title in ("beginning", "middle", "end"):
        yield [(title, "bold")]
        for episode in getattr(found, title):
            mark = ("★ ", "yellow") if episode.id in key else ("  ", "")
            yield [("  ", ""), mark, *_episode_line(episode)]
    if key:
        yield [("★ key moment: significance of 0.7 or more", "dim")]


def _episode_line(episode: Episode) -> Line:
    """Return an episode as a line of a list."""
    return [
        (short(episode.id), "cyan"),
        (f"  {episode.significance:.2f}", "green"),
        (f"  {day(episode.created_at)}  {episode.type:<{_TYPE_WIDTH}}", "dim"),
        (f"  {' '.join(episode.title.split())}", ""),
    ]
