package agent_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// mail is the channel used by the agents to send documents: by their hashes.
type mail struct{ sync.Map }

// haggler bargains over a domain's issues. Only the price and the document's hash are on chain.
type haggler struct {
	preferences *bargain.Preferences
	course      *bargain.Course
	side        protocol.OfferSide
	mail        *mail
	// forge makes it send a document different from its offer.
	forge bool

	rejected []error
	agreed   bargain.Outcome
}

// hagglerRounds is the number of offers that the strategies expect.
const hagglerRounds = 8

func newHaggler(t *testing.T, domain *bargain.Domain, side protocol.OfferSide, mail *mail) *haggler {
	price := utility.Line{First: fixed.One, Count: domain.Issue(0).Count}
	days := utility.Line{First: fixed.One, Count: domain.Issue(1).Count}
	weights := []fixed.Number{fixed.One / 4, fixed.One / 4 * 3}
	if side == protocol.OfferSideSeller {
		price.First, price.Last, days.First, days.Last = 0, fixed.One, 0, fixed.One
		weights[0], weights[1] = weights[1], weights[0]
	}
	u, err := utility.NewAdditive(domain, 0, weights, price, days)
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, u, fixed.One/5)
	require.NoError(t, err)
	return &haggler{
		preferences: preferences, side: side, mail: mail, agreed: bargain.NoOutcome,
		course: bargain.NewCourse(strategy.Linear(), preferences, int(side), hagglerRounds, 0, 1),
	}
}

// standing returns the outcome of the counterparty's offer. It returns terms.ErrHash for a forged document.
func (h *haggler) standing(turn agent.Turn) (bargain.Outcome, error) {
	metadata, err := protocol.DecodeMetadata(turn.Negotiation.Metadata)
	if err != nil || metadata.Document == nil {
		return bargain.NoOutcome, err
	}
	document, _ := h.mail.Load(*metadata.Document)
	text, _ := document.([]byte)
	return terms.Check(h.preferences.Domain(), text, *metadata.Document, turn.Standing())
}

func (h *haggler) decide(_ context.Context, turn agent.Turn) (agent.Decision, error) {
	domain := h.preferences.Domain()
	offered := bargain.NoOutcome
	if turn.CanAccept() {
		var err error
		if offered, err = h.standing(turn); err != nil {
			h.rejected = append(h.rejected, err)
		}
		h.course.Observe(offered)
	}
	action := h.course.Respond(turn.Negotiation.OfferRange())
	switch {
	case action.Move == bargain.MoveAccept:
		h.agreed = offered
		return agent.Accept{}, nil
	case action.Move == bargain.MoveEnd || turn.Negotiation.RoundsLeft() == 0:
		return agent.Reject{}, nil
	}
	text, hash, err := terms.Write(domain, action.Outcome)
	if err != nil {
		return nil, err
	}
	amount, err := terms.Price(domain, action.Outcome)
	if err != nil {
		return nil, err
	}
	if h.forge {
		if text, _, err = terms.Write(domain, domain.With(action.Outcome, 1, 0)); err != nil {
			return nil, err
		}
	}
	h.mail.Store(protocol.TermsDocument(hash), text)
	h.course.Observe(action.Outcome)
	return agent.Offer{Amount: amount, Document: new(protocol.TermsDocument(hash))}, nil
}

// TestAgentsBargainOverSeveralIssues settles a price with a delivery time: the paid negotiation contains the
// hash of the document that both agreed to. The buyer accepts no offer whose document is forged.
func TestAgentsBargainOverSeveralIssues(t *testing.T) {
	f := newFixture(t)
	domain, err := bargain.NewDomain(
		bargain.Price("price", 2_000_000, 4_000_000, 10_000), bargain.Integer("days", 1, 30))
	require.NoError(t, err)
	for _, forge := range []bool{false, true} {
		mail := new(mail)
		buyer := newHaggler(t, domain, protocol.OfferSideBuyer, mail)
		seller := newHaggler(t, domain, protocol.OfferSideSeller, mail)
		seller.forge = forge
		negotiation := f.invite()
		buying := f.run(f.Buyer, agent.Config{Decide: buyer.decide})
		selling := f.run(f.Seller, agent.Config{Decide: seller.decide, Services: services})
		result := f.result(buying)
		buying.stop()
		selling.stop()
		require.Empty(t, buying.errors())
		require.Empty(t, selling.errors())
		if forge {
			for _, err := range buyer.rejected {
				require.ErrorIs(t, err, terms.ErrHash)
			}
			require.NotEmpty(t, buyer.rejected)
			require.Equal(t, bargain.NoOutcome, buyer.agreed, "the buyer accepts no forged document")
			continue
		}
		require.Equal(t, protocol.NegotiationStatusSettled, result.Status)
		agreed := min(buyer.agreed, seller.agreed) // only one accepted
		_, hash, err := terms.Write(domain, agreed)
		require.NoError(t, err)
		price, err := terms.Price(domain, agreed)
		require.NoError(t, err)
		settled := eventsOf[*protocol.NegotiationSettled](f.history(negotiation))
		require.Len(t, settled, 1)
		require.Equal(t, price, settled[0].SettledAmount)
		require.Equal(t, protocol.TermsDocument(hash).Metadata(), settled[0].Metadata)
		t.Logf("agreed on %s after %d offers", domain.Text(agreed), result.Rounds)
	}
}
