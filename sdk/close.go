package haggle

import (
	"context"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Close closes a negotiation that is over: what is still kept for a party is paid, fee and decay go to the treasury, and the
// rent goes back to the buyer. Anyone may sign as closer, and pays for the token accounts that are created.
//
// A token account that [Action.PayTo] does not name is the owner's associated one, or another one of the owner's that can
// be paid: see [token.Account.CanReceive]. No account with a delegate or a close authority can, also if its owner is the
// closer. If the associated one is missing and an amount goes there, the treasury's and the closer's own are created.
//
// The program closes nothing in the second of its creation, so the action waits until that is over before it
// is simulated.
//
// The program answers [protocol.ErrInvalidState] while the negotiation is not over, and [protocol.ErrPayoutPending] when a
// recorded payout cannot be paid to any account of its party, also because a party that is not the closer has none and
// [TokenAccounts].CreateMissing is not set.
func (n *Negotiation) Close(closer solana.PublicKey) *Action {
	return n.actionBy(closer, &closeNegotiation{closer: closer})
}

type closeNegotiation struct{ closer solana.PublicKey }

func (*closeNegotiation) name() string { return (*protocol.CloseNegotiation)(nil).InstructionName() }

func (o *closeNegotiation) build(ctx context.Context, a *Action) (*builtAct, error) {
	n, c := a.snapshot, a.client
	mint, err := c.GetMint(ctx, n.TokenMint)
	if err != nil {
		return nil, fmt.Errorf("mint: %w", err)
	}
	closing := &closing{client: c, payer: o.closer, mint: mint, createMissing: a.accounts.CreateMissing}
	instruction := &protocol.CloseNegotiation{
		Closer:       o.closer,
		Negotiation:  n.Address,
		Buyer:        n.Buyer,
		TokenMint:    n.TokenMint,
		TokenProgram: mint.TokenProgram,
	}
	if instruction.EscrowVault, err = n.Vault(); err != nil {
		return nil, err
	}
	swept, err := c.sweptAmount(ctx, n, instruction.EscrowVault)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	config, err := c.GetConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("protocol configuration: %w", err)
	}
	if instruction.TreasuryTokenAccount, err = closing.account(ctx, a.accounts.Treasury, config.Treasury, swept, true); err != nil {
		return nil, fmt.Errorf("treasury's token account: %w", err)
	}
	if instruction.BuyerTokenAccount, err = closing.account(ctx, a.accounts.Buyer, n.Buyer, n.ClaimableBuyer, false); err != nil {
		return nil, fmt.Errorf("buyer's token account: %w", err)
	}
	if instruction.SellerTokenAccount, err = closing.account(ctx, a.accounts.Seller, n.Seller, n.ClaimableSeller, false); err != nil {
		return nil, fmt.Errorf("seller's token account: %w", err)
	}
	return &builtAct{
		payer: o.closer, instruction: instruction, preparation: closing.creations,
		inTime: func(ctx context.Context) error { return c.waitForCreationSecond(ctx, n) },
	}, nil
}

func (*closeNegotiation) precondition(n *Snapshot) precondition { return inStage(n) }

// A closed negotiation has no account; see Action.isDone.
func (*closeNegotiation) postcondition(_, _ *Snapshot) bool { return false }

// creationLimit is longer than the second of a creation lasts.
const creationLimit = 5 * time.Second

// waitForCreationSecond waits until the chain's clock has left the second of a negotiation's creation. Usually the
// snapshot shows that it has, and no node is asked.
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
		if err := wait.For(ctx, lastPoll); err != nil {
			return opaque{err}
		}
	}
	return nil
}

// sweptAmount is what the treasury gets: everything in the vault that is not kept for a party.
func (c *Client) sweptAmount(ctx context.Context, n *Snapshot, vault solana.PublicKey) (uint64, error) {
	account, err := c.GetTokenAccount(ctx, vault)
	if err != nil {
		return 0, err
	}
	kept := n.ClaimableBuyer + n.ClaimableSeller
	return account.Amount - min(kept, account.Amount), nil
}

// closing collects the token accounts that a closing takes, and the instructions that create those that are missing.
type closing struct {
	client *Client
	payer  solana.PublicKey
	mint   *token.Mint
	// createMissing has missing accounts created whosever they are.
	createMissing bool
	creations     []solana.Instruction
}

// account is where an owner gets an amount. If that is nothing, there is no account to pay for or to pass. Nor is there if it is
// missing and not to be created; the program then answers [protocol.ErrPayoutPending].
func (c *closing) account(ctx context.Context, named, owner solana.PublicKey, amount uint64, create bool) (solana.PublicKey, error) {
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
		c.creations = append(c.creations, creation...)
		return associated, err
	case isMissing(stored[0]):
		return c.client.otherAccount(ctx, c.mint, owner)
	}
	// An owner with too many accounts to list must not keep the others from closing.
	if other, err := c.client.otherAccount(ctx, c.mint, owner); err == nil && !other.IsZero() {
		return other, nil
	}
	return associated, nil
}
