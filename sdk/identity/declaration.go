package identity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// Declaration is an agent's signed statement of how it negotiates, for research that compares strategies,
// models and prompts. It holds for the agent's negotiations that are created from DeclaredAt on, until its
// next declaration.
//
// The signature proves that the agent made the statement, not that it is true, and DeclaredAt is the agent's
// own: who publishes declarations must record when it got them.
type Declaration struct {
	Agent solana.PublicKey `json:"agent"`
	// Strategy and Model are names, such as "genius-boulware"; empty if there is none. They have up to 64
	// letters, digits and the characters " ._:/+-".
	Strategy string `json:"strategy"`
	Model    string `json:"model"`
	// PromptHash is the SHA-256 of the model's instructions, in hex; empty without a model: see [PromptHash].
	PromptHash string `json:"prompt_hash"`
	// DeclaredAt is a time in Unix seconds.
	DeclaredAt int64 `json:"declared_at"`
	// Signature is the agent's.
	Signature solana.Signature `json:"signature"`
}

// ErrDeclaration reports an invalid declaration, or one that its agent has not signed.
var ErrDeclaration = errors.New("identity: invalid declaration")

// PromptHash returns the SHA-256 of a prompt in hex.
func PromptHash(prompt []byte) string {
	hash := sha256.Sum256(prompt)
	return hex.EncodeToString(hash[:])
}

var (
	declaredName = regexp.MustCompile(`^[A-Za-z0-9 ._:/+-]{0,64}$`)
	declaredHash = regexp.MustCompile(`^([0-9a-f]{64})?$`)
)

// Message returns the bytes that the agent signs: Solana's off-chain message, version 0, in ASCII, whose
// first byte no transaction has, with the JSON of the fields but the signature.
func (d *Declaration) Message() ([]byte, error) {
	switch {
	case d.Agent.IsZero():
		return nil, fmt.Errorf("%w: agent not set", ErrDeclaration)
	case !declaredName.MatchString(d.Strategy) || !declaredName.MatchString(d.Model):
		return nil, fmt.Errorf("%w: a name has more than 64 or other characters", ErrDeclaration)
	case !declaredHash.MatchString(d.PromptHash):
		return nil, fmt.Errorf("%w: the prompt hash is not 64 digits in hex", ErrDeclaration)
	}
	text, err := json.Marshal(struct {
		Statement  string           `json:"statement"`
		Agent      solana.PublicKey `json:"agent"`
		Strategy   string           `json:"strategy"`
		Model      string           `json:"model"`
		PromptHash string           `json:"prompt_hash"`
		DeclaredAt int64            `json:"declared_at"`
	}{"haggle agent declaration", d.Agent, d.Strategy, d.Model, d.PromptHash, d.DeclaredAt})
	if err != nil {
		return nil, err
	}
	// The version and the format (ASCII) are 0.
	message := append([]byte("\xffsolana offchain"), 0, 0)
	message = binary.LittleEndian.AppendUint16(message, uint16(len(text)))
	return append(message, text...), nil
}

// Declare signs a declaration. It sets Agent and Signature. The signer must sign messages that are no
// transactions, which a policy of sdk/policy does not.
func Declare(ctx context.Context, signer haggle.Signer, d Declaration) (Declaration, error) {
	d.Agent = signer.PublicKey()
	message, err := d.Message()
	if err != nil {
		return Declaration{}, err
	}
	if d.Signature, err = signer.SignMessage(ctx, message); err != nil {
		return Declaration{}, err
	}
	return d, d.Verify()
}

// Verify returns [ErrDeclaration] unless the agent has signed the declaration.
func (d *Declaration) Verify() error {
	message, err := d.Message()
	if err != nil {
		return err
	}
	if !d.Signature.Verify(d.Agent, message) {
		return fmt.Errorf("%w: the signature is not that of %s", ErrDeclaration, d.Agent)
	}
	return nil
}

// ReadDeclarations reads declarations as JSON, one after the other, and verifies each. It returns
// [ErrDeclaration] for an invalid one.
func ReadDeclarations(r io.Reader) (declarations []Declaration, err error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	for {
		var d Declaration
		switch err := decoder.Decode(&d); {
		case errors.Is(err, io.EOF):
			return declarations, nil
		case err != nil:
			return nil, fmt.Errorf("%w: number %d: %w", ErrDeclaration, len(declarations)+1, err)
		}
		if err := d.Verify(); err != nil {
			return nil, fmt.Errorf("number %d: %w", len(declarations)+1, err)
		}
		declarations = append(declarations, d)
	}
}

// DeclarationAt returns the declaration of an agent that holds at a time, in Unix seconds: the latest one up
// to it. Of two with the same time it is the one with the greater signature. It returns false if there is
// none.
func DeclarationAt(
	declarations []Declaration, agent solana.PublicKey, time int64,
) (found Declaration, ok bool) {
	for _, d := range declarations {
		if d.Agent != agent || d.DeclaredAt > time {
			continue
		}
		isLater := d.DeclaredAt > found.DeclaredAt || d.DeclaredAt == found.DeclaredAt &&
			bytes.Compare(d.Signature[:], found.Signature[:]) > 0
		if !ok || isLater {
			found, ok = d, true
		}
	}
	return found, ok
}
