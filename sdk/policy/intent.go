package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// intentDigest returns the message intent: the digest over the instructions that the chain executes at most
// once. Transactions are atomic, so all instructions beside them are executed at most once, too. If there are
// none, the message is a separate intent.
func (r *reading) intentDigest() Digest {
	hash := sha256.New()
	found, once := false, false
	for _, decoded := range r.steps {
		instruction, ok := decoded.(protocol.AnyInstruction)
		if !ok {
			continue
		}
		guarded, isOnce := r.guarded(instruction)
		if guarded == nil {
			continue
		}
		found, once = true, once || isOnce
		hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(guarded))))
		hash.Write(guarded)
	}
	if !found || !once && r.paysOthers() {
		return r.digest
	}
	return Digest(hash.Sum(nil))
}

// paysOthers reports whether the message pays somebody at once, other than into an escrow.
func (r *reading) paysOthers() bool {
	return slices.ContainsFunc(r.spends, func(s Spend) bool {
		return s.Purpose == PurposeTransfer || s.Purpose == PurposeRent && !s.Counterparty.IsZero()
	})
}

// guarded returns the identifying bytes if the chain executes the instruction at most once, else nil. It
// excludes deadlines, because rebuilt actions use later deadlines. once is false if the instruction creates a
// deal: the chain can execute it again when the deal is closed, and created_at distinguishes the later deals.
func (r *reading) guarded(instruction protocol.AnyInstruction) (content []byte, once bool) {
	effects := instruction.Effects()
	var deal int64
	switch effects.Idempotency {
	case protocol.IdempotencyContent:
		once = true
	case protocol.IdempotencyAddress:
		if !effects.Acts(r.policy.wallet) {
			return nil, false
		}
		r.policy.lock.Lock()
		deal = r.policy.usage.latestDeal(effects.Negotiation)
		r.policy.lock.Unlock()
	default:
		return nil, false
	}
	instruction = instruction.WithoutDeadlines()
	built, err := instruction.Instruction()
	if err != nil {
		return nil, false
	}
	content = instruction.AppendData(nil)
	for _, account := range built.Accounts() {
		content = append(content, account.PublicKey[:]...)
	}
	return binary.LittleEndian.AppendUint64(content, uint64(deal)), once
}
