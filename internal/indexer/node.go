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

	sdknode "github.com/haggle-protocol/haggle/sdk/node"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// listPage is the maximum number of transactions in a list of a node.
	listPage = 1000
	// accountPage is the maximum number of accounts in a request.
	accountPage = 100
)

var (
	// errChainChanged means that a listed transaction or block no longer exists, or not yet. The next poll
	// reads it.
	errChainChanged = errors.New("the chain changed during the poll")
	// errBehind means that the node lags behind an earlier answer, which can be another node's at the same
	// address.
	errBehind = errors.New("the node lags behind its earlier answer")
)

// node sends the indexer's requests.
type node struct {
	rpc        *rpc.Client
	commitment rpc.CommitmentType
	limiter    *rate.Limiter
}

// entry is a successful transaction that mentions the program, in a node's list.
type entry struct {
	slot      uint64
	signature solana.Signature
	// inBlock is its index in the block; nil if the node does not return it.
	inBlock *uint32
}

// page is a part of a node's list, the newest transaction first.
type page struct {
	entries []entry
	// length counts failed transactions too. oldest is the last in the list, failed or not.
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

// list returns a page of the transactions before one and after another; a zero signature is no limit. A node
// that has not reached notBefore returns an error: several nodes can share one address, and a lagging one
// lists less.
func (n *node) list(ctx context.Context, before, until solana.Signature, commitment rpc.CommitmentType, notBefore uint64) (page, error) {
	if err := n.limiter.Wait(ctx); err != nil {
		return page{}, err
	}
	limit := listPage
	listed, err := n.rpc.GetSignaturesForAddressWithOpts(ctx, protocol.ProgramID, &rpc.GetSignaturesForAddressOpts{
		Limit: &limit, Before: before, Until: until, Commitment: commitment, MinContextSlot: &notBefore,
	})
	if err != nil {
		return page{}, asBehind(err)
	}
	found := page{length: len(listed)}
	last := uint64(math.MaxInt64)
	for _, item := range listed {
		if item == nil || item.Signature.IsZero() {
			return page{}, errors.New("the node lists a transaction without a signature")
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

// minContextSlotNotReached is a node's error code if it has not reached the minimum slot of a request.
const minContextSlotNotReached = -32016

func asBehind(err error) error {
	var refused *sdknode.Error
	if errors.As(err, &refused) && refused.Code == minContextSlotNotReached {
		return fmt.Errorf("%w: %w", errBehind, err)
	}
	return err
}

// block identifies a block.
type block struct {
	hash      string
	parent    uint64
	time      *int64
	signature map[solana.Signature]int
}

// block reads a block at a commitment, with the order of its transactions if ordered is set. It returns
// errChainChanged if there is no block.
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

// noBlock are a node's error codes if it has no block for a slot, not yet or because the slot was skipped.
var noBlock = []int{-32004, -32007, -32009, -32014}

func isSkipped(err error) bool {
	var refused *sdknode.Error
	return errors.As(err, &refused) && slices.Contains(noBlock, refused.Code)
}

// transaction reads a listed transaction. It returns errChainChanged if it is not in that slot.
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

// isAt reports whether a transaction succeeded in a slot, as of the slot notBefore or later.
func (n *node) isAt(ctx context.Context, signature solana.Signature, slot, notBefore uint64) (bool, error) {
	status, err := n.status(ctx, signature, notBefore)
	return status != nil && status.Slot == slot && status.Err == nil, err
}

// exists reports whether a transaction is still in its listed slot, successful or not, as of the slot
// notBefore or later.
func (n *node) exists(ctx context.Context, listed entry, notBefore uint64) (bool, error) {
	status, err := n.status(ctx, listed.signature, notBefore)
	return status != nil && status.Slot == listed.slot, err
}

// status returns a transaction's status; nil if it is not confirmed.
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

// account is a negotiation's account at a slot. state is nil if there is no account.
type account struct {
	state *protocol.Negotiation
	slot  uint64
}

// accounts reads negotiations at a slot not before notBefore. It treats any other account as missing.
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

// sortByBlock sorts a slot's transactions by their order in the block.
func sortByBlock(entries []entry, read block) error {
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
