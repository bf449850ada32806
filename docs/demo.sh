#!/bin/sh
# The main job on real input: a memory, a transcript, a search, a context within a budget.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM
cp -R "$here/.project-memory.example" "$place/.project-memory"
cd "$place"
PMEM_ACTOR=${PMEM_ACTOR:-demo}
export PMEM_ACTOR
unset PMEM_DIR

run() {
    printf '\n$ pmem'
    for word in "$@"; do
        case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    pmem "$@"
}

echo "A project with a memory of its own, in $place"
run list --limit 5
run import messages .project-memory/transcript.jsonl
run add "The demo shows the main job from end to end" --type goal --subject demo
run search "why one file per record" -k 4
run context "why is typer pinned, and what must never be lost" --budget 600

bin=$(dirname "$(command -v pmem)")
cat <<'END'

That block fits its budget and is ready for a model. Next, in a project of your own:

END
[ ! -f "$bin/activate" ] || echo "  . '$bin/activate'"
cat <<'END'
  pmem init
  pmem add "We use PostgreSQL" --type decision --subject database
  pmem conversation start "First talk"
  pmem context "which database" --budget 1000
END
