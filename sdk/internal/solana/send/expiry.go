package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ErrPruned: the transaction is no longer valid, and no node keeps the blocks that would show whether it was
// executed.
var ErrPruned = errors.New("node has deleted the blocks that the transaction could be in: use a node with a longer history")

// expiry is a node's verdict on a transaction's expiry.
type expiry int

const (
	// expiryUnreachable: the node did not respond.
	expiryUnreachable expiry = iota
	// expiryOpen: the node responded and proves nothing, because it is behind.
	expiryOpen
	// expiryRefuted: the transaction can be executed, or was.
	expiryRefuted
	// expiryUnprovable: it is no longer valid, and the node would not know if it was executed.
	expiryUnprovable
	// expiryProven: it is no longer valid, and was not executed.
	expiryProven
)

const (
	// minimumAge is the age by the local clock below which a transaction with a blockhash does not count as
	// expired, whatever the nodes say. A blockhash lives for 150 blocks: 60 s at the nominal 400 ms per slot,
	// 90 s at 600 ms. It does not apply to durable nonces.
	minimumAge = 90 * time.Second
	// expiryLimit is how long a node may take for its verdict.
	expiryLimit = 10 * time.Second
	// contradictionTimeout limits the time for all nodes together to find a transaction's details.
	contradictionTimeout = 5 * time.Second
	// contradictionAge is how long nodes may differ, as they do while some are slightly behind, before that
	// is logged.
	contradictionAge = 15 * time.Second
)

// verdict is a transaction's expiry according to a node, with the reason in the client's own words.
type verdict struct {
	host   string
	expiry expiry
	text   string
	status *rpc.SignatureStatusesResult
	// pruned is the error for expiryUnprovable.
	pruned error
}

// hasExpired reports whether the transaction is no longer valid and was not executed. It is old enough, no
// node that responds refutes it or leaves it open, and at least one node proves all of it alone: the
// responses of several nodes need not be consistent, because the node with the old blocks and the node
// without a status may be different nodes. If any node returns a status, that status is returned instead,
// even if the node is behind.
//
// It fails if the expiry is no longer provable.
func (p *Pending) hasExpired(
	ctx context.Context,
) (expired bool, status *rpc.SignatureStatusesResult, err error) {
	verdicts := p.verdicts(ctx)
	p.recordContradiction(verdicts)
	proven := false
	for _, v := range verdicts {
		switch {
		case v.status != nil && (status == nil || p.reached(v.status)):
			status = v.status
		case v.expiry == expiryUnprovable:
			err = v.pruned
		}
		proven = proven || v.expiry == expiryProven
	}
	contradicted := slices.ContainsFunc(verdicts,
		func(v verdict) bool { return v.expiry == expiryRefuted || v.expiry == expiryOpen })
	if ctx.Err() != nil || status != nil || contradicted {
		return false, status, nil
	}
	if proven {
		return p.isOldEnough(), nil, nil
	}
	return false, nil, err
}

// isOldEnough reports whether the transaction reached the minimum age. A transaction of unknown age is as old
// as the wait for it.
func (p *Pending) isOldEnough() bool {
	return !p.Valid.Nonce.IsZero() || time.Since(p.since()) >= minimumAge
}

// since returns the time by the local clock since which the transaction exists.
func (p *Pending) since() time.Time {
	if p.SentAt.IsZero() {
		return p.began
	}
	return p.SentAt
}

// verdicts returns the verdicts of all nodes.
func (p *Pending) verdicts(ctx context.Context) []verdict {
	nodes := p.sender.Pool.All()
	all := make([]verdict, len(nodes))
	limited, cancel := context.WithTimeout(ctx, expiryLimit)
	defer cancel()
	var requests sync.WaitGroup
	for i, single := range nodes {
		requests.Go(func() {
			all[i] = p.verdictOf(limited, p.sender.Node(single))
			all[i].host = single.Host()
		})
	}
	requests.Wait()
	return all
}

// verdictOf requests a node's verdict. The order matters: it requests the status once the transaction is no
// longer valid, and the oldest block of the node last.
func (p *Pending) verdictOf(ctx context.Context, from *rpc.Client) verdict {
	limit, err := p.Valid.limitAt(ctx, from)
	if errors.Is(err, transaction.ErrBehind) {
		return verdict{expiry: expiryOpen, text: err.Error()}
	}
	if err != nil {
		return verdict{}
	}
	status, slot, err := StatusAt(ctx, from, p.Signature)
	switch {
	case err != nil:
		return verdict{}
	case status != nil:
		return verdict{expiry: expiryRefuted, status: status,
			text: fmt.Sprintf("executed in slot %d", status.Slot)}
	case !limit.over:
		return verdict{expiry: expiryRefuted, text: limit.text}
	case slot < limit.slot:
		return verdict{expiry: expiryOpen, text: fmt.Sprintf("status of slot %d, before slot %d", slot, limit.slot)}
	}
	// A node that deleted blocks does not know the transactions in them.
	first, err := from.GetFirstAvailableBlock(ctx)
	switch {
	case err != nil:
		return verdict{}
	case first <= p.Valid.Since:
		return verdict{expiry: expiryProven, text: limit.text}
	case p.Valid.Since == 0:
		err = fmt.Errorf("%w (age of the transaction unknown, first block of the node %d)", ErrPruned, first)
	default:
		err = fmt.Errorf("%w (transaction from slot %d, first block of the node %d)", ErrPruned, p.Valid.Since,
			first)
	}
	return verdict{expiry: expiryUnprovable, text: limit.text, pruned: err}
}

// recordContradiction records whether some nodes prove the expiry and others contradict them, and logs it once
// if it lasts.
func (p *Pending) recordContradiction(verdicts []verdict) {
	found := &transaction.ContradictionError{Subject: "the expiry of transaction " + p.Signature.String()}
	over, refuted := false, false
	for _, v := range verdicts {
		over = over || v.expiry == expiryProven || v.expiry == expiryUnprovable
		refuted = refuted || v.expiry == expiryRefuted || v.expiry == expiryOpen
		if v.expiry != expiryUnreachable {
			found.Claims = append(found.Claims, transaction.NodeClaim{Host: v.host, Text: v.text})
		}
	}
	switch {
	case !over || !refuted:
		p.contradiction = nil
		return
	case p.contradiction == nil:
		p.contradictedAt = time.Now()
	}
	p.contradiction = found
	if !p.contradictionLogged && time.Since(p.contradictedAt) >= contradictionAge {
		p.contradictionLogged = true
		p.sender.Logger.Warn("nodes contradict each other about an expiry", "error", found)
	}
}

// validityLimit is a node's view of a validity's end.
type validityLimit struct {
	// over reports whether the transaction is no longer valid.
	over bool
	// slot is the newest slot of the node's responses.
	slot uint64
	// text describes the view.
	text string
}

// limitAt returns a node's view: a transaction is no longer valid if the finalized height is beyond the last
// valid one and the finalized blockhashes no longer contain its own, or if the finalized nonce account's
// value differs. The blockhash counts because the last valid height is the claim of one node.
func (v *Validity) limitAt(ctx context.Context, from *rpc.Client) (validityLimit, error) {
	if !v.Nonce.IsZero() {
		options := &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentFinalized,
			Encoding: solana.EncodingBase64}
		accounts, slot, err := Accounts(ctx, from, options, v.Nonce)
		if err != nil {
			return validityLimit{}, err
		}
		// A node that is behind may return the account as it was before it got the transaction's value.
		if slot < v.Since {
			return validityLimit{}, transaction.ErrBehind
		}
		if holdsNonce(accounts[0], v.Blockhash) {
			return validityLimit{slot: slot, text: fmt.Sprintf("nonce unused at slot %d", slot)}, nil
		}
		return validityLimit{over: true, slot: slot, text: fmt.Sprintf("nonce used at slot %d", slot)}, nil
	}
	epoch, err := from.GetEpochInfo(ctx, rpc.CommitmentFinalized)
	if err != nil {
		return validityLimit{}, err
	}
	limit := validityLimit{slot: epoch.AbsoluteSlot,
		text: fmt.Sprintf("finalized height %d, last valid height %d", epoch.BlockHeight, v.LastHeight)}
	if epoch.BlockHeight <= v.LastHeight {
		return limit, nil
	}
	answer, err := from.IsBlockhashValid(ctx, v.Blockhash, rpc.CommitmentFinalized)
	switch {
	case err != nil:
		return validityLimit{}, err
	case answer.Context.Slot < v.Since:
		return validityLimit{}, transaction.ErrBehind // the node does not know the blockhash yet
	case answer.Value:
		limit.text = fmt.Sprintf("blockhash valid at slot %d", answer.Context.Slot)
		return limit, nil
	}
	limit.over, limit.slot = true, max(limit.slot, answer.Context.Slot)
	return limit, nil
}

// StatusAt returns a transaction's status, searched for in the node's history as well; nil if the node does
// not know it. The slot is the response's.
func StatusAt(
	ctx context.Context, from *rpc.Client, signature solana.Signature,
) (*rpc.SignatureStatusesResult, uint64, error) {
	statuses, err := from.GetSignatureStatuses(ctx, true, signature)
	if err != nil {
		return nil, 0, err
	}
	if len(statuses.Value) != 1 {
		return nil, 0, rpcpool.Malformed("node returned %d statuses instead of 1", len(statuses.Value))
	}
	return statuses.Value[0], statuses.Context.Slot, nil
}
