package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Request is what a transaction would do, for whoever approves it.
type Request struct {
	// Wallet is who would sign.
	Wallet solana.PublicKey
	// Message is the SHA-256 of the transaction's message.
	Message Digest
	// Instructions are the names of the transaction's instructions, in their order.
	Instructions []string
	// Spends are all that would leave the wallet, and Prices all that it would agree to.
	Spends []Spend
	Prices []Price
}

// ErrApprovalTimeout is the cause of a denial when approval was not given in time.
var ErrApprovalTimeout = errors.New("haggle: approval was not given in time")

// approve asks for approval if it is needed and the limits allow the transaction at all. A message that is counted has been
// approved.
func (p *Policy) approve(ctx context.Context, digest Digest, read *reading) error {
	p.lock.Lock()
	counted, err := p.usage.counts(digest), error(nil)
	if !counted {
		err = named(p.usage.check(&p.config, p.today(), read.spends), read.names)
	}
	p.lock.Unlock()
	if counted || err != nil || p.config.Approve == nil || !p.needsApproval(read) {
		return err
	}
	request := &Request{
		Wallet: p.wallet, Message: digest, Instructions: slices.Clone(read.names),
		Spends: slices.Clone(read.spends), Prices: slices.Clone(read.prices),
	}
	if err := p.ask(ctx, request); err != nil {
		return general(RuleApproval, err)
	}
	return nil
}

func (p *Policy) needsApproval(read *reading) bool {
	totals := map[solana.PublicKey]uint64{}
	for _, spend := range read.spends {
		totals[spend.Mint] = sum(totals[spend.Mint], spend.Amount)
	}
	for mint, total := range totals {
		if total > p.config.limits(mint).ApproveAbove {
			return true
		}
	}
	return slices.ContainsFunc(read.prices, func(price Price) bool {
		return price.Amount > p.config.limits(price.Mint).ApproveAbove
	})
}

// ask does not wait for longer than it may, even if Approve does.
func (p *Policy) ask(ctx context.Context, request *Request) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.config.ApprovalTimeout, ErrApprovalTimeout)
	defer cancel()
	answer := make(chan error, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				answer <- fmt.Errorf("haggle: policy: Approve has panicked: %v", cause)
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
