package languagemodel

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// Text formats a decision as a single line. Model reasons are quoted, because they are not trusted.
func Text(record llm.Record) string {
	name := nameOf(record.Negotiation)
	text := fmt.Sprintf("%s round %d: %s", name, record.Round, record.Move.Move)
	if record.Question == "invitation" {
		text = fmt.Sprintf("%s invitation: %s", name, record.Move.Move)
	}
	if offer := record.Move.Offer; offer != nil && offer.Price != "" {
		text += " " + offer.Price
	}
	var why []string
	if record.Fallback != "" {
		why = append(why, "by the strategy: "+record.Fallback)
	}
	for _, answer := range record.Answers {
		switch {
		case answer.Failure != "":
			why = append(why, fmt.Sprintf("%s: %s", answer.Model, answer.Failure))
		default:
			why = append(why, fmt.Sprintf("%s: %q", answer.Model, answer.Reason))
		}
	}
	if record.Correction != "" {
		why = append(why, record.Correction)
	}
	if len(why) == 0 {
		why = append(why, record.Move.Reason)
	}
	return text + " (" + strings.Join(why, "; ") + ")"
}

// nameOf returns a negotiation's address or a conversation id. The counterparty may have chosen the id, so it
// is quoted unless it is a plain word.
func nameOf(negotiation string) string {
	name := negotiation[:max(strings.LastIndexByte(negotiation, '/'), 0)]
	if !plain.MatchString(name) {
		return fmt.Sprintf("%.80q", name)
	}
	return name
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// SpendingText formats a model's usage in a negotiation as a single line.
func SpendingText(spent llm.Spending) string {
	text := fmt.Sprintf("%s to %s, %d tokens read, %d written", report.Counted(int(spent.Requests), "request", ""),
		spent.Model, spent.InputTokens, spent.OutputTokens)
	if spent.AssumedTokens > 0 {
		text += fmt.Sprintf(", and up to %d in requests without a count", spent.AssumedTokens)
	}
	if spent.Cost > 0 {
		text += ", " + spent.Cost.String()
	}
	return text
}
