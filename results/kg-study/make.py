"""Make the tables and pictures of this folder.

    python results/kg-study/make.py SCRATCH

SCRATCH takes the runs, some 1 GB; those that are finished there are not made again. They take
a quarter of an hour on two free cores. What is done is said on stderr. `--priors` makes the runs of
`PLAN.md` and what follows from them alone.
"""

from __future__ import annotations

import csv
import json
import math
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from results import opponent_priors as priors
from results.pages import add_page, counted, fill, parser, read, table
from valmatch.config.loading import load
from valmatch.experiments.replicate import replicate
from valmatch.plots.drawing import plot_files
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent

UPDATES = ("corrected", "as_printed")
SETTINGS = {
    "informative": ("informative", "mean"),
    "equal": ("equal", "mean"),
    "equal_by_skill": ("equal", "skill"),
}
"""What is believed at first, and what player 0's rank goes by."""

RANKS = ("top", "12", "25", "37", "bottom")
EXTREMES, MIDDLE = ("top", "bottom"), ("12", "25", "37")
SEEDS = (1, 2, 3, 4, 5)
CASES = tuple(product(UPDATES, SETTINGS, RANKS, SEEDS))
N_CLAIMS, N_FIGURES = 2000, 10_000

KG, RIVALS = "knowledge_gradient", ("point_estimate", "draw_chance")
MEASURES = ("true_draw_probability", "squared_error", "skill_difference", "win_fraction")
WINDOWS = ("1-100", "101-200", "201-500")

FIGURES = {
    ("fig1", "corrected"): ("kg-fig1-top", "kg-fig1-bottom"),
    ("fig2", "corrected"): ("kg-fig2-12", "kg-fig2-25", "kg-fig2-37"),
    ("fig3", "corrected"): ("kg-fig3-12", "kg-fig3-25", "kg-fig3-37"),
    ("fig4", "corrected"): ("kg-fig4",),
    ("extremes", "corrected"): ("kg-equal-top", "kg-equal-bottom"),
    ("fig1", "as_printed"): ("kg-fig1-top", "kg-fig1-bottom"),
    ("fig3", "as_printed"): ("kg-fig3-12", "kg-fig3-25", "kg-fig3-37"),
}
SURE = 2.0
"""Standard errors from which a difference counts."""

Row = dict[str, Any]


class Job(NamedTuple):
    """A run: where it goes, and the arguments of ``valmatch replicate``."""

    folder: Path
    config: str
    overrides: list[str]
    n: int
    seed: int


def claim_folder(scratch: Path, update: str, setting: str, rank: str, seed: int) -> Path:
    """Return where the run for the claims is."""
    return scratch / "claims" / f"{update}-{setting}-{rank}-{seed}"


def prior_folder(scratch: Path, update: str, setting: str, rank: str) -> Path:
    """Return where the run over priors is."""
    return scratch / "priors" / f"{update}-{setting}-{rank}"


def prior_jobs(scratch: Path) -> Iterator[Job]:
    """Yield the runs in which each path has a prior of its own."""
    for update, setting, rank in product(UPDATES, SETTINGS, RANKS):
        prior, rank_by = SETTINGS[setting]
        folder = prior_folder(scratch, update, setting, rank)
        overrides = priors.words(update, prior, rank, rank_by)
        yield Job(folder, "kg-fig1-top", overrides, priors.N, priors.SEEDS[rank])


def jobs(scratch: Path) -> Iterator[Job]:
    """Yield all runs."""
    for update, setting, rank, seed in CASES:
        folder = claim_folder(scratch, update, setting, rank, seed)
        prior, rank_by = SETTINGS[setting]
        overrides = [f"update={update}", f"prior={prior}", f"rank={rank}", f"rank_by={rank_by}"]
        yield Job(folder, "kg-fig1-top", overrides, N_CLAIMS, seed)
    for (figure, update), configs in FIGURES.items():
        for place, config in enumerate(configs):
            folder = scratch / f"{figure}-{update}" / f"{place}-{config}"
            yield Job(folder, config, [f"update={update}"], N_FIGURES, 1)


def run(job: Job) -> None:
    """Make a run, unless that is done."""
    manifest = job.folder / "manifest.json"
    if manifest.is_file() and json.loads(manifest.read_text())["status"] == "complete":
        return
    config = load(job.config, job.overrides)
    if not replicate(config, job.n, job.seed, out=job.folder).complete:
        sys.exit("interrupted")


def draw_figures(scratch: Path) -> None:
    """Draw the paper's figures, the configs of a figure side by side."""
    for figure, update in FIGURES:
        picture, _ = plot_files(scratch / f"{figure}-{update}")
        shutil.copy(picture, HERE / f"{figure}-{update}.png")


def rounded(row: Row) -> Row:
    """Return a row with its numbers in five digits."""
    return {k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in row.items()}


def window_rows(scratch: Path) -> Iterator[Row]:
    """Yield the means of each policy and the paired differences of every run."""
    for update, setting, rank, seed in CASES:
        folder = claim_folder(scratch, update, setting, rank, seed)
        summary = json.loads((folder / "summary.json").read_text())
        cells = [*product(MEASURES, WINDOWS), ("expected_quality", "total")]
        for measure, games in cells:
            row: Row = {"update": update, "setting": setting, "rank": rank, "seed": seed}
            row |= {"measure": measure, "games": games}
            for policy in (*RIVALS, KG):
                facts = summary["windows"][policy][measure][games]
                row |= {policy: facts["mean"], f"{policy}_se": facts["std_error"]}
            for rival in RIVALS:
                facts = summary["paired"][KG][rival][measure][games]
                row |= {f"kg_minus_{rival}": facts["mean"]}
                row |= {f"kg_minus_{rival}_se": facts["std_error"]}
            yield rounded(row)


def passing_rows(scratch: Path) -> Iterator[Row]:
    """Yield the game from which on the knowledge gradient has the highest true draw probability."""
    for update, setting, rank, seed in CASES:
        curves: dict[str, list[float]] = {}
        path = claim_folder(scratch, update, setting, rank, seed) / "curves.csv"
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                if row["measure"] == "true_draw_probability":
                    curves.setdefault(row["policy"], []).append(float(row["mean"]))
        games = zip(*(curves[policy] for policy in (KG, *RIVALS)), strict=True)
        ahead = [kg > max(rivals) for kg, *rivals in games]
        behind = max((game for game, is_ahead in enumerate(ahead, 1) if not is_ahead), default=0)
        yield {
            "update": update,
            "setting": setting,
            "rank": rank,
            "seed": seed,
            "ahead_from_game": behind + 1 if behind < len(ahead) else None,
        }


def difference(row: Row, rival: str) -> tuple[float, float]:
    """Return the knowledge gradient minus a rival, and the standard error."""
    return row[f"kg_minus_{rival}"], row[f"kg_minus_{rival}_se"]


def nearer(row: Row, rival: str) -> tuple[float, float]:
    """Return how much nearer to its ideal the mean is than the rival's, and the standard error."""
    ideal = 0.5 if row["measure"] == "win_fraction" else 0.0
    kg, other = row[KG] - ideal, row[rival] - ideal
    gain = abs(other) - abs(kg)
    if kg * other >= 0:
        return gain, row[f"kg_minus_{rival}_se"]
    # On different sides of the ideal the gain is a sum, not a difference.
    both = 2 * (row[f"{KG}_se"] ** 2 + row[f"{rival}_se"] ** 2)
    return gain, math.sqrt(max(both - row[f"kg_minus_{rival}_se"] ** 2, 0.0))


class Claim(NamedTuple):
    """Something the paper says; `sign` is that of a difference that confirms it."""

    name: str
    measure: str
    games: str
    ranks: tuple[str, ...]
    compare: Callable[[Row, str], tuple[float, float]]
    sign: int


CLAIMS = (
    Claim("1a lower draw probability at first", MEASURES[0], "1-100", EXTREMES, difference, -1),
    Claim("1b larger skill difference at first", MEASURES[2], "1-100", EXTREMES, nearer, -1),
    Claim("2 smaller error early", MEASURES[1], "1-100", EXTREMES, difference, -1),
    Claim("2 smaller error late", MEASURES[1], "201-500", EXTREMES, difference, -1),
    Claim("3 higher draw probability soon", MEASURES[0], "101-200", EXTREMES, difference, 1),
    Claim("3 higher draw probability late", MEASURES[0], "201-500", EXTREMES, difference, 1),
    Claim("4a win ratio nearer 0.5 late", MEASURES[3], "201-500", EXTREMES, nearer, 1),
    Claim("4b skill difference nearer 0 late", MEASURES[2], "201-500", EXTREMES, nearer, 1),
    Claim(
        "5 middle: lower draw probability at first", MEASURES[0], "1-100", MIDDLE, difference, -1
    ),
    Claim("5 middle: higher draw probability late", MEASURES[0], "201-500", MIDDLE, difference, 1),
    Claim("5 middle: win ratio nearer 0.5 late", MEASURES[3], "201-500", MIDDLE, nearer, 1),
    Claim("5 middle: skill difference nearer 0 late", MEASURES[2], "201-500", MIDDLE, nearer, 1),
    Claim("6 ranks 12, 37: win ratio nearer 0.5", MEASURES[3], "201-500", ("12", "37"), nearer, 1),
    Claim(
        "6 ranks 12, 37: skill difference nearer 0", MEASURES[2], "201-500", ("12", "37"), nearer, 1
    ),
    Claim("6 rank 25: win ratio nearer 0.5", MEASURES[3], "201-500", ("25",), nearer, 1),
    Claim("6 rank 25: skill difference nearer 0", MEASURES[2], "201-500", ("25",), nearer, 1),
    Claim("objective (7), extremes", "expected_quality", "total", EXTREMES, difference, 1),
    Claim("objective (7), middle", "expected_quality", "total", MIDDLE, difference, 1),
)


def claim_rows(rows: list[Row]) -> Iterator[Row]:
    """Yield, for each claim, how many comparisons confirm it, refute it or leave it open."""
    for setting, update, claim in product(SETTINGS, UPDATES, CLAIMS):
        at = {"update": update, "setting": setting, "measure": claim.measure, "games": claim.games}
        mine = [row for row in rows if row["rank"] in claim.ranks and at.items() <= row.items()]
        gains = [claim.compare(row, rival) for row in mine for rival in RIVALS]
        scores = [claim.sign * gain / error for gain, error in gains]
        yield rounded(
            {
                "setting": setting,
                "update": update,
                "claim": claim.name,
                "games": claim.games,
                "comparisons": len(scores),
                "confirm": sum(score > SURE for score in scores),
                "refute": sum(score < -SURE for score in scores),
                "open": sum(abs(score) <= SURE for score in scores),
                "mean_difference": sum(gain for gain, _ in gains) / len(gains),
                "least": min(gain for gain, _ in gains),
                "largest": max(gain for gain, _ in gains),
                "typical_se": math.sqrt(sum(error * error for _, error in gains) / len(gains)),
            }
        )


def noise_rows(rows: list[Row]) -> Iterator[Row]:
    """Yield how large standard errors of the late games are in the middle, setting by setting.

    Claim 8: "The results are now less noisy".
    """
    late = [row for row in rows if row["rank"] in MIDDLE and row["games"] == "201-500"]
    for update, measure, policy in product(UPDATES, MEASURES, (*RIVALS, KG)):
        found: Row = {"update": update, "measure": measure, "policy": policy}
        for setting in SETTINGS:
            at = {"update": update, "setting": setting, "measure": measure}
            errors = [row[f"{policy}_se"] for row in late if at.items() <= row.items()]
            found[setting] = math.sqrt(sum(error * error for error in errors) / len(errors))
        yield rounded(found)


def prior_rows(scratch: Path) -> Iterator[Row]:
    """Yield the means of each policy and the paired differences of the runs over priors."""
    for update, setting, rank in product(UPDATES, SETTINGS, RANKS):
        folder = prior_folder(scratch, update, setting, rank)
        for measure, games in [*product(MEASURES, WINDOWS), ("expected_quality", "total")]:
            row = {"update": update, "setting": setting, "rank": rank}
            row |= {"measure": measure, "games": games}
            yield rounded(row | priors.window_row(folder, measure, games, (*RIVALS, KG)))


def prior_claims(rows: list[Row]) -> Iterator[Row]:
    """Yield what the runs over priors say of each claim against each rival."""
    width = priors.half_widths(len(CLAIMS) * len(RIVALS))
    for setting, update, claim, rival in product(SETTINGS, UPDATES, CLAIMS, RIVALS):
        at = {"update": update, "setting": setting, "measure": claim.measure, "games": claim.games}
        mine = [row for row in rows if row["rank"] in claim.ranks and at.items() <= row.items()]
        gain, error = priors.pooled(mine, claim.compare, rival)
        found: Row = {"setting": setting, "update": update, "claim": claim.name, "rival": rival}
        found |= {"gain": gain, "std_error": error, "z": gain / error, "half_width": width * error}
        yield rounded({**found, "verdict": priors.verdict(claim.sign, gain, width * error)})


def prior_noise(scratch: Path, rows: list[Row]) -> Iterator[Row]:
    """Yield how noisy the late games are in the middle: between paths, and from game to game."""
    for measure, policy in product(MEASURES, (*RIVALS, KG)):
        found: Row = {"measure": measure, "policy": policy}
        for setting in SETTINGS:
            at = {"update": "corrected", "setting": setting, "measure": measure}
            at["games"] = priors.LATE
            mine = [row for row in rows if row["rank"] in MIDDLE and at.items() <= row.items()]
            squares = [row[f"{policy}_se"] ** 2 * priors.N for row in mine]
            found[f"deviation_{setting}"] = math.sqrt(sum(squares) / len(squares))
            steps = [
                row["jitter"] ** 2
                for rank in MIDDLE
                for row in priors.jitter(
                    prior_folder(scratch, "corrected", setting, rank), (policy,), (measure,)
                )
            ]
            found[f"jitter_{setting}"] = math.sqrt(sum(steps) / len(steps))
        yield rounded(found)


def fill_priors(rows: list[Row], claims: list[Row], noise: list[Row]) -> None:
    """Put what follows from the runs over priors into the page."""
    tables = {
        f"priors: {setting}": priors.claims_table(claims, setting, UPDATES) for setting in SETTINGS
    }
    ranks = priors.ranks_table(rows, (*RIVALS, KG), MIDDLE)
    noisy = priors.noise_table(noise, SETTINGS)
    texts = {**tables, "priors: ranks": ranks, "priors: noise": noisy}
    fill(HERE / "README.md", {**texts, "ranks apart": ranks_apart(rows)})


def ranks_apart(rows: list[Row]) -> str:
    """Return how much more the upper than the lower rank of figure 2 wins late, by policy."""
    at = {"update": "corrected", "setting": "informative", "measure": MEASURES[3]}
    late = [row for row in rows if {**at, "games": WINDOWS[2]}.items() <= row.items()]
    upper, lower = (next(row for row in late if row["rank"] == rank) for rank in ("12", "37"))
    gaps = [upper[policy] - lower[policy] for policy in (*RIVALS, KG)]
    return f"{min(gaps):.3f} to {max(gaps):.3f}"


def noise_table(rows: list[Row]) -> str:
    """Return the standard errors of the corrected equations, as shares of the informative ones."""
    others = [setting for setting in SETTINGS if setting != "informative"]
    lines = []
    for row in rows:
        if row["update"] == "corrected":
            base = row["informative"]
            names = (row[key].replace("_", " ") for key in ("measure", "policy"))
            lines.append([*names, f"{base:.4f}", *(f"{row[other] / base:.2f}" for other in others)])
    return table(["measure", "policy", "informative", "equal, by mean", "equal, by skill"], lines)


def claims_table(claims: list[Row], setting: str, part: str) -> str:
    """Return the claims about some ranks as a table of the page."""
    extremes = part == "extremes"
    names = [claim.name for claim in CLAIMS if (claim.ranks == EXTREMES) == extremes]
    lines = []
    for name in names:
        mine = [row for row in claims if (row["setting"], row["claim"]) == (setting, name)]
        cells = [name, str(mine[0]["games"])]
        for row in mine:
            counts = " / ".join(f"{row[key]:.0f}" for key in ("confirm", "refute", "open"))
            cells += [counts, f"{row['mean_difference']:+.4f}", f"{row['typical_se']:.4f}"]
        lines.append(cells)
    head = ["claim", "games"]
    for update in UPDATES:
        head += [f"{update.replace('_', ' ')}: + / - / o", "difference", "se"]
    return table(head, lines)


def confirmed_by_prior(windows: list[Row], setting: str, claim: str) -> str:
    """Return in how many comparisons of each prior the corrected equations confirm a claim."""
    at = {"update": "corrected", "setting": setting, "claim": claim}
    counts = [
        row["confirm"]
        for seed in SEEDS
        for row in claim_rows([one for one in windows if one["seed"] == seed])
        if at.items() <= row.items()
    ]
    return ", ".join(map(str, counts))


def fill_page(windows: list[Row], claims: list[Row], noise: list[Row]) -> None:
    """Put the tables into the page, each below its mark."""
    tables = {
        f"claims: {setting}, {part}": claims_table(claims, setting, part)
        for setting, part in product(SETTINGS, ("extremes", "middle"))
    }
    texts = {"noise": noise_table(noise), "runs": f"{len([*jobs(HERE), *prior_jobs(HERE)])}"}
    for setting in ("equal", "equal_by_skill"):
        claim = "6 ranks 12, 37: win ratio nearer 0.5"
        texts[f"claim 6 by prior: {setting}"] = confirmed_by_prior(windows, setting, claim)
    fill(HERE / "README.md", {**tables, **texts})


def write(name: str, rows: list[Row]) -> None:
    """Write rows as a CSV file of this folder."""
    write_csv(HERE / name, {key: [row[key] for row in rows] for key in rows[0]})


def make_runs(runs: list[Job]) -> None:
    """Make runs, two at a time."""
    with ProcessPoolExecutor(2) as pool:
        for _ in counted("runs", pool.map(run, runs), len(runs)):
            pass


def make_priors(scratch: Path) -> None:
    """Make what `PLAN.md` says."""
    make_runs([*prior_jobs(scratch)])
    rows = list(prior_rows(scratch))
    write("priors.csv", rows)
    claims = list(prior_claims(rows))
    write("prior-claims.csv", claims)
    noise = list(prior_noise(scratch, rows))
    write("prior-noise.csv", noise)
    fill_priors(rows, claims, noise)


def make_seeds(scratch: Path) -> None:
    """Make the claims by five priors, and the figures."""
    make_runs([*jobs(scratch)])
    windows = list(window_rows(scratch))
    write("windows.csv", windows)
    write("passing.csv", list(passing_rows(scratch)))
    claims = list(claim_rows(windows))
    write("claims.csv", claims)
    noise = list(noise_rows(windows))
    write("noise.csv", noise)
    fill_page(windows, claims, noise)
    draw_figures(scratch)


def page() -> None:
    """Put what the files say into the page."""
    fill_page(numbers("windows"), numbers("claims"), numbers("noise"))
    fill_priors(numbers("priors"), numbers("prior-claims"), numbers("prior-noise"))


LABELS = ("setting", "update", "rank", "measure", "games", "policy", "claim", "rival", "verdict")
"""Columns of files that hold no numbers."""


def numbers(name: str) -> list[Row]:
    """Return the rows of a file of this folder, with numbers."""
    return [
        {key: text if key in LABELS else float(text) for key, text in row.items()}
        for row in read(HERE / f"{name}.csv")
    ]


def main() -> None:
    """Make everything, or what is over priors alone."""
    given = parser(__doc__)
    add_page(given, page)
    given.add_argument("scratch", type=Path, metavar="SCRATCH")
    given.add_argument("--priors", action="store_true", help="the runs of PLAN.md alone")
    asked = given.parse_args()
    if not asked.priors:
        make_seeds(asked.scratch)
    make_priors(asked.scratch)


if __name__ == "__main__":
    main()
