package identity

import (
	"fmt"
	"slices"
	"strings"
)

// Scope is a caller's permission. It covers the caller's own publisher or client, unless the caller is an
// administrator.
type Scope string

// The scopes.
const (
	// Negotiate permits opening, continuing and querying negotiations.
	Negotiate Scope = "negotiate"
	// NegotiationsRead permits listing and reading all negotiations of the publisher or client.
	NegotiationsRead Scope = "negotiations:read"
	// LicensesRead and LicensesWrite are stored with API keys, so their text keeps the earlier spelling.
	LicensesRead    Scope = "licences:read"
	LicensesWrite   Scope = "licences:write"
	StrategiesRead  Scope = "strategies:read"
	StrategiesWrite Scope = "strategies:write"
	// ApprovalsWrite permits approving and refusing negotiations that await approval.
	ApprovalsWrite Scope = "approvals:write"
	AnalyticsRead  Scope = "analytics:read"
	AuditRead      Scope = "audit:read"
	// KeysWrite permits creating, rotating and revoking API keys with at most the scopes of the caller.
	KeysWrite Scope = "keys:write"
	// Administer permits registering publishers and clients, and acting for every publisher.
	Administer Scope = "administer"
)

// scopes maps each kind of caller to the scopes.
var scopes = map[Kind][]Scope{
	Anonymous: {Negotiate},
	Client:    {Negotiate, NegotiationsRead, LicensesRead, KeysWrite},
	Publisher: {
		NegotiationsRead, LicensesRead, LicensesWrite, StrategiesRead, StrategiesWrite, ApprovalsWrite,
		AnalyticsRead, AuditRead, KeysWrite,
	},
	Administrator: {
		NegotiationsRead, LicensesRead, LicensesWrite, StrategiesRead, StrategiesWrite, ApprovalsWrite,
		AnalyticsRead, AuditRead, KeysWrite, Administer,
	},
}

// ScopesOf returns all scopes that callers of a kind can have. Clients that sign have all of them.
func ScopesOf(kind Kind) []Scope { return slices.Clone(scopes[kind]) }

// ParseScopes returns the scopes for API keys owned by a kind of caller, sorted and without repetitions. It
// fails if names is empty, or a name is unknown or not allowed there.
func ParseScopes(kind Kind, names []string) ([]Scope, error) {
	if kind != Client && kind != Publisher {
		return nil, fmt.Errorf("API key: kind %q cannot own keys; use %s or %s", kind, Client, Publisher)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("scopes: empty; use one or more of %s", join(scopes[kind]))
	}
	var parsed []Scope
	for _, name := range names {
		if !slices.Contains(scopes[kind], Scope(name)) {
			return nil, fmt.Errorf("scope %q: not a scope of a %s; use one of %s", name, kind,
				join(scopes[kind]))
		}
		parsed = append(parsed, Scope(name))
	}
	slices.Sort(parsed)
	return slices.Compact(parsed), nil
}

func join(list []Scope) string {
	names := make([]string, len(list))
	for i, scope := range list {
		names[i] = string(scope)
	}
	return strings.Join(names, ", ")
}
