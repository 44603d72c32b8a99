package wallet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/base58"
)

// Keypair is a haggle.Signer with the private key in memory.
type Keypair struct {
	// private is behind two pointers: fmt follows one when it prints a structure that contains a Keypair, and
	// then prints a pointer instead of the key.
	private **solana.PrivateKey
}

func keypairOf(private solana.PrivateKey) *Keypair {
	pointer := &private
	return &Keypair{private: &pointer}
}

// key is the private key itself; nil for the zero Keypair.
func (k *Keypair) key() solana.PrivateKey {
	if k.private == nil {
		return nil
	}
	return **k.private
}

// GenerateKeypair returns a new random keypair.
func GenerateKeypair() (*Keypair, error) {
	private, err := solana.NewRandomPrivateKey()
	if err != nil {
		return nil, fmt.Errorf("haggle: generate a keypair: %w", err)
	}
	return keypairOf(private), nil
}

// NewKeypair takes a private key of 64 bytes, the public key included, as written by Solana's tools. It fails
// when the two halves do not belong together.
func NewKeypair(private solana.PrivateKey) (*Keypair, error) {
	if len(private) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("haggle: a keypair has %d bytes, not %d", ed25519.PrivateKeySize, len(private))
	}
	derived := ed25519.NewKeyFromSeed(private[:ed25519.SeedSize])
	if !ed25519.PrivateKey(private).Equal(derived) {
		return nil, errors.New("haggle: the keypair's public key is not its private key's")
	}
	return keypairOf(solana.PrivateKey(derived)), nil
}

// LoadKeypairFile reads a keypair file of the Solana CLI: a JSON array of 64 bytes. It returns ErrEncrypted if
// the file needs a passphrase.
func LoadKeypairFile(path string) (*Keypair, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("haggle: keypair: %w", err)
	}
	if isEncrypted(content) {
		return nil, fmt.Errorf("haggle: keypair %s: %w", path, ErrEncrypted)
	}
	private, err := parseKeypairJSON(content)
	if err != nil {
		return nil, fmt.Errorf("haggle: keypair %s: %w", path, err)
	}
	keypair, err := NewKeypair(private)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, path)
	}
	return keypair, nil
}

// ParseKeypair takes a keypair from text: a keypair file's JSON array, or 64 bytes as base58, as exported by
// wallets. White space around it does not matter. No error contains the text.
func ParseKeypair(text []byte) (*Keypair, error) {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("[")) {
		private, err := parseKeypairJSON(text)
		if err != nil {
			return nil, fmt.Errorf("haggle: keypair: %w", err)
		}
		return NewKeypair(private)
	}
	private, err := base58.Decode(string(text[:min(len(text), longestBase58)]))
	if err != nil || len(text) > longestBase58 {
		return nil, errors.New("haggle: keypair: neither a JSON array nor base 58")
	}
	return NewKeypair(private)
}

// longestBase58 is the maximum number of characters for 64 bytes.
const longestBase58 = 88

// parseKeypairJSON extracts the bytes from a keypair file's content. Errors never contain the content: they
// may be passed on elsewhere.
func parseKeypairJSON(content []byte) (solana.PrivateKey, error) {
	var values []int
	if json.Unmarshal(content, &values) != nil {
		return nil, errors.New("not a JSON array of numbers")
	}
	private := make(solana.PrivateKey, len(values))
	for i, value := range values {
		if value < 0 || value > math.MaxUint8 {
			return nil, errors.New("a number is not a byte")
		}
		private[i] = uint8(value)
	}
	return private, nil
}

// json returns the keypair file content.
func (k *Keypair) json() ([]byte, error) {
	values := make([]int, len(k.key()))
	for i, value := range k.key() {
		values[i] = int(value)
	}
	return json.Marshal(values)
}

// Save writes a Solana CLI keypair file readable by the owner alone. It fails if the file exists.
func (k *Keypair) Save(path string) error {
	content, err := k.json()
	if err != nil {
		return fmt.Errorf("haggle: keypair: %w", err)
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("haggle: keypair: %w", err)
	}
	_, err = file.Write(append(content, '\n'))
	return errors.Join(err, file.Close())
}

// PublicKey is the account's address.
func (k *Keypair) PublicKey() solana.PublicKey { return k.key().PublicKey() }

// PrivateKey is a copy of the key itself, for other Solana libraries.
func (k *Keypair) PrivateKey() solana.PrivateKey { return slices.Clone(k.key()) }

// SignMessage signs. It does not fail.
func (k *Keypair) SignMessage(_ context.Context, message []byte) (solana.Signature, error) {
	return k.key().Sign(message)
}

// String is the public key: printing a keypair does not give the private one away.
func (k Keypair) String() string {
	if k.private == nil {
		return "none"
	}
	return k.key().PublicKey().String()
}

// GoString is the public key too.
func (k Keypair) GoString() string { return "wallet.Keypair(" + k.String() + ")" }

// Format writes the public key, whatever the verb.
func (k Keypair) Format(state fmt.State, verb rune) {
	text := k.String()
	if verb == 'v' && state.Flag('#') {
		text = k.GoString()
	}
	_, _ = io.WriteString(state, text)
}
