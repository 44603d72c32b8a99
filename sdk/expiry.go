package haggle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// errForgotten: the transaction cannot be executed any more, and no node knows whether it has been.
var errForgotten = errors.New("the node no longer has the blocks that the transaction could be in: ask one that keeps them for longer")

// expiry is what one node knows about whether a transaction can still be executed.
type expiry int

const (
	// cannotSay: the node has not answered, or not well enough.
	cannotSay expiry = iota
	// isAlive: the transaction can be executed, or has been.
	isAlive
	// isForgotten: it cannot be executed any more, and the node would not know if it has been.
	isForgotten
	// isOver: it cannot be executed any more, and has not been.
	isOver
)

const (
	// secondOpinionLimit is how long the other nodes may take to contradict one that says that a transaction has expired.
	secondOpinionLimit = 5 * time.Second
	// contradictedFor is for how long after a transaction was first sent another node is believed that says that it can still be
	// executed: longer than a blockhash lives. A node that is far behind says so for ever.
	contradictedFor = 2 * time.Minute
)

// hasExpired says whether the transaction can no longer be executed, and has not been: whoever believes that does it again. It takes
// one node that knows all of it by itself, since the parts of several nodes' pictures need not fit together: the one that still has
// the old blocks may be another than the one that does not know the transaction. No other node that answers may know of it; if one
// does, what it knows is the status. Nor may one say that it can still be executed, as long as that can be so. Both count however far
// behind a node seems to be: the one that is ahead of the others may be lying.
//
// It fails if that cannot be found out any more.
func (p *pendingTransaction) hasExpired(ctx context.Context) (expired bool, status *rpc.SignatureStatusesResult, err error) {
	over := false
	p.client.eachNode(func(node *rpc.Client) (goOn bool) {
		var what expiry
		var forgotten error
		what, status, forgotten = p.expiryAt(ctx, node)
		switch what {
		case isForgotten:
			err = forgotten
			return true
		case isOver, isAlive:
			over, err = what == isOver, nil
			return false
		}
		return true
	})
	alive := false
	if over {
		status, alive = p.contradiction(ctx)
	}
	return over && !alive && status == nil && ctx.Err() == nil, status, err
}

// contradiction is what speaks against a node that says that the transaction has expired: its status at one that knows it, or that one
// says that it can still be executed.
func (p *pendingTransaction) contradiction(ctx context.Context) (status *rpc.SignatureStatusesResult, alive bool) {
	limited, cancel := context.WithTimeout(ctx, secondOpinionLimit)
	defer cancel()
	mayBeAlive := p.client.pool.Size() > 1 && time.Since(p.sentAt) < contradictedFor
	p.client.eachNodeHoweverOld(func(node *rpc.Client) (goOn bool) {
		status, _, _ = statusAt(limited, node, p.signature)
		if status == nil && mayBeAlive && !alive {
			what, _ := p.end(limited, node)
			alive = what == isAlive
		}
		return status == nil && limited.Err() == nil
	})
	return status, alive
}

// end asks one node whether it is too late for the transaction to be executed.
func (p *pendingTransaction) end(ctx context.Context, node *rpc.Client) (what expiry, over ending) {
	if p.valid.nonce.IsZero() {
		what, over = p.valid.endOfBlockhash(ctx, node, p.client.commitment)
	} else {
		what, over = p.valid.endOfNonce(ctx, node, p.client.commitment)
	}
	if what == isOver || p.sentAt.IsZero() || time.Since(p.sentAt) < longAfter {
		return what, over
	}
	if later, overLater := p.endLongAfter(ctx, node); later == isOver {
		return later, overLater
	}
	return what, over
}

const (
	// longAfter is how long after a transaction was sent the time alone says that it is old. Until then only slots and heights count,
	// which go on as the chain does.
	longAfter = 2 * time.Hour
	// clocksDiffer is how much the machine's clock and the chain's may differ.
	clocksDiffer = 30 * time.Minute
)

// endLongAfter goes by times rather than by the slot and the height that a node had shown when the transaction was made. Had that node
// shown some that the chain reaches in years, the wallet would have to wait for that otherwise.
func (p *pendingTransaction) endLongAfter(ctx context.Context, node *rpc.Client) (none expiry, _ ending) {
	options := &rpc.GetMultipleAccountsOpts{Commitment: p.client.commitment, Encoding: solana.EncodingBase64}
	accounts, slot, err := accountsAt(ctx, node, options, solana.SysVarClockPubkey)
	if err != nil || accounts[0] == nil {
		return none, ending{}
	}
	now, err := clockIn(accounts[0])
	// What a node that is behind does not know yet may still come.
	if err != nil || time.Unix(now, 0).Before(p.sentAt.Add(longAfter-clocksDiffer)) {
		return none, ending{}
	}
	over := ending{reached: slot}
	if p.valid.nonce.IsZero() {
		answer, err := node.IsBlockhashValid(ctx, p.blockhash, rpc.CommitmentProcessed)
		if err != nil || answer == nil || p.blockhash.IsZero() || answer.Value || answer.Context.Slot < slot {
			return none, ending{}
		}
		over.reached = answer.Context.Slot
	} else {
		accounts, slot, err := accountsAt(ctx, node, options, p.valid.nonce)
		if err != nil || slot < over.reached || holdsNonce(accounts[0], p.valid.blockhash) {
			return none, ending{}
		}
		over.reached = slot
	}
	// The node has to have all blocks since before the transaction was sent.
	first, err := node.GetFirstAvailableBlock(ctx)
	if err != nil {
		return none, ending{}
	}
	if first > 0 {
		at, err := node.GetBlockTime(ctx, first)
		if err != nil || at == nil || at.Time().After(p.sentAt.Add(-clocksDiffer)) {
			return none, ending{}
		}
	}
	over.rememberedUntil = math.MaxUint64
	return isOver, over
}

// expiryAt asks one node. The order matters: whether the transaction is in a block is asked after it could not come into one any
// more, and whether the node would know of that, last.
func (p *pendingTransaction) expiryAt(ctx context.Context, node *rpc.Client) (expiry, *rpc.SignatureStatusesResult, error) {
	what, over := p.end(ctx, node)
	if what != isOver {
		return what, nil, nil
	}
	status, slot, err := statusAt(ctx, node, p.signature)
	switch {
	case err != nil || status == nil && slot < over.reached:
		return cannotSay, nil, nil
	case status != nil:
		return isAlive, status, nil
	case slot <= over.rememberedUntil:
		return isOver, nil, nil
	}
	// A node that has thrown blocks away would not know of a transaction in them.
	first, err := node.GetFirstAvailableBlock(ctx)
	switch {
	case err != nil:
		return cannotSay, nil, nil
	case first <= p.valid.since:
		return isOver, nil, nil
	case p.valid.since == 0:
		return isForgotten, nil, fmt.Errorf("%w (it may be of any age, and the node's first is %d)", errForgotten, first)
	}
	return isForgotten, nil, fmt.Errorf("%w (since slot %d, and the node's first is %d)", errForgotten, p.valid.since, first)
}

// ending says that a transaction cannot come into a block any more.
type ending struct {
	// reached is a slot at which that was so.
	reached uint64
	// rememberedUntil is the slot up to which every node knows of the transaction if it has been executed, however few blocks it
	// keeps; zero if there is none.
	rememberedUntil uint64
}

// rememberedBlocks is how many blocks after a transaction every node knows of it. Older ones are known only to those that have kept
// the blocks.
const rememberedBlocks = 250

// endOfBlockhash asks whether the blockhash is too old for the transaction to be executed.
func (v *validity) endOfBlockhash(ctx context.Context, node *rpc.Client, commitment rpc.CommitmentType) (expiry, ending) {
	epoch, err := node.GetEpochInfo(ctx, commitment)
	if err != nil || epoch == nil {
		return cannotSay, ending{}
	}
	if epoch.BlockHeight <= v.lastHeight {
		return isAlive, ending{}
	}
	over := ending{reached: epoch.AbsoluteSlot}
	if v.blockhash.IsZero() {
		// There are at most as many blocks from here to another slot as there are slots.
		if since := epoch.BlockHeight - v.lastHeight; since <= rememberedBlocks-blockhashLife {
			over.rememberedUntil = epoch.AbsoluteSlot + rememberedBlocks - blockhashLife - since
		}
		return isOver, over
	}
	answer, err := node.IsBlockhashValid(ctx, v.blockhash, rpc.CommitmentProcessed)
	switch {
	case err != nil || answer == nil:
		return cannotSay, ending{}
	case answer.Value:
		return isAlive, ending{}
	case answer.Context.Slot < over.reached:
		return cannotSay, ending{}
	}
	over.reached = answer.Context.Slot
	return isOver, over
}

// endOfNonce asks whether the nonce account no longer has the transaction's value.
func (v *validity) endOfNonce(ctx context.Context, node *rpc.Client, commitment rpc.CommitmentType) (expiry, ending) {
	options := &rpc.GetMultipleAccountsOpts{Commitment: commitment, Encoding: solana.EncodingBase64}
	accounts, slot, err := accountsAt(ctx, node, options, v.nonce)
	// What the account was before it had the transaction's value does not matter: a node that is so far behind cannot say.
	if err != nil || slot < v.since {
		return cannotSay, ending{}
	}
	if holdsNonce(accounts[0], v.blockhash) {
		return isAlive, ending{}
	}
	over := ending{reached: slot}
	if v.since > 0 {
		over.rememberedUntil = v.since + rememberedBlocks
	}
	return isOver, over
}
