package policy_test

import (
	"reflect"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// on sets an instruction's accounts for a negotiation. The wallet acts, and all are paid at their associated
// token accounts.
func (s *stage) on(instruction protocol.AnyInstruction, negotiation, buyer, seller solana.PublicKey) {
	accounts := map[string]solana.PublicKey{
		"Negotiation": negotiation, "Buyer": buyer, "Seller": seller, "TokenMint": mint, "TokenProgram": solana.TokenProgramID,
		"BuyerTokenAccount": s.associated(buyer, mint), "SellerTokenAccount": s.associated(seller, mint),
		"DestinationTokenAccount": s.associated(s.wallet(), mint),
		"Acceptor":                s.wallet(), "Rejector": s.wallet(), "Releaser": s.wallet(), "Agent": s.wallet(), "Party": s.wallet(),
		"Closer": s.wallet(),
	}
	fields := reflect.ValueOf(instruction).Elem()
	for name, address := range accounts {
		if field := fields.FieldByName(name); field.IsValid() {
			field.Set(reflect.ValueOf(address))
		}
	}
}

// redirect replaces an instruction's account.
func redirect(instruction protocol.AnyInstruction, from, to solana.PublicKey) {
	fields := reflect.ValueOf(instruction).Elem()
	for i := range fields.NumField() {
		if fields.Field(i).Interface() == from {
			fields.Field(i).Set(reflect.ValueOf(to))
		}
	}
}

// isWallets reports whether the wallet in this role receives a token payment.
func isWallets(payment protocol.Payment, role protocol.Role) bool {
	return (payment.To == role || payment.To == protocol.RoleParty) && payment.Money != protocol.MoneyRent
}

// If a party signs, the program also pays delegated token accounts, and the delegate can take the money. So
// the policy checks every payment destination.
func TestEveryDestinationIsChecked(t *testing.T) {
	agreements := func(c *policy.Config) {
		c.Agreement = &policy.AgreementLimits{MaxToSellerBps: 10_000, MaxToBuyerBps: 10_000, MaxBondToBuyerBps: 10_000}
	}
	checked := map[string]bool{}
	for _, role := range []protocol.Role{protocol.RoleBuyer, protocol.RoleSeller} {
		for _, kind := range protocol.Instructions() {
			if kind.Effects().IsFor(protocol.RoleArbiter, protocol.RoleAuthority) {
				continue // the wallet acts in another role
			}
			for at, payment := range kind.Effects().Payments {
				if !isWallets(payment, role) {
					continue
				}
				s := newStage(t, agreements)
				buyer, seller := s.wallet(), friend
				if role == protocol.RoleSeller {
					buyer, seller = friend, s.wallet()
				}
				address := s.negotiation(buyer, seller, 1)
				terms := &protocol.Negotiation{
					Buyer: buyer, Seller: seller, SessionID: 1, TokenMint: mint, Version: protocol.NegotiationVersion,
					ResponseWindow: protocol.DefaultResponseWindow,
				}
				s.config.Negotiations = chain{address: terms.Encode()}
				s.restart()
				engage := func() {
					if role == protocol.RoleBuyer {
						require.NoError(t, s.sign(s.create(friend, 1, 1_000_000)))
					} else {
						require.NoError(t, s.sign(s.join(address, terms)))
					}
				}
				instruction, ok := protocol.NewInstruction(kind.InstructionName())
				require.True(t, ok)
				s.on(instruction, address, buyer, seller)
				own := instruction.Effects().Payments[at].Destination
				name := instruction.InstructionName()
				checked[name] = true
				t.Log(name, role, payment.Money)
				require.NoError(t, s.sign(s.build(instruction)), name)

				redirect(instruction, own, thief)
				if len(instruction.Effects().Actors) > 0 {
					s.denied(policy.RuleDestination, s.build(instruction)) // the role is read from the chain
				}
				engage()
				s.denied(policy.RuleDestination, s.build(instruction)) // the role is on record
				s.config.Destinations = []solana.PublicKey{thief}
				s.restart()
				require.NoError(t, s.sign(s.build(instruction)), name)
			}
		}
	}
	require.Len(t, checked, 9, "%v", checked)
}

// A wallet with an unknown role does not sign for a foreign destination.
func TestUnknownRoleIsNoPermission(t *testing.T) {
	s := newStage(t)
	address := s.negotiation(s.wallet(), friend, 1)
	reject := &protocol.RejectNegotiation{}
	s.on(reject, address, s.wallet(), friend)
	require.NoError(t, s.sign(s.build(reject)), "one of the accounts is the wallet's, so the other one is not")
	reject.BuyerTokenAccount = thief
	s.denied(policy.RuleNegotiation, s.build(reject))
}
