package policy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Request describes a transaction to Config.Approve.
type Request struct {
	// Wallet is the wallet that would sign.
	Wallet solana.PublicKey
	// Message is the SHA-256 of the transaction's message.
	Message Digest
	// Instructions lists the transaction's instruction names in execution order.
	Instructions []string
	// Spends is all money that would leave the wallet, fees included, and Prices all prices that the wallet
	// would agree to. An approval holds for these instructions, spends and prices only.
	Spends []Spend
	Prices []Price
}

// ErrApprovalTimeout is the denial cause when approval was not given in time.
var ErrApprovalTimeout = errors.New("haggle: approval was not given in time")

// required returns the approval request if the message needs it and the limits allow the message; otherwise
// nil. Counted messages, messages with approved effects, and reveals of committed prices need none.
func (p *Policy) required(read *reading) (*Request, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	approved := p.usage.Messages[read.digest] != nil || p.usage.owes(&p.config, read)
	var err error
	if !approved {
		spends, _ := p.withUncounted(read)
		err = named(p.usage.check(&p.config, p.today(), read.intent, spends, read.fees), read.names)
		approved = p.isApproved(read)
	}
	if err != nil || approved {
		return nil, err
	}
	return &Request{
		Wallet: p.wallet, Message: read.digest, Instructions: slices.Clone(read.names),
		Spends: slices.Concat(read.spends, read.fees), Prices: slices.Clone(read.prices),
	}, nil
}

// approve requests approval if the message needs it.
func (p *Policy) approve(ctx context.Context, read *reading) error {
	request, err := p.required(read)
	if request == nil || err != nil {
		return err
	}
	if err := p.ask(ctx, request); err != nil {
		return general(RuleApproval, err)
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.appendLocked(ctx, func() (*Record, error) {
		return &Record{Kind: RecordApproved, Intent: read.intent, Effects: read.effects, Fees: read.fees}, nil
	})
}

// isApproved reports whether no approval is needed for a message, or one exists for the same intent and
// effects with fees at least as high.
func (p *Policy) isApproved(read *reading) bool {
	if p.config.Approve == nil || !p.isAboveThreshold(read) {
		return true
	}
	approval, given := p.usage.Approvals[read.intent]
	fees, _ := lamportsOf(nil, read.fees)
	approved, _ := lamportsOf(nil, approval.Fees)
	return given && approval.Effects == read.effects && fees <= approved &&
		p.config.Now().Unix()-approval.Time <= int64(approvalLife/time.Second)
}

// isAboveThreshold reports whether the sum of the spends in a mint, fees included, or a price exceeds
// Limits.ApproveAbove.
func (p *Policy) isAboveThreshold(read *reading) bool {
	amounts := map[solana.PublicKey]uint64{}
	for _, spend := range slices.Concat(read.spends, read.fees) {
		amounts[spend.Mint] = sum(amounts[spend.Mint], spend.Amount)
		if amounts[spend.Mint] > p.config.limits(spend.Mint).ApproveAbove {
			return true
		}
	}
	return slices.ContainsFunc(read.prices, func(price Price) bool {
		return price.Total() > p.config.limits(price.Mint).ApproveAbove
	})
}

// effect is one message instruction, as bound by an approval.
type effect struct {
	Name    string
	Content []byte
}

// effectsDigest returns the hash that approvals bind: every instruction, spend and price, in order. It
// excludes the blockhash, a rebuilt action's deadlines and the compute budget; fees are compared by amount.
func (r *reading) effectsDigest() (Digest, error) {
	bound := struct {
		Instructions []effect
		Spends       []Spend
		Prices       []Price
	}{Spends: slices.Clone(r.spends), Prices: slices.Clone(r.prices)}
	for i, decoded := range r.steps {
		content := r.contents[i]
		switch s := decoded.(type) {
		case computeUnitLimit, computeUnitPrice, computeOther:
			continue
		case protocol.AnyInstruction:
			if guarded, _ := r.guarded(s); guarded != nil {
				content = guarded
			}
		}
		bound.Instructions = append(bound.Instructions, effect{r.names[i], content})
	}
	// A rebuilt action may contain more or fewer compute budget instructions.
	for i := range bound.Spends {
		bound.Spends[i].Instruction = 0
	}
	for i := range bound.Prices {
		bound.Prices[i].Instruction = 0
	}
	encoded, err := json.Marshal(bound)
	return sha256.Sum256(encoded), err
}

// ask calls Approve and returns after ApprovalTimeout at the latest, even if Approve does not.
func (p *Policy) ask(ctx context.Context, request *Request) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.config.ApprovalTimeout, ErrApprovalTimeout)
	defer cancel()
	answer := make(chan error, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				answer <- fmt.Errorf("haggle: policy: Approve panicked: %v", cause)
			}
		}()
		answer <- p.config.Approve(ctx, request)
	}()
	select {
	case err := <-answer:
		return errors.Join(err, context.Cause(ctx)) // late approvals do not count
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
