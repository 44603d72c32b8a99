package send

import (
	"context"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Signer signs transactions for one account.
type Signer interface {
	PublicKey() solana.PublicKey
	SignMessage(ctx context.Context, message []byte) (solana.Signature, error)
}

// AddSignatures adds the signatures of some of a transaction's signers and keeps existing signatures. It
// fails with [transaction.ErrNotASigner] for a signer that the transaction does not need.
func AddSignatures[S Signer](ctx context.Context, tx *solana.Transaction, signers []S) error {
	message, err := tx.Message.MarshalBinary()
	if err != nil {
		return fmt.Errorf("encode the message: %w", err)
	}
	count := int(tx.Message.Header.NumRequiredSignatures)
	if count > len(tx.Message.AccountKeys) {
		return fmt.Errorf("transaction: %d signers among %d accounts", count, len(tx.Message.AccountKeys))
	}
	needed := tx.Message.AccountKeys[:count]
	signatures := make([]solana.Signature, count)
	copy(signatures, tx.Signatures)
	for _, signer := range signers {
		at := slices.Index(needed, signer.PublicKey())
		if at < 0 {
			return fmt.Errorf("%w: %s", transaction.ErrNotASigner, signer.PublicKey())
		}
		if signatures[at], err = signMessage(ctx, signer, message); err != nil {
			return err
		}
	}
	tx.Signatures = signatures
	return nil
}

// signMessage returns a signature that verifies.
func signMessage(ctx context.Context, signer Signer, message []byte) (solana.Signature, error) {
	key := signer.PublicKey()
	signature, err := signer.SignMessage(ctx, message)
	if err != nil {
		return solana.Signature{}, fmt.Errorf("%s does not sign: %w", key, unsent(err))
	}
	if !signature.Verify(key, message) {
		return solana.Signature{}, fmt.Errorf("the signature of %s does not verify", key)
	}
	return signature, nil
}

// Sign obtains all signatures that a transaction needs. It refuses a signature that does not verify.
func Sign[S Signer](ctx context.Context, tx *solana.Transaction, signers []S) error {
	var needed []S
	for _, key := range tx.Message.AccountKeys[:tx.Message.Header.NumRequiredSignatures] {
		at := slices.IndexFunc(signers,
			func(signer S) bool { return any(signer) != nil && signer.PublicKey() == key })
		if at < 0 {
			return fmt.Errorf("%w: %s", transaction.ErrMissingSigner, key)
		}
		needed = append(needed, signers[at])
	}
	return AddSignatures(ctx, tx, needed)
}
