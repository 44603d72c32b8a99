"""Checks scenario files with NegMAS: `make negmas` and `go run ./tests/negmas/report -files` call it.

It reads a list of written files from its standard input, loads each one with NegMAS, and computes the
utilities of the outcomes in the list. It also makes scenarios of NegMAS' own, saves them with NegMAS in the
folder of its second argument, and computes the utilities of all outcomes. The answers go to the file of its
first argument.
"""

import itertools
import json
import sys
import types
import warnings
from pathlib import Path

import negmas
from negmas import (
    AffineUtilityFunction,
    ConstUtilityFunction,
    ExpDiscountedUFun,
    HyperRectangleUtilityFunction,
    LinDiscountedUFun,
    LinearAdditiveUtilityFunction,
    LinearUtilityFunction,
    MappingUtilityFunction,
    Scenario,
    make_issue,
    make_os,
)
from negmas.outcomes import ContiguousIssue
from negmas.outcomes.ordinal_issue import DiscreteOrdinalIssue
from negmas.preferences.value_fun import AffineFun, ConstFun, IdentityFun, LinearFun, TableFun

warnings.filterwarnings("ignore")

# LEVELS is the number of values of a real issue that are compared, and STATE the time of discounted ones.
LEVELS = 11
STATE = types.SimpleNamespace(step=3, relative_time=0.5)


def finite(number):
    """Returns a number with 12 decimals. For minus infinity it is the lowest utility of the engine."""
    return round(max(float(number), -1e6), 12)


def answer(ufun, outcomes):
    """Returns the utilities of outcomes."""
    found = {
        "reserved": finite(ufun.reserved_value),
        "utilities": [finite(ufun(outcome)) for outcome in outcomes],
    }
    if hasattr(ufun, "eval_on_state"):
        found["discounted"] = [
            finite(ufun.eval_on_state(outcome, None, STATE)) for outcome in [*outcomes, None]
        ]
    return found


def written(case):
    """Returns NegMAS' answer to a file."""
    load = Scenario.from_genius_files if case["format"] == "xml" else Scenario.from_yaml_files
    ufun = load(Path(case["domain"]), [Path(case["profile"])]).ufuns[0]
    return {"name": case["name"], "format": case["format"]} | answer(
        ufun, [tuple(outcome) for outcome in case["outcomes"]]
    )


def values(issue):
    """Returns the values of an issue."""
    if not issue.is_continuous():
        return list(issue.all)
    low, high = issue.values
    return [low + (high - low) * level / (LEVELS - 1) for level in range(LEVELS)]


def own():
    """Returns scenarios: a name, the formats that NegMAS saves it in, the issues and the utility function."""
    everything = [
        make_issue((2, 5), "n"),
        make_issue(["no", "yes", "1"], "c"),
        make_issue((0.0, 2.0), "r"),
        ContiguousIssue((10, 20, 5), "p"),
        DiscreteOrdinalIssue(["low", "middle", "high"], "o"),
    ]
    numbers = [everything[0], everything[2], everything[3]]
    few = [everything[0], everything[1]]
    functions = [
        AffineFun(0.25, -0.25),
        TableFun({"no": 1.0, "yes": 0.5, "1": 0.25}),
        LinearFun(0.5),
        TableFun({10: 0.0, 15: 0.25, 20: 1.0}),
        TableFun({"low": 0.125, "middle": 1.0, "high": 0.0}),
    ]
    weights = [0.25, 0.25, 0.2, 0.1, 0.2]

    def additive(space, **more):
        return LinearAdditiveUtilityFunction(functions, weights=weights, outcome_space=space, **more)

    yield "additive", ["yml", "json", "xml"], everything, lambda s: additive(s, reserved_value=0.1)
    yield "numbers", ["yml", "json"], numbers, lambda s: LinearAdditiveUtilityFunction(
        {"n": IdentityFun(), "r": AffineFun(-0.5, 3.0), "p": ConstFun(0.25)},
        weights={"n": 0.5, "r": 2.0, "p": 1.0},
        outcome_space=s,
    )
    yield "linear", ["yml", "json"], numbers, lambda s: LinearUtilityFunction(
        [0.125, 0.5, -0.0625], outcome_space=s, reserved_value=0.5
    )
    yield "unweighted", ["yml"], numbers, lambda s: LinearUtilityFunction(outcome_space=s)
    yield "affine", ["yml", "json"], numbers, lambda s: AffineUtilityFunction(
        {"n": 0.125, "r": 0.5, "p": -0.0625}, bias=0.75, outcome_space=s
    )
    yield "constant", ["yml", "json"], few, lambda s: ConstUtilityFunction(0.375, outcome_space=s)
    yield "outcomes", ["yml"], few, lambda s: MappingUtilityFunction(
        {outcome: i / 8 for i, outcome in enumerate(s.enumerate()) if i != 4},
        default=-0.25,
        outcome_space=s,
        reserved_value=0.3,
    )
    yield "rectangles", ["yml", "json"], everything, lambda s: HyperRectangleUtilityFunction(
        [
            {0: (2, 5), 1: ["no", "1"]},
            {0: [2, 3, 5], 2: (0.2, 0.8), 4: ["high"]},
            {3: [(5, 15), 20], 1: "yes"},
            {2: [0.0, (1.0, 1.6), 2.0]},
            None,
        ],
        [1.0, 2.0, 0.5, 0.25, 0.125],
        weights=[1.0, 0.5, 1.0, -1.0, 1.0],
        bias=0.5,
        outcome_space=s,
        reserved_value=0.1,
    )
    yield "ranges", ["xml"], numbers, lambda s: HyperRectangleUtilityFunction(
        [{0: (2.5, 4.5)}, {0: 3, 1: (0.3, 1.7)}, {1: (0.9, 5.0)}],
        [0.5, 0.25, 0.125],
        outcome_space=s,
        reserved_value=0.1,
    )
    yield "factor", ["yml", "json"], everything, lambda s: ExpDiscountedUFun(
        additive(s, reserved_value=0.2), discount=0.9, outcome_space=s, reserved_value=0.2
    )
    yield "cost", ["yml"], everything, lambda s: LinDiscountedUFun(
        additive(s),
        cost=0.0625,
        factor="relative_time",
        dynamic_reservation=False,
        outcome_space=s,
        reserved_value=0.2,
    )


def dumped(root):
    """Saves the scenarios, and returns their utilities."""
    for name, formats, issues, make in own():
        space = make_os(issues, name="domain")
        ufun = make(space)
        ufun.name = "profile"
        # Without a name, NegMAS saves a random one.
        if hasattr(ufun, "ufun"):
            ufun.ufun.name = "undiscounted"
        outcomes = list(itertools.product(*(values(issue) for issue in issues)))
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        scenario = Scenario(outcome_space=space, ufuns=(ufun,))
        for extension in formats:
            if extension == "xml":
                scenario.to_genius_folder(folder)
            else:
                scenario.dumpas(folder, extension)
            yield {"name": name, "format": extension} | answer(ufun, outcomes)


def main():
    cases = json.load(sys.stdin)
    answers = {
        "about": "Written by make negmas: NegMAS' utilities of the files of this folder, from files.py.",
        "version": negmas.__version__,
        "python": sys.version.split()[0],
        "written": [written(case) for case in cases],
        "dumped": list(dumped(Path(sys.argv[2]))),
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("{\n")
        for key in ("about", "version", "python"):
            file.write(f" {json.dumps(key)}: {json.dumps(answers[key])},\n")
        for key in ("written", "dumped"):
            lines = ",\n  ".join(json.dumps(case) for case in answers[key])
            file.write(f" {json.dumps(key)}: [\n  {lines}\n ]{',' if key == 'written' else ''}\n")
        file.write("}\n")


if __name__ == "__main__":
    main()
