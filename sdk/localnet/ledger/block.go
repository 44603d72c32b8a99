package ledger

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

const (
	firstSlot = 1
	// MaxBlockhashAge is how many blocks a transaction's blockhash stays valid.
	MaxBlockhashAge = 150
	// keptHashes is the number of blocks with known hashes.
	keptHashes = 2 * MaxBlockhashAge
	// SlotsPerEpoch is the epoch length.
	SlotsPerEpoch = 432_000
)

// Block is a closed block, or the open block with an unpublished hash.
type Block struct {
	Slot     uint64
	Hash     solana.Hash
	Previous solana.Hash
	// Time is the Unix time in seconds.
	Time         int64
	Transactions []*Transaction

	// before holds the earlier versions of changed accounts. It is dropped MaxBehind blocks after finality.
	before map[solana.PublicKey]*engine.Account
}

func (c *chain) head() *Block { return c.blocks[len(c.blocks)-1] }

// parent is the newest closed block.
func (l *Ledger) parent() *Block { return l.blocks[len(l.blocks)-2] }

// at returns the slot's block, or nil.
func (l *Ledger) at(slot uint64) *Block {
	first := l.blocks[0].Slot
	if slot < first || slot > l.head().Slot {
		return nil
	}
	return l.blocks[slot-first]
}

// NextBlock closes the open block and opens another.
func (l *Ledger) NextBlock() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.next()
}

// SkipBlocks closes the given number of blocks. 151 blocks expire every blockhash used by transactions.
func (l *Ledger) SkipBlocks(count int) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	for range count {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

// next closes the open block, opens another and announces it.
func (l *Ledger) next() error {
	if err := l.open(); err != nil {
		return err
	}
	closed := l.parent().shown()
	l.emit(Event{Closed: &closed})
	return nil
}

// shown returns a copy that omits later changes.
func (b *Block) shown() Block { return Block{b.Slot, b.Hash, b.Previous, b.Time, b.Transactions, nil} }

// open adds an empty, open block.
func (l *Ledger) open() error {
	block := &Block{
		Slot: firstSlot, Previous: l.genesis, Time: l.time(), before: map[solana.PublicKey]*engine.Account{},
	}
	if len(l.blocks) > 0 {
		head := l.head()
		block.Slot, block.Previous, block.Time = head.Slot+1, head.Hash, max(head.Time, block.Time)
		l.hashes[head.Hash] = head.Slot
	}
	seed := binary.LittleEndian.AppendUint64(block.Previous[:], block.Slot)
	seed = binary.LittleEndian.AppendUint64(seed, l.forks)
	block.Hash = sha256.Sum256(seed)
	l.blocks = append(l.blocks, block)
	l.forget()
	return l.writeSysvars()
}

// forget drops expired hashes, old account states and blocks beyond the limit.
func (l *Ledger) forget() {
	if old := l.at(l.head().Slot - keptHashes); old != nil {
		delete(l.hashes, old.Hash)
	}
	final := l.chain.slot(Finalized)
	if old := l.at(final); old != nil {
		// These change in each block, and are large. Nodes that are behind show a later slot's.
		delete(old.before, slotHashes)
		delete(old.before, recentBlockhashes)
	}
	if final > MaxBehind {
		if old := l.at(final - MaxBehind); old != nil {
			old.before = nil
		}
	}
	if len(l.blocks) <= l.history {
		return
	}
	for _, transaction := range l.blocks[0].Transactions {
		delete(l.transactions, transaction.Signature)
		for _, key := range transaction.unique() {
			// Each address's list begins with the oldest transaction.
			if l.mentions[key] = l.mentions[key][1:]; len(l.mentions[key]) == 0 {
				delete(l.mentions, key)
			}
		}
	}
	l.blocks[0] = nil
	l.blocks = l.blocks[1:]
}

// Block returns the slot's block if closed and visible at the commitment, which is not Processed.
func (l *Ledger) Block(slot uint64, commitment Commitment) (Block, bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	block := l.at(slot)
	if block == nil || block == l.head() || slot > l.slot(commitment) {
		return Block{}, false
	}
	return block.shown(), true
}

// FirstSlot returns the oldest kept slot.
func (l *Ledger) FirstSlot() uint64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.blocks[0].Slot
}

// Blockhash contains a recent hash for transactions, with the last block height where they can be executed.
type Blockhash struct {
	Hash            solana.Hash
	LastValidHeight uint64
	// Slot is the slot of the query.
	Slot uint64
}

// LatestBlockhash returns the newest blockhash at the given commitment. The open block has no hash, so
// Processed and Confirmed return the same.
func (l *Ledger) LatestBlockhash(commitment Commitment) Blockhash {
	l.lock.Lock()
	defer l.lock.Unlock()
	slot := l.slot(commitment)
	block := l.at(min(slot, l.parent().Slot))
	return Blockhash{block.Hash, block.Slot + MaxBlockhashAge, slot}
}

// BlockhashValid reports whether transactions with the blockhash are executable at the given commitment.
func (l *Ledger) BlockhashValid(hash solana.Hash, commitment Commitment) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	slot, known := l.hashes[hash]
	return known && slot <= l.slot(commitment) && l.slot(commitment) <= slot+MaxBlockhashAge
}

// usable reports whether transactions in the open block can use the blockhash. The age is counted from the
// newest blockhash.
func (l *Ledger) usable(hash solana.Hash) bool {
	slot, known := l.hashes[hash]
	return known && l.parent().Slot-slot <= MaxBlockhashAge
}
