// Package simulation_test compares simulations of package bargain with the reference model of the program.
package simulation_test

import (
	"encoding/binary"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// chain is the model of the program with one negotiation that the seller has joined.
type chain struct {
	*model.Environment
	t           *rapid.T
	parties     [2]model.Address
	tokens      [2]model.Address
	negotiation model.Address
	mint        model.Address
}

// newChain creates a negotiation at time 0, and counts the deadline from there. It lets the seller join.
func newChain(t *rapid.T, rules onchain.Rules, joined int64) *chain {
	c := &chain{t: t, parties: [2]model.Address{{1}, {2}}, mint: model.Address{5}}
	mint := make([]byte, 82)
	mint[45] = 1
	config := &model.Config{
		Authority: model.Address{9}, Treasury: model.Address{8}, DefaultProtocolFeeBps: rules.FeeBps,
	}
	c.Environment = &model.Environment{Rent: model.Rent{Empty: 10, PerByte: 1}, Accounts: map[model.Address]model.Account{
		c.parties[0]:          {Lamports: 1_000_000},
		model.ConfigAddress(): {Lamports: 1, Owner: model.ProgramID, Data: config.Bytes()},
		c.mint:                {Lamports: 1, Owner: solana.TokenProgramID, Data: mint},
	}}
	for side, party := range c.parties {
		c.tokens[side] = model.AssociatedAddress(party, solana.TokenProgramID, c.mint)
		data := make([]byte, 165)
		copy(data, c.mint[:])
		copy(data[32:], party[:])
		data[108] = 1
		if side == 0 {
			binary.LittleEndian.PutUint64(data[64:], rules.Escrow)
		}
		c.Accounts[c.tokens[side]] = model.Account{Lamports: 1, Owner: solana.TokenProgramID, Data: data}
	}
	c.negotiation = model.NegotiationAddress(c.parties[0], c.parties[1], 7)
	vault := model.VaultAddress(c.negotiation)
	require.Equal(t, model.Success, c.execute(&model.CreateNegotiation{
		Buyer: c.parties[0], Seller: c.parties[1], Negotiation: c.negotiation, EscrowVault: vault,
		BuyerTokenAccount: c.tokens[0], TokenMint: c.mint, Config: model.ConfigAddress(),
		TokenProgram: solana.TokenProgramID, SystemProgram: solana.SystemProgramID, SessionID: 7,
		Params: model.NegotiationParams{
			EscrowAmount: rules.Escrow, MaxRounds: rules.MaxRounds, DecayRateBps: rules.DecayRateBps,
			ResponseWindow: rules.ResponseWindow, GlobalDeadline: rules.Deadline,
			MinOfferBps: rules.MinOfferBps, MaxFeeBps: rules.FeeBps,
		},
	}))
	c.Now = joined
	require.Equal(t, model.Success, c.execute(&model.AcceptInvitation{
		Seller: c.parties[1], Negotiation: c.negotiation, EscrowVault: vault, SellerTokenAccount: c.tokens[1],
		TokenMint: c.mint, TokenProgram: solana.TokenProgramID, TermsHash: c.state().TermsHash(c.negotiation),
	}))
	return c
}

func (c *chain) execute(instruction model.AnyInstruction) model.Code {
	result := model.Execute(c.Environment, model.Encode(instruction))
	c.Apply(result)
	return result.Code
}

func (c *chain) state() *model.Negotiation {
	n, ok := model.ReadNegotiation(c.Accounts[c.negotiation].Data)
	require.True(c.t, ok)
	return n
}

func (c *chain) balance(side int) uint64 {
	account, _ := model.ReadTokenAccount(c.Accounts[c.tokens[side]])
	return account.Amount
}

func (c *chain) offer(side int, amount uint64) model.Code {
	return c.execute(&model.SubmitOffer{
		Offerer: c.parties[side], Negotiation: c.negotiation, ExpectedRound: c.state().CurrentRound, Amount: amount,
	})
}

func (c *chain) accept(side int) model.Code {
	n := c.state()
	return c.execute(&model.AcceptOffer{
		Acceptor: c.parties[side], Negotiation: c.negotiation, EscrowVault: model.VaultAddress(c.negotiation),
		BuyerTokenAccount: c.tokens[0], SellerTokenAccount: c.tokens[1], TokenMint: c.mint,
		TokenProgram: solana.TokenProgramID, ExpectedRound: n.CurrentRound, ExpectedAmount: n.CurrentOfferAmount,
	})
}

func (c *chain) reject(side int) model.Code {
	return c.execute(&model.RejectNegotiation{
		Rejector: c.parties[side], Negotiation: c.negotiation, EscrowVault: model.VaultAddress(c.negotiation),
		BuyerTokenAccount: c.tokens[0], SellerTokenAccount: c.tokens[1], TokenMint: c.mint,
		TokenProgram: solana.TokenProgramID, ExpectedRound: c.state().CurrentRound,
	})
}

func (c *chain) expire() model.Code {
	return c.execute(&model.ExpireNegotiation{
		Negotiation: c.negotiation, EscrowVault: model.VaultAddress(c.negotiation),
		BuyerTokenAccount: c.tokens[0], SellerTokenAccount: c.tokens[1], TokenMint: c.mint,
		TokenProgram: solana.TokenProgramID,
	})
}

func drawRules(t *rapid.T) onchain.Rules {
	window := rapid.Int64Range(60, 3_600).Draw(t, "window")
	return onchain.Rules{
		Escrow:       rapid.Uint64Range(100_000, 1<<40).Draw(t, "escrow"),
		MaxRounds:    uint8(rapid.IntRange(1, 20).Draw(t, "rounds")),
		DecayRateBps: uint16(rapid.IntRange(0, 1_000).Draw(t, "decay")),
		MinOfferBps:  uint16(rapid.IntRange(100, 5_000).Draw(t, "min offer")),
		FeeBps:       uint16(rapid.IntRange(0, 500).Draw(t, "fee")), ResponseWindow: window,
		Deadline: rapid.Int64Range(3_600, 86_400).Draw(t, "deadline"),
	}
}

func drawPlayer(t *rapid.T, rules onchain.Rules, side protocol.OfferSide) onchain.Player {
	domain, err := onchain.Domain(rules.Escrow)
	require.NoError(t, err)
	opening := rapid.Uint64Range(0, rules.Escrow).Draw(t, "opening")
	reservation := rapid.Uint64Range(0, rules.Escrow).Draw(t, "reservation")
	preferences, utility, err := onchain.Preferences(domain, side, opening, reservation)
	require.NoError(t, err)
	return onchain.Player{
		Opening: utility,
		Strategy: rapid.SampledFrom([]bargain.Strategy{
			strategy.GeniusLinear(), strategy.NegmasBoulware(), strategy.GeniusConceder(), strategy.Hardliner(), strategy.Random(),
			strategy.MiCRO(), strategy.CAR(),
		}).Draw(t, "strategy"),
		Preferences: preferences, Delay: rapid.Int64Range(0, 200).Draw(t, "delay"),
	}
}

// TestSimulationPredictsTheProgram plays simulated sessions on the model of the program: each offer, the end
// and all amounts must be the same, however late the seller joins.
func TestSimulationPredictsTheProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		created := drawRules(t)
		joined := rapid.Int64Range(0, created.Deadline-1).Draw(t, "joined")
		c := newChain(t, created, joined)
		account := c.state()
		rules := onchain.RulesOf(&protocol.Negotiation{
			EscrowAmount: account.EscrowAmount, MaxRounds: account.MaxRounds, DecayRateBps: account.DecayRateBps,
			MinOfferBps: account.MinOfferBps, ProtocolFeeBps: account.ProtocolFeeBps,
			ResponseWindow: account.ResponseWindow, CreatedAt: account.CreatedAt,
			GlobalDeadline: account.GlobalDeadline,
		}, joined)
		players := [2]onchain.Player{drawPlayer(t, rules, 0), drawPlayer(t, rules, 1)}
		result, err := rules.Run(3, players[0], players[1])
		require.NoError(t, err)
		side := 0
		for _, offer := range result.History {
			c.Now += players[side].Delay
			require.Equal(t, side, offer.By)
			amount := players[side].Preferences.Domain().Issue(0).Amount(uint64(offer.Outcome))
			require.Equal(t, model.Success, c.offer(side, amount))
			side = 1 - side
		}
		c.Now += players[side].Delay
		require.Equal(t, joined+result.Seconds, c.Now)
		n := c.state()
		require.Equal(t, result.Rounds, n.CurrentRound)
		want := result.Settlement
		require.Equal(t, want.Decay, n.EscrowAmount-n.EffectiveEscrow)
		switch result.Ending {
		case bargain.EndingAgreement:
			require.Equal(t, want.Price, n.CurrentOfferAmount)
			require.Equal(t, model.Success, c.accept(side))
		case bargain.EndingLeft:
			require.Equal(t, model.Success, c.reject(side))
		case bargain.EndingDeadline:
			require.NotEqual(t, model.Success, c.reject(side))
			require.Equal(t, model.Success, c.expire())
		default:
			t.Fatalf("the session ended: %s", result.Ending)
		}
		require.Equal(t, want.Refund, c.balance(0))
		require.Equal(t, want.ToSeller, c.balance(1))
		require.Equal(t, rules.Escrow, want.ToSeller+want.Fee+want.Decay+want.Refund)
		if result.Ending == bargain.EndingAgreement {
			for side, player := range players {
				require.True(t, player.Preferences.IsRational(result.Agreement), "side %d", side)
			}
		}
	})
}

// TestMovesFollowFromTheHistory checks that replaying the offers alone yields a player's moves.
func TestMovesFollowFromTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(t)
		players := [2]onchain.Player{drawPlayer(t, rules, 0), drawPlayer(t, rules, 1)}
		result, err := rules.Run(3, players[0], players[1])
		require.NoError(t, err)
		n := &protocol.Negotiation{
			Status: protocol.NegotiationStatusProposed, EscrowAmount: rules.Escrow, EffectiveEscrow: rules.Escrow,
			MaxRounds: rules.MaxRounds, DecayRateBps: rules.DecayRateBps, MinOfferBps: rules.MinOfferBps,
			ProtocolFeeBps: rules.FeeBps, ResponseWindow: rules.ResponseWindow, GlobalDeadline: rules.Deadline,
		}
		var offers []onchain.Offer
		for _, offer := range result.History {
			side := protocol.OfferSide(offer.By)
			action := players[side].Respond(n, side, offers, 3)
			require.Equal(t, bargain.MoveOffer, action.Move)
			require.Equal(t, offer.Outcome, action.Outcome)
			amount := players[side].Preferences.Domain().Issue(0).Amount(uint64(offer.Outcome))
			onchain.Apply(n, side, amount, 0)
			offers = append(offers, onchain.Offer{Side: side, Amount: amount})
		}
	})
}

// unchanged is a strategy whose offers are made unmodified, even if they cost more than they can gain.
type unchanged struct{ bargain.Strategy }

func (unchanged) Informed() {}

func TestTheDecayOfTheSpecification(t *testing.T) {
	rules := onchain.Rules{
		Escrow: 5_000_000, MaxRounds: 6, DecayRateBps: 200, FeeBps: 50, ResponseWindow: 300, Deadline: 3_600,
	}
	domain, err := onchain.Domain(rules.Escrow)
	require.NoError(t, err)
	player := func(side protocol.OfferSide, opening, reservation uint64) onchain.Player {
		preferences, utility, err := onchain.Preferences(domain, side, opening, reservation)
		require.NoError(t, err)
		return onchain.Player{Preferences: preferences, Opening: utility, Strategy: unchanged{strategy.Linear()}}
	}
	result, err := rules.Run(1, player(0, 2_000_000, 2_900_000), player(1, 4_400_000, 3_000_000))
	require.NoError(t, err)
	var amounts []bargain.Outcome
	for _, offer := range result.History {
		amounts = append(amounts, offer.Outcome)
	}
	require.Equal(t, []bargain.Outcome{2_000_000, 4_400_000, 2_450_000, 3_700_000, 2_900_000, 3_000_000}, amounts)
	require.Equal(t, bargain.EndingLeft, result.Ending)
	require.Equal(t, uint64(570_788), result.Settlement.Decay)
	require.Equal(t, uint64(4_429_212), result.Settlement.Refund)

	result, err = rules.Run(1, player(0, 2_000_000, 3_000_000), player(1, 4_400_000, 3_000_000))
	require.NoError(t, err)
	require.Equal(t, onchain.Settlement{
		Price: 3_000_000, Fee: 15_000, ToSeller: 2_985_000, Decay: 480_396, Refund: 1_519_604,
	}, result.Settlement)
}

func TestDomainsOfLargeEscrows(t *testing.T) {
	for _, escrow := range []uint64{1, 1_000_000_000_000 - 1, 1_000_000_000_000, 1<<64 - 1} {
		domain, err := onchain.Domain(escrow)
		require.NoError(t, err)
		require.LessOrEqual(t, domain.Size(), uint64(fixed.One))
	}
}
