package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPartyLeavesAnOpenNegotiation(t *testing.T) {
	s := parsed(t, documentStrategy)
	countered, err := Respond(&s, State{}, at(1500))
	require.NoError(t, err)
	open := State{}.Next(at(1500), countered)
	for by, reason := range map[Party]string{
		PartyClient:    "The client left the negotiation: price",
		PartyPublisher: "The publisher left the negotiation: price",
	} {
		left, err := Leave(&s, open, by, LeavePrice)
		require.NoError(t, err)
		code := ReasonCode(string(by) + "_left")
		require.Equal(t, Answer{Action: Reject, Reason: reason, Codes: []ReasonCode{code}}, left.Answer())
		after := State{Status: left.Status()}
		require.Equal(t, Rejected, after.Status)
		require.Zero(t, left.Round, "leaving is no proposal")
		_, err = Leave(&s, after, by, LeavePrice)
		require.ErrorIs(t, err, ErrFinal)
	}
	_, err = Leave(&s, open, PartyClient, "because")
	require.EqualError(t, err, `reason: "because" is unknown; use one of [price terms cancelled other]`)

	s.ApprovalAbove = 1
	agreed, err := Respond(&s, open, at(5000))
	require.NoError(t, err)
	require.Equal(t, Approve, agreed.Action)
	for _, by := range []Party{PartyClient, PartyPublisher} {
		_, err = Leave(&s, State{Status: agreed.Status()}, by, LeaveOther)
		require.ErrorIs(t, err, ErrAwaitingApproval)
	}
}
