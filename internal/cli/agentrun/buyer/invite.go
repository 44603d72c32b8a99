package buyer

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// inviteLimit is longer than a transaction takes to land or to expire.
const inviteLimit = 3 * time.Minute

// unfinished returns an earlier run's open negotiation.
func (b *buyer) unfinished(ctx context.Context) (solana.PublicKey, error) {
	return b.Unfinished(ctx, haggle.Filter{Buyer: b.Self}, func(n *haggle.Snapshot) bool {
		return n.Seller == b.Counterpart && n.TokenMint == b.Mint && n.ServiceHash == b.ServiceHash && b.IsNamed(n.SessionID)
	})
}

// repeated returns the negotiation that an earlier run created with the key, unless it has other terms.
func (b *buyer) repeated(
	ctx context.Context, request haggle.CreateRequest, negotiation solana.PublicKey,
) (solana.PublicKey, bool, error) {
	err := b.Client.CheckRepetition(ctx, request, negotiation)
	if errors.Is(err, haggle.ErrNotAsExpected) {
		err = &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "another purchase needs another --key"}
	}
	return negotiation, true, err
}

// invite escrows and invites the seller. The transaction is finished even if the context ends. If an earlier
// run with the same key created the negotiation, invite returns it and sets earlier to true.
func (b *buyer) invite(ctx context.Context) (negotiation solana.PublicKey, earlier bool, err error) {
	if err := b.Vet(ctx); err != nil {
		return solana.PublicKey{}, false, err
	}
	if b.Key == "" {
		b.Key = rand.Text()
		b.Note("key %s: to continue this purchase after a crash, and not to begin another one, add --key %[1]s", b.Key)
	}
	request := haggle.CreateRequest{
		Buyer: b.Self, Seller: b.Counterpart, Mint: b.Mint, Decimals: b.Amounts.Decimals,
		ServiceHash: b.ServiceHash, EscrowAmount: b.escrow, MaxRounds: b.rounds, DecayRateBps: &b.decayBps,
		MaxFeeBps: b.maxFeeBps, Deadline: b.deadline, Metadata: b.Metadata, Key: b.Key,
	}
	created, err := b.Client.CreateNegotiation(request).Build(ctx)
	var (
		already *haggle.AlreadyDone
		used    *haggle.SessionUsedError
	)
	switch {
	case errors.As(err, &already):
		return b.repeated(ctx, request, already.Negotiation)
	case errors.As(err, &used):
		return b.repeated(ctx, request, used.Negotiation)
	}
	if err != nil {
		return solana.PublicKey{}, false, err
	}
	for _, warning := range created.Warnings {
		b.Note("warning: %v", warning)
	}
	begun, cancel := context.WithTimeout(context.WithoutCancel(ctx), inviteLimit)
	defer cancel()
	receipt, err := created.Do(begun, b.Signer)
	switch {
	case errors.As(err, &already):
		return b.repeated(ctx, request, already.Negotiation)
	case receipt != nil && transaction.OutcomeOf(err) == transaction.Confirmed:
		b.Created(created, receipt)
		return created.Negotiation, false, nil
	case transaction.OutcomeOf(err) == transaction.Unknown:
		b.Note("the outcome of the creation of %s is unknown: reading the state", created.Negotiation)
		if found, looked := b.unfinished(ctx); looked == nil && !found.IsZero() {
			return found, false, nil
		}
		err = exitcode.WithHint(err, "start the buyer again: it first resolves the creation and then continues with it")
	}
	return solana.PublicKey{}, false, err
}
