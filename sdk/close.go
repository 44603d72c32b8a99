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
// decay go to the treasury, and the rent goes back to the buyer. Anyone may sign as closer, and pays for
// created token accounts.
//
// If [Action.PayTo] names no token account, Close uses the owner's associated account, or another payable
// account of the owner: see [token.Account.CanReceive]. It uses no account with a delegate or close
// authority, even if the owner is the closer. If an associated account is missing and an amount goes there,
// the treasury's and the closer's own are created: [Action].Rent is their rent, and Warnings names every such
// account.
//
// The treasury can be replaced after the action is built. The program then refuses it, which changes nothing.
// [Action.Do] reads the configuration again, rebuilds the action for the new treasury and sends it, unless it
// would create accounts at a higher rent: see [ErrTreasuryChanged].
//
// The program closes no negotiation in the creation second, so the action waits for that second's end before
// simulating.
//
// The program returns [protocol.ErrInvalidState] while the negotiation is not over, or
// [protocol.ErrPayoutPending] when a recorded payout cannot be paid to any account of that party. The latter
// also occurs if a party other than the closer lacks an account and [TokenAccounts].CreateMissing is not set.
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

// Once closed, a negotiation lacks an account; see Action.isDone.
func (closeNegotiation) postcondition(_, _ *Snapshot) bool { return false }

// creationLimit is longer than the creation second.
const creationLimit = 5 * time.Second

// waitForCreationSecond waits until the chain's clock is past the negotiation's creation second. Usually the
// snapshot already is, so no request is sent.
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

// sweptAmount returns the treasury's amount: everything in the vault that no party is owed.
func (c *Client) sweptAmount(ctx context.Context, n *Snapshot, vault solana.PublicKey) (uint64, error) {
	account, err := c.GetTokenAccount(ctx, vault)
	if err != nil {
		return 0, err
	}
	kept := n.ClaimableBuyer + n.ClaimableSeller
	return account.Amount - min(kept, account.Amount), nil
}

// closing collects token accounts, and the instructions that create the missing accounts.
type closing struct {
	client *Client
	payer  solana.PublicKey
	mint   *token.Mint
	// createMissing makes it create missing accounts of any owner.
	createMissing bool
	creations     []solana.Instruction
	// rent is the rent of the missing accounts in lamports, and warnings names every such account.
	rent     uint64
	warnings []error
}

// rentWarning is the warning about creating a token account.
func rentWarning(account, owner solana.PublicKey, rent uint64) error {
	return fmt.Errorf("haggle: close_negotiation creates token account %s of %s: the closer pays %s of rent",
		account, owner, amount.SOL(rent))
}

// account returns the account to pay an owner's amount to. It is zero if there is no amount, and if the
// account is missing and must not be created; the program then returns [protocol.ErrPayoutPending].
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
	// An owner with too many accounts to list must not prevent closing.
	if other, err := c.client.otherAccount(ctx, c.mint, owner); err == nil && !other.IsZero() {
		return other, nil
	}
	return associated, nil
}
