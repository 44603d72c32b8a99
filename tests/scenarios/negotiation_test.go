package scenarios

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestBasicNegotiation(t *testing.T) {
	scenario(t, "basic_negotiation", func(s *fixture) {
		d, receipt := s.invite(s.terms())
		created := the[*protocol.NegotiationCreated](s.t, receipt)
		state := d.state()
		require.Equal(s.t, protocol.NegotiationStatusCreated, state.Status)
		require.Equal(s.t, state.CreatedAt, created.Timestamp)
		require.Equal(s.t, state.GlobalDeadline, state.TurnDeadline)
		require.Equal(s.t, &protocol.NegotiationCreated{
			NegotiationID: d.address, Buyer: s.buyer.PublicKey(), Seller: s.seller.PublicKey(),
			EscrowAmount: fiveTokens, TokenMint: s.mint, MaxRounds: 10, DecayRateBps: 200,
			GlobalDeadline: state.GlobalDeadline, Timestamp: state.CreatedAt, SessionID: d.session,
			ServiceHash: service, ResponseWindow: defaultResponseWindow,
			MinOfferBps: protocol.DefaultMinOfferBps, ProtocolFeeBps: protocolFeeBps,
		}, created, "the event keeps every term")
		require.EqualValues(s.t, fiveTokens, s.tokens(d.vault))
		require.Zero(s.t, s.tokens(s.buyer.account))

		invited := the[*protocol.InvitationAccepted](s.t, s.do(d.takePart(s.seller)))
		state = d.state()
		require.Equal(s.t, protocol.NegotiationStatusProposed, state.Status)
		require.False(s.t, state.HasOffer())
		require.Equal(s.t, &protocol.InvitationAccepted{
			NegotiationID: d.address, Seller: s.seller.PublicKey(),
			TurnDeadline: invited.Timestamp + defaultResponseWindow, Timestamp: invited.Timestamp,
		}, invited)

		for _, turn := range []struct {
			by             party
			amount, escrow uint64
			status         protocol.NegotiationStatus
		}{
			{s.buyer, 2_000_000, 4_900_000, protocol.NegotiationStatusProposed},
			{s.seller, 4_000_000, 4_802_000, protocol.NegotiationStatusCountered},
			{s.buyer, 3_000_000, 4_705_960, protocol.NegotiationStatusProposed},
		} {
			round := d.state().CurrentRound + 1
			offered := the[*protocol.OfferSubmitted](s.t, s.do(d.offer(turn.by, turn.amount)))
			state = d.state()
			require.Equal(s.t, turn.status, state.Status)
			require.Equal(s.t, turn.by.PublicKey(), state.CurrentOfferBy)
			require.Equal(s.t, offered.Timestamp+defaultResponseWindow, state.TurnDeadline)
			require.Equal(s.t, &protocol.OfferSubmitted{
				NegotiationID: d.address, Offerer: turn.by.PublicKey(), Amount: turn.amount, Round: round,
				EffectiveEscrow: turn.escrow, Timestamp: state.LastOfferAt,
			}, offered)
		}

		receipt = s.do(d.accept(s.seller))
		state = d.state()
		require.Equal(s.t, protocol.NegotiationStatusSettled, state.Status)
		require.Equal(s.t, &protocol.OfferAccepted{
			NegotiationID: d.address, AcceptedBy: s.seller.PublicKey(), Amount: 3_000_000, Round: 3, Timestamp: state.SettledAt,
		}, the[*protocol.OfferAccepted](s.t, receipt))
		require.Equal(s.t, &protocol.NegotiationSettled{
			NegotiationID: d.address, Buyer: s.buyer.PublicKey(), Seller: s.seller.PublicKey(),
			SettledAmount: 3_000_000, TotalRounds: 3, ProtocolFee: 15_000, EscrowDecayTotal: 294_040,
			Timestamp: state.SettledAt, TokenMint: s.mint, ServiceHash: service,
		}, the[*protocol.NegotiationSettled](s.t, receipt))
		require.EqualValues(s.t, 15_000+294_040, s.tokens(d.vault), "fee and decay wait for the closing")

		d.closes(s.stranger())
		s.ends(holdings{buyer: 1_705_960, seller: 2_985_000, treasury: 309_040})
	})
}

func TestOffersKeepToTheRules(t *testing.T) {
	scenario(t, "offers_keep_to_the_rules", func(s *fixture) {
		d := s.bargain(s.terms())
		stranger := s.stranger()
		s.refuses(protocol.ErrNotYourTurn, d.offer(s.seller, 4_000_000))
		s.refuses(protocol.ErrUnauthorized, d.offer(stranger, 4_000_000), d.reject(stranger))
		s.refuses(protocol.ErrOfferTooLow, d.offer(s.buyer, 489_999))
		s.refuses(protocol.ErrOfferExceedsEscrow, d.offer(s.buyer, 4_900_001))
		s.refuses(protocol.ErrInvalidState, d.takePart(s.seller))
		s.do(d.offer(s.buyer, 490_000))
		s.refuses(protocol.ErrNotYourTurn, d.offer(s.buyer, 500_000), d.accept(s.buyer))
		s.refuses(protocol.ErrUnauthorized, d.accept(stranger))
		s.refuses(protocol.ErrOfferExceedsEscrow, d.offer(s.seller, 4_802_001))
		s.do(d.offer(s.seller, 4_802_000))
		s.do(d.accept(s.buyer))
		d.closes(s.seller)
		s.ends(holdings{buyer: 0, seller: 4_777_990, treasury: 24_010 + 198_000})
	})
}

func TestMaxRounds(t *testing.T) {
	t.Parallel()
	twoRounds := func(s *fixture) *deal {
		terms := s.terms()
		terms.MaxRounds = 2
		d := s.bargain(terms)
		d.offers(2_000_000, 4_000_000)
		s.refuses(protocol.ErrMaxRoundsReached, d.offer(s.buyer, 3_000_000))
		return d
	}
	t.Run("the last offer is accepted", func(t *testing.T) {
		scenario(t, "max_rounds", func(s *fixture) {
			d := twoRounds(s)
			s.do(d.accept(s.buyer))
			d.closes(s.buyer)
			s.ends(holdings{buyer: 802_000, seller: 3_980_000, treasury: 20_000 + 198_000})
		})
	})
	t.Run("the last offer is rejected", func(t *testing.T) {
		scenario(t, "max_rounds_rejected", func(s *fixture) {
			d := twoRounds(s)
			s.do(d.reject(s.buyer))
			d.closes(s.buyer)
			s.ends(holdings{buyer: 4_802_000, treasury: 198_000})
		})
	})
	t.Run("one offer, take it or leave it", func(t *testing.T) {
		scenario(t, "max_rounds_of_one", func(s *fixture) {
			terms := s.terms()
			terms.MaxRounds = 1
			d := s.bargain(terms)
			d.offers(2_000_000)
			s.refuses(protocol.ErrMaxRoundsReached, d.offer(s.seller, 3_000_000))
			s.do(d.accept(s.seller))
			d.closes(s.seller)
			s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
		})
	})
}

func TestTwoNegotiationsOfOnePair(t *testing.T) {
	scenario(t, "two_negotiations_at_once", func(s *fixture) {
		first := s.bargain(s.termsOf(2_000_000))
		second := s.bargain(s.termsOf(3_000_000))
		require.NotEqual(s.t, first.session, second.session)
		require.NotEqual(s.t, first.vault, second.vault)

		first.offers(1_000_000)
		second.offers(1_500_000)
		first.offers(1_600_000)
		second.offers(2_500_000)
		s.refuses(protocol.ErrConstraintSeeds, swap(first.accept(s.buyer), first.vault, second.vault))
		s.do(first.accept(s.buyer))
		require.EqualValues(s.t, 3_000_000, s.tokens(second.vault), "the other goes on untouched")
		second.offers(2_000_000)
		s.do(second.reject(s.seller))

		first.closes(s.seller)
		second.closes(s.buyer)
		s.ends(holdings{
			buyer:    320_800 + 2_823_576,
			seller:   1_592_000,
			treasury: 8_000 + 79_200 + 176_424,
		})
	})
}

// If lamports are sent to a negotiation's addresses just before it is created, they do not prevent the
// creation, and go to the buyer.
func TestPrefundedAddresses(t *testing.T) {
	scenario(t, "prefunded_addresses", func(s *fixture) {
		action, err := s.venue.client.CreateNegotiation(s.terms()).Build(s.ctx)
		require.NoError(s.t, err)
		require.NoError(s.t, s.venue.Fund(s.ctx, action.Negotiation, 1_000_000))
		require.NoError(s.t, s.venue.Fund(s.ctx, action.Creation.EscrowVault, 10_000_000))
		_, err = action.Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		require.EqualValues(s.t, 10_000_000, s.lamports(action.Creation.EscrowVault), "more than the rent was there already")

		d := s.dealOf(action)
		s.do(d.takePart(s.seller))
		d.offers(2_000_000)
		s.do(d.accept(s.seller))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
	})
}

// The buyer's signature states the highest fee that it accepts.
func TestFeeIsPinnedAtCreation(t *testing.T) {
	scenario(t, "fee_above_the_buyers_highest", func(s *fixture) {
		terms := s.terms()
		terms.MaxFeeBps = new(uint16(protocolFeeBps - 1))
		action, err := s.venue.client.CreateNegotiation(terms).Build(s.ctx)
		require.NoError(s.t, err)
		_, err = s.force(s.buyer, action.Instructions...)
		require.ErrorIs(s.t, err, protocol.ErrStaleState)
		terms.MaxFeeBps = new(uint16(protocolFeeBps))
		d, _ := s.invite(terms)
		require.EqualValues(s.t, protocolFeeBps, d.state().ProtocolFeeBps)
		s.do(d.reject(s.buyer))
		d.closes(s.buyer)
		s.ends(holdings{buyer: fiveTokens})
	})
}

// A late transaction must not land on any deal that its signer did not observe.
func TestRecreatedSession(t *testing.T) {
	scenario(t, "session_recreated_before_the_acceptance", func(s *fixture) {
		first, _ := s.invite(s.terms())
		invitation := first.prepare(first.takePart(s.seller))
		s.do(first.takePart(s.seller))
		first.offers(2_000_000)
		counter := first.prepare(first.offer(s.seller, 4_000_000))
		acceptance := first.prepare(first.accept(s.seller))
		rejection := first.prepare(first.reject(s.seller))
		s.do(first.reject(s.buyer))
		first.closes(s.buyer)

		second := first.recreate(4_000_000)
		require.EqualValues(s.t, 4_000_000, second.state().EscrowAmount, "the same address, another deal")
		s.refuses(protocol.ErrStaleState, invitation, rejection)
		s.do(second.takePart(s.seller))
		s.refuses(protocol.ErrStaleState, counter, rejection)
		second.offers(1_000_000)
		s.refuses(protocol.ErrStaleState, acceptance)
		require.EqualValues(s.t, 1_000_000, second.state().CurrentOfferAmount)

		s.do(second.reject(s.seller))
		second.closes(s.buyer)
		s.ends(holdings{buyer: 900_000 + 3_920_000, treasury: 100_000 + 80_000})
	})
}

// prepare builds a move now, to be sent later.
func (d *deal) prepare(m move) move {
	d.t.Helper()
	action, err := m.build(d.ctx)
	require.NoError(d.t, err)
	return move{m.by, func(context.Context) (*haggle.Action, error) { return action, nil }}
}

// recreate opens a closed deal's session again with another escrow, which the SDK itself refuses.
func (d *deal) recreate(escrow uint64) *deal {
	d.t.Helper()
	terms := d.terms()
	terms.Key, terms.EscrowAmount = d.key, escrow
	_, err := d.venue.client.CreateNegotiation(terms).Build(d.ctx)
	require.ErrorAs(d.t, err, new(*haggle.SessionUsedError))

	now, err := d.venue.client.Now(d.ctx)
	require.NoError(d.t, err)
	instruction, err := (&protocol.CreateNegotiation{
		Buyer: d.buyer.PublicKey(), Seller: d.seller.PublicKey(), BuyerTokenAccount: d.buyer.account, TokenMint: d.mint,
		TokenProgram: d.tokenProgram,
		SessionID:    d.session,
		Params:       paramsOf(escrow, now),
	}).Instruction()
	require.NoError(d.t, err)
	_, err = d.force(d.buyer, instruction)
	require.NoError(d.t, err)
	d.created = d.state().CreatedAt
	return d
}

// paramsOf returns complete terms for an escrow, for instructions that the client does not build.
func paramsOf(escrow uint64, now int64) protocol.NegotiationParams {
	return protocol.NegotiationParams{
		EscrowAmount: escrow, ServiceHash: service, MaxRounds: 10, DecayRateBps: 200, ResponseWindow: 300,
		GlobalDeadline: now + 3_600, MinOfferBps: 1_000, MaxFeeBps: protocolFeeBps,
		Decimals: localnet.Decimals,
	}
}
