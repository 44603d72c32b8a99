package agent

import (
	"errors"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// reveal returns the action that reveals the agent's price. It reveals in any case, because a withheld reveal
// costs the seller the bond.
func (l *loop) reveal(f *tracked, v *view, sealed *protocol.SealedPrice) *haggle.Action {
	deal := l.client.At(v.Snapshot)
	if v.isBuyer() || l.acceptsMidpoint(f, v, sealed.Price()) {
		return deal.RevealZopa(sealed)
	}
	return deal.RevealZopaOnly(sealed)
}

// acceptsMidpoint reports whether a seller accepts any midpoint together with the reveal: unless
// Config.RevealOnly is set, an attempt was refused, or the midpoint is beyond the agent's limit.
func (l *loop) acceptsMidpoint(f *tracked, v *view, price uint64) bool {
	midpoint, zone := v.Midpoint(price)
	if !zone || l.config.RevealOnly || f.revealOnly {
		return false
	}
	if err := l.config.Mints[v.TokenMint].check(v.Snapshot, f.side, midpoint, v.Decay()); err != nil {
		l.config.Logger.Warn("the midpoint is not accepted with the reveal", f.attributes("error", err)...)
		return false
	}
	return true
}

// revealFailed makes the next reveal leave the acceptance out if the program or the signer refused an
// attempt.
func (l *loop) revealFailed(f *tracked, name string, err error) {
	if name != (*protocol.RevealZopaPrice)(nil).InstructionName() || isTransient(err) {
		return
	}
	var program *protocol.ProgramError
	if refused := errors.As(err, &program) && program.Instruction >= 0; refused || !isStateChange(err) {
		f.revealOnly = true
	}
}
