package service

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Licence results from a deal: the rule that the publisher's server enforces for the client.
type Licence struct {
	ID            int64         `json:"policy_id"`
	PublisherID   int64         `json:"publisher_id"`
	ClientID      int64         `json:"client_id"`
	NegotiationID string        `json:"negotiation_id"`
	Policy        terms.License `json:"policy_json"`
	CreatedAt     time.Time     `json:"created_at"`
	// RevokedAt is zero while the licence is valid.
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

func licenceView(p store.Policy) (Licence, error) {
	document, err := terms.ParseLicense(p.Policy)
	if err != nil {
		return Licence{}, fmt.Errorf("stored licence %d: %s", p.ID, err) // not an error of the caller
	}
	return Licence{
		ID: p.ID, PublisherID: p.Publisher, ClientID: p.Client, NegotiationID: p.Negotiation, Policy: document,
		CreatedAt: p.CreatedAt, RevokedAt: p.RevokedAt,
	}, nil
}

// GenerateLicence writes an accepted negotiation's licence. The publisher needs the scope licences:write, and
// the client licences:read, because the licence follows from the agreement. Repeated calls return the same
// licence with created false. It returns Conflict if the negotiation is not accepted, or the client
// anonymous: a licence contains the client's verified name.
func (s *Service) GenerateLicence(
	ctx context.Context, caller identity.Caller, negotiation string,
) (licence Licence, created bool, err error) {
	defer translate(&err)
	scope := identity.LicencesWrite
	if caller.Kind == identity.Client {
		scope = identity.LicencesRead
	}
	if err := caller.Require(scope); err != nil {
		return licence, false, err
	}
	n, err := s.store.Negotiation(ctx, negotiation)
	if err != nil {
		return licence, false, err
	}
	if !concerns(caller, n.Publisher, n.Client) {
		return licence, false, notFound("negotiation", negotiation)
	}
	hostname, err := s.hostname(ctx, n.Publisher)
	if err != nil {
		return licence, false, err
	}
	// An accepted negotiation's terms never change.
	var document json.RawMessage
	if n.Status == engine.Accepted && n.Policy == 0 {
		if document, err = s.license(ctx, n, hostname); err != nil {
			return licence, false, err
		}
	}
	p, created, err := s.store.GenerateLicence(acting(ctx, caller), negotiation, document)
	if err != nil {
		return licence, false, err
	}
	licence, err = licenceView(p)
	return licence, created, err
}

// license returns an accepted negotiation's document.
func (s *Service) license(ctx context.Context, n store.Negotiation, hostname string) (json.RawMessage, error) {
	if n.Anonymous || n.ClientName == "" {
		return nil, conflict(CodeUnnamed,
			"negotiation %s: the client is anonymous; a licence has the name of a registered client", n.ID)
	}
	agreed, err := terms.Parse(n.FinalTerms)
	if err != nil {
		return nil, fmt.Errorf("stored terms: %s", err)
	}
	rules, err := s.strategies.get(n.Strategy, func() (*engine.Strategy, error) {
		v, err := s.store.Strategy(ctx, n.Strategy)
		if err != nil {
			return nil, err
		}
		return rulesOf(v.Definition)
	})
	if err != nil {
		return nil, err
	}
	until := n.CompletedAt.Add(time.Duration(rules.LicenseSeconds) * time.Second)
	document, err := terms.NewLicense(hostname, n.ClientName, agreed, until)
	if err != nil {
		return nil, err
	}
	return document.Text()
}

// concerns reports whether the caller is the publisher, the client or an administrator.
func concerns(caller identity.Caller, publisher, client int64) bool {
	switch caller.Kind {
	case identity.Publisher:
		return caller.ID == publisher
	case identity.Client:
		return caller.ID == client
	}
	return administers(caller)
}

// Licence returns a licence to the holder or the publisher. It needs the scope licences:read.
func (s *Service) Licence(ctx context.Context, caller identity.Caller, id int64) (_ Licence, err error) {
	defer translate(&err)
	if err := caller.Require(identity.LicencesRead); err != nil {
		return Licence{}, err
	}
	p, err := s.store.Policy(ctx, id)
	if err != nil {
		return Licence{}, err
	}
	if !concerns(caller, p.Publisher, p.Client) {
		return Licence{}, notFound("licence", id)
	}
	return licenceView(p)
}

// Licences lists the licences of the caller, newest first. It needs the scope licences:read.
func (s *Service) Licences(
	ctx context.Context, caller identity.Caller, page store.Page,
) (_ store.List[Licence], err error) {
	defer translate(&err)
	if err := caller.Require(identity.LicencesRead); err != nil {
		return store.List[Licence]{}, err
	}
	var publisher, client int64
	switch caller.Kind {
	case identity.Publisher:
		publisher = caller.ID
	case identity.Client:
		client = caller.ID
	}
	return listed(licenceView)(s.store.Policies(ctx, publisher, client, page))
}

// RevokeLicence revokes a licence on the publisher's behalf, with the scope licences:write. reason is
// recorded.
func (s *Service) RevokeLicence(
	ctx context.Context, caller identity.Caller, id int64, reason string,
) (_ Licence, err error) {
	defer translate(&err)
	if err := caller.Require(identity.LicencesWrite); err != nil {
		return Licence{}, err
	}
	if err := terms.CheckName(reason); err != nil {
		return Licence{}, invalid("reason", "%s", err)
	}
	p, err := s.store.Policy(ctx, id)
	if err != nil {
		return Licence{}, err
	}
	if !concerns(caller, p.Publisher, 0) {
		return Licence{}, notFound("licence", id)
	}
	if p, err = s.store.RevokeLicence(acting(ctx, caller), p.Publisher, p.Negotiation, reason); err != nil {
		return Licence{}, err
	}
	return licenceView(p)
}
