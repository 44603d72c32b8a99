package keeper

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// task is the next instruction that anyone can send to a negotiation. An empty kind means that there is none.
type task struct {
	kind Kind
	// due is the due time, in Unix seconds by the chain's clock. It is zero if the task is due at once.
	due int64
	// earliest is the first second when the program accepts a task that is due at once. If zero, any time is
	// accepted.
	earliest int64
	index    uint8
}

// taskFor returns the next task for a negotiation in this state. A finished negotiation can be closed at
// once, except in the second it was created.
func taskFor(n *protocol.Negotiation) task {
	switch {
	case n.IsOpen():
		return task{kind: Expire, due: n.TurnDeadline}
	case n.IsOver():
		return task{kind: Close, earliest: n.CreatedAt + 1}
	case !n.IsAgreed():
		return task{}
	}
	settling := task{kind: Settle, due: n.SettleDueAt()}
	if index, reviewed := n.UnderReview(); reviewed && n.TurnDeadline < settling.due {
		return task{kind: Release, due: n.TurnDeadline, index: index}
	}
	return settling
}

// patience is the time that the keeper leaves the parties and other keepers once a deadline has passed:
// Config.Grace, and a part of Config.Jitter that depends on the keeper and the negotiation.
func (k *Keeper) patience(negotiation solana.PublicKey) time.Duration {
	if k.config.Jitter == 0 {
		return k.config.Grace
	}
	hash := sha256.Sum256(append(negotiation.Bytes(), k.self[:]...))
	return k.config.Grace + time.Duration(binary.LittleEndian.Uint64(hash[:])%uint64(k.config.Jitter))
}

// seconds returns a duration in seconds, rounded up.
func seconds(length time.Duration) int64 { return int64((length + time.Second - 1) / time.Second) }
