package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// RejectRequest says which negotiation a party walks away from.
type RejectRequest struct {
	// Rejector is either party. It signs.
	Rejector solana.PublicKey
	// Seen is the negotiation as the rejector has seen it. The program answers [protocol.ErrStaleState] if the deal is
	// another one, or at another round by then.
	Seen *NegotiationAccount
	// Negotiation is its address, to reject whatever the chain has now. It is not needed if Seen is given.
	Negotiation solana.PublicKey
	// BuyerTokenAccount is where the escrow goes back to, SellerTokenAccount where a bond does. Zero is
	// the party's associated token account. The rejector's own is created if it is missing. An amount that
	// cannot be paid is recorded for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// Reject ends the negotiation: the buyer gets the escrow back, less the decay of the rounds so far, and the
// seller its bond. A seller that rejects between the buyer's reveal and the buyer's first offer forfeits the
// bond to the buyer: see [protocol.Negotiation.RejectionForfeitsBond]. If Seen does not show the buyer's reveal, the
// program answers [protocol.ErrStaleState]. (The documents call it rejectNegotiation.)
//
// The program answers [protocol.ErrInvalidState] once the negotiation has ended, [protocol.ErrExpired], [protocol.ErrResponseWindowExpired],
// [protocol.ErrUnauthorized], or [protocol.ErrStaleState].
func (c *Client) Reject(ctx context.Context, request RejectRequest) (*Action, error) {
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	// A seller that leaves its account out agrees to forfeit the bond, so the program requires the account in
	// every other state, also before the deposit.
	forfeits := request.Rejector == negotiation.Seller && negotiation.RejectionForfeitsBond()
	to, err := c.payouts(ctx, negotiation, payoutRequest{
		payer: request.Rejector,
		buyer: request.BuyerTokenAccount, seller: request.SellerTokenAccount,
		withoutSeller: negotiation.BondRequired == 0 || forfeits, unpaidSeller: negotiation.HeldBond() == 0,
	})
	if err != nil {
		return nil, err
	}
	return c.actionOn(negotiation, request.Rejector, &protocol.RejectNegotiation{
		Rejector:           request.Rejector,
		Negotiation:        negotiation.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          negotiation.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
		CreatedAt:          negotiation.CreatedAt,
		ExpectedRound:      negotiation.CurrentRound,
	}, to.before...)
}
