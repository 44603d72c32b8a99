package issues

import (
	"context"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
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
	moved, err := p.inRange(turn, offered)
	if err != nil {
		return nil, err
	}
	if moved == bargain.NoOutcome {
		move.Move, move.Reason = bargain.MoveEnd, "the range of prices is beyond the reservation value"
		return agent.Reject{}, nil
	}
	text, hash, err := terms.Write(domain, moved)
	if err != nil {
		return nil, err
	}
	if move.Price, err = terms.Price(domain, moved); err != nil {
		return nil, err
	}
	move.Outcome, move.Text, move.Document = moved, domain.Text(moved), hash
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
	n, self := turn.Negotiation, int(turn.Side)
	if n.RoundsLeft() == 0 && standing == bargain.NoOutcome {
		return bargain.End("no rounds are left")
	}
	steps := (int(n.MaxRounds) + 1 - self) / 2 // the buyer opens
	random := bargain.NewRandom(p.Seed, uint64(self))
	negotiator := p.Strategy.Start(bargain.Seat{
		Preferences: p.Preferences, Self: self, Parties: 2, Steps: steps, Random: random,
	})
	state := bargain.State{
		Steps: steps, Offer: bargain.NoOutcome, By: -1, Most: bargain.Outcome(p.Preferences.Domain().Size() - 1),
	}
	for round := 0; ; round++ {
		state.Step, state.Time = min(round/2, max(steps-1, 0)), fixed.One
		if round/2+1 < steps {
			state.Time = fixed.Ratio(int64(round/2), int64(steps)-1)
		}
		state.Last = int(n.MaxRounds)-round < 2
		if round == int(n.CurrentRound) {
			state.Offer, state.By = standing, 1-self
			if standing == bargain.NoOutcome {
				state.By = -1
			}
			action := negotiator.Respond(&state)
			if action.Move == bargain.MoveOffer && n.RoundsLeft() == 0 {
				return bargain.End("no rounds are left")
			}
			return action
		}
		if round%2 == self {
			negotiator.Respond(&state)
		}
		if offered, known := rounds[uint8(round)+1]; known {
			state.Offer, state.By = offered, round%2
			state.History = append(state.History, bargain.Offer{
				By: round % 2, Step: state.Step, Time: state.Time, Outcome: offered,
			})
		}
	}
}

// inRange returns an outcome with its price moved into the range of the next offer; NoOutcome if that is
// below the reservation value, or no price of the domain lies in the range.
func (p *Player) inRange(turn agent.Turn, o bargain.Outcome) (bargain.Outcome, error) {
	domain := p.Preferences.Domain()
	amount, err := terms.Price(domain, o)
	if err != nil {
		return bargain.NoOutcome, err
	}
	least, most := turn.Negotiation.OfferRange()
	if amount >= least && amount <= most {
		return o, nil
	}
	for at := range domain.Len() {
		issue := domain.Issue(at)
		if issue.Kind != bargain.KindPrice {
			continue
		}
		index := issue.Nearest(min(max(amount, least), most))
		if issue.Amount(index) < least {
			index++
		} else if issue.Amount(index) > most && index > 0 {
			index--
		}
		if index >= issue.Count || issue.Amount(index) < least || issue.Amount(index) > most {
			return bargain.NoOutcome, nil
		}
		o = domain.With(o, at, index)
	}
	if !p.Preferences.IsRational(o) {
		return bargain.NoOutcome, nil
	}
	return o, nil
}
