"""Checks files of users: what each is, how it is read, what is wrong with it, what to type next."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valmatch.errors import InputError, in_lines, option
from valmatch.game_logs.reading.columns import by_plain_name, usual_columns
from valmatch.game_logs.reading.tables import CSV, PGN, GameFile
from valmatch.inputs import arguments
from valmatch.inputs.csv_reader import SEPARATOR_NAMES, open_text
from valmatch.inputs.files import MAX_DOCUMENT, kind_of_text, read_text, regular
from valmatch.storage.output import write_atomically
from valmatch.text.dates import is_moment
from valmatch.text.terminal import Note, Notice, counted, one_line, shortened

if TYPE_CHECKING:
    from valmatch.game_logs.reading.log import GameLog
    from valmatch.models.valorant.queue_log import QueueLog
    from valmatch.rule_sets.json_text import Problem

MARK = "# Written by valmatch check"  # what begins the files that are written here

# Names that columns of queue logs usually have, in lower case letters, the likeliest first.
QUEUE_NAMES = {
    "arrival_hours": "arrivalhours arrival arrivaltime arrived arrivedat joined joinedat jointime"
    " joinedqueueat enqueued enqueuedat enqueuetime queuedat queuetime queuestart requestedat"
    " requesttime entered enteredat searchstart starttime startedat createdat created time"
    " timestamp tstamp ts datetime date",
    "rating": "rating mmr elo skill skillrating sr matchmakingrating playerrating",
    "player": "player playerid account accountid user userid steamid puuid playername username",
    "left_hours": "lefthours left leftat leftqueueat quit quitat gaveup gaveupat abandonedat"
    " cancelledat canceledat dropat",
}

RATED = re.compile("mmr|elo|rating|skill")
# Values of a column of states of rows that are not to be simulated.
NOT_PLAYED = re.compile("cancel|abort|error|fail|invalid|reject|void|duplic|declin|discard")
KNOWN = "a queue log, a game log, tickets, a rule set, a world, a config, a results folder"
CODE = (".tf", ".hcl", ".ts", ".js", ".py", ".java", ".cs", ".go")  # names of source code end so
RESOURCES = re.compile(r"^\W*Resources\W*:", re.M)
REPLAY = "valmatch rules replay RULES.json --tickets {} --out played"
WRITE = "valmatch check {} --write mine.yaml"
RATE = ("valmatch rate {} --system elo --out rated", "valmatch rank {} --out ranked")

# What to type next, by kinds of files and of tables.
COMMANDS = {
    "queue log": (
        WRITE,
        "valmatch simulate mine.yaml",
        "valmatch replicate mine.yaml --set log.resample=block -n 200 --out runs",
    ),
    **dict.fromkeys(("game log", "votes", "PGN"), RATE),
    "tickets": (REPLAY, "valmatch simulate tickets --set rules=RULES.json --set arrivals={}"),
    "event log": (REPLAY,),
    "rule set": ("valmatch rules show {}", WRITE, "valmatch simulate mine.yaml"),
    "world": ("valmatch rules replay {} --out played", "valmatch rules check {}"),
    "config": ("valmatch simulate {}", "valmatch replicate {} -n 100 --out runs"),
    "results folder": ("valmatch plot {}",),
    "a table of ratings": ("valmatch rate games.csv --ratings {} --out rated",),
    "a table of aliases": ("valmatch rate GAMES.csv --alias {}",),
    "a table of tickets of single players": (REPLAY,),
    "a table of fixtures": ("valmatch predict rated {}",),
}

# What follows the config of a queue log.
TO_OPTIMIZE = """
# Remove the marks for `valmatch optimize`, and put your limits in.
# optimize:
#   variables: {player_diff: {low: 20, high: 1000}, team_diff: {low: 5, high: 1000}}
#   objective: {fairness: {response: avg_team_diff}}
#   constraints:
#     wait: {response: avg_wait_time, at_most: 10 min}
#     spread: {response: avg_player_diff, at_most: 250}   # within a team
"""

# Tables that are no logs, by columns that they have.
TABLES = {
    ("player", "rating"): "a table of ratings",
    ("name", "alias"): "a table of aliases",
    ("id", "time"): "a table of tickets of single players",
    ("player_a", "player_b"): "a table of fixtures",
    ("home", "away"): "a table of fixtures",
}


@dataclass(frozen=True)
class CheckedFile:
    """What `check_file` found.

    Attributes
    ----------
    path : Path
        The file or folder.
    kind : str
        What it is: ``queue log``, ``game log``, ``votes``, ``PGN``, ``tickets``, ``event log``,
        ``rule set``, ``world``, ``config``, ``results folder``, ``table``; ``other service`` for a
        file of another service, ``unknown`` for anything else.
    about : str
        The same in a few words, with how much is in it.
    understood : mapping of str to str
        How it is read: columns, separator, result words, dates.
    dirt : sequence of str
        What is wrong with its contents, a sentence each, with a `kind` and a count `n`.
    rows : int
        Of how many rows, games or tickets these counts are; 0 where nothing is counted.
    errors : sequence of str
        Why it cannot be used; nothing if it can.
    commands : sequence of str
        What to type next.
    writes : str
        The config, or the mapping of columns, that goes with it; "" where there is none.
    """

    path: Path
    kind: str
    about: str
    understood: Mapping[str, str] = field(default_factory=dict)
    dirt: Sequence[Notice] = ()
    rows: int = 0
    errors: Sequence[str] = ()
    commands: Sequence[str] = ()
    writes: str = ""

    @property
    def code(self) -> int:
        """The exit code of the command: 0 clean, 1 with dirt, 2 if it cannot be used."""
        return 2 if self.errors else 1 if self.dirt else 0

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "file": str(self.path),
            "kind": self.kind,
            "about": self.about,
            "understood": dict(self.understood),
            "rows": self.rows,
            "dirt": [
                {**notice.as_dict(), "share": notice.n / self.rows if self.rows else None}
                for notice in self.dirt
            ],
            "errors": list(self.errors),
            "next": list(self.commands),
        }

    def text(self) -> str:
        """Return it as lines for a terminal."""
        lines = [f"{self.path}: {self.about}"]
        for name, words in self.understood.items():
            lines.append(f"  {name}: {words}")
        for notice in self.dirt:
            share = f" ({100.0 * notice.n / self.rows:.3g} %)" if self.rows and notice.n else ""
            lines.append(f"  ! {notice.removeprefix(f'{self.path}: ')}{share}")
        lines += ["next:", *(f"  {line}" for line in self.commands)] if self.commands else []
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return self.text().rstrip("\n")


def check_file(path: arguments.PathLike, *, write: arguments.PathLike | None = None) -> CheckedFile:
    r"""Say what a file is, what is understood of it, and what is wrong with it.

    Parameters
    ----------
    path : path
        A queue log, a game log in any format, tickets, a rule set in its wrapper, a world, a
        config, or a results folder.
    write : path, optional
        Write the config there (of a queue log or a rule set), or the mapping of columns (of a game
        log). An earlier one is replaced, another file is not.

    Returns
    -------
    CheckedFile
        What was found. A file that cannot be used has `errors`.

    Raises
    ------
    InputError
        If there is no such file, or nothing to write.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> votes = pathlib.Path(tempfile.mkdtemp(), "votes.csv")
    >>> _ = votes.write_text("model_a,model_b,winner\na,b,model_a\nb,a,tie\n")
    >>> valmatch.check_file(votes).kind
    'votes'
    """
    path = arguments.path("path", path)
    target = None if write is None else arguments.path("write", write)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    try:
        checked = _folder(path) if path.is_dir() else _file(path, target)
    except InputError as error:
        checked = _faulty(path, "unknown", "cannot be read", error.args)
    if target is None:
        return checked
    if not checked.writes:
        what = f"{path}: {checked.about}: there is nothing to write for it"
        raise InputError(what, *checked.errors)
    try:
        if target.exists() and not regular(target).read_bytes().startswith(MARK.encode()):
            raise InputError(f"{target}: exists, and valmatch check did not write it")
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}") from None
    with write_atomically(target) as output:
        output.write(checked.writes)
    name, commands = shlex.quote(str(target)), checked.commands
    commands = [line.replace("mine.yaml", name) for line in commands if "--write" not in line]
    return replace(checked, commands=commands)


def _commands(kind: str, path: Path, options: Sequence[str] = ()) -> list[str]:
    """Return what to type next, with options of commands on game logs."""
    words = " ".join([shlex.quote(str(path)), *options])
    return [line.format(words) for line in COMMANDS[kind]]


def _faulty(path: Path, kind: str, about: str, errors: Sequence[str]) -> CheckedFile:
    return CheckedFile(path, kind, about, errors=in_lines(errors))


def _seen_from(target: Path | None, path: Path) -> str:
    """Return the path of a file as a config that is written to a target names it."""
    return os.path.relpath(path.resolve(), (target.parent if target else Path()).resolve())


def _errors(path: Path, problems: Sequence[Problem]) -> list[str]:
    from valmatch.rule_sets.files import in_line

    return [in_line(path, problem) for problem in problems if problem.severity == "error"]


def _folder(path: Path) -> CheckedFile:
    """Return what is known of a folder."""
    from valmatch.present.presenting import load_result

    result, kind = load_result(path), "results folder"
    page = shlex.quote(f"{path.resolve().name}.html")
    report = f"valmatch report {shlex.quote(str(path))} -o {page}"
    understood = {"finding": result.finding, "warnings": f"{len(result.warnings):,}"}
    commands = [report, *_commands(kind, path)]
    return CheckedFile(path, kind, f"a {kind}: {result.title}", understood, commands=commands)


def _file(path: Path, target: Path | None) -> CheckedFile:
    """Return what is known of a file."""
    with open_text(path) as binary:
        head = binary.read(MAX_DOCUMENT).decode("utf-8", "replace").removeprefix("\ufeff")
    kind = kind_of_text(head)
    if kind == "empty":
        raise InputError(f"{path}: is empty")
    if kind == "JSON lines" and (checked := _tickets(path, head)):
        return checked
    is_table = kind in ("table", "PGN", "JSON lines") and path.suffix.lower() not in CODE
    if not is_table and (checked := _document(path, kind, target)):
        return checked
    if not is_table and kind != "list":
        what = "a template of CloudFormation without RuleSetBody" if RESOURCES.search(head) else ""
        line = f"{path}: is {what or 'of no known kind'} (allowed: {KNOWN})"
        return _faulty(path, "unknown", what or "of no known kind", [line])
    file = GameFile(path, None)
    if file.format == CSV and (names := _queue_columns(file)):
        return _queue_log(path, file, names, target)
    return _games(path, file)


def _document(path: Path, kind: str, target: Path | None) -> CheckedFile | None:
    """Return what a document is; None if it is none that is known."""
    from valmatch.matching.tickets.reading import has_world
    from valmatch.rule_sets.wrappers import MARKS

    if path.stat().st_size > MAX_DOCUMENT:
        with path.open("rb") as file:
            return _world(path) if b'"ruleSet"' in file.read(MAX_DOCUMENT) else None
    text = read_text(path).removeprefix("\ufeff")
    if kind == "JSON" and has_world(text):
        return _world(path)
    if re.search(r'^(model|\s*\{?\s*"model")\s*:', text, re.M) and not MARKS.search(text):
        return _config(path)
    if MARKS.search(text) or re.search(r'"?(ruleLanguageVersion|teams)"?\s*:', text):
        return _rules(path, text, target)
    return None


def _rules(path: Path, text: str, target: Path | None) -> CheckedFile:
    """Return what a rule set says, or where it stands in another file."""
    from valmatch.models.tickets.first_config import first_config
    from valmatch.rule_sets.files import as_remark, read_rule_file
    from valmatch.rule_sets.json_text import Problems
    from valmatch.rule_sets.wrappers import SERVICES, NoRuleSetError, body_of

    kind = "rule set"
    try:
        body = body_of(text)
    except NoRuleSetError as error:
        about = "a rule set that is not read from here"
        if any(called in error.what for called in (*SERVICES, "query of Nakama")):
            kind, about = "other service", "a file of another service"
        line, column = Problems(text).place(error.at)
        return _faulty(path, kind, about, [f"{path}:{line}:{column}: {error.what}"])
    reading = read_rule_file(path)
    about, last = "a FlexMatch rule set", {}
    if reading.is_short:
        about = "a rule set in the short form"
    if body is not None:
        about = f"{about} inside another file"
        last["stands at"] = "{}:{}".format(*Problems(text).place(body.places[0]))
    warnings = [as_remark(path, p) for p in reading.problems if p.severity != "error"]
    last |= {"warning": "; ".join(warnings[:3])} if warnings else {}
    table = reading.table
    if table is None:
        errors = in_lines(_errors(path, reading.problems))
        return CheckedFile(path, kind, about, last, errors=errors)
    names = {
        "teams": [f"{t.name} ({t.least.numbers[0]:g} to {t.largest:g})" for t in table.teams],
        "rules": [rule.name for rule in table.rules],
        "attributes": [attribute.name for attribute in table.attributes],
    }
    understood = {of: shortened(", ".join(them), 200) or "none" for of, them in names.items()}
    writes = f"{MARK}.\n{first_config(table, Path(_seen_from(target, path)))}"
    commands = _commands(kind, path)
    return CheckedFile(path, kind, about, understood | last, commands=commands, writes=writes)


def _world(path: Path) -> CheckedFile:
    """Return what a world is."""
    from valmatch.matching.tickets.reading import read_world

    world, problems = read_world(read_text(path))
    if world is None:
        return _faulty(path, "world", "a world with faults", _errors(path, problems))
    about = f"a world: a rule set with {counted(world.tickets.times.size, 'ticket')}"
    teams = {"teams": ", ".join(team.name for team in world.table.teams)}
    return CheckedFile(path, "world", about, teams, commands=_commands("world", path))


def _config(path: Path) -> CheckedFile:
    """Return what a config says."""
    from valmatch.config.factor_paths import flat
    from valmatch.config.identity import set_factors
    from valmatch.config.loading import load_config

    try:
        config = load_config(str(path))
    except InputError as error:
        return _faulty(path, "config", "a config with faults", error.args)
    changed = [f"{key}={value}" for key, value in flat(set_factors(config.factors)).items()]
    understood = {"changed factors": shortened(", ".join(changed), 300) or "none"}
    understood |= {key: str(file.path) for key, file in config.files.items()}
    understood |= {"warning": "; ".join(config.warnings)} if config.warnings else {}
    commands = _commands("config", path)
    if config.optimize.variables:
        commands.append(f"valmatch optimize {shlex.quote(str(path))} --out best")
    about = f"a config of the model {config.model}"
    return CheckedFile(path, "config", about, understood, commands=commands)


def _tickets(path: Path, head: str) -> CheckedFile | None:
    """Return what a list of tickets or of events is; None if its lines are games."""
    from valmatch.matching.tickets.reading import is_event_log, read_events

    first = head.partition("\n")[0]
    if is_event_log(first):
        kind, about = "event log", "a log of FlexMatch events"
        events, problems = read_events(read_text(path))
        if events is None:
            return _faulty(path, kind, about, _errors(path, problems))
        return CheckedFile(path, kind, about, commands=_commands(kind, path))
    if not re.search(r'"players"\s*:\s*\[', first) or '"time"' not in first:
        return None
    lines, kind = [line for line in read_text(path).split("\n") if line.strip()], "tickets"
    again = len(lines) - len(set(lines))
    attributes = dict[str, None]()
    for number, line in enumerate(lines, 1):
        try:
            for player in json.loads(line)["players"]:
                attributes |= dict.fromkeys(player.get("attributes") or {})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            wrong = f"{path}: ticket {number} is no JSON object with players"
            return _faulty(path, kind, "a list of tickets with faults", [wrong])
    text = f"{again:,} exact duplicates of other tickets"
    dirt = [Notice(text, "duplicate_rows", again)] if again else []
    about = f"a list of {counted(len(lines), 'ticket')}"
    names, commands = shortened(", ".join(attributes), 200) or "none", _commands(kind, path)
    understood = {"attributes": names}
    return CheckedFile(path, kind, about, understood, dirt, len(lines), commands=commands)


def _queue_columns(file: GameFile) -> dict[str, str]:
    """Return the columns of a queue log by meaning; nothing if a file is none."""
    if {"player", "rating", "games"} <= {*file.header}:  # ratings, as they are written here
        return {}
    plain = by_plain_name(file.header)
    names = usual_columns(plain, QUEUE_NAMES)
    others = [name for name in plain.values() if name not in names.values()]
    rated = [name for name in others if RATED.search(name.casefold())]
    if "rating" not in names and rated:
        names["rating"] = rated[0]
    # A column of times may also have another name.
    timed = (name for name in others if all(map(is_moment, file.sample(name) or ["-"])))
    if "arrival_hours" not in names and (when := next(timed, "")):
        names["arrival_hours"] = when
    sides = [name for name in plain if re.search("(winner|loser|white|black|away|opponent)", name)]
    paired = {*plain} & {"home", "playera", "playerb", "player1", "player2", "modela", "modelb"}
    if "rating" not in names or sides or paired or "score" in plain or {"id", "time"} <= {*plain}:
        return {}
    return names if "arrival_hours" in names else {}


def _queue_log(
    path: Path, file: GameFile, names: Mapping[str, str], target: Path | None, sort: bool = False
) -> CheckedFile:
    """Return what a queue log holds, and the config that reads it."""
    from valmatch.config.writing import document
    from valmatch.models.valorant.factors import ValorantFactors
    from valmatch.models.valorant.log_factors import LogFactors
    from valmatch.models.valorant.queue_log import read_queue_log

    columns = {meaning: name for meaning, name in names.items() if meaning != name}
    if {"elo", "kd", "wr"} <= {*file.header} and columns.get("rating") == "elo":
        del columns["rating"]
    log: dict[str, Any] = {"columns": columns} if columns else {}
    if file.separator != ",":
        log["separator"] = SEPARATOR_NAMES[file.separator]
    dirt: list[Notice] = []
    if sort:
        log["sort"] = True
        dirt.append(Notice("rows are not in order of time: log.sort sorts them", "unsorted", 0))
    multipliers = ValorantFactors.model_validate({}).multiplier_matrix

    def read() -> QueueLog:
        how = {"skip_bad_rows": True, "max_bad_rows": 1.0, **log}
        return read_queue_log(path, LogFactors.model_validate(how), multipliers, None)

    try:
        first = read()
    except InputError as error:
        if not sort and "is before the row above" in str(error):
            return _queue_log(path, file, names, target, sort=True)
        return _faulty(path, "queue log", "a queue log with faults", error.args)
    notices = [Notice.of(notice) for notice in first.remarks]
    dirt += [n for n in notices if not isinstance(n, Note) or n.kind == "queued_again"]
    cleaned = _cleaned(first, log, read)
    rows = first.players.times.size
    rows += sum(n.n for n in dirt if n.kind in ("rows_left_out", "duplicate_rows"))
    players, kind = cleaned.players.times.size, "queue log"
    hours, ratings, since = first.players.times, cleaned.players.ratings, first.midnight
    start = f"; hours are counted from {since.isoformat(' ', 'minutes')}" if since else ""
    understood = {
        "format": f"CSV, separator {SEPARATOR_NAMES[file.separator]}",
        "columns": ", ".join(f"{meaning} = {name}" for meaning, name in first.columns.items()),
        "times": f"{hours[-1] - hours[0]:,.4g} hours{start}",
        "ratings": f"{ratings.min():g} to {ratings.max():g}",
    }
    if keys := {key: log[key] for key in ("where", "missing") if key in log}:
        understood["proposed"] = f"{json.dumps(keys, ensure_ascii=False)}: {players:,} players"
    text = document(
        f"How the queue log is read: {players:,} players. Add your rule: valmatch factors"
        " valorant lists its numbers.",
        "valorant",
        {"log": log} if log else {"team_num": 5},
        arrivals=_seen_from(target, path),
    )
    about, writes = f"a queue log: {counted(rows, 'row')}", f"{MARK}.\n{text}{TO_OPTIMIZE}"
    commands = _commands(kind, path)
    return CheckedFile(path, kind, about, understood, dirt, rows, commands=commands, writes=writes)


def _cleaned(first: QueueLog, log: dict[str, Any], read: Callable[[], QueueLog]) -> QueueLog:
    """Return a log without what is not to be simulated, which is added to how it is read."""
    for column, counts in first.states.items():
        if cancelled := [value for value in counts if NOT_PLAYED.search(value.casefold())]:
            log.setdefault("where", {})[column] = {"not": cancelled}
    cleaned = read()
    if cleaned.sentinels:
        log["missing"] = list(cleaned.sentinels)
        cleaned = read()
    bad = sum(n.n for n in map(Notice.of, cleaned.remarks) if n.kind == "rows_left_out")
    share = bad / (bad + cleaned.players.times.size)
    log |= {"skip_bad_rows": True} if bad else {}
    log |= {"max_bad_rows": -(-100 * share // 1) / 100} if share > 0.05 else {}
    return cleaned


def _games(path: Path, file: GameFile, ambiguous: str = "") -> CheckedFile:
    """Return what a game log holds, and how it is read, with what is said of ambiguous dates."""
    from valmatch.game_logs.options import LogOptions
    from valmatch.game_logs.reading.log import GameLog

    dirt = [Notice(ambiguous, "ambiguous_dates", 0)] if ambiguous else []
    order = "dmy" if ambiguous else None
    try:
        how = LogOptions(skip_bad_games=True, max_bad_rows=1.0, date_format=order)
        log = GameLog(path, how, unused=["minutes"])
        games = log.games()
    except InputError as error:
        if not ambiguous and option("date_format") in str(error):
            return _games(path, file, error.args[0])
        return _table(path, file, error)
    understood, reading = {"format": log.file.format}, log.reading
    if log.file.format == CSV:
        understood["format"] = f"CSV, separator {SEPARATOR_NAMES[log.file.separator]}"
    understood["columns"] = ", ".join(f"{m} = {name}" for m, name in reading["columns"].items())
    understood |= {key: reading[key] for key in ("times", "words") if reading[key]}
    known = ("guessed_format", "games_without_result")
    dirt += [n for n in log.warnings() if n.kind not in known and not isinstance(n, Note)]
    if log.unfinished:
        understood["without a result"] = f"{counted(log.unfinished, 'game')}, skipped"
    bad, names = log.bad.counts.total(), log.players.texts
    understood["players"] = shortened(", ".join(map(one_line, names[:10])), 100)
    rows = games.n_games + log.unrated + bad + log.unfinished
    share = -(-100 * bad // max(rows, 1)) / 100
    sides = [reading["columns"].get(m, "") for m in ("player_a", "player_b")]
    votes = all(name.casefold().startswith("model") for name in sides)
    kind = "votes" if votes else "PGN" if log.file.format == PGN else "game log"
    options = ["--skip-bad-games"] if bad else []
    options += [f"--max-bad-rows {share:g}"] if share > 0.05 else []
    options += ["--date-format dmy"] if ambiguous else []
    called = {"PGN": "games in PGN", "votes": "a game log of votes"}.get(kind, "a game log")
    commands = _commands(kind, path, options)
    if len(names) == 2 and all(name.isprintable() and name[:1] != "-" for name in names):
        words = [str(path), "--player", names[0], "--against", names[1]]
        commands.append(f"valmatch sprt {' '.join([*map(shlex.quote, words), *options])}")
    about = f"{called}: {counted(rows, 'game')} between {counted(len(log.players), 'player')}"
    writes = _mapping(path, log, share if bad else None)
    return CheckedFile(path, kind, about, understood, dirt, rows, commands=commands, writes=writes)


def _mapping(path: Path, log: GameLog, bad: float | None) -> str:
    """Return the options by which a log is read; `bad` is the share of bad games, if any are."""
    names = ("columns", "results", "date_format", "separator")
    options = {name: log.reading[name] for name in names if log.reading[name]}
    options |= {} if bad is None else {"skip_bad_games": True, "max_bad_rows": bad}
    head = f"{MARK}: options of rate, rank and rate_games(FILE, **options) for {path.name}."
    lines = [f"{name}: {json.dumps(x, ensure_ascii=False)}" for name, x in options.items()]
    return "\n".join([head, *lines, ""])


def _table(path: Path, file: GameFile, error: InputError) -> CheckedFile:
    """Return what a table is that is no log."""
    header = {name.casefold() for name in file.header}
    columns = shortened(", ".join(file.header), 120)
    for needed, about in TABLES.items():
        if {*needed} <= header:
            commands = _commands(about, path)
            return CheckedFile(path, "table", about, {"columns": columns}, commands=commands)
    logs = "a queue log has columns for time and rating, a game log for two sides and a result"
    lines = [f"{path}: {logs} (found: {columns})"] if file.format == CSV else []
    about = f"a table that is no log ({file.format})"
    return _faulty(path, "unknown", about, [*lines, *error.args])
