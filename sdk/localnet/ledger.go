package localnet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Names of the fixed keys in kept ledgers.
const (
	faucetKey    = "faucet"
	authorityKey = "upgrade authority"
	treasuryKey  = "treasury"
	mintKey      = "mint"
	buyerKey     = "buyer"
	sellerKey    = "seller"
)

// key returns the fixed test key with the given name if the ledger is kept, otherwise a random one.
func (o Options) key(name string) (solana.PrivateKey, error) {
	if o.Ledger == "" {
		return solana.NewRandomPrivateKey()
	}
	seed := sha256.Sum256([]byte("haggle localnet test key: " + name))
	return solana.PrivateKey(ed25519.NewKeyFromSeed(seed[:])), nil
}

// hasLedger reports whether the directory contains a ledger to continue.
func hasLedger(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "genesis.bin"))
	return err == nil
}

// checkProgram fails if the chain runs another program than the given ELF.
func (c *Chain) checkProgram(ctx context.Context, elf []byte) error {
	address, _, err := solana.FindProgramAddress([][]byte{c.ProgramID.Bytes()},
		solana.BPFLoaderUpgradeableProgramID)
	if err != nil {
		return err
	}
	account, err := c.client.GetAccountInfoWithOpts(ctx, address,
		&rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return fmt.Errorf("program %s: %w", c.ProgramID, err)
	}
	// The loader can add zeros after the file.
	found, _, ok := engine.ParseProgramData(account.GetBinary())
	if !ok || !bytes.Equal(bytes.TrimRight(found, "\x00"), bytes.TrimRight(elf, "\x00")) {
		return fmt.Errorf("program %s is of another version of Haggle: delete the ledger to start a new one, or "+
			"continue it with the version that made it", c.ProgramID)
	}
	return nil
}
