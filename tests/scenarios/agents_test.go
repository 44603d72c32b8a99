package scenarios

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The architecture document's pair of agents: each knows the other's public key, and reads the rest from the
// chain.
func TestDocumentsAgents(t *testing.T) {
	scenario(t, "documents_agents", func(s *fixture) {
		buyer := documentsBuyer{agent{s.venue.client, s.buyer}, s.seller.PublicKey(), s.mint}
		seller := concedingSeller{agent{s.venue.client, s.seller}, s.buyer.PublicKey()}
		ctx, stop := context.WithCancel(s.ctx)
		defer stop()
		ended := make(chan error, 2)
		go func() { ended <- buyer.negotiate(ctx) }()
		go func() { ended <- seller.negotiate(ctx) }()
		require.NoError(s.t, <-ended)
		require.NoError(s.t, <-ended)
		s.ends(holdings{buyer: 1_130_573, seller: 3_283_500, treasury: 16_500 + 569_427})
	})
}

// agent is a wallet with a client.
type agent struct {
	client *haggle.Client
	wallet party
}

// do sends an action once built.
func (a agent) do(ctx context.Context, action *haggle.Action, err error) error {
	if err != nil {
		return err
	}
	_, err = action.Do(ctx, a.wallet)
	return err
}

// documentsBuyer opens at 2; it accepts 3.5 or less, and otherwise offers the current offer less 0.5.
type documentsBuyer struct {
	agent
	seller, mint solana.PublicKey
}

func (b documentsBuyer) negotiate(ctx context.Context) error {
	decay := uint16(150)
	created, err := b.client.CreateNegotiation(haggle.CreateRequest{
		Buyer: b.wallet.PublicKey(), Seller: b.seller, Mint: b.mint, Decimals: localnet.Decimals,
		EscrowAmount: 5_000_000, Key: rand.Text(),
		ServiceHash: service, MaxRounds: 8, DecayRateBps: &decay, Deadline: 30 * time.Minute,
	}).Build(ctx)
	if err != nil {
		return err
	}
	events, err := b.client.Watch(ctx, created.Negotiation)
	if err != nil {
		return err
	}
	defer events.Close()
	if _, err := created.Do(ctx, b.wallet); err != nil {
		return err
	}
	for observed := range events.Events() {
		switch event := observed.Event.(type) {
		case *protocol.InvitationAccepted:
			err = b.offer(ctx, created.Negotiation, 2_000_000)
		case *protocol.OfferSubmitted:
			if event.Offerer == b.seller {
				err = b.answer(ctx, created.Negotiation, event.Amount)
			}
		case *protocol.NegotiationSettled:
			closing, err := b.client.Negotiation(created.Negotiation).Close(b.wallet.PublicKey()).Build(ctx)
			return b.do(ctx, closing, err)
		}
		if err != nil {
			return err
		}
	}
	return events.Err()
}

func (b documentsBuyer) answer(ctx context.Context, negotiation solana.PublicKey, standing uint64) error {
	if standing > 3_500_000 {
		return b.offer(ctx, negotiation, standing-500_000)
	}
	accepting, err := b.client.Negotiation(negotiation).AcceptOffer(b.wallet.PublicKey(), standing).Build(ctx)
	return b.do(ctx, accepting, err)
}

func (a agent) offer(ctx context.Context, negotiation solana.PublicKey, amount uint64) error {
	offering, err := a.client.Negotiation(negotiation).SubmitOffer(a.wallet.PublicKey(), haggle.Offer{Amount: amount}).Build(ctx)
	return a.do(ctx, offering, err)
}

// concedingSeller offers 4.5 and concedes 0.4 each time. It accepts any offer not less than its next price.
type concedingSeller struct {
	agent
	buyer solana.PublicKey
}

func (c concedingSeller) negotiate(ctx context.Context) error {
	events, err := c.client.WatchAgent(ctx, c.wallet.PublicKey(), haggle.FromBeginning())
	if err != nil {
		return err
	}
	defer events.Close()
	ask := uint64(4_500_000)
	for observed := range events.Events() {
		switch event := observed.Event.(type) {
		case *protocol.NegotiationCreated:
			err = c.takePart(ctx, event)
		case *protocol.OfferSubmitted:
			if event.Offerer == c.buyer {
				err = c.answer(ctx, event, ask)
				ask -= 400_000
			}
		case *protocol.NegotiationSettled:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return events.Err()
}

func (c concedingSeller) takePart(ctx context.Context, invitation *protocol.NegotiationCreated) error {
	terms, err := c.client.Negotiation(invitation.NegotiationID).Snapshot(ctx)
	if err != nil {
		return err
	}
	taking, err := c.client.At(terms).AcceptInvitation(c.wallet.PublicKey(), terms.TermsHash(), localnet.Decimals,
		haggle.Deposit{}).Build(ctx)
	return c.do(ctx, taking, err)
}

func (c concedingSeller) answer(ctx context.Context, offered *protocol.OfferSubmitted, ask uint64) error {
	if offered.Amount < ask {
		return c.offer(ctx, offered.NegotiationID, ask)
	}
	accepting, err := c.client.Negotiation(offered.NegotiationID).AcceptOffer(c.wallet.PublicKey(), offered.Amount).Build(ctx)
	return c.do(ctx, accepting, err)
}
