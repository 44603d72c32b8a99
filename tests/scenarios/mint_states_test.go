package scenarios

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/gagliardetto/solana-go"
	spltoken "github.com/gagliardetto/solana-go/programs/token"
	extensions "github.com/gagliardetto/solana-go/programs/token-2022"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// A new issuer or a new supply does not change the escrow. Tokens that the new issuer mints to the vault go
// to the treasury, and if the issuer freezes the vault, the parties wait for the thaw.
func TestIssuerChanges(t *testing.T) {
	scenario(t, "issuer_changes", func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		issuer := s.stranger()
		for _, authority := range []spltoken.AuthorityType{spltoken.AuthorityMintTokens, spltoken.AuthorityFreezeAccount} {
			require.NoError(s.t, s.venue.setMintAuthority(s.ctx, s.mint, authority, issuer.PublicKey()))
		}
		hoard := s.anotherAccount(issuer)
		s.issues(issuer, spltoken.NewMintToCheckedInstruction(1_000_000_000, 6, s.mint, hoard, issuer.PublicKey(), nil).Build())
		s.issues(issuer, spltoken.NewMintToCheckedInstruction(1_000_000, 6, s.mint, d.vault, issuer.PublicKey(), nil).Build())
		s.issues(issuer, spltoken.NewFreezeAccountInstruction(d.vault, s.mint, issuer.PublicKey(), nil).Build())

		s.refuses(protocol.ErrOfferExceedsEscrow, d.offer(s.seller, 4_802_001))
		d.offers(3_000_000)
		s.do(d.accept(s.buyer))
		state := d.state()
		require.EqualValues(s.t, 1_802_000, state.ClaimableBuyer)
		require.EqualValues(s.t, 2_985_000, state.ClaimableSeller)
		s.issues(issuer, spltoken.NewThawAccountInstruction(d.vault, s.mint, issuer.PublicKey(), nil).Build())
		d.closes(issuer)
		s.ends(holdings{
			buyer: 1_802_000, seller: 2_985_000, treasury: 15_000 + 198_000 + 1_000_000,
			elsewhere: map[solana.PublicKey]uint64{hoard: 1_000_000_000},
		})
	})
}

// issues sends an instruction by a mint's issuer to the token program.
func (s *fixture) issues(issuer party, instruction *spltoken.Instruction) {
	s.t.Helper()
	_, err := s.venue.Send(s.ctx, []solana.PrivateKey{issuer.private}, instruction.SetProgramID(s.tokenProgram))
	require.NoError(s.t, err)
}

// extendedMint is a mint with extensions, which only Token-2022 supports.
func (s *fixture) extendedMint(with ...localnet.MintExtension) solana.PublicKey {
	s.t.Helper()
	mint, err := s.venue.CreateToken2022Mint(s.ctx, 6, with...)
	require.NoError(s.t, err)
	return mint
}

// useExtended makes a mint with extensions the mint of the scenario.
func (s *fixture) useExtended(with ...localnet.MintExtension) {
	s.t.Helper()
	s.use(s.extendedMint(with...))
	s.endow()
}

func (s *fixture) describe() {
	s.t.Helper()
	require.NoError(s.t, s.venue.describe(s.ctx, s.mint, "Whale Watching Dollar", "WWD", "https://example.com/wwd.json"))
}

// joinGroup makes the scenario's mint a member of another mint's group.
func (s *fixture) joinGroup() {
	s.t.Helper()
	group := s.extendedMint(groupPointer)
	require.NoError(s.t, s.venue.makeGroup(s.ctx, group, 10))
	require.NoError(s.t, s.venue.joinGroup(s.ctx, group, s.mint))
}

// A mint with metadata, a group and a membership in another group can be used like any other.
func TestMintWithEveryAllowedExtension(t *testing.T) {
	scenarioOf(t, "mint_with_every_allowed_extension", token2022, func(s *fixture) {
		s.useExtended(metadataPointer, groupPointer, groupMemberPointer)
		s.describe()
		require.NoError(s.t, s.venue.makeGroup(s.ctx, s.mint, 10))
		s.joinGroup()
		d := s.bargain(s.terms())
		d.offers(2_000_000, 3_000_000)
		s.do(d.accept(s.buyer))
		d.closes(s.stranger())
		s.ends(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: 15_000 + 198_000})
	})
}

// Extensions that are added during a negotiation only make the mint's account longer.
func TestMintExtendedMidNegotiation(t *testing.T) {
	scenarioOf(t, "mint_extended_mid_negotiation", token2022, func(s *fixture) {
		s.useExtended(metadataPointer, groupMemberPointer)
		d := s.bargain(s.terms())
		s.describe()
		d.offers(2_000_000)
		s.joinGroup()
		d.offers(3_000_000)
		s.do(d.accept(s.buyer))
		d.closes(s.stranger())
		s.ends(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: 15_000 + 198_000})
	})
}

// refusedExtensions could take or withhold the escrow, or display another amount. Each instruction's data
// consists of a number, mostly zero for "initialize", and the settings.
var refusedExtensions = []localnet.MintExtension{
	{Type: extensions.ExtensionTransferFeeConfig, Initialize: func(_, issuer solana.PublicKey) []byte {
		given, nothing := []byte{1}, make([]byte, 2+8)
		return slices.Concat([]byte{extensions.Instruction_TransferFeeExtension, 0}, given, issuer[:], given, issuer[:], nothing)
	}},
	{Type: extensions.ExtensionMintCloseAuthority, Initialize: func(_, issuer solana.PublicKey) []byte {
		return slices.Concat([]byte{extensions.Instruction_InitializeMintCloseAuthority, 1}, issuer[:])
	}},
	{Type: extensions.ExtensionConfidentialTransferMint, Initialize: func(_, issuer solana.PublicKey) []byte {
		approvesByItself, auditor := []byte{1}, make([]byte, 32)
		return slices.Concat([]byte{extensions.Instruction_ConfidentialTransferExtension, 0}, issuer[:], approvesByItself, auditor)
	}},
	{Type: extensions.ExtensionDefaultAccountState, Initialize: func(_, _ solana.PublicKey) []byte {
		return []byte{extensions.Instruction_DefaultAccountStateExtension, 0, byte(extensions.AccountStateFrozen)}
	}},
	{Type: extensions.ExtensionNonTransferable, Initialize: func(_, _ solana.PublicKey) []byte {
		return []byte{extensions.Instruction_InitializeNonTransferableMint}
	}},
	{Type: extensions.ExtensionInterestBearingConfig, Initialize: func(_, issuer solana.PublicKey) []byte {
		rate := []byte{50, 0}
		return slices.Concat([]byte{extensions.Instruction_InterestBearingMintExtension, 0}, issuer[:], rate)
	}},
	{Type: extensions.ExtensionPermanentDelegate, Initialize: func(_, issuer solana.PublicKey) []byte {
		return slices.Concat([]byte{extensions.Instruction_InitializePermanentDelegate}, issuer[:])
	}},
	{Type: extensions.ExtensionTransferHook, Initialize: func(_, issuer solana.PublicKey) []byte {
		hook := solana.MemoProgramID
		return slices.Concat([]byte{extensions.Instruction_TransferHookExtension, 0}, issuer[:], hook[:])
	}},
	{Type: extensions.ExtensionScaledUiAmount, Initialize: func(_, issuer solana.PublicKey) []byte {
		factor := binary.LittleEndian.AppendUint64(nil, math.Float64bits(2))
		return slices.Concat([]byte{extensions.Instruction_ScaledUiAmountExtension, 0}, issuer[:], factor)
	}},
	{Type: extensions.ExtensionPausable, Initialize: func(_, issuer solana.PublicKey) []byte {
		return slices.Concat([]byte{extensions.Instruction_PausableExtension, 0}, issuer[:])
	}},
}

// The client and the program reject mints with any other extension as escrow, even beside an allowed
// extension.
func TestMintWithARefusedExtension(t *testing.T) {
	t.Parallel()
	for _, refused := range refusedExtensions {
		name := "mint_with_" + refused.Type.String()
		t.Run(refused.Type.String(), func(t *testing.T) {
			scenarioOf(t, name, token2022, func(s *fixture) {
				mint := s.extendedMint(metadataPointer, refused)
				require.NoError(s.t, s.venue.Endow(s.ctx, mint, localnet.Holding{Owner: s.buyer.PublicKey()}))
				terms := s.terms()
				terms.Mint = mint
				_, err := s.venue.client.CreateNegotiation(terms).Build(s.ctx)
				var unsupported *token.UnsupportedMint
				require.ErrorAs(s.t, err, &unsupported)
				require.Contains(s.t, unsupported.Reason, refused.Type.String())

				_, err = s.createUnchecked(mint)
				require.ErrorIs(s.t, err, protocol.ErrUnsupportedMint)
				s.ends(holdings{buyer: fiveTokens})
			})
		})
	}
}

// createUnchecked deposits escrow in a mint that the client would reject.
func (s *fixture) createUnchecked(mint solana.PublicKey) (*haggle.Receipt, error) {
	s.t.Helper()
	account, err := token.AssociatedAddress(s.buyer.PublicKey(), mint, s.tokenProgram)
	require.NoError(s.t, err)
	now, err := s.venue.client.Now(s.ctx)
	require.NoError(s.t, err)
	instruction, err := (&protocol.CreateNegotiation{
		Buyer: s.buyer.PublicKey(), Seller: s.seller.PublicKey(), BuyerTokenAccount: account, TokenMint: mint,
		TokenProgram: s.tokenProgram, SessionID: 1, Params: paramsOf(1_000_000, now),
	}).Instruction()
	require.NoError(s.t, err)
	return s.force(s.buyer, instruction)
}
