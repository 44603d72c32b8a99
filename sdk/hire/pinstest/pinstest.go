// Package pinstest tests implementations of [hire.Pins]:
//
//	func TestPins(t *testing.T) {
//		pinstest.Run(t, func() hire.Pins { return open(t, path).HirePins() })
//	}
package pinstest

import (
	"crypto/ed25519"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

const (
	origin = "https://agent.example"
	other  = "https://other.example"
)

// pin returns a pin of test keys.
func pin(key, settlement byte) hire.Pin {
	address := func(seed byte) hire.Base58 {
		if seed == 0 {
			return ""
		}
		private := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), seed))
		return hire.Base58(hire.Address(private.Public().(ed25519.PublicKey)))
	}
	return hire.Pin{Key: address(key), Settlement: address(settlement)}
}

// Run tests a pin store. When open is first called, the store must be empty. Each call returns the pins as
// another process would see them.
func Run(t *testing.T, open func() hire.Pins) {
	t.Helper()
	requirePin := func(origin string, want hire.Pin) {
		t.Helper()
		got, err := open().Pinned(t.Context(), origin)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	move := func(from, to, want hire.Pin) {
		t.Helper()
		got, err := open().Move(t.Context(), origin, from, to)
		require.NoError(t, err)
		require.Equal(t, want, got)
		requirePin(origin, want)
	}
	requirePin(origin, hire.Pin{})
	// If no pin exists, nothing moves.
	move(pin(9, 0), pin(1, 0), hire.Pin{})

	contend(t, open)

	first, err := open().Pinned(t.Context(), origin)
	require.NoError(t, err)
	move(hire.Pin{}, pin(9, 9), first)              // a later first use
	move(pin(9, 0), pin(9, 9), first)               // another key
	move(first, pin(1, 2), pin(1, 2))               // a settlement key
	move(pin(1, 0), pin(9, 9), pin(1, 2))           // without the settlement key
	move(pin(1, 2), pin(3, 0), pin(3, 0))           // a key but no settlement key
	requirePin(other, hire.Pin{})                   // another origin
	requirePin(origin+"'--", hire.Pin{})            // a strange one
	requirePin("https://AGENT.example", hire.Pin{}) // another spelling
}

// contend pins different keys at the same time. All callers must return the same one.
func contend(t *testing.T, open func() hire.Pins) {
	t.Helper()
	const callers = 8
	var got [callers]hire.Pin
	var group errgroup.Group
	for i := range callers {
		pins := open()
		group.Go(func() (err error) {
			got[i], err = pins.Move(t.Context(), origin, hire.Pin{}, pin(byte(i+1), 0))
			return err
		})
	}
	require.NoError(t, group.Wait())
	for _, p := range got {
		require.Equal(t, got[0], p)
		require.NotZero(t, p)
	}
}
