package indexer

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// outcome is a negotiation's result. It is computed from all events whenever an event is added or deleted.
//
// Each amount is a sum over events, never computed from other amounts, so that the view "violations" compares
// the escrow with the parts.
type outcome struct {
	created     *protocol.NegotiationCreated
	createdSlot *uint64
	// instructionTerms holds the terms in a creation instruction with an unknown event.
	instructionTerms map[string]string
	// seller is set by the creation or by another event.
	seller *solana.PublicKey

	status    string
	rounds    uint8
	effective *uint64
	lastOffer *protocol.OfferSubmitted
	// acceptedBy is set with the other two.
	acceptedBy     *solana.PublicKey
	acceptedAmount uint64
	acceptedRound  uint8
	// buyerPrice and sellerPrice are the reservation prices, nil until revealed. nashPrice is their midpoint,
	// the Nash solution's price for linear utilities; nil if there is no zone.
	buyerPrice, sellerPrice, nashPrice *uint64

	settled *uint64
	net     *big.Int
	fee     *big.Int
	decay   *big.Int
	// refund is nil when the events contradict each other.
	refund *big.Int
	bond   bond

	// end is the event that ended the negotiation; nil before.
	end                   protocol.Event
	ended, closed         *int64
	endedSlot, closedSlot *uint64
	swept                 *uint64
	complete              bool
	hasUnknownEvents      bool
}

// bond is the seller's bond, as far as the events show it.
type bond struct {
	// held reports whether the seller has deposited the bond.
	held bool
	// amount is nil if neither the creation nor the deposit is known.
	amount *uint64
	// settled reports whether a part has left the deposit.
	settled           bool
	toBuyer, toSeller uint64
}

func outcomeOf(events []pastEvent) (*outcome, error) {
	o := &outcome{
		status: protocol.NegotiationStatusCreated.String(), complete: true,
		net: new(big.Int), fee: new(big.Int), decay: new(big.Int), refund: new(big.Int),
	}
	for _, item := range events {
		if err := o.add(item); err != nil {
			return nil, err
		}
	}
	o.complete = o.complete && o.created != nil
	if !o.complete {
		o.clearUncertain()
	}
	return o, nil
}

func (o *outcome) add(item pastEvent) error {
	switch event := item.event.(type) {
	case nil:
		return o.addMissing(item)
	case *protocol.NegotiationCreated:
		o.created, o.createdSlot, o.effective, o.seller = event, &item.slot, &event.EscrowAmount, &event.Seller
		o.bond.amount = &event.BondRequired
	case *protocol.InvitationAccepted:
		o.status, o.seller = protocol.NegotiationStatusProposed.String(), &event.Seller
		o.bond.held, o.bond.amount = event.Bond > 0, &event.Bond
	case *protocol.OfferSubmitted:
		o.offer(event)
	case *protocol.ZopaRevealed:
		o.reveal(event)
	case *protocol.OfferAccepted:
		o.accept(event)
	case *protocol.MilestoneReleased:
		o.pay(event.SellerAmount, event.Fee, 0)
	case *protocol.DisputeResolved:
		o.pay(event.SellerAmount, event.Fee, event.BuyerAmount)
	case *protocol.DeadlineSettled:
		o.pay(event.SellerAmount, event.Fee, event.BuyerAmount)
	case *protocol.AgreementSettled:
		o.pay(event.SellerAmount, event.Fee, event.BuyerAmount)
	case *protocol.NegotiationSettled:
		o.end = event
		o.settle(event, item.slot)
	case *protocol.NegotiationRejected:
		o.end = event
		o.refundAll(protocol.NegotiationStatusRejected, event.RefundAmount, event.RoundsCompleted, event.Timestamp, item.slot)
	case *protocol.NegotiationExpired:
		o.end = event
		o.refundAll(protocol.NegotiationStatusExpired, event.RefundAmount, event.RoundsCompleted, event.Timestamp, item.slot)
	case *protocol.BondSettled:
		o.settleBond(event)
	case *protocol.NegotiationClosed:
		o.closed, o.closedSlot, o.swept = &event.Timestamp, &item.slot, &event.Swept
	}
	return nil
}

func (o *outcome) addMissing(item pastEvent) error {
	o.complete, o.hasUnknownEvents = false, true
	described := make(map[string]string)
	if err := json.Unmarshal([]byte(item.fields), &described); err != nil {
		return err
	}
	switch described["instruction"] {
	case new(protocol.CreateNegotiation).InstructionName():
		if o.created != nil {
			return nil
		}
		seller, err := solana.PublicKeyFromBase58(described["seller"])
		if err != nil {
			return fmt.Errorf("creation without event: seller: %w", err)
		}
		o.instructionTerms, o.createdSlot, o.seller = described, &item.slot, &seller
	case new(protocol.AcceptOffer).InstructionName():
		switch {
		case o.end != nil || o.created == nil:
		case protocol.MilestoneCount(o.created.MilestoneBps) > 0:
			o.status = protocol.NegotiationStatusAccepted.String()
		default:
			o.endWithoutEvent(protocol.NegotiationStatusSettled, item.slot)
		}
	case new(protocol.SettleDeadline).InstructionName(), new(protocol.SettleByAgreement).InstructionName():
		o.endWithoutEvent(protocol.NegotiationStatusSettled, item.slot)
	case new(protocol.RejectNegotiation).InstructionName():
		o.endWithoutEvent(protocol.NegotiationStatusRejected, item.slot)
	case new(protocol.ExpireNegotiation).InstructionName():
		o.endWithoutEvent(protocol.NegotiationStatusExpired, item.slot)
	case new(protocol.CloseNegotiation).InstructionName():
		if o.closedSlot == nil {
			o.closedSlot = &item.slot
		}
	}
	return nil
}

// endWithoutEvent ends the negotiation by an instruction with an unknown event. It succeeded, so the
// negotiation is over.
func (o *outcome) endWithoutEvent(status protocol.NegotiationStatus, slot uint64) {
	if o.end == nil {
		o.status, o.endedSlot = status.String(), &slot
	}
}

// clearUncertain clears the sums that can lack a part. The amounts of the event that ended the negotiation
// are certain.
func (o *outcome) clearUncertain() {
	o.net, o.fee, o.decay, o.refund = nil, nil, nil, nil
	switch event := o.end.(type) {
	case *protocol.NegotiationSettled:
		o.fee, o.net = new(big.Int).SetUint64(event.ProtocolFee), difference(event.SettledAmount, event.ProtocolFee)
		o.decay = new(big.Int).SetUint64(event.EscrowDecayTotal)
		if deposit, is := o.deposit(); is && event.EscrowDecayTotal <= deposit {
			o.refund = difference(deposit-event.EscrowDecayTotal, event.SettledAmount)
		}
	case *protocol.NegotiationRejected:
		o.admitRefund(event.RefundAmount)
	case *protocol.NegotiationExpired:
		o.admitRefund(event.RefundAmount)
	}
}

func (o *outcome) admitRefund(refund uint64) {
	o.net, o.fee, o.refund = new(big.Int), new(big.Int), new(big.Int).SetUint64(refund)
	if deposit, is := o.deposit(); is {
		o.decay = difference(deposit, refund)
	}
}

// deposit returns the creation's escrow; false if unknown.
func (o *outcome) deposit() (uint64, bool) {
	if o.created != nil {
		return o.created.EscrowAmount, true
	}
	deposit, err := strconv.ParseUint(o.instructionTerms["escrow_amount"], 10, 64)
	return deposit, err == nil
}

func (o *outcome) offer(event *protocol.OfferSubmitted) {
	o.lastOffer, o.rounds, o.effective = event, event.Round, &event.EffectiveEscrow
	o.status = protocol.NegotiationStatusProposed.String()
	if o.seller != nil && event.Offerer == *o.seller {
		o.status = protocol.NegotiationStatusCountered.String()
	}
	if o.created != nil {
		o.decay = difference(o.created.EscrowAmount, event.EffectiveEscrow)
	}
}

// reveal sets a reservation price, unless the seller is unknown. The second reveal contains the midpoint.
func (o *outcome) reveal(event *protocol.ZopaRevealed) {
	switch {
	case o.seller == nil:
	case event.Agent == *o.seller:
		o.sellerPrice = &event.Price
	default:
		o.buyerPrice = &event.Price
	}
	if event.Midpoint > 0 {
		o.nashPrice = &event.Midpoint
	}
}

// accept ends the bargaining. With milestones the buyer gets the rest of the escrow at once. Otherwise the
// event of the settlement determines it.
func (o *outcome) accept(event *protocol.OfferAccepted) {
	o.acceptedBy, o.acceptedAmount, o.acceptedRound = &event.AcceptedBy, event.Amount, event.Round
	if o.created == nil || protocol.MilestoneCount(o.created.MilestoneBps) == 0 {
		return
	}
	o.status = protocol.NegotiationStatusAccepted.String()
	if o.effective != nil {
		o.refund = difference(*o.effective, event.Amount)
	}
}

func (o *outcome) pay(seller, fee, buyer uint64) {
	o.net.Add(o.net, new(big.Int).SetUint64(seller))
	o.fee.Add(o.fee, new(big.Int).SetUint64(fee))
	if o.refund != nil {
		o.refund.Add(o.refund, new(big.Int).SetUint64(buyer))
	}
}

func (o *outcome) settle(event *protocol.NegotiationSettled, slot uint64) {
	o.status, o.rounds = protocol.NegotiationStatusSettled.String(), event.TotalRounds
	o.ended, o.endedSlot, o.settled, o.seller = &event.Timestamp, &slot, &event.SettledAmount, &event.Seller
	o.decay = new(big.Int).SetUint64(event.EscrowDecayTotal)
	if o.created == nil || protocol.MilestoneCount(o.created.MilestoneBps) > 0 {
		return
	}
	o.fee = new(big.Int).SetUint64(event.ProtocolFee)
	o.net = difference(event.SettledAmount, event.ProtocolFee)
	o.refund = nil
	if o.effective != nil {
		o.refund = difference(*o.effective, event.SettledAmount)
	}
}

func (o *outcome) refundAll(status protocol.NegotiationStatus, refund uint64, rounds uint8, timestamp int64, slot uint64) {
	o.status, o.rounds = status.String(), rounds
	o.ended, o.endedSlot = &timestamp, &slot
	o.pay(0, 0, refund)
}

func (o *outcome) settleBond(event *protocol.BondSettled) {
	switch {
	case o.seller == nil:
		return
	case event.To == *o.seller:
		o.bond.toSeller = event.Amount
	default:
		o.bond.toBuyer = event.Amount
	}
	o.bond.settled = true
}

// unknownBond is the bond state if events that settle the bond may be missing.
const unknownBond = "Unknown"

// bondIsCertain reports whether no event that settles the bond is missing.
func (o *outcome) bondIsCertain() bool {
	b := o.bond
	switch {
	case o.complete, b.amount != nil && *b.amount == 0:
		return true
	case !b.settled:
		return false
	}
	// One transaction settles the whole bond.
	return !o.hasUnknownEvents || b.toBuyer > 0 && b.toSeller > 0 || b.amount != nil && b.toBuyer+b.toSeller == *b.amount
}

func (o *outcome) bondState() string {
	switch b := o.bond; {
	case !o.bondIsCertain():
		return unknownBond
	case b.settled && b.toBuyer == 0:
		return protocol.BondStateReturned.String()
	case b.settled && b.toSeller == 0:
		return protocol.BondStateForfeited.String()
	case b.settled:
		return protocol.BondStateSplit.String()
	case b.held:
		return protocol.BondStateHeld.String()
	}
	return protocol.BondStateNone.String()
}

// bondParts returns the buyer's and the seller's part of the bond; nil until it is settled, and if a part may
// be missing.
func (o *outcome) bondParts() (toBuyer, toSeller *uint64) {
	if !o.bond.settled || !o.bondIsCertain() {
		return nil, nil
	}
	return &o.bond.toBuyer, &o.bond.toSeller
}

// difference returns a - b; nil if negative.
func difference(a, b uint64) *big.Int {
	if b > a {
		return nil
	}
	return new(big.Int).SetUint64(a - b)
}

// column is a column of the table negotiations and a value.
type column struct {
	name  string
	value any
}

func (o *outcome) columns() ([]column, error) {
	terms, err := o.terms()
	if err != nil {
		return nil, err
	}
	bondToBuyer, bondToSeller := o.bondParts()
	columns := append(terms,
		column{"created_slot", o.createdSlot},
		column{"status", o.status}, column{"rounds", int64(o.rounds)},
		column{"effective_escrow", decimal(o.effective)},
		column{"settled_amount", decimal(o.settled)},
		column{"net_amount", sum(o.net)}, column{"fee", sum(o.fee)}, column{"decay", sum(o.decay)}, column{"refund", sum(o.refund)},
		column{"bond_state", o.bondState()},
		column{"bond_to_buyer", decimal(bondToBuyer)}, column{"bond_to_seller", decimal(bondToSeller)},
		column{"ended_at", o.ended}, column{"ended_slot", o.endedSlot},
		column{"closed_at", o.closed}, column{"closed_slot", o.closedSlot},
		column{"swept", decimal(o.swept)}, column{"complete", o.complete},
	)
	if o.lastOffer != nil {
		columns = append(columns, column{"last_offer_amount", decimal(&o.lastOffer.Amount)}, column{"last_offer_by", o.lastOffer.Offerer.String()})
	}
	if o.acceptedBy != nil {
		columns = append(columns, column{"accepted_amount", decimal(&o.acceptedAmount)},
			column{"accepted_round", int64(o.acceptedRound)}, column{"accepted_by", o.acceptedBy.String()})
	}
	prices := []column{
		{"buyer_price", decimal(o.buyerPrice)}, {"seller_price", decimal(o.sellerPrice)},
		{"nash_price", decimal(o.nashPrice)},
	}
	return append(columns, slices.DeleteFunc(prices, func(c column) bool { return c.value == nil })...), nil
}

// terms returns the columns known from the creation.
func (o *outcome) terms() ([]column, error) {
	if c := o.created; c != nil {
		return []column{
			{"session_id", decimal(&c.SessionID)}, {"buyer", c.Buyer.String()}, {"seller", c.Seller.String()}, {"mint", c.TokenMint.String()},
			{"service_hash", hex.EncodeToString(c.ServiceHash[:])}, {"escrow_amount", decimal(&c.EscrowAmount)},
			{"max_rounds", int64(c.MaxRounds)}, {"decay_rate_bps", int64(c.DecayRateBps)}, {"protocol_fee_bps", int64(c.ProtocolFeeBps)},
			{"min_offer_bps", int64(c.MinOfferBps)}, {"response_window", c.ResponseWindow}, {"global_deadline", c.GlobalDeadline},
			{"zopa_enabled", c.ZopaEnabled}, {"bond_required", decimal(&c.BondRequired)}, {"arbiter", c.Arbiter.String()},
			{"milestone_count", int64(protocol.MilestoneCount(c.MilestoneBps))}, {"review_hours", int64(c.ReviewHours)},
			{"created_at", c.Timestamp},
		}, nil
	}
	if o.instructionTerms == nil {
		return nil, nil
	}
	for _, name := range []string{"session_id", "escrow_amount"} {
		if _, err := strconv.ParseUint(o.instructionTerms[name], 10, 64); err != nil {
			return nil, errors.Join(fmt.Errorf("creation without event: %s", name), err)
		}
	}
	return []column{
		{"session_id", o.instructionTerms["session_id"]}, {"buyer", o.instructionTerms["buyer"]},
		{"seller", o.instructionTerms["seller"]}, {"mint", o.instructionTerms["token_mint"]},
		{"escrow_amount", o.instructionTerms["escrow_amount"]},
	}, nil
}

// Optional amounts as text for SQL; NULL if nil. The drivers convert other pointers themselves.

func decimal(value *uint64) any {
	if value == nil {
		return nil
	}
	return strconv.FormatUint(*value, 10)
}

func sum(value *big.Int) any {
	if value == nil {
		return nil
	}
	return value.String()
}
