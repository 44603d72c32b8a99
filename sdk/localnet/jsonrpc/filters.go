package jsonrpc

import (
	"bytes"
	"encoding/json"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// filter is a filter of getProgramAccounts and programSubscribe: exactly one field is set.
type filter struct {
	size    *uint64
	compare *memcmp
	// token reports whether the account must be an initialized token account.
	token bool
}

type memcmp struct {
	offset uint64
	want   []byte
}

// UnmarshalJSON decodes a filter, and the bytes that it compares with.
func (f *filter) UnmarshalJSON(raw []byte) error {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		if f.token = name == "tokenAccountState"; !f.token {
			return unknownFilter(name)
		}
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	if len(fields) != 1 {
		return errSingleKey
	}
	for name, value := range fields {
		switch name {
		case "dataSize":
			if err := json.Unmarshal(value, &f.size); err != nil {
				return invalidParams("Invalid params: %s.", mismatch(value, err, ""))
			}
			return nil
		case "memcmp":
			return f.compareWith(value)
		}
		return unknownFilter(name)
	}
	return nil
}

var errSingleKey = invalidParams("Invalid params: invalid value: map, expected map with a single key.")

func unknownFilter(name string) error {
	return invalidParams("Invalid params: unknown variant `%s`, expected one of `dataSize`, `memcmp`, `tokenAccountState`.",
		name)
}

// The longest texts of maxMemcmp bytes.
const (
	maxMemcmp58 = 175
	maxMemcmp64 = 172
)

func (f *filter) compareWith(raw json.RawMessage) error {
	var given struct {
		Offset   *uint64         `json:"offset"`
		Bytes    json.RawMessage `json:"bytes"`
		Encoding string          `json:"encoding"`
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	switch {
	case given.Offset == nil:
		return invalidParams("Invalid params: missing field `offset`.")
	case given.Bytes == nil:
		return invalidParams("Invalid params: missing field `bytes`.")
	}
	f.compare = &memcmp{offset: *given.Offset}
	var text string
	if json.Unmarshal(given.Bytes, &text) != nil {
		return f.compare.numbers(given.Bytes)
	}
	decode, name, longest := decodeBase58, "Base58DecodeError", maxMemcmp58
	switch given.Encoding {
	case "", "base58", "bytes":
	case "base64":
		decode, name, longest = decodeBase64, "Base64DecodeError", maxMemcmp64
	default:
		return invalidParams("Invalid params: unknown variant `%s`, expected one of `base58`, `base64`, `bytes`.", given.Encoding)
	}
	if len(text) > longest {
		return errTooLarge
	}
	want, err := decode(text)
	if err != nil {
		return invalidParams("Invalid param: %s(%v)", name, err)
	}
	return f.compare.set(want)
}

func (m *memcmp) numbers(raw json.RawMessage) error {
	var numbers []uint8Number
	if err := json.Unmarshal(raw, &numbers); err != nil {
		return err
	}
	want := make([]byte, len(numbers))
	for i, number := range numbers {
		want[i] = byte(number)
	}
	return m.set(want)
}

// uint8Number is a byte. Slices are encoded as JSON arrays.
type uint8Number uint8

var errTooLarge = invalidParams("Invalid param: DataTooLarge")

func (m *memcmp) set(want []byte) error {
	if len(want) > maxMemcmp {
		return errTooLarge
	}
	m.want = want
	return nil
}

func (f filter) match(account *engine.Account) bool {
	size := uint64(len(account.Data))
	if f.token {
		_, is := ledger.ParseToken(account)
		return is
	}
	if f.size != nil && size != *f.size {
		return false
	}
	return f.compare == nil || f.compare.offset <= size && bytes.HasPrefix(account.Data[f.compare.offset:], f.compare.want)
}

// filters is a configuration's filter list.
type filters []filter

// UnmarshalJSON decodes filters. Errors use the type *Error if nodes name the problem.
func (f *filters) UnmarshalJSON(raw []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	*f = make(filters, len(items))
	for i, item := range items {
		if err := (*f)[i].UnmarshalJSON(item); err != nil {
			return err
		}
	}
	if len(items) > maxFilters {
		return invalidParams("Too many filters provided; max %d", maxFilters)
	}
	return nil
}

// checkTokenAddresses returns an error for comparisons with parts of the indexed mint or owner.
func (f filters) checkTokenAddresses(program solana.PublicKey) error {
	if program != solana.TokenProgramID && program != solana.Token2022ProgramID {
		return nil
	}
	for _, index := range []struct {
		offset uint64
		name   string
	}{{32, "owner"}, {0, "mint"}} {
		for _, each := range f {
			compare := each.compare
			if compare == nil || compare.offset != index.offset || len(compare.want) == len(program) {
				continue
			}
			return invalidParams("Incorrect byte length %d for SPL token %s filter, expected %d", len(compare.want), index.name,
				len(program))
		}
	}
	return nil
}

func (f filters) match(account *engine.Account) bool {
	for _, each := range f {
		if !each.match(account) {
			return false
		}
	}
	return true
}
