package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
)

// document is a Config as a file has it.
type document struct {
	Lamports        limitsDocument                           `json:"lamports"`
	Tokens          map[solana.PublicKey]tokenLimitsDocument `json:"tokens"`
	Programs        []solana.PublicKey                       `json:"programs"`
	Instructions    []string                                 `json:"instructions"`
	Counterparties  []solana.PublicKey                       `json:"counterparties"`
	Arbiters        []solana.PublicKey                       `json:"arbiters"`
	Destinations    []solana.PublicKey                       `json:"destinations"`
	ApprovalTimeout duration                                 `json:"approvalTimeout"`
	StopFile        string                                   `json:"stopFile"`
}

type limitsDocument struct {
	PerTransaction  amount `json:"perTransaction"`
	PerNegotiation  amount `json:"perNegotiation"`
	PerCounterparty amount `json:"perCounterparty"`
	PerDay          amount `json:"perDay"`
	ApproveAbove    amount `json:"approveAbove"`
}

func (d limitsDocument) limits() Limits {
	return Limits{
		PerTransaction: uint64(d.PerTransaction), PerNegotiation: uint64(d.PerNegotiation), PerCounterparty: uint64(d.PerCounterparty),
		PerDay: uint64(d.PerDay), ApproveAbove: uint64(d.ApproveAbove),
	}
}

type tokenLimitsDocument struct {
	limitsDocument
	MaxPrice amount `json:"maxPrice"`
	MinPrice amount `json:"minPrice"`
}

// amount is a whole number of base units, or "unlimited".
type amount uint64

func (a *amount) UnmarshalJSON(text []byte) error {
	if string(text) == `"unlimited"` {
		*a = amount(Unlimited)
		return nil
	}
	if string(text) == "null" {
		return errors.New("an amount is a whole number of base units, or \"unlimited\"")
	}
	return json.Unmarshal(text, (*uint64)(a))
}

// duration is written as in Go: "30s".
type duration time.Duration

func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err == nil && parsed <= 0 {
		err = fmt.Errorf("%s is not a positive duration", text)
	}
	*d = duration(parsed)
	return err
}

// ReadConfig reads a Config from a JSON file: see ParseConfig. The path of a stop file that is not absolute begins in the file's folder.
func ReadConfig(path string) (Config, error) {
	content, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return Config{}, fmt.Errorf("haggle: policy: %w", err)
	}
	config, err := ParseConfig(content)
	if err != nil {
		return Config{}, fmt.Errorf("%w: %s", err, path)
	}
	if config.StopFile != "" && !filepath.IsAbs(config.StopFile) {
		config.StopFile = filepath.Join(filepath.Dir(path), config.StopFile)
	}
	return config, nil
}

// ParseConfig takes what of a Config can be written down from JSON:
//
//	{
//	  "lamports": {"perTransaction": 20000000, "perNegotiation": 10000000, "perCounterparty": 0, "perDay": 100000000},
//	  "tokens": {"<mint>": {"perTransaction": 5000000, "perNegotiation": 5000000, "perCounterparty": "unlimited",
//	                        "perDay": 20000000, "approveAbove": 2000000, "maxPrice": 4000000, "minPrice": 0}},
//	  "programs": ["<address>"], "instructions": ["haggle.submit_offer"],
//	  "counterparties": ["<address>"], "arbiters": ["<address>"], "destinations": ["<address>"],
//	  "approvalTimeout": "30s", "stopFile": "/etc/agent/stop"
//	}
//
// Everything may be left out, and has its zero value then: a limit that is left out allows nothing. Whatever else is in the text, or
// is there twice, is an error. Store, Negotiations and the other things that are no text are the caller's to add.
func ParseConfig(content []byte) (Config, error) {
	if err := checkKeys(json.NewDecoder(bytes.NewReader(content))); err != nil {
		return Config{}, fmt.Errorf("haggle: policy: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	var read document
	if err := decoder.Decode(&read); err != nil {
		return Config{}, fmt.Errorf("haggle: policy: %w", err)
	}
	config := Config{
		Lamports: read.Lamports.limits(), Tokens: map[solana.PublicKey]TokenLimits{}, Programs: read.Programs, Instructions: read.Instructions,
		Counterparties: read.Counterparties, Arbiters: read.Arbiters, Destinations: read.Destinations,
		ApprovalTimeout: time.Duration(read.ApprovalTimeout), StopFile: read.StopFile,
	}
	for mint, limits := range read.Tokens {
		config.Tokens[mint] = TokenLimits{Limits: limits.limits(), MaxPrice: uint64(limits.MaxPrice), MinPrice: uint64(limits.MinPrice)}
	}
	if err := unknownPrograms(config.Programs); err != nil {
		return Config{}, err
	}
	return config, unknownNames(config.Instructions)
}

// checkKeys refuses a key that an object has twice, of which a reader sees one and the decoder takes the other, and anything that
// follows the object.
func checkKeys(decoder *json.Decoder) error {
	if err := checkValue(decoder); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("something follows the policy")
	}
	return nil
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
			name := strings.ToLower(key.(string)) // as which the decoder takes it
			if seen[name] {
				return fmt.Errorf("%q is there twice", key)
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
