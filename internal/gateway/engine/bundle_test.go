package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBundles(t *testing.T) {
	parts := func(actions ...Action) (list []BundlePart) {
		for index, action := range actions {
			decision := Decision{Action: action}
			if action == Accept {
				agreed := at(uint64(1000 + index))
				decision.Terms = &agreed
			}
			list = append(list, BundlePart{int64(index + 1), decision})
		}
		return list
	}
	for _, c := range []struct {
		name     string
		parts    []BundlePart
		required []int64
		action   Action
		agreed   []int64
		open     []int64
	}{
		{"all accept", parts(Accept, Accept), nil, Accept, []int64{1, 2}, nil},
		{"one counters", parts(Accept, Counter, Accept), nil, Counter, nil, []int64{2}},
		{"one rejects", parts(Counter, Reject, Approve, Accept), nil, Reject, nil, []int64{1, 2, 3}},
		{"one times out", parts(Accept, Timeout, Counter), nil, Timeout, nil, []int64{2, 3}},
		{"one waits for approval", parts(Accept, Approve), nil, Approve, nil, []int64{2}},
		{"the listed ones accept", parts(Accept, Reject, Accept, Accept), []int64{4, 1}, Accept,
			[]int64{1, 4}, nil},
		{"a listed one rejects", parts(Accept, Reject, Accept), []int64{1, 2}, Reject, nil, []int64{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := Combine(c.parts, c.required)
			require.NoError(t, err)
			require.Equal(t, c.action, result.Action)
			require.Equal(t, c.open, result.Open)
			var agreed []int64
			for _, agreement := range result.Agreed {
				agreed = append(agreed, agreement.PublisherID)
				require.Equal(t, uint64(999+agreement.PublisherID), agreement.Terms.Price, "each has its own terms")
			}
			require.Equal(t, c.agreed, agreed)
		})
	}
	for problem, c := range map[string]struct {
		parts    []BundlePart
		required []int64
	}{
		"0 publishers; name 1 to 64":       {nil, nil},
		"65 publishers; name 1 to 64":      {make([]BundlePart, 65), nil},
		"publisher 1 occurs twice":         {append(parts(Accept), parts(Accept)...), nil},
		"publisher 3 is not in the bundle": {parts(Accept), []int64{3}},
		"publisher 1 is listed twice":      {parts(Accept), []int64{1, 1}},
		"publisher 1 has no decision":      {parts("maybe"), nil},
	} {
		_, err := Combine(c.parts, c.required)
		require.ErrorIs(t, err, ErrBundle)
		require.ErrorContains(t, err, problem)
	}
}

// TestHeldAgreementHasOnePrice shows that no lower price can be chosen for an agreement that waits for the bundle.
func TestHeldAgreementHasOnePrice(t *testing.T) {
	s := parsed(t, documentStrategy)
	for above, reason := range map[uint64]string{MaxApprovalAbove: ReasonBundle, 0: ReasonBundleApproval} {
		s.ApprovalAbove = above
		held := respond(t, &s, State{}, at(1800)).Held()
		require.Equal(t, []any{Counter, reason, at(1800)}, []any{held.Action, held.Reason, *held.Terms})
		_, err := held.WithPrice(at(1800), 1799)
		require.Error(t, err)
		_, err = held.WithPrice(at(1800), 1800)
		require.NoError(t, err)
	}
	asked := respond(t, &s, State{}, at(1500))
	require.Equal(t, asked, asked.Held())
}
