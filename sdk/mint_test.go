package haggle

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// mintData returns the bytes of an initialized mint with six decimals, and any extensions.
func mintData(extensions ...[]byte) []byte {
	data := make([]byte, mintSize)
	data[mintOffsetDecimals], data[mintOffsetInitialised] = 6, 1
	return extended(data, accountTypeMint, extensions...)
}

// extended returns an account's bytes followed by the kind of account and extensions.
func extended(data []byte, accountType byte, extensions ...[]byte) []byte {
	if len(extensions) == 0 {
		return data
	}
	long := make([]byte, offsetExtensions)
	copy(long, data)
	long[offsetAccountType] = accountType
	for _, each := range extensions {
		long = append(long, each...)
	}
	return long
}

// extension returns an extension in Token-2022 format.
func extension(kind uint16, value ...byte) []byte {
	encoded := binary.LittleEndian.AppendUint16(nil, kind)
	return append(binary.LittleEndian.AppendUint16(encoded, uint16(len(value))), value...)
}

func TestMintIsReadOnce(t *testing.T) {
	for _, program := range []solana.PublicKey{solana.TokenProgramID, solana.Token2022ProgramID} {
		client, scripted, _ := newScripted(t, nil)
		scripted.accounts = map[solana.PublicKey]any{keptMint: storedAccount(program, mintData())}
		for range 3 {
			mint, err := client.GetMint(t.Context(), keptMint)
			require.NoError(t, err)
			require.NoError(t, mint.Check())
			assert.Equal(t, &token.Mint{Address: keptMint, TokenProgram: program, Decimals: 6}, mint)
			want, _, err := solana.FindAssociatedTokenAddressWithProgram(protocol.ProgramID, keptMint,
				program)
			require.NoError(t, err)
			address, err := mint.AssociatedAddress(protocol.ProgramID)
			require.NoError(t, err)
			assert.Equal(t, want, address)
		}
		assert.Equal(t, 1, scripted.called("getMultipleAccounts"))
	}
}

func TestUnsupportedMints(t *testing.T) {
	uninitialised := mintData()
	uninitialised[mintOffsetInitialised] = 0
	oddly := mintData(extension(18))
	oddly[mintSize] = 1
	twice := mintData()
	twice[mintOffsetInitialised] = 2
	cases := map[string]struct {
		data   []byte
		reason string
	}{
		"bare": {mintData(), ""},
		"allowed extensions": {mintData(extension(18, make([]byte, 64)...), extension(19, 1, 2, 3),
			extension(23)), ""},
		"padding":          {mintData(extension(20), make([]byte, 7)), ""},
		"one byte is left": {mintData(extension(20), []byte{1}), ""},
		"all of them, padded": {mintData(extension(18), extension(19), extension(20), extension(21),
			extension(22), extension(23), make([]byte, 9)), ""},
		"one too many": {mintData(extension(18), extension(19), extension(20), extension(21),
			extension(22), extension(23), extension(23)), "malformed"},
		"odd padding":          {oddly, "padding"},
		"no extension":         {mintData([]byte{}), ""},
		"uninitialised":        {uninitialised, "not initialised"},
		"oddly initialised":    {twice, "not initialised"},
		"transfer fee":         {mintData(extension(20), extension(1, 0)), "TransferFeeConfig"},
		"hook":                 {mintData(extension(14, 0)), "TransferHook"},
		"delegate":             {mintData(extension(12, 0)), "PermanentDelegate"},
		"closable":             {mintData(extension(3, 0)), "MintCloseAuthority"},
		"unknown":              {mintData(extension(999, 0)), "extension 999"},
		"an account's":         {mintData(extension(extensionImmutableOwner)), "extension 7"},
		"no length":            {mintData([]byte{20, 0, 0}), "malformed"},
		"longer than it is":    {mintData([]byte{20, 0, 1, 0}), "malformed"},
		"bad after a good one": {mintData(extension(18, 1), []byte{19, 0, 9, 9, 9}), "malformed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, scripted, _ := newScripted(t, nil)
			scripted.accounts = map[solana.PublicKey]any{keptMint: storedAccount(solana.Token2022ProgramID,
				c.data)}
			mint, err := client.GetMint(t.Context(), keptMint)
			require.NoError(t, err)
			err = mint.Check()
			if c.reason == "" {
				require.NoError(t, err)
				return
			}
			var unsupported *token.UnsupportedMint
			require.ErrorAs(t, err, &unsupported)
			assert.Equal(t, keptMint, unsupported.Mint)
			assert.Contains(t, unsupported.Reason, c.reason)
			require.ErrorIs(t, err, protocol.ErrUnsupportedMint)
			require.ErrorAs(t, err, new(*protocol.ProgramError))

			// No mint that may change is cached, and nothing is sent.
			_, err = client.CreateNegotiation(CreateRequest{Key: "order 1", Mint: keptMint}).Build(t.Context())
			require.ErrorIs(t, err, protocol.ErrUnsupportedMint)
			assert.Equal(t, 2, scripted.called("getMultipleAccounts"))
		})
	}
}

func TestEachExtensionIsSupportedOnlyIfItIsListed(t *testing.T) {
	for kind := range uint16(300) {
		client := clientOf(t, storedAccount(solana.Token2022ProgramID, mintData(extension(kind, 1))))
		mint, err := client.GetMint(t.Context(), keptMint)
		require.NoError(t, err)
		listed := kind == 0 || kind >= 18 && kind <= 23
		assert.Equal(t, listed, mint.Check() == nil, kind)
	}
}

func TestDecodeMintRefusesOtherAccounts(t *testing.T) {
	long := mintData(make([]byte, 20))
	account := extended(tokenAccountData(protocol.ProgramID, token.StateInitialized), accountTypeTokenAccount,
		extension(7))
	cases := map[string]struct {
		stored any
		want   error
	}{
		"nothing":           {nil, protocol.ErrAccountNotFound},
		"another program's": {storedAccount(protocol.ProgramID, mintData()), protocol.ErrWrongOwner},
		"too short": {storedAccount(solana.TokenProgramID, make([]byte, 81)),
			protocol.ErrWrongLength},
		"too long for SPL Token": {storedAccount(solana.TokenProgramID, long), protocol.ErrWrongLength},
		"a token account": {storedAccount(solana.Token2022ProgramID, account),
			protocol.ErrWrongLength},
		"a short token account": {storedAccount(solana.Token2022ProgramID, account[:165]),
			protocol.ErrWrongLength},
		"a multisignature": {storedAccount(solana.Token2022ProgramID, mintData(make([]byte, 355-166))),
			protocol.ErrWrongLength},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := clientOf(t, c.stored).GetMint(t.Context(), keptMint)
			var wrong *protocol.AccountError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, keptMint, wrong.Address)
			require.ErrorIs(t, err, c.want)
			assert.Equal(t, c.want == protocol.ErrWrongOwner,
				errors.Is(err, protocol.ErrAccountOwnedByWrongProgram))
			assert.Equal(t, c.want == protocol.ErrWrongLength, errors.Is(err, protocol.ErrUnsupportedMint))
		})
	}
}

func TestMintCacheIsBounded(t *testing.T) {
	client, err := NewClient(Config{Endpoint: "http://127.0.0.1"})
	require.NoError(t, err)
	defer client.Close()
	cache := client.mints
	for i := range uint16(mintsKept + 10) {
		var address solana.PublicKey
		binary.LittleEndian.PutUint16(address[:], i)
		cache.Put(address, token.Mint{Address: address})
		cache.Put(address, token.Mint{Address: address})
		kept, ok := cache.Get(address)
		require.True(t, ok)
		require.Equal(t, address, kept.Address)
	}
	assert.Equal(t, mintsKept, cache.Len())
}

func TestTokenAccountsOfBothPrograms(t *testing.T) {
	owner := solana.PublicKey{4}
	usable, frozen := tokenAccountData(owner, token.StateInitialized), tokenAccountData(owner,
		token.StateFrozen)
	with := func(extensions ...[]byte) []byte {
		return extended(usable, accountTypeTokenAccount,
			extensions...)
	}
	cases := map[string]struct {
		program         solana.PublicKey
		data            []byte
		receives, memos bool
		err             error
	}{
		"SPL Token": {solana.TokenProgramID, usable, true, false, nil},
		"SPL Token, long": {solana.TokenProgramID, with(extension(7)), false, false,
			protocol.ErrWrongLength},
		"Token-2022":      {solana.Token2022ProgramID, usable, true, false, nil},
		"frozen":          {solana.Token2022ProgramID, frozen, false, false, nil},
		"immutable owner": {solana.Token2022ProgramID, with(extension(7)), true, false, nil},
		"CPI guard": {solana.Token2022ProgramID, with(extension(7), extension(11, 1)), true,
			false, nil},
		"all three": {solana.Token2022ProgramID,
			with(extension(7), extension(8, 0), extension(11, 0)), true, false, nil},
		"one too many": {solana.Token2022ProgramID,
			with(extension(7), extension(8, 0), extension(11, 0), extension(7)), false, false, nil},
		"memo not required": {solana.Token2022ProgramID, with(extension(7), extension(8, 0)), true, false,
			nil},
		"memo required": {solana.Token2022ProgramID, with(extension(7), extension(8, 1)), false, true,
			nil},
		"odd memo": {solana.Token2022ProgramID, with(extension(8, 0, 0)), false, true, nil},
		"transfer fee": {solana.Token2022ProgramID, with(extension(2, make([]byte, 8)...)), false,
			false, nil},
		"confidential": {solana.Token2022ProgramID, with(extension(5, 1)), false, false, nil},
		"malformed": {solana.Token2022ProgramID, with(extension(7), []byte{7, 0, 1, 0}), false,
			false, nil},
		"padded": {solana.Token2022ProgramID, with(extension(7), make([]byte, 5)), true, false,
			nil},
		"frozen and extended": {solana.Token2022ProgramID,
			extended(frozen, accountTypeTokenAccount, extension(7)), false, false, nil},
		"a mint": {solana.Token2022ProgramID, mintData(extension(18)), false, false,
			protocol.ErrWrongLength},
		"as long as a multisig": {solana.Token2022ProgramID, with(make([]byte, 355-166)), false, false,
			protocol.ErrWrongLength},
		"without extensions": {solana.Token2022ProgramID, with([]byte{}), true, false, nil},
		"too short": {solana.Token2022ProgramID, usable[:164], false, false,
			protocol.ErrWrongLength},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			read, err := clientOf(t, storedAccount(c.program, c.data)).GetTokenAccount(t.Context(),
				solana.PublicKey{9})
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.program, read.TokenProgram)
			assert.Equal(t, c.receives, read.CanReceive())
			assert.Equal(t, c.memos, read.MemoRequired)
			assert.EqualValues(t, 200, read.Amount)

			mint := &token.Mint{Address: keptMint, TokenProgram: c.program}
			assert.Equal(t, c.receives, read.Receives(mint, owner, false))
			assert.False(t, read.Receives(mint, solana.PublicKey{5}, true))
			assert.False(t, read.Receives(&token.Mint{Address: solana.PublicKey{6}, TokenProgram: c.program},
				owner, true))
			assert.False(t, read.Receives(&token.Mint{Address: keptMint, TokenProgram: solana.PublicKey{6}},
				owner, true))
		})
	}
}
