package llm

import (
	"context"
	"encoding/json"
	"time"
)

// Invitation is an invitation to negotiate in any protocol.
type Invitation struct {
	// Negotiation identifies the negotiation in budget, cache and records.
	Negotiation string
	// Role names the invited party's part, such as "seller".
	Role string
	// Facts contains the terms as numbers, as a value for package json. Counterparty text belongs in Quotes.
	Facts any
	// Quotes adds text of the protocol.
	Quotes []Quote
	// Deadline limits the answer.
	Deadline time.Time
}

// Consider reports whether to accept an invitation, before its deadline. Most models decide. In a tie, and if
// no model returns a usable answer, [Options].DeclineOnFailure decides, and err is nil. Consider returns
// ctx's cause if ctx ends, and errors of [Options].Decided.
func (c *Chooser) Consider(ctx context.Context, invitation Invitation) (accept bool, err error) {
	record := draft{begun: time.Now(), Record: Record{
		Negotiation: invitation.Negotiation, Question: "invitation", Role: invitation.Role, Answers: []Answer{},
	}}
	facts := struct {
		Role  string `json:"role"`
		Terms any    `json:"invitation"`
	}{invitation.Role, invitation.Facts}
	if err := record.setFacts(facts); err != nil {
		return false, err
	}
	results, err := c.ask(ctx, question{
		negotiation: invitation.Negotiation, facts: record.Facts, key: facts, quotes: invitation.Quotes,
		rules: invitationRules, schemaName: invitationSchema, schema: invitationAnswer, deadline: invitation.Deadline,
	}, &record)
	if err != nil {
		return false, err
	}
	balance, usable := 0, 0
	for i := range results {
		switch considered(&results[i], &record.Answers[i]) {
		case moveAccept:
			balance, usable = balance+1, usable+1
		case moveReject:
			balance, usable = balance-1, usable+1
		}
	}
	switch {
	case usable == 0:
		record.Fallback = aloneNoUsage
	case balance == 0:
		record.Fallback = overrideTie
	}
	if accept = balance > 0; balance == 0 {
		accept = !c.options.DeclineOnFailure
	}
	if usable > 0 {
		c.keep(&record, results)
	}
	record.Move.Move = moveReject
	if accept {
		record.Move.Move = moveAccept
	}
	return accept, c.finish(&record)
}

var invitationAnswer = object(
	property{"reason", typed("string", reasonText)}, property{"answer", oneOf([]string{moveAccept, moveReject})})

// considered records a model's answer and returns "accept", "reject", or an empty text for unusable answers.
func considered(result *called, answer *Answer) string {
	if result.failure != "" {
		return ""
	}
	var w struct {
		Reason string `json:"reason"`
		Answer string `json:"answer"`
	}
	if read(json.RawMessage(result.json), &w) != nil || w.Answer != moveAccept && w.Answer != moveReject {
		answer.Failure = FailureInvalid
		return ""
	}
	answer.Move, answer.Reason = w.Answer, printable(w.Reason)
	return w.Answer
}
