package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// maxInvitationWait limits waiting for an invitation, in seconds.
const maxInvitationWait = 300

type awaitArguments struct {
	WaitSeconds uint16   `json:"wait_seconds,omitempty" jsonschema:"longest time to wait, at most 300; default 50"`
	Except      []string `json:"except,omitempty" jsonschema:"addresses of invitations that you know and do not accept, at most 50"`
}

// defaultInvitationWait is shorter than the minute that many clients wait without progress notifications.
const defaultInvitationWait = 50

// awaitInvitation waits for an invitation that this wallet can accept within its policy.
func (s *server) awaitInvitation(ctx context.Context, in awaitArguments, reported *progress) *Answer {
	fail := func(err error) *Answer { return s.failed(ctx, "", solana.PublicKey{}, err) }
	if in.WaitSeconds > maxInvitationWait {
		return fail(invalid("wait_seconds %d: must be 0 to %d", in.WaitSeconds, maxInvitationWait))
	}
	if len(in.Except) > maxListed {
		return fail(invalid("except: must be at most %d addresses", maxListed))
	}
	var except []solana.PublicKey
	for _, written := range in.Except {
		key, err := address("except", written)
		if err != nil {
			return fail(err)
		}
		except = append(except, key)
	}
	wait := time.Duration(cmp.Or(in.WaitSeconds, defaultInvitationWait)) * time.Second
	found, err := s.firstInvitations(ctx, wait, except, reported)
	if err != nil {
		return fail(err)
	}
	answer := &Answer{Outcome: Read, Wallet: s.me().String()}
	if len(found) == 0 {
		answer.Next = fmt.Sprintf("no invitation came within %d s: call haggle_await_invitation again to wait on",
			int(wait.Seconds()))
		return answer
	}
	answer.Negotiation, answer.State = found[0].Negotiation, found[0]
	answer.List = found[1:]
	answer.Next = nextStep(found[0]) + "; to wait for another invitation: haggle_await_invitation with this one in except"
	return answer
}

// firstInvitations returns the open invitations, earliest deadline first; if there are none, it waits.
func (s *server) firstInvitations(
	ctx context.Context, wait time.Duration, except []solana.PublicKey, reported *progress,
) ([]*State, error) {
	// The list follows the subscription, so no invitation is missed.
	subscription, err := s.Client.WatchAgent(ctx, s.me())
	if err != nil {
		return nil, err
	}
	defer subscription.Close()
	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	reported.total = wait
	found, err := s.invitations(ctx, except)
	for len(found) == 0 && err == nil {
		reported.report(ctx, "no invitation yet")
		select {
		case <-end.C:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C: // a lagging node may have left out the invitation announced by an event
		case envelope, open := <-subscription.Events():
			if !open {
				return nil, cmp.Or(subscription.Err(), haggle.ErrClientClosed)
			}
			created, is := envelope.Event.(*protocol.NegotiationCreated)
			if !envelope.Truncated && !(is && created.Seller == s.me()) {
				continue
			}
		}
		found, err = s.invitations(ctx, except)
	}
	return found, err
}

// invitations lists the open invitations.
func (s *server) invitations(ctx context.Context, except []solana.PublicKey) (found []*State, err error) {
	now, err := s.Client.Now(ctx)
	if err != nil {
		return nil, err
	}
	filter := haggle.Filter{Seller: s.me(), Status: []protocol.NegotiationStatus{protocol.NegotiationStatusCreated}}
	for n, err := range s.Client.FindNegotiations(ctx, filter) {
		if err != nil {
			return nil, err
		}
		if !s.invites(n, now, except) {
			continue
		}
		m, err := s.mint(ctx, n.TokenMint)
		if err != nil {
			return nil, err
		}
		if found = append(found, s.stateOf(n, m, now)); len(found) == maxListed {
			break
		}
	}
	slices.SortFunc(found, func(a, b *State) int { return cmp.Compare(a.TurnDeadline, b.TurnDeadline) })
	return found, nil
}

// invites reports whether the negotiation is an invitation to this wallet from a buyer and in a mint allowed
// by the policy. Anyone can create other invitations, which the wallet could not accept and which would fill
// the list.
func (s *server) invites(n *haggle.Snapshot, now int64, except []solana.PublicKey) bool {
	_, allowed := s.Limits.Tokens[n.TokenMint]
	return n.Status == protocol.NegotiationStatusCreated && n.Seller == s.me() && !n.IsOverdue(now) && allowed &&
		(s.Limits.Counterparties == nil || slices.Contains(s.Limits.Counterparties, n.Buyer)) &&
		!slices.Contains(except, n.Address)
}
