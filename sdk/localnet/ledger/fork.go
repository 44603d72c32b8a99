package ledger

import (
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Fork replaces the newest blocks with empty blocks, as if most validators had voted for another fork: the
// open block, and the preceding closed blocks. Their transactions are undone. A transaction can be sent again
// if the blockhash is older. Fork returns an error unless the number is 1 to 32: finalized blocks stay. Forks
// beyond the open block undo confirmed transactions, although clusters have never done so.
func (l *Ledger) Fork(blocks int) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if blocks < 1 || blocks > Finality {
		return fmt.Errorf("ledger: a fork of %d blocks is not between 1 and %d", blocks, Finality)
	}
	if len(l.blocks) <= blocks {
		return fmt.Errorf("ledger: has only %d blocks", len(l.blocks))
	}
	kept := len(l.blocks) - blocks
	before := map[solana.PublicKey]*engine.Account{}
	for _, block := range slices.Backward(l.blocks[kept:]) {
		for address, account := range block.before {
			before[address] = account
		}
		for _, transaction := range slices.Backward(block.Transactions) {
			l.unrecord(transaction)
		}
		delete(l.hashes, block.Hash)
	}
	if err := l.reset(before); err != nil {
		return err
	}
	l.blocks = l.blocks[:kept]
	l.forks++
	if err := l.open(); err != nil {
		return err
	}
	for range blocks - 1 {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

// reset restores earlier versions of accounts.
func (l *Ledger) reset(accounts map[solana.PublicKey]*engine.Account) error {
	addresses := make([]solana.PublicKey, 0, len(accounts))
	for address := range accounts {
		addresses = append(addresses, address)
	}
	// The engine compiles a program when the program account is set: the account with the ELF file must exist
	// before and after.
	rank := func(address solana.PublicKey) int {
		switch account := accounts[address]; {
		case account == nil:
			return 2
		case account.Executable:
			return 1
		}
		return 0
	}
	slices.SortFunc(addresses, func(a, b solana.PublicKey) int { return rank(a) - rank(b) })
	for _, address := range addresses {
		var account engine.Account
		if accounts[address] != nil {
			account = *accounts[address]
		}
		if err := l.engine.SetAccount(address, account); err != nil {
			return err
		}
		l.mirror(address, account)
	}
	return nil
}

// unrecord forgets the newest transaction.
func (l *Ledger) unrecord(transaction *Transaction) {
	delete(l.transactions, transaction.Signature)
	for _, key := range transaction.unique() {
		// A clipped slice is copied by the next append, because a snapshot may share the array.
		if l.mentions[key] = slices.Clip(l.mentions[key][:len(l.mentions[key])-1]); len(l.mentions[key]) == 0 {
			delete(l.mentions, key)
		}
	}
	l.count--
}
