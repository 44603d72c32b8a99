package policy_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// An attacker who controls the agent's messages obtains no money: each of these is denied.
func TestThief(t *testing.T) {
	u64 := func(value uint64) []byte { return binary.LittleEndian.AppendUint64(nil, value) }
	everything := allowing(policy.TransferLamports, policy.TransferTokens, policy.CreateNonce, policy.StartNonce, policy.AdvanceNonce, policy.WithdrawNonce)
	own := func(s *stage) solana.PublicKey { return s.associated(s.wallet(), mint) }
	nonce := solana.MustPublicKeyFromBase58("CrRH7yUPvnj9wNXN8SWwDTxeZy4EZGEZ3F7bv6pMQJbm")
	withdraw := func(s *stage, to solana.PublicKey) solana.Instruction {
		return system(5, u64(1), solana.Meta(nonce).WRITE(), solana.Meta(to).WRITE(), solana.Meta(solana.SysVarRecentBlockHashesPubkey),
			solana.Meta(solana.SysVarRentPubkey), solana.Meta(s.wallet()).SIGNER())
	}
	createNonce := func(s *stage, owner solana.PublicKey, space uint64) solana.Instruction {
		return system(0, append(append(u64(1_447_680), u64(space)...), owner[:]...), solana.Meta(s.wallet()).SIGNER().WRITE(), solana.Meta(nonce).SIGNER().WRITE())
	}
	startNonce := func(authority solana.PublicKey) solana.Instruction {
		return system(6, authority[:], solana.Meta(nonce).WRITE(), solana.Meta(solana.SysVarRecentBlockHashesPubkey), solana.Meta(solana.SysVarRentPubkey))
	}
	cases := map[string]struct {
		rule   policy.Rule
		change func(*policy.Config)
		steal  func(s *stage) []solana.Instruction
	}{
		"sends all lamports away": {rule: policy.RuleInstruction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{transferLamports(s.wallet(), thief, oneSOL)}
		}},
		"sends more lamports away than transfers may": {rule: policy.RulePerTransaction, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{transferLamports(s.wallet(), thief, oneSOL)}
		}},
		"hides a transfer behind an offer": {rule: policy.RuleInstruction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.create(friend, 1, 1_000_000), transferLamports(s.wallet(), thief, 1)}
		}},
		"splits a transfer into many": {rule: policy.RulePerTransaction, change: everything, steal: func(s *stage) []solana.Instruction {
			var many []solana.Instruction
			for range 11 {
				many = append(many, transferLamports(s.wallet(), thief, oneSOL/100))
			}
			return many
		}},
		"sends tokens away": {rule: policy.RuleInstruction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{transferTokens(own(s), mint, thief, s.wallet(), 1)}
		}},
		"sends too many tokens away": {rule: policy.RulePerTransaction, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{transferTokens(own(s), mint, thief, s.wallet(), mostPerTransaction+1)}
		}},
		"sends tokens of another mint away": {rule: policy.RuleMint, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{transferTokens(own(s), otherMint, thief, s.wallet(), 1)}
		}},
		"sends tokens away without saying of which mint": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{tokenInstruction(append([]byte{3}, u64(1)...), solana.Meta(own(s)).WRITE(), solana.Meta(thief).WRITE(), solana.Meta(s.wallet()).SIGNER())}
		}},
		"sends tokens away as one of several signers": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{tokenInstruction(append([]byte{12}, append(u64(1), 6)...), solana.Meta(own(s)).WRITE(), solana.Meta(mint), solana.Meta(thief).WRITE(), solana.Meta(nonce), solana.Meta(s.wallet()).SIGNER())}
		}},
		"becomes a delegate": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{tokenInstruction(append([]byte{4}, u64(math.MaxUint64)...), solana.Meta(own(s)).WRITE(), solana.Meta(thief), solana.Meta(s.wallet()).SIGNER())}
		}},
		"becomes a delegate, checked": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{tokenInstruction(append([]byte{13}, append(u64(1), 6)...), solana.Meta(own(s)).WRITE(), solana.Meta(mint), solana.Meta(thief), solana.Meta(s.wallet()).SIGNER())}
		}},
		"becomes the owner": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{tokenInstruction(append([]byte{6, 2, 1}, thief[:]...), solana.Meta(own(s)).WRITE(), solana.Meta(s.wallet()).SIGNER())}
		}},
		"burns tokens": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{tokenInstruction(append([]byte{8}, u64(1)...), solana.Meta(own(s)).WRITE(), solana.Meta(mint).WRITE(), solana.Meta(s.wallet()).SIGNER())}
		}},
		"closes an account into its own": {rule: policy.RuleDestination, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{closeAccount(own(s), thief, s.wallet())}
		}},
		"has rent paid for its account": {rule: policy.RuleCounterparty, change: func(c *policy.Config) { c.Counterparties = []solana.PublicKey{friend} }, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.createAssociated(s.wallet(), thief, mint)}
		}},
		"drains rent into many accounts": {rule: policy.RulePerTransaction, change: func(c *policy.Config) { c.Lamports.PerTransaction = 4_000_000 }, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.createAssociated(s.wallet(), friend, mint), s.createAssociated(s.wallet(), thief, mint)}
		}},
		"drains rent into accounts of worthless mints": {rule: policy.RuleMint, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.createAssociated(s.wallet(), thief, otherMint)}
		}},
		"makes the transaction one that never expires": {rule: policy.RuleInstruction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{system(4, nil, solana.Meta(nonce).WRITE(), solana.Meta(solana.SysVarRecentBlockHashesPubkey), solana.Meta(s.wallet()).SIGNER())}
		}},
		"takes what a nonce account has": {rule: policy.RuleDestination, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{withdraw(s, thief)}
		}},
		"becomes a nonce account's authority": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{system(7, thief[:], solana.Meta(nonce).WRITE(), solana.Meta(s.wallet()).SIGNER())}
		}},
		"has a nonce account made for itself": {rule: policy.RuleDestination, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{createNonce(s, solana.SystemProgramID, 80), startNonce(thief)}
		}},
		"has an account made for its own program": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{createNonce(s, thief, 80)}
		}},
		"gives the wallet's account to a program": {rule: policy.RuleUndecodable, change: everything, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{system(1, thief[:], solana.Meta(s.wallet()).SIGNER().WRITE())}
		}},
		"calls its own program": {rule: policy.RuleProgram, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{solana.NewInstruction(thief, solana.AccountMetaSlice{solana.Meta(s.wallet()).SIGNER().WRITE()}, nil)}
		}},
		"deposits too much": {rule: policy.RulePerTransaction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.create(thief, 1, mostPerTransaction+1)}
		}},
		"deposits twice in one transaction": {rule: policy.RulePerTransaction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.create(thief, 1, 3_000_000), s.create(friend, 1, 3_000_000)}
		}},
		"deposits so much that the sum wraps around": {rule: policy.RulePerTransaction, change: func(c *policy.Config) {
			c.Tokens[mint] = policy.TokenLimits{Limits: policy.Limits{PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: policy.Unlimited}}
		}, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.create(thief, 1, math.MaxUint64), s.create(thief, 2, 2)}
		}},
		"deposits in another mint": {rule: policy.RuleMint, steal: func(s *stage) []solana.Instruction {
			creation := s.creation(thief, 1, 1_000_000)
			creation.TokenMint = otherMint
			return []solana.Instruction{s.build(creation)}
		}},
		"sells to itself": {rule: policy.RuleCounterparty, change: func(c *policy.Config) { c.Counterparties = []solana.PublicKey{friend} }, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.create(thief, 1, 1_000_000)}
		}},
		"arbitrates its own disputes": {rule: policy.RuleArbiter, change: func(c *policy.Config) { c.Arbiters = []solana.PublicKey{friend} }, steal: func(s *stage) []solana.Instruction {
			creation := s.creation(friend, 1, 1_000_000)
			creation.Params.MilestoneBps, creation.Params.Arbiter = [8]uint16{10_000}, thief
			return []solana.Instruction{s.build(creation)}
		}},
		"names another negotiation than the session's": {rule: policy.RuleNegotiation, steal: func(s *stage) []solana.Instruction {
			creation := s.creation(friend, 1, 1_000_000)
			creation.Negotiation = thief
			return []solana.Instruction{s.build(creation)}
		}},
		"claims what is kept for the wallet": {rule: policy.RuleDestination, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.build(&protocol.ClaimPayout{Party: s.wallet(), Negotiation: friend, DestinationTokenAccount: s.associated(thief, mint), TokenMint: mint, TokenProgram: solana.TokenProgramID, Amount: 1})}
		}},
		"takes over the protocol": {rule: policy.RuleInstruction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.build(&protocol.ProposeAuthority{Authority: s.wallet(), NewAuthority: thief})}
		}},
		"burns lamports as priority fee": {rule: policy.RulePerTransaction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{unitLimit(1_400_000), unitPrice(100_000_000)}
		}},
		"burns lamports as priority fee without a compute limit": {rule: policy.RulePerTransaction, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{unitPrice(1_000_000_000), s.createAssociated(s.wallet(), s.wallet(), mint)}
		}},
		"burns more lamports than a number can hold": {rule: policy.RulePerTransaction, change: func(c *policy.Config) {
			c.Lamports = policy.Limits{PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: policy.Unlimited}
		}, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{unitLimit(1_400_000), unitPrice(math.MaxUint64)}
		}},
		"wraps more than may be spent": {rule: policy.RulePerTransaction, change: func(c *policy.Config) {
			c.Tokens[solana.WrappedSol] = policy.TokenLimits{Limits: policy.Limits{PerTransaction: 100}}
		}, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.createAssociated(s.wallet(), s.wallet(), solana.WrappedSol), transferLamports(s.wallet(), s.associated(s.wallet(), solana.WrappedSol), 101)}
		}},
		"wraps where wrapped SOL is not allowed": {rule: policy.RuleMint, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.createAssociated(thief, s.wallet(), solana.WrappedSol), transferLamports(s.wallet(), s.associated(s.wallet(), solana.WrappedSol), 1)}
		}},
		"wraps into an account that may be anyone's": {rule: policy.RuleInstruction, change: wrappedSOL, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{transferLamports(s.wallet(), s.associated(s.wallet(), solana.WrappedSol), 1)}
		}},
		"wraps into another one's account": {rule: policy.RuleInstruction, change: wrappedSOL, steal: func(s *stage) []solana.Instruction {
			return []solana.Instruction{s.createAssociated(s.wallet(), thief, solana.WrappedSol), transferLamports(s.wallet(), s.associated(thief, solana.WrappedSol), 1)}
		}},
		"makes an associated account that is none": {rule: policy.RuleUndecodable, steal: func(s *stage) []solana.Instruction {
			honest := s.createAssociated(s.wallet(), s.wallet(), mint)
			accounts := honest.Accounts()
			accounts[1] = solana.Meta(thief).WRITE()
			data, _ := honest.Data()
			return []solana.Instruction{solana.NewInstruction(honest.ProgramID(), accounts, data)}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var changes []func(*policy.Config)
			if c.change != nil {
				changes = append(changes, c.change)
			}
			s := newStage(t, changes...)
			s.denied(c.rule, c.steal(s)...)
			require.Zero(t, s.policy.Used(solana.PublicKey{}), "what is denied is not counted")
			require.Zero(t, s.policy.Used(mint))
		})
	}
}

func wrappedSOL(c *policy.Config) {
	c.Tokens[solana.WrappedSol] = policy.TokenLimits{Limits: policy.Limits{PerTransaction: oneSOL, PerNegotiation: oneSOL, PerCounterparty: oneSOL, PerDay: oneSOL}}
}

// A transaction that changes during the check is not signed in the changed form.
func TestMessageIsCopied(t *testing.T) {
	var message []byte
	s := newStage(t, func(c *policy.Config) {
		c.Approve = func(context.Context, *policy.Request) error {
			for i := range message {
				message[i] ^= 0xff
			}
			return nil
		}
	})
	message = s.message(s.create(friend, 1, 1_000_000))
	before := append([]byte(nil), message...)
	signature, err := s.policy.SignMessage(context.Background(), message)
	require.NoError(t, err)
	require.True(t, signature.Verify(s.wallet(), before))
}

// One more data byte or account is denied, although the program would ignore it.
func TestNothingIsLeftOver(t *testing.T) {
	s := newStage(t, wrappedSOL, allowing(policy.TransferLamports, policy.TransferTokens))
	address := s.negotiation(s.wallet(), friend, 1)
	require.NoError(t, s.sign(s.create(friend, 1, 1_000_000)))
	for name, honest := range map[string]solana.Instruction{
		"create_negotiation": s.create(friend, 2, 1_000_000),
		"submit_offer":       s.offer(address, 0, 500_000),
		"accept_offer":       s.accept(address, s.wallet(), friend, 1, 500_000),
		"transfer":           transferLamports(s.wallet(), friend, 1),
		"transfer_checked":   transferTokens(s.associated(s.wallet(), mint), mint, friend, s.wallet(), 1),
		"close_account":      closeAccount(s.associated(s.wallet(), mint), s.wallet(), s.wallet()),
		"sync_native":        syncNative(s.associated(s.wallet(), mint)),
		"associated":         s.createAssociated(s.wallet(), s.wallet(), mint),
		"compute limit":      unitLimit(200_000),
		"compute price":      unitPrice(1),
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			data, err := honest.Data()
			require.NoError(t, err)
			more := append(append([]byte(nil), data...), 0)
			s.denied(policy.RuleUndecodable, solana.NewInstruction(honest.ProgramID(), honest.Accounts(), more))
			if name != "associated" { // whose data may be empty
				s.denied(policy.RuleUndecodable, solana.NewInstruction(honest.ProgramID(), honest.Accounts(), data[:len(data)-1]))
			}
			s.denied(policy.RuleUndecodable, solana.NewInstruction(honest.ProgramID(), append(honest.Accounts(), solana.Meta(s.wallet())), data))
			if len(honest.Accounts()) > 0 {
				s.denied(policy.RuleUndecodable, solana.NewInstruction(honest.ProgramID(), honest.Accounts()[:len(honest.Accounts())-1], data))
			}
			require.NoError(t, s.sign(honest))
		})
	}
}

// The chain refuses messages that set the same budget part twice, so the cost is unknown.
func TestComputeBudgetIsToldOnce(t *testing.T) {
	s := newStage(t)
	s.denied(policy.RuleUndecodable, unitPrice(1), unitPrice(1))
	s.denied(policy.RuleUndecodable, unitLimit(1), unitLimit(1))
	s.denied(policy.RuleUndecodable, budget(1, make([]byte, 4)), budget(1, make([]byte, 4)))
	s.denied(policy.RuleUndecodable, budget(0, make([]byte, 4)))
	require.NoError(t, s.sign(budget(1, make([]byte, 4)), budget(4, make([]byte, 4)), unitLimit(1), unitPrice(1)))
}
