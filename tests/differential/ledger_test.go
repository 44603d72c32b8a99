package differential

import (
	"math/big"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// ledgers holds all sessions' ledgers. They are computed from the balances of the vaults and the accounts of
// the negotiations, not from the model's payments.
type ledgers map[model.Address]*ledger

// ledger records the money in a session's current negotiation.
type ledger struct {
	// created reports whether a negotiation has existed at this address, and lastCreatedAt is the latest
	// created_at.
	created       bool
	lastCreatedAt int64
	// in is the escrow plus, once deposited, the bond; out is the sum of payments; donated is the sum of all
	// other transfers in.
	in, out, donated *big.Int
	// due is the amount that each party has received or can claim by decisions.
	due [2]*big.Int
}

func (l ledgers) at(negotiation model.Address) *ledger {
	if l[negotiation] == nil {
		l[negotiation] = new(ledger)
		l[negotiation].reset()
	}
	return l[negotiation]
}

func (l *ledger) reset() {
	l.in, l.out, l.donated = new(big.Int), new(big.Int), new(big.Int)
	l.due = [2]*big.Int{new(big.Int), new(big.Int)}
}

func integer(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

// floorDiv returns floor(a * b / c).
func floorDiv(a, b, c *big.Int) *big.Int {
	product := new(big.Int).Mul(a, b)
	return product.Quo(product, c)
}

func floorBps(amount *big.Int, bps uint16) *big.Int {
	return floorDiv(amount, integer(uint64(bps)), big.NewInt(10_000))
}

func readNegotiation(environment *model.Environment, negotiation model.Address) *model.Negotiation {
	n, _ := model.ReadNegotiation(environment.Accounts[negotiation].Data)
	return n
}

// addDonations records a mutation's effect on the vaults.
func (l ledgers) addDonations(p *participants, before, after *model.Environment) {
	for _, s := range p.sessions {
		donated := l.at(s.negotiation).donated
		donated.Add(donated, integer(amountOf(after.Accounts[s.vault])))
		donated.Sub(donated, integer(amountOf(before.Accounts[s.vault])))
	}
}

// follow updates the ledgers once an instruction has run and checks that money is conserved to the unit.
func (l ledgers) follow(p *participants, before, after *model.Environment, call *model.Instruction) error {
	for _, s := range p.sessions {
		was, is := readNegotiation(before, s.negotiation), readNegotiation(after, s.negotiation)
		if was == nil && is == nil {
			continue
		}
		ledger := l.at(s.negotiation)
		if is == nil {
			if err := ledger.checkClosed(s, was, before); err != nil {
				return err
			}
			continue
		}
		if err := ledger.addTransfers(s, was, is, before, after); err != nil {
			return err
		}
		if was != nil && *was != *is {
			if err := ledger.addDecision(s, was, is, before, after, call); err != nil {
				return err
			}
		}
		if left := new(big.Int).Sub(ledger.in, ledger.out); left.Cmp(owed(is)) != 0 {
			return failuref("conservation", "%d deposited, %d paid, but %d owed", ledger.in, ledger.out,
				owed(is))
		}
	}
	return nil
}

// addTransfers records the change of the vault's balance.
func (l *ledger) addTransfers(s *session, was, is *model.Negotiation,
	before, after *model.Environment) error {
	balance := integer(amountOf(after.Accounts[s.vault]))
	change := new(big.Int).Sub(balance, integer(amountOf(before.Accounts[s.vault])))
	switch {
	case was == nil:
		if l.created && is.CreatedAt <= l.lastCreatedAt {
			return failuref("created_at", "created_at %d, but an earlier negotiation at the address has %d",
				is.CreatedAt, l.lastCreatedAt)
		}
		l.reset()
		l.created, l.lastCreatedAt = true, is.CreatedAt
		l.in.SetUint64(is.EscrowAmount)
		l.donated.Sub(balance, l.in)
	case was.BondState == model.BondNone && is.BondState == model.BondHeld:
		l.in.Add(l.in, integer(is.BondRequired))
		if change.Cmp(integer(is.BondRequired)) != 0 {
			return failuref("bond", "bond of %d, but %d transferred", is.BondRequired, change)
		}
	case change.Sign() > 0:
		// claim_payout of another negotiation can pay to this vault.
		l.donated.Add(l.donated, change)
	default:
		l.out.Sub(l.out, change)
	}
	return nil
}

// addDecision records what an instruction gave to each party. At the end it checks that this is what the
// parties agreed on.
func (l *ledger) addDecision(s *session, was, is *model.Negotiation, before, after *model.Environment,
	call *model.Instruction) error {
	if name := model.NameOf(call.Data); name == "claim_payout" || name == "accept_invitation" {
		return nil
	}
	for side, party := range s.parties {
		l.due[side].Add(l.due[side], tokensOf(after, party, s.currency.mint))
		l.due[side].Sub(l.due[side], tokensOf(before, party, s.currency.mint))
		l.due[side].Add(l.due[side], integer(is.Claimable[side]))
		l.due[side].Sub(l.due[side], integer(was.Claimable[side]))
	}
	if !is.IsOver() || was.IsOver() {
		return nil
	}
	expected := [2]*big.Int{
		integer(is.EffectiveEscrow - is.PaidGross),
		new(big.Int).Sub(integer(is.PaidGross), feeOf(is)),
	}
	bond, err := bondParts(was, is, call)
	if err != nil {
		return err
	}
	for side, name := range [2]string{"buyer", "seller"} {
		expected[side].Add(expected[side], bond[side])
		if l.due[side].Cmp(expected[side]) != 0 {
			return failuref("shares", "%s: %d received or claimable, expected %d", name, l.due[side],
				expected[side])
		}
	}
	return nil
}

// bondParts returns the parts of the bond that the parties get in all, when a negotiation ends, and checks
// the bond state.
func bondParts(was, is *model.Negotiation, call *model.Instruction) ([2]*big.Int, error) {
	bond, toBuyer := integer(is.BondRequired), new(big.Int)
	switch {
	case is.BondState == model.BondNone:
		return [2]*big.Int{{}, {}}, nil
	case is.BondState == model.BondHeld:
		return [2]*big.Int{}, failuref("bond state", "the negotiation is over and its bond is held")
	case was.BondState == model.BondForfeited:
		toBuyer = bond
	default:
		toBuyer = bondToBuyer(was, is, call)
	}
	state := model.BondSplit
	switch {
	case toBuyer.Sign() == 0:
		state = model.BondReturned
	case toBuyer.Cmp(bond) == 0:
		state = model.BondForfeited
	}
	if is.BondState != state {
		return [2]*big.Int{}, failuref("bond state", "bond state %d, but the buyer gets %d of %d",
			is.BondState, toBuyer, bond)
	}
	return [2]*big.Int{toBuyer, new(big.Int).Sub(bond, toBuyer)}, nil
}

// bondToBuyer returns the buyer's part of the bond held before a negotiation's last instruction.
func bondToBuyer(was, is *model.Negotiation, call *model.Instruction) *big.Int {
	bond := integer(is.BondRequired)
	instruction, _ := model.Decode(*call)
	switch i := instruction.(type) {
	case *model.SettleByAgreement:
		return floorBps(bond, i.BondToBuyerBps)
	case *model.ResolveDispute, *model.ReleaseMilestone, *model.SettleDeadline:
	case *model.RejectNegotiation:
		if i.Rejector == was.Parties[model.Seller] && sellerForfeits(was) {
			return bond
		}
		return least(bond, sellersDelay(was, false))
	case *model.ExpireNegotiation:
		if was.Prices[model.Buyer] != 0 && was.Prices[model.Seller] == 0 {
			return bond
		}
		return least(bond, sellersDelay(was, was.LastOfferAt+was.ResponseWindow == was.TurnDeadline))
	default:
		return new(big.Int)
	}
	refused := integer(is.SettledAmount - is.PaidGross)
	if _, atDeadline := instruction.(*model.SettleDeadline); atDeadline {
		for index := range is.MilestoneCount() {
			if was.OpenDisputes()>>index&1 == 1 {
				half := new(big.Int).Add(tranche(is, index), big.NewInt(1))
				refused.Sub(refused, half.Rsh(half, 1))
			}
		}
	}
	return floorDiv(bond, refused, integer(is.SettledAmount))
}

// sellersDelay returns the decay that the seller bears if there is no deal: the even rounds' decay. If a side
// does not respond to the latest offer within a whole window, that offer is attributed to this side.
func sellersDelay(n *model.Negotiation, unanswered bool) *big.Int {
	total, worth := new(big.Int), integer(n.EscrowAmount)
	for round := uint8(1); round <= n.CurrentRound; round++ {
		decay := floorDiv(new(big.Int).Add(new(big.Int).Mul(worth, big.NewInt(int64(n.DecayRateBps))), big.NewInt(5_000)),
			big.NewInt(1), big.NewInt(10_000))
		worth.Sub(worth, decay)
		isSellers := round%2 == 0
		if unanswered && round == n.CurrentRound {
			isSellers = n.CurrentOfferBy == n.Parties[model.Buyer]
		}
		if isSellers {
			total.Add(total, decay)
		}
	}
	return total
}

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// sellerForfeits reports whether the seller loses the bond by a rejection: the buyer has revealed a price,
// but no offer follows.
func sellerForfeits(n *model.Negotiation) bool {
	return n.Prices[model.Buyer] != 0 && n.CurrentRound == 0
}

// tranche returns a milestone's amount.
func tranche(n *model.Negotiation, index uint8) *big.Int {
	var before uint16
	for _, bps := range n.MilestoneBps[:index] {
		before += bps
	}
	price := integer(n.SettledAmount)
	return new(big.Int).Sub(floorBps(price, before+n.MilestoneBps[index]), floorBps(price, before))
}

func feeOf(n *model.Negotiation) *big.Int { return floorBps(integer(n.PaidGross), n.ProtocolFeeBps) }

// tokensOf returns the sum of an owner's balances in a mint.
func tokensOf(environment *model.Environment, owner, mint model.Address) *big.Int {
	sum := new(big.Int)
	for _, account := range environment.Accounts {
		if isTokenAccount(account) && mintOf(account) == mint && ownerOf(account) == owner {
			sum.Add(sum, integer(amountOf(account)))
		}
	}
	return sum
}

// checkClosed checks that everything transferred to a vault has been transferred out again. For wrapped SOL,
// a part can leave as lamports.
func (l *ledger) checkClosed(s *session, was *model.Negotiation, before *model.Environment) error {
	paid := new(big.Int).Add(integer(amountOf(before.Accounts[s.vault])), l.out)
	received := new(big.Int).Add(l.in, l.donated)
	if !isNativeMint(s.currency.mint) && paid.Cmp(received) != 0 {
		return failuref("conservation at the end", "the vault received %d and paid %d", received, paid)
	}
	if before.Now <= was.CreatedAt {
		return failuref("closed at once", "created and closed at %d", was.CreatedAt)
	}
	return checkStatus(was, nil)
}

// owed returns the amount that the vault owes according to the negotiation.
func owed(n *model.Negotiation) *big.Int {
	total := integer(n.Claimable[model.Buyer])
	total.Add(total, integer(n.Claimable[model.Seller]))
	if n.BondState == model.BondHeld {
		total.Add(total, integer(n.BondRequired))
	}
	if n.IsOpen() {
		return total.Add(total, integer(n.EscrowAmount))
	}
	total.Add(total, integer(n.EscrowAmount-n.EffectiveEscrow))
	total.Add(total, feeOf(n))
	if n.Status == model.StatusAccepted {
		for index := range n.MilestoneCount() {
			if n.MilestonesDecided>>index&1 == 0 {
				total.Add(total, tranche(n, index))
			}
		}
	}
	return total
}
