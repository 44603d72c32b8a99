package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/cmd/haggle/index"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/proving"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/indexer"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// commitments are an agent's commitments in an index.
type commitments struct {
	Agent solana.PublicKey `json:"agent"`
	// Negotiations is the number of the agent's negotiations, and Committed the number of negotiations with a
	// commitment in the agent's first offer, or in the offer's document text.
	Negotiations int `json:"negotiations"`
	Committed    int `json:"committed"`
	// Revealed is the number of commitments that the proofs reveal. Unrevealed is the number of the others.
	Revealed   int `json:"revealed"`
	Unrevealed int `json:"unrevealed"`
	// Unknown is the number of negotiations that may contain a commitment: the index lacks the agent's first
	// offer or the offer metadata, or the offer refers to a document whose text no proof contains.
	Unknown int `json:"unknown"`
	// Listed contains the negotiations, oldest first.
	Listed []commitment `json:"listed"`
}

// commitment is an agent's negotiation.
type commitment struct {
	Negotiation string `json:"negotiation"`
	// CreatedAt is in Unix seconds; 0 if unknown.
	CreatedAt int64      `json:"created_at"`
	Side      proof.Side `json:"side"`
	// Status is the negotiation's status: an agent cannot reveal the commitment until the end.
	Status string `json:"status"`
	// Commitment is the commitment in the first offer, in hex; omitted if there is none, or if a document
	// contains it.
	Commitment string `json:"commitment,omitempty"`
	// State is "revealed", "unfinished" (the proof lacks the end), "contradicted" (the proof is not valid, or
	// differs from the index), "unrevealed", "document" (no proof contains the document's text), "none",
	// "no_offer", or "unknown".
	State string `json:"state"`
	// Proof is the proof's file, and Problem the reason why it does not count, or the agent's deviation; both
	// may be omitted.
	Proof   string `json:"proof,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Commitment states.
const (
	revealed     = "revealed"
	unfinished   = "unfinished"
	contradicted = "contradicted"
	unrevealed   = "unrevealed"
	inDocument   = "document"
	none         = "none"
	noOffer      = "no_offer"
	unknown      = "unknown"
)

// statesOf maps unproved negotiations to states.
var statesOf = map[proving.Publication]string{
	proving.Unknown: unknown, proving.NoOffer: noOffer, proving.NoCommitment: none, proving.Commitment: unrevealed,
	proving.Document: inDocument,
}

// given is a proof file.
type given struct {
	path  string
	proof *proof.Proof
}

// countCommitments prints an agent's commitments. Afterwards it returns an error if a proof contradicts the
// commitment, shows a deviation, is unfinished, or cannot be compared: the first kind in this list that
// occurs.
func countCommitments(ctx context.Context, s *session.Session, agent, address string, paths []string) error {
	of, err := connection.ParseAddress(agent)
	if err != nil {
		return exitcode.Usagef("--agent: %w", err)
	}
	proofs, err := readAll(of, paths)
	if err != nil {
		return err
	}
	database, err := indexer.OpenExisting(ctx, address)
	if err != nil {
		return index.Failure(err)
	}
	found, err := database.AgentNegotiations(ctx, of.String())
	if err = errors.Join(err, database.Close()); err != nil {
		return index.Failure(err)
	}
	v, failures := newCommitments(of, found, proofs)
	if err := s.Print(v, v.text()); err != nil {
		return err
	}
	for _, kind := range []exitcode.Kind{exitcode.Invalid, exitcode.Deviated, exitcode.NotFound, exitcode.Undecided} {
		for _, failure := range failures {
			if failure.Kind == kind {
				return failure
			}
		}
	}
	return nil
}

// readAll reads an agent's proofs.
func readAll(agent solana.PublicKey, paths []string) (proofs []given, err error) {
	for _, path := range paths {
		p, err := read(path, "")
		if err != nil {
			return nil, err
		}
		party := map[proof.Side]proof.Address{proof.Buyer: p.Terms.Buyer, proof.Seller: p.Terms.Seller}[p.Side]
		if solana.PublicKey(party) != agent {
			return nil, exitcode.Usagef("%s: the proof is of the agent %s", path, solana.PublicKey(party))
		}
		same := func(other given) bool {
			return other.proof.Terms.Negotiation == p.Terms.Negotiation && other.proof.Terms.CreatedAt == p.Terms.CreatedAt
		}
		if at := slices.IndexFunc(proofs, same); at >= 0 {
			return nil, exitcode.Usagef("%s: %s is a proof of the same negotiation", path, proofs[at].path)
		}
		proofs = append(proofs, given{path, p})
	}
	return proofs, nil
}

// newCommitments compares an agent's negotiations in an index with the agent's proofs.
func newCommitments(
	agent solana.PublicKey, found []indexer.AgentNegotiation, proofs []given,
) (v commitments, failures []*exitcode.Error) {
	v = commitments{Agent: agent, Negotiations: len(found), Listed: []commitment{}}
	used := make(map[string]bool)
	for i := range found {
		n := &found[i]
		record := proving.NewRecord(n)
		createdAt, isKnown := record.CreatedAt()
		item := commitment{Negotiation: n.Address, CreatedAt: createdAt, Side: record.Side, Status: n.Status,
			State: statesOf[record.Published]}
		if record.Published == proving.Commitment {
			item.Commitment = hex.EncodeToString(record.Hash[:])
		}
		at := slices.IndexFunc(proofs, func(g given) bool {
			terms := g.proof.Terms
			return solana.PublicKey(terms.Negotiation).String() == n.Address && (terms.CreatedAt == createdAt || !isKnown)
		})
		if at >= 0 {
			used[proofs[at].path] = true
			if failure := item.compare(record, proofs[at]); failure != nil {
				failures = append(failures, failure)
			}
		}
		v.add(item, record.Published)
	}
	for _, g := range proofs {
		if !used[g.path] {
			failures = append(failures, &exitcode.Error{Kind: exitcode.NotFound,
				Err: fmt.Errorf("%s: the index has no negotiation %s created at %d", g.path,
					solana.PublicKey(g.proof.Terms.Negotiation), g.proof.Terms.CreatedAt),
				Hint: "index the chain of the proof first: haggle index run --once --db ..."})
		}
	}
	return v, failures
}

// compare compares a proof with the negotiation record, and sets the state. It returns nil if the proof
// counts.
func (c *commitment) compare(record *proving.Record, g given) *exitcode.Error {
	c.Proof = g.path
	fail := func(kind exitcode.Kind, state string, err error) *exitcode.Error {
		c.State, c.Problem = state, err.Error()
		return &exitcode.Error{Kind: kind, Err: fmt.Errorf("%s: %w", g.path, err)}
	}
	result, err := g.proof.Verify()
	if err != nil {
		return fail(exitcode.Invalid, contradicted, err)
	}
	switch err := record.Compare(g.proof); {
	case errors.Is(err, proving.ErrUnpublished):
		// The chain has no commitment, so the proof reveals none of those that are counted.
		c.Problem = err.Error()
	case errors.Is(err, proving.ErrNoRecord):
		failure := fail(exitcode.NotFound, c.State, err)
		failure.Hint = "index the chain again with this version: haggle index run --once --db sqlite:new.db"
		return failure
	case err != nil:
		return fail(exitcode.Invalid, contradicted, err)
	case g.proof.Last == nil:
		return fail(exitcode.Undecided, unfinished, errors.New("the file does not have the end of the negotiation"))
	default:
		c.State = revealed
	}
	if err := deviation(g.proof, result); err != nil {
		c.Problem = err.Error()
		return &exitcode.Error{Kind: exitcode.Deviated, Err: fmt.Errorf("%s: %w", g.path, err)}
	}
	return nil
}

// add counts a negotiation, given the agent's first offer.
func (v *commitments) add(item commitment, published proving.Publication) {
	v.Listed = append(v.Listed, item)
	switch {
	case item.State == revealed:
		v.Committed++
		v.Revealed++
	case published == proving.Commitment || item.State == unfinished:
		v.Committed++
		v.Unrevealed++
	case published == proving.Document || published == proving.Unknown:
		v.Unknown++
	}
}

func (v commitments) text() string {
	var open int
	for _, item := range v.Listed {
		if item.State == unrevealed && isOpen(item.Status) {
			open++
		}
	}
	left, doubtful := fmt.Sprint(v.Unrevealed), ""
	if open > 0 {
		left += fmt.Sprintf(", %d in open negotiations", open)
	}
	if v.Unknown > 0 {
		doubtful = fmt.Sprintf("%d with a document, or with an offer that the index lacks", v.Unknown)
	}
	text := format.Rows{
		{"agent", v.Agent.String()},
		{"negotiations", fmt.Sprint(v.Negotiations)},
		{"commitments", fmt.Sprintf("%d on chain", v.Committed)},
		{"revealed", fmt.Sprintf("%d by valid proofs, equal to the index", v.Revealed)},
		{"unrevealed", left},
		{"unknown", doubtful},
	}.String()
	rows := make([][]string, len(v.Listed))
	for i, item := range v.Listed {
		rows[i] = []string{item.State, item.Negotiation, string(item.Side), item.Status, item.detail()}
	}
	if len(rows) > 0 {
		text += "\n\n" + format.Table([]string{"STATE", "NEGOTIATION", "SIDE", "STATUS", "PROOF"}, rows)
	}
	return text + "\n\nnot shown: commitments of the agent's other keys, and those that it published outside of the chain"
}

// detail returns the proof with the reason why it does not count.
func (c *commitment) detail() string {
	return strings.TrimSuffix(c.Proof+": "+c.Problem, ": ")
}

func isOpen(status string) bool {
	return slices.Contains([]string{protocol.NegotiationStatusCreated.String(), protocol.NegotiationStatusProposed.String(),
		protocol.NegotiationStatusCountered.String()}, status)
}
