package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Request describes a transaction to Config.Approve.
type Request struct {
	// Wallet is the wallet that would sign.
	Wallet solana.PublicKey
	// Message is the SHA-256 of the transaction's message.
	Message Digest
	// Instructions are the names of the transaction's instructions, in their order.
	Instructions []string
	// Spends is all money that would leave the wallet, fees included, and Prices all prices that the wallet
	// would agree to.
	Spends []Spend
	Prices []Price
}

// ErrApprovalTimeout is the cause of a denial when approval was not given in time.
var ErrApprovalTimeout = errors.New("haggle: approval was not given in time")

// required returns the request for approval if the message needs it and the limits allow the message;
// otherwise nil. A counted message, an intent that was approved for as much, and a reveal of a committed
// price need none.
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
		return &Record{Kind: RecordApproved, Intent: read.intent, Approved: read.totals()}, nil
	})
}

// totals returns the amounts that a message spends in each mint, fees included.
func (r *reading) totals() []Total {
	amounts := map[Scope]uint64{}
	for _, spend := range slices.Concat(r.spends, r.fees) {
		key := Scope{Mint: spend.Mint}
		amounts[key] = sum(amounts[key], spend.Amount)
	}
	return sortedTotals(amounts)
}

// isApproved reports whether a message needs no approval, or its intent was approved for as much.
func (p *Policy) isApproved(read *reading) bool {
	if p.config.Approve == nil {
		return true
	}
	approval, given := p.usage.Approvals[read.intent]
	given = given && p.config.Now().Unix()-approval.Time <= int64(approvalLife/time.Second)
	for _, total := range read.totals() {
		covered := given && slices.ContainsFunc(approval.Approved, func(a Total) bool {
			return a.Mint == total.Mint && total.Amount <= a.Amount
		})
		if total.Amount > p.config.limits(total.Mint).ApproveAbove && !covered {
			return false
		}
	}
	return given || !slices.ContainsFunc(read.prices, func(price Price) bool {
		return price.Amount > p.config.limits(price.Mint).ApproveAbove
	})
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
		return errors.Join(err, context.Cause(ctx)) // an approval that is too late is none
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
