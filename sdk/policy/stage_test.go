package policy_test

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// stage is a wallet with a policy around it.
type stage struct {
	t      *testing.T
	me     *wallet.Keypair
	signer *countingSigner
	config policy.Config
	policy *policy.Policy
	now    time.Time
	// blockhashes makes every message different.
	blockhashes uint64
}

// countingSigner counts SignMessage calls.
type countingSigner struct {
	haggle.Signer
	asked atomic.Int64
	// instead, if set, replaces the signing function.
	instead func(ctx context.Context, message []byte) (solana.Signature, error)
}

func (s *countingSigner) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	s.asked.Add(1)
	if s.instead != nil {
		return s.instead(ctx, message)
	}
	return s.Signer.SignMessage(ctx, message)
}

const (
	oneSOL = uint64(solana.LAMPORTS_PER_SOL)
	// the limits of newStage
	mostPerTransaction  = 5_000_000
	mostPerNegotiation  = 6_000_000
	mostPerCounterparty = 8_000_000
	mostPerDay          = 12_000_000
)

var (
	mint      = solana.MustPublicKeyFromBase58("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	otherMint = solana.MustPublicKeyFromBase58("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")
	friend    = solana.MustPublicKeyFromBase58("4pXssUVLhmmxGQifWJybizi2rwVDxQDaSafDc4uLpTVu")
	thief     = solana.MustPublicKeyFromBase58("9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g")
)

// newStage sets limits of a few million units for six-decimal tokens, and 0.1 SOL.
func newStage(t *testing.T, change ...func(*policy.Config)) *stage {
	t.Helper()
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	s := &stage{t: t, me: me, signer: &countingSigner{Signer: me}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s.config = policy.Config{
		Lamports: policy.Limits{
			PerTransaction: oneSOL / 10, PerNegotiation: oneSOL / 10, PerCounterparty: oneSOL / 10, PerDay: oneSOL / 10,
		},
		Tokens: map[solana.PublicKey]policy.TokenLimits{mint: {Limits: policy.Limits{
			PerTransaction: mostPerTransaction, PerNegotiation: mostPerNegotiation, PerCounterparty: mostPerCounterparty, PerDay: mostPerDay,
		}, MaxTotal: policy.Unlimited}},
		Store: &policy.MemoryStore{},
		Now:   func() time.Time { return s.now },
	}
	for _, c := range change {
		c(&s.config)
	}
	s.restart()
	return s
}

// restart recreates the policy from the store.
func (s *stage) restart() {
	s.t.Helper()
	var err error
	s.policy, err = policy.New(context.Background(), s.signer, s.config)
	require.NoError(s.t, err)
}

func (s *stage) wallet() solana.PublicKey { return s.me.PublicKey() }

// message returns a new message paid by the wallet.
func (s *stage) message(instructions ...solana.Instruction) []byte {
	s.t.Helper()
	return s.messageFor(s.wallet(), instructions...)
}

func (s *stage) messageFor(payer solana.PublicKey, instructions ...solana.Instruction) []byte {
	s.t.Helper()
	s.blockhashes++
	var blockhash solana.Hash
	binary.LittleEndian.PutUint64(blockhash[:], s.blockhashes)
	transaction, err := solana.NewTransaction(instructions, blockhash, solana.TransactionPayer(payer))
	require.NoError(s.t, err)
	message, err := transaction.Message.MarshalBinary()
	require.NoError(s.t, err)
	return message
}

func (s *stage) sign(instructions ...solana.Instruction) error {
	s.t.Helper()
	return s.signMessage(s.message(instructions...))
}

func (s *stage) signMessage(message []byte) error {
	signature, err := s.policy.SignMessage(context.Background(), message)
	if err == nil {
		require.True(s.t, signature.Verify(s.wallet(), message))
	} else {
		require.Zero(s.t, signature, "a signature beside an error")
	}
	return err
}

// denied requires a denial by the rule, and no signer call.
func (s *stage) denied(rule policy.Rule, instructions ...solana.Instruction) *policy.Denial {
	s.t.Helper()
	return s.deniedMessage(rule, s.message(instructions...))
}

func (s *stage) deniedMessage(rule policy.Rule, message []byte) *policy.Denial {
	s.t.Helper()
	asked := s.signer.asked.Load()
	err := s.signMessage(message)
	require.ErrorIs(s.t, err, policy.ErrDenied)
	var denial *policy.Denial
	require.True(s.t, errors.As(err, &denial))
	require.Equal(s.t, rule, denial.Rule, err.Error())
	require.Equal(s.t, asked, s.signer.asked.Load(), "the signer was asked all the same")
	require.NotEmpty(s.t, denial.Error())
	return denial
}

func (s *stage) build(instruction protocol.AnyInstruction) solana.Instruction {
	s.t.Helper()
	built, err := instruction.Instruction()
	require.NoError(s.t, err)
	return built
}

// create returns a create_negotiation instruction signed by the buyer.
func (s *stage) create(seller solana.PublicKey, session, escrow uint64) solana.Instruction {
	return s.build(s.creation(seller, session, escrow))
}

func (s *stage) creation(seller solana.PublicKey, session, escrow uint64) *protocol.CreateNegotiation {
	return &protocol.CreateNegotiation{
		Buyer: s.wallet(), Seller: seller, BuyerTokenAccount: s.associated(s.wallet(), mint), TokenMint: mint,
		TokenProgram: solana.TokenProgramID, SessionID: session,
		Params: protocol.NegotiationParams{EscrowAmount: escrow, MaxRounds: 10, ResponseWindow: 300, MinOfferBps: 1_000},
	}
}

func (s *stage) associated(owner, mint solana.PublicKey) solana.PublicKey {
	s.t.Helper()
	address, err := token.AssociatedAddress(owner, mint, solana.TokenProgramID)
	require.NoError(s.t, err)
	return address
}

func (s *stage) createAssociated(payer, owner, mint solana.PublicKey) solana.Instruction {
	s.t.Helper()
	instruction, err := token.CreateAssociated(payer, owner, mint, solana.TokenProgramID)
	require.NoError(s.t, err)
	return instruction
}

func (s *stage) negotiation(buyer, seller solana.PublicKey, session uint64) solana.PublicKey {
	s.t.Helper()
	address, _, err := protocol.FindNegotiationAddress(buyer, seller, session)
	require.NoError(s.t, err)
	return address
}

func (s *stage) offer(negotiation solana.PublicKey, round uint8, amount uint64) solana.Instruction {
	return s.build(&protocol.SubmitOffer{Offerer: s.wallet(), Negotiation: negotiation, ExpectedRound: round, Amount: amount})
}

func (s *stage) accept(negotiation, buyer, seller solana.PublicKey, round uint8, amount uint64) solana.Instruction {
	return s.build(&protocol.AcceptOffer{
		Acceptor: s.wallet(), Negotiation: negotiation, BuyerTokenAccount: s.associated(buyer, mint),
		SellerTokenAccount: s.associated(seller, mint), TokenMint: mint, TokenProgram: solana.TokenProgramID,
		ExpectedRound: round, ExpectedAmount: amount,
	})
}

// acceptMidpoint accepts the midpoint with the wallet as the seller.
func (s *stage) acceptMidpoint(deal int64, negotiation solana.PublicKey, amount uint64) solana.Instruction {
	return s.build(&protocol.AcceptOffer{
		Acceptor: s.wallet(), Negotiation: negotiation, CreatedAt: deal, BuyerTokenAccount: s.associated(friend, mint),
		SellerTokenAccount: s.associated(s.wallet(), mint), TokenMint: mint, TokenProgram: solana.TokenProgramID,
		ExpectedAmount: amount,
	})
}

// chain is a Negotiations with accounts.
type chain map[solana.PublicKey][]byte

func (c chain) NegotiationData(_ context.Context, address solana.PublicKey) ([]byte, error) {
	data, ok := c[address]
	if !ok {
		return nil, protocol.ErrAccountNotFound
	}
	return data, nil
}

// invitation returns a negotiation inviting the wallet to sell.
func (s *stage) invitation(session, bond uint64) (solana.PublicKey, *protocol.Negotiation) {
	n := &protocol.Negotiation{
		Buyer: friend, Seller: s.wallet(), SessionID: session, TokenMint: mint, EscrowAmount: 3_000_000, EffectiveEscrow: 3_000_000,
		BondRequired: bond, Version: protocol.NegotiationVersion, MaxRounds: 10, ResponseWindow: 300,
	}
	return s.negotiation(friend, s.wallet(), session), n
}

func (s *stage) join(address solana.PublicKey, n *protocol.Negotiation) solana.Instruction {
	instruction := &protocol.AcceptInvitation{
		Seller: s.wallet(), Negotiation: address, TermsHash: protocol.TermsHash(address, n.Encode()), TokenMint: mint,
	}
	if n.BondRequired > 0 {
		vault, _, err := protocol.FindVaultAddress(address)
		require.NoError(s.t, err)
		instruction.EscrowVault, instruction.SellerTokenAccount = vault, s.associated(s.wallet(), mint)
		instruction.TokenMint, instruction.TokenProgram = mint, solana.TokenProgramID
	}
	return s.build(instruction)
}

func budget(tag byte, value []byte) solana.Instruction {
	return solana.NewInstruction(solana.ComputeBudget, nil, append([]byte{tag}, value...))
}

func unitLimit(units uint32) solana.Instruction {
	return budget(2, binary.LittleEndian.AppendUint32(nil, units))
}

func unitPrice(price uint64) solana.Instruction {
	return budget(3, binary.LittleEndian.AppendUint64(nil, price))
}

func system(tag uint32, data []byte, accounts ...*solana.AccountMeta) solana.Instruction {
	return solana.NewInstruction(solana.SystemProgramID, accounts, append(binary.LittleEndian.AppendUint32(nil, tag), data...))
}

func transferLamports(from, to solana.PublicKey, lamports uint64) solana.Instruction {
	return system(2, binary.LittleEndian.AppendUint64(nil, lamports), solana.Meta(from).SIGNER().WRITE(), solana.Meta(to).WRITE())
}

func tokenInstruction(data []byte, accounts ...*solana.AccountMeta) solana.Instruction {
	return solana.NewInstruction(solana.TokenProgramID, accounts, data)
}

func transferTokens(source, mint, destination, authority solana.PublicKey, amount uint64) solana.Instruction {
	data := append(binary.LittleEndian.AppendUint64([]byte{12}, amount), 6)
	return tokenInstruction(data, solana.Meta(source).WRITE(), solana.Meta(mint), solana.Meta(destination).WRITE(), solana.Meta(authority).SIGNER())
}

func closeAccount(account, destination, owner solana.PublicKey) solana.Instruction {
	return tokenInstruction([]byte{9}, solana.Meta(account).WRITE(), solana.Meta(destination).WRITE(), solana.Meta(owner).SIGNER())
}

func syncNative(account solana.PublicKey) solana.Instruction {
	return tokenInstruction([]byte{17}, solana.Meta(account).WRITE())
}

// allowing adds to the default instructions.
func allowing(names ...string) func(*policy.Config) {
	return func(c *policy.Config) { c.Instructions = append(policy.DefaultInstructions(), names...) }
}
