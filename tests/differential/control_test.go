package differential

import (
	"math/big"
	"slices"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// The control invariant: only a party itself can reduce the amount that reaches accounts under its exclusive
// control. Such accounts are the party's token accounts with neither delegate nor close authority; claimable
// amounts count too.

// holdings contains an owner's amounts, for a single mint.
type holdings struct {
	// total includes accounts with a delegate or close authority.
	total *big.Int
	// exclusive includes only accounts without another authority.
	exclusive *big.Int
}

func (f *fixture) holdings(environment *model.Environment, owner, mint model.Address) holdings {
	h := holdings{total: new(big.Int), exclusive: new(big.Int)}
	for _, account := range environment.Accounts {
		if !isTokenAccount(account) || mintOf(account) != mint || ownerOf(account) != owner {
			continue
		}
		h.total.Add(h.total, integer(amountOf(account)))
		if isExclusive(account) {
			h.exclusive.Add(h.exclusive, integer(amountOf(account)))
		}
	}
	for _, s := range f.participants.sessions {
		n := readNegotiation(environment, s.negotiation)
		if n == nil || s.currency.mint != mint {
			continue
		}
		for side, party := range s.parties {
			if party == owner {
				h.total.Add(h.total, integer(n.Claimable[side]))
				h.exclusive.Add(h.exclusive, integer(n.Claimable[side]))
			}
		}
	}
	return h
}

// checkInstructionControl checks the control invariant for an instruction: each payment to an owner reaches
// exclusive accounts, and nothing leaves them. An owner that is the only declared signer chooses the accounts
// and is exempt, except in close_negotiation.
func (f *fixture) checkInstructionControl(before *model.Environment, call *model.Instruction) error {
	signers := model.Signers(*call)
	hasExemption := model.NameOf(call.Data) != "close_negotiation"
	for _, cur := range f.participants.currencies {
		for _, owner := range f.participants.owners() {
			if hasExemption && slices.Equal(signers, []model.Address{owner}) {
				continue
			}
			was, is := f.holdings(before, owner, cur.mint), f.holdings(f.environment, owner, cur.mint)
			received := new(big.Int).Sub(is.total, was.total)
			exclusive := new(big.Int).Sub(is.exclusive, was.exclusive)
			if model.NameOf(call.Data) == "claim_payout" {
				// The claimant can direct these funds to any account.
				received.Set(exclusive)
			}
			if exclusive.Sign() < 0 || exclusive.Cmp(received) != 0 {
				return failuref("control",
					"%s: %s receives %d, of which %d reach accounts that only it controls",
					model.NameOf(call.Data), f.participants.name(owner), received, exclusive)
			}
		}
	}
	return nil
}

// checkMutationControl checks the control invariant for a mutation by an actor.
func (f *fixture) checkMutationControl(before *model.Environment, actor model.Address) error {
	for _, cur := range f.participants.currencies {
		for _, owner := range f.participants.owners() {
			was, is := f.holdings(before, owner, cur.mint), f.holdings(f.environment, owner, cur.mint)
			if owner != actor && is.exclusive.Cmp(was.exclusive) < 0 {
				return failuref("control", "%s reduces the exclusive tokens of %s from %d to %d",
					f.participants.name(actor), f.participants.name(owner), was.exclusive, is.exclusive)
			}
		}
	}
	return nil
}
