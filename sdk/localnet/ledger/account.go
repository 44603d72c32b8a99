package ledger

import (
	"bytes"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Account returns an account at the given commitment, or nil if it does not exist. The caller must not modify
// it.
func (l *Ledger) Account(address solana.PublicKey, commitment Commitment) *engine.Account {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.account(address, l.slot(commitment))
}

// Accounts returns several accounts, all read at the same slot, and the slot. Missing accounts are nil.
func (l *Ledger) Accounts(commitment Commitment, addresses ...solana.PublicKey) ([]*engine.Account, uint64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	slot := l.slot(commitment)
	accounts := make([]*engine.Account, len(addresses))
	for i, address := range addresses {
		accounts[i] = l.account(address, slot)
	}
	return accounts, slot
}

// Owned is a program-owned account.
type Owned struct {
	Address solana.PublicKey
	Account *engine.Account
}

// ProgramAccounts returns the program's accounts at the given commitment, sorted by address, and the slot. If
// keep is not nil, it selects the accounts to return; it must not call the ledger.
func (l *Ledger) ProgramAccounts(program solana.PublicKey, commitment Commitment,
	keep func(*engine.Account) bool) ([]Owned, uint64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	slot := l.slot(commitment)
	candidates := map[solana.PublicKey]struct{}{}
	for address := range l.owned[program] {
		candidates[address] = struct{}{}
	}
	for _, block := range l.after(slot) {
		for address := range block.before {
			candidates[address] = struct{}{}
		}
	}
	var owned []Owned
	for address := range candidates {
		account := l.account(address, slot)
		if account != nil && account.Owner == program && (keep == nil || keep(account)) {
			owned = append(owned, Owned{address, account})
		}
	}
	slices.SortFunc(owned, func(a, b Owned) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	return owned, slot
}

// SetAccount replaces an account at every commitment at once, or removes it if it holds no lamports.
func (l *Ledger) SetAccount(address solana.PublicKey, account engine.Account) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	account.Data = bytes.Clone(account.Data)
	return l.setAccount(address, account)
}

// LoadProgram writes an ELF file as an upgradeable program. If authority is zero, nobody can upgrade it.
func (l *Ledger) LoadProgram(program solana.PublicKey, elf []byte, authority solana.PublicKey) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if err := l.engine.LoadProgram(program, elf, authority); err != nil {
		return err
	}
	data, _, err := solana.FindProgramAddress([][]byte{program[:]}, solana.BPFLoaderUpgradeableProgramID)
	if err != nil {
		return err
	}
	for _, address := range []solana.PublicKey{program, data} {
		account, err := l.engine.Account(address)
		if err != nil {
			return err
		}
		l.mirror(address, account)
		l.overwrite(address)
	}
	return nil
}

func (l *Ledger) setAccount(address solana.PublicKey, account engine.Account) error {
	if err := l.engine.SetAccount(address, account); err != nil {
		return err
	}
	l.mirror(address, account)
	l.overwrite(address)
	return nil
}

// mirror copies an account stored by the engine, and keeps the earlier version in the open block.
func (l *Ledger) mirror(address solana.PublicKey, account engine.Account) {
	old := l.accounts[address]
	if len(l.blocks) > 0 {
		if before := l.head().before; before != nil {
			if _, kept := before[address]; !kept {
				before[address] = old
			}
		}
	}
	if old != nil {
		delete(l.owned[old.Owner], address)
		if len(l.owned[old.Owner]) == 0 {
			delete(l.owned, old.Owner)
		}
	}
	if !account.Exists() {
		delete(l.accounts, address)
		return
	}
	l.accounts[address] = &account
	if l.owned[account.Owner] == nil {
		l.owned[account.Owner] = map[solana.PublicKey]struct{}{}
	}
	l.owned[account.Owner][address] = struct{}{}
}

// keptStates is the number of blocks that can hold earlier states of accounts.
const keptStates = Finality + MaxBehind + 2

// overwrite drops an account's earlier states.
func (l *Ledger) overwrite(address solana.PublicKey) {
	for _, block := range l.blocks[max(0, len(l.blocks)-keptStates):] {
		delete(block.before, address)
	}
}

// account returns an account as it was when a slot ended, where the slot must not be older than the finalized
// slot.
func (l *Ledger) account(address solana.PublicKey, slot uint64) *engine.Account {
	for _, block := range l.after(slot) {
		if account, changed := block.before[address]; changed {
			return account
		}
	}
	return l.accounts[address]
}

// after returns the blocks following a slot.
func (l *Ledger) after(slot uint64) []*Block {
	return l.blocks[min(uint64(len(l.blocks)), slot+1-min(slot+1, l.blocks[0].Slot)):]
}
