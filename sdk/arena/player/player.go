package player

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// Options configure a player. Estimate and Risk are required.
type Options struct {
	// Estimate is the owner's probability of YES, in ticks of 0.01.
	Estimate arena.Price
	// Risk is the maximum possible loss, whatever happens: all other money is kept.
	Risk arena.Money
	// Seed selects the player's random choices: whom it invites.
	Seed uint64
	// Choose returns the move at a turn from the strategy's assessment, such as a language model's: see package
	// [github.com/haggle-protocol/haggle/sdk/llm/trading]. If nil, the strategy's move is made.
	Choose func(context.Context, trader.Turn, bargain.Assessment) (bargain.Action, error)
	// Say words the player's own phrase for an occasion. If nil, the phrase is used unchanged.
	Say func(ctx context.Context, occasion Occasion, desk trader.Desk, phrase string) (string, error)
}

// Occasion tells where a phrase is used.
type Occasion string

// The occasions.
const (
	OccasionInterest Occasion = "interest"
	OccasionFloor    Occasion = "floor"
	OccasionChat     Occasion = "side chat"
)

// Player makes a trader's decisions.
type Player struct {
	personality Personality
	options     Options
	strategy    bargain.Strategy

	lock   sync.Mutex
	random *rand.Rand
	// met counts the chats with each agent.
	met map[string]int
	// packages counts the invitations to packages chats, and invitations all others since the latest packages
	// invitation.
	packages, invitations int
}

// New returns a player.
func New(personality Personality, options Options) (*Player, error) {
	played, err := strategy.Parse(personality.Strategy)
	switch {
	case err != nil:
		return nil, fmt.Errorf("player: Strategy: %w", err)
	case options.Estimate < arena.MinPrice || options.Estimate > arena.MaxPrice:
		return nil, fmt.Errorf("player: Estimate must be %s to %s", arena.MinPrice, arena.MaxPrice)
	case options.Risk == 0:
		return nil, errors.New("player: Risk not set")
	case personality.Size == 0 || personality.Chats == 0:
		return nil, errors.New("player: Size and Chats must be positive")
	}
	return &Player{
		personality: personality, options: options, strategy: played.Strategy,
		random: rand.New(rand.NewPCG(options.Seed, 0)), met: map[string]int{},
	}, nil
}

// deals is the number of deals allowed by a player's position limit.
const deals = 5

// Trader completes a trader's configuration with the player's decisions and limits. The grant is the
// market's: see [arena.Config].
func (p *Player) Trader(config trader.Config, grant arena.Money) trader.Config {
	// The estimate moves with the price. The limits follow from the most extreme price.
	most := arena.Quantity(deals) * p.personality.Size
	limits := func(token arena.Token) trader.TokenLimits {
		of := trader.TokenLimits{Most: most}
		for _, price := range []arena.Price{arena.MinPrice, arena.MaxPrice} {
			if buy, possible := p.limit(arena.Buy, token, price); possible {
				of.Buy = max(of.Buy, buy)
			}
			if sell, possible := p.limit(arena.Sell, token, price); possible && (of.Sell == 0 || sell < of.Sell) {
				of.Sell = sell
			}
		}
		return of
	}
	config.Limits = trader.Limits{
		Yes: limits(arena.Yes), No: limits(arena.No), Keep: grant - min(grant, p.options.Risk), Split: true,
	}
	config.Interest, config.Speak, config.Invite = p.interest, p.speak, p.invite
	config.Admit, config.Negotiate, config.Settle = p.admit, p.negotiate, p.settle
	return config
}

// value returns the player's value of YES at a price of the market.
func (p *Player) value(price arena.Price) arena.Price {
	base := int(p.options.Estimate) + p.personality.Lean
	base += (int(price) - base) * p.personality.Follow / 100
	return arena.Price(min(max(base, int(arena.MinPrice)), int(arena.MaxPrice)))
}

// limit returns the player's worst acceptable price for trading tokens, if any.
func (p *Player) limit(side arena.Side, token arena.Token, price arena.Price) (arena.Price, bool) {
	value := p.value(price)
	if token == arena.No {
		value = arena.MinPrice + arena.MaxPrice - value
	}
	if side == arena.Buy {
		return value - min(value, p.personality.Edge), value > p.personality.Edge
	}
	return value + p.personality.Edge, value+p.personality.Edge <= arena.MaxPrice
}

// side returns what the player would rather do with YES.
func (p *Player) side(desk *trader.Desk) arena.Side {
	if p.personality.Both && desk.View.Trades%2 == 1 || !p.personality.Both && p.value(desk.View.Price) < desk.View.Price {
		return arena.Sell
	}
	return arena.Buy
}

// ask is the distance from limit to opening price, in ticks.
const ask = 20

// opening returns the player's first price.
func opening(side arena.Side, limit arena.Price) arena.Price {
	if side == arena.Buy {
		return max(limit-min(limit, ask), arena.MinPrice)
	}
	return min(limit+ask, arena.MaxPrice)
}

// want returns the trade wanted by the player, or nil if the limits permit none.
func (p *Player) want(desk *trader.Desk) *arena.Want {
	side := p.side(desk)
	limit, possible := p.limit(side, arena.Yes, desk.View.Price)
	if !possible {
		return nil
	}
	price := opening(side, limit)
	quantity := min(p.personality.Size, desk.Room(side, arena.Yes, price))
	if quantity == 0 {
		return nil
	}
	return &arena.Want{Side: side, Token: arena.Yes, Price: price, Quantity: quantity}
}

// say returns the phrase for an occasion.
func (p *Player) say(ctx context.Context, occasion Occasion, desk trader.Desk, phrase string) string {
	if p.options.Say == nil {
		return phrase
	}
	text, err := p.options.Say(ctx, occasion, desk, phrase)
	if err != nil || text == "" || len(text) > arena.MaxText {
		return phrase
	}
	return text
}

func (p *Player) interest(ctx context.Context, desk trader.Desk) (arena.Interest, error) {
	want := p.want(&desk)
	if want == nil {
		return arena.Interest{}, nil
	}
	own, _ := desk.View.Agent(desk.Self)
	if old := own.Interest.Want; old != nil && *old == *want {
		return own.Interest, nil
	}
	text := p.say(ctx, OccasionInterest, desk, p.personality.phrases.interest)
	return arena.Interest{Interested: true, Want: want, Message: text}, nil
}

func (p *Player) speak(ctx context.Context, desk trader.Desk) (arena.Say, error) {
	want := p.want(&desk)
	if want == nil || p.chance(2) {
		phrase := fmt.Sprintf(p.personality.phrases.comment, desk.View.Price)
		return arena.Say{Text: p.say(ctx, OccasionFloor, desk, phrase)}, nil
	}
	phrase := fmt.Sprintf(p.personality.phrases.want, fmt.Sprintf("%d %s", want.Quantity, want.Token))
	return arena.Say{Text: p.say(ctx, OccasionFloor, desk, phrase), Want: want}, nil
}

// chance returns true once in n calls, on average.
func (p *Player) chance(n int) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.random.IntN(n) == 0
}

// settle cancels an agreement if the price has moved against it too far, and finalizes the others.
func (p *Player) settle(_ context.Context, desk trader.Desk, agreement arena.Agreement) (trader.Verdict, error) {
	for _, leg := range agreement.Legs {
		price := desk.View.Price
		if leg.Token == arena.No {
			price = arena.MinPrice + arena.MaxPrice - price
		}
		worse := int(leg.Price) - int(price)
		if leg.Seller == desk.Self {
			worse = -worse
		}
		own := leg.Buyer == desk.Self || leg.Seller == desk.Self
		if own && p.personality.Flees > 0 && worse >= int(p.personality.Flees) {
			return trader.Cancel, nil
		}
	}
	return trader.Finalize, nil
}
