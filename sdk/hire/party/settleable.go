package party

import (
	"context"
	"crypto/ed25519"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

// parties holds a conversation's keys.
type parties struct{ seeker, worker ed25519.PublicKey }

// parties returns both keys.
func (r *runtime) parties(ctx context.Context, counterpart string) (*parties, error) {
	other, err := r.Resolver.Resolve(ctx, counterpart)
	if err != nil {
		return nil, err
	}
	if r.role == hire.RoleWorker {
		return &parties{seeker: other.Key, worker: r.public()}, nil
	}
	return &parties{seeker: r.public(), worker: other.Key}, nil
}

// identify finds the keys for settleable. It finds none if [Chain] is nil.
func (t *tracked) identify(ctx context.Context) (err error) {
	if t.runtime.settler != nil {
		t.conversation.parties, err = t.runtime.parties(ctx, t.counterpart)
	}
	return err
}

// settleable returns an error if the agent settles agreements, and terms accepted now could not be settled:
// an error of [escrow.Settleable]. Accepted terms cannot be corrected.
func (c *conversation) settleable(terms hire.Terms, now time.Time) error {
	if c.parties == nil {
		return nil
	}
	_, err := escrow.Settleable(terms, now, c.parties.seeker, c.parties.worker, c.assets)
	return err
}

// allow returns an error if the agent must not agree to an offer now: an [ErrBeyondLimit], or an error of settleable.
func (c *conversation) allow(l Limits, asset hire.Asset, offer Offer, now time.Time) error {
	if err := l.allow(c.role, asset, offer, now); err != nil {
		return err
	}
	return c.settleable(hire.Terms{
		Price: asset.Price(offer.Price), Deadline: hire.NewTime(offer.Deadline), Arbiter: offer.Arbiter,
	}, now)
}
