package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"golang.org/x/time/rate"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// listPage is the most transactions that a node lists at once.
	listPage = 1000
	// accountPage is the most accounts that a node reads at once.
	accountPage = 100
)

var (
	// errMoved: what the node has just listed is not there any more, or not yet. The next look knows.
	errChainChanged = errors.New("the chain has moved on while it was being read")
	// errBehind: the node answers with less than it, or another one behind the same address, has answered before.
	errBehind = errors.New("the node is behind what it has told before")
)

// node is what the indexer asks a Solana node for.
type node struct {
	rpc        *rpc.Client
	commitment rpc.CommitmentType
	limiter    *rate.Limiter
}

// entry is a successful transaction that mentions the program, as a node lists it.
type entry struct {
	slot      uint64
	signature solana.Signature
	// inBlock is its index in the block; nil when the node does not say.
	inBlock *uint32
}

// page is a part of a node's list, the newest transaction first.
type page struct {
	entries []entry
	// length counts failed transactions too; oldest is the last in the list, also if it has failed.
	length int
	oldest entry
}

func (n *node) slot(ctx context.Context, commitment rpc.CommitmentType) (uint64, error) {
	if err := n.limiter.Wait(ctx); err != nil {
		return 0, err
	}
	slot, err := n.rpc.GetSlot(ctx, commitment)
	if err == nil && slot > math.MaxInt64 {
		err = fmt.Errorf("the node answers with slot %d", slot)
	}
	return slot, err
}

func (n *node) genesis(ctx context.Context) (string, error) {
	if err := n.limiter.Wait(ctx); err != nil {
		return "", err
	}
	hash, err := n.rpc.GetGenesisHash(ctx)
	return hash.String(), err
}

// list is a page of the transactions before one and after another; zero signatures are none. A node that has not come as far as a
// slot must not answer, for several nodes can be behind one address: what it does not list yet would pass for what is not there.
func (n *node) list(ctx context.Context, before, until solana.Signature, commitment rpc.CommitmentType, notBefore uint64) (page, error) {
	if err := n.limiter.Wait(ctx); err != nil {
		return page{}, err
	}
	limit := listPage
	listed, err := n.rpc.GetSignaturesForAddressWithOpts(ctx, protocol.ProgramID, &rpc.GetSignaturesForAddressOpts{
		Limit: &limit, Before: before, Until: until, Commitment: commitment, MinContextSlot: &notBefore,
	})
	if err != nil {
		return page{}, behindOr(err)
	}
	found := page{length: len(listed)}
	last := uint64(math.MaxInt64)
	for _, item := range listed {
		if item == nil || item.Signature.IsZero() {
			return page{}, errors.New("the node lists a transaction without saying which")
		}
		if item.Slot > last {
			return page{}, fmt.Errorf("the node lists slot %d after slot %d", item.Slot, last)
		}
		last = item.Slot
		found.oldest = entry{item.Slot, item.Signature, item.TransactionIndex}
		if item.Err == nil {
			found.entries = append(found.entries, found.oldest)
		}
	}
	return found, nil
}

// notThereYet is the number with which a node says that it has not come as far as the slot that was asked for.
const notThereYet = -32016

func behindOr(err error) error {
	var refused *haggle.NodeError
	if errors.As(err, &refused) && refused.Code == notThereYet {
		return fmt.Errorf("%w: %w", errBehind, err)
	}
	return err
}

// block is what identifies a block.
type block struct {
	hash      string
	parent    uint64
	time      *int64
	signature map[solana.Signature]int
}

// block reads a block at a commitment, with the order of its transactions if wanted. It fails with errMoved if there is none.
func (n *node) block(ctx context.Context, slot uint64, commitment rpc.CommitmentType, ordered bool) (block, error) {
	if err := n.limiter.Wait(ctx); err != nil {
		return block{}, err
	}
	details, rewards, newest := rpc.TransactionDetailsNone, false, uint64(math.MaxUint8)
	if ordered {
		details = rpc.TransactionDetailsSignatures
	}
	answer, err := n.rpc.GetBlockWithOpts(ctx, slot, &rpc.GetBlockOpts{
		TransactionDetails: details, Rewards: &rewards, Commitment: commitment, MaxSupportedTransactionVersion: &newest,
	})
	if errors.Is(err, rpc.ErrNotConfirmed) || errors.Is(err, rpc.ErrNotFound) || isSkipped(err) {
		return block{}, fmt.Errorf("slot %d: %w", slot, errChainChanged)
	}
	if err != nil {
		return block{}, err
	}
	read := block{hash: answer.Blockhash.String(), parent: answer.ParentSlot, signature: make(map[solana.Signature]int, len(answer.Signatures))}
	if answer.BlockTime != nil {
		seconds := answer.BlockTime.Time().Unix()
		read.time = &seconds
	}
	for i, signature := range answer.Signatures {
		read.signature[signature] = i
	}
	return read, nil
}

// Numbers with which a node says that it has no block for a slot: not yet, or because the slot was skipped.
var noBlock = []int{-32004, -32007, -32009, -32014}

func isSkipped(err error) bool {
	var refused *haggle.NodeError
	return errors.As(err, &refused) && slices.Contains(noBlock, refused.Code)
}

// transaction reads a transaction that is listed in a slot. It fails with errMoved if it is not there.
func (n *node) transaction(ctx context.Context, listed entry) (*rpc.GetTransactionResult, error) {
	if err := n.limiter.Wait(ctx); err != nil {
		return nil, err
	}
	newest := uint64(math.MaxUint8)
	found, err := n.rpc.GetTransaction(ctx, listed.signature, &rpc.GetTransactionOpts{
		Encoding: solana.EncodingBase64, Commitment: n.commitment, MaxSupportedTransactionVersion: &newest,
	})
	if errors.Is(err, rpc.ErrNotFound) {
		return nil, fmt.Errorf("transaction %s: %w", listed.signature, errChainChanged)
	}
	if err != nil {
		return nil, err
	}
	if found.Meta == nil || found.Transaction == nil {
		return nil, fmt.Errorf("the node answers without the details of transaction %s", listed.signature)
	}
	if found.Slot != listed.slot || found.Meta.Err != nil {
		return nil, fmt.Errorf("transaction %s: %w", listed.signature, errChainChanged)
	}
	return found, nil
}

// isAt says whether a transaction has succeeded in a slot, as of another slot or later.
func (n *node) isAt(ctx context.Context, signature solana.Signature, slot, notBefore uint64) (bool, error) {
	status, err := n.status(ctx, signature, notBefore)
	return status != nil && status.Slot == slot && status.Err == nil, err
}

// knows says whether a transaction is still where it was listed, successful or not, as of a slot or later.
func (n *node) knows(ctx context.Context, listed entry, notBefore uint64) (bool, error) {
	status, err := n.status(ctx, listed.signature, notBefore)
	return status != nil && status.Slot == listed.slot, err
}

// status is nil for a transaction that is not confirmed.
func (n *node) status(ctx context.Context, signature solana.Signature, notBefore uint64) (*rpc.SignatureStatusesResult, error) {
	if err := n.limiter.Wait(ctx); err != nil {
		return nil, err
	}
	answer, err := n.rpc.GetSignatureStatuses(ctx, true, signature)
	if errors.Is(err, rpc.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(answer.Value) != 1 {
		return nil, fmt.Errorf("the node answers with %d statuses instead of one", len(answer.Value))
	}
	if answer.Context.Slot < notBefore {
		return nil, fmt.Errorf("a status of slot %d, wanted that of %d: %w", answer.Context.Slot, notBefore, errBehind)
	}
	if status := answer.Value[0]; status != nil && status.ConfirmationStatus != rpc.ConfirmationStatusProcessed {
		return status, nil
	}
	return nil, nil
}

// account is a negotiation's account at a slot; nil if there is none.
type account struct {
	state *protocol.Negotiation
	slot  uint64
}

// accounts reads negotiations at a slot not before the given one. What is at an address and is no negotiation counts as nothing.
func (n *node) accounts(ctx context.Context, addresses []solana.PublicKey, commitment rpc.CommitmentType, notBefore uint64) (map[solana.PublicKey]account, error) {
	read := make(map[solana.PublicKey]account, len(addresses))
	for part := range slices.Chunk(addresses, accountPage) {
		if err := n.limiter.Wait(ctx); err != nil {
			return nil, err
		}
		answer, err := n.rpc.GetMultipleAccountsWithOpts(ctx, part, &rpc.GetMultipleAccountsOpts{Commitment: commitment, Encoding: solana.EncodingBase64})
		if err != nil {
			return nil, err
		}
		if len(answer.Value) != len(part) {
			return nil, fmt.Errorf("the node answers with %d accounts instead of %d", len(answer.Value), len(part))
		}
		if answer.Context.Slot < notBefore {
			return nil, fmt.Errorf("accounts of slot %d, wanted those of %d: %w", answer.Context.Slot, notBefore, errBehind)
		}
		for i, found := range answer.Value {
			read[part[i]] = account{decoded(found), answer.Context.Slot}
		}
	}
	return read, nil
}

func decoded(found *rpc.Account) *protocol.Negotiation {
	if found == nil || found.Data == nil || found.Owner != protocol.ProgramID {
		return nil
	}
	state := new(protocol.Negotiation)
	if state.Decode(found.Data.GetBinary()) != nil || state.Version != protocol.NegotiationVersion {
		return nil
	}
	return state
}

// arrange puts a slot's transactions into their order in the block.
func arrange(entries []entry, read block) error {
	if len(entries) == 1 {
		return nil
	}
	place := make(map[solana.Signature]int, len(entries))
	for _, item := range entries {
		if item.inBlock != nil {
			place[item.signature] = int(*item.inBlock)
			continue
		}
		at, is := read.signature[item.signature]
		if !is {
			return fmt.Errorf("transaction %s is not in the block of slot %d: %w", item.signature, item.slot, errChainChanged)
		}
		place[item.signature] = at
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(place[a.signature], place[b.signature]) })
	return nil
}
