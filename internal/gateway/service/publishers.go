package service

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Publisher is a site that licenses its content. All of it is public.
type Publisher struct {
	ID int64 `json:"id"`
	// Hostname is in lower case. It never changes.
	Hostname string `json:"hostname"`
	Name     string `json:"name"`
	Currency string `json:"currency"`
	// FloorMicro is the lowest price that any strategy of the publisher accepts, in micro units; 0 for none.
	FloorMicro int64     `json:"published_floor_micro"`
	Active     bool      `json:"is_active"`
	CreatedAt  time.Time `json:"created_at"`
	// IdempotencyKey is that of a request: a repetition of CreatePublisher gets the first answer.
	IdempotencyKey string `json:"-"`
}

func publisherView(p store.Publisher) Publisher {
	v := Publisher{
		ID: p.ID, Hostname: p.Hostname, Name: p.Name, Currency: p.Currency, Active: p.Active,
		CreatedAt: p.CreatedAt,
	}
	if p.PublishedFloorMicro != nil {
		v.FloorMicro = *p.PublishedFloorMicro
	}
	return v
}

// Publishers lists the publishers that accept negotiations. It needs no scope.
func (s *Service) Publishers(ctx context.Context, page store.Page) (_ store.List[Publisher], err error) {
	defer translate(&err)
	return listed(infallible(publisherView))(s.store.Publishers(ctx, page))
}

// Publisher returns a publisher. It needs no scope.
func (s *Service) Publisher(ctx context.Context, id int64) (_ Publisher, err error) {
	defer translate(&err)
	p, err := s.store.Publisher(ctx, id)
	return publisherView(p), err
}

// PublisherByHostname returns a publisher. It needs no scope.
func (s *Service) PublisherByHostname(ctx context.Context, hostname string) (_ Publisher, err error) {
	defer translate(&err)
	p, err := s.byHostname(ctx, hostname)
	return publisherView(p), err
}

// byHostname returns a publisher. A text that is no host name does not reach the database, which refuses
// some.
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
	return raised(rules, p.PublishedFloorMicro).Public(), nil
}

// HostnamePattern is the form of host names, which have at most [terms.MaxName] characters.
const HostnamePattern = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`

var (
	hostnamePattern = regexp.MustCompile(HostnamePattern)
	currencyPattern = regexp.MustCompile(`^[A-Z][A-Z0-9]{2,11}$`)
)

func (p Publisher) check() error {
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

func (p Publisher) stored() store.Publisher {
	row := store.Publisher{
		ID: p.ID, Hostname: p.Hostname, Name: p.Name, Currency: p.Currency, Active: p.Active,
	}
	if p.FloorMicro > 0 {
		row.PublishedFloorMicro = &p.FloorMicro
	}
	return row
}

// CreatePublisher registers a publisher, for administrators only. It returns Conflict for a known hostname.
func (s *Service) CreatePublisher(
	ctx context.Context, caller identity.Caller, p Publisher,
) (_ Publisher, err error) {
	defer translate(&err)
	if err := caller.Require(identity.Administer); err != nil {
		return Publisher{}, err
	}
	if err := p.check(); err != nil {
		return Publisher{}, err
	}
	key, err := idempotency(caller.LimitKey(), p.IdempotencyKey, "create-publisher", p)
	if err != nil {
		return Publisher{}, err
	}
	added, err := s.store.CreatePublisher(ctx, p.stored(), key)
	return publisherView(added), err
}

// PublisherChange are the parts of a publisher that change; nil leaves one as it is.
type PublisherChange struct {
	Name       *string `json:"name,omitempty"`
	FloorMicro *int64  `json:"published_floor_micro,omitempty" minimum:"0" maximum:"1000000000"`
	Active     *bool   `json:"is_active,omitempty"`
}

// UpdatePublisher changes a publisher. Its own key with the scope strategies:write can change the floor and
// the activity; only administrators change the name, because clients see it. The currency never changes,
// because it is that of all strategies and agreements.
func (s *Service) UpdatePublisher(
	ctx context.Context, caller identity.Caller, id int64, c PublisherChange,
) (_ Publisher, err error) {
	defer translate(&err)
	id, err = owner(caller, identity.StrategiesWrite, id)
	if err == nil && c.Name != nil {
		err = caller.Require(identity.Administer)
	}
	if err != nil {
		return Publisher{}, err
	}
	updated, err := s.store.UpdatePublisher(ctx, id, func(row *store.Publisher) error {
		p := publisherView(*row)
		if c.Name != nil {
			p.Name = *c.Name
		}
		if c.FloorMicro != nil {
			p.FloorMicro = *c.FloorMicro
		}
		if c.Active != nil {
			p.Active = *c.Active
		}
		*row = p.stored()
		return p.check()
	})
	return publisherView(updated), err
}
