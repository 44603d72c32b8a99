package policy_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// A transaction's cost is known exactly before signing.
func TestWhatIsCounted(t *testing.T) {
	lamports := solana.PublicKey{}
	t.Run("a negotiation", func(t *testing.T) {
		s := newStage(t)
		require.NoError(t, s.sign(unitLimit(20_000), unitPrice(1_000_001), s.create(friend, 1, 2_000_000)))
		// 20,000 units at 1.000001 lamports are 20,000.02, rounded up by the chain
		require.EqualValues(t, 5_000+20_001+6_493_680, s.policy.Used(lamports))
		require.EqualValues(t, 2_000_000, s.policy.Used(mint))
		address := s.negotiation(s.wallet(), friend, 1)
		require.EqualValues(t, 2_000_000, s.policy.UsedOn(address, mint))
		require.EqualValues(t, 6_493_680, s.policy.UsedOn(address, lamports))
		require.EqualValues(t, 2_000_000, s.policy.UsedWith(friend, mint))
		require.Zero(t, s.policy.UsedWith(friend, lamports), "the rent comes back to the buyer")
	})
	t.Run("a price without a compute limit", func(t *testing.T) {
		s := newStage(t)
		require.NoError(t, s.sign(unitPrice(1_000_000), s.createAssociated(s.wallet(), s.wallet(), mint)))
		require.EqualValues(t, 5_000+2*200_000+2_039_280, s.policy.Used(lamports))
	})
	t.Run("a bond", func(t *testing.T) {
		s := newStage(t)
		address, terms := s.invitation(7, 250_000)
		s.config.Negotiations = chain{address: terms.Encode()}
		s.restart()
		require.NoError(t, s.sign(s.join(address, terms)))
		require.EqualValues(t, 250_000, s.policy.Used(mint))
		require.EqualValues(t, 250_000, s.policy.UsedWith(friend, mint))
		require.EqualValues(t, 5_000, s.policy.Used(lamports))
	})
	t.Run("another one's token account", func(t *testing.T) {
		s := newStage(t)
		require.NoError(t, s.sign(s.createAssociated(s.wallet(), friend, mint)))
		require.EqualValues(t, 2_039_280, s.policy.UsedWith(friend, lamports), "who owns it can close it and keep the rent")
	})
	t.Run("the treasury's token account", func(t *testing.T) {
		s := newStage(t, func(c *policy.Config) { c.Counterparties = []solana.PublicKey{} })
		closing := &protocol.CloseNegotiation{
			Closer: s.wallet(), Negotiation: s.negotiation(s.wallet(), friend, 1), Buyer: s.wallet(), TokenMint: mint,
			TreasuryTokenAccount: s.associated(thief, mint), TokenProgram: solana.TokenProgramID,
		}
		require.NoError(t, s.sign(s.createAssociated(s.wallet(), thief, mint), s.build(closing)), "the program sees to it that it is the treasury's")
		require.EqualValues(t, 5_000+2_039_280, s.policy.Used(lamports))
	})
	t.Run("nothing but a signature where somebody else pays", func(t *testing.T) {
		s := newStage(t)
		address := s.negotiation(s.wallet(), friend, 1)
		require.NoError(t, s.sign(s.create(friend, 1, 1_000_000)))
		before := s.policy.Used(lamports)
		require.NoError(t, s.signMessage(s.messageFor(friend, unitPrice(1_000_000), s.offer(address, 0, 500_000))))
		require.Equal(t, before, s.policy.Used(lamports))
	})
	t.Run("wrapping, spending and unwrapping", func(t *testing.T) {
		rents := map[solana.PublicKey]uint64{solana.WrappedSol: 2_039_280, token.WrappedSOL2022: 2_248_080}
		for native, rent := range rents {
			s := newStage(t, wrappedSOL)
			s.config.Tokens[native] = s.config.Tokens[solana.WrappedSol]
			s.restart()
			wrapping, err := token.WrapSOL(s.wallet(), native, 1_000_000)
			require.NoError(t, err)
			unwrapping, err := token.UnwrapSOL(s.wallet(), native)
			require.NoError(t, err)
			program, _ := token.WrappedSOLProgram(native)
			own, err := token.AssociatedAddress(s.wallet(), native, program)
			require.NoError(t, err)
			creation := s.creation(friend, 1, 1_000_000)
			creation.TokenMint, creation.BuyerTokenAccount, creation.TokenProgram = native, own, program
			require.NoError(t, s.sign(append(wrapping, s.build(creation), unwrapping)...))
			require.EqualValues(t, 5_000+rent+6_493_680, s.policy.Used(lamports), "what is wrapped is still the wallet's")
			require.EqualValues(t, 1_000_000, s.policy.Used(native), "what is deposited is not")
		}
	})
}

// Each limit allows exactly the configured amount, but no unit more.
func TestLimits(t *testing.T) {
	other := solana.MustPublicKeyFromBase58("CrRH7yUPvnj9wNXN8SWwDTxeZy4EZGEZ3F7bv6pMQJbm")
	t.Run("per transaction", func(t *testing.T) {
		s := newStage(t)
		denial := s.denied(policy.RulePerTransaction, s.create(friend, 1, mostPerTransaction+1))
		require.EqualValues(t, mostPerTransaction, denial.Limit)
		require.EqualValues(t, mostPerTransaction+1, denial.Requested)
		require.Equal(t, mint, denial.Mint)
		require.Equal(t, "haggle.create_negotiation", denial.Name)
		require.NoError(t, s.sign(s.create(friend, 1, mostPerTransaction)))
	})
	t.Run("per negotiation", func(t *testing.T) {
		s := newStage(t)
		require.NoError(t, s.sign(s.create(friend, 1, 4_000_000)))
		denial := s.denied(policy.RulePerNegotiation, s.create(friend, 1, 2_000_001))
		require.EqualValues(t, 4_000_000, denial.Used)
		require.Equal(t, s.negotiation(s.wallet(), friend, 1), denial.Subject)
		require.NoError(t, s.sign(s.create(friend, 1, 2_000_000)))
	})
	t.Run("per counterparty", func(t *testing.T) {
		s := newStage(t)
		require.NoError(t, s.sign(s.create(friend, 1, 5_000_000)))
		denial := s.denied(policy.RulePerCounterparty, s.create(friend, 2, 3_000_001))
		require.Equal(t, friend, denial.Subject)
		require.NoError(t, s.sign(s.create(friend, 2, 3_000_000)))
		require.NoError(t, s.sign(s.create(other, 2, 1)), "another counterparty has its own")
	})
	t.Run("per day", func(t *testing.T) {
		s := newStage(t)
		require.NoError(t, s.sign(s.create(friend, 1, 5_000_000)))
		require.NoError(t, s.sign(s.create(other, 1, 5_000_000)))
		denial := s.denied(policy.RulePerDay, s.create(thief, 1, 2_000_001))
		require.EqualValues(t, 10_000_000, denial.Used)
		require.NoError(t, s.sign(s.create(thief, 1, 2_000_000)))
	})
	t.Run("zero allows nothing", func(t *testing.T) {
		s := newStage(t, func(c *policy.Config) { c.Lamports.PerDay = 0 })
		s.denied(policy.RulePerDay, s.create(friend, 1, 1))
	})
}

// A day is a UTC day. It ends at midnight, and setting the clock back does not begin it anew.
func TestDay(t *testing.T) {
	s := newStage(t)
	s.now = time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)
	other := solana.MustPublicKeyFromBase58("CrRH7yUPvnj9wNXN8SWwDTxeZy4EZGEZ3F7bv6pMQJbm")
	spend := func(session uint64) error { return s.sign(s.create(other, session, 4_000_000)) }
	s.config.Tokens[mint] = policy.TokenLimits{Limits: policy.Limits{
		PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: 5_000_000,
	}, MaxTotal: policy.Unlimited}
	s.config.Lamports.PerDay = policy.Unlimited
	s.restart()
	require.NoError(t, spend(1))
	require.ErrorIs(t, spend(2), policy.ErrDenied)
	s.now = s.now.Add(time.Second)
	require.Zero(t, s.policy.Used(mint))
	require.NoError(t, spend(3), "a new day")
	require.ErrorIs(t, spend(4), policy.ErrDenied)
	s.now = s.now.Add(-48 * time.Hour)
	require.ErrorIs(t, spend(5), policy.ErrDenied, "the clock has been set back")
	s.restart()
	require.ErrorIs(t, spend(6), policy.ErrDenied, "and the policy restarted")
	require.EqualValues(t, 4_000_000, s.policy.Used(mint))
	s.now = s.now.Add(72 * time.Hour)
	require.NoError(t, spend(7))
}

// The same message is executed at most once, however often it is signed.
func TestSameMessageCountsOnce(t *testing.T) {
	s := newStage(t)
	message := s.message(s.create(friend, 1, 4_000_000))
	require.NoError(t, s.signMessage(message))
	require.NoError(t, s.signMessage(message))
	s.restart()
	require.NoError(t, s.signMessage(message))
	require.EqualValues(t, 4_000_000, s.policy.Used(mint))
	require.EqualValues(t, 5_000+6_493_680, s.policy.Used(solana.PublicKey{}))
}

// Of many concurrent requests, only as many are signed as fit the limit.
func TestConcurrentSigning(t *testing.T) {
	s := newStage(t, func(c *policy.Config) {
		c.Lamports = policy.Limits{PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: policy.Unlimited}
		c.Tokens[mint] = policy.TokenLimits{Limits: policy.Limits{PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: 10}}
	})
	var messages [][]byte
	for session := range uint64(100) {
		messages = append(messages, s.message(s.create(friend, session, 1)))
	}
	var signed sync.Map
	var group sync.WaitGroup
	for i, message := range messages {
		group.Go(func() {
			if _, err := s.policy.SignMessage(context.Background(), message); err == nil {
				signed.Store(i, true)
			} else if !errors.Is(err, policy.ErrDenied) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	count := 0
	signed.Range(func(any, any) bool { count++; return true })
	require.Equal(t, 10, count)
	require.EqualValues(t, 10, s.policy.Used(mint))
}

// The limits are checked again after all approvals: an approval takes time.
func TestConcurrentApproval(t *testing.T) {
	const agents = 10
	var waiting sync.WaitGroup
	waiting.Add(agents)
	s := newStage(t, func(c *policy.Config) {
		c.Approve = func(context.Context, *policy.Request) error {
			waiting.Done()
			waiting.Wait()
			return nil
		}
		c.Lamports.PerTransaction, c.Lamports.PerDay = policy.Unlimited, policy.Unlimited
	})
	var signed atomic.Int64
	var group sync.WaitGroup
	for session := range uint64(agents) {
		message := s.message(s.create(friend, session, mostPerTransaction))
		group.Go(func() {
			if _, err := s.policy.SignMessage(context.Background(), message); err == nil {
				signed.Add(1)
			} else if !errors.Is(err, policy.ErrDenied) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 1, signed.Load(), "two would be more than one counterparty may get")
	require.EqualValues(t, mostPerTransaction, s.policy.Used(mint))
}

// Messages that depend on a negotiation are signed only if the terms are known.
func TestNegotiationsHaveToBeKnown(t *testing.T) {
	t.Run("as its buyer", func(t *testing.T) {
		s := newStage(t)
		address := s.negotiation(s.wallet(), friend, 1)
		s.denied(policy.RuleNegotiation, s.offer(address, 0, 1_000_000))
		require.NoError(t, s.sign(s.create(friend, 1, 3_000_000)))
		require.NoError(t, s.sign(s.offer(address, 0, 1_000_000)), "it has been created through the policy")
		s.restart()
		require.NoError(t, s.sign(s.accept(address, s.wallet(), friend, 2, 1_000_000)))
	})
	t.Run("as an invited seller", func(t *testing.T) {
		s := newStage(t)
		address, terms := s.invitation(1, 100)
		s.denied(policy.RuleNegotiation, s.join(address, terms))
		other := *terms
		other.BondRequired = 50
		s.config.Negotiations = chain{address: other.Encode()}
		s.restart()
		s.denied(policy.RuleNegotiation, s.join(address, terms)) // the node returns another bond than the transaction accepts
		s.config.Negotiations = chain{address: terms.Encode()}
		s.restart()
		require.NoError(t, s.sign(s.join(address, terms)))
		require.NoError(t, s.sign(s.offer(address, 1, 1_000_000)))
	})
	t.Run("as the chain has it", func(t *testing.T) {
		s := newStage(t)
		address, n := s.invitation(1, 0)
		n.Status, n.CurrentRound, n.CurrentOfferBy, n.CurrentOfferAmount = protocol.NegotiationStatusProposed, 1, friend, 900_000
		s.config.Negotiations = chain{address: n.Encode()}
		s.restart()
		s.denied(policy.RuleNegotiation, s.offer(address, 3, 1_000_000))
		require.NoError(t, s.sign(s.offer(address, 1, 1_000_000)))
		s.denied(policy.RuleNegotiation, s.accept(address, friend, s.wallet(), 1, 900_001))
		other := *n
		other.Metadata[0] = 1
		s.config.Negotiations = chain{address: other.Encode()}
		s.restart()
		s.denied(policy.RuleNegotiation, s.accept(address, friend, s.wallet(), 1, 900_000))
		s.config.Negotiations = chain{address: n.Encode()}
		s.restart()
		require.NoError(t, s.sign(s.accept(address, friend, s.wallet(), 1, 900_000)))
	})
	t.Run("not as somebody makes it up", func(t *testing.T) {
		s := newStage(t)
		address, n := s.invitation(1, 0)
		n.Buyer = thief // which derives another address
		s.config.Negotiations = chain{address: n.Encode()}
		s.restart()
		s.denied(policy.RuleNegotiation, s.offer(address, 0, 1_000_000))
		s.config.Negotiations = chain{address: []byte("garbage")}
		s.restart()
		s.denied(policy.RuleNegotiation, s.offer(address, 0, 1_000_000))
	})
	t.Run("not in another mint than before", func(t *testing.T) {
		s := newStage(t, func(c *policy.Config) { c.Tokens[otherMint] = c.Tokens[mint] })
		require.NoError(t, s.sign(s.create(friend, 1, 1_000_000)))
		again := s.creation(friend, 1, 1_000_000)
		again.TokenMint = otherMint
		s.denied(policy.RuleNegotiation, s.build(again))
	})
	t.Run("not in another mint than it is in", func(t *testing.T) {
		s := newStage(t, func(c *policy.Config) { c.Tokens[otherMint] = c.Tokens[mint] })
		require.NoError(t, s.sign(s.create(friend, 1, 1_000_000)))
		s.denied(policy.RuleNegotiation, s.build(&protocol.AcceptOffer{
			Acceptor: s.wallet(), Negotiation: s.negotiation(s.wallet(), friend, 1), BuyerTokenAccount: s.associated(s.wallet(), otherMint),
			SellerTokenAccount: s.associated(friend, otherMint), TokenMint: otherMint, TokenProgram: solana.TokenProgramID, ExpectedAmount: 1,
		}))
	})
	t.Run("not with somebody who is not allowed any more", func(t *testing.T) {
		s := newStage(t)
		require.NoError(t, s.sign(s.create(friend, 1, 1_000_000)))
		s.config.Counterparties = []solana.PublicKey{thief}
		s.restart()
		s.denied(policy.RuleCounterparty, s.offer(s.negotiation(s.wallet(), friend, 1), 0, 1))
	})
	t.Run("not as somebody else who is invited", func(t *testing.T) {
		s := newStage(t)
		_, terms := s.invitation(1, 0)
		terms.Seller = thief
		address := s.negotiation(friend, thief, 1)
		s.config.Negotiations = chain{address: terms.Encode()}
		s.restart()
		s.denied(policy.RuleNegotiation, s.join(address, terms))
	})
	t.Run("not as a stranger", func(t *testing.T) {
		s := newStage(t)
		_, n := s.invitation(1, 0)
		n.Seller = thief
		address := s.negotiation(friend, thief, 1)
		s.config.Negotiations = chain{address: n.Encode()}
		s.restart()
		s.denied(policy.RuleNegotiation, s.offer(address, 0, 1))
	})
}

// A buyer does not pay more, and a seller does not sell for less, than the policy allows, however they agree
// to a price.
func TestPrices(t *testing.T) {
	prices := func(c *policy.Config) {
		limits := c.Tokens[mint]
		limits.MaxTotal, limits.MinPrice = 2_000_000, 1_000_000
		c.Tokens[mint] = limits
	}
	agreements := map[string]func(s *stage, address, buyer, seller solana.PublicKey, amount uint64) solana.Instruction{
		"offer": func(s *stage, address, _, _ solana.PublicKey, amount uint64) solana.Instruction {
			return s.offer(address, 1, amount)
		},
		"acceptance": func(s *stage, address, buyer, seller solana.PublicKey, amount uint64) solana.Instruction {
			return s.accept(address, buyer, seller, 1, amount)
		},
		"reservation price": func(s *stage, address, _, _ solana.PublicKey, amount uint64) solana.Instruction {
			return s.build(&protocol.RevealZopaPrice{Agent: s.wallet(), Negotiation: address, Price: amount})
		},
	}
	for name, agreement := range agreements {
		t.Run("a buyer's "+name, func(t *testing.T) {
			s := newStage(t, prices)
			require.NoError(t, s.sign(s.create(friend, 1, 3_000_000)))
			address := s.negotiation(s.wallet(), friend, 1)
			denial := s.denied(policy.RuleMaxTotal, agreement(s, address, s.wallet(), friend, 2_000_001))
			require.EqualValues(t, 2_000_000, denial.Limit)
			require.NoError(t, s.sign(agreement(s, address, s.wallet(), friend, 2_000_000)))
			require.NoError(t, s.sign(agreement(s, address, s.wallet(), friend, 1)), "a buyer may buy cheap")
		})
		t.Run("a seller's "+name, func(t *testing.T) {
			s := newStage(t, prices)
			address, terms := s.invitation(1, 0)
			s.config.Negotiations = chain{address: terms.Encode()}
			s.restart()
			require.NoError(t, s.sign(s.join(address, terms)))
			denial := s.denied(policy.RuleMinPrice, agreement(s, address, friend, s.wallet(), 999_999))
			require.EqualValues(t, 1_000_000, denial.Limit)
			require.NoError(t, s.sign(agreement(s, address, friend, s.wallet(), 1_000_000)))
			require.NoError(t, s.sign(agreement(s, address, friend, s.wallet(), 3_000_000)), "a seller may sell dear")
		})
	}
	t.Run("a buyer in a negotiation that was not created through the policy", func(t *testing.T) {
		s := newStage(t)
		n := &protocol.Negotiation{Buyer: s.wallet(), Seller: friend, SessionID: 1, TokenMint: mint, Version: protocol.NegotiationVersion}
		address := s.negotiation(s.wallet(), friend, 1)
		s.config.Negotiations = chain{address: n.Encode()}
		s.restart()
		s.denied(policy.RulePerNegotiation, s.offer(address, 0, mostPerNegotiation+1))
		require.NoError(t, s.sign(s.offer(address, 0, mostPerNegotiation)))
	})
}
