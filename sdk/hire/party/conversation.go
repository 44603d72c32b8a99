package party

import (
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// conversation is an agent's view, computed from messages alone.
type conversation struct {
	id, counterpart string
	role            hire.Role
	rules           hire.Rules
	assets          []hire.Asset
	state           hire.State
	// latest is the newest message sent by either party; nil in an empty conversation.
	latest *hire.Message
	// asset and offers belong to the current deal. refusal is the latest price's error.
	asset   hire.Asset
	offers  []Offer
	refusal error
	text    Text
	// parties holds both keys. It is nil if the agent settles nothing on chain.
	parties *parties
	// withheld is why the agent does not sign the second acceptance; nil if it signs.
	withheld error
	// deals lists the deals accepted by both, oldest first.
	deals []deal
}

// deal is an agreement with both accepts.
type deal struct {
	state hire.State
	asset hire.Asset
	offer Offer
	text  Text
	// hasContract reports whether the home sent a copy of the contract.
	hasContract bool
}

// apply adds m, received by the home at the given time. If it returns an error, it changes nothing.
func (c *conversation) apply(m *hire.Message, at time.Time) error {
	next, err := c.state.Next(m, at, c.rules)
	if err != nil {
		return err
	}
	isNewDeal := next.Deal != c.state.Deal
	c.state = next
	if m.Payload().Type() == hire.TypeContract {
		c.deals[len(c.deals)-1].hasContract = true // Next has found both accepts
		return nil
	}
	c.latest, c.withheld = m, nil
	by := c.sideOf(m)
	switch content := m.Payload().(type) {
	case *hire.Proposal:
		if isNewDeal {
			c.offers, c.text = nil, Text{}
		}
		c.text.Task, c.text.Requirements = content.Task, content.Requirements
		c.offered(by)
	case *hire.Counter:
		c.offered(by)
	case *hire.Clarification:
		c.text.Exchanges = append(slices.Clip(c.text.Exchanges),
			Exchange{By: by, Questions: content.Questions, Answers: content.Answers})
	case *hire.Accept:
		if next.SeekerAccept != "" && next.WorkerAccept != "" && len(c.offers) > 0 && c.refusal == nil {
			c.deals = append(c.deals, deal{
				state: next, asset: c.asset, offer: c.offers[len(c.offers)-1], text: c.text,
			})
		}
	}
	return nil
}

// sideOf returns the sender's role.
func (c *conversation) sideOf(m *hire.Message) hire.Role {
	if m.From() == c.state.Seeker {
		return hire.RoleSeeker
	}
	return hire.RoleWorker
}

// offered adds the latest terms to the offers.
func (c *conversation) offered(by hire.Role) {
	terms := c.state.Terms
	asset, price, err := terms.Price.Units(c.assets)
	if err == nil && len(c.offers) > 0 && asset != c.asset {
		err = beyond("a different symbol than in the proposal")
	}
	deadline, _ := terms.Deadline.Parse() // valid: hire.Parse checks it
	if c.refusal = err; err != nil {
		return
	}
	c.asset = asset
	c.offers = append(slices.Clip(c.offers), Offer{By: by, Price: price, Deadline: deadline, Arbiter: terms.Arbiter})
}

// phase returns the phase at time now.
func (c *conversation) phase(now time.Time) hire.Phase { return c.state.Expire(now).Phase }

// isMine reports whether the agent must answer.
func (c *conversation) isMine(now time.Time) bool {
	if c.latest == nil || c.latest.From() != c.counterpart {
		return false
	}
	switch c.phase(now) {
	case hire.PhaseNegotiating:
		return true
	case hire.PhaseContracted:
		return !c.isComplete() && c.withheld == nil
	case hire.PhaseIdle, hire.PhaseDeclined:
		return c.latest.Payload().Type() == hire.TypeInquiry
	}
	return false
}

// awaitsCapability reports whether this agent sent an inquiry last.
func (c *conversation) awaitsCapability() bool {
	return c.latest != nil && c.latest.Payload().Type() == hire.TypeInquiry && c.latest.From() != c.counterpart
}

// isComplete reports whether both sides have accepted.
func (c *conversation) isComplete() bool {
	return c.state.SeekerAccept != "" && c.state.WorkerAccept != ""
}

// turn describes the state for a decision.
func (c *conversation) turn(limits Limits, now time.Time, invalid error) Turn {
	t := Turn{
		Conversation: c.id, Counterpart: c.counterpart, Deal: c.state.Deal, Role: c.role, Asset: c.asset,
		Offers: slices.Clone(c.offers), Due: c.state.Due, Invalid: invalid, Limits: limits, Text: c.text,
	}
	if standing, stands := t.Standing(); stands {
		t.Refused = c.allow(limits, c.asset, standing, now)
	}
	return t
}

// offer returns an offer as a payload.
func (c *conversation) offer(role hire.Role, asset hire.Asset, offer Offer) hire.Payload {
	price, deadline := asset.Price(offer.Price), hire.NewTime(offer.Deadline)
	if role == hire.RoleWorker {
		return &hire.Counter{
			Reply: c.reply(), AcceptedRequirements: c.text.Requirements, Price: price, EstimatedDelivery: deadline,
			Arbiter: offer.Arbiter,
		}
	}
	return &hire.Proposal{
		Reply: c.reply(), Task: c.text.Task, Requirements: c.text.Requirements, Budget: price, Deadline: deadline,
		Arbiter: offer.Arbiter,
	}
}
