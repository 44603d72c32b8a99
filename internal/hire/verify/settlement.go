package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Settlement is an agreement's state on chain.
type Settlement struct {
	// Status is "missing" if nothing has happened at this address, otherwise the negotiation's status.
	Status string `json:"status"`
	// Closed reports whether the negotiation is closed.
	Closed bool `json:"closed"`
	// Escrow, Paid and Fee are in the mint's base units. Paid includes the fee.
	Escrow uint64 `json:"escrow"`
	Paid   uint64 `json:"paid"`
	Fee    uint64 `json:"fee"`
	// Evidence is the SHA-256 of the delivery in hexadecimal digits; omitted if none was claimed.
	Evidence string `json:"evidence,omitempty"`
}

// Chain reads the settlements for a report's agreements, and adds a finding for each settlement that differs
// from the terms. The client's nodes are trusted: detecting a lying node takes another node.
func (r *Report) Chain(ctx context.Context, client *haggle.Client) error {
	for i := range r.Deals {
		deal := &r.Deals[i]
		if deal.Negotiation == "" {
			continue
		}
		if err := r.chain(ctx, client, deal); err != nil {
			return fmt.Errorf("settlement of deal %d: %w", deal.Deal, err)
		}
	}
	return nil
}

func (r *Report) chain(ctx context.Context, client *haggle.Client, deal *Deal) error {
	address, err := deal.terms.Address()
	if err != nil {
		return err
	}
	s := &Settlement{Status: "missing"}
	deal.Settlement = s
	if err := s.history(ctx, client, address, deal, r); err != nil {
		return err
	}
	snapshot, err := client.Negotiation(address).Snapshot(ctx)
	switch {
	case err == nil:
		s.Status, s.Escrow, s.Paid = snapshot.Status.String(), snapshot.EscrowAmount, snapshot.PaidGross
		if err := deal.terms.Check(snapshot); err != nil && !isRefunded(snapshot.Status) {
			r.found(0, "settlement", "deal %d: %v", deal.Deal, err)
		}
	case errors.Is(err, protocol.ErrAccountNotFound):
		s.Closed = s.Status != "missing"
	default:
		return err
	}
	if deal.Contracts > 0 && s.Status == "missing" {
		r.found(0, "settlement", "deal %d: has a contract, but no negotiation exists at %s", deal.Deal, address)
	}
	return nil
}

func isRefunded(status protocol.NegotiationStatus) bool {
	return status == protocol.NegotiationStatusRejected || status == protocol.NegotiationStatusExpired
}

// history reads a negotiation's events.
func (s *Settlement) history(
	ctx context.Context, client *haggle.Client, address solana.PublicKey, deal *Deal, r *Report,
) error {
	for envelope, err := range client.History(ctx, address) {
		if err != nil {
			return err
		}
		switch event := envelope.Event.(type) {
		case *protocol.NegotiationCreated:
			s.Status, s.Escrow = protocol.NegotiationStatusCreated.String(), event.EscrowAmount
			if event.EscrowAmount != deal.terms.Price || event.ServiceHash != deal.terms.Service ||
				event.TokenMint != deal.terms.Mint || event.Arbiter != deal.terms.Arbiter ||
				!slices.Equal(event.MilestoneBps[:1], []uint16{uint16(protocol.BpsDenominator)}) {
				r.found(0, "settlement", "deal %d: the negotiation was created with other terms", deal.Deal)
			}
		case *protocol.MilestoneClaimed:
			s.Evidence = fmt.Sprintf("%x", event.Evidence[:])
		case *protocol.NegotiationSettled:
			s.Status, s.Paid, s.Fee = protocol.NegotiationStatusSettled.String(), event.SettledAmount, event.ProtocolFee
		case *protocol.NegotiationRejected:
			s.Status = protocol.NegotiationStatusRejected.String()
		case *protocol.NegotiationExpired:
			s.Status = protocol.NegotiationStatusExpired.String()
		}
	}
	return nil
}
