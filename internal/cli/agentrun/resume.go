package agentrun

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Unfinished returns the address of an earlier run's negotiation where the agent plays a role; zero if none.
// If there is a journal, the earlier run's transactions are resolved first.
func (p *Party) Unfinished(ctx context.Context, filter haggle.Filter, isOurs func(*haggle.Snapshot) bool) (solana.PublicKey, error) {
	created, err := p.recover(ctx)
	if err != nil {
		return solana.PublicKey{}, err
	}
	var oldest *haggle.Snapshot
	for n, err := range p.Client.FindNegotiations(ctx, filter) {
		if err != nil {
			return solana.PublicKey{}, err
		}
		if isOurs(n) && (oldest == nil || n.CreatedAt < oldest.CreatedAt) {
			oldest = n
		}
	}
	if oldest != nil {
		p.Note("going on with %s, which is %s after %d offers", oldest.Address, oldest.Status, oldest.CurrentRound)
		return oldest.Address, nil
	}
	if !created.IsZero() {
		p.Note("going on with %s, which an earlier run has created", created)
	}
	return created, nil
}

// recover resolves an earlier run's transactions. It returns the negotiation created by that run, if any: a
// lagging node's list may not contain it yet.
func (p *Party) recover(ctx context.Context) (created solana.PublicKey, err error) {
	if p.journal == nil {
		return created, nil
	}
	earlier := p.journal.OpenJournal()
	defer func() { err = errors.Join(err, earlier.Close()) }()
	for _, err := range earlier.Unfinished(ctx, p.Self) {
		if err == nil {
			p.Note("resolving the transactions of an earlier run")
		}
		break
	}
	recovered, err := p.Client.Recover(ctx, p.Self)
	for _, one := range recovered {
		p.Note("%s on %s is %s", one.Entry.Action, one.Entry.Negotiation, one.Outcome)
		if one.Receipt == nil {
			continue
		}
		for _, event := range one.Receipt.Events {
			if begun, ok := event.(*protocol.NegotiationCreated); ok && p.isAbout(begun) {
				created = one.Entry.Negotiation
			}
		}
	}
	if errors.Is(err, haggle.ErrUnresolved) {
		err = &exitcode.Error{Kind: exitcode.Unknown, Hint: "no transaction is sent until the outcome is known: start the agent again when a node responds", Err: err}
	}
	return created, err
}

// isAbout reports whether a created negotiation matches the agent's parties, mint, service and key.
func (p *Party) isAbout(begun *protocol.NegotiationCreated) bool {
	return begun.Buyer == p.Self && begun.Seller == p.Counterpart && begun.TokenMint == p.Mint && begun.ServiceHash == p.ServiceHash &&
		p.IsNamed(begun.SessionID)
}

// IsNamed reports whether a negotiation's session id follows from Key, or no key is set.
func (p *Party) IsNamed(sessionID uint64) bool {
	return p.Key == "" || sessionID == haggle.SessionIDFor(p.Key)
}
