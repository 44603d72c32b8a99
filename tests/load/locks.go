package load

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// closeInstruction is the only instruction that may write accounts that negotiations have in common.
const closeInstruction = "close_negotiation"

// locks contains the accounts common to transactions of different negotiations. A scheduler runs two
// transactions at the same time if neither writes an account named in the other.
type locks struct {
	// transactions and negotiations count the transactions and negotiations before the closings.
	transactions, negotiations int
	// writable is the number of different accounts that are written before the closings.
	writable int
	// shared lists the accounts written in transactions of one negotiation and named in transactions of
	// another before the closings. The protocol guarantees that there are none.
	shared []solana.PublicKey
	// unrelated lists transactions that name no negotiation of the run, or several.
	unrelated []solana.Signature
	// common lists the accounts named by several negotiations before the closings, and atClose the accounts
	// written by several negotiations in their closings. The most used accounts are first.
	common, atClose []commonAccount
}

// commonAccount counts the transactions and negotiations that name an account, and the transactions that
// write it.
type commonAccount struct {
	address                            solana.PublicKey
	transactions, written, negotiation int
}

// usage describes how a set of transactions uses an account.
type usage struct {
	commonAccount
	negotiations, writers map[solana.PublicKey]bool
}

// findLocks compares the account lists of all transactions. A transaction belongs to the negotiation that it
// names.
func findLocks(transactions []landed, negotiations map[solana.PublicKey]bool) *locks {
	found := new(locks)
	before, closings := map[solana.PublicKey]*usage{}, map[solana.PublicKey]*usage{}
	seen := map[solana.PublicKey]bool{}
	for i := range transactions {
		transaction := &transactions[i]
		negotiation, ok := negotiationOf(transaction, negotiations)
		if !ok {
			found.unrelated = append(found.unrelated, transaction.signature)
			continue
		}
		if transaction.instruction == closeInstruction {
			addUsage(closings, transaction, negotiation)
			continue
		}
		found.transactions++
		seen[negotiation] = true
		addUsage(before, transaction, negotiation)
	}
	found.negotiations = len(seen)
	for address, used := range before {
		used.negotiation = len(used.negotiations)
		if used.written > 0 {
			found.writable++
		}
		if used.negotiation > 1 {
			found.common = append(found.common, used.commonAccount)
			if used.written > 0 {
				found.shared = append(found.shared, address)
			}
		}
	}
	for _, used := range closings {
		used.negotiation = len(used.negotiations)
		if len(used.writers) > 1 {
			found.atClose = append(found.atClose, used.commonAccount)
		}
	}
	slices.SortFunc(found.shared, func(a, b solana.PublicKey) int { return bytes.Compare(a[:], b[:]) })
	slices.SortFunc(found.common, mostUsedFirst)
	slices.SortFunc(found.atClose, mostUsedFirst)
	return found
}

// pairs returns the number of compared pairs of negotiations.
func (l *locks) pairs() int { return l.negotiations * (l.negotiations - 1) / 2 }

func negotiationOf(transaction *landed, negotiations map[solana.PublicKey]bool) (solana.PublicKey, bool) {
	named := map[solana.PublicKey]bool{}
	for _, key := range slices.Concat(transaction.writable, transaction.readOnly) {
		if negotiations[key] {
			named[key] = true
		}
	}
	for negotiation := range named {
		return negotiation, len(named) == 1
	}
	return solana.PublicKey{}, false
}

func addUsage(accounts map[solana.PublicKey]*usage, transaction *landed, negotiation solana.PublicKey) {
	entry := func(address solana.PublicKey) *usage {
		used := accounts[address]
		if used == nil {
			used = &usage{commonAccount{address: address}, map[solana.PublicKey]bool{}, map[solana.PublicKey]bool{}}
			accounts[address] = used
		}
		used.transactions++
		used.negotiations[negotiation] = true
		return used
	}
	for _, address := range transaction.writable {
		used := entry(address)
		used.written++
		used.writers[negotiation] = true
	}
	for _, address := range transaction.readOnly {
		entry(address)
	}
}

func mostUsedFirst(a, b commonAccount) int {
	return cmp.Or(cmp.Compare(b.transactions, a.transactions), bytes.Compare(a.address[:], b.address[:]))
}
