"""Plays the negotiations of `haggle demo --strategies` with NegMAS and writes their results as JSON.

It reads terms and sessions from standard input; the results go to the file that the only argument names. NegMAS
chooses the offers and the acceptances. Three rules of Haggle, written here from its documents, surround them:

- The strategy's time is 0 at the first and 1 at the last of its own offers. The buyer can answer the last offer.
- A party accepts a standing offer within its limit at its last turn, and one that is at least as good as its own
  next offer less the decay of that offer.
- An offer leaves the buyer at least its decay and that of the answer. The seller bears none without a bond.

Utilities are base units of the mint: a step of the price is 1, far above NegMAS' fixed tolerances of 1e-6. The
tolerance of its time-based negotiators is 0.0001 of the escrow.
"""

import json
import sys
import warnings

import negmas
from negmas import AffineUtilityFunction, ResponseType, SAOMechanism, make_issue, make_os
from negmas.gb.components.genius import (
    GACNext,
    GBoulwareOffering,
    GConcederOffering,
    GLinearOffering,
)
from negmas.gb.negotiators.modular.mapneg import MAPNegotiator
from negmas.sao import SAOResponse
from negmas.sao import negotiators as sao

from compare import negotiators

# Warnings of libraries are not results; a real problem raises an exception.
warnings.filterwarnings("ignore")

BUYER, SELLER = 0, 1


class Terms:
    """The terms of all negotiations: amounts are base units, rates basis points."""

    def __init__(self, plan):
        self.escrow, self.rounds = plan["escrow"], plan["max_rounds"]
        self.decay, self.fee = plan["decay_rate_bps"], plan["fee_bps"]
        self.openings = [plan["buyer"]["opening"], plan["seller"]["opening"]]
        net = plan["seller"]["reservation"]
        gross = next(price for price in range(net, self.escrow + 1) if price - price * self.fee // 10_000 >= net)
        self.limits = [plan["buyer"]["reservation"], gross]
        # The opening is a party's best price, and neither offers beyond the other's. The affine functions are
        # shared by all sessions, which then sort the prices only once.
        space = make_os([make_issue((self.openings[BUYER], self.openings[SELLER]), name="price")])
        self.ufuns = [
            AffineUtilityFunction([slope], bias, outcome_space=space, reserved_value=bias + slope * limit)
            for slope, bias, limit in zip((-1.0, 1.0), (float(self.escrow), 0.0), self.limits)
        ]

    def effective(self, offers):
        """Returns the effective escrow after a number of offers."""
        escrow = self.escrow
        for _ in range(offers):
            escrow -= (escrow * self.decay + 5_000) // 10_000
        return escrow

    def lost(self, first, last):
        """Returns the decay of the offers from the number first to the number before last."""
        return self.effective(first) - self.effective(min(last, self.rounds))


class Mechanism(SAOMechanism):
    """Alternating offers with the times of Haggle's strategies: both sides have the same number of offers."""

    def __init__(self, terms):
        space = terms.ufuns[BUYER].outcome_space
        super().__init__(outcome_space=space, n_steps=terms.rounds // 2 + 1)
        self.last = terms.rounds // 2 - 1

    def _relative_time_for(self, nmi):
        return min(1.0, self._current_state.step / self.last)


class Ruled:
    """Makes the moves of a negotiator of NegMAS under Haggle's rules."""

    def on_chain(self, terms, side, offers):
        """Sets the terms, the side, and the list that receives the offers of both sides."""
        self.terms, self.side, self.offers, self.ruled = terms, side, offers, False
        return self

    def __call__(self, state, dest=None):
        response = super().__call__(state, dest)
        if response.response == ResponseType.ACCEPT_OFFER:
            return response
        own, agreed = self.move(response.outcome[0])
        standing = state.current_offer[0] if state.current_offer else None
        left = self.terms.rounds - len(self.offers)
        within = standing is not None and self.is_as_good(standing, self.terms.limits[self.side])
        if within and (left < 2 or self.is_as_good(standing, own + agreed)):
            self.ruled = True
            return SAOResponse(ResponseType.ACCEPT_OFFER, state.current_offer)
        if left == 0 or not self.is_as_good(own, self.terms.limits[self.side]):
            self.ruled = True
            return SAOResponse(ResponseType.END_NEGOTIATION, None)
        self.ruled = self.ruled or own != response.outcome[0]
        self.offers.append(own)
        return SAOResponse(ResponseType.REJECT_OFFER, (own,))

    def move(self, price):
        """Returns the price moved to one that is worth its cost, and the decay that its acceptance would leave."""
        if self.side == SELLER:
            return price, 0
        now = len(self.offers)
        agreed = self.terms.lost(now, now + 1)
        return min(price, self.terms.limits[BUYER] - agreed - self.terms.lost(now, now + 2)), agreed

    def is_as_good(self, price, other):
        """Reports whether a price is at least as good as another for the side."""
        return price <= other if self.side == BUYER else price >= other


class TimeBased(Ruled, sao.TimeBasedConcedingNegotiator):
    """A time-based negotiator with an exponent of its aspiration."""

    def __init__(self, terms, ufun, exponent):
        super().__init__(
            ufun=ufun,
            offering_curve=exponent,
            stochastic=False,
            eps=terms.escrow / 10_000,
            ufun_inverter=lambda u: u.invert(rational_only=True, eps=-1, rel_eps=-1),
        )


class Composed(Ruled, MAPNegotiator):
    """NegMAS' components of GENIUS: an offering strategy with ACnext."""

    def __init__(self, ufun, offering):
        super().__init__(ufun=ufun, offering=offering, acceptance=GACNext(offering))


STRATEGIES = {
    "linear": lambda terms, u: Composed(u, GLinearOffering()),
    "genius-boulware": lambda terms, u: Composed(u, GBoulwareOffering(e=0.2)),
    "genius-conceder": lambda terms, u: Composed(u, GConcederOffering(e=2.0)),
    "negmas-boulware": lambda terms, u: TimeBased(terms, u, 4.0),
    "negmas-conceder": lambda terms, u: TimeBased(terms, u, 0.25),
}


def play(terms, first, second):
    """Returns the result of a session, with the offers of both sides."""
    mechanism, offers, parties = Mechanism(terms), [], []
    for side, name in enumerate((first, second)):
        party = STRATEGIES[name](terms, terms.ufuns[side]).on_chain(terms, side, offers)
        parties.append(party)
        mechanism.add(party)
    mechanism.run()
    agreement = mechanism.agreement
    return {
        "agreement": None if agreement is None else [str(value) for value in agreement],
        "step": mechanism.state.step,
        "utilities": [float(ufun(agreement)) / terms.escrow for ufun in terms.ufuns],
        "offers": offers,
        "ruled": any(party.ruled for party in parties),
    }


def main():
    plan = json.load(sys.stdin)
    terms = Terms(plan["terms"])
    sessions = [dict(s, answers=[play(terms, s["first"], s["second"])]) for s in plan["sessions"]]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        head = {
            "version": negmas.__version__,
            "python": sys.version.split()[0],
            "negotiators": negotiators(),
        }
        json.dump(dict(head, sessions=sessions), file)


if __name__ == "__main__":
    main()
