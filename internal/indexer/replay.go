package indexer

import (
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// replay computes an instruction's events from the state before it, as the program does.
type replay struct {
	*position
	call   *call
	now    int64
	events []protocol.Event
	// failed is set if the events cannot be computed, or the instruction contradicts the state.
	failed bool
}

// eventsAfter returns the events caused by an instruction on a negotiation, and changes the negotiation's
// state. It returns false if they cannot be computed; the state is then undefined.
func eventsAfter(p *position, call *call, now int64) ([]protocol.Event, bool) {
	r := &replay{position: p, call: call, now: now}
	if createdAt := call.instruction.Effects().CreatedAt; createdAt != nil && *createdAt != p.CreatedAt {
		return nil, false
	}
	err := call.instruction.Visit(r)
	return r.events, err == nil && !r.failed
}

var _ protocol.InstructionVisitor = (*replay)(nil)

// errNotOnNegotiation: the instruction does not change an existing negotiation.
var errNotOnNegotiation = errors.New("indexer: not an instruction on an existing negotiation")

// CreateNegotiation and the instructions on the configuration have their own events: see [rebuilder].
func (*replay) CreateNegotiation(*protocol.CreateNegotiation) error { return errNotOnNegotiation }
func (*replay) InitializeConfig(*protocol.InitializeConfig) error   { return errNotOnNegotiation }
func (*replay) UpdateConfig(*protocol.UpdateConfig) error           { return errNotOnNegotiation }
func (*replay) SetPaused(*protocol.SetPaused) error                 { return errNotOnNegotiation }
func (*replay) ProposeAuthority(*protocol.ProposeAuthority) error   { return errNotOnNegotiation }
func (*replay) AcceptAuthority(*protocol.AcceptAuthority) error     { return errNotOnNegotiation }

func (r *replay) AcceptInvitation(i *protocol.AcceptInvitation) error {
	r.emit(&protocol.InvitationAccepted{
		NegotiationID: r.address, Seller: i.Seller, Bond: r.BondRequired,
		TurnDeadline: min(r.now+r.ResponseWindow, r.GlobalDeadline), Timestamp: r.now,
	}, nil)
	return nil
}

func (r *replay) SubmitZopaCommitment(i *protocol.SubmitZopaCommitment) error {
	phase := protocol.ZopaPhaseBuyerCommitted
	if i.Agent == r.Seller {
		phase = protocol.ZopaPhaseBothCommitted
	}
	r.emit(&protocol.ZopaCommitted{NegotiationID: r.address, Agent: i.Agent, Phase: phase, Timestamp: r.now}, nil)
	return nil
}

func (r *replay) SubmitOffer(i *protocol.SubmitOffer) error {
	r.require(i.ExpectedRound == r.CurrentRound)
	r.emit(&protocol.OfferSubmitted{
		NegotiationID: r.address, Offerer: i.Offerer, Amount: i.Amount, Round: r.CurrentRound + 1,
		EffectiveEscrow: r.EscrowAfterRound(), Timestamp: r.now,
	}, &i.Metadata)
	return nil
}

func (r *replay) RejectNegotiation(i *protocol.RejectNegotiation) error {
	r.require(i.ExpectedRound == r.CurrentRound)
	reason := protocol.BondReasonNoDeal
	side, _ := r.SideOf(i.Rejector)
	if side == protocol.OfferSideSeller && r.RejectionForfeitsBond() {
		reason = protocol.BondReasonForfeit
	}
	r.reject(i.Rejector, r.BondAfterRejection(side), reason, i.BuyerTokenAccount, i.SellerTokenAccount)
	return nil
}

func (r *replay) ClaimPayout(i *protocol.ClaimPayout) error {
	r.require(r.ClaimableOf(i.Party) == i.Amount)
	r.emit(&protocol.PayoutClaimed{NegotiationID: r.address, Party: i.Party, Amount: i.Amount, Timestamp: r.now}, nil)
	return nil
}

func (r *replay) emit(event protocol.Event, metadata *[64]byte) {
	r.events = append(r.events, event)
	r.apply(event, metadata)
}

// require marks the events as unknown if the condition is false.
func (r *replay) require(condition bool) { r.failed = r.failed || !condition }

func (r *replay) RevealZopaPrice(i *protocol.RevealZopaPrice) error {
	event := &protocol.ZopaRevealed{NegotiationID: r.address, Agent: i.Agent, Price: i.Price, Phase: r.ZopaPhase, Timestamp: r.now}
	if i.Agent == r.Seller {
		event.Phase = protocol.ZopaPhaseRevealed
		event.Midpoint, _ = r.Midpoint(i.Price)
	}
	r.emit(event, nil)
	if i.Agent == r.Seller && event.Midpoint == 0 {
		r.reject(r.address, 0, protocol.BondReasonNoDeal, i.BuyerTokenAccount, i.SellerTokenAccount)
	}
	return nil
}

func (r *replay) AcceptOffer(i *protocol.AcceptOffer) error {
	r.require(i.ExpectedRound == r.CurrentRound && i.ExpectedAmount == r.CurrentOfferAmount && i.ExpectedAmount <= r.EffectiveEscrow)
	rest := r.EffectiveEscrow - r.CurrentOfferAmount
	r.emit(&protocol.OfferAccepted{
		NegotiationID: r.address, AcceptedBy: i.Acceptor, Amount: i.ExpectedAmount, Round: r.CurrentRound, Timestamp: r.now,
	}, &i.ExpectedMetadata)
	if r.MilestoneCount() > 0 {
		r.deliver(i.BuyerTokenAccount, i.SellerTokenAccount, rest, 0)
		return nil
	}
	toBuyer, toSeller := r.settle(0, protocol.BondReasonSettlement)
	r.deliver(i.BuyerTokenAccount, i.SellerTokenAccount, rest+toBuyer, r.PaidGross-r.FeeOn(r.PaidGross)+toSeller)
	return nil
}

func (r *replay) reject(
	by solana.PublicKey, bondToBuyer uint64, reason protocol.BondReason, buyerAccount, sellerAccount solana.PublicKey,
) {
	refund := r.EffectiveEscrow
	r.emit(&protocol.NegotiationRejected{
		NegotiationID: r.address, RejectedBy: by, RefundAmount: refund, RoundsCompleted: r.CurrentRound, Timestamp: r.now,
	}, nil)
	toBuyer, toSeller := r.settleBond(bondToBuyer, reason)
	r.deliver(buyerAccount, sellerAccount, refund+toBuyer, toSeller)
}

func (r *replay) ExpireNegotiation(i *protocol.ExpireNegotiation) error {
	refund, reason := r.EffectiveEscrow, protocol.BondReasonNoDeal
	if r.SellerOwesReveal() {
		reason = protocol.BondReasonForfeit
	}
	bondToBuyer := r.bondAfterExpiry()
	r.emit(&protocol.NegotiationExpired{
		NegotiationID: r.address, RefundAmount: refund, RoundsCompleted: r.CurrentRound, Timestamp: r.now,
	}, nil)
	toBuyer, toSeller := r.settleBond(bondToBuyer, reason)
	r.deliver(i.BuyerTokenAccount, i.SellerTokenAccount, refund+toBuyer, toSeller)
	return nil
}

// bondAfterExpiry returns the buyer's part of the bond. It depends on whether the global deadline cut the
// turn short. The events do not show extensions of the deadline, so that this is unknown if the first
// deadline would have done so.
func (r *replay) bondAfterExpiry() uint64 {
	end := r.LastOfferAt + r.ResponseWindow
	r.require(r.HeldBond() == 0 || r.CurrentRound == 0 || end <= r.GlobalDeadline)
	r.TurnDeadline = min(end, r.GlobalDeadline)
	return r.BondAfterExpiry()
}

// settle logs the settlement and the parts of the bond, and returns these.
func (r *replay) settle(bondToBuyer uint64, reason protocol.BondReason) (toBuyer, toSeller uint64) {
	r.require(r.knowsMetadata)
	r.emit(&protocol.NegotiationSettled{
		NegotiationID: r.address, Buyer: r.Buyer, Seller: r.Seller, SettledAmount: r.PaidGross, TotalRounds: r.CurrentRound,
		ProtocolFee: r.FeeOn(r.PaidGross), EscrowDecayTotal: r.Decay(), Timestamp: r.now, TokenMint: r.TokenMint,
		ServiceHash: r.ServiceHash, Metadata: r.Metadata,
	}, nil)
	return r.settleBond(bondToBuyer, reason)
}

// settleBond logs the parts of a held bond and returns them.
func (r *replay) settleBond(bondToBuyer uint64, reason protocol.BondReason) (toBuyer, toSeller uint64) {
	toBuyer, toSeller = bondToBuyer, r.HeldBond()-bondToBuyer
	if toBuyer > 0 {
		r.emit(&protocol.BondSettled{NegotiationID: r.address, To: r.Buyer, Amount: toBuyer, Timestamp: r.now, Reason: reason}, nil)
	}
	if toSeller > 0 {
		r.emit(&protocol.BondSettled{NegotiationID: r.address, To: r.Seller, Amount: toSeller, Timestamp: r.now, Reason: reason}, nil)
	}
	return toBuyer, toSeller
}

// deliver logs the payments that the vault did not make: the program records these for the parties.
func (r *replay) deliver(buyerAccount, sellerAccount solana.PublicKey, toBuyer, toSeller uint64) {
	r.require(r.call.hasTransfers || toBuyer == 0 && toSeller == 0)
	made := r.call.transfers
	for _, due := range []struct {
		party, account solana.PublicKey
		amount         uint64
	}{{r.Buyer, buyerAccount, toBuyer}, {r.Seller, sellerAccount, toSeller}} {
		switch {
		case due.amount == 0:
		case len(made) > 0 && made[0].to == due.account && made[0].amount == due.amount:
			made = made[1:]
		default:
			r.emit(&protocol.PayoutRecorded{NegotiationID: r.address, Party: due.party, Amount: due.amount, Timestamp: r.now}, nil)
		}
	}
	r.require(len(made) == 0)
}

// CloseNegotiation logs the recorded payouts, which close the vault together with the amount for the treasury.
func (r *replay) CloseNegotiation(i *protocol.CloseNegotiation) error {
	var due []uint64
	for _, party := range []solana.PublicKey{r.Buyer, r.Seller} {
		if amount := r.ClaimableOf(party); amount > 0 {
			due = append(due, amount)
			r.emit(&protocol.PayoutClaimed{NegotiationID: r.address, Party: party, Amount: amount, Timestamp: r.now}, nil)
		}
	}
	made, swept := r.call.transfers, uint64(0)
	r.require(r.call.hasTransfers)
	if len(made) > len(due) {
		r.require(made[0].to == i.TreasuryTokenAccount)
		swept, made = made[0].amount, made[1:]
	}
	r.require(len(made) == len(due))
	for k := range min(len(made), len(due)) {
		r.require(made[k].amount == due[k])
	}
	r.emit(&protocol.NegotiationClosed{NegotiationID: r.address, ClosedBy: i.Closer, Swept: swept, Timestamp: r.now}, nil)
	return nil
}
