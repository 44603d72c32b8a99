package send

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	// rebroadcastEvery is the interval for sending a transaction again, because leaders drop transactions
	// under load, and for checking expiry.
	rebroadcastEvery = 2 * time.Second
	// UnreachableLimit is how long all nodes may fail to respond before the outcome counts as unknown. A
	// blockhash lives for about a minute.
	UnreachableLimit = 2 * time.Minute
	// OutcomeLimit is how long a caller waits for an outcome: much longer than a blockhash lives, and than
	// a block takes to be finalized.
	OutcomeLimit = 10 * time.Minute
)

// Pending is a transaction whose outcome is not known yet.
type Pending struct {
	Signature solana.Signature
	// Encoded is the transaction, in base 64; empty if it must not be sent.
	Encoded string
	// Invoked are the programs that its instructions call; nil if they are not known.
	Invoked []solana.PublicKey
	Valid   Validity
	// Commitment is the commitment required to count the transaction as confirmed.
	Commitment rpc.CommitmentType
	// SentAt is the machine's time of the first broadcast or before; zero if it is not known.
	SentAt time.Time

	sender *Sender
	// began is the beginning of the wait.
	began time.Time
	// contradiction is the nodes' present disagreement about the expiry, since contradictedAt; nil if there
	// is none. contradictionLogged reports whether it was logged.
	contradiction       *transaction.ContradictionError
	contradictedAt      time.Time
	contradictionLogged bool
}

// Pending returns a transaction to send or to wait for.
func (s *Sender) Pending(p Pending) *Pending {
	p.sender = s
	return &p
}

// Send broadcasts the transaction for the first time and waits for its outcome.
func (p *Pending) Send(ctx context.Context) (*transaction.Receipt, error) {
	// The cause of an ended context may be a node's response to another request.
	if err := p.broadcast(ctx); err != nil && ctx.Err() == nil {
		if refusal := p.refusal(err); refusal != nil {
			return nil, unsent(refusal)
		}
	}
	return p.Await(ctx)
}

func (p *Pending) broadcast(ctx context.Context) error {
	var never uint
	_, err := p.sender.RPC.SendEncodedTransactionWithOpts(ctx, p.Encoded, rpc.TransactionOpts{
		SkipPreflight:       true, // it was simulated
		PreflightCommitment: p.sender.Commitment,
		MaxRetries:          &never, // the client sends it again itself
	})
	return err
}

// refusal returns a first broadcast's error if certainly no node forwarded the transaction. It returns nil if
// the pool marked the refusal as repeated, because a node may have forwarded the transaction.
func (p *Pending) refusal(err error) error {
	var answered *transaction.NodeError
	if !errors.As(err, &answered) || answered.Repeated {
		return nil
	}
	data, _ := answered.Data.(map[string]any)
	if data["err"] == nil {
		return err
	}
	var logs []string
	lines, _ := data["logs"].([]any)
	for _, line := range lines {
		logs = append(logs, fmt.Sprint(line))
	}
	return FailureError(data["err"], logs, p.Invoked, solana.Signature{}, p.sender.Explain)
}

// Await waits for the outcome to be certain.
func (p *Pending) Await(ctx context.Context) (*transaction.Receipt, error) {
	updates := p.sender.statuses.watch(p.Signature)
	defer p.sender.statuses.unwatch(p.Signature, updates)
	rebroadcasts := time.NewTicker(rebroadcastEvery)
	defer rebroadcasts.Stop()
	p.began = time.Now()
	lastAnswer, lastErr := p.began, error(nil)
	// The poller searches the recent transactions only. A transaction that was sent earlier may be older.
	old, check, rebroadcast := p.began.Sub(p.SentAt) > recentStatuses, false, false
	for {
		if check {
			check = false
			expired, status, err := p.hasExpired(ctx)
			switch {
			case err != nil:
				return nil, p.Unknown(err)
			case expired:
				return nil, fmt.Errorf("%w: %s", transaction.ErrExpired, p.Signature)
			case status != nil && p.reached(status):
				return p.Settle(ctx, status)
			}
		}
		if rebroadcast {
			rebroadcast = false
			// The response does not matter: a node may have forwarded the transaction before.
			_ = p.broadcast(ctx)
		}
		if time.Since(p.began) > OutcomeLimit {
			if p.contradiction != nil {
				return nil, p.Unknown(p.contradiction)
			}
			return nil, p.Unknown(errors.New("neither executed nor expired"))
		}
		if time.Since(lastAnswer) > UnreachableLimit {
			return nil, p.Unknown(lastErr)
		}
		select {
		case <-ctx.Done():
			return nil, p.Unknown(context.Cause(ctx))
		case update := <-updates:
			if lastErr = update.err; lastErr != nil {
				if errors.Is(lastErr, p.sender.Closed) {
					return nil, p.Unknown(lastErr)
				}
				continue
			}
			lastAnswer = time.Now()
			if update.status != nil && p.reached(update.status) {
				return p.Settle(ctx, update.status)
			}
			check, old = old && update.status == nil, false
		case <-rebroadcasts.C:
			check, rebroadcast = p.sender.statuses.mayHaveExpired(ctx, p), p.Encoded != ""
		}
	}
}

// Unknown returns the error of a transaction whose outcome stays unknown.
func (p *Pending) Unknown(cause error) error {
	return &transaction.UnknownOutcomeError{
		Signature: p.Signature, LastValidBlockHeight: p.Valid.LastHeight, Blockhash: p.Valid.Blockhash,
		Nonce: p.Valid.Nonce,
		Slot:  p.Valid.Since, SentAt: p.SentAt, Cause: cause,
	}
}

func (p *Pending) reached(status *rpc.SignatureStatusesResult) bool {
	if p.Commitment == rpc.CommitmentFinalized {
		return status.ConfirmationStatus == rpc.ConfirmationStatusFinalized
	}
	return status.ConfirmationStatus == rpc.ConfirmationStatusConfirmed ||
		status.ConfirmationStatus == rpc.ConfirmationStatusFinalized
}
