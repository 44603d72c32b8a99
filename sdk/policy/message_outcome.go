package policy

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/history"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// maxSearched limits the wallet transactions read when searching for one message.
const maxSearched = 1_000

var (
	errUndated  = errors.New("age of the message not known")
	errTooMany  = errors.New("wallet has too many transactions since the message")
	errNoBlocks = errors.New("node has deleted blocks that the transaction could be in")
)

// outcomeOfMessage returns a message's outcome if the signature is unknown: confirmed or failed if a
// finalized wallet transaction contains the message, expired if none does and the message is no longer
// executable. It fails if neither is proven.
func (c chain) outcomeOfMessage(ctx context.Context, tx SignedTransaction) (transaction.Outcome, error) {
	if tx.Slot == 0 {
		return transaction.Unknown, errUndated
	}
	// The order matters: the message is no longer executable when the list is requested, and the oldest block
	// is requested last.
	reached, err := c.expiredAt(ctx, tx)
	if err != nil || reached == 0 {
		return transaction.Unknown, err
	}
	found, err := c.findMessage(ctx, tx, reached)
	if err != nil || found != transaction.Expired {
		return found, err
	}
	first, err := c.client.RPC().GetFirstAvailableBlock(ctx)
	if err != nil {
		return transaction.Unknown, err
	}
	if first > tx.Slot {
		return transaction.Unknown, errNoBlocks
	}
	return transaction.Expired, nil
}

// expiredAt returns a finalized slot when the message is no longer executable, or 0 if it still is.
func (c chain) expiredAt(ctx context.Context, tx SignedTransaction) (reached uint64, err error) {
	switch client := c.client.RPC(); {
	case !tx.Nonce.IsZero():
		options := &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentFinalized, Encoding: solana.EncodingBase64}
		accounts, slot, err := send.Accounts(ctx, client, options, tx.Nonce)
		if err != nil {
			return 0, err
		}
		reached = slot
		if account := accounts[0]; account != nil {
			nonce, err := send.DecodeNonce(tx.Nonce, account.Data.GetBinary())
			if err == nil && nonce.Value == tx.Blockhash {
				return 0, nil
			}
		}
	case tx.LastValidBlockHeight > 0:
		epoch, err := client.GetEpochInfo(ctx, rpc.CommitmentFinalized)
		if err != nil || epoch.BlockHeight <= tx.LastValidBlockHeight+transaction.SettledSlots {
			return 0, err
		}
		reached = epoch.AbsoluteSlot
	default:
		valid, err := client.IsBlockhashValid(ctx, tx.Blockhash, rpc.CommitmentFinalized)
		if err != nil || valid.Value {
			return 0, err
		}
		reached = valid.Context.Slot
	}
	if reached < tx.Slot {
		return 0, transaction.ErrBehind
	}
	return reached, nil
}

// findMessage searches the wallet's finalized transactions since the message's slot, newest first, and
// returns transaction.Expired if the message is not found.
func (c chain) findMessage(
	ctx context.Context, tx SignedTransaction, reached uint64,
) (transaction.Outcome, error) {
	query := history.Query{
		Address: tx.Wallet, Commitment: rpc.CommitmentFinalized, MinContextSlot: reached, ShortPages: true,
	}
	searched := 0
	for page, err := range history.Pages(ctx, c.client.RPC(), query) {
		if err != nil {
			return transaction.Unknown, err
		}
		for _, listed := range page {
			if listed.Slot < tx.Slot {
				return transaction.Expired, nil
			}
			if searched++; searched > maxSearched {
				return transaction.Unknown, errTooMany
			}
			digest, err := c.messageOf(ctx, listed.Signature)
			switch {
			case err != nil:
				return transaction.Unknown, err
			case digest != tx.Message:
			case listed.Failed:
				return transaction.Failed, nil
			default:
				return transaction.Confirmed, nil
			}
		}
	}
	return transaction.Expired, nil
}

// messageOf returns the SHA-256 of the message in an executed transaction.
func (c chain) messageOf(ctx context.Context, signature solana.Signature) (Digest, error) {
	details, err := send.LookUp(ctx, c.client.RPC(), signature, rpc.CommitmentFinalized)
	if err == nil && details == nil {
		err = transaction.ErrNotFound
	}
	if err != nil {
		return Digest{}, err
	}
	executed, err := details.Transaction.GetTransaction()
	if err != nil {
		return Digest{}, err
	}
	message, err := executed.Message.MarshalBinary()
	return sha256.Sum256(message), err
}
