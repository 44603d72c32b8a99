package localnet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// ErrNotInProcess reports methods that only in-process chains support.
var ErrNotInProcess = fmt.Errorf("not supported: needs a chain of the kind %s", Process)

// Snapshot is a copy of chain state. It can be restored any number of times.
type Snapshot struct {
	chain *Chain
	state *ledger.Snapshot
}

// Snapshot returns a copy of the state: accounts, blocks, history and clock. Tests can prepare one snapshot and
// all begin there. Other chains return [ErrNotInProcess].
func (c *Chain) Snapshot() (*Snapshot, error) {
	if c.local == nil {
		return nil, ErrNotInProcess
	}
	state, err := c.local.ledger.Snapshot()
	if err != nil {
		return nil, err
	}
	return &Snapshot{c, state}, nil
}

// Restore returns to a snapshot of this chain. Slots and clock go back, too: a client that follows the chain
// can see transactions again, or miss them, so create new clients. Other chains return [ErrNotInProcess].
func (c *Chain) Restore(ctx context.Context, snapshot *Snapshot) error {
	switch {
	case c.local == nil:
		return ErrNotInProcess
	case snapshot.chain != c:
		return errors.New("the snapshot is of another chain")
	}
	return c.local.ledger.Restore(ctx, snapshot.state)
}

// AdvanceTime advances the chain's clock by a duration, rounded up to seconds: see [Chain.AdvanceTo].
func (c *Chain) AdvanceTime(ctx context.Context, duration time.Duration) error {
	now, err := c.Now(ctx)
	if err != nil {
		return err
	}
	return c.AdvanceTo(ctx, now+int64((duration+time.Second-1)/time.Second))
}

// SetFaults makes the chain's JSON-RPC interface lose or delay requests or responses, so that agents can be
// tested against a bad node. [Chain.Client], and everything that uses it, is affected as well. Other chains
// return [ErrNotInProcess].
func (c *Chain) SetFaults(faults jsonrpc.Faults) error {
	if c.local == nil {
		return ErrNotInProcess
	}
	c.local.server.SetFaults(faults)
	return nil
}

// Fork replaces the newest blocks with empty blocks: the open block, and the preceding closed blocks. Their
// transactions are undone: see [ledger.Ledger.Fork]. Other chains return [ErrNotInProcess].
func (c *Chain) Fork(blocks int) error {
	if c.local == nil {
		return ErrNotInProcess
	}
	return c.local.ledger.Fork(blocks)
}

// ExpireBlockhashes closes blocks until all previously signed transactions have expired. Other chains return
// [ErrNotInProcess].
func (c *Chain) ExpireBlockhashes() error {
	if c.local == nil {
		return ErrNotInProcess
	}
	return c.local.ledger.SkipBlocks(ledger.MaxBlockhashAge + 1)
}

// LoadProgram writes an ELF file as an upgradeable program. If authority is zero, nobody can upgrade it. For
// other chain kinds, LoadProgram returns [ErrNotInProcess]; if the runtime rejects the file, an error.
func (c *Chain) LoadProgram(program solana.PublicKey, elf []byte, authority solana.PublicKey) error {
	if c.local == nil {
		return ErrNotInProcess
	}
	return c.local.ledger.LoadProgram(program, elf, authority)
}

// SetAccount replaces an account at every commitment level, or removes it if it holds no lamports. Other chains
// return [ErrNotInProcess].
func (c *Chain) SetAccount(address solana.PublicKey, account rpc.Account) error {
	if c.local == nil {
		return ErrNotInProcess
	}
	return c.local.ledger.SetAccount(address, engineAccount(&account))
}

func engineAccount(account *rpc.Account) engine.Account {
	converted := engine.Account{
		Lamports: account.Lamports, Owner: account.Owner, Executable: account.Executable, Data: account.Data.GetBinary(),
	}
	if account.RentEpoch != nil && account.RentEpoch.IsUint64() {
		converted.RentEpoch = account.RentEpoch.Uint64()
	}
	return converted
}

// maxAccountsPerRequest is the limit of getMultipleAccounts.
const maxAccountsPerRequest = 100

// CloneAccounts copies accounts from another chain, such as a cluster, at the commitment level confirmed.
// Upgradeable programs are copied with ELF file and upgrade authority. All accounts are read and checked
// before any is written: nothing is copied if one does not exist, is a sysvar, or cannot be read. If this chain
// refuses an ELF file, previously written accounts remain. Other chains return [ErrNotInProcess].
func (c *Chain) CloneAccounts(ctx context.Context, from *rpc.Client, addresses ...solana.PublicKey) error {
	if c.local == nil {
		return ErrNotInProcess
	}
	accounts, err := readAccounts(ctx, from, addresses)
	if err != nil {
		return err
	}
	programs := map[solana.PublicKey]solana.PublicKey{}
	var data []solana.PublicKey
	for i, account := range accounts {
		if account.Owner == solana.SysVarPubkey {
			return fmt.Errorf("account %s: is a sysvar; each chain has its own", addresses[i])
		}
		if account.Owner != solana.BPFLoaderUpgradeableProgramID || !account.Executable {
			continue
		}
		of, is := engine.ProgramData(engineAccount(account))
		if !is {
			return fmt.Errorf("account %s: executable, but not a program of the upgradeable loader", addresses[i])
		}
		programs[addresses[i]] = of
		data = append(data, of)
	}
	files, err := readAccounts(ctx, from, data)
	if err != nil {
		return err
	}
	content := map[solana.PublicKey][]byte{}
	for i, address := range data {
		content[address] = files[i].Data.GetBinary()
		if _, _, ok := engine.ParseProgramData(content[address]); !ok {
			return fmt.Errorf("account %s: too short for the data of a program", address)
		}
	}
	for i, address := range addresses {
		if of, is := programs[address]; is {
			elf, authority, _ := engine.ParseProgramData(content[of])
			err = c.LoadProgram(address, elf, authority)
		} else {
			err = c.SetAccount(address, *accounts[i])
		}
		if err != nil {
			return fmt.Errorf("account %s: %w", address, err)
		}
	}
	return nil
}

// readAccounts reads accounts that must all exist.
func readAccounts(ctx context.Context, from *rpc.Client, addresses []solana.PublicKey) ([]*rpc.Account, error) {
	var accounts []*rpc.Account
	for len(accounts) < len(addresses) {
		page := addresses[len(accounts):min(len(accounts)+maxAccountsPerRequest, len(addresses))]
		found, err := from.GetMultipleAccountsWithOpts(ctx, page, &rpc.GetMultipleAccountsOpts{
			Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed,
		})
		if err != nil {
			return nil, fmt.Errorf("read accounts: %w", err)
		}
		if len(found.Value) != len(page) {
			return nil, fmt.Errorf("read accounts: %d instead of %d", len(found.Value), len(page))
		}
		for i, account := range found.Value {
			if account == nil {
				return nil, fmt.Errorf("account %s does not exist", page[i])
			}
			accounts = append(accounts, account)
		}
	}
	return accounts, nil
}
