"""Runs sessions with NegMAS and writes their results as JSON.

It reads a plan from standard input: scenarios (files and a number of steps) and sessions (a scenario, two
strategies, and a number of runs with different seeds, or 0 to measure the time). The results go to the file
that the only argument names. The Go program of this folder writes the plan and reads the results; NegMAS runs
in this process only.
"""

import json
import random
import statistics
import sys
import time
import warnings

import negmas
from negmas import (
    LinearAdditiveUtilityFunction,
    SAOMechanism,
    Scenario,
    make_issue,
    make_os,
)
from negmas.gb import GBNegotiator
from negmas.preferences.discounted import ExpDiscountedUFun, LinDiscountedUFun
from negmas.preferences.value_fun import TableFun
from negmas.sao import negotiators as sao

# Warnings of libraries are not results; a real problem raises an exception.
warnings.filterwarnings("ignore")

STRATEGIES = {
    "TB boulware": lambda u: sao.BoulwareTBNegotiator(ufun=u),
    "TB linear": lambda u: sao.LinearTBNegotiator(ufun=u),
    "TB conceder": lambda u: sao.ConcederTBNegotiator(ufun=u),
    "aspiration 4": lambda u: sao.AspirationNegotiator(ufun=u, aspiration_type=4.0),
    "aspiration 1": lambda u: sao.AspirationNegotiator(ufun=u, aspiration_type=1.0),
    "aspiration 0.25": lambda u: sao.AspirationNegotiator(ufun=u, aspiration_type=0.25),
    "TFT": lambda u: sao.NaiveTitForTatNegotiator(ufun=u),
    "MiCRO": lambda u: sao.MiCRONegotiator(ufun=u),
    "CAB": lambda u: sao.CABNegotiator(ufun=u),
    "CAN": lambda u: sao.CANNegotiator(ufun=u),
    "CAR": lambda u: sao.CARNegotiator(ufun=u),
    "WAB": lambda u: sao.WABNegotiator(ufun=u),
    "WAN": lambda u: sao.WANNegotiator(ufun=u),
    "WAR": lambda u: sao.WARNegotiator(ufun=u),
}


class Setting:
    """A scenario as values in memory, from which each session makes its own objects."""

    def __init__(self, plan):
        load = Scenario.from_genius_files if plan["format"] == "genius" else Scenario.from_yaml_files
        loaded = load(plan["domain"], plan["profiles"])
        self.steps = plan["steps"]
        self.issues = [
            (issue.name, issue.values if isinstance(issue.values, tuple) else list(issue.values))
            for issue in loaded.outcome_space.issues
        ]
        self.profiles = []
        self.discounts = []
        for ufun in loaded.ufuns:
            discount = None
            if isinstance(ufun, (ExpDiscountedUFun, LinDiscountedUFun)):
                kept = {"factor": ufun.factor, "dynamic_reservation": ufun.dynamic_reservation}
                if isinstance(ufun, ExpDiscountedUFun):
                    kept["discount"] = ufun.discount
                else:
                    kept["cost"] = ufun.cost
                discount = (type(ufun), kept)
                ufun = ufun.ufun
            self.discounts.append(discount)
            tables = [
                {value: float(function(value)) for value in issue.all}
                for function, issue in zip(ufun.values, loaded.outcome_space.issues)
            ]
            weights = [float(weight) for weight in ufun.weights]
            self.profiles.append((tables, weights, float(ufun.reserved_value)))

    def build(self, first, second):
        """Returns a mechanism with two negotiators, and their undiscounted utility functions."""
        space = make_os([make_issue(values, name=name) for name, values in self.issues])
        ufuns = [
            LinearAdditiveUtilityFunction(
                [TableFun(table) for table in tables],
                weights=weights,
                outcome_space=space,
                reserved_value=reserved,
            )
            for tables, weights, reserved in self.profiles
        ]
        mechanism = SAOMechanism(outcome_space=space, n_steps=self.steps)
        for strategy, ufun, discount in zip((first, second), ufuns, self.discounts):
            if discount is not None:
                kind, kept = discount
                ufun = kind(ufun, outcome_space=space, reserved_value=ufun.reserved_value, **kept)
            mechanism.add(STRATEGIES[strategy](ufun))
        return mechanism, ufuns


def prepare(mechanism):
    """Sorts the outcomes of negotiators that otherwise do so in their first turn."""
    for negotiator in mechanism.negotiators:
        if isinstance(negotiator, sao.TimeBasedNegotiator):
            negotiator._inverter.before_proposing(mechanism.state)
        elif negotiator.ufun is not None:
            negotiator.ufun.invert()


def answer(setting, session, seed):
    """Returns the result of a session."""
    random.seed(seed)
    mechanism, ufuns = setting.build(session["first"], session["second"])
    mechanism.run()
    agreement = mechanism.agreement
    return {
        "agreement": None if agreement is None else [str(value) for value in agreement],
        "step": mechanism.state.step,
        "utilities": [float(ufun(agreement)) for ufun in ufuns],
    }


def measure(setting, session):
    """Returns the medians of five runs in seconds, with and without construction."""
    whole, run = [], []
    for _ in range(5):
        start = time.process_time()
        mechanism, _ = setting.build(session["first"], session["second"])
        mechanism.run()
        whole.append(time.process_time() - start)
        mechanism, _ = setting.build(session["first"], session["second"])
        prepare(mechanism)
        start = time.process_time()
        mechanism.run()
        run.append(time.process_time() - start)
    return statistics.median(whole), statistics.median(run)


def negotiators():
    """Returns the number of classes of negotiators that negmas.sao exports."""
    exported = [getattr(negmas.sao, name) for name in negmas.sao.__all__]
    return sum(isinstance(one, type) and issubclass(one, GBNegotiator) for one in exported)


def main():
    plan = json.load(sys.stdin)
    settings = {scenario["name"]: Setting(scenario) for scenario in plan["scenarios"]}
    results, shown = [], time.monotonic()
    for number, session in enumerate(plan["sessions"]):
        setting = settings[session["scenario"]]
        result = dict(session)
        if session["seeds"]:
            distinct = []
            for seed in range(session["seeds"]):
                found = answer(setting, session, seed)
                if found not in distinct:
                    distinct.append(found)
            result["answers"] = distinct
        else:
            result["whole"], result["run"] = measure(setting, session)
        results.append(result)
        if time.monotonic() - shown > 2:
            shown = time.monotonic()
            print(f"negmas: {number + 1} of {len(plan['sessions'])} sessions", file=sys.stderr, flush=True)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        python = sys.version.split()[0]
        result = {"version": negmas.__version__, "python": python, "negotiators": negotiators()}
        json.dump(dict(result, sessions=results), file)


if __name__ == "__main__":
    main()
