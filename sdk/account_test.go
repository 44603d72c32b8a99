package haggle

import (
	"encoding/base64"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

func storedAccount(owner solana.PublicKey, data []byte) any {
	return object{
		"lamports": 5_000, "owner": owner, "executable": false, "rentEpoch": 0, "space": len(data),
		"data": []any{base64.StdEncoding.EncodeToString(data), "base64"},
	}
}

// clientOf returns a client whose node returns the same account for every address.
func clientOf(t *testing.T, account any) *Client {
	t.Helper()
	client, _, _ := newScripted(t, map[string]func(int) (any, error){
		"getMultipleAccounts": always(object{"context": object{"slot": testSlot}, "value": []any{account}}),
	})
	return client
}

func TestSnapshotReadsTheNegotiation(t *testing.T) {
	stored := &protocol.Negotiation{Buyer: solana.PublicKey{1}, Seller: solana.PublicKey{2},
		EscrowAmount: 5_000_000, VaultBump: 254, Version: protocol.NegotiationVersion}
	data := stored.Encode()
	address := solana.PublicKey{3}
	read, err := clientOf(t,
		storedAccount(protocol.ProgramID, data)).Negotiation(address).Snapshot(t.Context())
	require.NoError(t, err)
	assert.Equal(t, &Snapshot{Address: address, Negotiation: *stored, Data: data, Slot: testSlot,
		Lamports: 5_000}, read)
	assert.Equal(t, protocol.TermsHash(address, data), read.TermsHash())
}

// The clock of a different slot could be past a deadline that the negotiation removed.
func TestSnapshotAndClockAreOfOneSlot(t *testing.T) {
	data := (&protocol.Negotiation{Version: protocol.NegotiationVersion}).Encode()
	address := solana.PublicKey{3}
	client, node, _ := newScripted(t, nil)
	node.accounts = map[solana.PublicKey]any{address: storedAccount(protocol.ProgramID, data),
		solana.SysVarClockPubkey: storedClock(1_700_000_000)}
	read, err := client.Negotiation(address).Snapshot(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1_700_000_000, read.Time)
	assert.EqualValues(t, testSlot, read.Slot)
	assert.Equal(t, 1, node.called("getMultipleAccounts"))

	node.accounts[solana.SysVarClockPubkey] = storedAccount(solana.SystemProgramID, make([]byte, clockSize))
	_, err = client.Negotiation(address).Snapshot(t.Context())
	require.ErrorIs(t, err, protocol.ErrWrongOwner)
}

func TestAccountOfAnotherKindIsAnError(t *testing.T) {
	negotiation := (&protocol.Negotiation{Version: protocol.NegotiationVersion}).Encode()
	foreign := append([]byte{}, negotiation...)
	foreign[0] ^= 1
	cases := map[string]struct {
		account any
		want    error
	}{
		"none": {nil, protocol.ErrAccountNotFound},
		"just closed": {object{"lamports": 0, "owner": solana.SystemProgramID, "executable": false,
			"rentEpoch": 0, "data": []any{"", "base64"}}, protocol.ErrAccountNotFound},
		"prefunded":         {storedAccount(solana.SystemProgramID, nil), protocol.ErrWrongOwner},
		"another program's": {storedAccount(solana.TokenProgramID, negotiation), protocol.ErrWrongOwner},
		"too short": {storedAccount(protocol.ProgramID, negotiation[:511]),
			protocol.ErrWrongLength},
		"too long": {storedAccount(protocol.ProgramID, append(negotiation, 0)),
			protocol.ErrWrongLength},
		"of a later version": {storedAccount(protocol.ProgramID,
			(&protocol.Negotiation{Version: protocol.NegotiationVersion + 1}).Encode()), protocol.ErrOutOfRange},
		"of no version": {storedAccount(protocol.ProgramID, (&protocol.Negotiation{}).Encode()),
			protocol.ErrOutOfRange},
		"of another type": {storedAccount(protocol.ProgramID, foreign), protocol.ErrWrongDiscriminator},
		"the configuration's": {storedAccount(protocol.ProgramID, (&protocol.ProtocolConfig{}).Encode()),
			nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			address := solana.PublicKey{3}
			read, err := clientOf(t, c.account).Negotiation(address).Snapshot(t.Context())
			assert.Nil(t, read)
			var wrong *protocol.AccountError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, address, wrong.Address)
			if c.want != nil {
				assert.ErrorIs(t, err, c.want)
			}
		})
	}
}

func TestGetTokenAccountIsStrict(t *testing.T) {
	data := make([]byte, tokenAccountSize)
	data[0], data[32], data[64], data[108] = 1, 2, 3, 1
	read, err := clientOf(t, storedAccount(solana.TokenProgramID, data)).GetTokenAccount(t.Context(),
		solana.PublicKey{9})
	require.NoError(t, err)
	want := &token.Account{
		Address: solana.PublicKey{9}, TokenProgram: solana.TokenProgramID, Mint: solana.PublicKey{1},
		Owner: solana.PublicKey{2}, Amount: 3,
		State: token.StateInitialized, Slot: testSlot,
	}
	assert.Equal(t, want, read)

	data[108] = 3
	_, err = clientOf(t, storedAccount(solana.TokenProgramID, data)).GetTokenAccount(t.Context(),
		solana.PublicKey{9})
	require.ErrorIs(t, err, protocol.ErrOutOfRange)
	_, err = clientOf(t, storedAccount(solana.TokenProgramID, data[:164])).GetTokenAccount(t.Context(),
		solana.PublicKey{9})
	require.ErrorIs(t, err, protocol.ErrWrongLength)
	_, err = clientOf(t, storedAccount(protocol.ProgramID, data)).GetTokenAccount(t.Context(),
		solana.PublicKey{9})
	require.ErrorIs(t, err, protocol.ErrWrongOwner)
	_, err = clientOf(t, nil).GetTokenAccount(t.Context(), solana.PublicKey{9})
	require.ErrorIs(t, err, protocol.ErrAccountNotFound)
}

func TestSnapshotsAreReadTogether(t *testing.T) {
	client, node, _ := newScripted(t, nil)
	node.accounts = map[solana.PublicKey]any{solana.SysVarClockPubkey: storedClock(1_700_000_000)}
	var addresses []solana.PublicKey
	for i := range maxSnapshots + 2 {
		address := solana.PublicKey{3, byte(i)}
		addresses = append(addresses, address)
		data := (&protocol.Negotiation{Version: protocol.NegotiationVersion, SessionID: uint64(i)}).Encode()
		switch i {
		case 0: // there is none
		case 1:
			node.accounts[address] = storedAccount(solana.SystemProgramID, data)
		case 2:
			node.accounts[address] = storedAccount(protocol.ProgramID, data[:10])
		default:
			node.accounts[address] = storedAccount(protocol.ProgramID, data)
		}
	}
	read, err := client.Snapshots(t.Context(), "", addresses...)
	require.NoError(t, err)
	require.Len(t, read, len(addresses))
	assert.Equal(t, 2, node.called("getMultipleAccounts"))
	for i, n := range read {
		if i < 3 {
			assert.Nil(t, n, i)
			continue
		}
		assert.Equal(t, addresses[i], n.Address)
		assert.EqualValues(t, i, n.SessionID)
		assert.EqualValues(t, 1_700_000_000, n.Time)
		assert.EqualValues(t, testSlot, n.Slot)
	}
	none, err := client.Snapshots(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, none)

	node.accounts[solana.SysVarClockPubkey] = storedAccount(solana.SystemProgramID, make([]byte, clockSize))
	_, err = client.Snapshots(t.Context(), "", addresses...)
	require.ErrorIs(t, err, protocol.ErrWrongOwner)
}
