package policy_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
)

// Check returns the same result as SignMessage, however often it is called, and changes nothing.
func TestCheckPredictsTheSignature(t *testing.T) {
	s := newStage(t)
	allowed := s.message(s.create(friend, 1, mostPerTransaction))
	for range 2 {
		approval, err := s.policy.Check(t.Context(), allowed)
		require.NoError(t, err)
		require.Nil(t, approval)
	}
	require.Zero(t, s.signer.asked.Load(), "nothing is signed")
	require.Zero(t, s.policy.Used(mint), "nothing is counted")

	tooMuch := s.message(s.create(friend, 1, mostPerTransaction+1))
	_, err := s.policy.Check(t.Context(), tooMuch)
	require.Equal(t, s.deniedMessage(policy.RulePerTransaction, tooMuch), err)

	// Signed messages count for the next check. The same message can be signed again.
	require.NoError(t, s.signMessage(allowed))
	second := s.message(s.create(friend, 2, mostPerTransaction))
	_, err = s.policy.Check(t.Context(), second)
	require.Equal(t, s.deniedMessage(policy.RulePerCounterparty, second), err)
	_, err = s.policy.Check(t.Context(), allowed)
	require.NoError(t, err)

	_, err = s.policy.Check(t.Context(), []byte("no message"))
	require.ErrorIs(t, err, policy.ErrDenied)
}

// Check returns the approval request that SignMessage would make, and does not make it.
func TestCheckReturnsTheRequestForApproval(t *testing.T) {
	s := newStage(t, func(c *policy.Config) {
		tokens := c.Tokens[mint]
		tokens.ApproveAbove = 1_000_000
		c.Tokens[mint], c.Lamports.ApproveAbove = tokens, policy.Unlimited
		c.Approve = func(context.Context, *policy.Request) error {
			t.Error("a check does not ask")
			return nil
		}
	})
	approval, err := s.policy.Check(t.Context(), s.message(s.create(friend, 1, 1_000_000)))
	require.NoError(t, err)
	require.Nil(t, approval)
	approval, err = s.policy.Check(t.Context(), s.message(s.create(friend, 1, 1_000_001)))
	require.NoError(t, err)
	require.NotNil(t, approval)
	require.Condition(t, func() bool {
		return slices.ContainsFunc(approval.Spends, func(s policy.Spend) bool {
			return s.Purpose == policy.PurposeEscrow && s.Amount == 1_000_001
		})
	}, "the request has the escrow")
}
