package policy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	systemprogram "github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// Once the switch is on, the policy signs nothing and discards signatures being computed.
func TestKillSwitch(t *testing.T) {
	var kill policy.KillSwitch
	s := newStage(t, func(c *policy.Config) { c.Stop = &kill })
	require.NoError(t, s.sign(s.create(friend, 1, 1)))
	kill.Stop("somebody has the key")
	denial := s.denied(policy.RuleStopped, s.create(friend, 2, 1))
	require.ErrorContains(t, denial, "somebody has the key")
	kill.Resume()
	s.signer.instead = func(ctx context.Context, message []byte) (solana.Signature, error) {
		kill.Stop("now")
		return s.me.SignMessage(ctx, message)
	}
	signature, err := s.policy.SignMessage(context.Background(), s.message(s.create(friend, 3, 1)))
	require.ErrorIs(t, err, policy.ErrDenied)
	require.Zero(t, signature)
	require.EqualValues(t, 2, s.policy.Used(mint), "that signature exists")
}

// An existing stop file stops the policy.
func TestStopFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stop")
	s := newStage(t, func(c *policy.Config) { c.StopFile = path })
	require.NoError(t, s.sign(s.create(friend, 1, 1)))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	s.denied(policy.RuleStopped, s.create(friend, 2, 1))
	require.NoError(t, os.Remove(path))
	require.NoError(t, s.sign(s.create(friend, 2, 1)))
	require.NoError(t, os.Symlink("nowhere", path))
	s.denied(policy.RuleStopped, s.create(friend, 3, 1))
	s.config.StopFile = filepath.Join(path, "below", string(make([]byte, 300)))
	s.restart()
	s.denied(policy.RuleStopped, s.create(friend, 3, 1)) // lookup errors count as an existing file
}

// Above a threshold the transaction needs approval, and the request describes it.
func TestApproval(t *testing.T) {
	var requests []*policy.Request
	var answer error
	limits := func(c *policy.Config) {
		tokens := c.Tokens[mint]
		tokens.ApproveAbove = 1_000_000
		c.Tokens[mint] = tokens
		c.Lamports.ApproveAbove = oneSOL / 100
		c.Approve = func(_ context.Context, request *policy.Request) error {
			requests = append(requests, request)
			return answer
		}
	}
	s := newStage(t, limits)
	address := s.negotiation(s.wallet(), friend, 1)
	require.NoError(t, s.sign(s.create(friend, 1, 1_000_000)))
	require.Empty(t, requests, "up to the threshold nobody is asked")

	answer = errors.New("no")
	denial := s.denied(policy.RuleApproval, s.create(friend, 2, 1_000_001))
	require.ErrorIs(t, denial, answer)
	require.Len(t, requests, 1)
	require.Equal(t, []string{"haggle.create_negotiation"}, requests[0].Instructions)
	require.Equal(t, s.wallet(), requests[0].Wallet)
	require.Contains(t, requests[0].Spends, policy.Spend{
		Mint: mint, Amount: 1_000_001, Purpose: policy.PurposeEscrow, Negotiation: s.negotiation(s.wallet(), friend, 2), Counterparty: friend,
	})

	answer = nil
	message := s.message(s.create(friend, 2, 1_000_001))
	require.NoError(t, s.signMessage(message))
	require.NoError(t, s.signMessage(message))
	require.Len(t, requests, 2, "a message that is counted has been approved")

	s.denied(policy.RulePerTransaction, s.create(friend, 3, mostPerTransaction+1))
	require.Len(t, requests, 2, "what the limits deny nobody is asked about")

	answer = errors.New("too dear")
	s.denied(policy.RuleApproval, s.offer(address, 0, 1_000_001))
	require.Equal(t, policy.Price{Mint: mint, Amount: 1_000_001, Side: protocol.OfferSideBuyer, Negotiation: address, Counterparty: friend}, requests[2].Prices[0])
	s.denied(policy.RuleApproval, unitLimit(1_400_000), unitPrice(10_000), s.create(friend, 4, 1), s.create(friend, 5, 1))
}

// A buyer's milestone release needs approval, and the negotiation must be known.
func TestApprovalOfMilestones(t *testing.T) {
	var asked []*policy.Request
	s := newStage(t, func(c *policy.Config) {
		c.Approve = func(_ context.Context, request *policy.Request) error {
			asked = append(asked, request)
			return nil
		}
		c.Lamports.ApproveAbove = policy.Unlimited
	})
	address := s.negotiation(s.wallet(), friend, 1)
	release := s.build(&protocol.ReleaseMilestone{
		Releaser: s.wallet(), Negotiation: address, SellerTokenAccount: s.associated(friend, mint), TokenMint: mint,
		TokenProgram: solana.TokenProgramID, Index: 0,
	})
	s.denied(policy.RuleNegotiation, release)
	n := &protocol.Negotiation{
		Buyer: s.wallet(), Seller: friend, SessionID: 1, TokenMint: mint, Version: protocol.NegotiationVersion,
		Status: protocol.NegotiationStatusAccepted, SettledAmount: 1_000_001, MilestoneBps: [8]uint16{5_000, 5_000}, MilestonesClaimed: 1,
	}
	s.config.Negotiations = chain{address: n.Encode()}
	s.restart()
	require.NoError(t, s.sign(release))
	require.Len(t, asked, 1)
	require.EqualValues(t, 500_000, asked[0].Prices[0].Amount)
}

// Agreements on a split beyond the limits are denied, from either side.
func TestAgreementLimits(t *testing.T) {
	limits := func(c *policy.Config) {
		c.Agreement = &policy.AgreementLimits{MaxToSellerBps: 6_000, MaxToBuyerBps: 3_000, MaxBondToBuyerBps: 1_000}
	}
	agreement := func(s *stage, buyer, seller solana.PublicKey, change func(*protocol.SettleByAgreement)) solana.Instruction {
		instruction := &protocol.SettleByAgreement{
			Buyer: buyer, Seller: seller, Negotiation: s.negotiation(buyer, seller, 1), BuyerTokenAccount: s.associated(buyer, mint),
			SellerTokenAccount: s.associated(seller, mint), TokenMint: mint, TokenProgram: solana.TokenProgramID,
			ValidUntil: s.now.Unix() + 60, SellerBps: 6_000,
		}
		if change != nil {
			change(instruction)
		}
		return s.build(instruction)
	}
	s := newStage(t)
	require.Equal(t, "haggle.settle_by_agreement", s.denied(policy.RuleAgreement, agreement(s, s.wallet(), friend, nil)).Name)
	s.denied(policy.RuleAgreement, agreement(s, friend, s.wallet(), nil))

	s = newStage(t, limits)
	require.NoError(t, s.sign(agreement(s, s.wallet(), friend, nil)))
	require.NoError(t, s.sign(agreement(s, s.wallet(), friend, func(v *protocol.SettleByAgreement) { v.BondToBuyerBps = 0 })))
	s.denied(policy.RuleAgreement, agreement(s, s.wallet(), friend, func(v *protocol.SettleByAgreement) { v.SellerBps = 6_001 }))
	s.denied(policy.RuleDestination, agreement(s, s.wallet(), friend, func(v *protocol.SettleByAgreement) { v.BuyerTokenAccount = thief }))
	s.denied(policy.RuleMint, agreement(s, s.wallet(), friend, func(v *protocol.SettleByAgreement) { v.TokenMint = otherMint }))

	sells := func(sellerBps, bondToBuyerBps uint16) solana.Instruction {
		return agreement(s, friend, s.wallet(), func(v *protocol.SettleByAgreement) { v.SellerBps, v.BondToBuyerBps = sellerBps, bondToBuyerBps })
	}
	require.NoError(t, s.signMessage(s.messageFor(friend, sells(7_000, 1_000))))
	s.deniedMessage(policy.RuleAgreement, s.messageFor(friend, sells(6_999, 0)))
	s.deniedMessage(policy.RuleAgreement, s.messageFor(friend, sells(10_000, 1_001)))
	s.deniedMessage(policy.RuleDestination, s.messageFor(friend, agreement(s, friend, s.wallet(), func(v *protocol.SettleByAgreement) {
		v.SellerBps, v.SellerTokenAccount = 10_000, thief
	})))
}

// An amount left to the seller by agreement needs approval like a price.
func TestApprovalOfAgreements(t *testing.T) {
	var asked []*policy.Request
	s := newStage(t, func(c *policy.Config) {
		c.Agreement = &policy.AgreementLimits{MaxToSellerBps: 10_000}
		c.Lamports.ApproveAbove = policy.Unlimited
		c.Approve = func(_ context.Context, request *policy.Request) error {
			asked = append(asked, request)
			return nil
		}
	})
	address := s.negotiation(s.wallet(), friend, 1)
	n := &protocol.Negotiation{
		Buyer: s.wallet(), Seller: friend, SessionID: 1, TokenMint: mint, Version: protocol.NegotiationVersion, CreatedAt: 7,
		Status: protocol.NegotiationStatusAccepted, SettledAmount: 1_000_001, MilestoneBps: [8]uint16{5_000, 5_000}, MilestonesDecided: 1,
		ProtocolFeeBps: 100,
	}
	s.config.Negotiations = chain{address: n.Encode()}
	s.restart()
	instruction := protocol.SettleByAgreement{
		Buyer: s.wallet(), Seller: friend, Negotiation: address, BuyerTokenAccount: s.associated(s.wallet(), mint),
		SellerTokenAccount: s.associated(friend, mint), TokenMint: mint, TokenProgram: solana.TokenProgramID, CreatedAt: 7, SellerBps: 5_000,
	}
	require.NoError(t, s.sign(s.build(&instruction)))
	require.Len(t, asked, 1)
	require.EqualValues(t, 250_000, asked[0].Prices[0].Amount)
	instruction.CreatedAt++
	s.denied(policy.RuleNegotiation, s.build(&instruction))
}

// Approve may take a limited time only, and a panic in Approve does not approve.
func TestApprovalTimeout(t *testing.T) {
	release := make(chan struct{})
	s := newStage(t, func(c *policy.Config) {
		c.ApprovalTimeout = 10 * time.Millisecond
		c.Approve = func(context.Context, *policy.Request) error { <-release; return nil }
	})
	denial := s.denied(policy.RuleApproval, s.create(friend, 1, 1))
	require.ErrorIs(t, denial, policy.ErrApprovalTimeout)
	close(release)
	s.config.Approve = func(context.Context, *policy.Request) error { panic("at the door") }
	s.config.ApprovalTimeout = time.Minute
	s.restart()
	s.denied(policy.RuleApproval, s.create(friend, 1, 1))
	require.Zero(t, s.policy.Used(mint))
}

// Screen checks counterparties before the wallet engages with them.
func TestScreen(t *testing.T) {
	refusal := errors.New("never heard of")
	s := newStage(t, func(c *policy.Config) {
		c.Screen = func(_ context.Context, counterparty solana.PublicKey) error {
			if counterparty == thief {
				return refusal
			}
			return nil
		}
	})
	require.NoError(t, s.sign(s.create(friend, 1, 1)))
	require.ErrorIs(t, s.denied(policy.RuleCounterparty, s.create(thief, 1, 1)), refusal)
	_, terms := s.invitation(1, 0)
	terms.Buyer = thief
	address := s.negotiation(thief, s.wallet(), 1)
	s.config.Negotiations = chain{address: terms.Encode()}
	s.restart()
	require.ErrorIs(t, s.denied(policy.RuleCounterparty, s.join(address, terms)), refusal)
}

// certainError is a signer error that proves nothing was signed.
type certainError bool

func (certainError) Error() string     { return "no" }
func (e certainError) NotSigned() bool { return bool(e) }

// A signer that fails may have signed. Unless it has certainly not, the message stays counted.
func TestFailingSigner(t *testing.T) {
	s := newStage(t)
	var failure error
	s.signer.instead = func(context.Context, []byte) (solana.Signature, error) { return solana.Signature{}, failure }
	message := s.message(s.create(friend, 1, 1_000_000))
	failure = certainError(true)
	require.ErrorIs(t, s.signMessage(message), failure)
	require.Zero(t, s.policy.Used(mint))
	failure = certainError(false)
	require.ErrorIs(t, s.signMessage(message), failure)
	require.EqualValues(t, 1_000_000, s.policy.Used(mint))
	failure = certainError(true)
	require.ErrorIs(t, s.signMessage(message), failure)
	require.EqualValues(t, 1_000_000, s.policy.Used(mint), "the attempt before may have been signed")
	s.restart()
	require.ErrorIs(t, s.signMessage(message), failure)
	require.EqualValues(t, 1_000_000, s.policy.Used(mint))
	s.signer.instead = func(ctx context.Context, message []byte) (solana.Signature, error) {
		return s.me.SignMessage(ctx, append(message, 1))
	}
	require.ErrorContains(t, s.signMessage(s.message(s.create(friend, 2, 1))), "signature of "+s.wallet().String()+" is invalid")
}

// forgetful is a Store whose writes fail.
type forgetful struct{ policy.MemoryStore }

func (f *forgetful) UsageLog(wallet solana.PublicKey) policy.Log {
	return &forgetfulLog{f.MemoryStore.UsageLog(wallet)}
}

type forgetfulLog struct{ policy.Log }

func (*forgetfulLog) Append(context.Context, policy.Record) error {
	return errors.New("the disk is full")
}

// Messages are not signed if they are not counted.
func TestUsageThatCannotBeWritten(t *testing.T) {
	s := newStage(t, func(c *policy.Config) { c.Store = &forgetful{} })
	require.ErrorContains(t, s.signMessage(s.message(s.create(friend, 1, 1))), "the disk is full")
	require.Zero(t, s.signer.asked.Load())
}

// New returns an error for an invalid configuration, and names the problem.
func TestConfig(t *testing.T) {
	me := newKeypair(t)
	limits := policy.Config{
		Lamports: policy.Limits{PerTransaction: 1}, Tokens: map[solana.PublicKey]policy.TokenLimits{}, Store: &policy.MemoryStore{},
	}
	with := func(change func(*policy.Config)) policy.Config {
		config := limits
		change(&config)
		return config
	}
	for want, config := range map[string]policy.Config{
		"Config.Store not set":                   with(func(c *policy.Config) { c.Store = nil }),
		`unknown instruction "token.approve"`:    with(func(c *policy.Config) { c.Instructions = []string{"token.approve"} }),
		"program " + thief.String():              with(func(c *policy.Config) { c.Programs = []solana.PublicKey{thief} }),
		"money limits not set: lamports, tokens": {Store: &policy.MemoryStore{}},
		"money limits not set: tokens." + mint.String(): with(func(c *policy.Config) {
			c.Tokens = map[solana.PublicKey]policy.TokenLimits{mint: {}}
		}),
	} {
		_, err := policy.New(context.Background(), me, config)
		require.ErrorContains(t, err, want)
	}
	s := newStage(t, func(c *policy.Config) { c.Programs = []solana.PublicKey{protocol.ProgramID} })
	require.NoError(t, s.sign(s.create(friend, 1, 1)))
	require.Equal(t, solana.ComputeBudget, s.denied(policy.RuleProgram, unitLimit(1), s.create(friend, 2, 1)).Subject)
	s = newStage(t, func(c *policy.Config) { c.Instructions = []string{policy.ComputeBudget} })
	require.Equal(t, "haggle.create_negotiation", s.denied(policy.RuleInstruction, s.create(friend, 1, 1)).Name)
}

// An account with a durable nonce is created only if it is the wallet's own.
func TestNonceAccounts(t *testing.T) {
	s := newStage(t, everythingAllowed)
	seed, err := solana.CreateWithSeed(s.wallet(), "first", solana.SystemProgramID)
	require.NoError(t, err)
	create := func(address solana.PublicKey, space uint64) solana.Instruction {
		return systemprogram.NewCreateAccountWithSeedInstruction(s.wallet(), "first", 1_447_680, space, solana.SystemProgramID,
			s.wallet(), address, s.wallet()).Build()
	}
	start := func(authority solana.PublicKey) solana.Instruction {
		return systemprogram.NewInitializeNonceAccountInstruction(authority, seed, solana.SysVarRecentBlockHashesPubkey, solana.SysVarRentPubkey).Build()
	}
	s.denied(policy.RuleDestination, create(seed, 80), start(thief))
	s.denied(policy.RuleDestination, create(seed, 80))
	s.denied(policy.RuleUndecodable, create(seed, 81), start(s.wallet()))
	s.denied(policy.RuleUndecodable, create(thief, 80), start(s.wallet()))
	require.NoError(t, s.sign(create(seed, 80), start(s.wallet())))
	require.EqualValues(t, 5_000+1_447_680, s.policy.Used(solana.PublicKey{}))

	keypair := newKeypair(t).PublicKey()
	require.NoError(t, s.sign(systemprogram.NewCreateAccountInstruction(1_447_680, 80, solana.SystemProgramID, s.wallet(), keypair).Build(),
		systemprogram.NewInitializeNonceAccountInstruction(s.wallet(), keypair, solana.SysVarRecentBlockHashesPubkey, solana.SysVarRentPubkey).Build()))
	require.NoError(t, s.sign(systemprogram.NewAdvanceNonceAccountInstruction(seed, solana.SysVarRecentBlockHashesPubkey, s.wallet()).Build()))
	withdraw := func(to solana.PublicKey) solana.Instruction {
		return systemprogram.NewWithdrawNonceAccountInstruction(1_447_680, seed, to, solana.SysVarRecentBlockHashesPubkey, solana.SysVarRentPubkey, s.wallet()).Build()
	}
	s.denied(policy.RuleDestination, withdraw(thief))
	require.NoError(t, s.sign(withdraw(s.wallet())))
}

func newKeypair(t *testing.T) *wallet.Keypair {
	t.Helper()
	keypair, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	return keypair
}
