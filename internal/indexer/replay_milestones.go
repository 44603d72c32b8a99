package indexer

import (
	"errors"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// errNotAgreed: the negotiation lacks a price, so there are no milestones to decide.
var errNotAgreed = errors.New("indexer: no agreed price")

func (r *replay) ClaimMilestone(i *protocol.ClaimMilestone) error {
	if !r.IsAgreed() {
		return errNotAgreed
	}
	r.emit(&protocol.MilestoneClaimed{
		NegotiationID: r.address, Index: i.Index, ReviewDeadline: r.now + r.ReviewWindow(), Evidence: i.Evidence, Timestamp: r.now,
	}, nil)
	return nil
}

func (r *replay) DisputeMilestone(i *protocol.DisputeMilestone) error {
	if !r.IsAgreed() {
		return errNotAgreed
	}
	r.emit(&protocol.MilestoneDisputed{NegotiationID: r.address, Index: i.Index, Evidence: i.Evidence, Timestamp: r.now}, nil)
	return nil
}

func (r *replay) ReleaseMilestone(i *protocol.ReleaseMilestone) error {
	if !r.IsAgreed() {
		return errNotAgreed
	}
	net, fee := r.split(r.tranche(i.Index))
	r.emit(&protocol.MilestoneReleased{NegotiationID: r.address, Index: i.Index, SellerAmount: net, Fee: fee, Timestamp: r.now}, nil)
	toBuyer, toSeller := r.settleIfDecided()
	r.deliver(i.BuyerTokenAccount, i.SellerTokenAccount, toBuyer, net+toSeller)
	return nil
}

// tranche returns an undecided milestone's part of the price.
func (r *replay) tranche(index uint8) uint64 {
	amount, err := r.Tranche(index)
	r.require(err == nil)
	return amount
}

// split divides a part of the price into the seller's amount and the fee.
func (r *replay) split(gross uint64) (net, fee uint64) {
	fee = r.FeeOnPart(gross)
	return gross - fee, fee
}

// settleIfDecided settles the negotiation if all milestones are decided, and returns the parts of the bond.
func (r *replay) settleIfDecided() (toBuyer, toSeller uint64) {
	if r.MilestonesDecided != r.allMilestones() {
		return 0, 0
	}
	forfeited, ok := r.forfeitedBond(0)
	r.require(ok)
	return r.settle(forfeited, protocol.BondReasonSettlement)
}

func (r *replay) ResolveDispute(i *protocol.ResolveDispute) error {
	if !r.IsAgreed() {
		return errNotAgreed
	}
	tranche := r.tranche(i.Index)
	gross := protocol.ShareOf(tranche, i.SellerBps, 0)
	net, fee := r.split(gross)
	r.emit(&protocol.DisputeResolved{
		NegotiationID: r.address, Index: i.Index, SellerAmount: net, Fee: fee, BuyerAmount: tranche - gross, Timestamp: r.now,
	}, nil)
	toBuyer, toSeller := r.settleIfDecided()
	r.deliver(i.BuyerTokenAccount, i.SellerTokenAccount, tranche-gross+toBuyer, net+toSeller)
	return nil
}

func (r *replay) SettleDeadline(i *protocol.SettleDeadline) error {
	if !r.IsAgreed() {
		return errNotAgreed
	}
	undecided := r.Undecided()
	var released, disputed, refunded uint8
	var gross, buyersHalves uint64
	for index := range r.MilestoneCount() {
		bit := uint8(1) << index
		switch r.MilestoneState(index) {
		case protocol.MilestoneStateUnderReview:
			released |= bit
			gross += r.tranche(index)
		case protocol.MilestoneStateDisputed:
			disputed |= bit
			tranche := r.tranche(index)
			gross += tranche / 2
			buyersHalves += tranche - tranche/2
		case protocol.MilestoneStateUnclaimed:
			refunded |= bit
		}
	}
	net, fee := r.split(gross)
	r.emit(&protocol.DeadlineSettled{
		NegotiationID: r.address, Released: released, Split: disputed, Refunded: refunded,
		SellerAmount: net, Fee: fee, BuyerAmount: undecided - gross, Timestamp: r.now,
	}, nil)
	forfeited, ok := r.forfeitedBond(buyersHalves)
	r.require(ok)
	toBuyer, toSeller := r.settle(forfeited, protocol.BondReasonSettlement)
	r.deliver(i.BuyerTokenAccount, i.SellerTokenAccount, undecided-gross+toBuyer, net+toSeller)
	return nil
}

func (r *replay) SettleByAgreement(i *protocol.SettleByAgreement) error {
	if !r.IsAgreed() {
		return errNotAgreed
	}
	r.require(i.ExpectedDecided == r.MilestonesDecided)
	amounts := r.AgreementAmounts(i.SellerBps, i.BondToBuyerBps)
	r.emit(&protocol.AgreementSettled{
		NegotiationID: r.address, SellerAmount: amounts.ToSeller, Fee: amounts.Fee, BuyerAmount: amounts.ToBuyer,
		BondToBuyer: amounts.BondToBuyer, Timestamp: r.now,
	}, nil)
	toBuyer, toSeller := r.settle(amounts.BondToBuyer, protocol.BondReasonAgreement)
	r.deliver(i.BuyerTokenAccount, i.SellerTokenAccount, amounts.ToBuyer+toBuyer, amounts.ToSeller+toSeller)
	return nil
}
