package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Deposit is the source of a deposit.
type Deposit struct {
	// TokenAccount is the token account that the deposit comes from. If zero, it is the depositor's
	// associated token account.
	TokenAccount solana.PublicKey
	// WrapSOL wraps the whole deposit from the depositor's lamports in the same transaction. The
	// negotiation's mint has to be solana.WrappedSol or token.WrappedSOL2022.
	WrapSOL bool
}

// AcceptInvitation accepts the buyer's invitation as the seller, who signs; then it is the buyer's turn. The
// seller agrees to exactly the terms with this hash: see [Snapshot.TermsHash]. For other terms it fails with
// [ErrNotAsExpected]. If zero, the hash of the snapshot is used with [Client.At]; otherwise zero is an error.
//
// decimals are the decimals with which the seller reads the amounts of the terms. They are required, and the
// program refuses other decimals than the mint's; the action fails with [*token.DecimalsError] before. Do not
// copy them from a node: see [Client.GetMint].
//
// If the seller has no associated token account for the mint yet, the same transaction creates it, so that
// the seller can be paid. A negotiation that requires a bond takes it from the deposit's token account. It
// fails with [*token.InsufficientFunds] if that holds less, with [protocol.ErrAccountNotFound] if there is
// none, and with [token.ErrCPIGuard] if nothing can be deposited from it. Warnings has an [ErrOffCurve] for
// each party whose address is not a wallet's.
//
// The program answers [protocol.ErrInvalidState] to an invitation that has been accepted before or has ended,
// [protocol.ErrExpired], [protocol.ErrUnauthorized], or [protocol.ErrStaleState].
func (n *Negotiation) AcceptInvitation(
	seller solana.PublicKey, terms [32]byte, decimals uint8, bond Deposit,
) *Action {
	action := n.actionBy(seller, &acceptInvitation{
		protocol.AcceptInvitation{Seller: seller, TermsHash: terms, Decimals: decimals}, bond})
	if terms == [32]byte{} && n.snapshot == nil && action.err == nil {
		action.err = errors.New("haggle: accept_invitation: snapshot or terms hash not set")
	}
	return action
}

type acceptInvitation struct {
	protocol.AcceptInvitation
	bond Deposit
}

func (i acceptInvitation) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n, c := a.snapshot, a.client
	if len(n.Data) != protocol.NegotiationSize {
		return nil, fmt.Errorf("%w: the snapshot has %d bytes of data instead of %d", ErrNotAsExpected,
			len(n.Data), protocol.NegotiationSize)
	}
	terms := n.TermsHash()
	if i.TermsHash != [32]byte{} && i.TermsHash != terms {
		return nil, fmt.Errorf("%w: the terms' hash is %x", ErrNotAsExpected, terms)
	}
	mint, err := c.GetMint(ctx, n.TokenMint)
	if err == nil {
		err = checkDecimals(mint, i.Decimals)
	}
	if err != nil {
		return nil, fmt.Errorf("mint: %w", err)
	}
	i.On(a.Negotiation, &n.Negotiation)
	i.TermsHash = terms
	var before []solana.Instruction
	if n.BondRequired > 0 {
		if before, err = i.addBond(ctx, c, n, mint); err != nil {
			return nil, fmt.Errorf("seller's token account: %w", err)
		}
	}
	if len(before) == 0 {
		if _, before, err = c.payee(ctx, mint, i.Seller, i.Seller, solana.PublicKey{}, true); err != nil {
			return nil, fmt.Errorf("seller's token account: %w", err)
		}
	}
	return &builtInstruction{payer: i.Seller, instruction: &i.AcceptInvitation, preparation: before,
		warnings: partyWarnings(n.Buyer, i.Seller)}, nil
}

// addBond adds the accounts that the bond moves between, and returns the instructions that have to be
// executed before.
func (i *acceptInvitation) addBond(
	ctx context.Context, c *Client, n *Snapshot, mint *token.Mint,
) (before []solana.Instruction, err error) {
	if i.Seller == n.Seller && n.Status == protocol.NegotiationStatusCreated {
		i.SellerTokenAccount, before, err = c.depositOf(ctx, i.bond, n.Seller, mint, n.BondRequired)
	} else {
		// The program refuses this for another reason than the account's balance, which the bond itself may
		// have lowered.
		i.SellerTokenAccount, err = accountOrAssociated(i.bond.TokenAccount, n.Seller, mint)
	}
	if err != nil {
		return nil, err
	}
	i.EscrowVault, err = n.vault()
	i.TokenProgram = mint.TokenProgram
	return before, err
}

// partyWarnings returns a warning for each party whose address is not a wallet's.
func partyWarnings(buyer, seller solana.PublicKey) (warnings []error) {
	if !buyer.IsOnCurve() {
		warnings = append(warnings, fmt.Errorf("%w: buyer %s", ErrOffCurve, buyer))
	}
	if !seller.IsOnCurve() {
		warnings = append(warnings, fmt.Errorf("%w: seller %s", ErrOffCurve, seller))
	}
	return warnings
}

// Only the seller can have accepted. A negotiation that ended in another way is inconclusive.
func (i acceptInvitation) postcondition(_, now *Snapshot) bool {
	return now.Seller == i.Seller &&
		(now.IsBargaining() || now.IsAgreed() || now.Status == protocol.NegotiationStatusSettled)
}
