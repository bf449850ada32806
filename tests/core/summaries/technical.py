"""Talks about technical matters, each with the words that are asked for later."""

from typing import Final, NamedTuple


class Talk(NamedTuple):
    """What was said, as pairs of speaker and text, and the words that a summary should keep."""

    name: str
    said: tuple[tuple[str, str], ...]
    asked: str


TALKS: Final = (
    Talk(
        "queue database",
        (
            ("Ines", "Morning! Did everybody get some sleep after the outage?"),
            ("Tomas", "A little. I went through the options for the job queue again last night."),
            ("Ines", "Great, thanks for doing that. What came out of it?"),
            (
                "Tomas",
                "Redis loses jobs when the node restarts, unless we turn on AOF and accept slower"
                " writes. RabbitMQ would work, but nobody here has run it before.",
            ),
            ("Ines", "And plain PostgreSQL with SKIP LOCKED?"),
            (
                "Tomas",
                "I measured it: 2,400 jobs per second on the small instance. That is ten times"
                " what we need today.",
            ),
            ("Ines", "Sounds good to me. Fewer moving parts."),
            ("Tomas", "So we decided: PostgreSQL it is, with SKIP LOCKED, and no Redis."),
            ("Ines", "Agreed. Who takes the migration, and by when?"),
            ("Tomas", "I will. The old queue is switched off on Friday 14 March."),
        ),
        "PostgreSQL SKIP LOCKED 2,400 Redis Friday 14 March",
    ),
    Talk(
        "memory leak",
        (
            (
                "user",
                "hey, the importer keeps dying on the nightly run, can you take a look please?",
            ),
            ("assistant", "Sure, happy to help! Could you paste the last lines of the log?"),
            (
                "user",
                "```\n2026-03-02 01:14:09 INFO batch 311 done\n"
                "2026-03-02 01:14:21 INFO batch 312 done\n"
                "2026-03-02 01:14:22 ERROR MemoryError in parse_rows (importer/rows.py:88)\n"
                "2026-03-02 01:14:22 INFO worker stopped\n```",
            ),
            ("assistant", "Thanks. Let me read that function and see what it holds on to."),
            ("user", "ok, take your time"),
            (
                "assistant",
                "I found it. `parse_rows` appends every row to `self._seen` to drop duplicates, and"
                " the set is never cleared between batches, so it grows to about 6 GB.",
            ),
            ("user", "oh wow. so what do we do?"),
            (
                "assistant",
                "Two options: clear the set after each batch, or keep a Bloom filter. Clearing is"
                " enough, because duplicates only occur within one batch.",
            ),
            ("user", "then clear it. and add a test, please"),
            (
                "assistant",
                "Done: `self._seen.clear()` at the end of `flush`, and"
                " tests/test_rows.py::test_memory_stays_flat. Peak memory fell from 6 GB to"
                " 180 MB.",
            ),
        ),
        "MemoryError parse_rows self._seen cleared 6 GB 180 MB flush test_memory_stays_flat",
    ),
    Talk(
        "release",
        (
            ("Noor", "Hi all, quick sync about the release?"),
            ("Pavel", "Hi Noor! Yes, I have ten minutes."),
            (
                "Noor",
                "We planned 3.2 for Tuesday, but the payment tests are still red on Windows.",
            ),
            ("Pavel", "Is that the flaky one again, or something new?"),
            (
                "Noor",
                "New. The root cause is the time zone: invoices.py uses local time, and the CI"
                " runner moved to Asia/Tokyo.",
            ),
            ("Pavel", "Ah, I see. That makes sense, well spotted."),
            ("Noor", "The fix is one line, it is in pull request #4871, Lena reviews it today."),
            ("Pavel", "Nice. Then let's not ship on Tuesday. What about Thursday 9 April?"),
            ("Noor", "Thursday works for me. I will tell support and update the changelog."),
            ("Pavel", "Perfect, thanks a lot! Have a good one."),
        ),
        "3.2 Windows time zone invoices.py Asia/Tokyo #4871 Lena Thursday 9 April",
    ),
    Talk(
        "slow query",
        (
            ("user", "The dashboard takes forever to load. Any idea why?"),
            ("assistant", "I would like to look at the query plan first. Which page is it?"),
            ("user", "/reports/weekly, for the customer Halvorsen"),
            (
                "assistant",
                "Thank you. I ran EXPLAIN ANALYZE: a sequential scan over the events table reads"
                " 48 million rows and takes 31 seconds.",
            ),
            ("user", "That's a lot. Isn't there an index?"),
            (
                "assistant",
                "There is one on created_at, but the query wraps the column in date_trunc, so the"
                " planner cannot use it.",
            ),
            ("user", "I see. What do you suggest?"),
            (
                "assistant",
                "Either rewrite the condition as a range, or add an expression index. I suggest"
                " the range, because it needs no migration.",
            ),
            ("user", "OK, do the range."),
            (
                "assistant",
                "I changed it in reports/weekly.sql. The page now takes 0.4 seconds instead of 31.",
            ),
        ),
        "Halvorsen events 48 million created_at date_trunc range reports/weekly.sql 0.4 31",
    ),
    Talk(
        "commands",
        (
            ("Mira", "How do I get the staging box back? It refuses my key."),
            ("Jon", "Did you try turning it off and on again? :)"),
            ("Mira", "Very funny. Yes, twice."),
            ("Jon", "Ok, ok. The host key changed when we moved it to Hetzner last week."),
            ("Mira", "Nobody told me! So what now?"),
            (
                "Jon",
                "Run this:\n```\nssh-keygen -R staging.internal\n"
                "ssh -p 2222 deploy@staging.internal\n```\nThe port is 2222 now, not 22.",
            ),
            ("Mira", "That worked, thank you so much!"),
            ("Jon", "You're welcome. While you are there, could you check the disk?"),
            ("Mira", "/var/lib/docker is at 97 %. I'd rather not delete anything by hand."),
            ("Jon", "Don't. Use `docker system prune --volumes=false`, the volumes hold backups."),
        ),
        "Hetzner ssh-keygen staging.internal 2222 /var/lib/docker 97 prune volumes backups",
    ),
    Talk(
        "api design",
        (
            ("Sofia", "I've been thinking about the public API, and I'm a bit torn."),
            ("Raj", "Go on, what's on your mind?"),
            ("Sofia", "Should errors be exceptions, or values that callers must look at?"),
            ("Raj", "Good question. I have no strong opinion, honestly."),
            (
                "Sofia",
                "With exceptions the examples stay short. We never return null, whatever we do.",
            ),
            ("Raj", "Right. And what about the names? I really don't like fetch_all_the_things."),
            ("Sofia", "Haha, me neither. I'd call it `list_items`, with a cursor for paging."),
            ("Raj", "Love it. How large is a page?"),
            ("Sofia", "100 items by default, 1,000 at most. The limit of the old API was 50."),
            (
                "Raj",
                "Then it is settled: exceptions, no null, list_items with a cursor. I'll write"
                " ADR-017 tomorrow.",
            ),
        ),
        "exceptions null list_items cursor 100 1,000 ADR-017",
    ),
)
