package proof_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	documents "github.com/haggle-protocol/haggle/sdk/bargain/terms"
)

const whales = `name: whales
issues:
- {name: days, type: ContiguousIssue, values: [1, 5]}
- {name: price, type: ContiguousIssue, values: [1, 5]}
`

// overIssues returns the reveal for a strategy over a price in millions of base units and a number of days.
func overIssues(name string, side proof.Side) proof.Reveal {
	profile := `type: LinearAdditiveUtilityFunction
reserved_value: 0.1
weights: {days: 0.6, price: 0.4}
values:
- {type: AffineFun, slope: -0.25, bias: 1.25}
- {type: AffineFun, slope: -0.25, bias: 1.25}
`
	if side == proof.Seller {
		profile = strings.ReplaceAll(strings.ReplaceAll(profile, "-0.25", "0.25"), "1.25", "-0.25")
		profile = strings.Replace(profile, "days: 0.6, price: 0.4", "days: 0.2, price: 0.8", 1)
	}
	s := &proof.Strategy{Name: name, Seed: 9, Issues: &proof.Issues{
		Domain: whales, Profile: profile, Price: "price", Unit: 1_000_000,
	}}
	return proof.Reveal{Strategy: s, Nonce: proof.Hash{7}}
}

// bargained returns the proof for a side that plays a strategy over issues against another strategy. The side
// lacks the documents from the rounds listed in missing, counted from 0.
func bargained(t testing.TB, side proof.Side, name, other string, missing ...int) *proof.Proof {
	t.Helper()
	p := &proof.Proof{
		Version: proof.Version, Terms: terms, Side: side, Offers: []proof.Offer{}, Reveal: overIssues(name, side),
	}
	p.Terms.DecayRateBps, p.Terms.MaxRounds = 0, 8
	var err error
	p.Commitment, err = proof.Commit(p.Terms, p.Side, p.Reveal)
	require.NoError(t, err)
	sides := []proof.Side{proof.Buyer, proof.Seller}
	var players [2]onchain.Player
	for at, by := range sides {
		r := overIssues(map[bool]string{true: name, false: other}[by == side], by)
		preferences, err := r.Strategy.Issues.Preferences()
		require.NoError(t, err)
		players[at] = onchain.Player{Strategy: strategy.Named()[r.Strategy.Name], Preferences: preferences}
	}
	rules := onchain.Rules{Escrow: p.Terms.Escrow, MaxRounds: 8, MinOfferBps: p.Terms.MinOfferBps, FeeBps: 50}
	n, known := rules.Negotiation(), [2][]bargain.Outcome{}
	for round := 0; ; round++ {
		self, standing := int(n.Turn()), bargain.NoOutcome
		if round > 0 {
			standing = known[self][round-1]
		}
		action := players[self].Replay(n, n.Turn(), known[self], standing, 9)
		if action.Move != bargain.MoveOffer {
			p.Last = &proof.Last{By: sides[self], Move: map[bargain.Move]string{
				bargain.MoveAccept: "accept", bargain.MoveEnd: "reject"}[action.Move]}
			return p
		}
		domain := players[0].Preferences.Domain()
		committed := documents.Committed{}
		if sides[self] == side {
			committed.Commitment = p.Commitment
			if standing != bargain.NoOutcome {
				committed.Answers = sha256.Sum256([]byte(p.Offers[round-1].Document))
			}
		}
		text, hash, err := documents.WriteCommitted(domain, action.Outcome, committed)
		require.NoError(t, err)
		amount, err := documents.Price(domain, action.Outcome)
		require.NoError(t, err)
		metadata := proof.Metadata(onchain.DocumentMetadata(hash))
		offer := proof.Offer{Amount: amount, Metadata: metadata, Document: string(text)}
		for viewer, by := range sides {
			seen := action.Outcome
			for _, lost := range missing {
				if lost == round && by == side && viewer != self {
					seen, offer.Document = bargain.NoOutcome, ""
				}
			}
			known[viewer] = append(known[viewer], seen)
		}
		p.Offers = append(p.Offers, offer)
		onchain.Apply(n, n.Turn(), amount, 0)
	}
}

// TestEveryStrategyOverIssuesIsProved replays all named strategies on both sides, through the file format,
// with all and with only some documents.
func TestEveryStrategyOverIssuesIsProved(t *testing.T) {
	accepted, rejected := 0, 0
	for name := range strategy.Named() {
		for _, side := range []proof.Side{proof.Buyer, proof.Seller} {
			for _, missing := range [][]int{nil, {1, 2}, {0, 1, 2, 3, 4, 5, 6, 7}} {
				p := bargained(t, side, name, "negmas-conceder", missing...)
				result, err := verifyFile(t, p)
				require.NoError(t, err, "%s, %s, without %v", name, side, missing)
				require.True(t, result.Replayed)
				require.Equal(t, p.Last.By == side, result.Ended)
				unread := 0
				for i, offer := range p.Offers {
					if offer.Document == "" && i+1 < len(p.Offers) {
						unread++
					}
				}
				require.Equal(t, unread, result.Unread, "%s, %s, without %v", name, side, missing)
				if result.Ended && p.Last.Move == "accept" {
					accepted++
				} else if result.LastUnread {
					rejected++
				}
			}
		}
	}
	require.Positive(t, accepted)
	require.Positive(t, rejected)
}

// TestTheCommitmentOverIssuesIsFixed compares with a known value, calculated with Python's json and hashlib
// from the package's documentation.
func TestTheCommitmentOverIssuesIsFixed(t *testing.T) {
	requireCommitment(t, "89e3edfef570311aed84dd3d680ffdc76027ac6200bb504fa8e8dccf2aa01d53",
		overIssues("linear", proof.Buyer))
}

func TestTamperedProofsOverIssuesFail(t *testing.T) {
	const (
		replay   = "proof: recorded move is not the strategy's: "
		document = replay + "the document of offer 1 is not that of the strategy's offer: days=1, price=1000000"
	)
	redocument := func(p *proof.Proof, at int, from, to string) {
		text := strings.Replace(p.Offers[at].Document, from, to, 1)
		p.Offers[at].Document = text
		p.Offers[at].Metadata = proof.Metadata(onchain.DocumentMetadata(sha256.Sum256([]byte(text))))
	}
	for name, test := range map[string]struct {
		change func(p *proof.Proof)
		is     error
		text   string
	}{
		"domain": {func(p *proof.Proof) { p.Reveal.Strategy.Issues.Domain += " " }, proof.ErrCommitment,
			"proof: reveal does not match the commitment"},
		"profile": {func(p *proof.Proof) { p.Reveal.Strategy.Issues.Profile += " " }, proof.ErrCommitment,
			"proof: reveal does not match the commitment"},
		"price": {func(p *proof.Proof) { p.Reveal.Strategy.Issues.Price = "days" }, proof.ErrCommitment,
			"proof: reveal does not match the commitment"},
		"unit": {func(p *proof.Proof) { p.Reveal.Strategy.Issues.Unit++ }, proof.ErrCommitment,
			"proof: reveal does not match the commitment"},
		"no issues": {func(p *proof.Proof) { p.Reveal.Strategy.Issues = nil }, proof.ErrCommitment,
			"proof: reveal does not match the commitment"},
		"another text": {func(p *proof.Proof) { p.Offers[2].Document += " " }, proof.ErrMetadata,
			"proof: invalid metadata: the document of offer 3 does not match it"},
		"another hash": {func(p *proof.Proof) { p.Offers[2].Metadata[32]++ }, proof.ErrMetadata,
			"proof: invalid metadata: the document of offer 3 does not match it"},
		"a text without a hash": {func(p *proof.Proof) { p.Offers[2].Metadata = p.Commitment.Metadata() },
			proof.ErrMetadata,
			"proof: invalid metadata: the document of offer 3 does not match it"},
		"own document missing": {func(p *proof.Proof) { p.Offers[2].Document = "" }, proof.ErrReplay,
			replay + "offer 3: terms: invalid document: unexpected end of JSON input"},
		"first own document missing": {func(p *proof.Proof) { p.Offers[0].Document = "" }, proof.ErrMetadata,
			"proof: invalid metadata: offer 1 does not carry the commitment"},
		"a price with a commitment alone": {func(p *proof.Proof) {
			p.Offers[0].Document, p.Offers[0].Metadata = "", p.Commitment.Metadata()
		}, proof.ErrReplay, document},
		"another issue": {func(p *proof.Proof) { redocument(p, 0, `"days":"1"`, `"days":"2"`) }, proof.ErrReplay,
			document},
		"another commitment": {func(p *proof.Proof) { redocument(p, 0, `"commitment":"`, `"commitment":"00`) },
			proof.ErrMetadata, ""},
		"another commitment later": {func(p *proof.Proof) {
			redocument(p, 2, hex.EncodeToString(p.Commitment[:]), strings.Repeat("ab", 32))
		}, proof.ErrReplay, ""},
		"other side's document missing": {func(p *proof.Proof) { p.Offers[1].Document = "" }, proof.ErrReplay,
			replay + "offer 3 answers the document of offer 2: terms: document does not match the hash of the offer"},
		"other side's document invalid": {func(p *proof.Proof) {
			redocument(p, 1, `"days":"`, `"days":"6`)
			answer := sha256.Sum256([]byte(p.Offers[1].Document))
			own, _ := documents.CommittedIn([]byte(p.Offers[2].Document))
			redocument(p, 2, hex.EncodeToString(own.Answers[:]), hex.EncodeToString(answer[:]))
		}, proof.ErrReplay, ""},
		"another document answered": {func(p *proof.Proof) {
			own, _ := documents.CommittedIn([]byte(p.Offers[2].Document))
			redocument(p, 2, hex.EncodeToString(own.Answers[:]), strings.Repeat("ab", 32))
		}, proof.ErrReplay, replay + "offer 3 answers another document than that of offer 2"},
		"amount": {func(p *proof.Proof) { p.Offers[0].Amount += 1_000_000 }, proof.ErrReplay,
			replay + "offer 1 is 2000000, the strategy's is 1000000"},
		"accepted document missing": {func(p *proof.Proof) { p.Offers[len(p.Offers)-1].Document = "" },
			proof.ErrReplay, ""},
		"accepted price without a document": {func(p *proof.Proof) {
			p.Offers[len(p.Offers)-1].Document, p.Offers[len(p.Offers)-1].Metadata = "", proof.Metadata{}
		}, proof.ErrReplay, ""},
		"last move": {func(p *proof.Proof) { p.Last.Move = "reject" }, proof.ErrReplay,
			replay + "the last move is reject, the strategy's is accept (meets the curve's target)"},
	} {
		t.Run(name, func(t *testing.T) {
			p := bargained(t, proof.Buyer, "negmas-boulware", "negmas-conceder")
			require.Equal(t, &proof.Last{By: proof.Buyer, Move: "accept"}, p.Last)
			require.GreaterOrEqual(t, len(p.Offers), 4)
			test.change(p)
			_, err := p.Verify()
			require.ErrorIs(t, err, test.is)
			if test.text != "" {
				require.EqualError(t, err, test.text)
			}
		})
	}
}

// TestAMissingDocumentCannotBeClaimedLater checks a buyer that knew an offer. If the proof omits the offer's
// document, or later claims that the document was missing, verification fails, because the reply's hash is on
// chain.
func TestAMissingDocumentCannotBeClaimedLater(t *testing.T) {
	p := bargained(t, proof.Buyer, "negmas-tit-for-tat", "negmas-conceder", 1)
	result, err := p.Verify()
	require.NoError(t, err)
	require.Equal(t, 1, result.Unread)
	known := bargained(t, proof.Buyer, "negmas-tit-for-tat", "negmas-conceder")
	_, err = known.Verify()
	require.NoError(t, err)
	// A document that the proof has, but that the side said it did not have, counts as missing all the same.
	p.Offers[1].Document = known.Offers[1].Document
	late, err := p.Verify()
	require.NoError(t, err)
	require.Equal(t, result, late)
	known.Offers[1].Document = ""
	_, err = known.Verify()
	require.ErrorIs(t, err, proof.ErrReplay)
}

// TestAnInvalidDocumentIsNoClaim checks a seller with different prices in document and offer: a proof
// including the document shows that the buyer could accept nothing.
func TestAnInvalidDocumentIsNoClaim(t *testing.T) {
	p := bargained(t, proof.Buyer, "linear", "negmas-conceder", 1)
	text := `{"issues":{"days":"1","price":"1000000"},"version":"haggle-terms-v1"}`
	p.Offers[1].Metadata = proof.Metadata(onchain.DocumentMetadata(sha256.Sum256([]byte(text))))
	result, err := p.Verify()
	require.NoError(t, err)
	require.Equal(t, 1, result.Unread)
	p.Offers[1].Document = text
	result, err = p.Verify()
	require.NoError(t, err)
	require.Zero(t, result.Unread)
	require.Equal(t, 1, result.Invalid)
	p.Offers[1] = proof.Offer{Amount: p.Offers[1].Amount}
	result, err = p.Verify()
	require.NoError(t, err, "an offer about the price alone")
	require.Zero(t, result.Unread)
	require.Zero(t, result.Invalid)

	p = bargained(t, proof.Buyer, "hardliner", "hardliner", 7)
	require.Equal(t, &proof.Last{By: proof.Buyer, Move: "reject"}, p.Last)
	result, err = p.Verify()
	require.NoError(t, err)
	require.True(t, result.LastUnread)
	require.Zero(t, result.Invalid)
	p.Offers[7] = proof.Offer{
		Amount: p.Offers[7].Amount, Document: text,
		Metadata: proof.Metadata(onchain.DocumentMetadata(sha256.Sum256([]byte(text)))),
	}
	result, err = p.Verify()
	require.NoError(t, err)
	require.Equal(t, proof.Result{Replayed: true, Offers: 4, Ended: true, Published: true, Invalid: 1}, result)
}

// TestDocumentsBeyondTheDomainAreCounted checks a buyer with a committed domain lacking the number of days
// offered by the seller: the proof is valid, because the buyer bargained as if the documents were missing.
func TestDocumentsBeyondTheDomainAreCounted(t *testing.T) {
	p := bargained(t, proof.Buyer, "hardliner", "hardliner", 1, 3, 5, 7)
	require.Len(t, p.Offers, 8)
	for _, at := range []int{1, 3, 5, 7} {
		p.Offers[at].Document = `{"issues":{"days":"6","price":"` + strconv.FormatUint(p.Offers[at].Amount, 10) +
			`"},"version":"haggle-terms-v1"}`
		hash := sha256.Sum256([]byte(p.Offers[at].Document))
		p.Offers[at].Metadata = proof.Metadata(onchain.DocumentMetadata(hash))
	}
	result, err := p.Verify()
	require.NoError(t, err)
	require.Equal(t, proof.Result{Replayed: true, Offers: 4, Ended: true, Published: true, Invalid: 4}, result)
}

func TestAProofThatCannotBeReadIsNotWritten(t *testing.T) {
	p := bargained(t, proof.Buyer, "linear", "negmas-conceder")
	p.Reveal.Strategy.Issues.Domain += strings.Repeat(" ", proof.MaxSize)
	require.EqualError(t, p.Write(io.Discard), "proof: invalid file: larger than 4194304 bytes")
}

func TestInvalidParametersOverIssuesAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *proof.Strategy)
		text   string
	}{
		"opening":     {func(s *proof.Strategy) { s.Opening = 1 }, "the opening and the reservation must be 0"},
		"reservation": {func(s *proof.Strategy) { s.Reservation = 1 }, "the opening and the reservation must be 0"},
		"name":        {func(s *proof.Strategy) { s.Name = "bluff" }, `"bluff" is none of ac-combi-avg, `},
		"domain":      {func(s *proof.Strategy) { s.Issues.Domain = "<" }, "domain: scenario: invalid document"},
		"profile":     {func(s *proof.Strategy) { s.Issues.Profile = "" }, "profile: scenario: invalid document"},
		"price":       {func(s *proof.Strategy) { s.Issues.Price = "cost" }, `no issue is named "cost"`},
		"unit":        {func(s *proof.Strategy) { s.Issues.Unit = 0 }, "terms: invalid domain or outcome"},
		"size": {func(s *proof.Strategy) { s.Issues.Profile += strings.Repeat(" ", 1<<18) },
			"the profile is not UTF-8, or larger than 262144 bytes"},
		"text": {func(s *proof.Strategy) { s.Issues.Domain += "\xff" },
			"the domain is not UTF-8, or larger than 262144 bytes"},
	} {
		p := bargained(t, proof.Buyer, "linear", "negmas-conceder")
		test.change(p.Reveal.Strategy)
		var err error
		p.Commitment, err = proof.Commit(p.Terms, p.Side, p.Reveal)
		require.NoError(t, err)
		p.Offers, p.Last = []proof.Offer{}, nil
		_, err = p.Verify()
		require.ErrorIs(t, err, proof.ErrStrategy, name)
		require.ErrorContains(t, err, test.text, name)
	}
}

// TestTheCostOfHyperRectanglesIsBounded checks boxes with two ranges over 2^10 and over 2^40 outcomes; only
// as many outcomes count as an inverse sorts.
func TestTheCostOfHyperRectanglesIsBounded(t *testing.T) {
	for _, test := range []struct {
		side  int
		boxes int
		text  string
	}{
		{32, 1 << 15, ""},
		{32, 1<<15 + 1, "proof: invalid strategy: profile: 65538 ranges of hyper-rectangles; " +
			"over 1024 outcomes the limit is 65536"},
		{1 << 20, 32, ""},
		{1 << 20, 33, "proof: invalid strategy: profile: 66 ranges of hyper-rectangles; " +
			"over 1099511627776 outcomes the limit is 64"},
	} {
		issues := proof.Issues{Price: "price", Unit: 1, Domain: fmt.Sprintf("issues:\n"+
			"- {name: days, type: ContiguousIssue, values: [1, %d]}\n"+
			"- {name: price, type: ContiguousIssue, values: [1, %[1]d]}\n", test.side)}
		// A row describes a box per pair of the values 1, 3, 5 and so on: the ranges do not touch.
		row, boxes := "- {0: [1, 3, 5, 7], 1: [1, 3, 5, 7, 9, 11, 13, 15]}\n", test.boxes
		issues.Profile = "type: HyperRectangleUtilityFunction\nreserved_value: 0\noutcome_ranges:\n" +
			strings.Repeat(row, boxes/32) + strings.Repeat("- {0: [1], 1: [1]}\n", boxes%32) +
			"utilities: [0" + strings.Repeat(",0", boxes/32+boxes%32-1) + "]\n"
		_, err := issues.Preferences()
		if test.text == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, proof.ErrStrategy)
		require.EqualError(t, err, test.text)
	}
}

// TestAModelOverIssuesIsCommittedTo checks that the first document carries the commitment, whatever the
// issues.
func TestAModelOverIssuesIsCommittedTo(t *testing.T) {
	p := bargained(t, proof.Buyer, "linear", "negmas-conceder")
	p.Reveal = proof.Reveal{Model: &proof.Model{Name: "model-1", Prompt: proof.Hash{4}}, Nonce: proof.Hash{5}}
	before := hex.EncodeToString(p.Commitment[:])
	var err error
	p.Commitment, err = proof.Commit(p.Terms, p.Side, p.Reveal)
	require.NoError(t, err)
	_, err = p.Verify()
	require.ErrorIs(t, err, proof.ErrMetadata)
	text := strings.Replace(p.Offers[0].Document, before, hex.EncodeToString(p.Commitment[:]), 1)
	p.Offers[0].Document = text
	p.Offers[0].Metadata = proof.Metadata(onchain.DocumentMetadata(sha256.Sum256([]byte(text))))
	result, err := p.Verify()
	require.NoError(t, err)
	require.Equal(t, proof.Result{Published: true}, result)
}
