#!/usr/bin/env python3
"""Chooses the turns of a submission from the table `.ci/turns`, and prints them in the order in which they run:
.ci/plan.py [--check | --show-base] [--base REV] [--number N]

A line has the name, the seconds, why it runs, and the command, with `|` between them. A turn that does not run has `-` for
the command, and its reason.

CI starts from a clean clone and remembers nothing, so that history has to say what a submission is: the commits after the last
pause of an hour, because CI takes about as long. `--base` names the commit before it instead, as for a pull request. Its number
is the number of such pauses before it. It decides which turns are due. `--show-base` prints only that commit.
"""

import fnmatch
import itertools
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# Seconds that a run may take, and those of the steps that always run. Both are for two cores and an empty target folder.
WHOLE, ALWAYS = 4500, 1350
PAUSE = 3600


@dataclass
class Turn:
    """A row of the table."""

    name: str
    seconds: int
    when: str
    paths: list[str]
    command: str
    # The turn that this one includes.
    includes: str | None = None

    def is_due(self, number: int) -> bool:
        """Returns true if this turn runs in a submission whatever changed."""
        if self.when == "change":
            return False
        slot, every = map(int, self.when.split("/"))
        return number % every == slot % every

    def is_asked_by(self, files: list[str]) -> bool:
        """Returns true if a file is below one of the paths."""
        return any(fnmatch.fnmatch(file, path) or fnmatch.fnmatch(file, f"{path}/*") for path in self.paths for file in files)


def table(text: str) -> list[Turn]:
    """Reads the table."""
    lists: dict[str, list[str]] = {}
    turns: list[Turn] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("@"):
            name, paths = line.split("=")
            lists[name.strip()] = [path for word in paths.split() for path in lists.get(word, [word])]
            continue
        name, seconds, when, paths, command = (field.strip() for field in line.split("|"))
        turn = Turn(name, int(seconds), when, [], command)
        if paths.startswith("+ "):
            turn.includes, _, own = paths[2:].partition(": ")
            turn.paths = next(other.paths for other in turns if other.name == turn.includes) + own.split()
        else:
            turn.paths = [path for word in paths.split() for path in lists.get(word, [word])]
        turns.append(turn)
    return turns


def git(*arguments: str) -> list[str]:
    """Returns the lines that git prints."""
    return subprocess.run(["git", *arguments], cwd=FOLDER.parent, check=True, capture_output=True, text=True).stdout.splitlines()


def submission() -> tuple[str | None, int]:
    """Returns the commit before this submission, if there is one, and the submission's number."""
    commits = [line.split() for line in git("log", "--format=%ct %H")]
    pauses = [older for newer, older in itertools.pairwise(commits) if int(newer[0]) - int(older[0]) > PAUSE]
    return (pauses[0][1] if pauses else None), len(pauses)


def chosen(turns: list[Turn], files: list[str], number: int) -> list[tuple[Turn, str | None, str]]:
    """Returns the turns in their order, each with its reason to run, or with `None` and its reason not to.

    Turns of each change are first, then the turns that are due, the turns whose paths changed, and the rest. Each group begins
    with another turn in each submission.
    """
    groups: list[list[tuple[Turn, str]]] = [[], [], [], []]
    start = number % len(turns)
    for turn in turns[start:] + turns[:start]:
        asked = turn.is_asked_by(files)
        if turn.when == "change" and asked:
            groups[0].append((turn, "its paths changed"))
        elif turn.is_due(number):
            # A turn in the place of one of each change keeps its place, so that a slow run leaves time for it.
            groups[0 if turn.includes else 1].append((turn, f"due in submission {turn.when.replace('/', ' of each ')}"))
        elif asked:
            groups[2].append((turn, "its paths changed"))
        else:
            groups[3].append((turn, "there is time"))
    left = WHOLE - ALWAYS
    runs: list[tuple[Turn, str | None, str]] = []
    included = {turn.includes for turn, _ in groups[0] if turn.includes}
    for turn, reason in itertools.chain(*groups):
        if turn.name in included:
            runs.append((turn, None, "another turn includes it"))
        elif turn.seconds > left:
            runs.append((turn, None, f"it takes {turn.seconds} s, and {left} s were left"))
        else:
            left -= turn.seconds
            runs.append((turn, reason, ""))
            if turn.includes:
                included.add(turn.includes)
    return runs


def check(turns: list[Turn]) -> None:
    """Fails if what is due, with all turns of each change, has no room in some submission."""
    period = math.lcm(*(int(turn.when.split("/")[1]) for turn in turns if turn.when != "change"))
    everything = [path.replace("*", "x") for turn in turns for path in turn.paths]
    for number in range(period):
        runs = {turn.name: why for turn, why, _ in chosen(turns, everything, number)}
        for turn in turns:
            includes = [other for other in turns if other.includes == turn.name and runs[other.name]]
            if (turn.is_due(number) or turn.when == "change") and not runs[turn.name] and not includes:
                sys.exit(f"{turn.name}: due in submission {number} of {period}, which has no room for it")
    print(f"what is due has room in each of {period} submissions")


def main(arguments: list[str]) -> None:
    turns = table((FOLDER / "turns").read_text())
    if "--check" in arguments:
        check(turns)
        return
    base, number = submission()
    if "--base" in arguments:
        base = arguments[arguments.index("--base") + 1]
    if "--show-base" in arguments:
        print(base or "")
        return
    if "--number" in arguments:
        number = int(arguments[arguments.index("--number") + 1])
    files = git("diff", "--name-only", base, "HEAD") if base else git("ls-files")
    for turn, reason, why_not in chosen(turns, files, number):
        print("|".join([turn.name, str(turn.seconds), reason or why_not, turn.command if reason else "-"]))


if __name__ == "__main__":
    main(sys.argv[1:])
