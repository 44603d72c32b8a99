package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
)

// ErrNoSealedPrice: the database does not contain the price whose commitment is on chain.
var ErrNoSealedPrice = errors.New("haggle: committed price is not in the state database")

// SealPrice returns a party's reservation price in a negotiation, sealed and durable, so that the party can
// reveal it even if the program crashes. Before the commitment it returns the sealed price from an earlier
// call for the same price, or creates one. Once committed, it returns the committed price, or
// [ErrNoSealedPrice] if the database does not contain it. Other errors come from [protocol.SealPrice].
//
// Call it in agent.Config.Seal.
func (s *Store) SealPrice(
	ctx context.Context, n *haggle.Snapshot, agent solana.PublicKey, price uint64,
) (*protocol.SealedPrice, error) {
	committed, err := s.CommittedPrice(ctx, n, agent)
	if err != nil || committed != nil {
		return committed, err
	}
	kept, err := s.sealedPrices(ctx, n.Address, agent)
	if err != nil {
		return nil, err
	}
	for _, sealed := range kept {
		if sealed.Price() == price && sealed.CreatedAt() == n.CreatedAt {
			return sealed, nil
		}
	}
	sealed, err := protocol.SealPrice(n.Address, &n.Negotiation, agent, price)
	if err != nil {
		return nil, err
	}
	return sealed, s.keepPrice(ctx, sealed)
}

// CommittedPrice returns the sealed price whose commitment is on chain. It returns nil before the commitment,
// [ErrNoSealedPrice] if the database does not contain the price, and [protocol.ErrUnauthorized] if the agent
// is not a party.
func (s *Store) CommittedPrice(
	ctx context.Context, n *haggle.Snapshot, agent solana.PublicKey,
) (*protocol.SealedPrice, error) {
	side, isParty := n.SideOf(agent)
	if !isParty {
		return nil, fmt.Errorf("%s is no party: %w", agent, protocol.ErrUnauthorized)
	}
	commitment := n.CommitmentOf(side)
	if commitment == ([32]byte{}) {
		return nil, nil
	}
	kept, err := s.sealedPrices(ctx, n.Address, agent)
	if err != nil {
		return nil, err
	}
	for _, sealed := range kept {
		if sealed.Matches(commitment) {
			return sealed, nil
		}
	}
	return nil, fmt.Errorf("%w: %s: negotiation %s", ErrNoSealedPrice, s.database.Name, n.Address)
}

// ForgetPrice deletes a revealed price, and the agent's other prices for the same deal. Call it once the
// reveal is confirmed.
func (s *Store) ForgetPrice(ctx context.Context, revealed *protocol.SealedPrice) error {
	return s.write(ctx, func(q *queries.Queries) error {
		return q.DeleteSealedPrices(ctx, revealed.Negotiation().String(), revealed.Agent().String(), revealed.CreatedAt())
	})
}

func (s *Store) keepPrice(ctx context.Context, sealed *protocol.SealedPrice) error {
	secret, err := sealed.Secret()
	if err != nil {
		return err
	}
	commitment := sealed.Commitment()
	return s.write(ctx, func(q *queries.Queries) error {
		return q.KeepSealedPrice(ctx, queries.KeepSealedPriceParams{
			Commitment: hex.EncodeToString(commitment[:]), Negotiation: sealed.Negotiation().String(),
			Agent: sealed.Agent().String(), CreatedAt: sealed.CreatedAt(), Secret: string(secret),
		})
	})
}

// sealedPrices returns an agent's prices in a negotiation, for all deals at the negotiation's address.
func (s *Store) sealedPrices(
	ctx context.Context, negotiation, agent solana.PublicKey,
) (found []*protocol.SealedPrice, err error) {
	rows, err := s.queries.SealedPrices(ctx, negotiation.String(), agent.String())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	for _, row := range rows {
		sealed, err := protocol.ParseSealedPrice([]byte(row.Secret))
		if err == nil {
			commitment := sealed.Commitment()
			if hex.EncodeToString(commitment[:]) != row.Commitment || sealed.Negotiation() != negotiation ||
				sealed.Agent() != agent {
				err = errors.New("document of another price")
			}
		}
		if err != nil {
			return nil, s.damaged("sealed price "+row.Commitment, err)
		}
		found = append(found, sealed)
	}
	return found, nil
}
