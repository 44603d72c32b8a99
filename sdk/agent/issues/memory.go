package issues

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// memory maps rounds, from 1, to the outcomes of a negotiation's offers. [bargain.NoOutcome] is an offer that
// the player answered although it had no valid document.
type memory map[uint8]bargain.Outcome

// memoryName returns the name for a side's text in a negotiation: both sides can share a memory, and must not
// know each other's private documents.
func memoryName(text string, negotiation solana.PublicKey, createdAt int64, side protocol.OfferSide) string {
	return fmt.Sprintf("%s-%s-%d-%s.json", text, negotiation, createdAt, strings.ToLower(side.String()))
}

func outcomesName(turn agent.Turn) string {
	return memoryName("outcomes", turn.Negotiation.Address, turn.Negotiation.CreatedAt, turn.Side)
}

// keep stores a document in the Memory, because the counterparty can delete the shared copy.
func (p *Player) keep(ctx context.Context, turn agent.Turn, hash [32]byte, text []byte) error {
	n := turn.Negotiation
	name := memoryName(hex.EncodeToString(hash[:]), n.Address, n.CreatedAt, turn.Side)
	if err := p.Memory.Put(ctx, name, text); err != nil {
		return fmt.Errorf("issues: keep the document: %w", err)
	}
	return nil
}

// Document returns a document from the Memory, which contains the side's own documents of a negotiation, and
// documents that the side read. It returns nil if none matches hash. createdAt is the negotiation's
// created_at, in Unix seconds.
func (p *Player) Document(
	ctx context.Context, negotiation solana.PublicKey, createdAt int64, side protocol.OfferSide, hash [32]byte,
) ([]byte, error) {
	return p.Memory.Get(ctx, memoryName(hex.EncodeToString(hash[:]), negotiation, createdAt, side))
}

// remembered returns the outcomes of the offers before this turn. Outcomes whose price differs from the
// offer's price on chain are left out: they belong to offers that were never made.
func (p *Player) remembered(ctx context.Context, turn agent.Turn) (memory, error) {
	text, err := p.Memory.Get(ctx, outcomesName(turn))
	if err != nil {
		return nil, err
	}
	read := memory{}
	if text == nil {
		return read, nil
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("issues: %s: %w", outcomesName(turn), err)
	}
	kept := memory{}
	for _, offer := range turn.History {
		outcome, known := read[offer.Round]
		if !known {
			continue
		}
		price, err := terms.Price(p.Preferences.Domain(), outcome)
		if outcome == bargain.NoOutcome || err == nil && price == offer.Amount {
			kept[offer.Round] = outcome
		}
	}
	return kept, nil
}

func (p *Player) remember(ctx context.Context, turn agent.Turn, rounds memory) error {
	text, err := json.Marshal(rounds)
	if err != nil {
		return err
	}
	if err := p.Memory.Put(ctx, outcomesName(turn), text); err != nil {
		return fmt.Errorf("issues: keep the outcomes: %w", err)
	}
	return nil
}
