package indexer

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// scriptedScenario is a negotiation settled after two offers and closed, with the events and the account
// after each transaction. scale multiplies the amounts.
type scriptedScenario struct {
	number, scale uint64
	address       solana.PublicKey
	buyer, seller solana.PublicKey
}

// step is a transaction in a scenario.
type step struct {
	events []protocol.Event
	// state is nil once the account is closed.
	state *protocol.Negotiation
}

func newScriptedScenario(number, scale uint64) *scriptedScenario {
	return &scriptedScenario{number, scale, numberedKey('N', number), numberedKey('B', number%5), numberedKey('S', number%7)}
}

func (s *scriptedScenario) steps() []step {
	created := &protocol.NegotiationCreated{
		NegotiationID: s.address, Buyer: s.buyer, Seller: s.seller, EscrowAmount: 1000 * s.scale, TokenMint: numberedKey('M', s.number%3),
		MaxRounds: 10, DecayRateBps: 100, ProtocolFeeBps: 50, MinOfferBps: 100, ResponseWindow: 60,
		GlobalDeadline: 1_800_000_000, Timestamp: 1_700_000_000 + int64(s.number), SessionID: s.number,
	}
	state := protocol.Negotiation{
		Version: protocol.NegotiationVersion, Buyer: s.buyer, Seller: s.seller, SessionID: s.number, EscrowAmount: created.EscrowAmount,
		EffectiveEscrow: created.EscrowAmount, TokenMint: created.TokenMint, MaxRounds: 10, CreatedAt: created.Timestamp, ZopaPhase: protocol.ZopaPhaseSkipped,
	}
	after := func(change func(*protocol.Negotiation)) *protocol.Negotiation {
		change(&state)
		copied := state
		return &copied
	}
	at := created.Timestamp
	return []step{
		{[]protocol.Event{created}, after(func(n *protocol.Negotiation) {})},
		{[]protocol.Event{&protocol.InvitationAccepted{NegotiationID: s.address, Seller: s.seller, Timestamp: at + 1}},
			after(func(n *protocol.Negotiation) { n.Status = protocol.NegotiationStatusProposed })},
		{[]protocol.Event{&protocol.OfferSubmitted{NegotiationID: s.address, Offerer: s.buyer, Amount: 400 * s.scale, Round: 1, EffectiveEscrow: 990 * s.scale, Timestamp: at + 2}},
			after(func(n *protocol.Negotiation) { n.CurrentRound, n.EffectiveEscrow = 1, 990*s.scale })},
		{[]protocol.Event{&protocol.OfferSubmitted{NegotiationID: s.address, Offerer: s.seller, Amount: 600 * s.scale, Round: 2, EffectiveEscrow: 980 * s.scale, Timestamp: at + 3}},
			after(func(n *protocol.Negotiation) {
				n.CurrentRound, n.EffectiveEscrow, n.Status = 2, 980*s.scale, protocol.NegotiationStatusCountered
			})},
		{[]protocol.Event{
			&protocol.OfferAccepted{NegotiationID: s.address, AcceptedBy: s.buyer, Amount: 600 * s.scale, Round: 2, Timestamp: at + 4},
			&protocol.NegotiationSettled{
				NegotiationID: s.address, Buyer: s.buyer, Seller: s.seller, SettledAmount: 600 * s.scale, TotalRounds: 2,
				ProtocolFee: 3 * s.scale, EscrowDecayTotal: 20 * s.scale, Timestamp: at + 4, TokenMint: created.TokenMint,
			},
		}, after(func(n *protocol.Negotiation) {
			n.Status, n.SettledAmount, n.PaidGross, n.SettledAt = protocol.NegotiationStatusSettled, 600*s.scale, 600*s.scale, at+4
		})},
		{[]protocol.Event{&protocol.NegotiationClosed{NegotiationID: s.address, ClosedBy: s.seller, Swept: 23 * s.scale, Timestamp: at + 5}}, nil},
	}
}
