"""Short conversations with the places where a new task opens, told by a person.

One message a line: `u` user, `a` assistant, `s` system, `t` tool. `>` before it says that a
new task opens there; `~` that seven hours pass before it. The letters before the conversation
say which of its tasks are finished, in their order: `f` finished, `o` open.
"""

from datetime import timedelta
from typing import Final, NamedTuple

from pmem.values.records import Message, Role
from tests.conftest import NOW

ROLES: Final = {"u": Role.USER, "a": Role.ASSISTANT, "s": Role.SYSTEM, "t": Role.TOOL}


class Labelled(NamedTuple):
    """A conversation, where its tasks open, and which of them are finished."""

    messages: list[Message]
    opens: list[int]
    finished: list[bool]


def labelled(text: str) -> Labelled:
    """Read a conversation as it is written below."""
    letters, *lines = [line.strip() for line in text.strip().splitlines()]
    at, messages, opens = NOW, [], [0]
    for i, line in enumerate(lines):
        marks, _, content = line.partition(" ")
        at += timedelta(hours=7) if "~" in marks else timedelta(minutes=1)
        role = ROLES[marks[-1]]
        messages.append(Message(id=f"m-{i:08d}", role=role, content=content, created_at=at))
        if ">" in marks:
            opens.append(i)
    return Labelled(messages, opens, [letter == "f" for letter in letters])


def read(text: str) -> list[Labelled]:
    """Read several conversations, separated by blank lines."""
    return [labelled(part) for part in text.split("\n\n") if part.strip()]


OPENINGS: Final = read("""
fo
u Refactor the parser, please
a Task complete. Refactored 3 files.
>u Now let's work on the tests

fo
u The login page is slow
a I added an index. All tests pass, merged.
>u Next, the search page.

fo
u Add a dark theme
a Done.
u thanks!
>u New topic: how do we name releases?

fo
u Can you fix the typo in the title?
a That's fixed.
u Great, thank you
a You're welcome!
>u Moving on. The importer needs a progress bar.

oo
u I cannot decide on the colours
a Blue is calm, red is loud.
>u Let's switch to the deployment

oo
u How large is the cache?
a About 2 GB.
>u Different topic: which licence do we use?

fo
u Write the changelog
a Finished.
>u I want to write a landing page

fo
u Speed up the build
a It takes 20 seconds now.
u That did the trick, thank you
>u Create a script for the nightly backup

fo
u Move the settings into one file
a The migration is complete.
~>u Morning! The dashboard needs a legend

fo
u The form loses its input
a I keep it in the session.
>u Perfect, that's fixed. Now let's do the release notes.

ffo
u Rename the flag
a Done.
>u Now let's update the docs
a The docs are finished.
>u Next up: the website

fo
u Upgrade the database
a The upgrade is done and all checks are green.
>u Let's design a mobile layout

fo
u Please merge the branch
a Merged to main.
>u I'd like to look at the costs of our servers

fo
s You are a careful engineer.
u Sort the list by date
a Sorted, everything works.
>u Ok, let's move on to the export

oo
u Explain the garbage collector
a It counts references.
>u Completely unrelated, but what is a monad?

fo
u The chart is upside down
a It works now.
u Nice!
>u Another thing: we need a contact page

fo
u Deploy version 2
t exit code 0
a Deployed to production. We're all done.
>u Then let's write the announcement

fo
u Delete the old branches
a All done: 14 branches are gone.
>u Changing the subject: who maintains the wiki?

fo
u Translate the menu into French
a Completed the translation.
>u We need a billing page

oo
u Why is the sky blue?
a Because air scatters short waves more.
>u Here's a new task: plan a trip to Lisbon

fo
u can you make the sidebar collapsible
a I've made the sidebar collapsible. Everything builds and the tests pass.
>u awesome. now on to something else: we need rate limiting on the API

fo
u the CSV export drops the last row
a Found it: an off-by-one in the loop. I've fixed it and added a regression test.
u confirmed, works now
>u next I want to tackle the slow startup

fo
u write unit tests for the tokenizer
a I've added 12 tests, all passing.
>u ok great. let's look at the deployment script

fo
u set up CI
a CI is set up and green on all three platforms.
u ty
>u switching gears - can you review my SQL?

fo
u remove the dead code in utils
a Removed 240 lines. All checks pass.
>u Time to write the docs then

fo
u help me pick a database
a For your load, Postgres is the right choice.
u agreed, that settles it
>u now I'd like to design the schema

oo
u what's the capital of Peru?
a Lima.
>u on a different note, how do I reverse a list in Python?

oo
u The tests take ages
a Most time goes into fixtures.
>u Let's put that aside. I want to talk about the roadmap

fo
u Add retries to the client
a Implemented retries with backoff; the suite is green.
u lgtm, merge it
a Merged.
>u Next task is the dashboard

fo
u Rename Foo to Bar everywhere
a Renamed in 31 files. Done!
>u I have a question about something unrelated: should we license under MIT?

fo
u fix flaky test
a The flaky test has been fixed by freezing the clock.
~>u hey, I need a Dockerfile for the worker

fo
u can you summarize the meeting notes
a Here is the summary. That should be everything.
u perfect, that's all for this one
>u Now please draft an email to the team

fo
u please translate the page to German
a Die Seite ist übersetzt. Translation finished.
>u Could you now write the privacy policy?

fo
u Close the open tickets
a Closed 9 tickets, nothing is left.
u sweet, all done then
>u Let's tackle the mobile app next

fo
u our README is outdated
a I rewrote the install section and the examples. It's all done.
>u Cool, let's get going with the Kubernetes manifests

fo
u investigate the 502 errors
a The 502s came from a keep-alive mismatch. I raised the timeout; problem solved.
>u Great work. New subject: onboarding emails

fo
u the date picker ignores my locale
a Fixed. The picker now reads the locale from the browser.
>u Let us turn to the reports page

ffo
u add logging
a Logging has been added to every handler. Task done.
>u Next: tracing
a Tracing is implemented with OpenTelemetry.
>u Next, metrics

oo
u which editor do you like?
a I have no preference.
>u Forget that. Different topic - how does DNS work?

fo
u convert these units
a Conversion complete: 12 miles are 19.3 km.
>u Help me write a cover letter

fo
u proofread my essay
a I corrected nine typos; the essay reads well now. All finished.
u thank you so much!!
>u Another question: what's the best way to learn Spanish?

fo
u wire up the payment webhook
t {"status": "ok"}
a The webhook is wired up and every test passes.
>u Moving on to refunds

fo
u upgrade to Python 3.13
a The upgrade is complete, CI is green.
~>u Good morning. Today I want to profile the importer

fo
u fix the broken link in the footer
a The link has been fixed and deployed.
>u I'd like you to redesign the header

oo
u should we cache on the client?
a It saves a round trip but complicates invalidation.
>u Let's change the subject, what about hiring?

fo
u archive the old repos
a Archived all seven. That's everything.
>u Set up a new repo for the mobile client
""")

TRAPS: Final = read("""
o
u Refactor the parser
a Is that done?
u Now the tests fail

o
u Refactor the parser
a I will tell you when it is done.
u I want to see the diff first

o
u Build the page
a Done.
u Now let's see what it looks like

f
u Build the page
a Done.
u thanks!

o
u Fix the login
a Fixed the session timeout.
u No, it still fails for admins

o
u Fix the login
a That's fixed.
u Now it fails with a TypeError

o
u Add a flag
a Done.
u Can you also add a test for it?

o
u Write a page about Next.js
a Sure, which part?
u Next.js routing

o
u When do we meet?
a On Monday.
u Next week suits me better

o
u Where is the button?
a Next to the menu.
u Next to the menu there is only a logo

o
u Make all tests pass
a 40 of 42 tests pass.
u I need a list of the failing ones

o
u Write the guide
a The first part is finished.
u Let's write the second part

o
u What does this print?
a `done`
u What about the second line?

o
u Set up the pipeline
a Almost done, the cache is missing.
u Add the cache

o
u Move the data
a Once the copy is complete, I switch over.
u How about a dry run?

o
u We use tabs here
a Understood.
u The switch to tabs was my idea

o
u Clean the logs
a Done. The tests still fail, however.
u Let's look at them

o
u Run the job
t done
u I want to see its output

o
u Plan the sprint
a Here is a plan.
~u Let's start with point 2

o
u Plan the sprint
a The plan is finished.
~u It needs one more point

f
u Plan the sprint
a The plan is finished.
~u Good morning!

o
u Resize the image
a Done.
u Why did you crop it?

o
u Use a fixed-width font
a The font is fixed-width in the editor.
u Create the same for the terminal

o
u Please complete the form
a Which form do you mean?
u Let's take the tax form

o
u Is everything merged?
a Not merged yet, two reviews are missing.
u Then ask Kim

o
s When a task is done, say so. Task complete.
u I want to learn Rust
a Start with the book.
u Then what?

o
u fix the memory leak
a I think it's fixed, please check.
u still leaking after an hour

o
u write a parser
a The lexer is done, the parser comes next.
u let's see the lexer first

o
u migrate to v2
a Migration script is complete but I haven't run it.
u run it now

o
u add a login form
a Done, the form is on /login.
u what about validation?

o
u add a login form
a Done, the form is on /login.
u can we make the button blue

o
u what's next on the list?
a Next on the list is the importer.
u how long will it take?

o
u are all tests green?
a Yes, all green.
u and coverage?

o
u is the deploy finished?
a The deploy finished at 10:32.
u I need the logs from it

o
u draft the announcement
a Here's a draft. Let me know when you're done reading.
u let's shorten the second paragraph

o
u We need to talk about the budget
a Sure, the budget for Q3 is 40k.
u Now what about Q4?

o
u let's plan the trip
a Flights are booked, hotel is next.
u next the hotel then

o
u build the scraper
a It works, but fails on pages with frames.
u let's handle frames

o
u explain closures
a A closure captures variables.
u give me another example

f
u sort the imports
a Imports sorted. All done.
u cheers mate

o
u refactor auth
a I finished the first of three modules.
u carry on

o
u make it faster
a It is now twice as fast. Task complete.
u hmm, now the output is wrong

o
u write a poem
a Roses are red.
u now let's make it rhyme

o
u what does status "done" mean in Jira?
a "done" means nobody works on it any more.
u I want to rename that status

o
u debug the crash
t process completed with exit code 139
a It's a null pointer in the renderer.
u let's fix the renderer

o
u add pagination
a Pagination is finished.
u the last page is empty though

o
u add pagination
a Pagination is finished.
u make the page size configurable

o
u compile the kernel
a The first stage finished, the second is running.
u let me know when it's complete

o
u I need a regex for dates
a Here you go: [0-9]{4}-[0-9]{2}-[0-9]{2}
u now one for times

o
u is there a way to undo a merge?
a Yes, revert the merge commit.
u Now I see "nothing to commit"

o
u train the model
a Training is 100 epochs; epoch 40 is done.
u what's the loss so far?

o
u let's write a story about a fox
a Once upon a time there was a fox.
u next paragraph please

o
u check my homework
a Question 1 is correct, question 2 is incomplete.
u let's redo question 2

o
u deploy to staging
a Deployed to staging, but the health check is red.
u I want to see the health check's output

o
u is the ticket closed?
a It was closed yesterday by Ana and is marked as done.
u I need to reopen it

f
u clean up the imports
a All cleaned up, everything passes.
u 👍

o
u does the job run nightly?
a Yes, and it's done by six.
u Then we have to move the backup to seven

o
u split the module
a Split into three files. All tests pass.
u Are you sure? I still see the old file

o
u Implement the search
a Search is implemented except for fuzzy matching.
u Let's do fuzzy matching

o
u quote this: "mission accomplished, task complete"
a "mission accomplished, task complete"
u now in Latin

o
u how do I mark a todo as done in org-mode?
a Press Ctrl-C Ctrl-T until it says DONE.
u I want a custom state

o
u fix the tests
a All tests pass now.
u they don't on my machine, TypeError in test_io
""")

MISSED: Final = read("""
fo
u generate sample data for the demo
a The sample data is ready: 500 customers and 2,000 orders.
u looks good to me, we're finished here
>u Please write a script that resets the demo every night

fo
u please bump the version and tag it
a Version bumped to 1.4.0 and tagged. Release is out.
>u Let's start on the new billing module

fo
u Translate the menu into French
a Completed the translation.
>u What about the billing page?

fo
u Upgrade the database
a The upgrade is done and all checks are green.
>u Can we add a mobile layout?

o
u why is the page slow?
a Too many queries.
u let's add an index
a Added.
u now let's add a cache in front
""")
"""What the rules get wrong: too little said, or a phrase that reads like another."""
