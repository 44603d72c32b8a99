package escrow_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// negotiationOf returns a new negotiation that settles terms.
func negotiationOf(t *testing.T, terms escrow.Terms) *haggle.Snapshot {
	t.Helper()
	address, err := terms.Address()
	require.NoError(t, err)
	created := start.Unix() + 10
	deadline := created + 1_800
	return &haggle.Snapshot{Address: address, Time: created, Negotiation: protocol.Negotiation{
		Buyer: terms.Seeker, Seller: terms.Worker, SessionID: terms.Session, TokenMint: terms.Mint,
		EscrowAmount: terms.Price, EffectiveEscrow: terms.Price, ServiceHash: terms.Service, MaxRounds: 1,
		ResponseWindow: 300, GlobalDeadline: deadline, TurnDeadline: deadline, MinOfferBps: 1_000,
		ProtocolFeeBps: 50, CreatedAt: created, Arbiter: terms.Arbiter, ReviewHours: 24,
		MilestoneBps:      [8]uint16{10_000},
		MilestoneDeadline: terms.Deadline.Unix() + 24*3_600 + 60,
	}}
}

// progressed returns the negotiation after the given steps: accepted invitation, offer, accepted offer, end.
func progressed(n *haggle.Snapshot, steps int) *haggle.Snapshot {
	if steps > 0 {
		n.Status, n.TurnDeadline = protocol.NegotiationStatusProposed, n.CreatedAt+300
	}
	if steps > 1 {
		n.CurrentRound, n.CurrentOfferAmount, n.CurrentOfferBy = 1, n.EscrowAmount, n.Buyer
	}
	if steps > 2 {
		n.Status, n.SettledAmount = protocol.NegotiationStatusAccepted, n.EscrowAmount
	}
	if steps > 3 {
		n.Status, n.PaidGross, n.SettledAt = protocol.NegotiationStatusSettled, n.EscrowAmount, n.CreatedAt+60
	}
	return n
}

func TestNegotiationPassesAtEachStep(t *testing.T) {
	_, terms := termsOf(t)
	for steps := range 5 {
		require.NoError(t, terms.Check(progressed(negotiationOf(t, terms), steps)), "after %d steps", steps)
	}
}

// mismatch returns the field that Check reports.
func mismatch(t *testing.T, terms escrow.Terms, n *haggle.Snapshot) string {
	t.Helper()
	err := terms.Check(n)
	if err == nil {
		return ""
	}
	var found *escrow.MismatchError
	require.ErrorAs(t, err, &found)
	assert.Equal(t, n.Address, found.Negotiation)
	assert.NotEmpty(t, found.Have)
	assert.NotEmpty(t, found.Want)
	assert.NotEqual(t, found.Have, found.Want)
	return found.Field
}

// Each change could profit a thief. They cover every field chosen by the creator, and later steps' prices.
func TestNegotiationOnOtherTermsIsRefused(t *testing.T) {
	other := solana.PublicKey{7}
	created := start.Unix() + 10
	for _, c := range []struct {
		name   string
		field  string
		steps  int
		change func(*haggle.Snapshot)
	}{
		{"negotiation at another address", "address", 0, func(n *haggle.Snapshot) { n.Address = other }},
		{"other buyer", "buyer", 0, func(n *haggle.Snapshot) { n.Buyer = other }},
		{"other seller", "seller", 0, func(n *haggle.Snapshot) { n.Seller = other }},
		{"other session", "session_id", 0, func(n *haggle.Snapshot) { n.SessionID++ }},
		{"accomplice as arbiter", "arbiter", 0, func(n *haggle.Snapshot) { n.Arbiter = other }},
		{"no arbiter", "arbiter", 0, func(n *haggle.Snapshot) { n.Arbiter = solana.PublicKey{} }},
		{"other service", "service_hash", 0, func(n *haggle.Snapshot) { n.ServiceHash[31]++ }},
		{"worthless mint", "token_mint", 0, func(n *haggle.Snapshot) { n.TokenMint = other }},
		{"too little in escrow", "escrow_amount", 0, func(n *haggle.Snapshot) { n.EscrowAmount-- }},
		{"too much in escrow", "escrow_amount", 0, func(n *haggle.Snapshot) { n.EscrowAmount++ }},
		{"decay that lowers the offer", "decay_rate_bps", 0, func(n *haggle.Snapshot) { n.DecayRateBps = 1 }},
		{"further offers", "max_rounds", 0, func(n *haggle.Snapshot) { n.MaxRounds = 2 }},
		{"bond to forfeit", "bond_required", 0, func(n *haggle.Snapshot) { n.BondRequired = 1 }},
		{"sealed prices", "zopa_enabled", 0, func(n *haggle.Snapshot) { n.ZopaEnabled = true }},
		{"two milestones", "milestone_bps", 0, func(n *haggle.Snapshot) { n.MilestoneBps = [8]uint16{9_999, 1} }},
		{"payment without milestones", "milestone_bps", 0, func(n *haggle.Snapshot) { n.MilestoneBps = [8]uint16{} }},
		{"high fee", "protocol_fee_bps", 0, func(n *haggle.Snapshot) { n.ProtocolFeeBps = 51 }},
		{"short response window", "response_window", 0, func(n *haggle.Snapshot) { n.ResponseWindow = 299 }},
		{"short global deadline", "global_deadline", 0, func(n *haggle.Snapshot) { n.GlobalDeadline = created + 1_499 }},
		{"global deadline in the past", "global_deadline", 0, func(n *haggle.Snapshot) { n.GlobalDeadline = created - 1 }},
		{"long review", "review_hours", 0, func(n *haggle.Snapshot) { n.ReviewHours = 25 }},
		{"no time to claim at the deadline", "milestone_deadline", 0, func(n *haggle.Snapshot) { n.MilestoneDeadline-- }},
		{"no time to claim after a long bargain", "milestone_deadline", 0, func(n *haggle.Snapshot) { n.GlobalDeadline += 86_400 }},
		{"disputed price held for long", "milestone_deadline", 0, func(n *haggle.Snapshot) { n.MilestoneDeadline += 3_601 }},
		{"terms in the metadata", "metadata", 0, func(n *haggle.Snapshot) { n.Metadata[0] = protocol.MetadataTermsHash }},
		{"document in the offer's metadata", "metadata", 2, func(n *haggle.Snapshot) { n.Metadata[0] = protocol.MetadataTermsHash }},
		{"lower offer", "current_offer_amount", 2, func(n *haggle.Snapshot) { n.CurrentOfferAmount-- }},
		{"lower price", "settled_amount", 3, func(n *haggle.Snapshot) { n.SettledAmount-- }},
		{"lower price that is paid", "settled_amount", 4, func(n *haggle.Snapshot) { n.SettledAmount-- }},
		{"expired", "status", 0, func(n *haggle.Snapshot) { n.Status = protocol.NegotiationStatusExpired }},
		{"rejected", "status", 2, func(n *haggle.Snapshot) { n.Status = protocol.NegotiationStatusRejected }},
		{"invitation that can only expire", "turn_deadline", 0, func(n *haggle.Snapshot) { n.Time = n.TurnDeadline }},
		{"offer that can only expire", "turn_deadline", 2, func(n *haggle.Snapshot) { n.Time = n.TurnDeadline }},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, terms := termsOf(t)
			n := progressed(negotiationOf(t, terms), c.steps)
			require.NoError(t, terms.Check(n))
			c.change(n)
			require.Equal(t, c.field, mismatch(t, terms, n))
		})
	}
}

func TestBetterTermsForTheWorkerPass(t *testing.T) {
	_, terms := termsOf(t)
	for name, change := range map[string]func(*haggle.Snapshot){
		"no fee":                 func(n *haggle.Snapshot) { n.ProtocolFeeBps = 0 },
		"long response window":   func(n *haggle.Snapshot) { n.ResponseWindow = 3_600 },
		"slow creation":          func(n *haggle.Snapshot) { n.GlobalDeadline = n.CreatedAt + 1_500 },
		"short review":           func(n *haggle.Snapshot) { n.ReviewHours, n.MilestoneDeadline = 1, n.MilestoneDeadline-23*3_600 },
		"an hour more":           func(n *haggle.Snapshot) { n.MilestoneDeadline += 3_600 },
		"snapshot without clock": func(n *haggle.Snapshot) { n.Time = 0 },
	} {
		n := negotiationOf(t, terms)
		change(n)
		require.NoError(t, terms.Check(n), name)
	}
	// An agreed price has no turn that could be over.
	n := progressed(negotiationOf(t, terms), 3)
	n.Time = n.TurnDeadline + 1
	require.NoError(t, terms.Check(n))
}

// Sub-second deadlines are rounded up, and deadlines during the bargaining still leave time for claims.
func TestClaimIsPossibleUntilTheDeadline(t *testing.T) {
	_, terms := termsOf(t)
	n := negotiationOf(t, terms)
	terms.Deadline = terms.Deadline.Add(time.Millisecond)
	require.Equal(t, "milestone_deadline", mismatch(t, terms, n))
	n.MilestoneDeadline++
	require.NoError(t, terms.Check(n))

	terms.Deadline = start.Add(time.Minute)
	n.MilestoneDeadline = n.GlobalDeadline + 24*3_600 + 59
	require.Equal(t, "milestone_deadline", mismatch(t, terms, n))
	n.MilestoneDeadline++
	require.NoError(t, terms.Check(n))
}

// unchecked lists the new negotiation fields that Check does not compare, with the reasons.
var unchecked = map[string]string{
	"CurrentRound":       "counts offers, and there is one offer at most",
	"CurrentOfferAmount": "has no meaning without an offer",
	"OfferSide":          "has no meaning without an offer",
	"EffectiveEscrow":    "is the escrow without decay",
	"MinOfferBps":        "the seeker offers the whole price",
	"LastOfferAt":        "follows from the offers",
	"SettledAt":          "follows from the settlement",
	"SettledAmount":      "has no meaning before the agreement",
	"BuyerCommitment":    "there are no sealed prices",
	"SellerCommitment":   "there are no sealed prices",
	"ZopaPhase":          "there are no sealed prices",
	"BuyerPrice":         "there are no sealed prices",
	"SellerPrice":        "there are no sealed prices",
	"Bump":               "follows from the address",
	"VaultBump":          "follows from the address",
	"Version":            "Snapshot checks it",
	"PendingExtension":   "only a second offer could grant it",
	"BondState":          "there is no bond",
	"MilestonesDecided":  "follows from the milestones",
	"MilestonesClaimed":  "follows from the milestones",
	"MilestonesDisputed": "follows from the milestones",
	"ClaimableBuyer":     "follows from the payments",
	"ClaimableSeller":    "follows from the payments",
	"PaidGross":          "follows from the payments",
}

// A new field of the account fails this test until Check compares the field or unchecked lists it.
func TestEveryFieldIsComparedOrHarmless(t *testing.T) {
	_, terms := termsOf(t)
	fields := reflect.TypeFor[protocol.Negotiation]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		var found []string
		for _, up := range []bool{true, false} {
			n := negotiationOf(t, terms)
			change(t, reflect.ValueOf(&n.Negotiation).Elem().Field(i), up)
			found = append(found, mismatch(t, terms, n))
		}
		compared := slices.ContainsFunc(found, func(field string) bool { return field != "" })
		assert.Equal(t, unchecked[name] == "", compared, "%s: %q", name, found)
	}
}

// change makes a value much larger or smaller.
func change(t *testing.T, value reflect.Value, up bool) {
	t.Helper()
	switch kind := value.Kind(); {
	case kind == reflect.Bool:
		value.SetBool(!value.Bool())
	case kind == reflect.Array:
		change(t, value.Index(0), up)
	case value.CanInt() && up:
		value.SetInt(value.Int() + 1<<17)
	case value.CanInt():
		value.SetInt(value.Int() - 1<<17)
	case kind == reflect.Uint8 && value.Type() == reflect.TypeFor[protocol.NegotiationStatus]():
		value.SetUint(uint64(protocol.NegotiationStatusExpired))
	case value.CanUint() && up:
		value.SetUint(value.Uint() + 30)
	case value.CanUint():
		value.SetUint(value.Uint() - min(value.Uint(), 1))
	default:
		require.Failf(t, "no change", "%s", value.Type())
	}
}
