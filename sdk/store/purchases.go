package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
)

var _ agent.PurchaseStore = (*Store)(nil)

// BeginPurchase implements [agent.PurchaseStore].
func (s *Store) BeginPurchase(
	ctx context.Context, wallet solana.PublicKey, key string, terms [32]byte,
) (agent.PurchaseRecord, error) {
	var row queries.PurchaseRow
	err := s.write(ctx, func(q *queries.Queries) error {
		err := q.BeginPurchase(ctx, wallet.String(), key, hex.EncodeToString(terms[:]))
		if err == nil {
			row, err = q.Purchase(ctx, wallet.String(), key)
		}
		return err
	})
	if err != nil {
		return agent.PurchaseRecord{}, err
	}
	record := agent.PurchaseRecord{
		Wallet: wallet, Key: key, Generation: uint64(row.Generation), Round: uint8(row.Round),
	}
	kept, err := hex.DecodeString(row.Terms)
	if err == nil && copy(record.Terms[:], kept) != len(record.Terms) {
		err = errors.New("terms are not a hash")
	}
	if err == nil && row.Negotiation != "" {
		record.Negotiation, err = solana.PublicKeyFromBase58(row.Negotiation)
	}
	if err == nil && (row.Generation < 0 || row.Round < 0 || row.Round > math.MaxUint8) {
		err = errors.New("number out of range")
	}
	if err != nil {
		return agent.PurchaseRecord{}, s.damaged(fmt.Sprintf("purchase %q of %s", key, wallet), err)
	}
	return record, nil
}

// AuthorizePurchase implements [agent.PurchaseStore].
func (s *Store) AuthorizePurchase(
	ctx context.Context, record agent.PurchaseRecord, negotiation solana.PublicKey, round uint8,
) (agent.PurchaseRecord, error) {
	err := s.write(ctx, func(q *queries.Queries) error {
		changed, err := q.AuthorizePurchase(ctx, queries.AuthorizePurchaseParams{
			Negotiation: negotiation.String(), Round: int64(round), Wallet: record.Wallet.String(), Key: record.Key,
			Generation: int64(record.Generation),
		})
		if err == nil && changed == 0 {
			err = agent.ErrPurchaseChanged
		}
		return err
	})
	if err != nil {
		return agent.PurchaseRecord{}, err
	}
	record.Generation, record.Negotiation, record.Round = record.Generation+1, negotiation, round
	return record, nil
}
