package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Pauses between failed calls of Admit.
const (
	firstAdmission = 30 * time.Second
	lastAdmission  = 15 * time.Minute
)

var errNoSeal = errors.New("it compares sealed prices, and the agent seals none")

// hasEngaged reports whether the given side already acted on a negotiation: then Admit is not called.
func hasEngaged(n *haggle.Snapshot, side protocol.OfferSide) bool {
	if side == protocol.OfferSideSeller {
		return n.Status != protocol.NegotiationStatusCreated
	}
	return n.CurrentRound > 0 || n.BuyerCommitment != [32]byte{} || n.IsAgreed() || n.IsOver()
}

// cannotEngage returns the reason why the agent takes no part in a negotiation, whatever Admit returns; nil
// if there is none.
func (c *Config) cannotEngage(n *haggle.Snapshot, side protocol.OfferSide) error {
	limits, listed := c.Mints[n.TokenMint]
	switch {
	case !listed:
		return fmt.Errorf("its mint %s is not one of the agent's", n.TokenMint)
	case side == protocol.OfferSideSeller && limits.MinPrice == 0:
		return fmt.Errorf("the agent sells nothing for its mint %s", n.TokenMint)
	case side == protocol.OfferSideBuyer && limits.MaxTotal == 0:
		return fmt.Errorf("the agent buys nothing for its mint %s", n.TokenMint)
	case n.ZopaEnabled && c.Seal == nil:
		return errNoSeal
	case n.MilestoneCount() > 0 && c.OnMilestone == nil:
		return errors.New("it has milestones, and the agent delivers none")
	case n.MilestoneCount() > 0 && !slices.Contains(c.Arbiters, n.Arbiter):
		return fmt.Errorf("its arbiter %s is not one of the agent's", n.Arbiter)
	}
	if err := c.checkTerms(n); err != nil {
		return err
	}
	switch {
	case side == protocol.OfferSideBuyer:
		return nil // the buyer chose the terms
	case len(c.Services) == 0 && c.Admit == nil:
		return errors.New("neither Config.Services nor Config.Admit is set")
	case len(c.Services) > 0 && !slices.Contains(c.Services, n.ServiceHash):
		return errors.New("it is for another service")
	case limits.check(n, side, n.EscrowAmount, 0) != nil:
		return amount.Errorf(n.TokenMint, "its escrow of %v cannot pay %v after the fee",
			amount.Units(n.EscrowAmount), amount.Units(limits.MinPrice))
	case n.BondRequired > limits.MaxBond:
		return amount.Errorf(n.TokenMint, "it requires a bond of %v, at most %v", amount.Units(n.BondRequired),
			amount.Units(limits.MaxBond))
	case n.MilestoneCount() > 0 && n.ReviewHours > c.MaxReviewHours:
		return fmt.Errorf("its review window is %d hours, at most %d", n.ReviewHours, c.MaxReviewHours)
	}
	return nil
}

// admit determines whether the agent takes part in a negotiation.
func (l *loop) admit(f *tracked, v *view) {
	if reason := l.config.cannotEngage(v.Snapshot, f.side); reason != nil {
		l.refuse(f, v, &Refusal{Negotiation: f.address, Reason: reason.Error(), Err: reason})
		return
	}
	if v.Status == protocol.NegotiationStatusCreated && l.awaitPlace(f) {
		return
	}
	if l.config.Admit == nil {
		f.participation = engaged
		l.execute(f, v, l.viewNow(f, v).plan())
		return
	}
	if l.awaitsCall(f) {
		return
	}
	start(l, f, v, v.answerBy(),
		func(ctx context.Context) (struct{}, error) {
			return struct{}{}, l.config.Admit(ctx, v.Snapshot)
		},
		func(_ struct{}, err error) {
			switch {
			case err == nil:
				f.participation, f.refusals, f.failures = engaged, 0, 0
				l.execute(f, v, l.viewNow(f, v).plan())
			case errors.Is(err, ErrRefused):
				l.refuse(f, v, err)
			default:
				l.failed(f, err)
				pause := min(firstAdmission<<min(f.refusals, 10), lastAdmission)
				f.refusals++
				f.failures = max(f.failures, 1)
				l.offerPlaces()
				l.refreshAfter(f, jitter(pause))
			}
		})
}

// refuse declines a negotiation for good.
func (l *loop) refuse(f *tracked, v *view, reason error) {
	f.participation = declined
	l.offerPlaces()
	l.config.Logger.Warn("negotiation declined", f.attributes("error", reason)...)
	l.report(f.address, reason)
	f.wakeAt = v.TurnDeadline
}
