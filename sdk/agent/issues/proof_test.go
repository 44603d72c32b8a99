package issues_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	domainText = `name: whales
issues:
- {name: days, type: ContiguousIssue, values: [1, 30]}
- {name: price, type: ContiguousIssue, values: [1, 5]}
`
	profileText = `type: LinearAdditiveUtilityFunction
reserved_value: 0.1
weights: {days: 0.6, price: 0.4}
values:
- {type: AffineFun, slope: -0.034, bias: 1.034}
- {type: AffineFun, slope: -0.25, bias: 1.25}
`
)

// proved is a table whose buyer proves the moves at the end.
type proved struct {
	*table
	proof *proof.Proof
}

func newProved(t *testing.T, name string, rounds uint8) *proved {
	s := newTable(t, strategy.Named()[name])
	n := s.turn.Negotiation
	n.MaxRounds, n.MinOfferBps = rounds, 100
	several := &proof.Issues{Domain: domainText, Profile: profileText, Price: "price", Unit: 1_000_000}
	var err error
	s.player.Preferences, err = several.Preferences()
	require.NoError(t, err)
	p := &proof.Proof{
		Version: proof.Version, Side: proof.Buyer, Offers: []proof.Offer{}, Terms: proof.Terms{
			Buyer: proof.Address(n.Buyer), Seller: proof.Address(n.Seller), Escrow: n.EscrowAmount, MaxRounds: rounds,
			MinOfferBps: n.MinOfferBps,
		},
		Reveal: proof.Reveal{Nonce: proof.Hash{1}, Strategy: &proof.Strategy{Name: name, Issues: several}},
	}
	p.Commitment, err = proof.Commit(p.Terms, p.Side, p.Reveal)
	require.NoError(t, err)
	s.player.Commit = func(*haggle.Snapshot) ([32]byte, error) { return p.Commitment, nil }
	return &proved{table: s, proof: p}
}

// own is the buyer's move.
func (s *proved) own() agent.Decision {
	s.t.Helper()
	decision := s.decide()
	if offer, is := decision.(agent.Offer); is {
		s.add(offer.Amount, *offer.Document)
	}
	return decision
}

// other is an offer of the seller.
func (s *proved) other(amount uint64, hash protocol.TermsDocument) {
	s.offer(protocol.OfferSideSeller, amount, hash)
	s.add(amount, hash)
}

func (s *proved) add(amount uint64, hash protocol.TermsDocument) {
	metadata := proof.Metadata(onchain.DocumentMetadata(hash))
	s.proof.Offers = append(s.proof.Offers, proof.Offer{Amount: amount, Metadata: metadata})
}

// share puts an outcome's document into the shared directory.
func (s *proved) share(o bargain.Outcome) (amount uint64, hash protocol.TermsDocument) {
	s.t.Helper()
	domain := s.player.Preferences.Domain()
	text, hash, err := terms.Write(domain, o)
	require.NoError(s.t, err)
	require.NoError(s.t, s.channel.Put(s.t.Context(), s.file(hash), text))
	amount, err = terms.Price(domain, o)
	require.NoError(s.t, err)
	return amount, hash
}

// remove deletes a document from the shared directory, as the counterparty can do.
func (s *proved) remove(hash protocol.TermsDocument) {
	s.t.Helper()
	require.NoError(s.t, os.Remove(filepath.Join(s.channel.Path, s.file(hash))))
}

// requireValid requires that the proof with the documents of the player's memory and the last move is valid.
func (s *proved) requireValid(last agent.Decision) {
	s.t.Helper()
	for i, offer := range s.proof.Offers {
		hash, has := onchain.Metadata(offer.Metadata).Document()
		require.True(s.t, has)
		text, err := s.kept(hash)
		require.NoError(s.t, err)
		s.proof.Offers[i].Document = string(text)
	}
	switch last.(type) {
	case agent.Accept:
		s.proof.Last = &proof.Last{By: proof.Buyer, Move: "accept"}
	case agent.Reject:
		s.proof.Last = &proof.Last{By: proof.Buyer, Move: "reject"}
	}
	result, err := s.proof.Verify()
	require.NoError(s.t, err)
	require.Equal(s.t, s.proof.Last != nil, result.Ended)
	require.Zero(s.t, result.Unread, "the player had each document")
}

// TestADeletedCopyOfTheOwnDocumentIsRead uses a seller that offers the buyer's own document, and deletes it.
func TestADeletedCopyOfTheOwnDocumentIsRead(t *testing.T) {
	s := newProved(t, "negmas-boulware", 2)
	offer := s.own().(agent.Offer)
	s.remove(*offer.Document)
	s.other(offer.Amount, *offer.Document)
	s.turn.Now += 60
	last := s.own()
	require.Equal(t, agent.Accept{}, last, "it is the best outcome")
	s.requireValid(last)
}

// TestADeletedDocumentOfAnEarlierOfferIsRead uses a seller that repeats an offer, and deletes the document.
func TestADeletedDocumentOfAnEarlierOfferIsRead(t *testing.T) {
	s := newProved(t, "negmas-boulware", 6)
	amount, hash := s.share(s.player.Preferences.Domain().Outcome(22, 3))
	s.own()
	s.other(amount, hash)
	require.IsType(t, agent.Offer{}, s.own())
	s.remove(hash)
	s.other(amount, hash)
	s.turn.Now += 60
	last := s.own()
	require.Equal(t, agent.Accept{}, last, "better than no deal")
	s.requireValid(last)
}

// TestASecondDecisionReadsADeletedDocument kills each strategy's agent between the decision and the offer on
// chain. Then the seller deletes the document, the restarted agent decides again, and the first offer lands.
// NegMAS' wasting strategies begin below the reservation value, so that they reject at once.
func TestASecondDecisionReadsADeletedDocument(t *testing.T) {
	for _, name := range strategy.Names() {
		t.Run(name, func(t *testing.T) {
			s := newProved(t, name, 8)
			begin := s.own()
			if slices.Contains([]string{"wab", "wan", "war"}, name) {
				require.Equal(t, agent.Reject{}, begin)
				s.requireValid(begin)
				return
			}
			require.IsType(t, agent.Offer{}, begin)
			worst := bargain.Outcome(s.player.Preferences.Domain().Size() - 1)
			amount, hash := s.share(worst)
			s.other(amount, hash)
			first, err := s.player.Decide(t.Context(), s.turn)
			require.NoError(t, err)
			s.remove(hash)
			s.turn.Now += 60
			s.player = new(*s.player)
			again, err := s.player.Decide(t.Context(), s.turn)
			require.NoError(t, err)
			require.Equal(t, first, again)
			offer, offers := first.(agent.Offer)
			for at := worst - 10; offers; at -= 20 {
				s.offer(protocol.OfferSideBuyer, offer.Amount, *offer.Document)
				s.add(offer.Amount, *offer.Document)
				s.other(s.share(at))
				first, err = s.player.Decide(t.Context(), s.turn)
				require.NoError(t, err)
				offer, offers = first.(agent.Offer)
			}
			s.requireValid(first)
		})
	}
}

// brokenMemory is a memory that fails with documents.
type brokenMemory struct {
	issues.Folder
	get, put error
}

func isDocument(name string) bool { return !strings.HasPrefix(name, "outcomes-") }

func (m brokenMemory) Get(ctx context.Context, name string) ([]byte, error) {
	if m.get != nil && isDocument(name) {
		return nil, m.get
	}
	return m.Folder.Get(ctx, name)
}

func (m brokenMemory) Put(ctx context.Context, name string, text []byte) error {
	if m.put != nil && isDocument(name) {
		return m.put
	}
	return m.Folder.Put(ctx, name, text)
}

// TestABrokenMemoryMakesNoMove uses a document that the buyer cannot keep: a decision about it could not be
// proved, and a decision that ignores it would not be the strategy's.
func TestABrokenMemoryMakesNoMove(t *testing.T) {
	for want, broken := range map[string]brokenMemory{
		"issues: read the memory: disk lost":   {get: errors.New("disk lost")},
		"issues: keep the document: disk full": {put: errors.New("disk full")},
	} {
		s := newProved(t, "car", 4)
		s.own()
		s.other(s.share(60))
		broken.Folder = s.player.Memory.(issues.Folder)
		s.player.Memory = broken
		_, err := s.player.Decide(t.Context(), s.turn)
		require.EqualError(t, err, want)
		require.Len(t, s.moves, 1)
	}
}

// TestAMemoryIsOfOneSideOfOneNegotiation uses a memory with a document for the counterparty, and for another
// negotiation. The buyer, which did not read it here, decides without using it.
func TestAMemoryIsOfOneSideOfOneNegotiation(t *testing.T) {
	s := newProved(t, "car", 4)
	s.own()
	amount, hash := s.share(0)
	for _, change := range []func(turn *agent.Turn, n *haggle.Snapshot){
		func(turn *agent.Turn, _ *haggle.Snapshot) { turn.Side = protocol.OfferSideSeller },
		func(_ *agent.Turn, n *haggle.Snapshot) { n.Address[0]++ },
		func(_ *agent.Turn, n *haggle.Snapshot) { n.CreatedAt++ },
	} {
		reader := newProved(t, "car", 4)
		reader.player.Memory, reader.player.Documents = s.player.Memory, s.channel
		change(&reader.turn, reader.turn.Negotiation)
		other := protocol.OfferSide(1 - reader.turn.Side)
		if other == protocol.OfferSideSeller {
			reader.decide()
		}
		reader.offer(other, amount, hash)
		_, err := reader.player.Decide(t.Context(), reader.turn)
		require.NoError(t, err)
		require.NoError(t, reader.moves[len(reader.moves)-1].Refused)
		kept, err := reader.kept(hash)
		require.NoError(t, err)
		require.NotEmpty(t, kept)
	}
	s.remove(hash)
	s.other(amount, hash)
	s.turn.Now += 60
	_, err := s.player.Decide(t.Context(), s.turn)
	require.NoError(t, err)
	require.ErrorIs(t, s.moves[1].Refused, issues.ErrNoDocument)
}
