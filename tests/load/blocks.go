package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A landed transaction is one of a block's, whether it has succeeded or not.
type landed struct {
	slot      uint64
	signature solana.Signature
	failed    bool
	// payer is the first account; fee is in lamports.
	payer solana.PublicKey
	fee   uint64
	// writable and readOnly are all its accounts, as its message's header divides them.
	writable, readOnly []solana.PublicKey
	// instruction is the name of the program's instruction in it; empty for another program's transaction.
	instruction string
	events      []protocol.Event
}

// blockReader reads every block that is confirmed, while they are made: a test validator forgets old ones within minutes.
type blockReader struct {
	client *rpc.Client
	// next is the first slot that has not been read.
	next      uint64
	finishing chan struct{}
	// program are the transactions that name the program, plain all others but votes, in the order of the blocks.
	program, plain []landed
	blocks         int
	// lasted is the time from the beginning to finish.
	lasted time.Duration
	began  time.Time
}

// readBlocksFromNow begins after the newest confirmed block.
func readBlocksFromNow(ctx context.Context, client *rpc.Client) (*blockReader, error) {
	slot, err := client.GetSlot(ctx, rpc.CommitmentConfirmed)
	if err != nil {
		return nil, err
	}
	return &blockReader{client: client, next: slot + 1, finishing: make(chan struct{}), began: time.Now()}, nil
}

// finish has follow return once it has read all that is confirmed by now.
func (b *blockReader) finish() {
	b.lasted = time.Since(b.began)
	close(b.finishing)
}

// pollInterval is how often new blocks are looked for.
const pollInterval = time.Second

func (b *blockReader) follow(ctx context.Context) error {
	for {
		finishing := false
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-b.finishing:
			finishing = true
		case <-time.After(pollInterval):
		}
		newest, err := b.client.GetSlot(ctx, rpc.CommitmentConfirmed)
		if err != nil {
			return err
		}
		if err := b.readTo(ctx, newest); err != nil {
			return err
		}
		if finishing {
			return nil
		}
	}
}

// listTimeout is how long the node may take to list a block that it calls confirmed.
const listTimeout = 10 * time.Second

// readTo reads up to a slot that has a confirmed block.
func (b *blockReader) readTo(ctx context.Context, newest uint64) error {
	for began := time.Now(); b.next <= newest; {
		if time.Since(began) > listTimeout {
			return fmt.Errorf("the node does not list the block of slot %d", newest)
		}
		slots, err := b.client.GetBlocks(ctx, b.next, &newest, rpc.CommitmentConfirmed)
		if err != nil {
			return err
		}
		for _, slot := range slots {
			if err := b.read(ctx, slot); err != nil {
				return fmt.Errorf("block %d: %w", slot, err)
			}
			b.next = slot + 1
			began = time.Now()
		}
		if len(slots) == 0 {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(pollInterval / 10):
			}
		}
	}
	return nil
}

func (b *blockReader) read(ctx context.Context, slot uint64) error {
	noRewards, newest := false, uint64(0)
	block, err := b.client.GetBlockWithOpts(ctx, slot, &rpc.GetBlockOpts{
		Encoding: solana.EncodingBase64, TransactionDetails: rpc.TransactionDetailsFull, Rewards: &noRewards,
		Commitment: rpc.CommitmentConfirmed, MaxSupportedTransactionVersion: &newest,
	})
	if err != nil {
		return err
	}
	b.blocks++
	for i := range block.Transactions {
		transaction, err := block.Transactions[i].GetTransaction()
		if err != nil {
			return err
		}
		meta := block.Transactions[i].Meta
		if meta == nil {
			return errors.New("a transaction without its status")
		}
		if err := b.classify(slot, transaction, meta); err != nil {
			return err
		}
	}
	return nil
}

func (b *blockReader) classify(slot uint64, transaction *solana.Transaction, meta *rpc.TransactionMeta) error {
	keys := transaction.Message.AccountKeys
	if slices.Contains(keys, solana.VoteProgramID) {
		return nil
	}
	if transaction.Message.NumLookups() > 0 {
		return fmt.Errorf("%s looks accounts up in a table, so its message does not name them all", transaction.Signatures[0])
	}
	found := landed{
		slot: slot, signature: transaction.Signatures[0], failed: meta.Err != nil, payer: keys[0], fee: meta.Fee,
	}
	found.writable, found.readOnly = splitAccounts(&transaction.Message)
	if !slices.Contains(keys, protocol.ProgramID) {
		b.plain = append(b.plain, found)
		return nil
	}
	var err error
	if found.instruction, err = instructionIn(transaction); err != nil {
		return err
	}
	if !found.failed {
		if found.events, err = protocol.ParseLogs(meta.LogMessages); err != nil {
			return fmt.Errorf("%s: %w", found.signature, err)
		}
	}
	b.program = append(b.program, found)
	return nil
}

// divide tells the accounts of a message apart by its header alone: signers come first, and of the signers as of the others the
// read-only ones last.
func splitAccounts(message *solana.Message) (writable, readOnly []solana.PublicKey) {
	signers := int(message.Header.NumRequiredSignatures)
	writableSigners := signers - int(message.Header.NumReadonlySignedAccounts)
	writableEnd := len(message.AccountKeys) - int(message.Header.NumReadonlyUnsignedAccounts)
	for i, key := range message.AccountKeys {
		if i < writableSigners || i >= signers && i < writableEnd {
			writable = append(writable, key)
		} else {
			readOnly = append(readOnly, key)
		}
	}
	return writable, readOnly
}

// instructionIn is the name of the program's one instruction in a transaction.
func instructionIn(transaction *solana.Transaction) (string, error) {
	name := ""
	for _, compiled := range transaction.Message.Instructions {
		if transaction.Message.AccountKeys[compiled.ProgramIDIndex] != protocol.ProgramID {
			continue
		}
		accounts, err := compiled.ResolveInstructionAccounts(&transaction.Message)
		if err != nil {
			return "", err
		}
		decoded, err := protocol.DecodeInstruction(accounts, compiled.Data)
		if err != nil {
			return "", fmt.Errorf("%s: %w", transaction.Signatures[0], err)
		}
		if name != "" {
			return "", fmt.Errorf("%s has two instructions of the program's", transaction.Signatures[0])
		}
		name = decoded.InstructionName()
	}
	return name, nil
}
