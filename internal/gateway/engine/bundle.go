package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// MaxBundle is the highest number of publishers in a bundle.
const MaxBundle = 64

// ErrBundle is wrapped by errors about invalid bundles.
var ErrBundle = errors.New("invalid bundle")

// BundlePart is a publisher's decision on the bundle's proposal.
type BundlePart struct {
	PublisherID int64
	Decision    Decision
}

// BundleResult is the decision on a bundle.
type BundleResult struct {
	// Action is [Accept] if every required part is accepted. Otherwise it is the required parts' action that
	// is farthest from acceptance: reject, timeout, counter, approve, in this order.
	Action Action
	// Agreed holds each required publisher's accepted terms, in part order, if Action is [Accept]: each
	// becomes a license. Otherwise it is empty, and no license is issued.
	Agreed []BundleAgreement
	// Open lists, in part order, the publishers of required parts that are not accepted.
	Open []int64
}

// BundleAgreement is a publisher's agreement.
type BundleAgreement struct {
	PublisherID int64
	Terms       terms.Terms
}

// Combine returns the decision on a bundle. If required is empty, all parts are required; otherwise the
// listed publishers are, and the others get no license. It returns an error with [ErrBundle] if there is no
// part, or too many, if a publisher occurs twice, or if a listed publisher's part is missing.
func Combine(parts []BundlePart, required []int64) (BundleResult, error) {
	if len(parts) == 0 || len(parts) > MaxBundle {
		return BundleResult{}, fmt.Errorf("%w: %d publishers; name 1 to %d", ErrBundle, len(parts), MaxBundle)
	}
	var publishers []int64
	for _, part := range parts {
		if slices.Contains(publishers, part.PublisherID) {
			return BundleResult{}, fmt.Errorf("%w: publisher %d occurs twice", ErrBundle, part.PublisherID)
		}
		publishers = append(publishers, part.PublisherID)
	}
	for at, publisher := range required {
		switch {
		case !slices.Contains(publishers, publisher):
			return BundleResult{}, fmt.Errorf("%w: publisher %d is not in the bundle", ErrBundle, publisher)
		case slices.Contains(required[:at], publisher):
			return BundleResult{}, fmt.Errorf("%w: publisher %d is listed twice", ErrBundle, publisher)
		}
	}
	order := []Action{Reject, Timeout, Counter, Approve, Accept}
	result := BundleResult{Action: Accept}
	for _, part := range parts {
		action := part.Decision.Action
		switch {
		case len(required) > 0 && !slices.Contains(required, part.PublisherID):
			continue
		case !slices.Contains(order, action) || action == Accept && part.Decision.Terms == nil:
			return BundleResult{}, fmt.Errorf("%w: publisher %d has no decision", ErrBundle, part.PublisherID)
		case action == Accept:
			result.Agreed = append(result.Agreed, BundleAgreement{part.PublisherID, *part.Decision.Terms})
		default:
			result.Open = append(result.Open, part.PublisherID)
		}
		if slices.Index(order, action) < slices.Index(order, result.Action) {
			result.Action = action
		}
	}
	if result.Action != Accept {
		result.Agreed = nil
	}
	return result, nil
}

// Held returns the decision with an agreement replaced by a standing counter offer of the same terms and of that
// price alone: see [Decision.Least]. Other decisions stay.
func (d Decision) Held() Decision {
	switch d.Action {
	case Accept:
		d.Reason = ReasonBundle
	case Approve:
		d.Reason = ReasonBundleApproval
	default:
		return d
	}
	d.Action, d.Least = Counter, d.Terms.Price
	return d
}
