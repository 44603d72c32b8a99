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

// License results from a deal: the rule that the publisher's server enforces for the client.
type License struct {
	ID            int64                 `json:"policy_id"`
	PublisherID   int64                 `json:"publisher_id"`
	ClientID      int64                 `json:"client_id"`
	NegotiationID string                `json:"negotiation_id"`
	Policy        terms.LicenseDocument `json:"policy_json"`
	CreatedAt     time.Time             `json:"created_at"`
	// RevokedAt is zero while the license is valid.
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

func licenseView(l store.License) (License, error) {
	document, err := terms.ParseLicenseDocument(l.Document)
	if err != nil {
		return License{}, fmt.Errorf("stored license %d: %s", l.ID, err) // not an error of the caller
	}
	return License{
		ID: l.ID, PublisherID: l.Publisher, ClientID: l.Client, NegotiationID: l.Negotiation, Policy: document,
		CreatedAt: l.CreatedAt, RevokedAt: l.RevokedAt,
	}, nil
}

// GenerateLicense writes an accepted negotiation's license. The publisher needs the scope licences:write, and
// the client licences:read, because the license follows from the agreement. Repeated calls return the same
// license with created false. It returns Conflict if the negotiation is not accepted, or the client
// anonymous: a license contains the client's verified name.
func (s *Service) GenerateLicense(
	ctx context.Context, caller identity.Caller, negotiation string,
) (license License, created bool, err error) {
	defer translate(&err)
	scope := identity.LicensesWrite
	if caller.Kind == identity.Client {
		scope = identity.LicensesRead
	}
	if err := caller.Require(scope); err != nil {
		return license, false, err
	}
	n, err := s.store.Negotiation(ctx, negotiation)
	if err != nil {
		return license, false, err
	}
	if !concerns(caller, n.Publisher, n.Client) {
		return license, false, notFound("negotiation", negotiation)
	}
	hostname, err := s.hostname(ctx, n.Publisher)
	if err != nil {
		return license, false, err
	}
	// An accepted negotiation's terms never change.
	var document json.RawMessage
	if n.Status == engine.Accepted && n.License == 0 {
		if document, err = s.license(ctx, n, hostname); err != nil {
			return license, false, err
		}
	}
	l, created, err := s.store.GenerateLicense(acting(ctx, caller), negotiation, document)
	if err != nil {
		return license, false, err
	}
	license, err = licenseView(l)
	return license, created, err
}

// license returns an accepted negotiation's document.
func (s *Service) license(ctx context.Context, n store.Negotiation, hostname string) (json.RawMessage, error) {
	if n.Anonymous || n.ClientName == "" {
		return nil, conflict(CodeUnnamed,
			"negotiation %s: the client is anonymous; a license has the name of a registered client", n.ID)
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
	document, err := terms.NewLicenseDocument(hostname, n.ClientName, agreed, until)
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

// License returns a license to the holder or the publisher. It needs the scope licences:read.
func (s *Service) License(ctx context.Context, caller identity.Caller, id int64) (_ License, err error) {
	defer translate(&err)
	if err := caller.Require(identity.LicensesRead); err != nil {
		return License{}, err
	}
	l, err := s.store.License(ctx, id)
	if err != nil {
		return License{}, err
	}
	if !concerns(caller, l.Publisher, l.Client) {
		return License{}, notFound("license", id)
	}
	return licenseView(l)
}

// Licenses lists the licenses of the caller, newest first. It needs the scope licences:read.
func (s *Service) Licenses(
	ctx context.Context, caller identity.Caller, page store.Page,
) (_ store.List[License], err error) {
	defer translate(&err)
	if err := caller.Require(identity.LicensesRead); err != nil {
		return store.List[License]{}, err
	}
	var publisher, client int64
	switch caller.Kind {
	case identity.Publisher:
		publisher = caller.ID
	case identity.Client:
		client = caller.ID
	}
	return listed(licenseView)(s.store.Licenses(ctx, publisher, client, page))
}

// RevokeLicense revokes a license on the publisher's behalf, with the scope licences:write. reason is
// recorded.
func (s *Service) RevokeLicense(
	ctx context.Context, caller identity.Caller, id int64, reason string,
) (_ License, err error) {
	defer translate(&err)
	if err := caller.Require(identity.LicensesWrite); err != nil {
		return License{}, err
	}
	if err := terms.CheckName(reason); err != nil {
		return License{}, invalid("reason", "%s", err)
	}
	l, err := s.store.License(ctx, id)
	if err != nil {
		return License{}, err
	}
	if !concerns(caller, l.Publisher, 0) {
		return License{}, notFound("license", id)
	}
	if l, err = s.store.RevokeLicense(acting(ctx, caller), l.Publisher, l.Negotiation, reason); err != nil {
		return License{}, err
	}
	return licenseView(l)
}
