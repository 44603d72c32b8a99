package ledger

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

var (
	sysvarOwner       = solana.MustPublicKeyFromBase58("Sysvar1111111111111111111111111111111111111")
	slotHashes        = solana.MustPublicKeyFromBase58("SysvarS1otHashes111111111111111111111111111")
	recentBlockhashes = solana.SysVarRecentBlockHashesPubkey
)

const (
	slotHashesLimit        = 512
	recentBlockhashesLimit = 150
	rentExempt             = ^uint64(0)
)

func (l *Ledger) time() int64 { return l.now().Add(l.offset).Unix() }

// Time returns the Unix time of the open block in seconds. The next transaction uses this time.
func (l *Ledger) Time() int64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.head().Time
}

// AdvanceTo moves the clock to a Unix time in seconds and opens a block with this time. The clock goes on from
// there. It returns an error if the time is before the open block's.
func (l *Ledger) AdvanceTo(unixTime int64) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if head := l.head().Time; unixTime < head {
		return fmt.Errorf("ledger: time %d is before the chain's, %d", unixTime, head)
	}
	if unixTime > maxTime {
		return fmt.Errorf("ledger: time %d is after %d", unixTime, int64(maxTime))
	}
	l.offset = time.Unix(unixTime, 0).Sub(l.now())
	return l.next()
}

// AdvanceBy moves the clock forward and opens a block with the new time.
func (l *Ledger) AdvanceBy(duration time.Duration) error {
	return l.AdvanceTo(l.Time() + int64(duration/time.Second))
}

// maxTime is the last second of the year 2200: a time.Duration can hold the time until it.
const maxTime = 7_289_654_399

// writeSysvars writes the open block's clock and the closed blocks' hashes.
func (l *Ledger) writeSysvars() error {
	head := l.head()
	epoch := head.Slot / SlotsPerEpoch
	var clock []byte
	for _, field := range []uint64{head.Slot, uint64(l.blocks[0].Time), epoch, epoch + 1, uint64(head.Time)} {
		clock = binary.LittleEndian.AppendUint64(clock, field)
	}
	closed := l.blocks[:len(l.blocks)-1]
	hashes := make([]byte, 8, 8+40*slotHashesLimit)
	recent := make([]byte, 8, 8+40*recentBlockhashesLimit)
	for i := range closed[max(0, len(closed)-slotHashesLimit):] {
		block := closed[len(closed)-1-i]
		hashes = binary.LittleEndian.AppendUint64(hashes, block.Slot)
		hashes = append(hashes, block.Hash[:]...)
		if i < recentBlockhashesLimit {
			recent = append(recent, block.Hash[:]...)
			recent = binary.LittleEndian.AppendUint64(recent, LamportsPerSignature)
		}
	}
	binary.LittleEndian.PutUint64(hashes, uint64(len(hashes)/40))
	binary.LittleEndian.PutUint64(recent, uint64(len(recent)/40))
	for _, sysvar := range []struct {
		address solana.PublicKey
		data    []byte
		size    int
	}{
		{solana.SysVarClockPubkey, clock, len(clock)},
		{slotHashes, hashes, cap(hashes)},
		{recentBlockhashes, recent, cap(recent)},
	} {
		data := make([]byte, sysvar.size)
		copy(data, sysvar.data)
		account := engine.Account{
			Lamports: engine.MinimumBalance(len(data)), Owner: sysvarOwner, RentEpoch: rentExempt, Data: data,
		}
		if err := l.engine.SetAccount(sysvar.address, account); err != nil {
			return fmt.Errorf("sysvar %s: %w", sysvar.address, err)
		}
		l.mirror(sysvar.address, account)
	}
	return nil
}
