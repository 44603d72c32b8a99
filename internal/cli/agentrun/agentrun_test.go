package agentrun

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestActionsHaveTheirInstructionTheirResultAndTheirPrice(t *testing.T) {
	before := &haggle.Snapshot{Address: solana.PublicKey{7}}
	before.CurrentRound, before.CurrentOfferAmount, before.EffectiveEscrow = 2, 4_500_000, 4_851_125
	told := func(instruction string, events ...protocol.Event) actions.Action {
		var out bytes.Buffer
		log := &Log{Agent: "buyer", Out: &out, JSON: true, Amounts: mint.Mint{Decimals: 6, Symbol: "TEST"}}
		log.Did(instruction, before, &haggle.Receipt{
			Receipt: transaction.Receipt{ComputeUnits: 900, Slot: 5}, Events: events})
		var action actions.Action
		require.NoError(t, json.Unmarshal(out.Bytes(), &action))
		return action
	}
	offer := told("submit_offer", &protocol.OfferSubmitted{Amount: 2_500_000, Round: 3, EffectiveEscrow: 4_778_358})
	require.Equal(t, "offered", offer.Result)
	require.EqualValues(t, 3, offer.Round)
	require.EqualValues(t, 2_500_000, offer.Price.Units)
	require.EqualValues(t, 4_778_358, offer.EffectiveEscrow.Units)
	unknown := told("submit_offer")
	require.EqualValues(t, 3, unknown.Round)
	require.Nil(t, unknown.Price)
	take := told("accept_offer")
	require.Equal(t, "offer accepted", take.Result)
	require.EqualValues(t, 2, take.Round)
	require.EqualValues(t, 4_500_000, take.Price.Units)
	for instruction, name := range map[string]string{
		"create_negotiation": "created", "accept_invitation": "invitation accepted", "reject_negotiation": "rejected",
		"expire_negotiation": "expired", "claim_payout": "payout claimed", "close_negotiation": "closed",
	} {
		action := told(instruction)
		require.Equal(t, instruction, action.Name)
		require.Equal(t, name, action.Result)
		require.Nil(t, action.Price)
	}
}

// The table has a header, and the symbol once.
func TestActionsForPeopleAreATable(t *testing.T) {
	for _, symbol := range []string{"TEST", "ABCDEFGHIJ", "4uQe…Vj3k"} {
		var out bytes.Buffer
		log := &Log{Agent: "seller", Out: &out, Amounts: mint.Mint{Decimals: 6, Symbol: symbol}}
		n := &haggle.Snapshot{}
		n.EffectiveEscrow, n.CurrentOfferAmount, n.CurrentRound = 18_446_744_073_709, 3_500_000, 7
		receipt := &haggle.Receipt{Receipt: transaction.Receipt{ComputeUnits: 3641}}
		log.Did("accept_invitation", n, receipt)
		log.Did("accept_offer", n, receipt)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		require.Len(t, lines, 3)
		require.Contains(t, lines[0], "price ("+symbol+")")
		require.Equal(t, 1, strings.Count(out.String(), symbol))
		for _, line := range lines {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 100, line)
		}
		before := func(line, text string) int {
			prefix, _, found := strings.Cut(line, text)
			require.True(t, found, line)
			return utf8.RuneCountInString(prefix)
		}
		require.Equal(t, before(lines[0], "price ("), before(lines[2], "3.500000"))
		require.Equal(t, before(lines[0], "escrow worth"), before(lines[2], "18446744.073709"))
	}
}

// Unrelated purchases do not block on each other's journal.
func TestEachMatterHasAJournalOfItsOwn(t *testing.T) {
	party := func() *Party {
		return &Party{
			Log: &Log{Agent: "buyer"}, Self: solana.PublicKey{1}, Counterpart: solana.PublicKey{2}, Mint: solana.PublicKey{3}, ServiceHash: [32]byte{4},
		}
	}
	name := party().journalName(solana.Hash{5})
	require.Equal(t, name, party().journalName(solana.Hash{5}))
	names := map[string]bool{name: true}
	for _, change := range []func(*Party){
		func(p *Party) { p.Agent = "seller" }, func(p *Party) { p.Self[0]++ }, func(p *Party) { p.Counterpart[0]++ },
		func(p *Party) { p.Mint[0]++ }, func(p *Party) { p.ServiceHash[0]++ },
	} {
		other := party()
		change(other)
		names[other.journalName(solana.Hash{5})] = true
	}
	names[party().journalName(solana.Hash{6})] = true
	require.Len(t, names, 7)
}
