package llm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Player lets language models decide within a strategy's band. Decide and Admit fit [agent.Config], and
// Choose fits issues.Player. A player can serve any number of negotiations at once.
type Player struct {
	chooser *Chooser
	// Suits reports whether terms beside the price suit: see [agent.Player]. NewPlayer sets a function that
	// returns false for all terms, because models do not receive them.
	Suits func(*haggle.Snapshot) bool
	// Commit returns the commitment for each offer: see [agent.WithCommitment]. If nil, offers carry none.
	Commit func(*haggle.Snapshot) ([32]byte, error)
	// Range narrows the prices of the models' offers at a turn, in base units, for example to the band of a policy. If
	// nil, only the rules and the agent's limits do.
	Range func(agent.Turn) (least, most uint64)
	// Mints repeats [agent.Config].Mints for Admit, which then states the least price, and amounts in tokens
	// instead of base units.
	Mints map[solana.PublicKey]agent.Limits
}

// NewPlayer returns a player. It returns the errors of [NewChooser].
func NewPlayer(model Model, options Options) (*Player, error) {
	chooser, err := NewChooser(model, options)
	if err != nil {
		return nil, err
	}
	return &Player{chooser: chooser, Suits: isPriceOnly}, nil
}

// isPriceOnly reports whether an offer is about the price alone.
func isPriceOnly(n *haggle.Snapshot) bool { return protocol.IsPriceOnly(n.Metadata) }

// Chooser returns the player's chooser, which owns budget and cache.
func (p *Player) Chooser() *Chooser { return p.chooser }

// Spending returns counts by negotiation and model: see [Chooser.Spending].
func (p *Player) Spending() []Spending { return p.chooser.Spending() }

// Decide returns the decision at a turn, in time: if the models fail, the strategy's move and no error. It
// returns errors of [Chooser.Choose] and [agent.Turn.CheckHistory], and [agent.ErrBeyondLimit] if neither
// options nor agent limit the price.
func (p *Player) Decide(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
	strategist, err := p.strategist(turn)
	if err != nil {
		return nil, err
	}
	assessed, err := strategist.Assess(turn)
	if err != nil {
		return nil, err
	}
	if p.Range != nil {
		least, most := p.Range(turn)
		state := &assessed.State
		state.Least, state.Most = max(state.Least, least), min(state.Most, most)
	}
	if p.Commit != nil {
		return agent.WithCommitment(func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
			return p.decide(ctx, turn, assessed)
		}, p.Commit)(ctx, turn)
	}
	return p.decide(ctx, turn, assessed)
}

func (p *Player) decide(
	ctx context.Context, turn agent.Turn, assessed bargain.Assessment,
) (agent.Decision, error) {
	action, err := p.Choose(ctx, turn, assessed)
	if err != nil {
		return nil, err
	}
	switch action.Move {
	case bargain.MoveAccept:
		return agent.Accept{}, nil
	case bargain.MoveEnd:
		if forfeits(turn) && !turn.LastCall {
			return agent.Wait{}, nil // the negotiation can expire instead
		}
		return agent.Reject{}, nil
	}
	if !turn.CanOffer() {
		return agent.Wait{}, nil // the next offer is the other side's
	}
	return agent.Offer{Amount: assessed.Preferences.Domain().Issue(0).Amount(uint64(action.Outcome))}, nil
}

// strategist returns the strategy's player, limited by the stricter of Options.Reservation and agent limits.
func (p *Player) strategist(turn agent.Turn) (agent.Player, error) {
	o := &p.chooser.options
	reservation, bound := o.Reservation, turn.Limits.MaxTotal
	switch {
	case turn.Side == protocol.OfferSideSeller:
		reservation = max(reservation, turn.Limits.MinPrice)
	case bound != 0 && (reservation == 0 || bound < reservation):
		reservation = bound
	}
	if reservation == 0 {
		return agent.Player{}, fmt.Errorf("llm: %w: no limit for mint %s", agent.ErrBeyondLimit,
			turn.Negotiation.TokenMint)
	}
	return agent.Player{
		Strategy: o.Strategy, Opening: o.Opening, Reservation: reservation, Seed: o.Seed, Suits: p.Suits,
	}, nil
}

// Choose returns the move at a turn, from the strategy's assessment over any domain. It ignores
// Options.Opening and Options.Reservation. It returns errors of [Chooser.Choose].
func (p *Player) Choose(
	ctx context.Context, turn agent.Turn, assessed bargain.Assessment,
) (bargain.Action, error) {
	n := turn.Negotiation
	position := Position{
		Negotiation: negotiationName(n), Role: strings.ToLower(turn.Side.String()), Assessment: assessed,
		Decimals: turn.Limits.Decimals, TimeLeftPercent: timeLeft(n, turn.Now), Deadline: p.deadline(ctx, turn),
		// The counterparty can use its whole response window.
		Last:     turn.Now+n.ResponseWindow >= n.GlobalDeadline,
		NoReject: forfeits(turn),
		Facts:    termsOf(n, turn.Limits.Decimals),
	}
	switch {
	case turn.Invalid != nil:
		position.Alone = aloneInvalid
	case !turn.CanOffer() && n.RoundsLeft() > 0:
		position.Alone = aloneMidpoint
	}
	return p.chooser.Choose(ctx, position)
}

// forfeits reports whether a rejection forfeits the agent's bond.
func forfeits(turn agent.Turn) bool {
	return turn.Side == protocol.OfferSideSeller && turn.Negotiation.RejectionForfeitsBond()
}

const (
	aloneInvalid  = "the decision before was invalid"
	aloneMidpoint = "the next offer is the other side's"
)

// negotiationName includes the creation time, because addresses are reused.
func negotiationName(n *haggle.Snapshot) string { return fmt.Sprintf("%s/%d", n.Address, n.CreatedAt) }

// timeLeft returns the remaining share of a negotiation's time, in percent.
func timeLeft(n *haggle.Snapshot, now int64) int {
	whole := max(n.GlobalDeadline-n.CreatedAt, 1)
	return int(min(max(n.GlobalDeadline-now, 0), whole) * 100 / whole)
}

// deadline returns the end of the response window less the reserve, or shortly before the call's end if that
// comes first.
func (p *Player) deadline(ctx context.Context, turn agent.Turn) time.Time {
	now := time.Now()
	left := time.Duration(turn.Deadline-turn.Now)*time.Second - p.chooser.options.Reserve
	return now.Add(min(left, callLeft(ctx, now)))
}

// callLeft returns the time until shortly before a call ends.
func callLeft(ctx context.Context, now time.Time) time.Duration {
	end, limited := ctx.Deadline()
	if !limited {
		return 1<<63 - 1
	}
	left := end.Sub(now)
	return left - min(time.Second, left/4)
}
