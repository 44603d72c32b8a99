package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"golang.org/x/time/rate"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// accountPage is the maximum number of accounts in a request.
const accountPage = 100

// node sends the indexer's requests.
type node struct {
	rpc        *rpc.Client
	commitment rpc.CommitmentType
}

// limited sends a client's requests at a limited rate.
type limited struct {
	client  *rpc.Client
	limiter *rate.Limiter
}

func (l limited) CallForInto(ctx context.Context, out any, method string, params []any) error {
	if err := l.limiter.Wait(ctx); err != nil {
		return err
	}
	return l.client.RPCCallForInto(ctx, out, method, params)
}

func (l limited) CallWithCallback(
	ctx context.Context, method string, params []any, callback func(*http.Request, *http.Response) error,
) error {
	return l.client.RPCCallWithCallback(ctx, method, params, callback)
}

func (l limited) CallBatch(ctx context.Context, requests jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	return l.client.RPCCallBatch(ctx, requests)
}

func (n *node) slot(ctx context.Context, commitment rpc.CommitmentType) (uint64, error) {
	slot, err := n.rpc.GetSlot(ctx, commitment)
	if err == nil && slot > math.MaxInt64 {
		err = fmt.Errorf("the node answers with slot %d", slot)
	}
	return slot, err
}

func (n *node) genesis(ctx context.Context) (string, error) {
	hash, err := n.rpc.GetGenesisHash(ctx)
	return hash.String(), err
}

// block identifies a block.
type block struct {
	hash      string
	parent    uint64
	time      *int64
	signature map[solana.Signature]int
}

// block reads a block at a commitment, with the transaction order if ordered is set. It returns
// transaction.ErrChainChanged if the block does not exist.
func (n *node) block(ctx context.Context, slot uint64, commitment rpc.CommitmentType, ordered bool) (block, error) {
	details, rewards, newest := rpc.TransactionDetailsNone, false, uint64(math.MaxUint8)
	if ordered {
		details = rpc.TransactionDetailsSignatures
	}
	answer, err := n.rpc.GetBlockWithOpts(ctx, slot, &rpc.GetBlockOpts{
		TransactionDetails: details, Rewards: &rewards, Commitment: commitment, MaxSupportedTransactionVersion: &newest,
	})
	if errors.Is(err, rpc.ErrNotConfirmed) || errors.Is(err, rpc.ErrNotFound) || isSkipped(err) {
		return block{}, fmt.Errorf("slot %d: %w", slot, transaction.ErrChainChanged)
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

// noBlock lists the error codes of a node that lacks the block for a slot, not yet or because the slot was
// skipped.
var noBlock = []int{-32004, -32007, -32009, -32014}

func isSkipped(err error) bool {
	var refused *transaction.NodeError
	return errors.As(err, &refused) && slices.Contains(noBlock, refused.Code)
}

// transaction reads a listed transaction. It returns transaction.ErrChainChanged if it is not in that slot.
func (n *node) transaction(ctx context.Context, listed transaction.Listed) (*rpc.GetTransactionResult, error) {
	newest := uint64(math.MaxUint8)
	found, err := n.rpc.GetTransaction(ctx, listed.Signature, &rpc.GetTransactionOpts{
		Encoding: solana.EncodingBase64, Commitment: n.commitment, MaxSupportedTransactionVersion: &newest,
	})
	if errors.Is(err, rpc.ErrNotFound) {
		return nil, fmt.Errorf("transaction %s: %w", listed.Signature, transaction.ErrChainChanged)
	}
	if err != nil {
		return nil, err
	}
	if found.Meta == nil || found.Transaction == nil {
		return nil, fmt.Errorf("the node answers without the details of transaction %s", listed.Signature)
	}
	if found.Slot != listed.Slot || found.Meta.Err != nil {
		return nil, fmt.Errorf("transaction %s: %w", listed.Signature, transaction.ErrChainChanged)
	}
	return found, nil
}

// isAt reports whether a transaction succeeded in a slot, as of the slot notBefore or later.
func (n *node) isAt(ctx context.Context, signature solana.Signature, slot, notBefore uint64) (bool, error) {
	answer, err := n.rpc.GetSignatureStatuses(ctx, true, signature)
	if errors.Is(err, rpc.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if len(answer.Value) != 1 {
		return false, fmt.Errorf("the node answers with %d statuses instead of one", len(answer.Value))
	}
	if answer.Context.Slot < notBefore {
		return false, fmt.Errorf("a status of slot %d, wanted that of %d: %w", answer.Context.Slot, notBefore, transaction.ErrBehind)
	}
	status := answer.Value[0]
	return status != nil && status.ConfirmationStatus != rpc.ConfirmationStatusProcessed &&
		status.Slot == slot && status.Err == nil, nil
}

// account is a negotiation account at a slot. state is nil if the account does not exist.
type account struct {
	state *protocol.Negotiation
	slot  uint64
}

// accounts reads negotiations at slot notBefore or later. It treats any other account as missing.
func (n *node) accounts(ctx context.Context, addresses []solana.PublicKey, commitment rpc.CommitmentType, notBefore uint64) (map[solana.PublicKey]account, error) {
	read := make(map[solana.PublicKey]account, len(addresses))
	for part := range slices.Chunk(addresses, accountPage) {
		answer, err := n.rpc.GetMultipleAccountsWithOpts(ctx, part, &rpc.GetMultipleAccountsOpts{Commitment: commitment, Encoding: solana.EncodingBase64})
		if err != nil {
			return nil, err
		}
		if len(answer.Value) != len(part) {
			return nil, fmt.Errorf("the node answers with %d accounts instead of %d", len(answer.Value), len(part))
		}
		if answer.Context.Slot < notBefore {
			return nil, fmt.Errorf("accounts of slot %d, wanted those of %d: %w", answer.Context.Slot, notBefore, transaction.ErrBehind)
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
func sortByBlock(entries []transaction.Listed, read block) error {
	if len(entries) == 1 {
		return nil
	}
	place := make(map[solana.Signature]int, len(entries))
	for _, item := range entries {
		if item.Index != nil {
			place[item.Signature] = int(*item.Index)
			continue
		}
		at, is := read.signature[item.Signature]
		if !is {
			return fmt.Errorf("transaction %s is not in the block of slot %d: %w", item.Signature, item.Slot, transaction.ErrChainChanged)
		}
		place[item.Signature] = at
	}
	slices.SortFunc(entries, func(a, b transaction.Listed) int { return cmp.Compare(place[a.Signature], place[b.Signature]) })
	return nil
}
