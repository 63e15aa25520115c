"""Commands that say what there is: files, factors, responses, solvers, configs; and `warm`."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import valmatch
from valmatch.cli.console import info, print_columns, progress, say, show
from valmatch.cli.options import Json, command, complete_model, needed
from valmatch.errors import InputError
from valmatch.inputs import options as o
from valmatch.text.suggestions import hint
from valmatch.text.terminal import WIDTH, escaped, labelled, one_line, print_wrapped, shown, wrapped

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.experiments.response_list import Listed

_MODEL = {"argument": True, "complete": complete_model}

All = Annotated[bool, o.flag("Show all.")]
Search = Annotated[str, o.text("", "Show those with this word in their name or meaning.", "WORD")]
FIRST = 20  # of many factors or responses are shown


def _searched(search: str, names: Mapping[str, str], of: str) -> list[str]:
    """Return the names that a word is found in, or in their meanings."""
    word = search.casefold()
    names_with = [name for name, meaning in names.items() if word in f"{name} {meaning}".casefold()]
    if search and not names_with:
        raise InputError(f"--search: no {of} has {shown(search)} in its name or meaning")
    return names_with


@command(speaks=())
def factors(
    model: Annotated[str, o.text("valorant", "Name of the model.", "[MODEL]", **_MODEL)],
    all: All,
    search: Search,
) -> None:
    """Print a YAML config with the main factors of a model, documented.

    With --all it has every factor, and comments on the options of `replicate` and `optimize`.
    """
    from valmatch.config.factor_paths import factor_at, factor_names
    from valmatch.config.writing import template
    from valmatch.models.registry import entry_of

    entry = entry_of(model)
    names = factor_names(entry.factors)
    chosen = entry.main.split() or names[:FIRST]
    if search:
        fields = [factor_at(entry.factors, name.split("."))[0] for name in names]
        meanings = [str(field and field.description) for field in fields]
        chosen = _searched(search, dict(zip(names, meanings, strict=True)), f"factor of {model}")
    every = not search and (all or len(names) <= FIRST)
    sys.stdout.write(template(model, () if every else chosen))


@command(speaks=())
def responses(
    model: Annotated[
        str, o.text("valorant", "Name of the model, or a config.", "[MODEL]", **_MODEL)
    ],
    overrides: Annotated[
        tuple[str, ...], o.repeated("Override a value; may be repeated.", "KEY=VALUE")
    ],
    all: All,
    search: Search,
    json: Json,
) -> None:
    """Print the responses of a model: unit and meaning.

    Those of a group are computed only where the factor `measure` names the group, or --responses
    one of them; --all shows them. --json has all.
    """
    from valmatch.experiments.response_list import list_responses

    rows = list_responses(model, list(overrides))
    if search:
        meanings = {row.response.name: row.response.meaning for row in rows}
        chosen = set(_searched(search, meanings, f"response of {model}"))
        rows = [row for row in rows if row.response.name in chosen]
    document = {
        r.name: {"unit": r.unit, "meaning": r.meaning, "group": group or None} for r, group in rows
    }
    show(json, document, lambda: (_print_responses if all or search else _print_first)(rows))


@command(speaks=())
def solvers(json: Json) -> None:
    """List the solvers of `optimize`, those of installed packages too, with what they need."""
    from valmatch.optimization.solvers.registry import listed

    rows = listed()
    heads = {"solver": "solver", "summary": "what it does", "needs": "needs", "from": "from"}
    columns = {head: [row[key] for row in rows] for key, head in heads.items()}
    columns = {head: cells for head, cells in columns.items() if any(cells)}
    show(json, {"solvers": rows}, lambda: print_columns(columns))


@command(speaks=())
def problems(json: Json) -> None:
    """List the shipped problems of `optimize`, a test bed, with the best known of each.

    Noise is the standard deviation of the objective over replications at the best known point;
    effort is the number of replications that all searches for it took.
    """
    from valmatch.optimization.problem import listed
    from valmatch.statistics.estimates import rounded

    rows = listed()

    def table() -> None:
        known = [row["best_known"] or {} for row in rows]
        objectives = [
            rounded(best["objective"], best["ci_high"] - best["objective"])
            if "objective" in best
            else ("infeasible" if best else "", "")
            for best in known
        ]
        columns = {
            "problem": [row["problem"] for row in rows],
            "variables": [str(row["dimension"]) for row in rows],
            "constraints": [", ".join(row["constraints"]) or "none" for row in rows],
            "noise": [f"{best['noise']['objective']:.2g}" if best else "" for best in known],
            "best known": [mean for mean, _ in objectives],
            "± 95%": [half for _, half in objectives],
            "effort": [f"{best['replications']:,}" if best else "" for best in known],
            "date": [best.get("date", "") for best in known],
        }
        print_columns(columns)

    show(json, {"problems": rows}, table)


QUESTIONS = {
    "How long do players wait, and how even are matches?": "valorant",
    "Which rules are best within limits?": "valorant-??min valorant-evening valorant-fours"
    " valorant-p90 valorant-trios valorant-two-limits valorant-log chess-1 ladder-tune ladder-duos"
    " ladder-pairs tickets-tune zonestats-tune",
    "What does a rule set do with parties, regions and long waits?": "tickets*",
    "How do the matchmakers of known games behave?": "bar faf lichess osu shieldbattery",
    "What do ratings and the queue do to each other?": "ladder*",
    "How good are ratings?": "zonestats*",
    "Whom to play, or what to measure, to learn most?": "kg-tune targeting",
    "For tests, figures of papers, and studies (--all)": "*",
}
"""What shipped configs answer; the first question that fits counts, the last is for --all."""


@command(speaks=())
def configs(all: All, json: Json) -> None:
    """List the shipped configs by question: model, and what each is.

    With --all also smoke tests, figures of papers and variants for studies. --json has all.
    """
    from valmatch.config.loading import listed

    rows = listed()

    def table() -> None:
        left = rows
        for question, names in QUESTIONS.items():
            fit = [row for row in left if any(fnmatch(row["config"], n) for n in names.split())]
            left = [row for row in left if row not in fit]
            print(question if left or all else f"{len(fit)} more: {question}")
            for row in fit if left or all else ():
                start, rest = f"  {row['config']:<21} {row['model']:<10} ", " " * 35
                print("\n".join(wrapped(row["about"], start, rest)))
            print(end="\n" if left else "")

    show(json, {"configs": rows}, table)


def _print_meanings(rows: Sequence[tuple[str, str, str]]) -> None:
    """Print what responses mean on several lines, below them where there is no room beside."""
    heads = ("response", "unit", "meaning")
    taken = sum(2 + max(map(len, cells)) for cells in list(zip(heads, *rows, strict=True))[:2])
    if WIDTH - taken < MEANING:
        for name, unit, text in rows:
            print(escaped(labelled(name, unit)))
            print_wrapped(text, "  ")
        return
    lines = []
    for *names, text in rows:
        first, *further = textwrap.wrap(text, WIDTH - taken, break_on_hyphens=False) or [""]
        lines += [(*names, first), *(("", "", line) for line in further)]
    print_columns(dict(zip(heads, zip(*lines, strict=True), strict=True)))


def _print_first(listed: Sequence[Listed]) -> None:
    """Print the first responses that need no group, and how to see others."""
    from valmatch.experiments.response_list import folded

    rows = folded(row for row in listed if not row.group)
    _print_meanings([row[:3] for row in rows[:FIRST]])
    groups = dict.fromkeys(row.group for row in listed if row.group)
    left = len(listed) - sum(max(len(parts), 1) for *_, parts in rows[:FIRST])
    print()
    if parts := {part: None for *_, parts in rows[:FIRST] for part in parts}:
        print_wrapped(f"POLICY is one of {', '.join(parts)}")
    if left:
        of = f", in groups of the factor measure: {', '.join(groups)}" if groups else ""
        print_wrapped(f"{left} more (--all, or --search WORD){of}")


MEANING = 24  # characters of a line of what a response means, at least


def _print_responses(listed: Sequence[Listed]) -> None:
    """Print what each response is, and what asks for it."""
    for group, of_group in groupby(listed, key=lambda row: row.group):
        if group:
            print(f"\nmeasure: [{group}]")
        _print_meanings([(r.name, r.unit, r.meaning) for r, _ in of_group])


@command(speaks=["quiet"])
def check(
    file: Annotated[Path, needed("Any file that you have, or a results folder.")],
    write: Annotated[
        Path | None,
        o.path(
            "Write the config that reads a queue log or simulates a rule set, or the columns of a"
            " game log, such as mine.yaml."
        ),
    ],
    json: Json,
) -> None:
    """Say what a file is, what is understood of it, what is wrong with it, and what to type next.

    It knows queue logs, game logs (CSV, JSON lines, PGN, votes), tickets, rule sets inside other
    files, worlds, configs, results folders, and files of other services. Exit code 1 if something
    is wrong that changes answers, 2 if the file cannot be used.
    """
    from valmatch.file_check import check_file

    file_report = check_file(file, write=write)

    def table() -> None:
        sys.stdout.writelines(f"{one_line(line)}\n" for line in file_report.text().splitlines())

    show(json, file_report.as_json(), table)
    for line in file_report.errors:
        say(line)
    if write is not None:
        info(f"written: {write}")
    if file_report.code:
        sys.stdout.flush()
        raise typer.Exit(file_report.code)


COMMANDS = ("optimize", "next", "plan")  # need kernels besides those of models and rating systems

LOG = "game,time,player,score\n" + "".join(
    f"g{game},2026-01-{game + 1:02d},{player},{(game + score) % 3}\n"
    for game in range(9)
    for score, player in enumerate(sorted({"abc"[game % 3], "bca"[game % 3]}))
)
"""A log of three players."""


@command()
def warm(
    names: Annotated[
        tuple[str, ...],
        o.names(
            "Models, rating systems and commands; all without one.",
            "[NAME...]",
            argument=True,
            repeated=True,
            read=tuple,
        ),
    ],
) -> None:
    """Compile what models, rating systems and commands need, and keep it for later runs.

    For images of containers and before jobs of a cluster: commands then start at once. Each shipped
    config of a model is simulated once, and a small log is rated.
    """
    from tempfile import TemporaryDirectory

    from valmatch.config.loading import load_config, shipped_configs
    from valmatch.execution.chunks import build, record, run
    from valmatch.kernels.cache import folder_of_all
    from valmatch.kernels.compilation import import_numba
    from valmatch.kernels.first_run import compiling
    from valmatch.models.registry import OWN
    from valmatch.ratings.registry import BATCH_NAMES, NAMES

    compiling.announced = True  # the bar shows it
    known = [*OWN, *NAMES, *BATCH_NAMES, *COMMANDS]
    for name in names:
        if name not in known:
            raise InputError(f"{name}: nothing that has kernels ({hint(name, known)})")
    chosen = names or known
    configs = map(load_config, shipped_configs() if OWN.keys() & set(chosen) else ())
    steps: list[Config | str] = [config for config in configs if config.model in chosen]
    steps += [name for name in chosen if name not in OWN]
    with progress("configs and commands", len(steps)) as bar, TemporaryDirectory() as folder:
        for step in steps:
            if isinstance(step, str):
                _call(step, Path(folder))
            else:  # in full, and as `replicate` and `optimize` make replications
                model = build(step)
                record(model, 1, 0)
                run(model, 1, [0])
                if model.controls:
                    run(model, 1, [0], controls=True)
            bar(1)
    cache, size = folder_of_all(import_numba().config.CACHE_DIR), 0
    with suppress(OSError):
        size = sum(path.stat().st_size for path in cache.rglob("*.nb?"))
    kept = f"{size / 1e6:.1f} MB in {cache}"
    info(f"compiled {compiling.kernels:,} kernels in {compiling.seconds:.1f} s; {kept}")


def _call(name: str, folder: Path) -> None:
    """Rate a small log by a system, or do what a command does, on a small scale."""
    from valmatch.policies.registry import JOINT
    from valmatch.ratings.registry import NAMES

    log, ratings = folder / "log.csv", folder / "ratings"
    log.write_text(LOG)
    if name in NAMES:
        valmatch.rate_games(log, name)
    elif name not in COMMANDS:
        valmatch.rank_games(log, name)
    elif name == "optimize":
        valmatch.optimize("valorant-20min", budget=100)
    elif name == "next":
        valmatch.rank_games(log, prior=300.0, out=ratings)
        for policy in JOINT:
            valmatch.next_pairs(ratings, policy)
    else:
        for policy in JOINT:
            valmatch.plan_games(players=3, spread=300.0, best=0.5, policy=policy, replications=2)
