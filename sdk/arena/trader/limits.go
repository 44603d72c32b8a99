package trader

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// ErrBeyondLimit: a move would exceed the trader's limits.
var ErrBeyondLimit = errors.New("trader: beyond the limits")

// Limits bound a trader's agreements together. At least one token must be permitted.
type Limits struct {
	Yes, No TokenLimits
	// Keep is the money that remains after all agreements, if none of the sales among them happens.
	Keep arena.Money
	// Split permits buying complete sets to sell tokens that the trader lacks. The opposite token remains,
	// within that token's Most.
	Split bool
}

// TokenLimits limit trades in one token.
type TokenLimits struct {
	// Buy is the highest price for buying, and Sell the lowest for selling. If zero, such trades are not
	// permitted.
	Buy, Sell arena.Price
	// Most is the largest number of tokens to hold, if all of the purchases happen. It is required with Buy.
	Most arena.Quantity
}

func (l *Limits) of(token arena.Token) *TokenLimits {
	if token == arena.Yes {
		return &l.Yes
	}
	return &l.No
}

func (l *Limits) check() error {
	permitted := false
	for _, token := range []arena.Token{arena.Yes, arena.No} {
		switch of := l.of(token); {
		case max(of.Buy, of.Sell) > arena.MaxPrice:
			return fmt.Errorf("trader: Limits: %s: prices must be at most %s", token, arena.MaxPrice)
		case of.Buy > 0 && of.Most == 0:
			return fmt.Errorf("trader: Limits: %s: Most not set", token)
		case of.Buy > 0 || of.Sell > 0:
			permitted = true
		}
	}
	if !permitted {
		return errors.New("trader: Limits: no purchase and no sale is permitted")
	}
	return nil
}

// Room returns what the limits leave: the number of tokens that can be bought at a price, or sold. Tokens of further
// sets count if Split is set.
func (d *Desk) Room(side arena.Side, token arena.Token, price arena.Price) arena.Quantity {
	leg := arena.Leg{Token: token, Price: price, Buyer: d.Self}
	if side == arena.Sell {
		leg.Buyer, leg.Seller = "", d.Self
	}
	low, high := arena.Quantity(0), arena.MaxQuantity
	for low < high { // the largest quantity that is allowed: what allows one also allows less
		middle := (low + high + 1) / 2
		leg.Quantity = middle
		if _, err := d.allow([]arena.Leg{leg}, 0); err == nil {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// Permits returns [ErrBeyondLimit] if the limits do not permit the trader to agree to legs in a chat, instead of the
// chat's standing proposal.
func (d *Desk) Permits(legs []arena.Leg, chat int) error {
	_, err := d.allow(legs, chat)
	return err
}

// allow checks legs that the trader would agree to in a chat, instead of the chat's standing proposal. It returns the
// number of complete sets that they need.
func (d *Desk) allow(legs []arena.Leg, chat int) (sets arena.Quantity, err error) {
	for _, leg := range legs {
		of := d.Limits.of(leg.Token)
		if leg.Buyer == d.Self && (of.Buy == 0 || leg.Price > of.Buy) {
			return 0, fmt.Errorf("%w: buys %s at %s, at most %s", ErrBeyondLimit, leg.Token, leg.Price, of.Buy)
		}
		if leg.Seller == d.Self && (of.Sell == 0 || leg.Price < of.Sell) {
			return 0, fmt.Errorf("%w: sells %s at %s, at least %s", ErrBeyondLimit, leg.Token, leg.Price, of.Sell)
		}
	}
	needs, gets := d.flows(legs, chat)
	lacksYes := needs.Yes - min(needs.Yes, d.Holding.Yes)
	lacksNo := needs.No - min(needs.No, d.Holding.No)
	sets = max(lacksYes, lacksNo)
	if sets > 0 && !d.Limits.Split {
		return 0, fmt.Errorf("%w: lacks %d YES and %d NO", ErrBeyondLimit, lacksYes, lacksNo)
	}
	if total := needs.Money + arena.Money(sets)*arena.SetPrice + d.Limits.Keep; total > d.Holding.Money {
		return 0, fmt.Errorf("%w: needs %s of %s, to keep included", ErrBeyondLimit, total, d.Holding.Money)
	}
	if all := d.Holding.Yes + sets + gets.Yes; all > d.Limits.Yes.Most && gets.Yes+lacksNo > 0 {
		return 0, fmt.Errorf("%w: would hold %d YES, at most %d", ErrBeyondLimit, all, d.Limits.Yes.Most)
	}
	if all := d.Holding.No + sets + gets.No; all > d.Limits.No.Most && gets.No+lacksYes > 0 {
		return 0, fmt.Errorf("%w: would hold %d NO, at most %d", ErrBeyondLimit, all, d.Limits.No.Most)
	}
	return sets, nil
}

// flows returns the money and tokens needed for all the trader's agreements and standing proposals, and the
// tokens received from them. Received money does not count.
func (d *Desk) flows(legs []arena.Leg, chat int) (needs, gets arena.Holding) {
	add := func(legs []arena.Leg) {
		gives, takes := arena.Flow(legs, d.Self)
		needs.Money += gives.Money - min(gives.Money, takes.Money)
		needs.Yes += gives.Yes - min(gives.Yes, takes.Yes)
		needs.No += gives.No - min(gives.No, takes.No)
		gets.Yes += takes.Yes - min(takes.Yes, gives.Yes)
		gets.No += takes.No - min(takes.No, gives.No)
	}
	add(legs)
	for _, pending := range d.Pending {
		add(pending.Legs)
	}
	for _, promised := range d.promised {
		add(promised)
	}
	for _, c := range d.Chats {
		if c.Number != chat && c.Agreed {
			add(c.Standing().Legs)
		}
	}
	return needs, gets
}
