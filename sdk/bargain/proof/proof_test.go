package proof_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

var terms = proof.Terms{
	Negotiation: proof.Address{1}, CreatedAt: 1_700_000_000, Buyer: proof.Address{2}, Seller: proof.Address{3},
	Escrow: 5_000_000, MaxRounds: 6, DecayRateBps: 200, MinOfferBps: 1_000, FeeBps: 50,
}

// revealed returns the reveal for a named strategy and a side.
func revealed(name string, side proof.Side) proof.Reveal {
	s := &proof.Strategy{Name: name, Opening: 2_000_000, Reservation: 3_500_000, Seed: 9}
	if side == proof.Seller {
		s.Opening, s.Reservation = 4_500_000, 3_000_000
	}
	return proof.Reveal{Strategy: s, Nonce: proof.Hash{7}}
}

// played returns the proof for a side that plays a strategy against another strategy.
func played(t testing.TB, side proof.Side, name, other string) *proof.Proof {
	t.Helper()
	rules := onchain.Rules{
		Escrow: terms.Escrow, MaxRounds: terms.MaxRounds, DecayRateBps: terms.DecayRateBps,
		MinOfferBps: terms.MinOfferBps, FeeBps: terms.FeeBps, ResponseWindow: 300, Deadline: 3_600,
	}
	p := &proof.Proof{
		Version: proof.Version, Terms: terms, Side: side, Offers: []proof.Offer{}, Reveal: revealed(name, side),
	}
	names := map[proof.Side]string{proof.Buyer: other, proof.Seller: other}
	names[side] = name
	var players [2]onchain.Player
	for at, s := range []proof.Side{proof.Buyer, proof.Seller} {
		r := revealed(names[s], s).Strategy
		named, err := strategy.Parse(r.Name)
		require.NoError(t, err)
		players[at], err = rules.Player(named.Strategy, onchain.Side(at), r.Opening, r.Reservation)
		require.NoError(t, err)
	}
	result, err := rules.Run(9, players[0], players[1])
	require.NoError(t, err)
	for _, offer := range result.History {
		p.Offers = append(p.Offers, proof.Offer{Amount: uint64(offer.Outcome)})
	}
	by := []proof.Side{proof.Buyer, proof.Seller}[result.By]
	p.Last = &proof.Last{By: by, Move: "reject"}
	if result.Ending == bargain.EndingAgreement {
		p.Last.Move = "accept"
	}
	commit(t, p)
	return p
}

// commit sets the commitment to the proof's reveal, in the offers, too.
func commit(t testing.TB, p *proof.Proof) {
	var err error
	p.Commitment, err = proof.Commit(p.Terms, p.Side, p.Reveal)
	require.NoError(t, err)
	for i := range p.Offers {
		if (i%2 == 0) == (p.Side == proof.Buyer) {
			p.Offers[i].Metadata = p.Commitment.Metadata()
		}
	}
}

// verifyFile writes a proof to a file, reads it back and returns the verification result.
func verifyFile(t *testing.T, p *proof.Proof) (proof.Result, error) {
	var file bytes.Buffer
	require.NoError(t, p.Write(&file))
	read, err := proof.Read(&file)
	require.NoError(t, err)
	require.Equal(t, p, read)
	return read.Verify()
}

// requireCommitment requires that a buyer's reveal gives the commitment, in hex.
func requireCommitment(t *testing.T, want string, reveal proof.Reveal) {
	commitment, err := proof.Commit(terms, proof.Buyer, reveal)
	require.NoError(t, err)
	require.Equal(t, want, hex.EncodeToString(commitment[:]))
}

// TestEveryStrategyIsProved replays all named strategies on both sides, through the file format.
func TestEveryStrategyIsProved(t *testing.T) {
	ended := 0
	for name := range strategy.Named() {
		for _, side := range []proof.Side{proof.Buyer, proof.Seller} {
			p := played(t, side, name, "linear")
			result, err := verifyFile(t, p)
			require.NoError(t, err, "%s, %s", name, side)
			require.True(t, result.Replayed)
			own := len(p.Offers) / 2
			if side == proof.Buyer {
				own = (len(p.Offers) + 1) / 2
			}
			require.Equal(t, own, result.Offers)
			require.Equal(t, p.Last.By == side, result.Ended)
			if result.Ended {
				ended++
			}
		}
	}
	require.Positive(t, ended)
}

// TestBondIsProved checks an optimal buyer: the seller's bond lowers the offered price.
func TestBondIsProved(t *testing.T) {
	bonded := terms
	bonded.MaxRounds, bonded.Bond = 3, 300_000
	other := uint64(3_000_000)
	p := &proof.Proof{Version: proof.Version, Terms: bonded, Side: proof.Buyer, Reveal: revealed(game.Name, proof.Buyer)}
	p.Reveal.Strategy.OtherReservation = &other
	rules := onchain.Rules{
		Escrow: terms.Escrow, MaxRounds: 3, DecayRateBps: terms.DecayRateBps, MinOfferBps: terms.MinOfferBps,
		FeeBps: terms.FeeBps, Bond: bonded.Bond,
	}
	buyer, err := rules.Player(game.Assuming{Other: other}, onchain.Buyer, 0, 3_500_000)
	require.NoError(t, err)
	p.Offers = []proof.Offer{{Amount: uint64(buyer.Respond(rules.Negotiation(), onchain.Buyer, nil, 9).Outcome)}}
	commit(t, p)
	_, err = verifyFile(t, p)
	require.NoError(t, err)
	p.Terms.Bond = 0
	commit(t, p)
	_, err = verifyFile(t, p)
	require.ErrorIs(t, err, proof.ErrReplay)
}

// TestStepIsProved checks a buyer that concedes 0.3 with every offer.
func TestStepIsProved(t *testing.T) {
	p := played(t, proof.Buyer, "car", "hardliner")
	p.Reveal.Strategy.Step = 300_000
	commit(t, p)
	_, err := verifyFile(t, p)
	require.ErrorIs(t, err, proof.ErrReplay)
	rules := onchain.Rules{
		Escrow: terms.Escrow, MaxRounds: terms.MaxRounds, DecayRateBps: terms.DecayRateBps,
		MinOfferBps: terms.MinOfferBps, FeeBps: terms.FeeBps,
	}
	player, err := rules.Player(strategy.CAR(), onchain.Buyer, 0, 3_500_000)
	require.NoError(t, err)
	player.Step = 300_000
	n, made := rules.Negotiation(), []onchain.Offer{}
	for at := range p.Offers {
		if n.Turn() == onchain.Buyer {
			p.Offers[at].Amount = uint64(player.Respond(n, onchain.Buyer, made, 9).Outcome)
		}
		made = append(made, onchain.Offer{Side: n.Turn(), Amount: p.Offers[at].Amount})
		onchain.Apply(n, n.Turn(), p.Offers[at].Amount, 0)
	}
	p.Last = nil
	commit(t, p)
	_, err = verifyFile(t, p)
	require.NoError(t, err)
}

// A buyer's limit on price and decay affects moves, so a proof must include the limit.
func TestMaxTotalIsProved(t *testing.T) {
	rules := onchain.Rules{
		Escrow: terms.Escrow, MaxRounds: terms.MaxRounds, DecayRateBps: terms.DecayRateBps,
		MinOfferBps: terms.MinOfferBps, FeeBps: terms.FeeBps, ResponseWindow: 300, Deadline: 3_600,
	}
	buyer, err := rules.Player(strategy.Linear(), onchain.Buyer, 2_000_000, 3_500_000)
	require.NoError(t, err)
	buyer.MaxTotal = 3_500_000
	seller, err := rules.Player(strategy.Hardliner(), onchain.Seller, 4_500_000, 4_000_000)
	require.NoError(t, err)
	result, err := rules.Run(9, buyer, seller)
	require.NoError(t, err)
	p := &proof.Proof{Version: proof.Version, Terms: terms, Side: proof.Buyer, Reveal: revealed("linear", proof.Buyer)}
	for _, offer := range result.History {
		p.Offers = append(p.Offers, proof.Offer{Amount: uint64(offer.Outcome)})
	}
	p.Reveal.Strategy.MaxTotal = 3_500_000
	commit(t, p)
	verified, err := verifyFile(t, p)
	require.NoError(t, err)
	require.Equal(t, 3, verified.Offers)
	require.EqualValues(t, 3_019_604, p.Offers[4].Amount, "3.5 less the decay of five offers")
	p.Reveal.Strategy.MaxTotal = 0
	commit(t, p)
	_, err = verifyFile(t, p)
	require.ErrorIs(t, err, proof.ErrReplay)
	sold := played(t, proof.Seller, "linear", "linear")
	sold.Reveal.Strategy.MaxTotal = 1
	commit(t, sold)
	_, err = sold.Verify()
	require.ErrorIs(t, err, proof.ErrStrategy)
}

// TestTheCommitmentIsFixed compares with a known value, calculated with Python's hashlib from the package's
// documentation. Changing this value invalidates all published commitments.
func TestTheCommitmentIsFixed(t *testing.T) {
	requireCommitment(t, "44646f5faa724cf4a749a3d410062b9d140eaca3b4c35a12d41870ba1a3060d7",
		revealed("linear", proof.Buyer))
}

func TestTamperedProofsFail(t *testing.T) {
	const (
		mismatch   = "proof: reveal does not match the commitment"
		impossible = "proof: impossible negotiation: "
		replay     = "proof: recorded move is not the strategy's: "
		accepts    = "accept (ACnext: at least as good as the next offer)"
	)
	for name, test := range map[string]struct {
		change func(p *proof.Proof)
		is     error
		text   string
	}{
		"offer": {func(p *proof.Proof) { p.Offers[2].Amount++ }, proof.ErrReplay,
			replay + "offer 3 is 2750001, the strategy's is 2750000"},
		"other side's offer": {func(p *proof.Proof) { p.Offers[1].Amount = 2_000_001 }, proof.ErrReplay,
			replay + "offer 3 is 2750000, the strategy's move is " + accepts},
		"additional offer": {
			func(p *proof.Proof) { p.Offers, p.Last = append(p.Offers, proof.Offer{Amount: 3_500_000}), nil },
			proof.ErrReplay, replay + "offer 5 is 3500000, the strategy's move is " + accepts},
		"last move": {func(p *proof.Proof) { p.Last.Move = "reject" }, proof.ErrReplay,
			replay + "the last move is reject, the strategy's is " + accepts},
		"unknown last move": {func(p *proof.Proof) { p.Last.Move = "walk" }, proof.ErrTerms,
			impossible + `last move "walk" is neither accept nor reject`},
		"expiry of a side": {func(p *proof.Proof) { p.Last.Move = "expire" }, proof.ErrTerms,
			impossible + "an expiry has no side"},
		"own offer accepted": {func(p *proof.Proof) { p.Last.By = proof.Seller }, proof.ErrTerms,
			impossible + "the seller has no offer to accept"},
		"rejection out of turn": {func(p *proof.Proof) {
			p.Offers, p.Last = p.Offers[:3], &proof.Last{By: proof.Buyer, Move: "reject"}
		}, proof.ErrReplay, replay + "the side rejected out of its turn, which no strategy does"},
		"side": {func(p *proof.Proof) { p.Side = proof.Seller }, proof.ErrCommitment, mismatch},
		"unknown side": {func(p *proof.Proof) { p.Side = "broker" }, proof.ErrTerms,
			impossible + `side "broker" is neither buyer nor seller`},
		"negotiation": {func(p *proof.Proof) { p.Terms.Negotiation[0]++ }, proof.ErrCommitment, mismatch},
		"created_at":  {func(p *proof.Proof) { p.Terms.CreatedAt++ }, proof.ErrCommitment, mismatch},
		"agent":       {func(p *proof.Proof) { p.Terms.Buyer[1]++ }, proof.ErrCommitment, mismatch},
		"commitment":  {func(p *proof.Proof) { p.Commitment[31]++ }, proof.ErrCommitment, mismatch},
		"nonce":       {func(p *proof.Proof) { p.Reveal.Nonce[0]++ }, proof.ErrCommitment, mismatch},
		"strategy":    {func(p *proof.Proof) { p.Reveal.Strategy.Name = "random" }, proof.ErrCommitment, mismatch},
		"opening":     {func(p *proof.Proof) { p.Reveal.Strategy.Opening++ }, proof.ErrCommitment, mismatch},
		"reservation": {func(p *proof.Proof) { p.Reveal.Strategy.Reservation++ }, proof.ErrCommitment, mismatch},
		"seed":        {func(p *proof.Proof) { p.Reveal.Strategy.Seed++ }, proof.ErrCommitment, mismatch},
		"same parties": {func(p *proof.Proof) { p.Terms.Seller = p.Terms.Buyer },
			proof.ErrTerms, impossible + "buyer and seller are the same"},
		"rounds": {func(p *proof.Proof) { p.Terms.MaxRounds = 21 },
			proof.ErrTerms, impossible + "max_rounds is 21, not 1 to 20"},
		"no rounds": {func(p *proof.Proof) { p.Terms.MaxRounds = 0 },
			proof.ErrTerms, impossible + "max_rounds is 0, not 1 to 20"},
		"fee": {func(p *proof.Proof) { p.Terms.FeeBps = 501 },
			proof.ErrTerms, impossible + "fee_bps is 501, not 0 to 500"},
		"decay": {func(p *proof.Proof) { p.Terms.DecayRateBps = 1_001 },
			proof.ErrTerms, impossible + "decay_rate_bps is 1001, not 0 to 1000"},
		"least offer": {func(p *proof.Proof) { p.Terms.MinOfferBps = 99 },
			proof.ErrTerms, impossible + "min_offer_bps is 99, not 100 to 9000"},
		"small escrow": {func(p *proof.Proof) { p.Terms.Escrow = 99_999 },
			proof.ErrTerms, impossible + "escrow is 99999, not 100000 to 18446744073709551615"},
		"fewer rounds": {func(p *proof.Proof) { p.Terms.MaxRounds = 3 },
			proof.ErrTerms, impossible + "4 offers in 3 rounds"},
		"escrow": {func(p *proof.Proof) { p.Terms.Escrow = 1_000_000 }, proof.ErrTerms,
			impossible + "offer 1 is 2000000, not 98000 to 980000"},
		"no commitment in the offer": {func(p *proof.Proof) { p.Offers[0].Metadata = proof.Metadata{} },
			proof.ErrMetadata, "proof: invalid metadata: offer 1 does not carry the commitment"},
		"another commitment in the offer": {func(p *proof.Proof) { p.Offers[0].Metadata[20]++ },
			proof.ErrMetadata, "proof: invalid metadata: offer 1 does not carry the commitment"},
		"terms beside the price": {func(p *proof.Proof) { p.Offers[2].Metadata[1] = 1 }, proof.ErrReplay,
			replay + "offer 3 has other metadata than the commitment"},
		"accepted terms beside the price": {func(p *proof.Proof) { p.Offers[3].Metadata = withTier },
			proof.ErrReplay, replay + "the last move is accept, the strategy's is offer " +
				"(moved to a price that is worth its cost)"},
		"no nonce": {func(p *proof.Proof) { p.Reveal.Nonce = proof.Hash{} },
			proof.ErrStrategy, "proof: invalid strategy: the nonce is zero"},
		"nothing revealed": {func(p *proof.Proof) { p.Reveal.Strategy = nil }, proof.ErrStrategy,
			"proof: invalid strategy: exactly one of strategy and model is required"},
		"both revealed": {func(p *proof.Proof) { p.Reveal.Model = &proof.Model{} }, proof.ErrStrategy,
			"proof: invalid strategy: exactly one of strategy and model is required"},
	} {
		t.Run(name, func(t *testing.T) {
			p := played(t, proof.Buyer, "linear", "negmas-conceder")
			require.Len(t, p.Offers, 4)
			require.Equal(t, &proof.Last{By: proof.Buyer, Move: "accept"}, p.Last)
			test.change(p)
			_, err := p.Verify()
			require.ErrorIs(t, err, test.is)
			require.EqualError(t, err, test.text)
		})
	}
}

// withTier is metadata with a term beside the price: a quality tier.
var withTier = proof.Metadata{1, 1}

// TestRefusedTermsAreReplayed checks a buyer that answers an acceptable price with a new offer, because the
// seller's offer includes terms beside the price.
func TestRefusedTermsAreReplayed(t *testing.T) {
	p := played(t, proof.Buyer, "linear", "linear")
	p.Offers = []proof.Offer{{Amount: 2_000_000}, {Amount: 2_000_000, Metadata: withTier}, {Amount: 2_750_000}}
	p.Last = nil
	commit(t, p)
	result, err := p.Verify()
	require.NoError(t, err)
	require.Equal(t, proof.Result{Replayed: true, Offers: 2, Published: true}, result)
	p.Offers[1].Metadata = proof.Metadata{}
	_, err = p.Verify()
	require.ErrorIs(t, err, proof.ErrReplay, "without the terms the strategy accepts")
}

// TestAPlayerWithoutAnOfferIsProved checks a seller that only accepts, or only rejects.
func TestAPlayerWithoutAnOfferIsProved(t *testing.T) {
	for price, move := range map[uint64]string{3_400_000: "accept", 600_000: "reject"} {
		p := played(t, proof.Seller, "linear", "linear")
		p.Offers, p.Last = []proof.Offer{{Amount: price}}, &proof.Last{By: proof.Seller, Move: move}
		if p.Reveal.Strategy.Opening = 3_400_000; move == "reject" {
			p.Terms.MaxRounds = 1
		}
		commit(t, p)
		result, err := p.Verify()
		require.NoError(t, err, move)
		require.Equal(t, proof.Result{Replayed: true, Ended: true}, result, move)
		p.Last.Move = map[string]string{"accept": "reject", "reject": "accept"}[move]
		_, err = p.Verify()
		require.ErrorIs(t, err, proof.ErrReplay, move)
	}
}

// TestAnExpiryIsNoMoveOfASide checks a negotiation ended by neither side. The strategy's move is known if it
// was the side's turn.
func TestAnExpiryIsNoMoveOfASide(t *testing.T) {
	for offers, want := range map[int]proof.Result{
		0: {Replayed: true, Missed: "offer"},
		2: {Replayed: true, Offers: 1, Published: true, Missed: "offer"},
		3: {Replayed: true, Offers: 2, Published: true},
		4: {Replayed: true, Offers: 2, Published: true, Missed: "accept"},
	} {
		p := played(t, proof.Buyer, "linear", "negmas-conceder")
		p.Offers, p.Last = p.Offers[:offers], &proof.Last{Move: "expire"}
		result, err := verifyFile(t, p)
		require.NoError(t, err)
		require.Equal(t, want, result, "after %d offers", offers)
	}
	p := played(t, proof.Buyer, "hardliner", "hardliner")
	require.Equal(t, &proof.Last{By: proof.Buyer, Move: "reject"}, p.Last)
	p.Last = &proof.Last{Move: "expire"}
	result, err := verifyFile(t, p)
	require.NoError(t, err)
	require.Equal(t, proof.Result{Replayed: true, Offers: 3, Published: true, Missed: "reject"}, result)
}

// TestSeedDecidesRandomMoves checks a deterministic strategy, and a strategy that draws random offers.
func TestSeedDecidesRandomMoves(t *testing.T) {
	for name, decides := range map[string]bool{"linear": false, "random": true} {
		p := played(t, proof.Buyer, name, "hardliner")
		_, err := verifyFile(t, p)
		require.NoError(t, err)
		require.Equal(t, decides, p.SeedDecides(), name)
	}
}

// TestTheOtherSideCanRejectOutOfItsTurn checks a seller that leaves while the buyer's turn is due, or after
// the buyer's offer.
func TestTheOtherSideCanRejectOutOfItsTurn(t *testing.T) {
	for _, offers := range []int{2, 3} {
		p := played(t, proof.Buyer, "linear", "negmas-conceder")
		p.Offers, p.Last = p.Offers[:offers], &proof.Last{By: proof.Seller, Move: "reject"}
		result, err := verifyFile(t, p)
		require.NoError(t, err)
		require.Equal(t, proof.Result{Replayed: true, Offers: (offers + 1) / 2, Published: true}, result)
	}
}

func TestUnknownStrategiesAreNotReplayed(t *testing.T) {
	p := played(t, proof.Buyer, "linear", "linear")
	p.Reveal.Strategy.Name = "bluff"
	commit(t, p)
	_, err := p.Verify()
	require.ErrorContains(t, err, `proof: invalid strategy: "bluff" is none of ac-combi-avg, `)
}

func TestAModelIsCommittedToButNotReplayed(t *testing.T) {
	p := played(t, proof.Buyer, "linear", "linear")
	p.Reveal = proof.Reveal{Model: &proof.Model{Name: "model-1", Prompt: proof.Hash{4}}, Nonce: proof.Hash{5}}
	commit(t, p)
	result, err := p.Verify()
	require.NoError(t, err)
	require.Equal(t, proof.Result{Published: true}, result)
	p.Reveal.Model.Prompt[0]++
	_, err = p.Verify()
	require.ErrorIs(t, err, proof.ErrCommitment)
}

func TestFilesOfAnotherFormAreRefused(t *testing.T) {
	var file bytes.Buffer
	require.NoError(t, played(t, proof.Buyer, "linear", "linear").Write(&file))
	text := file.String()
	for name, test := range map[string]struct{ from, to, want string }{
		"unknown field":  {`"side":`, `"price": 1, "side":`, `unknown field "price"`},
		"repeated field": {`"side": "buyer"`, `"side": "seller", "side": "buyer"`, "side"},
		"other case":     {`"side":`, `"Side":`, "a field is missing, or a value has another form"},
		"other version":  {"proof-v4", "proof-v3", `version "haggle-proof-v3", not "haggle-proof-v4"`},
		"number as text": {`"max_rounds": 6`, `"max_rounds": "6"`,
			"proof: invalid file: field terms.max_rounds has a wrong value: string"},
		"large number": {`"max_rounds": 6`, `"max_rounds": 300`,
			"proof: invalid file: field terms.max_rounds has a wrong value: number 300"},
		"amount as number": {`"escrow": "5000000"`, `"escrow": 5000000`, "numbers in quotes"},
		"no object":        {text, "[]", "proof: invalid file: an object is required, not: array"},
		"no JSON":          {text, "haggle", "proof: invalid file: not JSON: "},
		"no hexadecimal":   {`"nonce": "07`, `"nonce": "zz`, "hash is not hexadecimal"},
		"leading zero":     {`"escrow": "5000000"`, `"escrow": "05000000"`, "another form"},
		"negative":         {`"escrow": "5000000"`, `"escrow": "-5"`, "escrow"},
		"missing field":    {`"fee_bps": 50`, `"fee_bps": null`, "a field is missing, or a value has another form"},
		"short address":    {`"buyer": "`, `"buyer": "1","seller": "`, ""},
		"more text":        {"\n}\n", "\n}\n{}", ""},
		"capitals":         {`"nonce": "07`, `"nonce": "0A`, "another form"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(text, test.from, test.to, 1)
			require.NotEqual(t, text, changed)
			_, err := proof.Read(strings.NewReader(changed))
			require.ErrorIs(t, err, proof.ErrForm)
			require.ErrorContains(t, err, test.want)
		})
	}
	_, err := proof.Read(strings.NewReader(strings.Repeat(" ", proof.MaxSize+1)))
	require.EqualError(t, err, "proof: invalid file: larger than 4194304 bytes")
}

// TestTheOptimalPlayerIsProved checks that the assumed price is part of the commitment, and not allowed with
// any other strategy.
func TestTheOptimalPlayerIsProved(t *testing.T) {
	p := played(t, proof.Seller, "linear", "linear")
	p.Terms.MaxRounds = 6
	p.Reveal.Strategy = &proof.Strategy{
		Name: "optimal", Opening: 4_500_000, Reservation: 3_000_000, OtherReservation: new(uint64(3_500_000)),
	}
	// The seller demands what the buyer can pay at most: with the fee, one unit less leaves it as much.
	p.Offers = []proof.Offer{{Amount: 2_000_000}, {Amount: 3_499_999}}
	p.Last = nil
	commit(t, p)
	var file bytes.Buffer
	require.NoError(t, p.Write(&file))
	require.Contains(t, file.String(), `"other_reservation": "3500000"`)
	p, err := proof.Read(&file)
	require.NoError(t, err)
	result, err := p.Verify()
	require.NoError(t, err)
	require.Equal(t, proof.Result{Replayed: true, Offers: 1, Published: true}, result)

	commitment := p.Commitment
	*p.Reveal.Strategy.OtherReservation++
	_, err = p.Verify()
	require.ErrorIs(t, err, proof.ErrCommitment)
	p.Reveal.Strategy.OtherReservation = nil
	commit(t, p)
	require.NotEqual(t, commitment, p.Commitment)
	_, err = p.Verify()
	require.EqualError(t, err, "proof: invalid strategy: optimal requires other_reservation")
	p.Reveal.Strategy.Name, p.Reveal.Strategy.OtherReservation = "linear", new(uint64)
	commit(t, p)
	_, err = p.Verify()
	require.EqualError(t, err, `proof: invalid strategy: other_reservation requires optimal, not "linear"`)
}

// FuzzRead checks that files accepted by Read are unambiguous, and that Verify does not panic.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"linear", "random", "nice-tit-for-tat"} {
		var file bytes.Buffer
		require.NoError(f, played(f, proof.Seller, name, "linear").Write(&file))
		f.Add(file.Bytes())
	}
	for _, missing := range [][]int{nil, {0, 1, 2}} {
		var file bytes.Buffer
		require.NoError(f, bargained(f, proof.Seller, "micro", "linear", missing...).Write(&file))
		f.Add(file.Bytes())
	}
	f.Add([]byte(`{"version":"haggle-proof-v4"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := proof.Read(bytes.NewReader(text))
		if err != nil {
			require.ErrorIs(t, err, proof.ErrForm)
			return
		}
		var file bytes.Buffer
		require.NoError(t, p.Write(&file))
		again, err := proof.Read(&file)
		require.NoError(t, err)
		require.Equal(t, p, again)
		_, _ = p.Verify()
	})
}
