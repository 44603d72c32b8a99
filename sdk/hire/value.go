package hire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"time"

	"github.com/gagliardetto/solana-go/base58"
)

// Hash is a SHA-256, in lower-case hexadecimal digits, over a signed message's canonical form or a delivery.
type Hash string

// Time is a timestamp of RFC 3339 in UTC, as written in a message.
type Time string

// Base58 encodes 32 bytes: a Solana address or genesis hash.
type Base58 string

// Units is an amount of mint base units, above zero and less than 2^64, in decimal digits.
type Units string

// Value formats, the same as in the JSON Schemas.
const (
	HashPattern   = `^[0-9a-f]{64}$`
	TimePattern   = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$`
	PricePattern  = `^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})? [A-Z][A-Z0-9]{0,15}$`
	Base58Pattern = `^[1-9A-HJ-NP-Za-km-z]{32,44}$`
	UnitsPattern  = `^[1-9][0-9]{0,19}$`
)

var (
	hashForm  = regexp.MustCompile(HashPattern)
	timeForm  = regexp.MustCompile(TimePattern)
	priceForm = regexp.MustCompile(PricePattern)
	unitsForm = regexp.MustCompile(UnitsPattern)
)

func hashOf(text []byte) Hash {
	sum := sha256.Sum256(text)
	return Hash(hex.EncodeToString(sum[:]))
}

// NewTime returns a time in UTC, in whole seconds.
func NewTime(t time.Time) Time { return Time(t.UTC().Format(time.RFC3339)) }

// Parse returns the time. It returns an error for anything but a timestamp in UTC.
func (t Time) Parse() (time.Time, error) {
	parsed, err := time.Parse(time.RFC3339, string(t))
	if err != nil || !timeForm.MatchString(string(t)) {
		return time.Time{}, errors.New("not a timestamp of RFC 3339 in UTC")
	}
	return parsed, nil
}

// Uint64 returns the number. It returns an error for zero or anything but decimal digits.
func (u Units) Uint64() (uint64, error) {
	number, err := strconv.ParseUint(string(u), 10, 64)
	if err != nil || !unitsForm.MatchString(string(u)) {
		return 0, errors.New("not an integer above zero and below 2^64")
	}
	return number, nil
}

// bytes returns the 32 bytes.
func (b Base58) bytes() ([]byte, error) {
	decoded, err := base58.Decode(string(b))
	// A longer encoding would be a second name for the same bytes.
	if err != nil || len(decoded) != 32 || base58.Encode(decoded) != string(b) {
		return nil, errors.New("not 32 bytes in base 58")
	}
	return decoded, nil
}

// UnmarshalJSON reads 64 lower-case hexadecimal digits.
func (h *Hash) UnmarshalJSON(data []byte) error {
	return unmarshal(data, (*string)(h), func(text string) error {
		if !hashForm.MatchString(text) {
			return errors.New("not 64 lower-case hexadecimal digits")
		}
		return nil
	})
}

// UnmarshalJSON reads a timestamp in UTC.
func (t *Time) UnmarshalJSON(data []byte) error {
	return unmarshal(data, (*string)(t), func(text string) error {
		_, err := Time(text).Parse()
		return err
	})
}

// UnmarshalJSON reads 32 bytes encoded as base58.
func (b *Base58) UnmarshalJSON(data []byte) error {
	return unmarshal(data, (*string)(b), func(text string) error {
		_, err := Base58(text).bytes()
		return err
	})
}

// UnmarshalJSON reads an integer above zero and below 2^64.
func (u *Units) UnmarshalJSON(data []byte) error {
	return unmarshal(data, (*string)(u), func(text string) error {
		_, err := Units(text).Uint64()
		return err
	})
}

// unmarshal reads a JSON string in the given form.
func unmarshal(data []byte, into *string, check func(string) error) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if err := check(text); err != nil {
		return refuse(ReasonMalformed, "value: %v", err)
	}
	*into = text
	return nil
}
