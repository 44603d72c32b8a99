package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// AcceptInvitationRequest says which invitation a seller accepts.
type AcceptInvitationRequest struct {
	// Seller signs.
	Seller solana.PublicKey
	// Seen is the negotiation as the seller has seen it. The seller agrees to exactly these terms of this
	// deal, and the program answers others with [protocol.ErrStaleState].
	Seen *NegotiationAccount
	// Negotiation is its address. It is not needed if Seen is given; without Seen, ServiceHash or TermsHash has to be given, because
	// nobody signs blind.
	Negotiation solana.PublicKey
	// ServiceHash, if it is not zero, is what the seller expects to be asked for. Another one is [ErrNotAsExpected].
	ServiceHash [32]byte
	// TermsHash, if it is not zero, is that of the terms that the seller expects. Another one is [ErrNotAsExpected].
	TermsHash [32]byte
	// SellerTokenAccount is where the bond comes from, if one is asked for. Zero is the seller's associated token account.
	SellerTokenAccount solana.PublicKey
	// WrapSOL has the whole bond wrapped from the seller's lamports in the same transaction, if one is asked for. The negotiation's mint
	// has to be solana.WrappedSol or WrappedSOL2022.
	WrapSOL bool
}

// AcceptInvitation takes part in a negotiation; the buyer opens it then. (The specification's diagram calls it
// acceptNegotiation.) If the seller has no associated token account for the mint yet, the same transaction creates it, so that it
// can be paid. A negotiation that asks for a bond takes it from the seller's token account: [*InsufficientFunds] if that holds less,
// [ErrAccountNotFound] if there is none, [ErrCPIGuard] if nothing can be deposited from it. Warnings are [ErrOffCurve]
// for each party that it is true of.
//
// The program answers [protocol.ErrInvalidState] to an invitation that has been accepted before or has ended, [protocol.ErrExpired],
// [protocol.ErrUnauthorized], or [protocol.ErrStaleState].
func (c *Client) AcceptInvitation(ctx context.Context, request AcceptInvitationRequest) (*Action, error) {
	if request.Seen == nil && request.ServiceHash == [32]byte{} && request.TermsHash == [32]byte{} {
		return nil, errors.New("haggle: accept_invitation: none of Seen, ServiceHash and TermsHash is given")
	}
	negotiation, err := c.seen(ctx, request.Seen, request.Negotiation)
	if err != nil {
		return nil, err
	}
	if len(negotiation.Data) != protocol.NegotiationSize {
		return nil, fmt.Errorf("%w: Seen has %d bytes of data instead of %d", ErrNotAsExpected, len(negotiation.Data), protocol.NegotiationSize)
	}
	if request.ServiceHash != [32]byte{} && request.ServiceHash != negotiation.ServiceHash {
		return nil, fmt.Errorf("%w: the service's hash is %x", ErrNotAsExpected, negotiation.ServiceHash)
	}
	terms := negotiation.TermsHash()
	if request.TermsHash != [32]byte{} && request.TermsHash != terms {
		return nil, fmt.Errorf("%w: the terms' hash is %x", ErrNotAsExpected, terms)
	}
	mint, err := c.GetMint(ctx, negotiation.TokenMint)
	if err != nil {
		return nil, fmt.Errorf("mint: %w", err)
	}
	instruction := &protocol.AcceptInvitation{Seller: request.Seller, Negotiation: negotiation.Address, TermsHash: terms}
	var before []solana.Instruction
	if negotiation.BondRequired > 0 {
		if before, err = c.addBond(ctx, instruction, negotiation, &request, mint); err != nil {
			return nil, fmt.Errorf("seller's token account: %w", err)
		}
	}
	if len(before) == 0 {
		if _, before, err = c.payee(ctx, mint, request.Seller, request.Seller, solana.PublicKey{}, true); err != nil {
			return nil, fmt.Errorf("seller's token account: %w", err)
		}
	}
	action, err := c.actionOn(negotiation, request.Seller, instruction, before...)
	if err != nil {
		return nil, err
	}
	action.Warnings = partyWarnings(negotiation.Buyer, request.Seller)
	return action, nil
}

// partyWarnings returns what the parties should know of each other before they deposit anything.
func partyWarnings(buyer, seller solana.PublicKey) (warnings []error) {
	if !buyer.IsOnCurve() {
		warnings = append(warnings, fmt.Errorf("%w: buyer %s", ErrOffCurve, buyer))
	}
	if !seller.IsOnCurve() {
		warnings = append(warnings, fmt.Errorf("%w: seller %s", ErrOffCurve, seller))
	}
	return warnings
}

// addBond adds the accounts that the bond moves between, and says what has to be done before it can.
func (c *Client) addBond(ctx context.Context, instruction *protocol.AcceptInvitation, n *NegotiationAccount, request *AcceptInvitationRequest, mint *Mint) (before []solana.Instruction, err error) {
	named := request.SellerTokenAccount
	if instruction.Seller == n.Seller && n.Status == protocol.NegotiationStatusCreated {
		instruction.SellerTokenAccount, before, err = c.depositOf(ctx, request.WrapSOL, named, n.Seller, mint, n.BondRequired)
	} else {
		// The program refuses this for another reason than what the account holds, which may be the bond's absence itself.
		instruction.SellerTokenAccount, err = accountOrAssociated(named, n.Seller, mint)
	}
	if err != nil {
		return nil, err
	}
	instruction.EscrowVault, err = n.Vault()
	instruction.TokenMint, instruction.TokenProgram = mint.Address, mint.TokenProgram
	return before, err
}
