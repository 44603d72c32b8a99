package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// replacedKeys maps earlier versions' keys to their replacements.
var replacedKeys = map[string]string{"maxPrice": `"maxTotal", which limits price and decay together`}

// readObject reads a JSON object into the struct fields tagged with the same keys. Value errors begin with
// the key; an unknown key error lists the known keys.
func readObject(object []byte, into reflect.Value) error {
	var values map[string]json.RawMessage
	if !decodes(object, &values) {
		return fmt.Errorf("%s is not an object: {...}", object)
	}
	fields := map[string]reflect.Value{}
	for _, field := range reflect.VisibleFields(into.Type()) {
		if key, ok := field.Tag.Lookup("file"); ok {
			fields[key] = into.FieldByIndex(field.Index)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		field, known := fields[key]
		switch replacement, replaced := replacedKeys[key]; {
		case !known && replaced:
			return fmt.Errorf("unknown key %q: replaced by %s", key, replacement)
		case !known:
			return fmt.Errorf("unknown key %q: use one of %s", key,
				strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if err := readValue(values[key], field); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// readValue reads a JSON value into a field by the field's type.
func readValue(value []byte, field reflect.Value) (err error) {
	switch target := field.Addr().Interface().(type) {
	case *uint64: // base units
		if string(value) == `"unlimited"` {
			*target = Unlimited
		} else if !decodes(value, target) {
			return fmt.Errorf("%s is neither a whole number of base units nor \"unlimited\"", value)
		}
	case *uint16: // basis points
		if !decodes(value, target) || uint64(*target) > protocol.BpsDenominator {
			return fmt.Errorf("%s is not a number of basis points from 0 to %d", value, protocol.BpsDenominator)
		}
	case **uint16: // basis points, 0 if named and the default otherwise
		*target = new(uint16)
		return readValue(value, field.Elem())
	case *uint8: // rounds
		if !decodes(value, target) || *target < protocol.MinRounds || *target > protocol.MaxRounds {
			return fmt.Errorf("%s is not a number of rounds from %d to %d", value, protocol.MinRounds, protocol.MaxRounds)
		}
	case *string:
		if !decodes(value, target) {
			return fmt.Errorf("%s is not a string", value)
		}
	case *time.Duration:
		var word string
		if decodes(value, &word) {
			*target, err = time.ParseDuration(word)
		}
		if err != nil || *target <= 0 {
			return fmt.Errorf("%s is not a positive duration, such as \"30s\"", value)
		}
	case *[]string:
		*target, err = readWords(value)
	case *[]solana.PublicKey:
		words, err := readWords(value)
		if err != nil {
			return err
		}
		*target = make([]solana.PublicKey, len(words))
		for i, word := range words {
			if (*target)[i], err = parseAddress(word); err != nil {
				return err
			}
		}
	case *map[solana.PublicKey]TokenLimits:
		return readTokens(value, *target)
	case *Band:
		if err := readObject(value, field); err != nil {
			return err
		}
		return target.check()
	case **AgreementLimits:
		*target = new(AgreementLimits)
		return readObject(value, field.Elem())
	default:
		return readObject(value, field)
	}
	return err
}

// decodes sets a variable from a JSON value, and reports whether the value is non-null and the types match.
func decodes(value []byte, variable any) bool {
	return string(value) != "null" && json.Unmarshal(value, variable) == nil
}

func readTokens(object []byte, tokens map[solana.PublicKey]TokenLimits) error {
	var values map[string]json.RawMessage
	if !decodes(object, &values) {
		return fmt.Errorf("%s is not an object with a mint for each key: {...}", object)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		mint, err := parseAddress(key)
		if err != nil {
			return err
		}
		var limits TokenLimits
		if err := readObject(values[key], reflect.ValueOf(&limits).Elem()); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		tokens[mint] = limits
	}
	return nil
}

func readWords(value []byte) ([]string, error) {
	var read []*string
	if !decodes(value, &read) || slices.Contains(read, nil) {
		return nil, fmt.Errorf("%s is not a list of strings: [...]", value)
	}
	words := make([]string, len(read))
	for i, word := range read {
		words[i] = *word
	}
	return words, nil
}

func parseAddress(word string) (solana.PublicKey, error) {
	address, err := solana.PublicKeyFromBase58(word)
	if err != nil {
		return address, fmt.Errorf("%q is not an address (32 bytes in base 58)", word)
	}
	return address, nil
}

// ReadConfig reads a Config from a JSON file: see ParseConfig. A relative stop file path is resolved against
// the file's directory.
func ReadConfig(path string) (Config, error) {
	content, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return Config{}, fmt.Errorf("haggle: policy: %w", err)
	}
	config, err := parseConfig(content)
	if err != nil {
		return Config{}, fmt.Errorf("haggle: policy: %s: %w", path, err)
	}
	if config.StopFile != "" && !filepath.IsAbs(config.StopFile) {
		config.StopFile = filepath.Join(filepath.Dir(path), config.StopFile)
	}
	return config, nil
}

// ParseConfig reads a Config's text fields from JSON:
//
//	{
//	  "lamports": {"perTransaction": 20000000, "perNegotiation": 10000000, "perCounterparty": 0, "perDay": 100000000},
//	  "tokens": {"<mint>": {"perTransaction": 5000000, "perNegotiation": 5000000, "perCounterparty": "unlimited",
//	                        "perDay": 20000000, "maxTotal": 4000000, "minPrice": 0, "approveAbove": 2000000,
//	                        "buyerBand": {"lower": 1000000, "upper": 4000000}}},
//	  "programs": ["<address>"], "instructions": ["compute_budget", "haggle.submit_offer"],
//	  "counterparties": ["<address>"], "arbiters": ["<address>"], "destinations": ["<address>"],
//	  "terms": {"maxDecayRateBps": 200, "maxRounds": 10, "minResponseWindow": "5m", "maxFeeBps": 50},
//	  "agreement": {"maxToSellerBps": 5000, "maxToBuyerBps": 5000, "maxBondToBuyerBps": 0},
//	  "approvalTimeout": "30s", "stopFile": "/etc/agent/stop"
//	}
//
// "lamports", "tokens" and their limits are required, except "buyerBand", "sellerBand" and "approveAbove":
// "approveAbove" defaults to 0, so every amount and price needs approval. Any other limit of 0 allows
// nothing. It returns a *MissingLimitsError that names the missing limits. Omitted "terms" use the defaults,
// as in the example. All remaining keys are optional. An unknown or repeated key is an error. The caller sets
// Store, Negotiations and all non-text fields.
func ParseConfig(content []byte) (Config, error) {
	config, err := parseConfig(content)
	if err != nil {
		return Config{}, fmt.Errorf("haggle: policy: %w", err)
	}
	return config, nil
}

func parseConfig(content []byte) (Config, error) {
	if err := checkKeys(content); err != nil {
		return Config{}, err
	}
	config := Config{Tokens: map[solana.PublicKey]TokenLimits{}}
	if err := readObject(bytes.TrimSpace(content), reflect.ValueOf(&config).Elem()); err != nil {
		return Config{}, err
	}
	if err := errors.Join(missingKeys(content), config.unknownPrograms(), unknownNames(config.Instructions)); err != nil {
		return Config{}, err
	}
	return config, nil
}

// Required money limits of a policy file: lamports, and every token.
var (
	lamportKeys = []string{"perTransaction", "perNegotiation", "perCounterparty", "perDay"}
	tokenKeys   = append(slices.Clone(lamportKeys), "maxTotal", "minPrice")
)

// missingKeys returns a *MissingLimitsError for money limits that are not in a policy file.
func missingKeys(content []byte) error {
	var file struct {
		Lamports map[string]json.RawMessage            `json:"lamports"`
		Tokens   map[string]map[string]json.RawMessage `json:"tokens"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return err
	}
	missing := missingIn("lamports", file.Lamports, lamportKeys)
	if file.Tokens == nil {
		missing = append(missing, "tokens")
	}
	for _, mint := range slices.Sorted(maps.Keys(file.Tokens)) {
		missing = append(missing, missingIn("tokens."+mint, file.Tokens[mint], tokenKeys)...)
	}
	if missing == nil {
		return nil
	}
	return &MissingLimitsError{Fields: missing}
}

func missingIn(name string, values map[string]json.RawMessage, keys []string) (missing []string) {
	for _, key := range keys {
		if _, ok := values[key]; !ok {
			missing = append(missing, name+"."+key)
		}
	}
	return missing
}

// checkKeys returns an error with a line number for content other than a single JSON value, or for objects
// with duplicate keys: a person may read the first value and the decoder use the second.
func checkKeys(content []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	err := checkValue(decoder)
	if err == nil {
		if _, next := decoder.Token(); next == io.EOF {
			return nil
		}
		err = errors.New("unexpected content after the policy")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("unexpected end of the file")
	}
	at := min(int(decoder.InputOffset()), len(content))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(content[:at], []byte("\n")), err)
}

func checkValue(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for decoder.More() {
		if open == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			name := strings.ToLower(key.(string)) // people confuse keys that differ only in case
			if seen[name] {
				return fmt.Errorf("duplicate key %q", key)
			}
			seen[name] = true
		}
		if err := checkValue(decoder); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}
