package indexer

import (
	"context"

	"github.com/gagliardetto/solana-go/rpc"
)

// mintDecimals returns the mint decimals for a transaction's token accounts, by mint address.
func mintDecimals(meta *rpc.TransactionMeta) map[string]uint8 {
	decimals := map[string]uint8{}
	for _, listed := range [][]rpc.TokenBalance{meta.PreTokenBalances, meta.PostTokenBalances} {
		for _, item := range listed {
			if item.UiTokenAmount != nil {
				decimals[item.Mint.String()] = item.UiTokenAmount.Decimals
			}
		}
	}
	return decimals
}

// storeMints stores the decimals of the mints of negotiations, which never change. Negotiations must be
// stored before. Other mints of the same transactions are skipped.
func (b *batch) storeMints(ctx context.Context, s statements) error {
	found := map[string]uint8{}
	for _, slot := range b.slots {
		for _, transaction := range slot.transactions {
			for mint, decimals := range transaction.decimals {
				found[mint] = decimals
			}
		}
	}
	for mint, decimals := range found {
		_, err := s.exec(ctx, `INSERT INTO mints (mint, decimals)
			SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT) WHERE EXISTS (SELECT 1 FROM negotiations WHERE mint = $1)
			ON CONFLICT (mint) DO NOTHING`, mint, int64(decimals))
		if err != nil {
			return err
		}
	}
	return nil
}
