package agent

import (
	"context"
	"errors"
	"slices"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// hasEngaged says whether a side has done something about a negotiation before: then nobody is asked whether it should.
func hasEngaged(n *haggle.NegotiationAccount, side protocol.OfferSide) bool {
	if side == protocol.OfferSideSeller {
		return n.Status != protocol.NegotiationStatusCreated
	}
	return n.CurrentRound > 0 || n.BuyerCommitment != [32]byte{} || n.IsAgreed() || n.IsOver()
}

// cannotEngage says why the agent has nothing to do with a negotiation, whatever Admit says; empty if nothing speaks against it.
func (l *loop) cannotEngage(n *haggle.NegotiationAccount, side protocol.OfferSide) string {
	isSeller := side == protocol.OfferSideSeller
	switch {
	case isSeller && len(l.config.Services) == 0 && l.config.Admit == nil:
		return "neither Config.Services nor Config.Admit says what is sold"
	case isSeller && len(l.config.Services) > 0 && !slices.Contains(l.config.Services, n.ServiceHash):
		return "its service is none of Config.Services"
	case isSeller && n.BondRequired > 0 && !l.config.Bonds:
		return "it asks for a bond, and Config.Bonds is not set"
	case n.ZopaEnabled && l.config.Seal == nil:
		return "it compares prices under seal, and Config.Seal is nil"
	case n.MilestoneCount() > 0 && l.config.Deliver == nil:
		return "it has milestones, and Config.Deliver is nil"
	}
	return ""
}

// admit finds out whether the agent takes part in a negotiation.
func (l *loop) admit(f *followed, v *view) {
	if reason := l.cannotEngage(v.NegotiationAccount, f.side); reason != "" {
		l.refuse(f, v, &Refusal{Negotiation: f.address, Reason: reason})
		return
	}
	if l.config.Admit == nil {
		f.stance = engaged
		l.perform(f, v, l.viewOf(f, v.NegotiationAccount, v.now).plan())
		return
	}
	if f.absorbed > 0 {
		l.putOff(f)
		return
	}
	seen := v.NegotiationAccount
	ask(l, f, l.timeFor(v, false),
		func(ctx context.Context) (struct{}, error) { return struct{}{}, l.config.Admit(ctx, seen) },
		func(_ struct{}, err error) {
			switch {
			case f.changed || errors.Is(err, errMovedOn):
				l.look(f)
			case err == nil:
				f.stance, f.refusals = engaged, 0
				// Some time may have passed.
				l.look(f)
			case errors.Is(err, ErrRefused):
				l.refuse(f, v, err)
			default:
				l.failed(f, err)
				pause := min(firstAdmission<<min(f.refusals, 10), lastAdmission)
				f.refusals++
				f.failures = max(f.failures, 1)
				l.lookAfter(f, jitter(pause))
			}
		})
}

// refuse leaves a negotiation alone for good.
func (l *loop) refuse(f *followed, v *view, why error) {
	f.stance = aloof
	l.config.Logger.Warn("the negotiation is left alone", f.attributes("error", why)...)
	l.report(f.address, why)
	l.agenda.wake(f, v.TurnDeadline)
}
