package main

import (
	"errors"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// purchaseScenarios is the number of scenarios of the table of purchases.
const purchaseScenarios = 400

// sellerCounts lists the numbers of sellers in the table. The first entry means bilateral bargaining.
var sellerCounts = []int{1, 2, 3, onchain.MaxSellers}

// purchases holds a buyer's results with a number of sellers, by scenario.
type purchases struct {
	agreed, prices, decays, gains []float64
}

// purchasesAt returns the results for each of sellerCounts. A scenario consists of a buyer's value and eight
// sellers' costs; with fewer sellers the first sellers take part. Shares are shares of the value.
func purchasesAt(decayBps uint16, scenarios int) (map[int]*purchases, error) {
	all := map[int]*purchases{}
	for _, count := range sellerCounts {
		all[count] = &purchases{}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range scenarios {
		value := 1_000_000 + random.Uint64N(4_000_000)
		var costs [onchain.MaxSellers]uint64
		for i := range costs {
			costs[i] = 500_000 + random.Uint64N(4_500_000)
		}
		seed := random.Uint64()
		for _, count := range sellerCounts {
			result, err := purchaseAt(decayBps, value, costs[:count], seed)
			if err != nil {
				return nil, err
			}
			p, share := all[count], func(units uint64) float64 { return float64(units) / float64(value) }
			gain, agreed := -share(result.Decay), 0.0
			if result.Seller >= 0 {
				agreed, gain = 1, gain+1-share(result.Price)
				p.prices = append(p.prices, share(result.Price))
			}
			p.agreed, p.gains = append(p.agreed, agreed), append(p.gains, gain)
			p.decays = append(p.decays, share(result.Decay))
		}
	}
	return all, nil
}

// purchaseAt simulates a purchase by the strategy linear on both sides. The escrow and the total limit equal
// the buyer's value, and the buyer opens at a fifth. If the escrow does not cover a seller's cost, the seller
// declines.
func purchaseAt(decayBps uint16, value uint64, costs []uint64, seed uint64) (onchain.PurchaseResult, error) {
	p := onchain.Purchase{
		Rules: onchain.Rules{
			Escrow: value, MaxRounds: protocol.DefaultMaxRounds, DecayRateBps: decayBps,
			MinOfferBps: protocol.DefaultMinOfferBps, FeeBps: protocol.DefaultProtocolFeeBps,
			ResponseWindow: protocol.DefaultResponseWindow, Deadline: protocol.MaxDeadlineSeconds,
		},
		Strategy: strategy.Linear(), Opening: value / 5, Reservation: value, MaxTotal: value,
	}
	var sellers []onchain.Player
	for _, cost := range costs {
		seller, err := p.Player(strategy.Linear(), onchain.Seller, value, cost)
		switch {
		case errors.Is(err, onchain.ErrUncovered):
		case err != nil:
			return onchain.PurchaseResult{}, err
		default:
			sellers = append(sellers, seller)
		}
	}
	if sellers == nil {
		return onchain.PurchaseResult{Seller: -1}, nil
	}
	return p.Run(seed, sellers)
}

func purchaseTable() (string, error) {
	table := report.NewTable("decay", "sellers", "deals", "price", "decay of all", "buyer's gain", "more than one-to-one")
	percent := func(share float64) string { return decimal(share*100, 1) + " %" }
	for _, decayBps := range []uint16{0, 50, protocol.DefaultDecayRateBps} {
		all, err := purchasesAt(decayBps, purchaseScenarios)
		if err != nil {
			return "", err
		}
		single := all[sellerCounts[0]]
		for _, count := range sellerCounts {
			p, more := all[count], "-"
			if count > 1 {
				differences := make([]float64, len(p.gains))
				for i := range differences {
					differences[i] = p.gains[i] - single.gains[i]
				}
				more = interval(differences)
			}
			table.Row(percent(float64(decayBps)/10_000), strconv.Itoa(count), percent(stat.Mean(p.agreed, nil)),
				percent(stat.Mean(p.prices, nil)), percent(stat.Mean(p.decays, nil)), percent(stat.Mean(p.gains, nil)), more)
		}
	}
	return table.String(), nil
}
