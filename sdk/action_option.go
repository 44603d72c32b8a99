package haggle

import (
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// SendOption overrides the client's settings for an action: see [Action.With].
type SendOption func(*sendOptions)

type sendOptions struct {
	// commitment is empty for the client's.
	commitment     rpc.CommitmentType
	maxPriorityFee *uint64
	nonce          solana.PublicKey
}

// With returns a copy of the action with options:
//
//	receipt, err := action.With(haggle.WithCommitment(rpc.CommitmentFinalized)).Do(ctx, me)
func (a *Action) With(options ...SendOption) *Action {
	changed := *a
	for _, option := range options {
		option(&changed.options)
	}
	return &changed
}

// WithCommitment sets the commitment required to count the action as done: rpc.CommitmentConfirmed or
// rpc.CommitmentFinalized. With any other commitment [Action.Do] fails, for the reason stated at [Config].
func WithCommitment(commitment rpc.CommitmentType) SendOption {
	return func(options *sendOptions) { options.commitment = commitment }
}

// WithMaxPriorityFee limits the priority fee of the transaction, in lamports, instead of
// [Config].MaxPriorityFee. With it [Action.Do] never pays for a second transaction: a close executed in vain,
// because the protocol's treasury was replaced, is not sent again.
func WithMaxPriorityFee(lamports uint64) SendOption {
	return func(options *sendOptions) { options.maxPriorityFee = &lamports }
}

// WithNonce makes the transaction use a durable nonce instead of a recent blockhash: it does not expire
// within a minute, but can be executed until the nonce account's value changes. The transaction itself
// changes the value. The account's authority must sign. Each nonce account serves a single transaction at a
// time.
func WithNonce(account solana.PublicKey) SendOption {
	return func(options *sendOptions) { options.nonce = account }
}

// commitmentOr returns commitment, or otherwise if commitment is empty.
func commitmentOr(commitment, otherwise rpc.CommitmentType) (rpc.CommitmentType, error) {
	switch commitment {
	case "":
		return otherwise, nil
	case rpc.CommitmentConfirmed, rpc.CommitmentFinalized:
		return commitment, nil
	}
	return "", fmt.Errorf("haggle: commitment %q: use %q or %q", commitment, rpc.CommitmentConfirmed,
		rpc.CommitmentFinalized)
}
