package escrow

import (
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/sessionid"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Terms of every HIRE negotiation. [Terms.Request] sets and [Terms.Check] compares the values.
const (
	// MaxRounds is the number of offers: the seeker's offer of the agreed price.
	MaxRounds = 1
	// ResponseWindow limits the seeker's offer, and again the worker's acceptance. Check accepts longer
	// windows.
	ResponseWindow = 5 * time.Minute
	// GlobalDeadline limits agreeing on the price on chain. It begins before the creation is executed, so Check
	// accepts MinGlobalDeadline from the creation on.
	GlobalDeadline    = 30 * time.Minute
	MinGlobalDeadline = 25 * time.Minute
	// ReviewHours limits the delivery's review. Check accepts a shorter review, which shortens the seeker's own
	// time.
	ReviewHours = 24
	// MaxFeeBps limits the protocol fee, in basis points of the price.
	MaxFeeBps = protocol.DefaultProtocolFeeBps
	// MaxDelivery limits the time from acceptance to deadline. The program allows 365 days from the creation to
	// the end of the review.
	MaxDelivery = 360 * 24 * time.Hour
	// ExtraDelivery is added to the deadline by Request, in case the clocks of nodes differ.
	ExtraDelivery = time.Minute
	// MaxExtraDelivery is the longest excess delivery time that Check accepts. If the arbiter is silent, a
	// disputed price stays in escrow until a day after the milestone's deadline: without this limit a seeker
	// could withhold it for a year.
	MaxExtraDelivery = time.Hour
)

// Request returns the seeker's creation of the negotiation. Its Key stands for the agreement's session id. The
// argument now is the chain's current time: [haggle.Client.Now]. A price in SOL is wrapped from the seeker's
// lamports. Any other price comes from the seeker's associated token account, unless the caller changes Deposit.
func (t Terms) Request(now time.Time) haggle.CreateRequest {
	return haggle.CreateRequest{
		Buyer:          t.Seeker,
		Seller:         t.Worker,
		Mint:           t.Mint,
		Decimals:       t.Decimals,
		EscrowAmount:   t.Price,
		ServiceHash:    t.Service,
		Key:            sessionid.KeyOf(t.Session),
		MaxRounds:      MaxRounds,
		DecayRateBps:   new(uint16(0)),
		ResponseWindow: ResponseWindow,
		Deadline:       GlobalDeadline,
		Milestones: &haggle.Milestones{
			Arbiter:     t.Arbiter,
			Shares:      []uint16{uint16(protocol.BpsDenominator)},
			ReviewHours: ReviewHours,
			Delivery:    max(t.Deadline.Sub(now), GlobalDeadline) + ExtraDelivery,
		},
		MaxFeeBps: new(uint16(MaxFeeBps)),
		Deposit:   haggle.Deposit{WrapSOL: t.Mint == solana.WrappedSol},
	}
}
