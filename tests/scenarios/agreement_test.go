package scenarios

import (
	"context"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// settlesTogether sends a two-party agreement: the first party prepares it, the second reviews and completes
// it.
func (d *deal) settlesTogether(prepares, completes party, sellerBps, bondToBuyerBps uint16) *haggle.Receipt {
	d.t.Helper()
	action, err := d.venue.client.Negotiation(d.address).SettleByAgreement(prepares.PublicKey(), haggle.Split{SellerBps: sellerBps, BondToBuyerBps: bondToBuyerBps}).Build(d.ctx)
	require.NoError(d.t, err)
	prepared, err := action.Transaction(d.ctx)
	require.NoError(d.t, err)
	require.NoError(d.t, haggle.SignTransaction(d.ctx, prepared, prepares))
	encoded, err := prepared.ToBase64()
	require.NoError(d.t, err)

	tx, err := solana.TransactionFromBase64(encoded)
	require.NoError(d.t, err)
	agreement, err := d.venue.client.ReviewAgreement(d.ctx, tx, completes.PublicKey())
	require.NoError(d.t, err)
	require.Equal(d.t, sellerBps, agreement.Terms.SellerBps)
	require.NoError(d.t, haggle.SignTransaction(d.ctx, tx, completes))
	receipt, err := d.venue.client.Submit(d.ctx, tx)
	require.NoError(d.t, err)

	settled := the[*protocol.AgreementSettled](d.t, receipt)
	require.Equal(d.t, protocol.AgreementAmounts{
		ToSeller: settled.SellerAmount, Fee: settled.Fee, ToBuyer: settled.BuyerAmount,
		BondToBuyer: settled.BondToBuyer, BondToSeller: agreement.Negotiation.HeldBond() - settled.BondToBuyer,
	}, agreement.Amounts, "the review shows what the program pays")
	return receipt
}

// agreement is an instruction by both parties, changed by change.
func (d *deal) agreement(change func(*protocol.SettleByAgreement)) solana.Instruction {
	d.t.Helper()
	agreement := &protocol.SettleByAgreement{
		Buyer: d.buyer.PublicKey(), Seller: d.seller.PublicKey(), Negotiation: d.address, BuyerTokenAccount: d.buyer.account,
		SellerTokenAccount: d.seller.account, TokenMint: d.mint, TokenProgram: d.tokenProgram, CreatedAt: d.created,
		ExpectedDecided: d.state().MilestonesDecided, ValidUntil: d.created + 86_400, SellerBps: 5_000,
	}
	if change != nil {
		change(agreement)
	}
	instruction, err := agreement.Instruction()
	require.NoError(d.t, err)
	return instruction
}

// Both parties end an agreed negotiation with a split of their own, prepared by either party, even while a
// milestone is under review or disputed. Odd units go to the buyer; odd bond units go to the seller.
func TestSettleByAgreement(t *testing.T) {
	t.Parallel()
	for _, side := range []struct {
		name     string
		prepares func(s *fixture) (party, party)
	}{
		{"agreement_prepared_by_the_buyer", func(s *fixture) (party, party) { return s.buyer, s.seller }},
		{"agreement_prepared_by_the_seller", func(s *fixture) (party, party) { return s.seller, s.buyer }},
	} {
		t.Run(side.name, func(t *testing.T) {
			scenario(t, side.name, func(s *fixture) {
				d := s.agree(inTranches(s.termsWithBond(), s.stranger(), 4_000, 3_000, 3_000), 2_000_001)
				s.do(d.claimMilestone(s.seller, 0))
				s.do(d.release(s.buyer, 0))
				s.do(d.claimMilestone(s.seller, 1))
				s.do(d.dispute(s.buyer, 1))
				s.do(d.claimMilestone(s.seller, 2))

				prepares, completes := side.prepares(s)
				receipt := d.settlesTogether(prepares, completes, 2_501, 1_001)
				// 1,200,001 are undecided: floor(× 25.01 %) is 300,120, and floor(500,000 × 10.01 %) is
				// 50,050.
				d.emits(receipt,
					&protocol.AgreementSettled{SellerAmount: 300_120 - 1_500, Fee: 1_500, BuyerAmount: 899_881, BondToBuyer: 50_050},
					d.settlement(1, 1_100_120, 5_500, 80_000),
					&protocol.BondSettled{To: s.buyer.PublicKey(), Amount: 50_050, Reason: protocol.BondReasonAgreement},
					&protocol.BondSettled{To: s.seller.PublicKey(), Amount: 449_950, Reason: protocol.BondReasonAgreement})
				state := d.state()
				require.Equal(s.t, protocol.NegotiationStatusSettled, state.Status)
				require.Equal(s.t, protocol.BondStateSplit, state.BondState)
				require.EqualValues(s.t, 0b111, state.MilestonesDecided)
				require.EqualValues(s.t, 85_500, s.tokens(d.vault), "fee and decay wait for the closing")
				d.closes(s.stranger())
				s.ends(holdings{
					buyer: 400_000 + 1_919_999 + 899_881 + 50_050, seller: 100_000 + 796_000 + 298_620 + 449_950, treasury: 85_500,
				})
			})
		})
	}
}

// An agreement is valid only as both have signed it: for this deal, these decided milestones, and in time.
func TestAgreementKeepsToTheRules(t *testing.T) {
	scenario(t, "agreement_keeps_to_the_rules", func(s *fixture) {
		arbiter := s.stranger()
		d := s.bargain(inTranches(s.terms(), arbiter, 6_000, 4_000))
		both := []party{s.buyer, s.seller}
		refused := func(want error, signers []party, change func(*protocol.SettleByAgreement)) {
			s.t.Helper()
			_, err := s.forceTogether(signers, d.agreement(change))
			require.ErrorIs(s.t, err, want)
		}
		refused(protocol.ErrInvalidState, both, nil)
		d.offers(2_000_000)
		s.do(d.accept(s.seller))

		refused(protocol.ErrInvalidParams, both, func(v *protocol.SettleByAgreement) { v.SellerBps = 10_001 })
		refused(protocol.ErrInvalidParams, both, func(v *protocol.SettleByAgreement) { v.BondToBuyerBps = 10_001 })
		refused(protocol.ErrInvalidState, both, func(v *protocol.SettleByAgreement) { v.BondToBuyerBps = 1 })
		refused(protocol.ErrExpired, both, func(v *protocol.SettleByAgreement) { v.ValidUntil = d.created })
		refused(protocol.ErrStaleState, both, func(v *protocol.SettleByAgreement) { v.CreatedAt++ })
		refused(protocol.ErrStaleState, both, func(v *protocol.SettleByAgreement) { v.ExpectedDecided = 1 })
		refused(protocol.ErrConstraintHasOne, []party{s.buyer, arbiter},
			func(v *protocol.SettleByAgreement) { v.Seller = arbiter.PublicKey() })
		refused(protocol.ErrConstraintHasOne, []party{arbiter, s.seller},
			func(v *protocol.SettleByAgreement) { v.Buyer = arbiter.PublicKey() })

		// A milestone that is decided after the signature makes the agreement stale.
		old := d.agreement(nil)
		s.do(d.claimMilestone(s.seller, 0))
		s.do(d.release(s.buyer, 0))
		_, err := s.forceTogether(both, old)
		require.ErrorIs(s.t, err, protocol.ErrStaleState)

		d.settlesTogether(s.buyer, s.seller, 0, 0)
		refused(protocol.ErrInvalidState, both, nil)
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000 + 800_000, seller: 1_194_000, treasury: 100_000 + 6_000})
	})
}

// The parties can still agree after the milestones' deadline, until the milestones are settled.
func TestAgreementAfterTheDeadline(t *testing.T) {
	scenarioInTime(t, "agreement_after_the_milestones_deadline", func(s *fixture) {
		d := s.agree(tightest(inTranches(s.terms(), s.stranger(), 5_000, 5_000)), 2_000_000)
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, d.state().MilestoneDeadline+protocol.MinArbitrationWindow))
		d.settlesTogether(s.seller, s.buyer, 10_000, 0)
		s.refuses(protocol.ErrInvalidState, d.settle(s.stranger()))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 110_000})
	})
}

// An undeliverable payment by agreement is recorded, as at any other end.
func TestUndeliverableAgreement(t *testing.T) {
	scenario(t, "agreement_kept_for_a_frozen_buyer", func(s *fixture) {
		d := s.agree(inTranches(s.terms(), s.stranger(), 10_000), 2_000_000)
		require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, s.buyer.account))
		receipt := d.settlesTogether(s.seller, s.buyer, 5_000, 0)
		d.emits(receipt,
			&protocol.AgreementSettled{SellerAmount: 995_000, Fee: 5_000, BuyerAmount: 1_000_000},
			d.settlement(1, 1_000_000, 5_000, 100_000),
			&protocol.PayoutRecorded{Party: s.buyer.PublicKey(), Amount: 1_000_000})
		d.isKept(receipt, s.buyer, 1_000_000)
		require.NoError(s.t, s.venue.Thaw(s.ctx, s.mint, s.buyer.account))
		d.closes(s.seller)
		s.ends(holdings{buyer: 3_900_000, seller: 995_000, treasury: 105_000})
	})
}

// settleAlone is an agreement that one party sends although the counterparty does not sign.
func (d *deal) settleAlone(by party) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).SettleByAgreement(by.PublicKey(), haggle.Split{}).Build(ctx)
	}}
}

// One party alone settles nothing.
func TestAgreementRequiresBothSignatures(t *testing.T) {
	scenario(t, "agreement_takes_both_signatures", func(s *fixture) {
		d := s.agree(inTranches(s.terms(), s.stranger(), 10_000), 2_000_000)
		for _, alone := range []party{s.buyer, s.seller} {
			action, err := d.settleAlone(alone).build(s.ctx)
			require.NoError(s.t, err)
			_, err = action.Do(s.ctx, alone)
			require.ErrorIs(s.t, err, transaction.ErrMissingSigner)

			// If the counterparty's signature flag is unset, the program refuses it.
			last := len(action.Instructions) - 1
			data, err := action.Instructions[last].Data()
			require.NoError(s.t, err)
			var accounts solana.AccountMetaSlice
			for _, meta := range action.Instructions[last].Accounts() {
				changed := *meta
				changed.IsSigner = changed.IsSigner && changed.PublicKey == alone.PublicKey()
				accounts = append(accounts, &changed)
			}
			_, err = s.force(alone, solana.NewInstruction(protocol.ProgramID, accounts, data))
			require.ErrorIs(s.t, err, protocol.ErrAccountNotSigner)
		}
		action, err := d.settleAlone(s.buyer).build(s.ctx)
		require.NoError(s.t, err)
		_, err = action.Do(s.ctx, s.buyer, s.seller)
		require.NoError(s.t, err)
		d.closes(s.buyer)
		s.ends(holdings{buyer: 4_900_000, treasury: 100_000})
	})
}
