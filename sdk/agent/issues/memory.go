package issues

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
)

// memory has the outcomes of a negotiation's offers, by their rounds, from 1. [bargain.NoOutcome] is an offer
// that the player has answered without a valid document.
type memory map[uint8]bargain.Outcome

func memoryName(turn agent.Turn) string {
	return fmt.Sprintf("%s-%d.json", turn.Negotiation.Address, turn.Negotiation.CreatedAt)
}

// remembered returns the outcomes of the offers before this turn. Those whose price is not that of the offer
// on chain are left out: they belong to offers that were never made.
func (p *Player) remembered(ctx context.Context, turn agent.Turn) (memory, error) {
	text, err := p.Memory.Get(ctx, memoryName(turn))
	if err != nil {
		return nil, err
	}
	read := memory{}
	if text == nil {
		return read, nil
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("issues: %s: %w", memoryName(turn), err)
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
	if err := p.Memory.Put(ctx, memoryName(turn), text); err != nil {
		return fmt.Errorf("issues: keep the outcomes: %w", err)
	}
	return nil
}
