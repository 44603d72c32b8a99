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

// landed is a transaction in a block, successful or failed.
type landed struct {
	slot      uint64
	signature solana.Signature
	failed    bool
	// payer is the first account; fee is in lamports.
	payer solana.PublicKey
	fee   uint64
	// writable and readOnly are all accounts of the message.
	writable, readOnly []solana.PublicKey
	// instruction names the program's instruction. It is empty if the transaction contains none.
	instruction string
	events      []protocol.Event
}

// blockReader reads every confirmed block during the run, because test validators delete blocks within
// minutes.
type blockReader struct {
	client *rpc.Client
	// next is the first unread slot.
	next      uint64
	finishing chan struct{}
	// program contains the transactions that name the program, and plain all others except votes, in block
	// order.
	program, plain []landed
	blocks         int
	// lasted is the time from the start to the call of finish.
	lasted time.Duration
	began  time.Time
}

// readBlocksFromNow returns a reader that starts after the newest confirmed block.
func readBlocksFromNow(ctx context.Context, client *rpc.Client) (*blockReader, error) {
	slot, err := client.GetSlot(ctx, rpc.CommitmentConfirmed)
	if err != nil {
		return nil, err
	}
	return &blockReader{client: client, next: slot + 1, finishing: make(chan struct{}), began: time.Now()},
		nil
}

// finish makes follow return once it has read every block confirmed by now.
func (b *blockReader) finish() {
	b.lasted = time.Since(b.began)
	close(b.finishing)
}

// pollInterval is the pause between requests for new blocks.
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

// listTimeout is the time limit for the node to list a block that it reports as confirmed.
const listTimeout = 10 * time.Second

// readTo reads all blocks up to a slot containing a confirmed block.
func (b *blockReader) readTo(ctx context.Context, newest uint64) error {
	for began := time.Now(); b.next <= newest; {
		if time.Since(began) > listTimeout {
			return fmt.Errorf("node does not list the block of slot %d", newest)
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
			return errors.New("transaction without status")
		}
		if err := b.classify(slot, transaction, meta); err != nil {
			return err
		}
	}
	return nil
}

func (b *blockReader) classify(slot uint64, transaction *solana.Transaction,
	meta *rpc.TransactionMeta) error {
	keys := transaction.Message.AccountKeys
	if slices.Contains(keys, solana.VoteProgramID) {
		return nil
	}
	if transaction.Message.NumLookups() > 0 {
		return fmt.Errorf("%s: address lookup tables are not supported", transaction.Signatures[0])
	}
	found := landed{
		slot: slot, signature: transaction.Signatures[0], failed: meta.Err != nil, payer: keys[0],
		fee: meta.Fee,
	}
	var err error
	if found.writable, err = transaction.Message.Writable(); err != nil {
		return fmt.Errorf("%s: %w", found.signature, err)
	}
	found.readOnly = slices.DeleteFunc(slices.Clone(keys),
		func(key solana.PublicKey) bool { return slices.Contains(found.writable, key) })
	if !slices.Contains(keys, protocol.ProgramID) {
		b.plain = append(b.plain, found)
		return nil
	}
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

// instructionIn returns the name of the program's only instruction in a transaction.
func instructionIn(transaction *solana.Transaction) (string, error) {
	name, message := "", &transaction.Message
	for i := range message.Instructions {
		decoded, err := protocol.InstructionIn(message, &message.Instructions[i])
		if err != nil {
			return "", fmt.Errorf("%s: %w", transaction.Signatures[0], err)
		}
		if decoded == nil {
			continue
		}
		if name != "" {
			return "", fmt.Errorf("%s: two instructions of the program", transaction.Signatures[0])
		}
		name = decoded.InstructionName()
	}
	return name, nil
}
