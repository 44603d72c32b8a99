package agent

import (
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk"
)

// Hurry is the time before the global deadline at which an agent stops bargaining, in seconds: it takes what is good enough, or
// walks away.
const Hurry = 20

// ErrReplaced: the negotiation that is followed has been closed, and its buyer has created another one at its address.
var ErrReplaced = errors.New("another negotiation has taken its place")

// terms are what a negotiation is created with and keeps to its end. A buyer can close a negotiation and create another one at the
// same address; by these an agent tells the two apart. The deadline is one of them: it moves only when both sides ask for more time,
// and these agents never do.
type terms struct {
	buyer, seller, mint, arbiter                 solana.PublicKey
	session, escrow, bond                        uint64
	service                                      [32]byte
	created, window, deadline, milestoneDeadline int64
	rounds, milestones                           uint8
	decayBps, minOfferBps, feeBps                uint16
	sealed                                       bool
	milestoneBps                                 [8]uint16
}

func termsOf(n *haggle.NegotiationAccount) terms {
	return terms{
		buyer: n.Buyer, seller: n.Seller, mint: n.TokenMint, arbiter: n.Arbiter,
		session: n.SessionID, escrow: n.EscrowAmount, bond: n.BondRequired, service: n.ServiceHash,
		created: n.CreatedAt, window: n.ResponseWindow, deadline: n.GlobalDeadline, milestoneDeadline: n.MilestoneDeadline,
		rounds: n.MaxRounds, milestones: n.MilestoneCount,
		decayBps: n.DecayRateBps, minOfferBps: n.MinOfferBps, feeBps: n.ProtocolFeeBps,
		sealed: n.ZopaEnabled, milestoneBps: n.MilestoneBps,
	}
}
