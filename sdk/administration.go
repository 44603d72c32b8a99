package haggle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// UpdateConfigRequest says what of the protocol's configuration is to change. What is left out stays as the chain has it.
type UpdateConfigRequest struct {
	// Authority is the configuration's. It signs.
	Authority solana.PublicKey
	// Treasury is the wallet whose token accounts receive fees and decay, also those of negotiations under way. Zero leaves it.
	Treasury solana.PublicKey
	// DecayRateBps is the default decay per round, 0 to 1,000 basis points. Nil leaves it.
	DecayRateBps *uint16
	// ResponseWindow is the default time to answer, 1 minute to 1 hour, rounded up to seconds. Zero leaves it.
	ResponseWindow time.Duration
	// ProtocolFeeBps is the fee of negotiations created from now on, 0 to 500 basis points of what is paid. Nil leaves it.
	ProtocolFeeBps *uint16
	// MaxRounds is the default number of rounds, 1 to 20. Zero leaves it.
	MaxRounds uint8
}

// changes says whether anything is to change.
func (r *UpdateConfigRequest) changes() bool {
	return !r.Treasury.IsZero() || r.DecayRateBps != nil || r.ResponseWindow != 0 || r.ProtocolFeeBps != nil || r.MaxRounds != 0
}

// UpdateConfig changes the protocol's configuration. Negotiations under way keep the terms they were created with. The program
// takes all of the values at once, so those that stay are read first: two changes at the same time can undo each other.
//
// The program answers [protocol.ErrInvalidParams] to values out of their ranges, and [protocol.ErrUnauthorized].
func (c *Client) UpdateConfig(ctx context.Context, request UpdateConfigRequest) (*Action, error) {
	if !request.changes() {
		return nil, errors.New("haggle: update_config: nothing is to change")
	}
	config, err := c.GetConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("protocol configuration: %w", err)
	}
	return c.newAction(solana.PublicKey{}, request.Authority, &protocol.UpdateConfig{
		Authority:             request.Authority,
		Treasury:              nonZeroOr(request.Treasury, config.Treasury),
		DefaultDecayRateBps:   givenOr(request.DecayRateBps, config.DefaultDecayRateBps),
		DefaultResponseWindow: secondsOr(request.ResponseWindow, config.DefaultResponseWindow),
		DefaultProtocolFeeBps: givenOr(request.ProtocolFeeBps, config.DefaultProtocolFeeBps),
		DefaultMaxRounds:      nonZeroOr(request.MaxRounds, config.DefaultMaxRounds),
	})
}

// SetPausedRequest stops or allows the creation of negotiations.
type SetPausedRequest struct {
	// Authority is the configuration's. It signs.
	Authority solana.PublicKey
	// Paused stops it, otherwise it is allowed.
	Paused bool
}

// SetPaused stops or allows the creation of negotiations. Those under way go on either way. The program answers [protocol.ErrUnauthorized]
// to anyone but the configuration's authority.
func (c *Client) SetPaused(_ context.Context, request SetPausedRequest) (*Action, error) {
	return c.newAction(solana.PublicKey{}, request.Authority, &protocol.SetPaused{Authority: request.Authority, Paused: request.Paused})
}

// ProposeAuthorityRequest says who is to become the configuration's authority.
type ProposeAuthorityRequest struct {
	// Authority is the one that it has now. It signs.
	Authority solana.PublicKey
	// NewAuthority has to accept: see [Client.AcceptAuthority]. Zero withdraws a proposal.
	NewAuthority solana.PublicKey
}

// ProposeAuthority names the next authority of the configuration, which nothing changes until that accepts. The program answers
// [protocol.ErrUnauthorized] to anyone but the configuration's authority.
func (c *Client) ProposeAuthority(_ context.Context, request ProposeAuthorityRequest) (*Action, error) {
	return c.newAction(solana.PublicKey{}, request.Authority, &protocol.ProposeAuthority{Authority: request.Authority, NewAuthority: request.NewAuthority})
}

// AcceptAuthorityRequest says who becomes the configuration's authority.
type AcceptAuthorityRequest struct {
	// Authority is the one that has been proposed. It signs.
	Authority solana.PublicKey
}

// AcceptAuthority makes the proposed authority the configuration's. The program answers [protocol.ErrUnauthorized] to anyone else.
func (c *Client) AcceptAuthority(_ context.Context, request AcceptAuthorityRequest) (*Action, error) {
	return c.newAction(solana.PublicKey{}, request.Authority, &protocol.AcceptAuthority{Authority: request.Authority})
}
