package jsonrpc

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go/base58"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// The types that nodes name in errors.
const (
	transactionType = "solana_transaction::versioned::VersionedTransaction"
	messageType     = "solana_message::versions::VersionedMessage"
)

// The longest texts for transactions of 1,232 bytes.
const (
	maxBase58Text = 1683
	maxBase64Text = 1644
)

// transactionEncodings lists the encodings known to nodes.
var transactionEncodings = []string{"binary", "base64", "base58", "json", parsed}

// decodeText decodes the transaction or message in the first parameter.
func decodeText(p parameters, encoding, kind string) ([]byte, error) {
	text, err := p.text(0)
	if err != nil {
		return nil, err
	}
	decode, longest := decodeBase64, maxBase64Text
	switch encoding {
	case "base64":
	case "", "base58":
		encoding, decode, longest = "base58", decodeBase58, maxBase58Text
	default:
		if !slices.Contains(transactionEncodings, encoding) {
			return nil, invalidParams("Invalid params: unknown variant `%s`, expected one of `%s`.", encoding,
				strings.Join(transactionEncodings, "`, `"))
		}
		return nil, invalidParams("unsupported encoding: %s. Supported encodings: base58, base64", encoding)
	}
	if len(text) > longest {
		return nil, invalidParams("%s encoded %s too large: %d bytes (max: encoded/raw %d/%d)", encoding, kind, len(text),
			longest, engine.MaxTransactionBytes)
	}
	decoded, err := decode(text)
	if err != nil {
		return nil, invalidParams("invalid %s encoding: %v", encoding, err)
	}
	if len(decoded) > engine.MaxTransactionBytes {
		return nil, invalidParams("decoded %s too large: %d bytes (max: %d bytes)", kind, len(decoded), engine.MaxTransactionBytes)
	}
	return decoded, nil
}

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// decodeBase58 returns errors as the crate bs58 prints them.
func decodeBase58(text string) ([]byte, error) {
	for i, character := range text {
		if character > 127 {
			return nil, fmt.Errorf("NonAsciiCharacter { index: %d }", i)
		}
		if !strings.ContainsRune(base58Alphabet, character) {
			return nil, fmt.Errorf("InvalidCharacter { character: %s, index: %d }", rustRune(character), i)
		}
	}
	return base58.Decode(text)
}

func rustRune(character rune) string { return "'" + string(character) + "'" }

// decodeBase64 returns errors as the crate base64 prints them.
func decodeBase64(text string) ([]byte, error) {
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && !strings.ContainsAny(text, "\r\n") {
		return decoded, nil
	}
	body := strings.TrimRight(text, "=")
	for i := range len(body) {
		if !isBase64(body[i]) {
			return nil, fmt.Errorf("InvalidByte(%d, %d)", i, body[i])
		}
	}
	switch len(body) % 4 {
	case 1:
		return nil, fmt.Errorf("InvalidLength(%d)", len(body))
	case 0:
		return nil, fmt.Errorf("InvalidByte(%d, %d)", len(body), '=')
	}
	if len(text)%4 != 0 {
		return nil, fmt.Errorf("InvalidPadding")
	}
	return nil, fmt.Errorf("InvalidLastSymbol(%d, %d)", len(body)-1, body[len(body)-1])
}

func isBase64(letter byte) bool {
	return letter >= 'A' && letter <= 'Z' || letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9' ||
		letter == '+' || letter == '/'
}
