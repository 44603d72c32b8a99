// Package accounts detects changes of accounts.
package accounts

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// AtOnce is the most accounts in one request.
const AtOnce = 100

// Fingerprints returns hashes of accounts, which change when the accounts do; none is zero. owned reports
// which accounts belong to the program, and slot is the slot of the accounts. There must be at most AtOnce
// addresses.
func Fingerprints(
	ctx context.Context, client *rpc.Client, program solana.PublicKey, commitment rpc.CommitmentType,
	seed maphash.Seed, addresses []solana.PublicKey,
) (slot uint64, fingerprints []uint64, owned []bool, err error) {
	found, err := client.GetMultipleAccountsWithOpts(ctx, addresses, &rpc.GetMultipleAccountsOpts{
		Encoding: solana.EncodingBase64, Commitment: commitment,
	})
	if err != nil {
		return 0, nil, nil, err
	}
	if len(found.Value) != len(addresses) {
		return 0, nil, nil, fmt.Errorf("node returned %d accounts instead of %d: %w",
			len(found.Value), len(addresses), transaction.ErrMalformed)
	}
	fingerprints, owned = make([]uint64, len(addresses)), make([]bool, len(addresses))
	for i, account := range found.Value {
		var hash maphash.Hash
		hash.SetSeed(seed)
		// A wallet's content does not show its transactions, so other accounts are not hashed; their
		// transactions are listed.
		if owned[i] = account != nil && account.Owner == program; owned[i] && account.Data != nil {
			_, _ = hash.Write(account.Data.GetBinary())
		}
		fingerprints[i] = max(hash.Sum64(), 1)
	}
	return found.Context.Slot, fingerprints, owned, nil
}
