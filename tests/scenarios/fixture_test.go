package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/testchain"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// fiveTokens is the documents' escrow: 5 USDC in base units. It is all that a scenario's buyer has, and all there is of its
// mint.
const fiveTokens = 5_000_000

// pocketMoney is what every wallet of a scenario starts with, in lamports.
const pocketMoney = solana.LAMPORTS_PER_SOL

// scenarioLimit ends a scenario that hangs; the longest waits out a window of 60 seconds.
const scenarioLimit = 5 * time.Minute

// A stage is where one scenario plays: with two agents and a mint that nobody else uses.
type stage struct {
	t     *testing.T
	ctx   context.Context
	venue *venue

	// tokenProgram is the one that the mint belongs to.
	tokenProgram solana.PublicKey
	mint         solana.PublicKey
	// wrapped says that the mint is the token program's of wrapped SOL.
	wrapped         bool
	buyer, seller   party
	treasuryAccount solana.PublicKey

	// ended says that the scenario has stated what everyone ends with.
	ended bool
}

// A party is somebody with a wallet.
type party struct {
	*wallet.Keypair
	private solana.PrivateKey
	// account is the wallet's associated token account for the stage's mint.
	account solana.PublicKey
}

// setStage endows the buyer with five tokens, and opens empty token accounts for the seller and the treasury.
func setStage(t *testing.T, v *venue, program tokenProgram) *stage {
	ctx, cancel := context.WithTimeout(t.Context(), scenarioLimit)
	t.Cleanup(cancel)
	s := &stage{t: t, ctx: ctx, venue: v, tokenProgram: program.id}
	s.use(s.newMint())
	s.endow(testchain.Holding{Owner: v.treasury})
	return s
}

// newMint is one of the stage's token program, with six digits and without extensions.
func (s *stage) newMint() solana.PublicKey {
	s.t.Helper()
	if s.tokenProgram == solana.Token2022ProgramID {
		return s.extendedMint()
	}
	mint, err := s.venue.CreateMint(s.ctx, 6)
	require.NoError(s.t, err)
	return mint
}

// endow gives the parties what they begin with, in the stage's mint, and others what they are to have.
func (s *stage) endow(others ...testchain.Holding) {
	s.t.Helper()
	require.NoError(s.t, s.venue.Endow(s.ctx, s.mint, append([]testchain.Holding{
		{Owner: s.buyer.PublicKey(), Lamports: pocketMoney, Tokens: fiveTokens},
		{Owner: s.seller.PublicKey(), Lamports: pocketMoney},
	}, others...)...))
}

// use makes mint, one of the stage's token program, the one that is bargained in, with wallets that have nothing yet.
func (s *stage) use(mint solana.PublicKey) {
	s.mint = mint
	s.buyer, s.seller = s.newParty(), s.newParty()
	s.treasuryAccount = s.associated(s.venue.treasury)
}

func (s *stage) newParty() party {
	key, err := solana.NewRandomPrivateKey()
	require.NoError(s.t, err)
	keypair, err := wallet.NewKeypair(key)
	require.NoError(s.t, err)
	return party{Keypair: keypair, private: key, account: s.associated(key.PublicKey())}
}

// stranger is somebody who has lamports and nothing to do with the negotiation.
func (s *stage) stranger() party {
	someone := s.newParty()
	require.NoError(s.t, s.venue.Fund(s.ctx, someone.PublicKey(), pocketMoney))
	return someone
}

func (s *stage) associated(wallet solana.PublicKey) solana.PublicKey {
	account, err := token.AssociatedAddress(wallet, s.mint, s.tokenProgram)
	require.NoError(s.t, err)
	return account
}

// anotherAccount is a token account of the party's beside the associated one.
func (s *stage) anotherAccount(owner party) solana.PublicKey {
	account, err := s.venue.CreateTokenAccount(s.ctx, s.mint, owner.PublicKey())
	require.NoError(s.t, err)
	return account
}

func (s *stage) tokens(account solana.PublicKey) uint64 {
	amount, err := s.venue.Tokens(s.ctx, account)
	require.NoError(s.t, err)
	return amount
}

func (s *stage) lamports(account solana.PublicKey) uint64 {
	balance, err := s.venue.Balance(s.ctx, account)
	require.NoError(s.t, err)
	return balance
}

// A move is what somebody may try: an action of the SDK, built from the state of the chain when it is tried.
type move struct {
	by    party
	build func(ctx context.Context) (*haggle.Action, error)
}

// do makes a move that has to succeed.
func (s *stage) do(m move) *haggle.Receipt {
	s.t.Helper()
	action, err := m.build(s.ctx)
	require.NoError(s.t, err)
	receipt, err := action.Do(s.ctx, m.by)
	require.NoError(s.t, err)
	return receipt
}

// refuses makes moves that the chain has to refuse with the same error. They are not simulated, which would show them to be
// refused before they are sent.
func (s *stage) refuses(want error, moves ...move) {
	s.t.Helper()
	for i, m := range moves {
		action, err := m.build(s.ctx)
		require.NoError(s.t, err, "move %d", i+1)
		_, err = s.force(m.by, action.Instructions...)
		require.ErrorIs(s.t, err, want, "move %d", i+1)
	}
}

// raw is a move with arguments and accounts of one's own choice, which the SDK's actions would not make.
func raw(by party, instruction protocol.AnyInstruction) move {
	return move{by, func(context.Context) (*haggle.Action, error) {
		built, err := instruction.Instruction()
		return &haggle.Action{Instructions: []solana.Instruction{built}}, err
	}}
}

// force sends instructions without a simulation, so that a refusal is the chain's.
func (s *stage) force(payer party, instructions ...solana.Instruction) (*haggle.Receipt, error) {
	return s.forceTogether([]party{payer}, instructions...)
}

// forceTogether is force for instructions that several parties sign. The first one pays.
func (s *stage) forceTogether(signers []party, instructions ...solana.Instruction) (*haggle.Receipt, error) {
	latest, err := s.venue.Client().GetLatestBlockhash(s.ctx, rpc.CommitmentConfirmed)
	require.NoError(s.t, err)
	transaction, err := solana.NewTransaction(instructions, latest.Value.Blockhash, solana.TransactionPayer(signers[0].PublicKey()))
	require.NoError(s.t, err)
	_, err = transaction.Sign(func(key solana.PublicKey) *solana.PrivateKey {
		for _, signer := range signers {
			if signer.PublicKey() == key {
				return &signer.private
			}
		}
		return nil
	})
	require.NoError(s.t, err)
	return s.venue.client.Submit(s.ctx, transaction)
}

// swap makes a move with another account in the place of one.
func swap(m move, account, other solana.PublicKey) move {
	return move{m.by, func(ctx context.Context) (*haggle.Action, error) {
		action, err := m.build(ctx)
		if err != nil {
			return nil, err
		}
		for i, instruction := range action.Instructions {
			data, err := instruction.Data()
			if err != nil {
				return nil, err
			}
			var accounts solana.AccountMetaSlice
			for _, meta := range instruction.Accounts() {
				changed := *meta
				if changed.PublicKey.Equals(account) {
					changed.PublicKey = other
				}
				accounts = append(accounts, &changed)
			}
			action.Instructions[i] = solana.NewInstruction(instruction.ProgramID(), accounts, data)
		}
		return action, nil
	}}
}
