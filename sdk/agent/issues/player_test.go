package issues_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// table is a negotiation with a buyer that plays a strategy, and a seller that the test plays.
type table struct {
	t       *testing.T
	player  *issues.Player
	turn    agent.Turn
	moves   []issues.Move
	channel issues.Folder
}

func newTable(t *testing.T, played bargain.Strategy) *table {
	domain, err := bargain.NewDomain(
		bargain.Price("price", 1_000_000, 4_000_000, 10_000), bargain.Integer("days", 1, 30))
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, []fixed.Number{fixed.One / 2, fixed.One / 2},
		utility.Line{First: fixed.One, Count: domain.Issue(0).Count}, utility.Line{First: fixed.One, Count: 30})
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, u, fixed.One/5)
	require.NoError(t, err)
	table := &table{t: t, channel: issues.Folder{Path: t.TempDir()}}
	table.player = &issues.Player{
		Strategy: played, Preferences: preferences, Documents: table.channel,
		Memory: issues.Folder{Path: t.TempDir(), Private: true},
		Decided: func(_ agent.Turn, move issues.Move) error {
			table.moves = append(table.moves, move)
			return nil
		},
	}
	n := &haggle.Snapshot{}
	n.Status, n.EscrowAmount, n.EffectiveEscrow = protocol.NegotiationStatusProposed, 5_000_000, 5_000_000
	n.MaxRounds, n.MinOfferBps, n.GlobalDeadline, n.TurnDeadline = 6, 1_000, 3_600, 3_600
	n.Buyer[0], n.Seller[0] = 1, 2
	table.turn = agent.Turn{Negotiation: n, Side: protocol.OfferSideBuyer}
	return table
}

// decide returns the buyer's decision, and carries out an offer.
func (s *table) decide() agent.Decision {
	s.t.Helper()
	decision, err := s.player.Decide(s.t.Context(), s.turn)
	require.NoError(s.t, err)
	if offer, is := decision.(agent.Offer); is {
		s.offer(protocol.OfferSideBuyer, offer.Amount, *offer.Document)
	}
	return decision
}

// offer makes an offer on chain.
func (s *table) offer(side protocol.OfferSide, amount uint64, hash protocol.TermsDocument) {
	n := s.turn.Negotiation
	n.CurrentRound++
	n.CurrentOfferAmount, n.OfferSide, n.Metadata = amount, side, hash.Metadata()
	n.CurrentOfferBy = n.Party(side)
	n.Status = protocol.NegotiationStatusProposed
	if side == protocol.OfferSideSeller {
		n.Status = protocol.NegotiationStatusCountered
	}
	n.LastOfferAt = s.turn.Now
	s.turn.History = append(s.turn.History, agent.PastOffer{Round: n.CurrentRound, Side: side, Amount: amount})
}

// document returns an outcome's document and hash.
func (s *table) document(price, days uint64) (text []byte, hash protocol.TermsDocument) {
	s.t.Helper()
	domain := s.player.Preferences.Domain()
	text, sum, err := terms.Write(domain, domain.Outcome((price-1_000_000)/10_000, days-1))
	require.NoError(s.t, err)
	return text, sum
}

func TestAnOfferHasItsDocument(t *testing.T) {
	s := newTable(t, strategy.NegmasLinear())
	offer, is := s.decide().(agent.Offer)
	require.True(t, is)
	text, err := s.channel.Get(t.Context(), s.file(*offer.Document))
	require.NoError(t, err)
	o, err := terms.Check(s.player.Preferences.Domain(), text, *offer.Document, offer.Amount)
	require.NoError(t, err)
	require.Equal(t, s.moves[0].Outcome, o)
	require.Equal(t, offer.Amount, s.moves[0].Price)
}

func (s *table) file(hash protocol.TermsDocument) string {
	return hex.EncodeToString(hash[:]) + ".json"
}

// TestOnlyCheckedDocumentsAreAccepted offers the buyer an acceptable price, with the document, with none, and
// with other documents.
func TestOnlyCheckedDocumentsAreAccepted(t *testing.T) {
	for name, test := range map[string]struct {
		put     func(s *table, text []byte, file string)
		amount  uint64
		refused error
	}{
		"its document": {func(s *table, text []byte, file string) {
			require.NoError(s.t, s.channel.Put(s.t.Context(), file, text))
		}, 1_000_000, nil},
		"no document": {func(*table, []byte, string) {}, 1_000_000, issues.ErrNoDocument},
		"another document": {func(s *table, _ []byte, file string) {
			other, _ := s.document(1_000_000, 3)
			require.NoError(s.t, s.channel.Put(s.t.Context(), file, other))
		}, 1_000_000, terms.ErrHash},
		"another price": {func(s *table, text []byte, file string) {
			require.NoError(s.t, s.channel.Put(s.t.Context(), file, text))
		}, 1_010_000, terms.ErrPrice},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTable(t, strategy.CAR())
			s.decide()
			text, hash := s.document(1_000_000, 2)
			require.Equal(t, sha256.Sum256(text), [32]byte(hash))
			test.put(s, text, s.file(hash))
			s.offer(protocol.OfferSideSeller, test.amount, hash)
			if test.refused == nil {
				require.Equal(t, agent.Accept{}, s.decide())
				require.Equal(t, [32]byte(hash), s.moves[1].Document)
				p := s.player.Preferences
				require.Equal(t, &agent.Values{
					Time: bargain.TurnTime(0, int(s.turn.Negotiation.MaxRounds), 2), Reservation: p.Reservation(),
					Utility: new(p.Of(s.moves[1].Outcome)), Standing: new(p.Of(s.moves[1].Outcome)),
				}, s.moves[1].Values)
				require.Equal(t, "at least the reservation value", s.moves[1].Reason)
				return
			}
			if name == "no document" {
				require.Equal(t, agent.Wait{Until: 1}, s.decide(), "it can still arrive")
				s.turn.Now = 60
			}
			_, offers := s.decide().(agent.Offer)
			require.True(t, offers, "the offer is answered with another one")
			require.ErrorIs(t, s.moves[1].Refused, test.refused)
		})
	}
	s := newTable(t, strategy.CAR())
	s.decide()
	s.offer(protocol.OfferSideSeller, 1_000_000, protocol.TermsDocument{})
	s.turn.Negotiation.Metadata = [protocol.MaxMetadataLen]byte{}
	s.decide()
	require.ErrorIs(t, s.moves[1].Refused, issues.ErrNoHash, "a price alone is not the deal")
}

// TestAPlayerContinuesAfterARestart plays two rounds, and replaces the player by a new player that shares the
// memory.
func TestAPlayerContinuesAfterARestart(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		s := newTable(t, strategy.TitForTat())
		for _, price := range []uint64{4_000_000, 3_900_000} {
			s.decide()
			text, hash := s.document(price, 30)
			require.NoError(t, s.channel.Put(t.Context(), s.file(hash), text))
			s.offer(protocol.OfferSideSeller, price, hash)
		}
		if restarts {
			s.player = new(*s.player)
		}
		s.decide()
		require.Equal(t, "price=1020000, days=1", s.moves[2].Text, "it imitates the seller's concession")
	}
}

func TestPricesStayInTheRangeOfTheProgram(t *testing.T) {
	s := newTable(t, strategy.NegmasLinear())
	s.turn.Negotiation.MinOfferBps = 5_000
	offer, is := s.decide().(agent.Offer)
	require.True(t, is)
	require.Equal(t, uint64(2_500_000), offer.Amount)
	s = newTable(t, strategy.NegmasLinear())
	s.turn.Negotiation.MinOfferBps = 9_000
	require.Equal(t, agent.Reject{}, s.decide(), "no price of the domain is in the range")
}

func TestMiCROAcceptsTheOfferItMade(t *testing.T) {
	s := newTable(t, strategy.MiCRO())
	s.turn.Negotiation.MinOfferBps = 4_000 // at least 2,000,000
	first, is := s.decide().(agent.Offer)
	require.True(t, is)
	require.EqualValues(t, 2_000_000, first.Amount)
	text, hash := s.document(2_000_000, 1)
	require.Equal(t, [32]byte(hash), [32]byte(*first.Document))
	require.NoError(t, s.channel.Put(t.Context(), s.file(hash), text))
	s.offer(protocol.OfferSideSeller, 2_000_000, hash)
	require.Equal(t, agent.Accept{}, s.decide())
}

// commitment is what the player commits to.
var commitment = [32]byte{5}

// newCommitted returns a table whose buyer commits to the strategy.
func newCommitted(t *testing.T, played bargain.Strategy) *table {
	s := newTable(t, played)
	s.player.Commit = func(*haggle.Snapshot) ([32]byte, error) { return commitment, nil }
	return s
}

// kept returns the buyer's document for hash, from the memory.
func (s *table) kept(hash [32]byte) ([]byte, error) {
	n := s.turn.Negotiation
	return s.player.Document(s.t.Context(), n.Address, n.CreatedAt, s.turn.Side, hash)
}

// committed returns the document content beside the issues, for the buyer's last offer.
func (s *table) committed() terms.Committed {
	s.t.Helper()
	text, err := s.kept(s.moves[len(s.moves)-1].Document)
	require.NoError(s.t, err)
	read, err := terms.CommittedIn(text)
	require.NoError(s.t, err)
	return read
}

// TestDocumentsNameTheDocumentsThatTheyAnswer uses a seller's document that the buyer reads, and a late
// document: the buyer's decision stays as it was, because the first offer can be on chain.
func TestDocumentsNameTheDocumentsThatTheyAnswer(t *testing.T) {
	s := newCommitted(t, strategy.NegmasLinear())
	s.decide()
	require.Equal(t, terms.Committed{Commitment: commitment}, s.committed())
	text, hash := s.document(4_000_000, 30)
	require.NoError(t, s.channel.Put(t.Context(), s.file(hash), text))
	s.offer(protocol.OfferSideSeller, 4_000_000, hash)
	s.decide()
	require.Equal(t, terms.Committed{Commitment: commitment, Answers: hash}, s.committed())
	kept, err := s.kept(hash)
	require.NoError(t, err)
	require.Equal(t, text, kept, "the player keeps the documents that it has read")

	text, hash = s.document(1_000_000, 1)
	s.offer(protocol.OfferSideSeller, 1_000_000, hash)
	s.turn.Now += 60
	first, err := s.player.Decide(t.Context(), s.turn)
	require.NoError(t, err)
	require.IsType(t, agent.Offer{}, first)
	require.Equal(t, terms.Committed{Commitment: commitment}, s.committed())
	require.NoError(t, s.channel.Put(t.Context(), s.file(hash), text))
	again, err := s.player.Decide(t.Context(), s.turn)
	require.NoError(t, err)
	require.Equal(t, first, again)
	kept, err = s.kept(hash)
	require.NoError(t, err)
	require.Nil(t, kept)
	s.player.Commit = nil
	require.Equal(t, agent.Accept{}, s.decide(), "without a proof, a late document is read")
}

func TestAFailedCommitmentMakesNoMove(t *testing.T) {
	s := newCommitted(t, strategy.NegmasLinear())
	s.player.Commit = func(*haggle.Snapshot) ([32]byte, error) { return [32]byte{}, errors.New("disk full") }
	_, err := s.player.Decide(t.Context(), s.turn)
	require.EqualError(t, err, "issues: commit to the strategy: disk full")
	require.Empty(t, s.moves)
}

func TestAPlayerWaitsForMissingOffersUntilTheLastCall(t *testing.T) {
	s := newTable(t, strategy.NegmasLinear())
	s.decide()
	text, hash := s.document(4_000_000, 30)
	require.NoError(t, s.channel.Put(t.Context(), s.file(hash), text))
	s.offer(protocol.OfferSideSeller, 4_000_000, hash)
	s.turn.History = s.turn.History[1:]
	_, err := s.player.Decide(t.Context(), s.turn)
	require.ErrorIs(t, err, agent.ErrOffersMissing)
	s.turn.LastCall = true
	_, err = s.player.Decide(t.Context(), s.turn)
	require.NoError(t, err)
}
