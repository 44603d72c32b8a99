package service

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Publishers lists the publishers that accept negotiations. It needs no scope.
func (s *Service) Publishers(
	ctx context.Context, page store.Page,
) (_ store.List[store.Publisher], err error) {
	defer translate(&err)
	return s.store.Publishers(ctx, page)
}

// Publisher returns a publisher. It needs no scope.
func (s *Service) Publisher(ctx context.Context, id int64) (_ store.Publisher, err error) {
	defer translate(&err)
	return s.store.Publisher(ctx, id)
}

// PublisherByHostname returns a publisher. It needs no scope.
func (s *Service) PublisherByHostname(ctx context.Context, hostname string) (_ store.Publisher, err error) {
	defer translate(&err)
	return s.byHostname(ctx, hostname)
}

// byHostname returns a publisher. Text other than host names does not reach the database, which refuses some.
func (s *Service) byHostname(ctx context.Context, hostname string) (store.Publisher, error) {
	if !isHostname(hostname) {
		return store.Publisher{}, notFound("publisher", fmt.Sprintf("%.253q", hostname))
	}
	return s.store.PublisherByHostname(ctx, hostname)
}

func isHostname(name string) bool {
	return len(name) <= terms.MaxName && hostnamePattern.MatchString(name)
}

// PublicStrategy returns the public facts of the strategy that new negotiations with a publisher use now. It
// needs no scope. It returns Conflict if none applies.
func (s *Service) PublicStrategy(ctx context.Context, hostname string) (_ engine.PublicFacts, err error) {
	defer translate(&err)
	p, err := s.byHostname(ctx, hostname)
	if err != nil {
		return engine.PublicFacts{}, err
	}
	active, err := s.store.ActiveStrategies(ctx, p.ID)
	if err == nil && len(active) == 0 {
		err = fmt.Errorf("publisher %s: %w", p.Hostname, store.ErrNoStrategy)
	}
	if err != nil {
		return engine.PublicFacts{}, err
	}
	at, err := s.selected(p.Hostname, active, s.store.Now())
	if err != nil {
		return engine.PublicFacts{}, err
	}
	rules, err := s.strategy(ctx, active[at].ID)
	if err != nil {
		return engine.PublicFacts{}, err
	}
	return raised(rules, p.FloorMicro).Public(), nil
}

// HostnamePattern matches host names. They have at most [terms.MaxName] characters.
const HostnamePattern = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`

var (
	hostnamePattern = regexp.MustCompile(HostnamePattern)
	currencyPattern = regexp.MustCompile(`^[A-Z][A-Z0-9]{2,11}$`)
)

func checkPublisher(p store.Publisher) error {
	if err := terms.CheckName(p.Name); err != nil {
		return invalid("name", "%s", err)
	}
	switch {
	case !isHostname(p.Hostname):
		return invalid("hostname", "%.253q is not a host name in lower case, such as site.example", p.Hostname)
	case !currencyPattern.MatchString(p.Currency):
		return invalid("currency", "%.40q is not 3 to 12 capital letters and digits", p.Currency)
	case p.FloorMicro < 0 || p.FloorMicro > terms.MaxPrice:
		return invalid("published_floor_micro", "%d is not from 0 to %d", p.FloorMicro, terms.MaxPrice)
	}
	return nil
}

// CreatePublisher registers a publisher, for administrators only. The host name is stored in lower case.
// idempotencyKey is chosen by the caller; empty for none. A repeated request with it gets the first answer.
// It returns Conflict for a known hostname, and for another publisher's name or a name that looks like it.
func (s *Service) CreatePublisher(
	ctx context.Context, caller identity.Caller, p store.Publisher, idempotencyKey string,
) (_ store.Publisher, err error) {
	defer translate(&err)
	if err := cmp.Or(caller.Require(identity.Administer), checkPublisher(p)); err != nil {
		return store.Publisher{}, err
	}
	key, err := idempotency(caller.LimitKey(), idempotencyKey, "create-publisher", p)
	if err != nil {
		return store.Publisher{}, err
	}
	added, err := s.store.CreatePublisher(ctx, p, key)
	return added, nameTaken("name", p.Name, err)
}

// PublisherChange lists the publisher fields to change; nil leaves a field unchanged.
type PublisherChange struct {
	Name       *string `json:"name,omitempty"`
	FloorMicro *int64  `json:"published_floor_micro,omitempty" minimum:"0" maximum:"1000000000"`
	Active     *bool   `json:"is_active,omitempty"`
}

// UpdatePublisher changes a publisher. The publisher's own key with the scope strategies:write can change the
// floor and the activity; only administrators change the name, because clients see it. The currency never
// changes, because all strategies and agreements use it.
func (s *Service) UpdatePublisher(
	ctx context.Context, caller identity.Caller, id int64, c PublisherChange,
) (_ store.Publisher, err error) {
	defer translate(&err)
	id, err = owner(caller, identity.StrategiesWrite, id)
	if err == nil && c.Name != nil {
		err = caller.Require(identity.Administer)
	}
	if err != nil {
		return store.Publisher{}, err
	}
	name := ""
	changed, err := s.store.UpdatePublisher(ctx, id, func(p *store.Publisher) error {
		if c.Name != nil {
			p.Name = *c.Name
		}
		if c.FloorMicro != nil {
			p.FloorMicro = *c.FloorMicro
		}
		if c.Active != nil {
			p.Active = *c.Active
		}
		name = p.Name
		return checkPublisher(*p)
	})
	return changed, nameTaken("name", name, err)
}
