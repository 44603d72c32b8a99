// Package verify checks a HIRE/1.0 conversation log, as exported by a home: that the hash chain is intact,
// that every message is signed by the sender and allowed in the state at that time, and that the agreement is
// settled as agreed. It needs no home, and, except for the settlement, no network.
package verify

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

// Options lists what a verification trusts. Nothing here comes from the log itself.
type Options struct {
	// Key returns an id's key.
	Key func(ctx context.Context, id string) (ed25519.PublicKey, error)
	// Rules come from the home, with the settlement key as System.
	Rules hire.Rules
	// Assets lists tokens for prices.
	Assets []hire.Asset
	// Genesis is the cluster's genesis hash, required in contracts. If it is zero, contracts may name any
	// cluster.
	Genesis solana.Hash
}

// Finding describes a faulty log entry.
type Finding struct {
	// Entry is the first faulty entry's sequence; 0 for a fault in the whole log.
	Entry int64 `json:"entry,omitempty"`
	// Code is a reason code of HIRE, a problem of the chain such as "changed", or "settlement".
	Code string `json:"code"`
	// Detail describes the fault.
	Detail string `json:"detail"`
}

// Deal is an agreement of the conversation.
type Deal struct {
	// Deal counts the deals of the conversation, from 1.
	Deal int `json:"deal"`
	// Terms were accepted by both sides, completed at At.
	Terms hire.Terms `json:"terms"`
	At    time.Time  `json:"at"`
	// Contracts counts contract copies, 0 to 2.
	Contracts int `json:"contracts"`
	// Negotiation is the negotiation address on chain; omitted if the terms cannot be settled.
	Negotiation string `json:"negotiation,omitempty"`
	// Settlement describes the chain's state; nil if not read.
	Settlement *Settlement `json:"settlement,omitempty"`

	terms escrow.Terms
}

// Report describes a verified log.
type Report struct {
	Conversation string     `json:"conversation_id"`
	Seeker       string     `json:"seeker"`
	Worker       string     `json:"worker"`
	Messages     int        `json:"messages"`
	Phase        hire.Phase `json:"phase"`
	// Head is the last entry's hash: compare it with the counterpart's.
	Head string `json:"head"`
	// Deals lists agreements, oldest first.
	Deals []Deal `json:"deals"`
	// Findings lists the problems; empty if none.
	Findings []Finding `json:"findings"`
}

func (r *Report) found(entry int64, code, format string, values ...any) {
	r.Findings = append(r.Findings, Finding{Entry: entry, Code: code, Detail: fmt.Sprintf(format, values...)})
}

// Links parses a log received from a home.
func Links(log *hire.Log) ([]audit.Link, error) {
	links := make([]audit.Link, len(log.Arrivals))
	for i, arrival := range log.Arrivals {
		if err := json.Unmarshal(arrival.Link, &links[i]); err != nil {
			return nil, fmt.Errorf("log: entry %d: %w", i+1, err)
		}
	}
	return links, nil
}

// Log verifies a log. It stops at the first faulty entry, because all later entries depend on it. The error
// comes from Options.Key and is not a [*hire.Refusal]: a key could not be read.
func Log(ctx context.Context, links []audit.Link, options Options) (*Report, error) {
	report := &Report{Deals: []Deal{}, Findings: []Finding{}}
	if len(links) == 0 {
		report.found(0, string(audit.Deleted), "log: no entries")
		return report, nil
	}
	head, finding := audit.VerifyChain(links[0].Chain, links)
	report.Head = head.Hash
	if finding != nil {
		report.found(finding.Entry, string(finding.Problem), "%s", finding.Detail)
		return report, nil
	}
	var state hire.State
	for _, link := range links {
		next, err := report.entry(ctx, link, state, options)
		if refusal := new(hire.Refusal); errors.As(err, &refusal) {
			report.found(link.Sequence, string(refusal.Reason), "%s", refusal.Text)
			break
		}
		if err != nil {
			return nil, err
		}
		state = next
		report.Messages++
	}
	report.Conversation, report.Seeker, report.Worker = state.Conversation, state.Seeker, state.Worker
	report.Phase = state.Phase
	return report, nil
}

// entry returns the state resulting from an entry. The error is a [*hire.Refusal] for a faulty entry.
func (r *Report) entry(ctx context.Context, link audit.Link, state hire.State, options Options) (hire.State, error) {
	var entry audit.Entry
	if err := json.Unmarshal([]byte(link.Text), &entry); err != nil {
		return state, &hire.Refusal{Reason: hire.ReasonMalformed, Text: "entry: not JSON"}
	}
	m, err := hire.Parse(entry.Data)
	if err != nil {
		return state, err
	}
	key, err := options.Key(ctx, m.From())
	if err == nil {
		err = m.Verify(key)
	}
	if err != nil {
		return state, err
	}
	next, err := state.Next(m, entry.Time, options.Rules)
	if err != nil {
		return state, err
	}
	return next, r.follow(ctx, m, next, entry.Time, options)
}

// follow notes agreements and checks contracts.
func (r *Report) follow(ctx context.Context, m *hire.Message, state hire.State, at time.Time, options Options) error {
	switch content := m.Payload().(type) {
	case *hire.Accept:
		if state.SeekerAccept == "" || state.WorkerAccept == "" {
			return nil
		}
		deal := Deal{Deal: state.Deal, Terms: state.Terms, At: at}
		terms, err := termsOf(ctx, state, options)
		if address, addressErr := terms.Address(); err == nil && addressErr == nil {
			deal.Negotiation, deal.terms = address.String(), terms
		}
		r.Deals = append(r.Deals, deal)
	case *hire.Contract:
		deal := &r.Deals[len(r.Deals)-1] // Next has found both accepts
		deal.Contracts++
		return checkContract(content, deal.terms, options)
	}
	return nil
}

func termsOf(ctx context.Context, state hire.State, options Options) (escrow.Terms, error) {
	seeker, err := options.Key(ctx, state.Seeker)
	if err != nil {
		return escrow.Terms{}, err
	}
	worker, err := options.Key(ctx, state.Worker)
	if err != nil {
		return escrow.Terms{}, err
	}
	return escrow.Of(state, seeker, worker, options.Assets)
}

// checkContract compares a contract's settlement with the settlement of the terms.
func checkContract(contract *hire.Contract, terms escrow.Terms, options Options) error {
	genesis, err := solana.HashFromBase58(string(contract.Settlement.Cluster))
	if err == nil && !options.Genesis.IsZero() && genesis != options.Genesis {
		return &hire.Refusal{Reason: hire.ReasonTerms, Text: "settlement: on another cluster"}
	}
	want, wantErr := terms.Settlement(genesis)
	if err != nil || wantErr != nil || contract.Settlement != want {
		return &hire.Refusal{Reason: hire.ReasonTerms, Text: "settlement: not of the accepted terms"}
	}
	return nil
}
