package trader

import (
	"context"
	"errors"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// move makes a move in a side chat. It returns an [*invalidMove] if it is not possible.
func (s *session) move(ctx context.Context, number int, move Move) error {
	chat := s.desk.chat(number)
	standing := chat.Standing()
	switch m := move.(type) {
	case Say:
		if m.Text == "" || len(m.Text) > arena.MaxText || chat.Mode == arena.ModePackages {
			return &invalidMove{errors.New("text empty or too long, or the chat takes packages only")}
		}
		return s.do(ctx, arena.Chat{Chat: number, Text: m.Text})
	case Offer:
		var action arena.Action = arena.Propose{Chat: number, Legs: m.Legs}
		if chat.Stands {
			action = arena.Counter{Chat: number, Proposal: standing.Proposal, Legs: m.Legs}
		}
		return s.consent(ctx, number, m.Legs, action)
	case Agree:
		if !chat.Stands || chat.Agreed {
			return &invalidMove{errors.New("there is no proposal to agree to")}
		}
		return s.consent(ctx, number, standing.Legs, arena.Agree{Chat: number, Proposal: standing.Proposal})
	case Leave:
		if chat.Stands {
			return s.do(ctx, arena.Reject{Chat: number, Proposal: standing.Proposal})
		}
		return s.do(ctx, arena.LeaveChat{Chat: number})
	}
	return &invalidMove{errors.New("no move and no error")}
}

// consent agrees to legs: it proposes or accepts them. It first buys the necessary sets. Once the arena has
// accepted the action, the legs count for the limits.
func (s *session) consent(ctx context.Context, number int, legs []arena.Leg, action arena.Action) error {
	if len(legs) == 0 || !slices.ContainsFunc(legs, s.isOwn) {
		return &invalidMove{errors.New("the trader is no party")}
	}
	sets, err := s.desk.allow(legs, number)
	if err != nil {
		return &invalidMove{err}
	}
	if sets > 0 {
		at, accepted, err := s.try(ctx, arena.Split{Sets: sets})
		switch {
		case err != nil:
			return err
		case !accepted:
			return &invalidMove{errors.New("the arena sells no sets")}
		}
		h := &s.desk.Holding
		h.Money, h.Yes, h.No, s.desk.ahead = h.Money-arena.Money(sets)*arena.SetPrice, h.Yes+sets, h.No+sets, at
	}
	_, accepted, err := s.try(ctx, action)
	switch {
	case err != nil:
		return err
	case !accepted:
		return nil // the chat has changed: events follow
	}
	// Until the event of the action comes, the chat stands by the legs.
	chat := s.desk.chat(number)
	if _, is := action.(arena.Agree); !is {
		chat.Offers = append(chat.Offers, arena.Proposed{Chat: number, Agent: s.desk.Self, Legs: legs})
	}
	chat.Stands, chat.Agreed = true, true
	return nil
}

func (s *session) isOwn(leg arena.Leg) bool {
	return leg.Seller == s.desk.Self || leg.Buyer == s.desk.Self
}

// carryOut finalizes or cancels a tentative agreement. Agreements beyond the limits, such as left by an
// earlier process with different limits, are cancelled. If the review has changed, a new review arrives and
// causes another attempt.
func (s *session) carryOut(ctx context.Context, number int, verdict Verdict) error {
	at := slices.IndexFunc(s.desk.Pending, func(a arena.Agreement) bool { return a.Number == number })
	if at < 0 || slices.Contains(s.desk.executed, number) {
		return nil
	}
	if verdict == Finalize {
		without := s.desk.Desk
		without.Pending = slices.Delete(slices.Clone(s.desk.Pending), at, at+1)
		if sets, err := without.allow(s.desk.Pending[at].Legs, 0); err != nil || sets > 0 {
			s.config.Logger.WarnContext(ctx, "arena: agreement cancelled", "agreement", number, "error", err, "lacking sets", sets)
			verdict = Cancel
		}
	}
	switch verdict {
	case Finalize:
		return s.do(ctx, arena.Finalize{Agreement: number, Review: s.desk.review})
	case Cancel:
		return s.do(ctx, arena.Cancel{Agreement: number})
	}
	return nil
}
