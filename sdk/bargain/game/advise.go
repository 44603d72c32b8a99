package game

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// ErrNoSurplus: no terms of those allowed lead to an agreement.
var ErrNoSurplus = errors.New("game: no terms lead to an agreement")

// Advice is terms, with the equilibrium that they lead to.
type Advice struct {
	Rules  onchain.Rules
	Result Result
	// Gains holds the sides' gains over no negotiation, in base units of the mint: the value less price and
	// decay, and the price less fee and cost. Both are 0 if there is no agreement.
	Gains [2]uint64
}

// Advise returns the gains that terms lead to.
func (h Haggle) Advise() Advice {
	advice := Advice{Rules: h.Rules, Result: h.Equilibrium()}
	if r := advice.Result; r.Agreed {
		advice.Gains = [2]uint64{h.Value - r.Price - r.Decay, h.net(r.Price) - h.Cost}
	}
	return advice
}

// Choice holds the terms available to a buyer.
type Choice struct {
	// Rounds and Decays (basis points) list the allowed terms.
	Rounds []uint8
	Decays []uint16
	// Least and Most limit the deposit, in base units of the mint.
	Least, Most uint64
}

// The number of deposits per search: first between the lowest and the highest deposit, then around the best
// deposit until they are a single base unit apart.
const (
	coarseSteps = 64
	fineSteps   = 8
)

// Propose returns the terms with the highest product of both gains, fair by the Nash solution, and the terms
// with the buyer's highest gain. Least offer and fee come from h.Rules; the bond pays the seller's delay in
// every case ([onchain.Rules.ProposedBond]). Among equally good terms it returns the first in the choice,
// with the lowest deposit found. Deposits are only sampled, so a better deposit can exist. It returns
// [ErrNoSurplus] if no terms lead to an agreement.
func (h Haggle) Propose(choice Choice) (fair, buyersBest Advice, err error) {
	if choice.Least > choice.Most {
		return fair, buyersBest, fmt.Errorf("%w: the highest deposit, %d, is below the lowest, %d",
			ErrNoSurplus, choice.Most, choice.Least)
	}
	product := func(a Advice) [2]uint64 {
		high, low := bits.Mul64(a.Gains[Buyer], a.Gains[Seller])
		return [2]uint64{high, low}
	}
	fair = h.best(choice, product)
	buyersBest = h.best(choice, func(a Advice) [2]uint64 { return [2]uint64{0, a.Gains[Buyer]} })
	if !fair.Result.Agreed && !buyersBest.Result.Agreed {
		return fair, buyersBest, ErrNoSurplus
	}
	return fair, buyersBest, nil
}

// best returns the terms with the highest score, a number of 128 bits.
func (h Haggle) best(choice Choice, score func(Advice) [2]uint64) (best Advice) {
	var highest [2]uint64
	try := func(rounds uint8, decay uint16, escrow uint64) {
		h.Rules.MaxRounds, h.Rules.DecayRateBps, h.Rules.Escrow = rounds, decay, escrow
		h.Rules.Bond = h.Rules.ProposedBond()
		advice := h.Advise()
		if of := score(advice); advice.Result.Agreed &&
			(!best.Result.Agreed || of[0] > highest[0] || of[0] == highest[0] && of[1] > highest[1]) {
			best, highest = advice, of
		}
	}
	step := max((choice.Most-choice.Least)/coarseSteps, 1)
	for _, rounds := range choice.Rounds {
		for _, decay := range choice.Decays {
			for at := range uint64(coarseSteps + 1) {
				try(rounds, decay, choice.Least+min(at*step, choice.Most-choice.Least))
			}
		}
	}
	for best.Result.Agreed && step > 1 {
		from := best.Rules.Escrow - min(step, best.Rules.Escrow-choice.Least)
		finer := max(step/fineSteps, 1)
		rounds, decay := best.Rules.MaxRounds, best.Rules.DecayRateBps
		for at := range uint64(2*fineSteps + 2) {
			try(rounds, decay, from+min(at*finer, choice.Most-from))
		}
		step = finer
	}
	return best
}
