package keeper

import (
	"time"

	"github.com/gagliardetto/solana-go"
)

// Patience is how long the keeper with this wallet leaves something to others.
func Patience(wallet, negotiation solana.PublicKey, config Config) time.Duration {
	return (&Keeper{config: config, self: wallet}).patience(negotiation)
}
