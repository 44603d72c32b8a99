package haggle

import (
	"context"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// InitializeConfigRequest says how the protocol is configured for the first time. What is left out is what the specification
// proposes.
type InitializeConfigRequest struct {
	// Authority is the program's upgrade authority. It signs, pays the rent, and becomes the configuration's authority.
	Authority solana.PublicKey
	// Treasury is the wallet whose token accounts receive fees and decay.
	Treasury solana.PublicKey
	// DecayRateBps is the default decay per round, 0 to 1,000 basis points. Nil is 200.
	DecayRateBps *uint16
	// ResponseWindow is the default time to answer, 1 minute to 1 hour. Zero is 5 minutes.
	ResponseWindow time.Duration
	// ProtocolFeeBps is the fee on what is paid, 0 to 500 basis points. Nil is 50.
	ProtocolFeeBps *uint16
	// MaxRounds is the default number of rounds, 1 to 20. Zero is 10.
	MaxRounds uint8
}

// InitializeConfig configures the protocol, once. The program answers [protocol.ErrUnauthorized] to anyone but its upgrade authority, and
// [protocol.ErrAccountOwnedByWrongProgram] if that has been done before.
func (c *Client) InitializeConfig(_ context.Context, request InitializeConfigRequest) (*Action, error) {
	if request.Treasury.IsZero() {
		return nil, errors.New("haggle: initialize_config: Treasury is not given")
	}
	return c.newAction(solana.PublicKey{}, request.Authority, &protocol.InitializeConfig{
		Authority:             request.Authority,
		Treasury:              request.Treasury,
		DefaultDecayRateBps:   givenOr(request.DecayRateBps, protocol.DefaultDecayRateBps),
		DefaultResponseWindow: secondsOr(request.ResponseWindow, protocol.DefaultResponseWindow),
		DefaultProtocolFeeBps: givenOr(request.ProtocolFeeBps, protocol.DefaultProtocolFeeBps),
		DefaultMaxRounds:      nonZeroOr(request.MaxRounds, protocol.DefaultMaxRounds),
	})
}

func givenOr[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

func nonZeroOr[T comparable](given, otherwise T) T {
	var zero T
	if given == zero {
		return otherwise
	}
	return given
}

// secondsOr are whole seconds, rounded up.
func secondsOr(given time.Duration, otherwise int64) int64 {
	if given == 0 {
		return otherwise
	}
	seconds := int64(given / time.Second)
	if given%time.Second > 0 {
		seconds++
	}
	return seconds
}
