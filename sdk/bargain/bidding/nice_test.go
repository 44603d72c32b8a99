package bidding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// scale describes a buyer's prices; the utility falls from first to last.
type scale struct {
	most, tick               uint64
	first, last, reservation fixed.Number
	discount                 fixed.Number
}

// seat returns the buyer's seat.
func (s scale) seat(t *testing.T) bargain.Seat {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, s.most, s.tick))
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, nil,
		utility.Line{First: s.first, Last: s.last, Count: domain.Issue(0).Count})
	require.NoError(t, err)
	p, err := bargain.NewDiscounted(domain, u, s.reservation, bargain.Discount{Factor: s.discount})
	require.NoError(t, err)
	return bargain.Seat{Preferences: p, Parties: 2, Steps: 10, Random: bargain.NewRandom(1, 0)}
}

// received returns the negotiation state at a time after the opponent's offers.
func received(time fixed.Number, offers ...bargain.Outcome) *bargain.State {
	s := &bargain.State{Steps: 10, Step: len(offers), Time: time, Offer: bargain.NoOutcome}
	for i, o := range offers {
		s.History = append(s.History, bargain.Offer{By: 1, Step: i, Outcome: o})
		s.Offer, s.By = o, 1
	}
	return s
}

// model is an opponent model that values an outcome by a function.
type model func(o bargain.Outcome) fixed.Number

func (m model) Of(o bargain.Outcome) fixed.Number { return m(o) }

func (model) Observe(bargain.Offer) {}

// TestNiceTitForTat checks the formulas in GENIUS' NiceTitForTat_Offering. No model is set, so the Nash point
// is worth .7. The prices run from 0 to 1000 with the utility 1 - price/1000.
//
// The first offer, 800, is worth .2: the Nash point is .7 (1.4 - .6 * .8) = .644. After 600, with .4, the
// opponent has conceded (.4-.2)/(.644-.2) = .450450 of the way, so the target is 1 - .450450 (1-.644) =
// .839640, and .195640 above the Nash point.
func TestNiceTitForTat(t *testing.T) {
	const thousandth = fixed.One / 1000
	thousand := scale{1000, 1, fixed.One, 0, 0, 0}
	discounted, reserved, shifted := thousand, thousand, thousand
	discounted.discount, reserved.reservation = fixed.One/2, 7*fixed.One/10
	shifted.first, shifted.last = 3*fixed.One, fixed.One
	for _, test := range []struct {
		name   string
		scale  scale
		time   fixed.Number
		offers []bargain.Outcome
		want   bargain.Outcome
	}{
		{"first: 1 - .1 (1 - .7*1.4) = .998", thousand, 0, nil, 2},
		{"no concession: 1 - .1 (1 - .644) = .9644", thousand, 0, []bargain.Outcome{800}, 35},
		{".839640 - .1 * .195640 = .820076", thousand, 0, []bargain.Outcome{800, 600}, 179},
		{"the best offer counts, not the last", thousand, 0, []bargain.Outcome{800, 600, 900}, 179},
		{"late: .839640 - 20 (.935-.91) * .195640 = .741820", thousand, 935 * thousandth,
			[]bargain.Outcome{800, 600}, 258},
		{"later: the Nash point .644", thousand, 970 * thousandth, []bargain.Outcome{800, 600}, 356},
		{"discount .5: .839640 - (.5 - .4*.5) * .195640 = .780948", discounted, 0,
			[]bargain.Outcome{800, 600}, 219},
		{"more than 3000 outcomes: .839640 - 20 (.885-.85) * .195640 = .702692",
			scale{5000, 1, fixed.One, 0, 0, 0}, 885 * thousandth, []bargain.Outcome{4000, 3000}, 1486},
		{"not below .7: 1 - .2/.5 * .3 = .88, .88 - .1 * .18 = .862", reserved, 0,
			[]bargain.Outcome{800, 600}, 138},
		{"utilities from 1 to 3", shifted, 0, []bargain.Outcome{800, 600}, 179},
		{"past the Nash point .77: the best offer received", thousand, 0, []bargain.Outcome{500, 10}, 10},
		{"the first offer is past it: 1 - .1 (1 - .7 * 1.388) = .99716", thousand, 0, []bargain.Outcome{20}, 2},
	} {
		seat := test.scale.seat(t)
		o := bidding.NiceTitForTat{}.Bidder(seat, nil).Next(received(test.time, test.offers...))
		require.Equal(t, test.want, o, test.name)
	}
}

// TestNiceTitForTatEstimatesTheNashPoint uses a seller's model, price/1000, and the reservation value .3. The
// prices are 0, 10, and so on to 1000. The product (u-.3)(1-u) is highest at u = .65, so the Nash point is
// .65 * .92 = .598. After 800 and 600 the target is 1 - .2/(.598-.2) * (1-.598) = .797990, less .1 * .199990
// = .777991. Of the prices from there to .05 * .7 above it, 190 to 220, the model values 220 most.
func TestNiceTitForTatEstimatesTheNashPoint(t *testing.T) {
	seat := scale{1000, 10, fixed.One, 0, 3 * fixed.One / 10, 0}.seat(t)
	seller := model(func(o bargain.Outcome) fixed.Number { return fixed.Ratio(int64(o), 100) })
	nice := bidding.NiceTitForTat{}.Bidder(seat, seller)
	require.Equal(t, bargain.Outcome(22), nice.Next(received(0, 80, 60)))

	// If no reservation value is set, the product peaks at .5. Because .5 * .92 is less than .5, the lowest
	// Nash point, the final target is .5.
	seat = scale{1000, 10, fixed.One, 0, 0, 0}.seat(t)
	nice = bidding.NiceTitForTat{}.Bidder(seat, seller)
	require.Equal(t, bargain.Outcome(50), nice.Next(received(fixed.One/100*99, 80, 60)))
}
