package haggle

import (
	"encoding/binary"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// solMintData returns the bytes of a wrapped SOL mint.
func solMintData() []byte {
	data := mintData()
	data[mintOffsetDecimals] = 9
	return data
}

// solClient returns a client whose node knows no account of wrapped SOL.
func solClient(t *testing.T) *Client {
	t.Helper()
	client, scripted, _ := newScripted(t, nil)
	scripted.list = func(rpc.M) any { return []any{} }
	config, _, err := protocol.FindConfigAddress()
	require.NoError(t, err)
	clock := make([]byte, clockSize)
	binary.LittleEndian.PutUint64(clock[clockOffsetUnixTime:], 1_700_000_000)
	scripted.accounts = map[solana.PublicKey]any{
		token.WrappedSOL2022: storedAccount(solana.Token2022ProgramID, solMintData()),
		solana.WrappedSol:    storedAccount(solana.TokenProgramID, solMintData()),
		config: storedAccount(protocol.ProgramID,
			(&protocol.ProtocolConfig{DefaultMaxRounds: 10, DefaultResponseWindow: 300}).Encode()),
		solana.SysVarClockPubkey: storedAccount(sysvarOwner, clock),
	}
	return client
}

// requireWrapping asserts that the first instructions create the owner's account, pay the lamports into it
// and turn them into tokens.
func requireWrapping(t *testing.T, action *Action, owner, mint, program solana.PublicKey, lamports uint64) {
	t.Helper()
	account, err := token.AssociatedAddress(owner, mint, program)
	require.NoError(t, err)
	wanted, err := token.WrapSOL(owner, mint, lamports)
	require.NoError(t, err)
	require.Len(t, action.Instructions, len(wanted)+1)
	require.Equal(t, wanted, action.Instructions[:len(wanted)])
	assert.True(t, takes(action.Instructions[len(wanted)], account),
		"it is the account that the deposit comes from")
	assert.Equal(t, program, wanted[2].ProgramID())
	creation, err := wanted[0].Data()
	require.NoError(t, err)
	assert.Equal(t, []byte{1}, creation, "an account that is there already is no error")
}

func TestWrappedSOL2022IsDerivedByToken2022(t *testing.T) {
	derived, _, err := solana.FindProgramAddress([][]byte{[]byte("native-mint")}, solana.Token2022ProgramID)
	require.NoError(t, err)
	assert.Equal(t, derived, token.WrappedSOL2022)
}

func TestEscrowIsWrappedBeforeItIsDeposited(t *testing.T) {
	client := solClient(t)
	buyer, seller := newKeypair(t).PublicKey(), newKeypair(t).PublicKey()
	request := CreateRequest{Key: "order 1", Buyer: buyer, Seller: seller, Mint: solana.WrappedSol, Decimals: 9,
		EscrowAmount: 250_000_000}
	_, err := client.CreateNegotiation(request).Build(t.Context())
	require.ErrorIs(t, err, protocol.ErrAccountNotFound, "nothing is wrapped unless WrapSOL is set")

	request.Deposit.WrapSOL = true
	action, err := client.CreateNegotiation(request).Build(t.Context())
	require.NoError(t, err)
	requireWrapping(t, action, buyer, solana.WrappedSol, solana.TokenProgramID, 250_000_000)
	assert.EqualValues(t, 250_000_000,
		lastInstruction[protocol.CreateNegotiation](t, action).Params.EscrowAmount)

	request.Mint = token.WrappedSOL2022
	action, err = client.CreateNegotiation(request).Build(t.Context())
	require.NoError(t, err)
	requireWrapping(t, action, buyer, token.WrappedSOL2022, solana.Token2022ProgramID, 250_000_000)

	request.Deposit.TokenAccount = solana.PublicKey{7}
	_, err = client.CreateNegotiation(request).Build(t.Context())
	require.ErrorIs(t, err, token.ErrNotWrappedSOL, "only the associated account is wrapped into")
}

func TestBondIsWrappedBeforeItIsDeposited(t *testing.T) {
	client := solClient(t)
	n := comparing(t)
	n.TokenMint, n.Status, n.BondState, n.BondRequired = solana.WrappedSol, protocol.NegotiationStatusCreated, protocol.BondStateNone, 3_000_000
	n.Data = n.Encode()
	action, err := client.At(n).AcceptInvitation(n.Seller, [32]byte{}, 9,
		Deposit{WrapSOL: true}).Build(t.Context())
	require.NoError(t, err)
	requireWrapping(t, action, n.Seller, solana.WrappedSol, solana.TokenProgramID, 3_000_000)

	n.BondRequired = 0
	n.Data = n.Encode()
	action, err = client.At(n).AcceptInvitation(n.Seller, [32]byte{}, 9,
		Deposit{WrapSOL: true}).Build(t.Context())
	require.NoError(t, err)
	require.Len(t, action.Instructions, 2,
		"without a bond there is nothing to wrap, but an account to be paid at")
}

func TestOtherMintsAreNotWrapped(t *testing.T) {
	client, n, _ := bonded(t, nil)
	n.Status, n.BondState = protocol.NegotiationStatusCreated, protocol.BondStateNone
	n.Data = n.Encode()
	_, err := client.At(n).AcceptInvitation(n.Seller, [32]byte{}, testDecimals,
		Deposit{WrapSOL: true}).Build(t.Context())
	require.ErrorIs(t, err, token.ErrNotWrappedSOL)
}

func TestPaymentIsUnwrappedAfterTheAction(t *testing.T) {
	client := solClient(t)
	n := comparing(t)
	n.TokenMint, n.ZopaPhase, n.CurrentOfferBy, n.CurrentOfferAmount = solana.WrappedSol, protocol.ZopaPhaseSkipped, n.Buyer, 2_000_000
	action, err := client.At(n).AcceptOffer(n.Seller, 0).Build(t.Context())
	require.NoError(t, err)
	unwrapping, err := client.At(n).AcceptOffer(n.Seller, 0).UnwrapSOL(n.Seller).Build(t.Context())
	require.NoError(t, err)
	require.Len(t, unwrapping.Instructions, len(action.Instructions)+1, "and the action itself is as it was")
	closing := unwrapping.Instructions[len(action.Instructions)]
	account, err := token.AssociatedAddress(n.Seller, solana.WrappedSol, solana.TokenProgramID)
	require.NoError(t, err)
	assert.Equal(t, solana.TokenProgramID, closing.ProgramID())
	data, err := closing.Data()
	require.NoError(t, err)
	assert.Equal(t, []byte{9}, data)
	assert.Equal(t, []*solana.AccountMeta{solana.Meta(account).WRITE(), solana.Meta(n.Seller).WRITE(),
		solana.Meta(n.Seller).SIGNER()}, closing.Accounts())

	_, err = client.At(n).AcceptOffer(n.Seller, 0).UnwrapSOL(newKeypair(t).PublicKey()).Build(t.Context())
	require.ErrorIs(t, err, token.ErrNotWrappedSOL, "nothing is paid to that account")
	_, err = client.At(n).SubmitOffer(n.Seller, Offer{Amount: 1}).UnwrapSOL(n.Seller).Build(t.Context())
	require.ErrorIs(t, err, token.ErrNotWrappedSOL)
}
