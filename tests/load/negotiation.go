package load

import (
	"context"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// negotiation is a pair of agents with their script. Each method plays one stage; they are called in order.
type negotiation struct {
	number        int
	script        script
	buyer, seller agent
	// address and vault are set by create.
	address, vault solana.PublicKey
	// err is the error that ended the negotiation early; nil if there was none.
	err error
}

// agent is a wallet with the associated token account for the mint.
type agent struct {
	*wallet.Keypair
	account solana.PublicKey
}

func newAgent(mint solana.PublicKey) (agent, error) {
	key, err := wallet.GenerateKeypair()
	if err != nil {
		return agent{}, err
	}
	account, _, err := solana.FindAssociatedTokenAddress(key.PublicKey(), mint)
	return agent{key, account}, err
}

func (n *negotiation) side(side protocol.OfferSide) agent {
	if side == protocol.OfferSideBuyer {
		return n.buyer
	}
	return n.seller
}

// service is the hash of the service being negotiated.
var service = protocol.ServiceHash("classify a thousand support requests by urgency")

// The limits are long, so that nothing expires on a slow machine. They are durations of the chain's clock.
const (
	responseWindow = time.Hour
	deadline       = 4 * time.Hour
)

func (n *negotiation) create(ctx context.Context, r *run) error {
	decay := uint16(r.terms.decayBps)
	return r.act(ctx, n, n.buyer, func(ctx context.Context) (*haggle.Action, error) {
		action, err := r.parties.CreateNegotiation(haggle.CreateRequest{
			Buyer: n.buyer.PublicKey(), Seller: n.seller.PublicKey(), Mint: r.mint, Decimals: localnet.Decimals,
			EscrowAmount: n.script.escrow, Key: fmt.Sprint("order ", n.number),
			ServiceHash: service, DecayRateBps: &decay, ResponseWindow: responseWindow, Deadline: deadline,
		}).Build(ctx)
		if err != nil {
			return nil, err
		}
		n.address, n.vault = action.Negotiation, action.Creation.EscrowVault
		return action, nil
	})
}

// bargain accepts the invitation and submits both parties' offers. Each party reads the state before acting.
func (n *negotiation) bargain(ctx context.Context, r *run) error {
	err := r.act(ctx, n, n.seller, func(ctx context.Context) (*haggle.Action, error) {
		invitation, err := r.parties.Negotiation(n.address).Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		return r.parties.At(invitation).AcceptInvitation(n.seller.PublicKey(), invitation.TermsHash(), localnet.Decimals,
			haggle.Deposit{}).Build(ctx)
	})
	if err != nil {
		return err
	}
	for round, offer := range n.script.offers {
		offerer := n.side(offer.side)
		err := r.act(ctx, n, offerer, func(ctx context.Context) (*haggle.Action, error) {
			seen, err := r.parties.Negotiation(n.address).Snapshot(ctx)
			if err != nil {
				return nil, err
			}
			if int(seen.CurrentRound) != round {
				return nil, fmt.Errorf("round %d instead of %d", seen.CurrentRound, round)
			}
			return r.parties.At(seen).SubmitOffer(offerer.PublicKey(), haggle.Offer{Amount: offer.amount}).Build(ctx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *negotiation) end(ctx context.Context, r *run) error {
	ender := n.side(n.script.ender)
	return r.act(ctx, n, ender, func(ctx context.Context) (*haggle.Action, error) {
		if n.script.accepted {
			return r.parties.Negotiation(n.address).AcceptOffer(ender.PublicKey(), n.script.last().amount).Build(ctx)
		}
		return r.parties.Negotiation(n.address).Reject(ender.PublicKey()).Build(ctx)
	})
}

func (n *negotiation) close(ctx context.Context, r *run) error {
	closer := n.side(n.script.closer)
	return r.act(ctx, n, closer, func(ctx context.Context) (*haggle.Action, error) {
		return r.parties.Negotiation(n.address).Close(closer.PublicKey()).Build(ctx)
	})
}
