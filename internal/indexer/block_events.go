package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/jsonview"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// logsTruncated names a row that replaces an instruction's unknown events.
const logsTruncated = "LogsTruncated"

// readSlot is a slot and the program's transactions in it.
type readSlot struct {
	slot         uint64
	block        block
	final        bool
	transactions []readTransaction
}

type readTransaction struct {
	signature string
	events    []readEvent
	// logStatus says why the logs lack events, the column flaw; empty if they lack none.
	logStatus string
	logs      string
	// decimals holds the mint decimals for all token accounts, by mint address.
	decimals map[string]uint8
	// calls holds the program's instructions if the events can be rebuilt from them.
	calls []call
}

// readEvent is an event, or a placeholder for unknown events.
type readEvent struct {
	name        string
	instruction *int
	negotiation *solana.PublicKey
	// begins is set for the event that creates a negotiation.
	begins    bool
	timestamp *int64
	fields    string
	data      []byte
	// rebuilt reports that the event is not in the logs. metadata belongs to a submitted or accepted offer.
	rebuilt  bool
	metadata []byte
}

// parallelReads is the number of slots read concurrently.
const parallelReads = 8

// readSlots reads slots, each a list of entries. If a slot fails, it returns the slots before it and the
// error. Slots no later than final are read at commitment finalized.
func (n *node) readSlots(ctx context.Context, listed [][]transaction.Listed, final uint64) ([]readSlot, error) {
	slots, failures := make([]readSlot, len(listed)), make([]error, len(listed))
	var running errgroup.Group
	running.SetLimit(parallelReads)
	for i, entries := range listed {
		running.Go(func() error {
			slots[i], failures[i] = n.readSlot(ctx, slices.Clone(entries), final)
			return nil // Slots before a failed one are used.
		})
	}
	_ = running.Wait()
	for i, err := range failures {
		if err != nil {
			return slots[:i], err
		}
	}
	return slots, nil
}

func (n *node) readSlot(ctx context.Context, entries []transaction.Listed, final uint64) (readSlot, error) {
	read := readSlot{slot: entries[0].Slot, final: entries[0].Slot <= final}
	commitment := n.commitment
	if read.final {
		commitment = rpc.CommitmentFinalized
	}
	unordered := func(item transaction.Listed) bool { return item.Index == nil }
	var err error
	if read.block, err = n.block(ctx, read.slot, commitment, len(entries) > 1 && slices.ContainsFunc(entries, unordered)); err != nil {
		return readSlot{}, err
	}
	if err := sortByBlock(entries, read.block); err != nil {
		return readSlot{}, err
	}
	for _, item := range entries {
		found, err := n.transaction(ctx, item)
		if err != nil {
			return readSlot{}, err
		}
		transaction, err := readLogs(found)
		if err != nil {
			return readSlot{}, fmt.Errorf("transaction %s: %w", item.Signature, err)
		}
		transaction.signature = item.Signature.String()
		read.transactions = append(read.transactions, transaction)
	}
	return read, nil
}

// readLogs returns a transaction's events with their instruction indices.
func readLogs(found *rpc.GetTransactionResult) (readTransaction, error) {
	events, problem := protocol.ParseLogs(found.Meta.LogMessages)
	read := readTransaction{logStatus: logStatusOf(problem), decimals: mintDecimals(found.Meta)}
	// A transaction with a later version number is nil here. The logs are still readable.
	transaction, _ := found.Transaction.GetTransaction()
	indices := instructionsOf(found.Meta.LogMessages, len(events), transaction)
	calls, complete := callsOf(transaction, found.Meta)
	for i, event := range events {
		stored, err := storedEvent(event)
		if err != nil {
			return read, err
		}
		stored.instruction, stored.metadata = indices[i], metadataOf(event, calls)
		read.events = append(read.events, stored)
	}
	if read.logStatus == "" {
		return read, nil
	}
	if transaction != nil && len(calls) == 0 && len(events) == 0 && read.logStatus != statusUnknown {
		// The logs are of another program, which mentions this one and does not call it.
		return readTransaction{}, nil
	}
	if complete && read.logStatus != statusUnknown {
		read.calls = calls
	}
	var rows []readEvent
	for i := range calls {
		row, err := calls[i].placeholder()
		if err != nil {
			return read, err
		}
		rows = append(rows, row)
	}
	read.events = addPlaceholders(read.events, rows)
	logs, err := json.Marshal(found.Meta.LogMessages)
	read.logs = string(logs)
	return read, err
}

// addPlaceholders adds the placeholders for unknown events. If a creation event is logged, the placeholder
// does not count as a second creation.
func addPlaceholders(events, rows []readEvent) []readEvent {
	for _, row := range rows {
		isLogged := func(event readEvent) bool { return event.begins && *event.negotiation == *row.negotiation }
		row.begins = row.begins && !slices.ContainsFunc(events, isLogged)
		events = append(events, row)
	}
	return events
}

// Reasons why transaction logs lack events.
const (
	statusTruncated = "truncated"
	statusMalformed = "malformed"
	statusUnknown   = "unknown event"
)

func logStatusOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, protocol.ErrLogsTruncated):
		return statusTruncated
	case errors.Is(err, protocol.ErrMalformedLogs):
		return statusMalformed
	}
	return statusUnknown
}

func storedEvent(event protocol.Event) (readEvent, error) {
	object, err := json.Marshal(jsonview.Of(event))
	if err != nil {
		return readEvent{}, err
	}
	stored := readEvent{name: event.EventName(), fields: string(object), data: event.AppendTo(nil)}
	if address, is := event.NegotiationAddress(); is {
		stored.negotiation = &address
	}
	_, stored.begins = event.(*protocol.NegotiationCreated)
	if timestamp := reflect.ValueOf(event).Elem().FieldByName("Timestamp"); timestamp.IsValid() {
		seconds := timestamp.Int()
		stored.timestamp = &seconds
	}
	return stored, nil
}

// unloggedPrograms lists programs that validators run natively and do not log.
var unloggedPrograms = []solana.PublicKey{
	solana.MustPublicKeyFromBase58("Ed25519SigVerify111111111111111111111111111"),
	solana.MustPublicKeyFromBase58("KeccakSecp256k11111111111111111111111111111"),
	solana.MustPublicKeyFromBase58("Secp256r1SigVerify1111111111111111111111111"),
}

// instructionsOf returns the index of the instruction of each event; nil if the logs do not match the
// transaction.
func instructionsOf(logs []string, events int, transaction *solana.Transaction) []*int {
	indices := make([]*int, events)
	if transaction == nil {
		return indices
	}
	var loggedInstructions []int
	for i, instruction := range transaction.Message.Instructions {
		// Programs are among the transaction's own accounts, never in a lookup table.
		if int(instruction.ProgramIDIndex) >= len(transaction.Message.AccountKeys) {
			return indices
		}
		if !slices.Contains(unloggedPrograms, transaction.Message.AccountKeys[instruction.ProgramIDIndex]) {
			loggedInstructions = append(loggedInstructions, i)
		}
	}
	assigned := 0
	for i, lines := range outermost(logs) {
		own, _ := protocol.ParseLogs(lines)
		for range own {
			if i >= len(loggedInstructions) || assigned == events {
				return make([]*int, events)
			}
			indices[assigned] = &loggedInstructions[i]
			assigned++
		}
	}
	if assigned != events {
		return make([]*int, events)
	}
	return indices
}

// outermost divides logs by the transaction's instructions.
func outermost(logs []string) (parts [][]string) {
	for _, line := range logs {
		if strings.HasPrefix(line, "Program ") && strings.HasSuffix(line, " invoke [1]") {
			parts = append(parts, nil)
		}
		if last := len(parts) - 1; last >= 0 {
			parts[last] = append(parts[last], line)
		}
	}
	return parts
}
