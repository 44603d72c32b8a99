package differential

import (
	"math/big"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/machine"
	"github.com/haggle-protocol/haggle/internal/model"
	"github.com/haggle-protocol/haggle/sdk"
)

// books are kept for each negotiation from what is in its vault and in its account, and not from what the model says of
// payments.
type books struct {
	of map[solana.PublicKey]*book
}

type book struct {
	// in is the escrow, and the bond once it is deposited; out is what has left the vault; donated is what else came in.
	in, out, donated *big.Int
	// due is what each party has been paid or was promised by decisions, in whichever of its accounts.
	due [2]*big.Int
}

func newBook() *book {
	return &book{in: new(big.Int), out: new(big.Int), donated: new(big.Int), due: [2]*big.Int{new(big.Int), new(big.Int)}}
}

func newBooks() *books { return &books{of: map[solana.PublicKey]*book{}} }

func (b *books) at(negotiation solana.PublicKey) *book {
	if b.of[negotiation] == nil {
		b.of[negotiation] = newBook()
	}
	return b.of[negotiation]
}

func integer(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

// deceive takes note of what a trick has put into a vault, or taken from it.
func (b *books) deceive(people *cast, before, after *model.World) {
	for _, d := range people.deals {
		book := b.at(d.negotiation)
		book.donated.Add(book.donated, integer(amountOf(after.Accounts[d.vault])))
		book.donated.Sub(book.donated, integer(amountOf(before.Accounts[d.vault])))
	}
}

// read is a negotiation as the SDK reads it; nil if there is none.
func read(world *model.World, negotiation solana.PublicKey) *haggle.Negotiation {
	n := new(haggle.Negotiation)
	if n.Decode(world.Accounts[negotiation].Data) != nil {
		return nil
	}
	return n
}

// follow keeps the books over an instruction: money is conserved to the unit.
func (b *books) follow(people *cast, before, after *model.World, instruction string) error {
	for _, d := range people.deals {
		was, is := read(before, d.negotiation), read(after, d.negotiation)
		if was == nil && is == nil {
			continue
		}
		book := b.at(d.negotiation)
		held, holds := integer(amountOf(before.Accounts[d.vault])), integer(amountOf(after.Accounts[d.vault]))
		came := new(big.Int).Sub(holds, held)
		switch {
		case was == nil:
			*book = *newBook()
			book.in.SetUint64(is.EscrowAmount)
			book.donated.Sub(holds, book.in)
		case is == nil:
			if err := checkClosed(d, book, was, held); err != nil {
				return err
			}
			continue
		case was.BondState == haggle.BondStateNone && is.BondState == haggle.BondStateHeld:
			book.in.Add(book.in, integer(is.BondRequired))
			if came.Cmp(integer(is.BondRequired)) != 0 {
				return differ("bond", "a bond of %d is deposited, and %d came into the vault", is.BondRequired, came)
			}
		case came.Sign() > 0:
			// Somebody had a payout of another negotiation sent here.
			book.donated.Add(book.donated, came)
		default:
			book.out.Sub(book.out, came)
		}
		if was != nil && *was != *is && deciding[instruction] {
			if err := book.decide(d, was, is, before, after); err != nil {
				return err
			}
		}
		if left := new(big.Int).Sub(book.in, book.out); left.Cmp(owed(is)) != 0 {
			return differ("conservation", "%d came in, %d went out, and %d are owed", book.in, book.out, owed(is))
		}
	}
	return nil
}

// deciding are the instructions that decide who gets what.
var deciding = map[string]bool{"accept_offer": true, "reject_negotiation": true, "expire_negotiation": true, "reveal_zopa_price": true,
	"release_milestone": true, "resolve_dispute": true, "settle_deadline": true}

// decide takes note of what a decision gave each party, and checks at the end that it is what the parties agreed on.
func (b *book) decide(d *deal, was, is *haggle.Negotiation, before, after *model.World) error {
	recorded := [2][2]uint64{{was.ClaimableBuyer, is.ClaimableBuyer}, {was.ClaimableSeller, is.ClaimableSeller}}
	for side, party := range d.parties {
		b.due[side].Add(b.due[side], tokensOf(after, party, d.currency.mint))
		b.due[side].Sub(b.due[side], tokensOf(before, party, d.currency.mint))
		b.due[side].Add(b.due[side], integer(recorded[side][1]))
		b.due[side].Sub(b.due[side], integer(recorded[side][0]))
	}
	if is.Status < haggle.NegotiationStatusSettled || was.Status >= haggle.NegotiationStatusSettled {
		return nil
	}
	fee := new(big.Int).Mul(integer(is.PaidGross), integer(uint64(is.ProtocolFeeBps)))
	fee.Quo(fee, big.NewInt(10_000))
	expected := [2]*big.Int{integer(is.EffectiveEscrow - is.PaidGross), new(big.Int).Sub(integer(is.PaidGross), fee)}
	switch is.BondState {
	case haggle.BondStateReturned:
		expected[1].Add(expected[1], integer(is.BondRequired))
	case haggle.BondStateForfeited:
		expected[0].Add(expected[0], integer(is.BondRequired))
	case haggle.BondStateHeld:
		return differ("bond at the end", "a negotiation is over and its bond is held")
	}
	for side, name := range [2]string{"buyer", "seller"} {
		if b.due[side].Cmp(expected[side]) != 0 {
			return differ("shares", "in the end the %s got %d, and not %d", name, b.due[side], expected[side])
		}
	}
	return nil
}

// tokensOf is what an owner has of a mint in all of its accounts.
func tokensOf(world *model.World, owner, mint solana.PublicKey) *big.Int {
	sum := new(big.Int)
	for _, account := range world.Accounts {
		if isTokenAccount(account) && mintOf(account) == mint && solana.PublicKey(account.Data[32:64]) == owner {
			sum.Add(sum, integer(amountOf(account)))
		}
	}
	return sum
}

// checkClosed checks a vault's end: whatever came in has gone out.
func checkClosed(d *deal, book *book, was *haggle.Negotiation, held *big.Int) error {
	everything := new(big.Int).Add(held, book.out)
	if expected := new(big.Int).Add(book.in, book.donated); !isNativeMint(d.currency.mint) && everything.Cmp(expected) != 0 {
		return differ("conservation at the end", "%d came out of a vault that got %d", everything, expected)
	}
	return checkStatus(was, nil)
}

// owed is what a vault owes by what its negotiation says.
func owed(n *haggle.Negotiation) *big.Int {
	total := integer(n.ClaimableBuyer)
	total.Add(total, integer(n.ClaimableSeller))
	if n.BondState == haggle.BondStateHeld {
		total.Add(total, integer(n.BondRequired))
	}
	if n.Status < haggle.NegotiationStatusAccepted {
		return total.Add(total, integer(n.EscrowAmount))
	}
	total.Add(total, integer(n.EscrowAmount-n.EffectiveEscrow))
	fee := new(big.Int).Mul(integer(n.PaidGross), integer(uint64(n.ProtocolFeeBps)))
	total.Add(total, fee.Quo(fee, big.NewInt(10_000)))
	if n.Status == haggle.NegotiationStatusAccepted {
		total.Add(total, undecided(n))
	}
	return total
}

// undecided is what the milestones are worth that nobody has decided on. Which of them takes the units that the floors leave
// is not known before the last is decided, so those are counted here.
func undecided(n *haggle.Negotiation) *big.Int {
	left := integer(n.SettledAmount)
	for i := range n.MilestoneCount {
		if n.MilestonesDecided>>i&1 == 1 {
			share := new(big.Int).Mul(integer(n.SettledAmount), integer(uint64(n.MilestoneBps[i])))
			left.Sub(left, share.Quo(share, big.NewInt(10_000)))
		}
	}
	return left
}

// checkLaws checks what always holds, after an instruction.
func (st *stage) checkLaws(before *model.World) error {
	if err := st.checkSums(before); err != nil {
		return err
	}
	for _, d := range st.cast.deals {
		was, is := read(before, d.negotiation), read(st.world, d.negotiation)
		if err := checkStatus(was, is); err != nil {
			return err
		}
		if is == nil {
			continue
		}
		if err := st.checkVault(d, is); err != nil {
			return err
		}
		if is.Status < haggle.NegotiationStatusAccepted && st.played%2 == 0 {
			if err := st.checkActOrExpire(d, is); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSums checks that no lamport and no token came into being or got lost.
func (st *stage) checkSums(before *model.World) error {
	lamports := new(big.Int)
	tokens := map[solana.PublicKey]*big.Int{}
	count := func(world *model.World, sign int64) {
		for _, account := range world.Accounts {
			lamports.Add(lamports, new(big.Int).Mul(integer(account.Lamports), big.NewInt(sign)))
			if isTokenAccount(account) && !isNativeMint(mintOf(account)) {
				mint := mintOf(account)
				if tokens[mint] == nil {
					tokens[mint] = new(big.Int)
				}
				tokens[mint].Add(tokens[mint], new(big.Int).Mul(integer(amountOf(account)), big.NewInt(sign)))
			}
		}
	}
	count(before, -1)
	count(st.world, 1)
	if lamports.Sign() != 0 {
		return differ("lamports", "there are %d lamports more than before", lamports)
	}
	for mint, sum := range tokens {
		if sum.Sign() != 0 {
			return differ("tokens", "there are %d tokens of %s more than before", sum, st.cast.name(mint))
		}
	}
	return nil
}

// checkVault checks that a vault never holds less than what is owed. Of wrapped SOL the lamports count, of which the token
// program may take some for tokens or for rent.
func (st *stage) checkVault(d *deal, n *haggle.Negotiation) error {
	holds := integer(amountOf(st.world.Accounts[d.vault]))
	if isNativeMint(d.currency.mint) {
		holds = integer(st.world.Accounts[d.vault].Lamports)
		holds.Sub(holds, integer(st.rent.Exempt(tokenAccountSize)))
	}
	if holds.Cmp(owed(n)) < 0 {
		return differ("vault", "%s holds %d, and %d are owed", st.cast.name(d.vault), holds, owed(n))
	}
	return nil
}

// successors are the status that may follow on each.
var successors = map[haggle.NegotiationStatus][]haggle.NegotiationStatus{
	haggle.NegotiationStatusCreated:   {haggle.NegotiationStatusProposed, haggle.NegotiationStatusRejected, haggle.NegotiationStatusExpired},
	haggle.NegotiationStatusProposed:  {haggle.NegotiationStatusProposed, haggle.NegotiationStatusCountered, haggle.NegotiationStatusAccepted, haggle.NegotiationStatusSettled, haggle.NegotiationStatusRejected, haggle.NegotiationStatusExpired},
	haggle.NegotiationStatusCountered: {haggle.NegotiationStatusProposed, haggle.NegotiationStatusAccepted, haggle.NegotiationStatusSettled, haggle.NegotiationStatusRejected, haggle.NegotiationStatusExpired},
	haggle.NegotiationStatusAccepted:  {haggle.NegotiationStatusAccepted, haggle.NegotiationStatusSettled},
}

// checkStatus checks that a negotiation goes forward: what is over stays over, and only then it can be gone.
func checkStatus(was, is *haggle.Negotiation) error {
	switch {
	case was == nil && is != nil && is.Status != haggle.NegotiationStatusCreated:
		return differ("status", "a negotiation begins as %v", is.Status)
	case was == nil || is != nil && *was == *is:
		return nil
	case is == nil && was.Status < haggle.NegotiationStatusSettled:
		return differ("status", "a negotiation is closed that is %v", was.Status)
	case is == nil:
		return nil
	case was.Status >= haggle.NegotiationStatusSettled:
		after := *was
		after.ClaimableBuyer, after.ClaimableSeller = is.ClaimableBuyer, is.ClaimableSeller
		if after != *is || is.ClaimableBuyer > was.ClaimableBuyer || is.ClaimableSeller > was.ClaimableSeller {
			return differ("status", "a negotiation that is over changes from\n%+v to\n%+v", was, is)
		}
		return nil
	}
	for _, next := range successors[was.Status] {
		if is.Status == next {
			return nil
		}
	}
	return differ("status", "%v follows on %v", is.Status, was.Status)
}

// checkActOrExpire checks that at any second exactly one is possible: that a party acts, or that anyone expires.
func (st *stage) checkActOrExpire(d *deal, n *haggle.Negotiation) error {
	to := [2]solana.PublicKey{d.currency.tokens[d.parties[0]][0], d.currency.tokens[d.parties[1]][0]}
	acts, err := st.wouldSucceed(&haggle.RejectNegotiation{Rejector: d.parties[0], Negotiation: d.negotiation, EscrowVault: d.vault,
		BuyerTokenAccount: to[0], SellerTokenAccount: to[1], TokenMint: d.currency.mint, TokenProgram: d.currency.program,
		ExpectedRound: n.CurrentRound})
	if err != nil {
		return err
	}
	expires, err := st.wouldSucceed(&haggle.ExpireNegotiation{Negotiation: d.negotiation, EscrowVault: d.vault,
		BuyerTokenAccount: to[0], SellerTokenAccount: to[1], TokenMint: d.currency.mint, TokenProgram: d.currency.program})
	if err != nil {
		return err
	}
	if acts == expires {
		return differ("act or expire", "at %d acting is %t and expiring is %t", st.world.Now, acts, expires)
	}
	return nil
}

func (st *stage) wouldSucceed(instruction haggle.AnyInstruction) (bool, error) {
	st.tally.probes++
	outcome, err := st.machine.Probe(machine.Instruction(*instructionOf(instruction)))
	return err == nil && !outcome.Failed, err
}
