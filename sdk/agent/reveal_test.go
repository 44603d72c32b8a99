package agent

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// A failure that the acceptance can have caused must not keep the seller from revealing; other failures must
// not open the midpoint to the buyer.
func TestRefusedRevealIsRepeatedWithoutTheAcceptance(t *testing.T) {
	program := func(code protocol.ErrorCode, instruction int) error {
		return &protocol.ProgramError{Code: code, Instruction: instruction}
	}
	for name, c := range map[string]struct {
		action string
		err    error
		want   bool
	}{
		"the signer refuses":          {"reveal_zopa_price", errors.New("denied"), true},
		"the token program refuses":   {"reveal_zopa_price", &transaction.Error{Reason: "Custom"}, true},
		"the acceptance is stale":     {"reveal_zopa_price", program(protocol.ErrStaleState, 3), true},
		"the acceptance overflows":    {"reveal_zopa_price", program(protocol.ErrOverflow, 3), true},
		"the client refuses":          {"reveal_zopa_price", program(protocol.ErrInvalidState, -1), false},
		"the state has changed":       {"reveal_zopa_price", &haggle.StateChangedError{}, false},
		"a node lacks an account":     {"reveal_zopa_price", fmt.Errorf("mint: %w", protocol.ErrAccountNotFound), false},
		"a node does not respond":     {"reveal_zopa_price", io.ErrUnexpectedEOF, false},
		"the transaction has expired": {"reveal_zopa_price", transaction.ErrExpired, false},
		"a commitment is refused":     {"submit_zopa_commitment", errors.New("denied"), false},
	} {
		f := &tracked{}
		newLoop(t).revealFailed(f, c.action, c.err)
		require.Equal(t, c.want, f.revealOnly, name)
	}
}

// The limits can be higher than at the commitment, for example if the agent restarted.
func TestMidpointBeyondALimitIsNotAccepted(t *testing.T) {
	n := with(bargaining(0), func(n *protocol.Negotiation) {
		n.ZopaEnabled, n.ZopaPhase, n.BuyerPrice = true, protocol.ZopaPhaseBothCommitted, 4_000_000
	})
	sealed, err := protocol.SealPrice(solana.PublicKey{7}, &n, n.Seller, 3_000_000)
	require.NoError(t, err)
	l := newLoop(t)
	f := &tracked{side: protocol.OfferSideSeller}
	v := testView(n, protocol.OfferSideSeller, testNow)
	net := 3_500_000 - n.FeeOn(3_500_000)
	for _, c := range []struct {
		minPrice   uint64
		revealOnly bool
		want       bool
	}{{net, false, true}, {net + 1, false, false}, {net, true, false}} {
		l.config.Mints = map[solana.PublicKey]Limits{{}: {MinPrice: c.minPrice}}
		l.config.RevealOnly = c.revealOnly
		require.Equal(t, c.want, l.acceptsMidpoint(f, v, sealed.Price()), "%+v", c)
	}
	l.config.RevealOnly = false
	f.revealOnly = true
	require.False(t, l.acceptsMidpoint(f, v, sealed.Price()))
}
