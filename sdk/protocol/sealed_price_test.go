package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const secretPrice = 3_141_593

const sealedAt = 1_700_000_000

// comparedDeal is a negotiation, including the address, where reservation prices are compared.
type comparedDeal struct {
	Address solana.PublicKey
	Negotiation
}

func comparing(t *testing.T) *comparedDeal {
	t.Helper()
	key := func() solana.PublicKey {
		private, err := solana.NewRandomPrivateKey()
		require.NoError(t, err)
		return private.PublicKey()
	}
	return &comparedDeal{key(), Negotiation{
		Buyer: key(), Seller: key(), TokenMint: key(), EscrowAmount: 5_000_000,
		EffectiveEscrow: 5_000_000, MaxRounds: 10, Status: NegotiationStatusProposed, ZopaEnabled: true, BondRequired: 100,
		BondState: BondStateHeld, Version: NegotiationVersion,
		ResponseWindow: 300, CreatedAt: sealedAt - 10, TurnDeadline: sealedAt + 300, GlobalDeadline: sealedAt + 3_600,
	}}
}

func seal(t *testing.T, n *comparedDeal, agent solana.PublicKey, price uint64) *SealedPrice {
	t.Helper()
	sealedPrice, err := SealPrice(n.Address, &n.Negotiation, agent, price)
	require.NoError(t, err)
	return sealedPrice
}

func TestCommitmentIsAHashOfEverythingThatItBinds(t *testing.T) {
	n := comparing(t)
	price := seal(t, n, n.Seller, secretPrice)
	secret := price.open()
	content := binary.LittleEndian.AppendUint64([]byte("haggle-zopa"+string(n.Address[:])), uint64(n.CreatedAt))
	content = append(content, n.Seller[:]...)
	content = append(binary.LittleEndian.AppendUint64(content, secretPrice), secret.nonce[:]...)
	assert.Equal(t, sha256.Sum256(content), price.Commitment())
	assert.True(t, price.Matches(sha256.Sum256(content)))

	for name, other := range map[string][32]byte{
		"negotiation": ZopaCommitment(n.Seller, n.CreatedAt, n.Seller, secretPrice, secret.nonce),
		"created_at":  ZopaCommitment(n.Address, n.CreatedAt+1, n.Seller, secretPrice, secret.nonce),
		"agent":       ZopaCommitment(n.Address, n.CreatedAt, n.Buyer, secretPrice, secret.nonce),
		"price":       ZopaCommitment(n.Address, n.CreatedAt, n.Seller, secretPrice+1, secret.nonce),
		"nonce":       ZopaCommitment(n.Address, n.CreatedAt, n.Seller, secretPrice, [32]byte{}),
		"nothing":     {},
	} {
		assert.False(t, price.Matches(other), name)
	}
	assert.False(t, price.Matches(seal(t, n, n.Seller, secretPrice).Commitment()), "two nonces are the same")
}

// A published value, so that another implementation can check itself.
func TestCommitmentOfKnownValues(t *testing.T) {
	commitment := ZopaCommitment(solana.PublicKey{1}, 1_700_000_000, solana.PublicKey{2}, 3, [32]byte{4})
	assert.Equal(t, "afb95042f0108f6b85a591fb799c1e88b8df6cb1de0831078e56933e88d87a7a", hex.EncodeToString(commitment[:]))
}

func TestPricesThatCannotBeSealed(t *testing.T) {
	n := comparing(t)
	n.MinOfferBps = 1_000
	for price, want := range map[uint64]error{
		0: ErrInvalidParams, 499_999: ErrInvalidParams, 500_000: nil, 5_000_000: nil, 5_000_001: ErrInvalidParams,
	} {
		_, err := SealPrice(n.Address, &n.Negotiation, n.Buyer, price)
		require.ErrorIs(t, err, want, price)
	}
	n.MinOfferBps = 0
	_, err := SealPrice(n.Address, &n.Negotiation, n.Buyer, 0)
	require.ErrorIs(t, err, ErrInvalidParams, "the least is 1")
	_, err = SealPrice(n.Address, &n.Negotiation, n.Buyer, 1)
	require.NoError(t, err)
	_, err = SealPrice(n.Address, &n.Negotiation, solana.PublicKey{1}, 1)
	require.ErrorIs(t, err, ErrUnauthorized)
	var refused *ProgramError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, -1, refused.Instruction)
}

func TestSealedPriceIsKeptAndReadAgain(t *testing.T) {
	n := comparing(t)
	price := seal(t, n, n.Buyer, secretPrice)
	secret, err := price.Secret()
	require.NoError(t, err)
	read, err := ParseSealedPrice(secret)
	require.NoError(t, err)
	assert.Equal(t, price.open(), read.open())
	assert.EqualValues(t, secretPrice, read.Price())
	assert.Equal(t, n.Address, read.Negotiation())
	assert.EqualValues(t, n.CreatedAt, read.CreatedAt())
	assert.Equal(t, n.Buyer, read.Agent())
	assert.Equal(t, price.Commitment(), read.Commitment())

	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, secret, "", "  "))
	_, err = ParseSealedPrice(append(indented.Bytes(), '\n'))
	require.NoError(t, err)
}

// Whichever byte is changed, the document is refused, or still says the same.
func TestDamagedSecretIsRefused(t *testing.T) {
	n := comparing(t)
	price := seal(t, n, n.Buyer, secretPrice)
	secret, err := price.Secret()
	require.NoError(t, err)
	for at := range secret {
		for _, bit := range []byte{1, 2, 4, 0x10, 0x20, 0x40, 0x80} {
			damaged := bytes.Clone(secret)
			damaged[at] ^= bit
			requireSame(t, price, damaged)
		}
		requireSame(t, price, secret[:at])
		requireSame(t, price, append(bytes.Clone(secret[:at]), secret[at+1:]...))
	}
	for _, other := range []string{"", "null", "{}", "[]", string(secret) + "x", string(secret) + string(secret),
		strings.Replace(string(secret), `"version":1`, `"version":2`, 1), strings.Replace(string(secret), "{", `{"more":1,`, 1),
		strings.Replace(string(secret), "3141593", "0", 1)} {
		_, err := ParseSealedPrice([]byte(other))
		require.ErrorIs(t, err, ErrSealedPrice, other)
		assert.NotContains(t, err.Error(), "3141593")
	}
}

func requireSame(t *testing.T, price *SealedPrice, secret []byte) {
	t.Helper()
	read, err := ParseSealedPrice(secret)
	if err != nil {
		require.ErrorIs(t, err, ErrSealedPrice)
		require.NotContains(t, err.Error(), "3141593")
		return
	}
	require.Equal(t, price.open(), read.open(), "%s", secret)
}

func TestSealedPriceIsNotPrintedByAccident(t *testing.T) {
	n := comparing(t)
	price := seal(t, n, n.Buyer, secretPrice)
	nonce := price.open().nonce
	traces := []string{"3141593", "2fefd9", fmt.Sprintf("%d", nonce[:4]), hex.EncodeToString(nonce[:4]), fmt.Sprintf("%#v", nonce[:4])}
	type holder struct {
		Price *SealedPrice
		Value SealedPrice
		inner SealedPrice
	}
	for _, value := range []any{price, *price, holder{price, *price, *price}, &holder{price, *price, *price}, []SealedPrice{*price}, map[string]*SealedPrice{"a": price}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			requireNoTrace(t, fmt.Sprintf(verb, value), traces)
		}
		var text, document bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("sealed", "price", value)
		slog.New(slog.NewJSONHandler(&document, nil)).Info("sealed", "price", value)
		requireNoTrace(t, text.String()+document.String(), traces)

		_, err := json.Marshal(value)
		require.ErrorIs(t, err, ErrSealedPrice)
		requireNoTrace(t, err.Error(), traces)
	}
	_, err := xml.Marshal(price)
	require.Error(t, err)
	require.Error(t, gob.NewEncoder(new(bytes.Buffer)).Encode(price))
	assert.Contains(t, price.String(), n.Buyer.String())
}

func requireNoTrace(t *testing.T, text string, traces []string) {
	t.Helper()
	for _, trace := range traces {
		require.NotContains(t, text, trace)
	}
}

func TestNoSealedPrice(t *testing.T) {
	var none SealedPrice
	assert.Equal(t, "no sealed price", none.String())
	assert.Zero(t, none.Price())
	_, err := none.Secret()
	require.ErrorIs(t, err, ErrSealedPrice)
}

func FuzzParseSealedPrice(f *testing.F) {
	secret, err := sealed(sealedPrice{solana.PublicKey{1}, solana.PublicKey{2}, sealedAt, secretPrice, [32]byte{3}}).Secret()
	require.NoError(f, err)
	f.Add(secret)
	f.Add([]byte(`{"version":1,"price":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		price, err := ParseSealedPrice(data)
		if err != nil {
			require.ErrorIs(t, err, ErrSealedPrice)
			require.Nil(t, price)
			return
		}
		written, err := price.Secret()
		require.NoError(t, err)
		again, err := ParseSealedPrice(written)
		require.NoError(t, err)
		require.Equal(t, price.open(), again.open())
	})
}
