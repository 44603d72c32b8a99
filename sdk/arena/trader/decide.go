package trader

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// observe follows an event, and begins the decisions that it needs.
func (s *session) observe(ctx context.Context, event arena.Shown) error {
	if event.Number <= s.latest {
		return nil // the standing contains it
	}
	s.latest = event.Number
	s.desk.observe(event)
	if s.config.Observe != nil {
		s.config.Observe(event)
	}
	switch f := event.Fact.(type) {
	case arena.Left:
		if f.Agent == s.desk.Self && f.Unresponsive {
			return s.do(ctx, arena.Connect{})
		}
	case arena.Turn:
		switch {
		case f.Agent != s.desk.Self:
		case f.Chat == 0:
			s.speak(ctx, f.Until)
		default:
			s.turns[f.Chat] = f.Until
			return s.negotiate(ctx, f.Chat, f.Until, nil)
		}
	case arena.ChatSaid:
		s.used(f.Chat, f.Agent)
	case arena.Proposed:
		s.used(f.Chat, f.Agent)
	case arena.AgreedTo:
		s.used(f.Chat, f.Agent)
	case arena.ChatLeft:
		// The standing proposal is gone because a party left: decisions about it are refused, and the turn
		// goes on.
		if until, own := s.turns[f.Chat]; own && f.Agent != s.desk.Self {
			return s.negotiate(ctx, f.Chat, until, nil)
		}
		s.used(f.Chat, f.Agent)
	case arena.Invited:
		if f.By == s.desk.Self {
			s.inviting = false
		} else {
			s.admit(ctx, f)
		}
	case arena.ChatEnded:
		s.forget(topic{"chat", f.Chat})
		delete(s.turns, f.Chat)
	case arena.Voided:
		s.forget(topic{"agreement", f.Agreement})
		delete(s.verdicts, f.Agreement)
	case arena.Traded:
		s.forget(topic{"agreement", f.Agreement})
		delete(s.verdicts, f.Agreement)
	case arena.Reviewed:
		return s.settle(ctx)
	}
	return nil
}

// used ends the trader's turn in a chat when an agent acts.
func (s *session) used(chat int, agent string) {
	if agent == s.desk.Self {
		s.forget(topic{"chat", chat})
		delete(s.turns, chat)
	}
}

// decide runs a decision until a time, less the reserve. Then act carries it out in the session's goroutine, unless the
// decision was forgotten. There is one decision about a topic: a new one ends the older one.
func decide[T any](
	ctx context.Context, s *session, about topic, until time.Time, ask func(context.Context) (T, error),
	act func(ctx context.Context, decision T, err error) error,
) {
	s.forget(about)
	wanted, forget := context.WithCancel(ctx)
	s.deciding[about] = forget
	limited, cancel := context.WithDeadline(wanted, until.Add(-min(s.config.Reserve, time.Until(until)/2)))
	type result struct {
		decision T
		err      error
	}
	decided := make(chan result, 1)
	go func() {
		decision, err := ask(limited)
		decided <- result{decision, err}
	}()
	go func() {
		defer cancel()
		var got result
		select {
		case got = <-decided:
		case <-limited.Done():
			got.err = context.Cause(limited) // the function may never return
		}
		select {
		case s.done <- func(ctx context.Context) error {
			if wanted.Err() != nil {
				return nil
			}
			s.forget(about)
			return act(ctx, got.decision, got.err)
		}:
		case <-wanted.Done():
		}
	}()
}

// forget ends a decision.
func (s *session) forget(about topic) {
	if cancel := s.deciding[about]; cancel != nil {
		cancel()
		delete(s.deciding, about)
	}
}

// failed logs a failed decision.
func (s *session) failed(ctx context.Context, decision string, err error) {
	s.config.Logger.WarnContext(ctx, "arena: decision failed", "decision", decision, "error", err)
}

// slow limits decisions that have no other time limit.
const slow = time.Minute

// state states the interest if it has changed.
func (s *session) state(ctx context.Context) {
	about := topic{kind: "interest"}
	own, joined := s.desk.View.Agent(s.desk.Self)
	if s.config.Interest == nil || s.deciding[about] != nil || !joined || s.desk.View.Phase != arena.PhaseOpen {
		return
	}
	desk := s.desk.copied()
	decide(ctx, s, about, time.Now().Add(slow),
		func(ctx context.Context) (arena.Interest, error) { return s.config.Interest(ctx, desk) },
		func(ctx context.Context, interest arena.Interest, err error) error {
			switch {
			case err != nil:
				s.failed(ctx, "interest", err)
				return nil
			case reflect.DeepEqual(interest, own.Interest):
				return nil
			}
			return s.do(ctx, arena.State{Interest: interest})
		})
}

func (s *session) speak(ctx context.Context, until time.Time) {
	desk := s.desk.copied()
	decide(ctx, s, topic{kind: "floor"}, until,
		func(ctx context.Context) (say arena.Say, err error) {
			if s.config.Speak != nil {
				say, err = s.config.Speak(ctx, desk)
			}
			return say, err
		},
		func(ctx context.Context, say arena.Say, err error) error {
			if err != nil {
				s.failed(ctx, "speak", err)
			}
			if err != nil || say.Text == "" && say.Want == nil {
				return s.do(ctx, arena.Pass{})
			}
			return s.do(ctx, say)
		})
}

func (s *session) invite(ctx context.Context) {
	about := topic{kind: "invite"}
	own, _ := s.desk.View.Agent(s.desk.Self)
	if s.config.Invite == nil || s.deciding[about] != nil || s.inviting || s.desk.View.Phase != arena.PhaseOpen ||
		len(s.desk.Chats) >= arena.MaxChats || own.ID == "" {
		return
	}
	desk := s.desk.copied()
	decide(ctx, s, about, time.Now().Add(slow),
		func(ctx context.Context) (arena.Invite, error) { return s.config.Invite(ctx, desk) },
		func(ctx context.Context, invite arena.Invite, err error) error {
			if err != nil {
				s.failed(ctx, "invite", err)
			}
			if err != nil || len(invite.Agents) == 0 {
				return nil
			}
			_, s.inviting, err = s.try(ctx, invite)
			return err
		})
}

func (s *session) admit(ctx context.Context, invited arena.Invited) {
	invitation := Invitation{Desk: s.desk.copied(), Invited: invited}
	decide(ctx, s, topic{"invitation", invited.Chat}, invited.Until,
		func(ctx context.Context) (bool, error) {
			if s.config.Admit == nil {
				return false, nil
			}
			return s.config.Admit(ctx, invitation)
		},
		func(ctx context.Context, enter bool, err error) error {
			if err != nil {
				s.failed(ctx, "admit", err)
			}
			if enter && err == nil {
				_, accepted, err := s.try(ctx, arena.AcceptInvitation{Chat: invited.Chat})
				if accepted {
					s.desk.await(invited)
				}
				if accepted || err != nil {
					return err
				}
			}
			return s.do(ctx, arena.DeclineInvitation{Chat: invited.Chat})
		})
}

// negotiate decides about a turn in a side chat. invalid is the reason against the move before.
func (s *session) negotiate(ctx context.Context, number int, until time.Time, invalid error) error {
	chat := s.desk.chat(number)
	if chat == nil {
		return s.do(ctx, arena.LeaveChat{Chat: number})
	}
	turn := Turn{Desk: s.desk.copied(), Chat: chat.copied(), Until: until, Invalid: invalid}
	decide(ctx, s, topic{"chat", number}, until,
		func(ctx context.Context) (Move, error) { return s.config.Negotiate(ctx, turn) },
		func(later context.Context, move Move, err error) error {
			if s.desk.chat(number) == nil {
				return nil
			}
			if err == nil {
				if err = s.move(later, number, move); err == nil {
					return nil
				}
				var not *invalidMove
				if !errors.As(err, &not) {
					return err
				}
				if invalid == nil {
					return s.negotiate(ctx, number, until, not.reason)
				}
			}
			s.failed(later, "negotiate", err)
			return s.do(later, arena.LeaveChat{Chat: number})
		})
	return nil
}

// invalidMove is a move not made.
type invalidMove struct{ reason error }

func (i *invalidMove) Error() string { return fmt.Sprintf("trader: invalid move: %v", i.reason) }

// settle decides about the tentative agreements that have no verdict, and finalizes those that have.
func (s *session) settle(ctx context.Context) error {
	for _, pending := range slices.Clone(s.desk.Pending) {
		about := topic{"agreement", pending.Number}
		switch verdict := s.verdicts[pending.Number]; {
		case verdict != Wait:
			if err := s.carryOut(ctx, pending.Number, verdict); err != nil {
				return err
			}
			continue
		case s.deciding[about] != nil, slices.Contains(s.desk.executed, pending.Number):
			continue
		}
		desk := s.desk.copied()
		decide(ctx, s, about, pending.Expires,
			func(ctx context.Context) (Verdict, error) {
				if s.config.Settle == nil {
					return Finalize, nil
				}
				return s.config.Settle(ctx, desk, pending)
			},
			func(ctx context.Context, verdict Verdict, err error) error {
				if err != nil {
					s.failed(ctx, "settle", err)
					return nil
				}
				s.verdicts[pending.Number] = verdict
				return s.carryOut(ctx, pending.Number, verdict)
			})
	}
	return nil
}
