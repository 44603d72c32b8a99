package issues

import (
	"context"
	"errors"
	"fmt"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// patience is how long a player waits for a document before answering the offer anyway, in seconds.
const patience = 10

// Player decides by a strategy over several issues: Player.Decide is an [agent.Config].Decide. It can take
// part in several negotiations.
type Player struct {
	Strategy bargain.Strategy
	// Preferences are the party's own. Their domain contains exactly one price, in base units of the mint,
	// and no real-valued issue: see package terms.
	Preferences *bargain.Preferences
	// Seed selects the strategy's random numbers.
	Seed uint64
	// Documents is the channel that the sides share.
	Documents Documents
	// Memory is a channel of the player's own.
	Memory Documents
	// Commit returns the commitment to the strategy: see package proof. It is called before every move, and must
	// return the same for the same negotiation, also after a restart. If nil, documents carry none.
	Commit func(negotiation *haggle.Snapshot) ([32]byte, error)
	// Choose returns the move for a turn, given the strategy's assessment. It must not accept if the state
	// contains no standing offer, and offers must be rational and in the limits of the state. If nil, the
	// strategy's move is made. An error is returned instead of the move.
	Choose func(ctx context.Context, turn agent.Turn, assessed bargain.Assessment) (bargain.Action, error)
	// Decided is called with each move before it is carried out. If nil, it is not called. An error of Decided
	// is returned instead of the move.
	Decided func(turn agent.Turn, move Move) error
}

// Move is a [Player] decision.
type Move struct {
	// Move is [bargain.MoveOffer], [bargain.MoveAccept] or [bargain.MoveEnd].
	Move bargain.Move
	// Outcome is the offered or accepted outcome; [bargain.NoOutcome] otherwise. Text describes it.
	Outcome bargain.Outcome
	Text    string
	// Price is the offered price in base units of the mint, and Document the document's hash.
	Price    uint64
	Document [32]byte
	// Reason is the reason of the move, and Refused the reason why the standing offer cannot be accepted; nil
	// if it can be accepted, or if there is none.
	Reason  string
	Refused error
	// Values are numbers from which a reader can check the reason.
	Values *agent.Values
}

// ErrNoDocument reports an offer whose document is still missing.
var ErrNoDocument = errors.New("issues: the offer's document is missing")

// ErrNoHash reports an offer with no document.
var ErrNoHash = errors.New("issues: the offer has no document")

// standing is the offer that a player can accept.
type standing struct {
	// outcome is NoOutcome if there is none, or it cannot be accepted. document is the document's hash.
	outcome  bargain.Outcome
	document [32]byte
}

// Decide returns the strategy's decision. It returns [agent.Wait] while a new offer's document is missing,
// for up to ten seconds after the offer, and [agent.ErrOffersMissing] as [agent.Player] does.
func (p *Player) Decide(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
	round := turn.Negotiation.CurrentRound
	if err := turn.CheckHistory(); err != nil {
		return nil, err
	}
	rounds, err := p.remembered(ctx, turn)
	if err != nil {
		return nil, err
	}
	offer, move := standing{outcome: bargain.NoOutcome}, Move{Outcome: bargain.NoOutcome}
	if turn.CanAccept() {
		if offer, move.Refused, err = p.standing(ctx, turn, rounds); err != nil {
			return nil, err
		}
		if until := turn.Negotiation.LastOfferAt + patience; errors.Is(move.Refused, ErrNoDocument) &&
			turn.Now < until && !turn.LastCall {
			return agent.Wait{Until: turn.Now + 1}, nil
		}
		rounds[round] = offer.outcome
		player := p.onchain(turn)
		if move.Refused == nil && !player.CanPay(&turn.Negotiation.Negotiation, turn.Side) {
			offer.outcome, move.Refused = bargain.NoOutcome, agent.ErrBeyondLimit
		}
	}
	committed := terms.Committed{}
	if p.Commit != nil {
		committed.Answers = offer.document
		if committed.Commitment, err = p.Commit(turn.Negotiation); err != nil {
			return nil, fmt.Errorf("issues: commit to the strategy: %w", err)
		}
	}
	action, err := p.respond(ctx, turn, rounds, offer.outcome)
	if err != nil {
		return nil, err
	}
	move.Move, move.Reason = action.Move, action.Reason
	decision, err := p.decision(ctx, turn, action.Outcome, offer, committed, &move)
	if err != nil {
		return nil, err
	}
	move.Values = agent.NewValues(turn, p.Preferences, move.Outcome, offer.outcome)
	if move.Move == bargain.MoveOffer {
		rounds[round+1] = move.Outcome
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
	ctx context.Context, turn agent.Turn, offered bargain.Outcome, offer standing, committed terms.Committed,
	move *Move,
) (agent.Decision, error) {
	domain := p.Preferences.Domain()
	switch move.Move {
	case bargain.MoveAccept:
		move.Outcome, move.Text, move.Price = offer.outcome, domain.Text(offer.outcome), turn.Standing()
		move.Document = offer.document
		return agent.Accept{}, nil
	case bargain.MoveEnd:
		return agent.Reject{}, nil
	}
	text, hash, err := terms.WriteCommitted(domain, offered, committed)
	if err != nil {
		return nil, err
	}
	if move.Price, err = terms.Price(domain, offered); err != nil {
		return nil, err
	}
	move.Outcome, move.Text, move.Document = offered, domain.Text(offered), hash
	if err := p.keep(ctx, turn, hash, text); err != nil {
		return nil, err
	}
	// Before the offer, so the counterparty never waits for a lost document.
	if err := p.Documents.Put(ctx, documentName(hash), text); err != nil {
		return nil, fmt.Errorf("issues: send the document: %w", err)
	}
	return agent.Offer{Amount: move.Price, Document: new(protocol.TermsDocument(hash))}, nil
}

// standing returns the offer that the player can accept. If there is none, refused is ErrNoHash,
// ErrNoDocument, or an error of [terms.Check]. An error of the Memory decides nothing: it is err.
func (p *Player) standing(
	ctx context.Context, turn agent.Turn, rounds memory,
) (offer standing, refused, err error) {
	offer.outcome = bargain.NoOutcome
	metadata, err := protocol.DecodeMetadata(turn.Negotiation.Metadata)
	if err != nil || metadata.Document == nil {
		return offer, errors.Join(ErrNoHash, err), nil
	}
	// A repeated decision must not know more than the first, whose offer can be on chain.
	if outcome, decided := rounds[turn.Negotiation.CurrentRound]; decided && outcome == bargain.NoOutcome &&
		p.Commit != nil {
		return offer, ErrNoDocument, nil
	}
	hash := [32]byte(*metadata.Document)
	// The Memory first: a decision must not know less than earlier decisions, nor than the proof, only
	// because the counterparty deleted the shared document.
	n := turn.Negotiation
	text, err := p.Document(ctx, n.Address, n.CreatedAt, turn.Side, hash)
	if err != nil {
		return offer, nil, fmt.Errorf("issues: read the memory: %w", err)
	}
	kept := text != nil
	if !kept {
		if text, err = p.Documents.Get(ctx, documentName(hash)); err != nil {
			return offer, fmt.Errorf("%w: %w", ErrNoDocument, err), nil
		}
	}
	if text == nil {
		return offer, ErrNoDocument, nil
	}
	outcome, err := terms.Check(p.Preferences.Domain(), text, hash, turn.Standing())
	if err != nil {
		return offer, err, nil
	}
	if !kept {
		if err := p.keep(ctx, turn, hash, text); err != nil {
			return offer, nil, err
		}
	}
	return standing{outcome, hash}, nil, nil
}

// respond plays the strategy's earlier turns again, and returns the move for this turn, or Choose's move.
func (p *Player) respond(
	ctx context.Context, turn agent.Turn, rounds memory, standing bargain.Outcome,
) (bargain.Action, error) {
	n := &turn.Negotiation.Negotiation
	outcomes := make([]bargain.Outcome, n.CurrentRound)
	for i := range outcomes {
		outcome, known := rounds[uint8(i)+1]
		if outcomes[i] = outcome; !known {
			outcomes[i] = bargain.NoOutcome
		}
	}
	player := p.onchain(turn)
	if p.Choose == nil {
		return player.Replay(n, turn.Side, outcomes, standing, p.Seed), nil
	}
	action, err := p.Choose(ctx, turn, player.Assess(n, turn.Side, outcomes, standing, p.Seed))
	if err == nil {
		err = p.checkChosen(action, standing)
	}
	return action, err
}

// onchain returns the turn's player.
func (p *Player) onchain(turn agent.Turn) onchain.Player {
	return onchain.Player{Strategy: p.Strategy, Preferences: p.Preferences, MaxTotal: turn.Limits.MaxTotal}
}

// checkChosen returns an error if a move of Choose cannot be carried out.
func (p *Player) checkChosen(action bargain.Action, standing bargain.Outcome) error {
	switch {
	case action.Move == bargain.MoveAccept && standing == bargain.NoOutcome:
		return errors.New("issues: Choose accepts, and no offer can be accepted")
	case action.Move == bargain.MoveOffer && !p.Preferences.Domain().Has(action.Outcome):
		return errors.New("issues: Choose offers an unknown outcome")
	case action.Move == bargain.MoveOffer && !p.Preferences.IsRational(action.Outcome):
		return errors.New("issues: Choose offers an outcome below the reservation value")
	}
	return nil
}
