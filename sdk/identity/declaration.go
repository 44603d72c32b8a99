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
// models and prompts. It applies to the agent's negotiations created from DeclaredAt on, until the agent's
// next declaration.
//
// The signature proves that the agent made the statement, not that it is true, and the agent sets DeclaredAt:
// publishers of declarations must record the time of receipt.
type Declaration struct {
	Agent solana.PublicKey `json:"agent"`
	// Strategy and Model are optional names, such as "genius-boulware". They contain up to 64 letters, digits
	// and the characters " ._:/+-".
	Strategy string `json:"strategy"`
	Model    string `json:"model"`
	// PromptHash is the SHA-256 of the model's instructions, in hex, if there is a model: see [PromptHash].
	PromptHash string `json:"prompt_hash"`
	// DeclaredAt is a time in Unix seconds.
	DeclaredAt int64 `json:"declared_at"`
	// Signature is made by the agent.
	Signature solana.Signature `json:"signature"`
}

// ErrDeclaration reports an invalid declaration, or a declaration not signed by the agent.
var ErrDeclaration = errors.New("identity: invalid declaration")

// PromptHash returns the prompt's SHA-256 in hex.
func PromptHash(prompt []byte) string {
	hash := sha256.Sum256(prompt)
	return hex.EncodeToString(hash[:])
}

var (
	declaredName = regexp.MustCompile(`^[A-Za-z0-9 ._:/+-]{0,64}$`)
	declaredHash = regexp.MustCompile(`^([0-9a-f]{64})?$`)
)

// Message returns the bytes that the agent signs: a Solana off-chain message, version 0, in ASCII, containing
// the JSON of all fields but the signature. No transaction starts with the same first byte.
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
	// Version and format (ASCII) are 0.
	message := append([]byte("\xffsolana offchain"), 0, 0)
	message = binary.LittleEndian.AppendUint16(message, uint16(len(text)))
	return append(message, text...), nil
}

// Declare signs a declaration. It sets Agent and Signature. The signer must sign messages that are not
// transactions; a policy from sdk/policy refuses to.
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

// ReadDeclarations reads consecutive JSON declarations and verifies each. It returns [ErrDeclaration] if any
// is invalid.
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

// DeclarationAt returns the agent's declaration in force at a time, in Unix seconds: the latest declared up
// to that time. If times are equal, the greater signature wins. The second result is false if there is none.
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
