package load

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

func TestEveryTransactionIsAccountedFor(t *testing.T) {
	mine := new(negotiation)
	entry := record{action: "submit_offer", negotiation: mine, outcome: confirmed, done: true,
		signature: solana.Signature{1}, slot: 5}
	found := landed{slot: 5, signature: solana.Signature{1}, instruction: "submit_offer"}
	with := func(change func(*record, *landed)) (record, landed) {
		changedRecord, changedLanded := entry, found
		change(&changedRecord, &changedLanded)
		return changedRecord, changedLanded
	}
	for name, example := range map[string]struct {
		change   func(*record, *landed)
		findings int
	}{
		"equal":                  {func(*record, *landed) {}, 0},
		"another signature":      {func(_ *record, l *landed) { l.signature = solana.Signature{2} }, 2},
		"nothing was executed":   {func(m *record, _ *landed) { m.signature = solana.Signature{} }, 1},
		"failed on chain":        {func(_ *record, l *landed) { l.failed = true }, 1},
		"recorded as failed":     {func(m *record, _ *landed) { m.done = false }, 1},
		"failed and recorded so": {func(m *record, l *landed) { m.done, l.failed = false, true }, 0},
		"in another slot":        {func(_ *record, l *landed) { l.slot = 6 }, 1},
		"another instruction":    {func(_ *record, l *landed) { l.instruction = "accept_offer" }, 1},
		"a transfer has no name": {func(m *record,
			l *landed) {
			m.negotiation, m.action, l.instruction = nil, plainTransfer, ""
		}, 0},
		"a transfer without record": {func(m *record,
			l *landed) {
			m.signature, l.instruction = solana.Signature{}, ""
		}, 1},
	} {
		var a audit
		changedRecord, changedLanded := with(example.change)
		a.compareSignatures([]record{changedRecord}, &blockReader{program: []landed{changedLanded}})
		require.Equal(t, example.findings, a.findings.Count, "%s: %q", name, a.findings.Texts())
	}
}
