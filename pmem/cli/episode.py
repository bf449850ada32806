"""The commands for episodes: key moments, and the arc that they draw."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated

import typer

from pmem.cli import options
from pmem.cli.conversation import Which
from pmem.cli.memory import draw_record, record_lines
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.episodes import EpisodeRequest, EpisodesRequest
from pmem.core.extraction.episodes import Arc
from pmem.memory.reading import LookRequest, ShownRecord, ShowRequest
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.records import Episode, EpisodeType
from pmem.values.times import day

_TYPE_WIDTH = max(map(len, EpisodeType))


def add(
    ctx: typer.Context,
    summary: Annotated[str | None, typer.Argument(metavar="TEXT|-", help="What happened.")] = None,
    title: Annotated[str | None, typer.Option(help="A few words [the text's start].")] = None,
    type_: Annotated[EpisodeType, typer.Option("--type", help="What kind of moment.")] = (
        EpisodeType.DECISION_MADE
    ),
    context: Annotated[str, typer.Option(help="What led to it.")] = "",
    outcome: Annotated[str | None, typer.Option(help="What came of it.")] = None,
    participant: Annotated[list[str] | None, typer.Option(help="Who took part.")] = None,
    valence: Annotated[float, typer.Option(help="How it felt, from -1 to 1.")] = 0.0,
    significance: Annotated[float, typer.Option(help="From 0 to 1.")] = 0.5,
    conversation: Annotated[
        str | None, typer.Option(metavar="REF", help="The conversation in which it happened.")
    ] = None,
    start: Annotated[int | None, typer.Option(metavar="TURN", help="Its first turn.")] = None,
    end: Annotated[int | None, typer.Option(metavar="TURN", help="Its last turn.")] = None,
    memory: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="A memory that belongs to it.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag.")] = None,
) -> Answer:
    """Add an episode by hand; messages make others by themselves."""
    session: CommandSession = ctx.obj
    made = session.run(
        table.ADD_EPISODE,
        EpisodeRequest(
            summary=session.input(summary, "the text"),
            title=title,
            type=type_,
            context=context,
            outcome=outcome,
            participants=tuple(participant or ()),
            valence=valence,
            significance=significance,
            conversation=conversation,
            start=start,
            end=end,
            memories=tuple(memory or ()),
            tags=tuple(tag or ()),
        ),
    )
    return Answer(data=made, lines=[[("added ", "green"), *episode_line(made)]])


def list_(
    ctx: typer.Context,
    types: Annotated[
        list[EpisodeType] | None, typer.Option("--type", help="Only this kind; repeatable.")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="REF", help="Only of this conversation.")
    ] = None,
    above: Annotated[
        float, typer.Option(metavar="N", help="At least this significant, from 0 to 1.")
    ] = 0.0,
    limit: Annotated[int | None, typer.Option(min=0, help="Only the latest N.")] = None,
    at: options.At = None,
) -> Answer:
    """List episodes, the earliest first."""
    session: CommandSession = ctx.obj
    wanted = EpisodesRequest(
        types=tuple(types or ()),
        conversation=conversation,
        above=above,
        limit=limit,
        **session.when(at),
    )
    found = session.run(table.EPISODES, wanted)
    return Answer(
        data=found,
        lines=map(episode_line, found.items),
        screen=partial(_draw_episodes, session, found.items),
        note="" if found.items else "no episode; `pmem episode add` adds one",
    )


def _draw_episodes(
    session: CommandSession, episodes: Sequence[Episode], width: int
) -> Iterable[Line]:
    from pmem.cli.screens.lists import episode_screen
    from pmem.cli.screens.view import view_of

    return episode_screen(episodes, view_of(session, width))


def show(ctx: typer.Context, reference: options.Reference, at: options.At = None) -> Answer:
    """Show an episode."""
    session: CommandSession = ctx.obj
    request = ShowRequest(reference=reference, **session.when(at))
    record = session.run(table.EPISODE, request)
    draw = partial(draw_record, session, ShownRecord(record=record), record)
    return Answer(data=record, lines=record_lines(record), screen=draw)


def arc(ctx: typer.Context, reference: Which = None, at: options.At = None) -> Answer:
    """Show how a conversation went: beginning, middle, end."""
    session: CommandSession = ctx.obj
    found = session.run(table.ARC, LookRequest(conversation=reference, **session.when(at)))
    note = "" if any(_parts(found)) else _EMPTY
    return Answer(data=found, lines=_arc_lines(found), note=note)


_EMPTY = "no episode yet in this conversation"


def _parts(found: Arc) -> tuple[tuple[Episode, ...], ...]:
    return (found.beginning, found.middle, found.end)


def _arc_lines(found: Arc) -> Iterator[Line]:
    key = {episode.id for episode in found.key_moments}
    for title, part in zip(("beginning", "middle", "end"), _parts(found), strict=True):
        yield [(title, "bold")]
        for episode in part:
            mark = ("★ ", "yellow") if episode.id in key else ("  ", "")
            yield [("  ", ""), mark, *episode_line(episode)]
    if key:
        yield [("★ key moment: significance of 0.7 or more", "dim")]


def episode_line(episode: Episode) -> Line:
    """Return an episode as a line of a list."""
    return [
        (short(episode.id), "cyan"),
        (f"  {episode.significance:.2f}", "green"),
        (f"  {day(episode.created_at)}  {episode.type:<{_TYPE_WIDTH}}", "dim"),
        (f"  {' '.join(episode.title.split())}", ""),
    ]
