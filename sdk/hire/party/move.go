package party

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Move is an agent's decision: [Accept], [Propose], [Ask], [Answer] or [Reject].
type Move interface {
	// payload returns the move as a payload, or an error if it is invalid.
	payload(c *conversation, turn Turn, now time.Time) (hire.Payload, error)
}

// Accept accepts the standing offer.
type Accept struct{}

// Propose makes an offer: a worker's counter, or a seeker's new proposal.
type Propose struct {
	// Price is measured in [Turn].Asset's base units, including the protocol's fee.
	Price uint64
	// Deadline limits the delivery time, rounded down to seconds. If zero, the latest offer's deadline is used.
	Deadline time.Time
	// Arbiter decides about a disputed delivery. If empty, the latest offer's arbiter is used.
	Arbiter hire.Base58
}

// Ask asks the counterpart. The next answer is due within 30 seconds by default.
type Ask struct{ Questions []string }

// Answer answers the counterpart's questions.
type Answer struct{ Answers []string }

// Reject ends the deal.
type Reject struct {
	// Code is a reason for machines, such as "price". It is required.
	Code string
	// Note is an optional explanation.
	Note string
}

// InvalidMove reports a rejected move: it exceeds the limits ([ErrBeyondLimit]), the terms cannot be settled
// on chain (an error of [escrow.Settleable]), or it does not fit the state.
type InvalidMove struct {
	// Move is nil if the function returned none.
	Move Move
	// Reason names the violated rule.
	Reason error
}

func (e *InvalidMove) Error() string {
	return fmt.Sprintf("party: invalid move %T: %v", e.Move, e.Reason)
}

// Unwrap returns the reason.
func (e *InvalidMove) Unwrap() error { return e.Reason }

var (
	errNoMove     = errors.New("no move and no error")
	errNoStanding = errors.New("there is no offer of the other side")
	errNoCode     = errors.New("rejection without a code")
	errNoTexts    = errors.New("no text")
)

func (c *conversation) reply() hire.Reply { return hire.Reply{InReplyTo: c.state.Last} }

func (Accept) payload(c *conversation, turn Turn, now time.Time) (hire.Payload, error) {
	standing, stands := turn.Standing()
	if !stands {
		return nil, errNoStanding
	}
	if err := c.allow(turn.Limits, turn.Asset, standing, now); err != nil {
		return nil, err
	}
	return &hire.Accept{Reply: c.reply(), Terms: c.state.Terms}, nil
}

func (p Propose) payload(c *conversation, turn Turn, now time.Time) (hire.Payload, error) {
	latest := turn.Offers[len(turn.Offers)-1]
	offer := Offer{
		By: turn.Role, Price: p.Price, Deadline: latest.Deadline, Arbiter: cmp.Or(p.Arbiter, latest.Arbiter),
	}
	if !p.Deadline.IsZero() {
		offer.Deadline = p.Deadline.Truncate(time.Second)
	}
	if err := c.allow(turn.Limits, turn.Asset, offer, now); err != nil {
		return nil, err
	}
	return c.offer(turn.Role, turn.Asset, offer), nil
}

func (a Ask) payload(c *conversation, _ Turn, _ time.Time) (hire.Payload, error) {
	if len(a.Questions) == 0 {
		return nil, errNoTexts
	}
	return &hire.Clarification{Reply: c.reply(), Questions: texts(a.Questions)}, nil
}

func (a Answer) payload(c *conversation, _ Turn, _ time.Time) (hire.Payload, error) {
	if len(a.Answers) == 0 {
		return nil, errNoTexts
	}
	return &hire.Clarification{Reply: c.reply(), Answers: texts(a.Answers)}, nil
}

func (r Reject) payload(c *conversation, _ Turn, _ time.Time) (hire.Payload, error) {
	if r.Code == "" {
		return nil, errNoCode
	}
	return &hire.Reject{Reply: c.reply(), Code: r.Code, Note: hire.NewText(r.Note)}, nil
}

func texts(of []string) []hire.Text {
	all := make([]hire.Text, len(of))
	for i, text := range of {
		all[i] = hire.NewText(text)
	}
	return all
}
