package service

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

// Settlement signs contracts once the escrow is on chain. It holds no funds. All fields are required.
type Settlement struct {
	// Key signs contracts. The home's card contains the key's address as the settlement key.
	Key ed25519.PrivateKey
	// Genesis is the cluster's genesis hash, Assets lists the tokens: see [escrow.Assets].
	Genesis solana.Hash
	Assets  []hire.Asset
	// Snapshots reads negotiations: [haggle.Client.Snapshots].
	Snapshots func(
		ctx context.Context, commitment rpc.CommitmentType, addresses ...solana.PublicKey,
	) ([]*haggle.Snapshot, error)
}

func (s *Settlement) check() error {
	if len(s.Key) != ed25519.PrivateKeySize || s.Snapshots == nil {
		return errors.New("hire: home: settlement: key or chain not set")
	}
	return nil
}

func (s *Settlement) id() string { return hire.Address(s.Key.Public().(ed25519.PublicKey)) }

// deal is an accepted deal that lacks a contract.
type deal struct {
	acceptedAt time.Time
	state      hire.State
	terms      escrow.Terms
	address    solana.PublicKey
	// settled is the contract if only one copy was sent, for example before a kill; nil otherwise.
	settled *hire.Contract
	// never reports whether the terms cannot be settled.
	never bool
	// next is when to send the next RPC request.
	next time.Time
	// problem remembers the last logged mismatch.
	problem string
}

// interval returns the polling interval for a deal's age.
func interval(age time.Duration) time.Duration {
	switch {
	case age < 2*time.Minute:
		return pollEvery
	case age < 10*time.Minute:
		return 5 * time.Second
	}
	return 30 * time.Second
}

// signContracts polls for escrows, and signs their contracts, until ctx ends.
func (s *Service) signContracts(ctx context.Context) {
	if s.config.Settlement == nil {
		return
	}
	every(ctx, pollEvery, func() { s.failed(ctx, "signing contracts", s.lookForEscrows(ctx)) })
}

// lookForEscrows polls once for all escrows that are due.
func (s *Service) lookForEscrows(ctx context.Context) error {
	now := s.now()
	awaiting, err := s.config.Store.AwaitingContract(ctx, now.Add(-ContractWindow))
	if err != nil {
		return err
	}
	known := s.deals
	s.deals = make(map[string]*deal, len(awaiting))
	var due []*deal
	var ids []string
	for _, a := range awaiting {
		d := known[a.ID]
		if d == nil || d.acceptedAt != a.AcceptedAt {
			if d, err = s.deal(ctx, a.ID); err != nil {
				s.failed(ctx, "reading the deal of conversation "+a.ID, err)
				continue // the next look tries again
			}
			d.acceptedAt = a.AcceptedAt
		}
		s.deals[a.ID] = d
		if !d.never && !d.next.After(now) {
			d.next = now.Add(interval(now.Sub(d.acceptedAt)))
			due, ids = append(due, d), append(ids, a.ID)
		}
	}
	return s.checkEscrows(ctx, due, ids)
}

// deal reads a deal, and the contract if a copy was sent.
func (s *Service) deal(ctx context.Context, id string) (*deal, error) {
	state, err := s.config.Store.State(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &deal{state: state}
	if sent := max(state.SeekerContract, state.WorkerContract); sent != "" {
		m, _, err := s.config.Store.Message(ctx, id, sent)
		if err != nil {
			return nil, err
		}
		contract, is := m.Payload().(*hire.Contract)
		if !is {
			return nil, fmt.Errorf("message %s is no contract", sent)
		}
		d.settled = contract
		return d, nil
	}
	seeker, err := s.Key(ctx, state.Seeker)
	if err != nil {
		return nil, err
	}
	worker, err := s.Key(ctx, state.Worker)
	if err != nil {
		return nil, err
	}
	if d.terms, err = escrow.Of(state, seeker, worker, s.config.Settlement.Assets); err == nil {
		d.address, err = d.terms.Address()
	}
	if err != nil {
		s.config.Log.InfoContext(ctx, "deal without a settlement", "conversation", state.Conversation, "error", err)
		d.never = true
	}
	return d, nil
}

// checkEscrows reads negotiations, and signs a contract for each negotiation that passes
// [escrow.Terms.Check].
func (s *Service) checkEscrows(ctx context.Context, due []*deal, ids []string) error {
	addresses := make([]solana.PublicKey, len(due))
	for i, d := range due {
		addresses[i] = d.address
	}
	found, err := s.config.Settlement.Snapshots(ctx, "", addresses...)
	if err != nil {
		found = make([]*haggle.Snapshot, len(due)) // the second copies need no chain
	}
	for i, d := range due {
		contract := d.settled
		if n := found[i]; contract == nil && n != nil {
			var problem error
			if problem = d.terms.Check(n); problem == nil {
				contract, problem = escrow.Contract(d.state, d.terms, s.config.Settlement.Genesis)
			}
			if problem != nil && problem.Error() != d.problem {
				d.problem = problem.Error()
				s.config.Log.WarnContext(ctx, "negotiation does not settle the deal",
					"conversation", d.state.Conversation, "error", problem)
			}
		}
		if contract != nil {
			delete(s.deals, ids[i]) // if a copy is not stored, the next look reads the deal again
			s.failed(ctx, "sending the contract", s.sendContract(ctx, ids[i], d.state, contract))
		}
	}
	return err
}

// sendContract stores a copy for each side that lacks one.
func (s *Service) sendContract(
	ctx context.Context, id string, state hire.State, contract *hire.Contract,
) error {
	at := s.now()
	if last := state.At.Add(time.Second - 1).Truncate(time.Second); last.After(at) {
		at = last // a contract's timestamp is not before the accept's
	}
	for side, sent := range map[string]hire.Hash{
		state.Seeker: state.SeekerContract, state.Worker: state.WorkerContract,
	} {
		if sent != "" {
			continue
		}
		m, err := hire.Sign(s.config.Settlement.Key, hire.Draft{
			From: s.config.Rules.System, To: side, At: at, Conversation: state.Conversation, Payload: contract,
		})
		if err != nil {
			return err
		}
		// A refusal means that another process was faster, or that the parties have begun a new deal.
		if err := s.accept(ctx, m, id); err != nil && !errors.As(err, new(*hire.Refusal)) {
			return err
		}
	}
	return nil
}
