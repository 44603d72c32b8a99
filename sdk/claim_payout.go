package haggle

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ClaimPayout pays out the whole amount that is recorded for a party, buyer or seller, which signs.
// destination is the token account to pay to; the program does not check the owner. If zero, the party's
// associated token account is used, and created if it is missing; if this account cannot receive, the action
// fails with an [*protocol.AccountError]. An account named by nothing but a node is never used.
//
// The program returns [protocol.ErrInvalidParams] if nothing is recorded for the party,
// [protocol.ErrInvalidState] before a price is agreed on or the negotiation is over,
// [protocol.ErrUnauthorized], [protocol.ErrStaleState] if another amount is recorded by then,
// [protocol.ErrConstraintRaw] if the destination cannot receive, or [protocol.ErrPayoutPending] while the
// vault is frozen.
func (n *Negotiation) ClaimPayout(party, destination solana.PublicKey) *Action {
	return n.actionBy(party,
		&claimPayout{protocol.ClaimPayout{Party: party, DestinationTokenAccount: destination}})
}

type claimPayout struct{ protocol.ClaimPayout }

func (p claimPayout) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n := a.snapshot
	mint, err := a.client.mintOf(ctx, n.TokenMint)
	if err != nil {
		return nil, fmt.Errorf("mint: %w", err)
	}
	destination, before, err := a.client.claimingAccount(ctx, p.DestinationTokenAccount, p.Party, mint)
	if err != nil {
		return nil, fmt.Errorf("destination: %w", err)
	}
	p.On(a.Negotiation, &n.Negotiation)
	p.DestinationTokenAccount, p.TokenProgram, p.Amount = destination, mint.TokenProgram, n.ClaimableOf(p.Party)
	return &builtInstruction{payer: p.Party, preparation: before, instruction: &p.ClaimPayout}, nil
}

func (p claimPayout) postcondition(before, now *Snapshot) bool {
	return before.ClaimableOf(p.Party) > 0 && now.ClaimableOf(p.Party) == 0
}
