"""Bad options and arguments of every command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from tests.bad_inputs.bases import BATCH, BATCH_LOG, BELIEF, LOG
from tests.bad_inputs.case import FAULTY, Case, Content, Odd
from tests.bad_inputs.damage import ESCAPES, HUGE, LONG
from valmatch.text.terminal import escaped

Words = tuple[str, ...]

REPLICATE: Words = ("replicate", "valorant", "-n", "2")
SIMULATE: Words = ("simulate", "valorant")
EXPLORE: Words = ("explore", "valorant", "-n", "2", "-o", "page.html")
COMPARE: Words = ("compare", "valorant", "--set", "team_diff=300", "-n", "2")
OPTIMIZE: Words = ("optimize", "valorant-20min", "--budget", "100")
COMBINE: Words = ("combine", "out", "shard")
RATE: Words = ("rate", LOG)
PLAN: Words = ("plan", "--players", "3", "--spread", "9", "--best", "0.3", "--replications", "2")
SPRT: Words = ("sprt", "--counts", "20,60,22")
RANK: Words = ("rank", BATCH_LOG, *BATCH)
NEXT: Words = ("next", BELIEF)

WRITING: Sequence[Words] = (REPLICATE, SIMULATE, COMPARE, OPTIMIZE, RATE)

WORDS: Words = ("", " ", "word", "\N{NO-BREAK SPACE}", "\udcff", "1\n2", LONG, *ESCAPES)

WHOLE: Words = (
    "-1", "1.5", "1e-3", "0x10", "1_000", "+", "1,00", "\N{SUPERSCRIPT TWO}", "nan", "-", HUGE,
    "\N{ARABIC-INDIC DIGIT ONE}", "\N{FULLWIDTH DIGIT ONE}", *WORDS,
)  # fmt: skip

POSITIVE: Words = ("0", *WHOLE)

LEVEL: Words = (
    "0", "1", "1.0", "-0.5", "nan", "inf", "95%", "0,95", "1e-400", "0.95.1", HUGE, *WORDS,
)  # fmt: skip

TIME: Words = ("0", "-1", "1x", "1:2", "::", "1e3", "nan", "0s", "00:00:00", "1 fortnight", *WORDS)

SHARD: Words = (
    "1/1", "-1/2", "a/b", "1", "/", "1/0", "0/0", "1/2/3", " 0/2", f"{HUGE}/1", f"0/{HUGE}",
    "0/1.5", "\N{SUPERSCRIPT TWO}/3", "0//2", *WORDS,
)  # fmt: skip

SWEEP: Words = (
    "=", "team_diff", "team_diff=", "team_diff=1:2:0", "team_diff=2:1:1", "team_diff=nan:1:1",
    "team_diff=0:1e9:1e-9", "team_diff=1:inf:1", "nothing=1,2", "team_diff=a,b", "=1,2",
    "team_diff=[", f"team_diff={'[' * 5000}", f"team_diff={HUGE}", "model=x,y", "team_diff=-1",
    "team_diff=1e400", f"{LONG}=1", "\x1b[2J=1,2", "team_diff=\x1b[2J", "team_diff=1:2:1e-400",
    "team_diff=*a", "team_diff=1:2:NaN", "team_diff=1e999999999:1:1", *WORDS,
)  # fmt: skip

FRONTIER: Words = ("nothing=1:2:1", "upper_time=2:1:1", "upper_time=1:2:0", "upper_time", "=1:2:1")
FRONTIER += ("upper_time=a:b:c", "upper_time=nan:nan:nan", "upper_time=1:1e9:1e-3", "upper_time=")
FRONTIER += ("upper_time=1:2", f"upper_time=1:{HUGE}:1", "upper_time=1:2:1e-400", *WORDS)

TARGET: Words = (
    "avg_wait_time", "=1%", "avg_wait_time=", "avg_wait_time=0", "avg_wait_time=-1", "x=1%",
    "avg_wait_time=abc%", "avg_wait_time=nan", "avg_wait_time=inf", "avg_wait_time=1%%",
    "avg_wait_time=%", "avg_wait_time=1e400%", f"{LONG}=1%", "\x1b[2J=1%", *WORDS,
)  # fmt: skip

SET: Words = (
    "", "=", "a", "=1", "team_diff", ".=1", "factors.=1", "a..b=1", "team_diff=[", "team_diff={",
    "nothing=1", "team_diff=abc", "team_diff=.nan", "team_diff=-1", "team_diff=1e400",
    "factors.poisson_rate.99=1", "factors.poisson_rate.x=1", "model=word", "model.x=1", "factors=3",
    "replicate=3", f"{'a.' * 40}b=1", f"team_diff={'[' * 5000}", "team_diff=*a",
    "team_diff=&a [*a]", "a\x1b[2J=1", "team_diff=\x1b[2J", 'team_diff="\\e[2J"', "\udcff=1",
    "team_diff=\udcff", f"team_diff={HUGE}", f"{LONG}=1", f"team_diff={LONG}", "poisson_rate=[]",
    f"factors.poisson_rate.{HUGE}=1", "factors.poisson_rate.\N{SUPERSCRIPT TWO}=1", "\n=\n",
    "arrivals=nowhere.csv", "arrivals=\x1b[2J", f"arrivals={LONG}", 'arrivals="a\\0b"',
    "team_num=0", '"a\\nb"=1', "team_num=0.5", "matching=word", "cov_matrix=[[1]]", "cov_matrix=3",
)  # fmt: skip

PARAMETER: Words = (
    "", "T", "T=", "T=abc", "T=nan", "T=-1", "NOTHING=1", "T=1e400", "=1", "T=1=2", "T=inf",
    "\x1b[2J=1", "T=\x1b[2J", f"{LONG}=1", f"T={LONG}", "\udcff=1", "T=0", f"T={HUGE}",
)  # fmt: skip

COLUMNS: Words = (
    "x", "=", "game=", "=game", "nothing=a", "game=a,game=b", "game=nothing", '"', '"game=a',
    "game=\x1b[2J", "\x1b[2J=game", f"game={LONG}", f"game={'x' * 200_000}", ",", "game=\n",
    "game=game,,", "\udcff=a", "game=\udcff",
)  # fmt: skip

TUNE: Words = ("nothing", ",", "T,", "T T", "T,nothing", "\x1b[2J", LONG, "\udcff", "t")

SOLVER: Words = (
    "word", ",", "auto,", "auto,word", "AUTO", "auto auto", " ", "\x1b[2J", LONG, "\udcff",
)  # fmt: skip

NAME: Words = ("word", " ", "LOCAL", "\x1b[2J", LONG, "\udcff", "local\n")

SCHEDULER: Words = (
    "nonsense", "tcp://", "tcp://localhost:port", "ftp://x", "tcp://:99999", "\x1b[2J", " ",
)  # fmt: skip

COUNTS: Words = ("", ",", "1", "1,2", "1,2,3,4", "1,2,3,", "-1,2,3", "1,nan,3", "1.5,2,3", "0,0,0")
COUNTS += (f"1,2,{HUGE}", "\N{SUPERSCRIPT TWO},1,1", "1;2;3", "1,\n,3", *WORDS)

ELO: Words = ("nan", "inf", "1e400", "3000", "1_0", "", *ESCAPES, LONG)

POINTS: Words = ("0", "-1", "nan", "inf", "1e400", "1e7", "word", "", *ESCAPES, LONG)
CHOICE: Words = ("word", "DAVIDSON", "half,davidson", "none ", *ESCAPES, LONG, "\udcff")
COLUMN: Words = ("nothing", "W", "w,w", *ESCAPES, LONG, "\udcff")
GOAL: Words = ("word", "BEST", "best,order", "order ", *ESCAPES, LONG, "\udcff")
PLAYERS: Words = (",", "a,,b", "nobody", "a,nobody", *ESCAPES, LONG, "\udcff")
SHARE: Words = tuple(one for one in LEVEL if one not in ("0", "1", "1.0", "1e-400"))

BY_COMMAND: Sequence[tuple[Words, Mapping[str, Words]]] = (
    (REPLICATE, {"-n": POSITIVE, "--seed": WHOLE, "--workers": POSITIVE, "--shard": SHARD}),
    (REPLICATE, {"--sweep": SWEEP, "--target": TARGET}),
    (EXPLORE, {"--over": (*SWEEP, "team_diff=1,1", "team_diff=1:9000:1")}),
    ((*REPLICATE, "--target", "avg_wait_time=50%"), {"--max-reps": POSITIVE}),
    (REPLICATE, {"--confidence": LEVEL, "--max-time": TIME, "--executor": NAME}),
    ((*REPLICATE, "--executor", "dask"), {"--scheduler": SCHEDULER}),
    (REPLICATE, {"--set": SET}),
    (SIMULATE, {"--set": SET, "--seed": WHOLE, "--replication": WHOLE}),
    (COMPARE, {"--set": SET, "-n": POSITIVE, "--confidence": LEVEL, "--executor": NAME}),
    (OPTIMIZE, {"--budget": POSITIVE, "--solver": SOLVER, "--macroreps": POSITIVE}),
    (OPTIMIZE, {"--sweep": FRONTIER, "--workers": POSITIVE, "--confidence": LEVEL}),
    (OPTIMIZE, {"--max-time": TIME}),
    (COMBINE, {"--expect": POSITIVE, "--confidence": LEVEL}),
    (RATE, {"--system": NAME, "--columns": COLUMNS, "--set": PARAMETER, "--tune": TUNE}),
    ((*RATE, "--tune", "T"), {"--train": LEVEL}),
    (RATE, {"--burn-in": WHOLE}),
    (PLAN, {"--players": ("1", "501", *POSITIVE), "--spread": ("-1", "1e7", *ELO[:3], *ELO[4:])}),
    (PLAN, {"--best": LEVEL, "--shown": ("0.5", *LEVEL), "--half-width": ("10", "0", *ELO[:3])}),
    (PLAN, {"--draws": ("1", "-0.1", "2", *ELO[:3]), "--prior": ("0", "-1", "word", "", *ELO[:3])}),
    (PLAN, {"--policy": NAME, "--goal": ("best", *NAME), "--replications": ("1", *POSITIVE)}),
    (PLAN, {"--max-games": ("1", *POSITIVE), "--batch": POSITIVE, "--level": LEVEL}),
    (PLAN, {"--sides": ("1", "4", "501", *POSITIVE), "--team": ("2", "251", *POSITIVE)}),
    (PLAN, {"--seed": WHOLE, "--workers": POSITIVE}),
    (SPRT[:1], {"--counts": COUNTS}),
    (SPRT, {"--elo0": ("5", *ELO), "--elo1": ("0", "-3", *ELO), "--alpha": LEVEL}),
    (SPRT, {"--beta": ("0.95", *LEVEL), "--player": ("word", *ESCAPES)}),
    (RANK, {"--prior": (*POINTS, "1e-9", "1e-300"), "--anchors": ("nowhere.csv", ".")}),
    (RANK, {"--level": LEVEL, "--draws": CHOICE, "--home": (*CHOICE, "fit"), "--interval": CHOICE}),
    (RANK, {"--time-unit": CHOICE, "--cluster": COLUMN, "--weight": COLUMN, "--covariate": COLUMN}),
    (RANK, {"--cluster-days": (*POSITIVE, "7"), "--bootstrap": WHOLE, "--seed": WHOLE}),
    (RANK, {"--top": WHOLE, "--system": ("elo", "bt", "bradley_terry,elo", *CHOICE[:2])}),
    (RANK, {"--set": ("mean", "mean=", "mean=word", "mean=nan", "K=1", *ESCAPES)}),
    (RANK, {"--tune": ("mean", "K", *WORDS[2:])}),
    (NEXT, {"--policy": (*GOAL, "uniform,closeness", "knowledge_gradient,"), "--goal": GOAL}),
    ((*NEXT, "--policy", "uniform"), {"--goal": ("best", "order", *GOAL)}),
    (NEXT, {"--batch": POSITIVE, "--without": (*PLAYERS, "a,b,c,d,e,f,g", "a,b,c,d,e,f")}),
    (NEXT, {"--new": (",", "a,,b", "a", "zoe,zoe", "zoe,b", "\udcff"), "--explore": SHARE}),
    (NEXT, {"--seed": WHOLE, "--allowed": ("nowhere.csv", BELIEF, *ESCAPES)}),
)
BAD = [(argv, *one) for argv, options in BY_COMMAND for one in options.items()]
"""What no option can be."""

MAYBE: Sequence[tuple[Words, str, Words]] = (
    ((*REPLICATE, "--max-time", "0.2"), "-n", ("1" + "0" * 9, "1" + "0" * 15, "9" * 4000)),
    (REPLICATE, "--seed", ("9" * 100, "9" * 4000)),
    (SIMULATE, "--replication", ("9" * 18, "9" * 20, "9" * 4000)),
    ((*REPLICATE, "--target", "avg_wait_time=50%"), "--max-reps", ("1", "9" * 30)),
    (REPLICATE, "--scheduler", ("", "nonsense", "\x1b[2J")),
    (REPLICATE, "--executor", ("",)),
    (REPLICATE, "--shard", ("\N{ARABIC-INDIC DIGIT ZERO}/2", "5/9", f"0/{'9' * 4000}")),
    (REPLICATE, "--confidence", ("0.\N{ARABIC-INDIC DIGIT NINE}", "1e-300", "0.9999999999999999")),
    (REPLICATE, "--max-time", (f"{HUGE}", "\N{ARABIC-INDIC DIGIT NINE}", "9999999-00:00:00")),
    (REPLICATE, "--target", ("avg_wait_time=\N{ARABIC-INDIC DIGIT NINE}%", "avg_wait_time=1e300%")),
    (
        REPLICATE,
        "--sweep",
        ("replicate.n=1,2", "design.points=1,2", "team_diff=1,,2", "team_diff=1,1"),
    ),
    (REPLICATE, "--set", ("team_num=1000000000", "horizon=1e300", "rate_multiplier=1e9")),
    (REPLICATE, "--set", ("rate_multiplier=1e300", "team_diff=1e308", "horizon=1e-300")),
    (COMBINE, "--expect", ("1", "9" * 12, "9" * 20, "9" * 4000)),
    (OPTIMIZE, "--solver", ("", "auto,auto")),
    (OPTIMIZE, "--sweep", ("",)),
    ((*OPTIMIZE, "--max-time", "0.2"), "--budget", ("9" * 12, "9" * 4000)),
    ((*OPTIMIZE, "--max-time", "0.2"), "--macroreps", ("9" * 9, "9" * 30)),
    (RATE, "--set", ("T=1e308", "T=1e-308", "GAME_MULT=1e308", "T=\N{ARABIC-INDIC DIGIT NINE}")),
    (RATE, "--burn-in", ("9" * 30, "9" * 4000)),
    (RATE, "--tune", ("", "T,T")),
    (RATE, "--columns", ("", "game=game")),
)
"""What is odd, and may be meant."""

USAGE: Sequence[tuple[Words, str]] = (
    ((*RANK, "--interval", "none", "--bootstrap", "3"), "--interval"),
    ((*RANK, "--interval", "none", "--cluster", "voter"), "--interval"),
    ((*RANK, "--cluster", "voter", "--cluster-days", "7"), "--cluster"),
    ((*RANK, "--covariate", "x", "--covariate", "x"), "--covariate"),
    ((*RANK, "--cluster", "voter,voter"), "--cluster"),
    ((*RANK, "--covariate", "flat"), "--covariate"),
    *(((*command, "--nothing"), "--nothing") for command in (*WRITING, COMBINE)),
    *(((*command, "-z"), "-z") for command in WRITING),
    *(((*command, "--\x1b[2J"), "--") for command in WRITING),
    *(((*command, f"--{LONG}"), "--xxx") for command in WRITING),
    *(((*command, "--out"), "--out") for command in WRITING),
    *(((*command, "--json=1"), "--json") for command in WRITING),
    *(((*command, "--resume"), "--resume") for command in (REPLICATE, COMPARE, OPTIMIZE)),
    ((*SIMULATE, "further"), "further"),
    ((*REPLICATE, "\x1b[2J"), "extra argument"),
    ((*REPLICATE, LONG), "xxx"),
    ((*COMPARE, "valorant", "further"), "further"),
    (("replicat", "valorant"), "replicat"),
    (("\x1b[2J",), "command"),
    ((LONG,), "xxx"),
    (("",), "command"),
    (("\udcff",), "command"),
    (("replicate",), "CONFIG"),
    (("compare", "valorant"), "compare"),
    (("combine",), "DIR"),
    (("rate",), "GAMES"),
    (("plot",), "DIR"),
    (("factors", "word"), "word"),
    (("factors", ""), "model"),
    (("factors", "\x1b[2J"), "model"),
    (("factors", LONG), "xxx"),
    (("factors", "\udcff"), "model"),
)
"""Wrong usage, with what the message must hold."""

SOURCES: Words = (
    "word", "nowhere.yaml", "valorant.yml", "", ".", "/dev/zero", "/dev/null", "\x1b[2J", "\udcff",
    "n" * 300, LONG, "a/../b", "valorant/", "-", "/proc/self/mem", "x\ny", "~",
)  # fmt: skip

OUTS: Mapping[str, tuple[dict[str, Content], bool]] = {
    "": ({}, True),
    FAULTY: ({FAULTY: b"here before"}, True),
    f"{FAULTY}/sub": ({FAULTY: b"here before"}, True),
    f"{FAULTY}/": ({FAULTY: Odd.PIPE}, True),
    f"{FAULTY}.": ({f"{FAULTY}.": Odd.DANGLING}, False),
    f"{FAULTY}0": ({f"{FAULTY}0": Odd.ZEROS}, True),
    **dict.fromkeys(("n" * 300, f"a/{'n' * 300}/b", "n/" * 3000), ({}, True)),
    **dict.fromkeys(("/dev/null", "/dev/null/sub", "/proc/nowhere"), ({}, True)),
    **dict.fromkeys((f"{FAULTY}\x1b[2J", f"{FAULTY}\udcff", f"{FAULTY}\n2"), ({}, False)),
}
"""Bad folders, with what is there and whether they are certainly refused."""


def option_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a command with a bad option or argument."""
    given = (LOG, "shard", BATCH_LOG, BELIEF)
    files: dict[str, Content] = {name: bases / name for name in given}
    kind = rng.choice(("bad",) * 8 + ("maybe", "maybe", "usage", "usage", "source", "out", "out"))
    if kind in ("bad", "maybe"):
        argv, option, values = rng.choice(BAD if kind == "bad" else MAYBE)
        value = rng.choice(values)
        argv = (*argv, *(() if argv[0] in ("combine", "sprt") else ("--out", "out")), option, value)
        names = [option, "design: "] if option == "--sweep" else [option]
        names += [value, escaped(value), "--"] if argv[0] in ("rank", "next") else []
        certain = kind == "bad" and (argv[0] != "next" or bool(value.strip()))
        return _case(number, argv, files, names, certain, f"{option} {value[:60]!r}")
    if kind == "usage":
        argv, name = rng.choice(USAGE)
        return _case(number, argv, files, [name], True, " ".join(argv)[:60])
    if kind == "source":
        command, source = rng.choice(WRITING), rng.choice(SOURCES)
        argv = (command[0], source, *command[2:], "--out", "out")
        shown = source[:5] if source.isprintable() else ""
        return _case(number, argv, files, [shown], True, f"{command[0]} {source[:40]!r}")
    out, (there, certain) = rng.choice(list(OUTS.items()))
    command = rng.choice((*WRITING, COMBINE))
    argv = ("combine", out, "shard") if command is COMBINE else (*command, "--out", out)
    names = [FAULTY] if FAULTY in out else ["DIR" if command is COMBINE else "--out"]
    if command is COMBINE and out:
        names = [out[:5]]
    case = _case(number, argv, files | there, names, certain, f"{command[0]} --out {out[:40]!r}")
    return case._replace(out=out)


def _case(
    number: int,
    argv: Words,
    files: Mapping[str, Content],
    names: Sequence[str],
    certain: bool,
    what: str,
) -> Case:
    stdin = b"\xff\0[" if argv[1:2] == ("-",) else b""
    return Case("options", number, argv, files, names, certain, stdin=stdin, what=what)
