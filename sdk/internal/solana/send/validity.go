package send

import (
	"context"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Validity is how long a transaction can be executed.
type Validity struct {
	// LastHeight is the greatest height of blocks that can include it; zero with a nonce.
	LastHeight uint64
	// Blockhash is the transaction's blockhash; with a nonce the nonce's value.
	Blockhash solana.Hash
	// Nonce is the nonce account of a transaction that can be executed while that holds Blockhash; zero if
	// unused.
	Nonce solana.PublicKey
	// Since is a slot before which it was not executed; zero if that is not known.
	Since uint64
}

const (
	// blockhashLife is how many blocks after its own a blockhash can be used.
	blockhashLife = 150
	// nodeLag is how many blocks a node may be behind the node that a blockhash comes from.
	nodeLag = 150
	// unknownDateLimit is how long a node may be behind the node that a blockhash or a nonce's value comes
	// from.
	unknownDateLimit = 5 * time.Second
)

// ValidityOf returns how long a transaction is valid that the caller did not build. Validity.Since is zero if
// the transaction may have been executed at any time before: no node knows its blockhash, or the nonce
// account's value differs.
func (s *Sender) ValidityOf(ctx context.Context, tx *solana.Transaction) (*Validity, error) {
	valid := &Validity{Blockhash: tx.Message.RecentBlockhash}
	if tx.UsesDurableNonce() {
		var ok bool
		if valid.Nonce, ok = tx.GetNonceAccount(); !ok {
			return nil, fmt.Errorf("%w: transaction names no nonce account", transaction.ErrNotANonce)
		}
	} else {
		epoch, err := s.RPC.GetEpochInfo(ctx, rpc.CommitmentProcessed)
		if err != nil {
			return nil, err
		}
		valid.LastHeight = epoch.BlockHeight + blockhashLife + nodeLag
	}
	polling, limit := newPolling(), time.Now().Add(unknownDateLimit)
	for {
		known, err := s.NotExecutedBefore(ctx, tx.Signatures[0], valid)
		if known || err == nil && !time.Now().Before(limit) {
			return valid, nil
		}
		if err != nil && !time.Now().Before(limit) {
			return nil, err
		}
		if err := wait.For(ctx, polling.NextBackOff()); err != nil {
			return nil, opaque(err)
		}
	}
}

// NotExecutedBefore sets Since. It returns true if a later attempt would return the same result.
func (s *Sender) NotExecutedBefore(
	ctx context.Context, signature solana.Signature, valid *Validity,
) (known bool, err error) {
	if !valid.Nonce.IsZero() {
		options := &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed,
			Encoding: solana.EncodingBase64}
		accounts, slot, err := Accounts(ctx, s.RPC, options, valid.Nonce)
		if err != nil || !holdsNonce(accounts[0], valid.Blockhash) {
			return false, err
		}
		valid.Since = slot
		return true, nil
	}
	// While a blockhash is valid, every node knows all transactions that have used it.
	epoch, err := s.RPC.GetEpochInfo(ctx, rpc.CommitmentConfirmed)
	if err != nil {
		return false, err
	}
	status, slot, err := StatusAt(ctx, s.RPC, signature)
	if err != nil || status != nil {
		return err == nil, err
	}
	answer, err := s.RPC.IsBlockhashValid(ctx, valid.Blockhash, rpc.CommitmentProcessed)
	if err != nil {
		return false, err
	}
	if slot < epoch.AbsoluteSlot || answer.Context.Slot < slot {
		return false, transaction.ErrBehind
	}
	if answer.Value {
		valid.Since = epoch.AbsoluteSlot
	}
	return answer.Value, nil
}
