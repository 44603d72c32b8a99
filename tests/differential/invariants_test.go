package differential

import (
	"math/big"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// checkInvariants checks the invariants once an instruction has run.
func (f *fixture) checkInvariants(before *model.Environment, call *model.Instruction, succeeded bool) error {
	if err := f.checkSums(before); err != nil {
		return err
	}
	if succeeded {
		if err := f.checkExpectations(before, call); err != nil {
			return err
		}
	}
	if err := f.checkInstructionControl(before, call); err != nil {
		return err
	}
	for _, s := range f.participants.sessions {
		was, is := readNegotiation(before, s.negotiation), readNegotiation(f.environment, s.negotiation)
		if err := checkStatus(was, is); err != nil {
			return err
		}
		if is == nil {
			continue
		}
		if err := f.checkVault(s, is); err != nil {
			return err
		}
		if is.IsOpen() && f.played%2 == 0 {
			if err := f.checkActOrExpire(s, is); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSums checks that the sum of all lamports, and each mint's sum of all tokens, stay the same.
func (f *fixture) checkSums(before *model.Environment) error {
	lamports := new(big.Int)
	tokens := map[model.Address]*big.Int{}
	add := func(environment *model.Environment, sign int64) {
		for _, account := range environment.Accounts {
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
	add(before, -1)
	add(f.environment, 1)
	if lamports.Sign() != 0 {
		return failuref("lamports", "the sum of all lamports changed by %d", lamports)
	}
	for mint, change := range tokens {
		if change.Sign() != 0 {
			return failuref("tokens", "the sum of all tokens of %s changed by %d", f.participants.name(mint),
				change)
		}
	}
	return nil
}

// checkExpectations checks that a successful instruction names the current negotiation and that the arguments
// and accounts allow the effects.
func (f *fixture) checkExpectations(before *model.Environment, call *model.Instruction) error {
	name := model.NameOf(call.Data)
	if createdAt, negotiation := createdAtOf(call); createdAt != nil {
		if was := readNegotiation(before, negotiation); was.CreatedAt != *createdAt {
			return failuref("wrong created_at", "%s succeeds with created_at %d instead of %d", name,
				*createdAt, was.CreatedAt)
		}
	}
	instruction, _ := model.Decode(*call)
	switch i := instruction.(type) {
	case *model.AcceptInvitation:
		if was := readNegotiation(before, i.Negotiation); was.TermsHash(i.Negotiation) != i.TermsHash {
			return failuref("wrong terms hash", "accept_invitation succeeds with another terms hash")
		} else if err := checkDecimals(before, was.TokenMint, i.Decimals); err != nil {
			return err
		}
	case *model.CreateNegotiation:
		if is := readNegotiation(f.environment, i.Negotiation); is.ProtocolFeeBps > i.Params.MaxFeeBps {
			return failuref("fee above maximum", "fee %d bps, maximum %d", is.ProtocolFeeBps,
				i.Params.MaxFeeBps)
		}
		return checkDecimals(before, i.TokenMint, i.Params.Decimals)
	case *model.RejectNegotiation:
		was := readNegotiation(before, i.Negotiation)
		namesAccount := i.SellerTokenAccount != model.ProgramID
		if i.Rejector == was.Parties[model.Seller] && was.BondRequired > 0 &&
			namesAccount == sellerForfeits(was) {
			return failuref("wrong account in a rejection",
				"the seller rejects, forfeiting the bond %t, naming its account %t", sellerForfeits(was),
				namesAccount)
		}
	case *model.SettleByAgreement:
		was := readNegotiation(before, i.Negotiation)
		if was.Parties != [2]model.Address{i.Buyer, i.Seller} || before.Now >= i.ValidUntil {
			return failuref("wrong agreement", "settle_by_agreement succeeds with other parties or too late")
		}
	}
	return nil
}

// checkDecimals checks that an instruction names the mint's decimals.
func checkDecimals(before *model.Environment, mint model.Address, decimals uint8) error {
	if actual := before.Accounts[mint].Data[mintDecimalsOffset]; actual != decimals {
		return failuref("wrong decimals", "decimals %d, the mint's %d", decimals, actual)
	}
	return nil
}

// checkVault checks that a vault holds at least the amount owed. For wrapped SOL the lamports count: the
// token program can turn them into tokens or into rent.
func (f *fixture) checkVault(s *session, n *model.Negotiation) error {
	account := f.environment.Accounts[s.vault]
	holds := integer(amountOf(account))
	if isNativeMint(s.currency.mint) {
		holds = integer(account.Lamports)
		holds.Sub(holds, integer(f.rent.Exempt(tokenAccountSize)))
	}
	if holds.Cmp(owed(n)) < 0 {
		return failuref("vault", "%s holds %d and owes %d", f.participants.name(s.vault), holds, owed(n))
	}
	return nil
}

// successors maps each status to the status values that can follow.
var successors = map[uint8][]uint8{
	model.StatusCreated: {model.StatusProposed, model.StatusRejected, model.StatusExpired},
	model.StatusProposed: {model.StatusProposed, model.StatusCountered, model.StatusAccepted,
		model.StatusSettled, model.StatusRejected, model.StatusExpired},
	model.StatusCountered: {model.StatusProposed, model.StatusAccepted, model.StatusSettled,
		model.StatusRejected, model.StatusExpired},
	model.StatusAccepted: {model.StatusAccepted, model.StatusSettled},
}

// checkStatus checks status changes. A finished negotiation changes only by claims, and only finished
// negotiations can be closed.
func checkStatus(was, is *model.Negotiation) error {
	switch {
	case was == nil && is != nil && is.Status != model.StatusCreated:
		return failuref("status", "a new negotiation has status %d", is.Status)
	case was == nil || is != nil && *was == *is:
		return nil
	case is == nil && !was.IsOver():
		return failuref("status", "a negotiation is closed with status %d", was.Status)
	case is == nil:
		return nil
	case was.IsOver():
		claimed := *was
		claimed.Claimable = is.Claimable
		if claimed != *is || is.Claimable[0] > was.Claimable[0] || is.Claimable[1] > was.Claimable[1] {
			return failuref("status", "a negotiation that is over changes from\n%+v to\n%+v", was, is)
		}
		return nil
	}
	for _, next := range successors[was.Status] {
		if is.Status == next {
			return nil
		}
	}
	return failuref("status", "status %d follows %d", is.Status, was.Status)
}

// checkActOrExpire checks that either a party can act or anyone can expire the negotiation.
func (f *fixture) checkActOrExpire(s *session, n *model.Negotiation) error {
	tokens := [2]model.Address{s.currency.tokens[s.parties[0]][0], s.currency.tokens[s.parties[1]][0]}
	canAct, err := f.wouldSucceed(&model.RejectNegotiation{Rejector: s.parties[0], Negotiation: s.negotiation,
		EscrowVault: s.vault, BuyerTokenAccount: tokens[0], SellerTokenAccount: tokens[1],
		TokenMint: s.currency.mint, TokenProgram: s.currency.program, CreatedAt: n.CreatedAt,
		ExpectedRound: n.CurrentRound})
	if err != nil {
		return err
	}
	canExpire, err := f.wouldSucceed(&model.ExpireNegotiation{Negotiation: s.negotiation,
		EscrowVault: s.vault, BuyerTokenAccount: tokens[0], SellerTokenAccount: tokens[1],
		TokenMint: s.currency.mint, TokenProgram: s.currency.program})
	if err != nil {
		return err
	}
	if canAct == canExpire {
		return failuref("act or expire", "at %d: acting %t, expiring %t", f.environment.Now, canAct,
			canExpire)
	}
	return nil
}

func (f *fixture) wouldSucceed(instruction model.AnyInstruction) (bool, error) {
	f.stats.simulations++
	encoded := model.Encode(instruction)
	simulated, err := f.executor.Simulate(&encoded)
	return err == nil && !simulated.failed(), err
}
