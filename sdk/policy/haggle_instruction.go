package policy

import (
	"errors"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// own reads the instructions of the program where the wallet acts. Methods return a denial, or nil for
// instructions that only move wallet money counted at deposit.
type own struct{ *reading }

var _ protocol.InstructionVisitor = own{}

func (r own) CreateNegotiation(v *protocol.CreateNegotiation) error { return r.create(v) }

func (r own) AcceptInvitation(v *protocol.AcceptInvitation) error { return r.join(v) }

func (r own) SubmitOffer(v *protocol.SubmitOffer) error {
	return r.agree(v.Negotiation, v.CreatedAt, v.Amount, int(v.ExpectedRound)+1, func(n *protocol.Negotiation) error {
		return errors.Join(sameDeal(n, v.CreatedAt), sameRound(n, v.ExpectedRound))
	})
}

func (r own) AcceptOffer(v *protocol.AcceptOffer) error { return r.accept(v) }

func (r own) SubmitZopaCommitment(v *protocol.SubmitZopaCommitment) error { return r.commit(v) }

func (r own) RevealZopaPrice(v *protocol.RevealZopaPrice) error {
	r.revealed = v
	if r.isOwed(v) {
		r.reveals = append(r.reveals, commitmentOf(v))
		return nil
	}
	return r.agree(v.Negotiation, v.CreatedAt, v.Price, 0, func(n *protocol.Negotiation) error {
		return sameDeal(n, v.CreatedAt)
	})
}

func (r own) ReleaseMilestone(v *protocol.ReleaseMilestone) error { return r.release(v) }

func (r own) SettleByAgreement(v *protocol.SettleByAgreement) error { return r.settle(v) }

func (own) RejectNegotiation(*protocol.RejectNegotiation) error { return nil }
func (own) ExpireNegotiation(*protocol.ExpireNegotiation) error { return nil }
func (own) CloseNegotiation(*protocol.CloseNegotiation) error   { return nil }
func (own) ClaimPayout(*protocol.ClaimPayout) error             { return nil }
func (own) ClaimMilestone(*protocol.ClaimMilestone) error       { return nil }
func (own) DisputeMilestone(*protocol.DisputeMilestone) error   { return nil }
func (own) SettleDeadline(*protocol.SettleDeadline) error       { return nil }

// The arbiter decides about others' money.
func (own) ResolveDispute(*protocol.ResolveDispute) error { return nil }

func (r own) InitializeConfig(*protocol.InitializeConfig) error {
	return r.spend(Spend{Amount: configRent, Purpose: PurposeRent})
}

func (own) UpdateConfig(*protocol.UpdateConfig) error         { return nil }
func (own) SetPaused(*protocol.SetPaused) error               { return nil }
func (own) ProposeAuthority(*protocol.ProposeAuthority) error { return nil }
func (own) AcceptAuthority(*protocol.AcceptAuthority) error   { return nil }

// checkDestinations requires instructions to pay the wallet's own accounts. If a party signs alone, the
// program also pays accounts with a delegate or close authority, who could take the money.
func (r *reading) checkDestinations(effects protocol.Effects) error {
	for _, payment := range effects.Payments {
		if payment.Money == protocol.MoneyRent || payment.To == protocol.RoleProgram || payment.Destination.IsZero() ||
			r.isOwn(payment) {
			continue
		}
		paid, err := r.isPaid(effects, payment)
		if err != nil {
			return err
		}
		if paid {
			return r.deny(RuleDestination, payment.Destination, nil)
		}
	}
	return nil
}

// isOwn reports whether a payment destination is the wallet's associated token account or listed in
// Config.Destinations.
func (r *reading) isOwn(payment protocol.Payment) bool {
	return r.isAssociated(payment) || slices.Contains(r.policy.config.Destinations, payment.Destination)
}

func (r *reading) isAssociated(payment protocol.Payment) bool {
	associated, err := token.AssociatedAddress(r.policy.wallet, payment.Mint, payment.TokenProgram)
	return err == nil && payment.Destination == associated
}

// isPaid reports whether the wallet receives the payment.
func (r *reading) isPaid(effects protocol.Effects, payment protocol.Payment) (bool, error) {
	switch payment.To {
	case protocol.RoleParty:
		return effects.Acts(r.policy.wallet), nil
	case protocol.RoleBuyer, protocol.RoleSeller:
		role, err := r.roleIn(effects)
		return role == payment.To, err
	default: // the treasury, whose accounts the program checks
		return false, nil
	}
}

// roleIn returns the wallet's role in the instruction's negotiation, or RoleAnyone if the wallet is no party.
// If the wallet does not act and the negotiation is not on record, the role does not matter: the program then
// pays the owner of the account alone.
func (r *reading) roleIn(effects protocol.Effects) (protocol.Role, error) {
	acts := false
	for _, actor := range effects.Actors {
		if actor.Account != r.policy.wallet {
			continue
		}
		switch actor.Role {
		case protocol.RoleBuyer, protocol.RoleSeller:
			return actor.Role, nil
		case protocol.RoleParty, protocol.RoleAnyone:
			acts = true
		default:
			return protocol.RoleAnyone, nil // the program allows neither the arbiter nor the authority as a party
		}
	}
	engagement, known := r.onRecord(effects.Negotiation)
	if !known {
		// The program only pays the parties' own accounts, so the paid account determines the wallet's role.
		for _, payment := range effects.Payments {
			isParty := payment.To == protocol.RoleBuyer || payment.To == protocol.RoleSeller
			if isParty && payment.Money != protocol.MoneyRent && r.isAssociated(payment) {
				return payment.To, nil
			}
		}
		if !acts {
			return protocol.RoleAnyone, nil
		}
		var err error
		if engagement, err = r.known(effects.Negotiation, nil); err != nil {
			return 0, err
		}
	}
	switch r.policy.wallet {
	case engagement.Buyer:
		return protocol.RoleBuyer, nil
	case engagement.Seller:
		return protocol.RoleSeller, nil
	}
	return protocol.RoleAnyone, nil
}

// onRecord returns a negotiation that the wallet engaged in through this policy or earlier in the message.
func (r *reading) onRecord(negotiation solana.PublicKey) (Engagement, bool) {
	if engagements := r.recorded(negotiation); len(engagements) > 0 {
		return engagements[0], true
	}
	return Engagement{}, false
}

// recorded returns the engagements at a negotiation address through this policy and earlier in the message.
func (r *reading) recorded(negotiation solana.PublicKey) []Engagement {
	return slices.DeleteFunc(append(r.policy.engagement(negotiation), r.engagements...),
		func(e Engagement) bool { return e.Negotiation != negotiation })
}
