package haggle

import (
	"context"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Close closes a negotiation that is over: amounts that are still recorded for a party are paid, fee and
// decay go to the treasury, and the rent goes back to the buyer. Anyone may sign as closer, and pays for the
// token accounts that are created.
//
// For a token account that [Action.PayTo] does not name, Close uses the owner's associated account, or
// another account of the owner that can be paid: see [token.Account.CanReceive]. It uses no account with a
// delegate or a close authority, even if the owner is the closer. If an associated account is missing and an
// amount goes there, the treasury's and the closer's own are created: [Action].Rent has their rent, and
// Warnings names each of them.
//
// The treasury can be replaced after the action is built. The program then refuses the close, which changes
// nothing. [Action.Do] reads the configuration again, rebuilds the close for the new treasury and sends that
// one, unless it would create accounts at a higher rent: see [ErrTreasuryChanged].
//
// The program closes nothing in the second of its creation, so the action waits for the end of that second
// before it is simulated.
//
// The program answers [protocol.ErrInvalidState] while the negotiation is not over, and
// [protocol.ErrPayoutPending] when a recorded payout cannot be paid to any account of its party. The latter
// also occurs if a party other than the closer has no account and [TokenAccounts].CreateMissing is not set.
func (n *Negotiation) Close(closer solana.PublicKey) *Action {
	return n.actionBy(closer, &closeNegotiation{protocol.CloseNegotiation{Closer: closer}})
}

type closeNegotiation struct{ protocol.CloseNegotiation }

func (o closeNegotiation) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n, c := a.snapshot, a.client
	mint, err := c.mintOf(ctx, n.TokenMint)
	if err != nil {
		return nil, fmt.Errorf("mint: %w", err)
	}
	closing := &closing{client: c, payer: o.Closer, mint: mint, createMissing: a.accounts.CreateMissing}
	treasury := solana.PublicKey{}
	o.On(a.Negotiation, &n.Negotiation)
	o.Buyer, o.TokenProgram = n.Buyer, mint.TokenProgram
	if o.EscrowVault, err = n.vault(); err != nil {
		return nil, err
	}
	swept, err := c.sweptAmount(ctx, n, o.EscrowVault)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	config, err := c.GetConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("protocol configuration: %w", err)
	}
	if o.TreasuryTokenAccount, err = closing.account(ctx, a.accounts.Treasury, config.Treasury,
		swept, true); err != nil {
		return nil, fmt.Errorf("treasury's token account: %w", err)
	}
	if !o.TreasuryTokenAccount.IsZero() {
		treasury = config.Treasury
	}
	if o.BuyerTokenAccount, err = closing.account(ctx, a.accounts.Buyer, n.Buyer, n.ClaimableBuyer,
		false); err != nil {
		return nil, fmt.Errorf("buyer's token account: %w", err)
	}
	if o.SellerTokenAccount, err = closing.account(ctx, a.accounts.Seller, n.Seller,
		n.ClaimableSeller, false); err != nil {
		return nil, fmt.Errorf("seller's token account: %w", err)
	}
	return &builtInstruction{
		payer: o.Closer, instruction: &o.CloseNegotiation, preparation: closing.creations,
		warnings: closing.warnings, rent: closing.rent, treasury: treasury,
		inTime: func(ctx context.Context) error { return c.waitForCreationSecond(ctx, n) },
	}, nil
}

// A closed negotiation has no account; see Action.isDone.
func (closeNegotiation) postcondition(_, _ *Snapshot) bool { return false }

// creationLimit is longer than the second of a creation lasts.
const creationLimit = 5 * time.Second

// waitForCreationSecond waits until the chain's clock has left the second of a negotiation's creation.
// Usually the snapshot shows that it has, so no request is sent.
func (c *Client) waitForCreationSecond(ctx context.Context, n *Snapshot) error {
	if n.Status == protocol.NegotiationStatusExpired || max(n.SettledAt, n.LastOfferAt) > n.CreatedAt {
		return nil
	}
	for began := time.Now(); time.Since(began) < creationLimit; {
		now, err := c.Now(ctx)
		if err != nil {
			return fmt.Errorf("chain's clock: %w", err)
		}
		if now > n.CreatedAt {
			return nil
		}
		if err := wait.For(ctx, send.LastPoll); err != nil {
			return opaque(err)
		}
	}
	return nil
}

// sweptAmount returns the treasury's amount: everything in the vault that is not recorded for a party.
func (c *Client) sweptAmount(ctx context.Context, n *Snapshot, vault solana.PublicKey) (uint64, error) {
	account, err := c.GetTokenAccount(ctx, vault)
	if err != nil {
		return 0, err
	}
	kept := n.ClaimableBuyer + n.ClaimableSeller
	return account.Amount - min(kept, account.Amount), nil
}

// closing collects the token accounts of a close, and the instructions that create the missing ones.
type closing struct {
	client *Client
	payer  solana.PublicKey
	mint   *token.Mint
	// createMissing makes it create missing accounts of any owner.
	createMissing bool
	creations     []solana.Instruction
	// rent is the rent of the missing accounts in lamports, and warnings names each of them.
	rent     uint64
	warnings []error
}

// rentWarning is the warning that a close creates a token account.
func rentWarning(account, owner solana.PublicKey, rent uint64) error {
	return fmt.Errorf("haggle: close_negotiation creates token account %s of %s: the closer pays %s of rent",
		account, owner, amount.SOL(rent))
}

// account returns the account to which an owner's amount is paid. It is zero if there is no amount, and if
// the account is missing and must not be created; the program then answers [protocol.ErrPayoutPending].
func (c *closing) account(
	ctx context.Context, named, owner solana.PublicKey, amount uint64, create bool,
) (solana.PublicKey, error) {
	if amount == 0 || !named.IsZero() {
		return named, nil
	}
	associated, err := c.mint.AssociatedAddress(owner)
	if err != nil {
		return solana.PublicKey{}, err
	}
	stored, slot, err := c.client.accounts(ctx, associated)
	switch {
	case err != nil:
		return solana.PublicKey{}, err
	case !isMissing(stored[0]) && canBePaid(associated, stored[0], slot, c.mint, owner, false):
		return associated, nil
	case isMissing(stored[0]) && (create || c.createMissing || owner == c.payer):
		_, creation, err := createAssociated(c.mint, c.payer, owner, associated)
		rent := token.AssociatedRent(c.mint.TokenProgram)
		c.creations, c.rent = append(c.creations, creation...), c.rent+rent
		c.warnings = append(c.warnings, rentWarning(associated, owner, rent))
		return associated, err
	case isMissing(stored[0]):
		return c.client.otherAccount(ctx, c.mint, owner)
	}
	// An owner with too many accounts to list must not prevent the close.
	if other, err := c.client.otherAccount(ctx, c.mint, owner); err == nil && !other.IsZero() {
		return other, nil
	}
	return associated, nil
}
