package keeper

import (
	"time"

	"github.com/gagliardetto/solana-go"
)

// Listens reports whether hints arrive and the scan for those before them has begun.
func (k *Keeper) Listens() bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.connected && !k.scanRequested && k.scans > 0
}

// RequestScan requests a scan, as lost hints do.
func (k *Keeper) RequestScan() { k.requestScan() }

// Patience returns the time that the keeper with this wallet leaves others once a deadline has passed.
func Patience(wallet, negotiation solana.PublicKey, config Config) time.Duration {
	return (&Keeper{config: config, self: wallet}).patience(negotiation)
}
