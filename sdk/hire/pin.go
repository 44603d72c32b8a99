package hire

import (
	"context"
	"crypto/ed25519"
	"fmt"
)

// Pin contains an origin card's keys, as stored by a receiver. The zero Pin means that nothing is stored.
type Pin struct {
	// Key is the agent's key.
	Key Base58
	// Settlement is the settlement key, or "" if the agent settles nothing.
	Settlement Base58
}

func (p Pin) public() ed25519.PublicKey {
	key, _ := KeyOf(string(p.Key)) // ParseCard has checked the form
	return key
}

// Pins stores pins durably. Package store implements it in the state database. It must be safe for concurrent
// use by goroutines and processes.
type Pins interface {
	// Pinned returns an origin's pin, or a zero Pin.
	Pinned(ctx context.Context, origin string) (Pin, error)
	// Move replaces an origin's pin, and returns the pin stored afterwards. If the stored pin differs from "from",
	// Move changes nothing. A zero "from" stores the first pin.
	Move(ctx context.Context, origin string, from, to Pin) (Pin, error)
}

func (c *Card) pin() Pin { return Pin{c.Key, c.Settlement} }

// maxMoves limits the attempts to store a pin that other processes change.
const maxMoves = 3

// repin compares a card with the origin's pin and returns the new pin. It stores a first pin, and moves a pin
// if the pinned key signed the card. Otherwise the error is a [*Refusal] with [ReasonKey].
func repin(ctx context.Context, pins Pins, card *Card) (Pin, error) {
	pin, err := pins.Pinned(ctx, card.ID)
	for range maxMoves {
		if err != nil || pin == card.pin() {
			return pin, err
		}
		if pin != (Pin{}) {
			if err := card.Continues(pin.public()); err != nil {
				return Pin{}, err
			}
		}
		pin, err = pins.Move(ctx, card.ID, pin, card.pin())
	}
	if err == nil && pin != card.pin() {
		err = fmt.Errorf("hire: pin of %s: changed by others %d times", card.ID, maxMoves)
	}
	return pin, err
}
