package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
)

// Faucet returns the account that pays for airdrops.
func (l *Ledger) Faucet() solana.PublicKey { return l.faucet.PublicKey() }

// Airdrop transfers lamports from the faucet to an account, in a separate transaction.
func (l *Ledger) Airdrop(to solana.PublicKey, lamports uint64) (*Transaction, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	// The memo distinguishes airdrops with the same blockhash.
	memo := make([]byte, 8)
	if _, err := rand.Read(memo); err != nil {
		return nil, err
	}
	transaction, err := solana.NewTransaction([]solana.Instruction{
		system.NewTransferInstruction(lamports, l.Faucet(), to).Build(),
		solana.NewInstruction(solana.MemoProgramID, nil, []byte(hex.EncodeToString(memo))),
	}, l.parent().Hash, solana.TransactionPayer(l.Faucet()))
	if err != nil {
		return nil, err
	}
	if _, err := transaction.Sign(func(solana.PublicKey) *solana.PrivateKey { return &l.faucet }); err != nil {
		return nil, err
	}
	wire, err := transaction.MarshalBinary()
	if err != nil {
		return nil, err
	}
	executed, err := l.execute(wire, transaction)
	if err == nil && executed.Result.Err != nil {
		err = fmt.Errorf("airdrop failed: %s", executed.Result.Err)
	}
	return executed, err
}
