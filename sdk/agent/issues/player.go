package issues

import (
	"context"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// patience is how long a player waits for a document before it answers the offer without it, in seconds.
const patience = 10

// Player decides by a strategy over several issues: its Decide is an [agent.Config].Decide. One player can
// take part in several negotiations.
type Player struct {
	Strategy bargain.Strategy
	// Preferences are the party's own. Their domain has exactly one price, in base units of the mint, and no
	// real-valued issue: see package terms.
	Preferences *bargain.Preferences
	// Seed selects the strategy's random numbers.
	Seed uint64
	// Documents is the channel that the sides share.
	Documents Documents
	// Memory is a channel of the player's own.
	Memory Documents
	// Decided is called with each move before it is carried out. If nil, it is not called. An error of Decided
	// is returned instead of the move.
	Decided func(turn agent.Turn, move Move) error
}

// Move is a decision of a [Player].
type Move struct {
	// Move is [bargain.MoveOffer], [bargain.MoveAccept] or [bargain.MoveEnd].
	Move bargain.Move
	// Outcome is the offered or accepted outcome; [bargain.NoOutcome] otherwise. Text describes it.
	Outcome bargain.Outcome
	Text    string
	// Price is its price in base units of the mint, and Document the hash of its document.
	Price    uint64
	Document [32]byte
	// Reason is the reason of the move, and Refused the reason why the standing offer cannot be accepted; nil
	// if it can be accepted, or if there is none.
	Reason  string
	Refused error
	// Values check the reason.
	Values *agent.Values
}

// ErrNoDocument reports an offer whose document the other side has not sent.
var ErrNoDocument = errors.New("issues: the offer's document is missing")

// ErrNoHash reports an offer without a document.
var ErrNoHash = errors.New("issues: the offer has no document")

// Decide returns the strategy's decision at a turn. It returns [agent.Wait] while the document of a new offer
// is missing, for up to ten seconds after the offer.
func (p *Player) Decide(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
	rounds, err := p.remembered(ctx, turn)
	if err != nil {
		return nil, err
	}
	move, standing := Move{Outcome: bargain.NoOutcome}, bargain.NoOutcome
	if turn.CanAccept() {
		standing, move.Refused = p.standing(ctx, turn)
		if until := turn.Negotiation.LastOfferAt + patience; errors.Is(move.Refused, ErrNoDocument) &&
			turn.Now < until && !turn.LastCall {
			return agent.Wait{Until: turn.Now + 1}, nil
		}
		if standing != bargain.NoOutcome {
			rounds[turn.Negotiation.CurrentRound] = standing
		}
	}
	action := p.respond(turn, rounds, standing)
	move.Move, move.Reason = action.Move, action.Reason
	decision, err := p.decision(ctx, turn, action.Outcome, standing, &move)
	if err != nil {
		return nil, err
	}
	move.Values = agent.NewValues(turn, p.Preferences, move.Outcome, standing)
	if move.Move == bargain.MoveOffer {
		rounds[turn.Negotiation.CurrentRound+1] = move.Outcome
	}
	if err := p.remember(ctx, turn, rounds); err != nil {
		return nil, err
	}
	if p.Decided != nil {
		if err := p.Decided(turn, move); err != nil {
			return nil, fmt.Errorf("issues: record the decision: %w", err)
		}
	}
	return decision, nil
}

// decision completes a move and returns it as the runtime's decision. An offer's document is sent here.
func (p *Player) decision(
	ctx context.Context, turn agent.Turn, offered, standing bargain.Outcome, move *Move,
) (agent.Decision, error) {
	domain := p.Preferences.Domain()
	switch move.Move {
	case bargain.MoveAccept:
		move.Outcome, move.Text, move.Price = standing, domain.Text(standing), turn.Standing()
		_, hash, err := terms.Write(domain, standing)
		move.Document = hash
		return agent.Accept{}, err
	case bargain.MoveEnd:
		return agent.Reject{}, nil
	}
	text, hash, err := terms.Write(domain, offered)
	if err != nil {
		return nil, err
	}
	if move.Price, err = terms.Price(domain, offered); err != nil {
		return nil, err
	}
	move.Outcome, move.Text, move.Document = offered, domain.Text(offered), hash
	// Before the offer, so that the other side never waits for a document that was lost.
	if err := p.Documents.Put(ctx, documentName(hash), text); err != nil {
		return nil, fmt.Errorf("issues: send the document: %w", err)
	}
	return agent.Offer{Amount: move.Price, Document: new(protocol.TermsDocument(hash))}, nil
}

// standing returns the outcome of the offer that the player can accept. It returns ErrNoHash, ErrNoDocument,
// or an error of [terms.Check].
func (p *Player) standing(ctx context.Context, turn agent.Turn) (bargain.Outcome, error) {
	metadata, err := protocol.DecodeMetadata(turn.Negotiation.Metadata)
	if err != nil || metadata.Document == nil {
		return bargain.NoOutcome, errors.Join(ErrNoHash, err)
	}
	text, err := p.Documents.Get(ctx, documentName(*metadata.Document))
	if err != nil {
		return bargain.NoOutcome, errors.Join(ErrNoDocument, err)
	}
	if text == nil {
		return bargain.NoOutcome, ErrNoDocument
	}
	return terms.Check(p.Preferences.Domain(), text, *metadata.Document, turn.Standing())
}

// respond plays the strategy's earlier turns again, and returns its move at this one.
func (p *Player) respond(turn agent.Turn, rounds memory, standing bargain.Outcome) bargain.Action {
	n := &turn.Negotiation.Negotiation
	outcomes := make([]bargain.Outcome, n.CurrentRound)
	for i := range outcomes {
		outcome, known := rounds[uint8(i)+1]
		if outcomes[i] = outcome; !known {
			outcomes[i] = bargain.NoOutcome
		}
	}
	player := onchain.Player{Strategy: p.Strategy, Preferences: p.Preferences}
	return player.Replay(n, turn.Side, outcomes, standing, p.Seed)
}
