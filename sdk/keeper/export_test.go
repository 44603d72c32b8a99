package keeper

import (
	"time"

	"github.com/gagliardetto/solana-go"
)

// Patience returns the time that the keeper with this wallet leaves others after a deadline.
func Patience(wallet, negotiation solana.PublicKey, config Config) time.Duration {
	return (&Keeper{config: config, self: wallet}).patience(negotiation)
}
