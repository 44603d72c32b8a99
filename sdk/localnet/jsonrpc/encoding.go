package jsonrpc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/gagliardetto/solana-go/base58"
	"github.com/klauspost/compress/zstd"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

type object = map[string]any

// maxBase58 is the largest account data that nodes encode as base58, in bytes.
const maxBase58 = 128

type dataSlice struct{ Offset, Length uint64 }

// UnmarshalJSON implements json.Unmarshaler. Both fields are required.
func (s *dataSlice) UnmarshalJSON(raw []byte) error {
	var given struct {
		Offset *uint `json:"offset"`
		Length *uint `json:"length"`
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	switch {
	case given.Offset == nil:
		return invalidParams("Invalid params: missing field `offset`.")
	case given.Length == nil:
		return invalidParams("Invalid params: missing field `length`.")
	}
	s.Offset, s.Length = uint64(*given.Offset), uint64(*given.Length)
	return nil
}

// accountEncoding is how an account's data is encoded.
type accountEncoding struct {
	Encoding  string     `json:"encoding"`
	DataSlice *dataSlice `json:"dataSlice"`
}

var compressor = sync.OnceValue(func() *zstd.Encoder {
	encoder, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) // these options are valid
	return encoder
})

func (e accountEncoding) check() error {
	switch e.Encoding {
	case "", "binary", "base58", "base64", "base64+zstd", parsed:
		return nil
	}
	return invalidParams("Invalid params: unknown variant `%s`, expected one of `binary`, `base58`, `base64`, `jsonParsed`, "+
		"`base64+zstd`.", e.Encoding)
}

func (e accountEncoding) encode(account *engine.Account) (any, error) {
	if account == nil {
		return nil, nil
	}
	data := account.Data
	if e.DataSlice != nil {
		from := min(e.DataSlice.Offset, uint64(len(data)))
		data = data[from : from+min(e.DataSlice.Length, uint64(len(data))-from)]
	}
	var encoded any
	switch {
	case e.Encoding == "base64" || e.Encoding == parsed:
		encoded = []string{base64.StdEncoding.EncodeToString(data), "base64"}
	case e.Encoding == "base64+zstd":
		encoded = []string{base64.StdEncoding.EncodeToString(compressor().EncodeAll(data, nil)), "base64+zstd"}
	case len(data) > maxBase58:
		return nil, &Error{Code: codeInvalidRequest,
			Message: "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding."}
	case e.Encoding == "" || e.Encoding == "binary":
		encoded = base58.Encode(data)
	default:
		encoded = []string{base58.Encode(data), "base58"}
	}
	return object{
		"lamports": account.Lamports, "owner": account.Owner, "executable": account.Executable,
		"rentEpoch": account.RentEpoch, "space": len(account.Data), "data": encoded,
	}, nil
}

func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func encodeTokens(balances []ledger.TokenBalance) []any {
	encoded := []any{}
	for _, balance := range balances {
		encoded = append(encoded, object{
			"accountIndex": balance.Account, "mint": balance.Mint, "owner": balance.Owner, "programId": balance.Program,
			"uiTokenAmount": tokenAmount(balance.Amount, balance.Decimals),
		})
	}
	return encoded
}

func tokenAmount(amount uint64, decimals byte) object {
	text := fmt.Sprint(amount)
	if decimals > 0 {
		text = strings.Repeat("0", max(0, int(decimals)+1-len(text))) + text
		point := len(text) - int(decimals)
		text = strings.TrimRight(strings.TrimRight(text[:point]+"."+text[point:], "0"), ".")
	}
	return object{
		"amount": fmt.Sprint(amount), "decimals": decimals, "uiAmount": json.RawMessage(text), "uiAmountString": text,
	}
}
