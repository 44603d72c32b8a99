package admin

import (
	"cmp"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/optional"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// InitializeConfigRequest holds the protocol's first configuration. Unset fields use the defaults of package
// protocol.
type InitializeConfigRequest struct {
	// Authority signs, pays the rent, and becomes the configuration's authority. It must be the program's
	// upgrade authority.
	Authority solana.PublicKey
	// Treasury is the wallet whose token accounts receive fees and decay.
	Treasury solana.PublicKey
	// DecayRateBps is the default decay per round, 0 to 1,000 basis points. If nil, 200 is used.
	DecayRateBps *uint16
	// ResponseWindow is the default time to answer, 1 minute to 1 hour. If zero, 5 minutes are used.
	ResponseWindow time.Duration
	// ProtocolFeeBps is the fee on payments, 0 to 500 basis points. If nil, 50 is used.
	ProtocolFeeBps *uint16
	// MaxRounds is the default number of rounds, 1 to 20. If zero, 10 is used.
	MaxRounds uint8
}

// InitializeConfig configures the protocol, once. The program returns [protocol.ErrUnauthorized] for any
// signer but its upgrade authority, and [protocol.ErrAccountOwnedByWrongProgram] if the protocol is
// configured already.
func InitializeConfig(client *haggle.Client, request InitializeConfigRequest) (*haggle.Action, error) {
	if request.Treasury.IsZero() {
		return nil, errors.New("haggle: initialize_config: Treasury not set")
	}
	return newAction(client, request.Authority, &protocol.InitializeConfig{
		Authority:             request.Authority,
		Treasury:              request.Treasury,
		DefaultDecayRateBps:   optional.Or(request.DecayRateBps, protocol.DefaultDecayRateBps),
		DefaultResponseWindow: optional.Seconds(request.ResponseWindow, protocol.DefaultResponseWindow),
		DefaultProtocolFeeBps: optional.Or(request.ProtocolFeeBps, protocol.DefaultProtocolFeeBps),
		DefaultMaxRounds:      cmp.Or(request.MaxRounds, protocol.DefaultMaxRounds),
	})
}
