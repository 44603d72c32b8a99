package haggle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Each action uses an idempotency key and an intent. A wallet with a journal never executes two actions with
// one key. If an action names the state it is built on, the key follows from the instruction, so a second
// transaction with that instruction uses the same key. A creation's key follows from the session. Other
// actions can be meant more than once with unchanged content, and use random keys: a second action with that
// intent counts as a repetition only if the caller of the first action did not receive the outcome.

// intentOf hashes an action's content.
func intentOf(payer solana.PublicKey, name string, content ...[]byte) solana.Hash {
	hash := sha256.New()
	for _, part := range append([][]byte{payer[:], []byte(name)}, content...) {
		hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		hash.Write(part)
	}
	return solana.Hash(hash.Sum(nil))
}

// keyOf returns an instruction's idempotency key; zero if the same instruction can be meant more than once.
func keyOf(payer solana.PublicKey, instruction protocol.AnyInstruction) solana.Hash {
	effects := instruction.Effects()
	switch effects.Idempotency {
	case protocol.IdempotencyContent:
		return intentOf(payer, instruction.InstructionName(), effects.Negotiation[:], instruction.AppendData(nil))
	case protocol.IdempotencyAddress:
		return intentOf(payer, instruction.InstructionName(), effects.Negotiation[:])
	case protocol.IdempotencyRandom:
		return solana.Hash{}
	}
	panic(fmt.Sprintf("haggle: %s: idempotency %d", instruction.InstructionName(), effects.Idempotency))
}

// randomKey returns a unique key.
func randomKey() (key solana.Hash) {
	_, _ = rand.Read(key[:]) // it never fails
	return key
}

// maxPrepared is the number of descriptions that are kept. Other transactions can be submitted without one.
const maxPrepared = 1024

// messageHash is a hashed transaction message.
type messageHash [sha256.Size]byte

func hashOf(tx *solana.Transaction) (messageHash, error) {
	message, err := tx.Message.MarshalBinary()
	if err != nil {
		return messageHash{}, fmt.Errorf("haggle: encode the transaction: %w", err)
	}
	return sha256.Sum256(message), nil
}

// keepPrepared stores a transaction's description. The method preparedFor returns it.
func (c *Client) keepPrepared(prepared *preparedTx) error {
	hash, err := hashOf(prepared.transaction)
	if err != nil {
		return err
	}
	kept := *prepared
	kept.transaction = nil
	c.prepared.Put(hash, kept)
	return nil
}

// preparedFor returns a transaction's description. If this client did not build the transaction, the
// description lacks the validity.
func (c *Client) preparedFor(tx *solana.Transaction) (*preparedTx, error) {
	hash, err := hashOf(tx)
	if err != nil {
		return nil, err
	}
	prepared, known := c.prepared.Get(hash)
	prepared.transaction = tx
	if !known {
		prepared.commitment = c.commitment
		prepared.describe()
	}
	return &prepared, nil
}

// describe sets the fields that follow from the first instruction of this program in the transaction.
func (o *preparedTx) describe() {
	// A transaction that lacks a key is sent once, as others are.
	o.key = intentOf(o.Payer(), "submit", o.transaction.Signatures[0][:])
	message := &o.transaction.Message
	for i := range message.Instructions {
		instruction, err := protocol.InstructionIn(message, &message.Instructions[i])
		if err != nil {
			return
		}
		if instruction == nil {
			continue
		}
		o.action, o.negotiation = instruction.InstructionName(), instruction.Effects().Negotiation
		o.intent = intentOf(o.Payer(), o.action, o.negotiation[:], message.Instructions[i].Data)
		if key := keyOf(o.Payer(), instruction); !key.IsZero() {
			o.key = key
		}
		if creation, ok := instruction.(*protocol.CreateNegotiation); ok {
			o.sessionID = creation.SessionID
		}
		return
	}
}

// creationKey returns a creation's idempotency key.
func creationKey(buyer, negotiation solana.PublicKey) solana.Hash {
	return keyOf(buyer, &protocol.CreateNegotiation{Negotiation: negotiation})
}

// knowsCreation reports whether the journal contains a negotiation's creation that is unfinished or
// confirmed.
func (c *Client) knowsCreation(ctx context.Context, buyer, negotiation solana.PublicKey) (bool, error) {
	if c.inFlight == nil {
		return false, nil
	}
	key := creationKey(buyer, negotiation)
	for entry, err := range c.inFlight.journal.Unfinished(ctx, buyer) {
		if err != nil {
			return false, &JournalError{Op: journalUnfinished, Outcome: transaction.NotSent, Err: err}
		}
		// An entry that can no longer be authorized is no creation.
		if entry.Key == key && (entry.Authorized || entry.Leased) {
			return true, nil
		}
	}
	entry, err := c.inFlight.confirmed(ctx, buyer, key, solana.Hash{})
	return entry != nil, err
}

// createdBefore returns [*AlreadyDone] if this buyer already created the negotiation; otherwise nil. It
// replaces the error of a repeated creation that fails because the first creation left too little money.
func (c *Client) createdBefore(ctx context.Context, buyer, negotiation solana.PublicKey) error {
	done, err := c.resolveConflicts(ctx, conflicts{wallet: buyer, key: creationKey(buyer, negotiation)})
	if err != nil || done == nil {
		return err
	}
	receipt, err := c.receiptOf(ctx, done)
	if err != nil {
		return err
	}
	return &AlreadyDone{Action: done.Entry.Action, Negotiation: done.Entry.Negotiation, Receipt: receipt}
}
