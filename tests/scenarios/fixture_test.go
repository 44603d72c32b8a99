package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// fiveTokens is the documents' escrow: 5 USDC, in base units. It is the buyer's whole balance and the mint's
// supply.
const fiveTokens = 5_000_000

// startLamports is the starting balance of every wallet in lamports.
const startLamports = solana.LAMPORTS_PER_SOL

// scenarioLimit ends a scenario that hangs. The longest waits for two blockhashes to expire, about two minutes
// on a machine with nothing else to do.
const scenarioLimit = 15 * time.Minute

// fixture is a scenario's environment: a chain with two agents and a separate mint.
type fixture struct {
	t     *testing.T
	ctx   context.Context
	venue *venue

	// tokenProgram is the mint's token program.
	tokenProgram solana.PublicKey
	mint         solana.PublicKey
	// wrapped is set if the mint is the token program's wrapped SOL mint.
	wrapped         bool
	buyer, seller   party
	treasuryAccount solana.PublicKey

	// ended is set when the scenario has asserted the final balances.
	ended bool
}

// party is a participant with a wallet.
type party struct {
	*wallet.Keypair
	private solana.PrivateKey
	// account is the wallet's associated token account for the fixture's mint.
	account solana.PublicKey
}

// newFixture gives the buyer five tokens, and creates empty token accounts for the seller and the treasury.
func newFixture(t *testing.T, v *venue, program tokenProgram) *fixture {
	ctx, cancel := context.WithTimeout(t.Context(), scenarioLimit)
	t.Cleanup(cancel)
	s := &fixture{t: t, ctx: ctx, venue: v, tokenProgram: program.id}
	s.use(s.newMint())
	s.endow(localnet.Holding{Owner: v.treasury})
	return s
}

// newMint creates a mint of the fixture's token program, with six decimals and no extensions.
func (s *fixture) newMint() solana.PublicKey {
	s.t.Helper()
	if s.tokenProgram == solana.Token2022ProgramID {
		return s.extendedMint()
	}
	mint, err := s.venue.CreateMint(s.ctx, 6)
	require.NoError(s.t, err)
	return mint
}

// endow gives the parties their starting balances in the fixture's mint, and others theirs.
func (s *fixture) endow(others ...localnet.Holding) {
	s.t.Helper()
	require.NoError(s.t, s.venue.Endow(s.ctx, s.mint, append([]localnet.Holding{
		{Owner: s.buyer.PublicKey(), Lamports: startLamports, Tokens: fiveTokens},
		{Owner: s.seller.PublicKey(), Lamports: startLamports},
	}, others...)...))
}

// use makes a mint of the fixture's token program the scenario's mint; the wallets hold none yet.
func (s *fixture) use(mint solana.PublicKey) {
	s.mint = mint
	s.buyer, s.seller = s.newParty(), s.newParty()
	s.treasuryAccount = s.associated(s.venue.treasury)
}

func (s *fixture) newParty() party {
	key, err := solana.NewRandomPrivateKey()
	require.NoError(s.t, err)
	keypair, err := wallet.NewKeypair(key)
	require.NoError(s.t, err)
	return party{Keypair: keypair, private: key, account: s.associated(key.PublicKey())}
}

// stranger returns a wallet with lamports but no part in the negotiation.
func (s *fixture) stranger() party {
	someone := s.newParty()
	require.NoError(s.t, s.venue.Fund(s.ctx, someone.PublicKey(), startLamports))
	return someone
}

func (s *fixture) associated(wallet solana.PublicKey) solana.PublicKey {
	account, err := token.AssociatedAddress(wallet, s.mint, s.tokenProgram)
	require.NoError(s.t, err)
	return account
}

// anotherAccount returns a token account of the party other than the associated account.
func (s *fixture) anotherAccount(owner party) solana.PublicKey {
	account, err := s.venue.CreateTokenAccount(s.ctx, s.mint, owner.PublicKey())
	require.NoError(s.t, err)
	return account
}

func (s *fixture) tokens(account solana.PublicKey) uint64 {
	amount, err := s.venue.Tokens(s.ctx, account)
	require.NoError(s.t, err)
	return amount
}

func (s *fixture) lamports(account solana.PublicKey) uint64 {
	balance, err := s.venue.Balance(s.ctx, account)
	require.NoError(s.t, err)
	return balance
}

// move is a party's attempt: an SDK action, built from the current chain state when it is tried.
type move struct {
	by    party
	build func(ctx context.Context) (*haggle.Action, error)
}

// do makes a move that must succeed.
func (s *fixture) do(m move) *haggle.Receipt {
	s.t.Helper()
	action, err := m.build(s.ctx)
	require.NoError(s.t, err)
	receipt, err := action.Do(s.ctx, m.by)
	require.NoError(s.t, err)
	return receipt
}

// refuses makes moves that the chain must reject with the same error. They are not simulated, because the
// simulation would reject them before they are sent.
func (s *fixture) refuses(want error, moves ...move) {
	s.t.Helper()
	for i, m := range moves {
		action, err := m.build(s.ctx)
		require.NoError(s.t, err, "move %d", i+1)
		_, err = s.force(m.by, action.Instructions...)
		require.ErrorIs(s.t, err, want, "move %d", i+1)
	}
}

// raw is a move with arguments and accounts that the SDK's actions would not use.
func raw(by party, instruction protocol.AnyInstruction) move {
	return move{by, func(context.Context) (*haggle.Action, error) {
		built, err := instruction.Instruction()
		return &haggle.Action{Instructions: []solana.Instruction{built}}, err
	}}
}

// force sends instructions unsimulated, so that the chain rejects them.
func (s *fixture) force(payer party, instructions ...solana.Instruction) (*haggle.Receipt, error) {
	return s.forceTogether([]party{payer}, instructions...)
}

// forceTogether is force for instructions signed by several parties. The first party pays.
func (s *fixture) forceTogether(signers []party, instructions ...solana.Instruction) (*haggle.Receipt, error) {
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

// swap makes a move with one account replaced by another.
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
