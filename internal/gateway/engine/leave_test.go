package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAPartyLeavesAnOpenNegotiation(t *testing.T) {
	s := parsed(t, documentStrategy)
	countered, err := Respond(&s, Start(noon), at(1500), noon)
	require.NoError(t, err)
	open := Start(noon).After(countered, noon)
	for by, reason := range map[Party]string{
		PartyClient:    "The client left the negotiation: price",
		PartyPublisher: "The publisher left the negotiation: price",
	} {
		left, err := Leave(&s, open, by, LeavePrice, noon)
		require.NoError(t, err)
		require.Equal(t, Answer{Action: Reject, Reason: reason}, left.Answer())
		after := open.After(left, noon)
		require.Equal(t, Rejected, after.Status)
		require.Equal(t, open.Round, after.Round, "leaving is no proposal")
		_, err = Leave(&s, after, by, LeavePrice, noon)
		require.ErrorIs(t, err, ErrFinal)
	}
	_, err = Leave(&s, open, PartyClient, "because", noon)
	require.EqualError(t, err, `reason: "because" is unknown; use one of [price terms cancelled other]`)
	late, err := Leave(&s, open, PartyClient, LeaveOther, noon.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, Answer{Action: Timeout, Reason: ReasonInactive}, late.Answer())

	above := uint64(1)
	s.ApprovalAbove = &above
	agreed, err := Respond(&s, open, at(5000), noon)
	require.NoError(t, err)
	require.Equal(t, Approve, agreed.Action)
	for _, by := range []Party{PartyClient, PartyPublisher} {
		_, err = Leave(&s, open.After(agreed, noon), by, LeaveOther, noon)
		require.ErrorIs(t, err, ErrAwaitingApproval)
	}
}
