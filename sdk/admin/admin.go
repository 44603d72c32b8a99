// Package admin changes the protocol's configuration. The configuration's authority signs all actions but
// [InitializeConfig], which the program's upgrade authority signs.
package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/optional"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// UpdateConfigRequest is a change of the protocol's configuration. Unset fields keep their values.
type UpdateConfigRequest struct {
	// Authority signs. It must be the configuration's authority.
	Authority solana.PublicKey
	// Treasury is the wallet whose token accounts receive fees and decay, including those of open
	// negotiations. If zero, it does not change.
	Treasury solana.PublicKey
	// DecayRateBps is the default decay per round, 0 to 1,000 basis points. If nil, it does not change.
	DecayRateBps *uint16
	// ResponseWindow is the default time to answer, 1 minute to 1 hour, rounded up to seconds. If zero, it
	// does not change.
	ResponseWindow time.Duration
	// ProtocolFeeBps is the fee of later negotiations, 0 to 500 basis points of the payments. If nil, it does
	// not change.
	ProtocolFeeBps *uint16
	// MaxRounds is the default number of rounds, 1 to 20. If zero, it does not change.
	MaxRounds uint8
}

// changes reports whether a value changes.
func (r *UpdateConfigRequest) changes() bool {
	return !r.Treasury.IsZero() || r.DecayRateBps != nil || r.ResponseWindow != 0 ||
		r.ProtocolFeeBps != nil || r.MaxRounds != 0
}

// UpdateConfig changes the protocol's configuration. Open negotiations keep the terms they were created with.
// The program sets all values at once, so UpdateConfig first reads the values that stay: two changes at the
// same time can undo each other.
//
// The program returns [protocol.ErrInvalidParams] for values out of range, and [protocol.ErrUnauthorized].
func UpdateConfig(
	ctx context.Context, client *haggle.Client, request UpdateConfigRequest,
) (*haggle.Action, error) {
	if !request.changes() {
		return nil, errors.New("haggle: update_config: no value changes")
	}
	config, err := client.GetConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("protocol configuration: %w", err)
	}
	return newAction(client, request.Authority, &protocol.UpdateConfig{
		Authority:             request.Authority,
		Treasury:              cmp.Or(request.Treasury, config.Treasury),
		DefaultDecayRateBps:   optional.Or(request.DecayRateBps, config.DefaultDecayRateBps),
		DefaultResponseWindow: optional.Seconds(request.ResponseWindow, config.DefaultResponseWindow),
		DefaultProtocolFeeBps: optional.Or(request.ProtocolFeeBps, config.DefaultProtocolFeeBps),
		DefaultMaxRounds:      cmp.Or(request.MaxRounds, config.DefaultMaxRounds),
	})
}

// SetPausedRequest stops or allows the creation of negotiations.
type SetPausedRequest struct {
	// Authority signs. It must be the configuration's authority.
	Authority solana.PublicKey
	// Paused stops the creation of negotiations; false allows it.
	Paused bool
}

// SetPaused stops or allows the creation of negotiations. Open negotiations continue in both cases. The
// program returns [protocol.ErrUnauthorized] for any signer but the configuration's authority.
func SetPaused(client *haggle.Client, request SetPausedRequest) (*haggle.Action, error) {
	return newAction(client, request.Authority,
		&protocol.SetPaused{Authority: request.Authority, Paused: request.Paused})
}

// ProposeAuthorityRequest names the next authority of the configuration.
type ProposeAuthorityRequest struct {
	// Authority signs. It must be the current authority.
	Authority solana.PublicKey
	// NewAuthority must accept: see [AcceptAuthority]. Zero withdraws a proposal.
	NewAuthority solana.PublicKey
}

// ProposeAuthority names the next authority of the configuration. Nothing changes until that authority
// accepts. The program returns [protocol.ErrUnauthorized] for any signer but the configuration's authority.
func ProposeAuthority(client *haggle.Client, request ProposeAuthorityRequest) (*haggle.Action, error) {
	return newAction(client, request.Authority,
		&protocol.ProposeAuthority{Authority: request.Authority, NewAuthority: request.NewAuthority})
}

// AcceptAuthorityRequest names the new authority of the configuration.
type AcceptAuthorityRequest struct {
	// Authority signs. It must be the proposed authority.
	Authority solana.PublicKey
}

// AcceptAuthority makes the proposed authority the configuration's authority. The program returns
// [protocol.ErrUnauthorized] for any other signer.
func AcceptAuthority(client *haggle.Client, request AcceptAuthorityRequest) (*haggle.Action, error) {
	return newAction(client, request.Authority, &protocol.AcceptAuthority{Authority: request.Authority})
}

// newAction returns the action of an instruction on the configuration.
func newAction(
	client *haggle.Client, authority solana.PublicKey, instruction protocol.AnyInstruction,
) (*haggle.Action, error) {
	built, err := instruction.Instruction()
	if err != nil {
		return nil, err
	}
	return client.NewAction(instruction.InstructionName(), authority, built), nil
}
