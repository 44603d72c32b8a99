package main

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// limitedStrategy is a strategy with prices in base units.
type limitedStrategy struct {
	name                 string
	opening, reservation uint64
}

func (l limitedStrategy) decide() func(context.Context, agent.Turn) (agent.Decision, error) {
	return agent.Player{
		Strategy: strategy.Named()[l.name], Opening: l.opening, Reservation: l.reservation,
	}.Decide
}

// play plays one side in a negotiation with the engine. The returned channel receives the result.
func (l limitedStrategy) play(t *testing.T, net *localnet.Net, side protocol.OfferSide, at solana.PublicKey) <-chan *agent.Result {
	t.Helper()
	// The highest total is the limit in the host policy, unless the reservation price is higher.
	key, limits := net.Buyer, agent.Limits{Decimals: localnet.Decimals, MaxTotal: max(l.reservation, 3_500_000)}
	config := agent.Config{Decide: l.decide(), Logger: slog.New(slog.DiscardHandler)}
	if side == protocol.OfferSideSeller {
		key = net.Seller
		limits = agent.Limits{Decimals: localnet.Decimals, MinPrice: l.reservation, SingleSourceUpTo: 9_000_000}
		config.Services = [][32]byte{protocol.ServiceHash("it")}
	}
	config.Mints = map[solana.PublicKey]agent.Limits{net.Mint: limits}
	runtime, err := agent.New(net.Client, key, config)
	require.NoError(t, err)
	ended := make(chan *agent.Result, 1)
	go func() {
		defer close(ended)
		result, err := runtime.RunOne(t.Context(), at)
		if err != nil {
			t.Logf("%s: %v", side, err)
		}
		ended <- result
	}()
	return ended
}

// follow carries out each suggestion for one side until the negotiation ends.
func (l limitedStrategy) follow(host mcpAgent, at func(map[string]any) map[string]any) {
	host.t.Helper()
	question := at(map[string]any{"strategy": l.name, "opening": fmt.Sprintf("%du", l.opening),
		"reservation": fmt.Sprintf("%du", l.reservation)})
	for {
		state := host.call("haggle_status", at(map[string]any{"wait_seconds": 20})).State
		if state == nil || state.Status == "settled" || state.Status == "rejected" {
			return
		}
		if !state.YourTurn {
			continue
		}
		if state.Status == "created" {
			host.confirmed("haggle_accept", at(map[string]any{"what": "invitation", "service": "it"}))
			continue
		}
		suggested := host.call("haggle_suggest", question).Suggestion
		switch suggested.Move {
		case "offer":
			host.confirmed("haggle_offer", at(map[string]any{"amount": suggested.Price.BaseUnits + "u", "round": state.Round + 1}))
		case "accept":
			host.confirmed("haggle_accept", at(map[string]any{"what": "offer", "price": suggested.Price.BaseUnits + "u",
				"round": state.Round}))
		default:
			host.confirmed("haggle_reject", at(map[string]any{"round": state.Round}))
		}
	}
}

// offersOf returns all offer prices in a negotiation.
func offersOf(t *testing.T, net *localnet.Net, at solana.PublicKey) (prices []uint64) {
	t.Helper()
	for envelope, err := range net.Client.History(t.Context(), at) {
		require.NoError(t, err)
		if offer, is := envelope.Event.(*protocol.OfferSubmitted); is {
			prices = append(prices, offer.Amount)
		}
	}
	return prices
}

// A host that follows each suggestion gets the result of the engine with the same strategy and limits against the same
// counterparty: the same offers, end and price.
func TestSuggestionsBargainAsWellAsTheEngine(t *testing.T) {
	net := startNet(t)
	hosts := map[protocol.OfferSide]mcpAgent{
		protocol.OfferSideBuyer:  startMCPAgent(t, net, net.Buyer, net.Chain.RPCURL()),
		protocol.OfferSideSeller: startMCPAgent(t, net, net.Seller, net.Chain.RPCURL()),
	}
	order := 0
	create := func(rounds uint8) solana.PublicKey {
		order++
		action, err := net.Client.CreateNegotiation(haggle.CreateRequest{
			Buyer: net.Buyer.PublicKey(), Seller: net.Seller.PublicKey(), Mint: net.Mint,
			Decimals: localnet.Decimals, EscrowAmount: 5_000_000, Key: fmt.Sprint("order ", order),
			ServiceHash: protocol.ServiceHash("it"), MaxRounds: rounds,
		}).Build(t.Context())
		require.NoError(t, err)
		_, err = action.Do(t.Context(), net.Buyer)
		require.NoError(t, err)
		return action.Negotiation
	}
	for name, c := range map[string]struct {
		host          protocol.OfferSide
		buyer, seller limitedStrategy
		rounds        uint8
		status        protocol.NegotiationStatus
	}{
		"buyer concedes": {protocol.OfferSideBuyer, limitedStrategy{"linear", 2_000_000, 3_500_000},
			limitedStrategy{"linear", 4_500_000, 3_000_000}, 6, protocol.NegotiationStatusSettled},
		"buyer with the default strategy": {protocol.OfferSideBuyer, limitedStrategy{"hybrid", 1_500_000, 3_500_000},
			limitedStrategy{"negmas-conceder", 3_600_000, 2_500_000}, 5, protocol.NegotiationStatusSettled},
		"no zone of agreement": {protocol.OfferSideBuyer, limitedStrategy{"linear", 1_000_000, 2_000_000},
			limitedStrategy{"linear", 4_500_000, 4_000_000}, 5, protocol.NegotiationStatusRejected},
		"seller": {protocol.OfferSideSeller, limitedStrategy{"linear", 2_500_000, 4_500_000},
			limitedStrategy{"hybrid", 4_500_000, 3_000_000}, 7, protocol.NegotiationStatusSettled},
	} {
		t.Run(name, func(t *testing.T) {
			other, own := c.seller, c.buyer
			if c.host == protocol.OfferSideSeller {
				other, own = own, other
			}
			var results [2]*agent.Result
			var offers [2][]uint64
			for i, suggested := range []bool{false, true} {
				at := create(c.rounds)
				ended := other.play(t, net, 1-c.host, at)
				if suggested {
					host := hosts[c.host]
					host.t = t
					own.follow(host, func(arguments map[string]any) map[string]any {
						return with(arguments, "negotiation", at.String())
					})
				} else {
					<-own.play(t, net, c.host, at)
				}
				results[i] = <-ended
				require.NotNil(t, results[i])
				offers[i] = offersOf(t, net, at)
			}
			require.Equal(t, c.status, results[0].Status)
			for _, r := range results {
				r.Negotiation, r.CreatedAt = solana.PublicKey{}, 0
			}
			require.Equal(t, results[0], results[1])
			require.NotEmpty(t, offers[0])
			require.Equal(t, offers[0], offers[1])
		})
	}
}
