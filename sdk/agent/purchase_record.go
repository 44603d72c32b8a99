package agent

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"
)

// PurchaseRecord is the durable state of [Purchase]: the only negotiation that the buyer may conclude at
// present.
type PurchaseRecord struct {
	Wallet solana.PublicKey
	// Key is [PurchaseConfig].Key.
	Key string
	// Terms hashes the sellers and the terms.
	Terms [32]byte
	// Generation is the number of authorizations so far.
	Generation uint64
	// Negotiation is the authorized negotiation; zero until the first authorization.
	Negotiation solana.PublicKey
	// Round is the number of offers in the negotiation before the authorized move: the buyer may have
	// accepted the offer of this round, or made the next offer.
	Round uint8
}

// PurchaseStore stores records beyond the life of the process. Several processes can share a store. A write
// is durable when the method returns nil. Package store implements it.
type PurchaseStore interface {
	// BeginPurchase returns the wallet's record for key, and adds it with these terms if there is none.
	BeginPurchase(ctx context.Context, wallet solana.PublicKey, key string, terms [32]byte) (PurchaseRecord, error)
	// AuthorizePurchase replaces a record by a record of the next generation, and returns that. It returns
	// [ErrPurchaseChanged] if the stored record's generation differs from the given generation. If any other
	// error is returned, the record may have been replaced.
	AuthorizePurchase(
		ctx context.Context, record PurchaseRecord, negotiation solana.PublicKey, round uint8,
	) (PurchaseRecord, error)
}

// ErrPurchaseChanged: another process changed the record of the purchase.
var ErrPurchaseChanged = errors.New("agent: another process has changed the purchase")
