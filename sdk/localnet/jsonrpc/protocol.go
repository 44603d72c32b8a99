package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// Error is a response error, with node codes and texts.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Codes from JSON-RPC 2.0 and Agave's rpc-client-api.
const (
	codeBlockCleanedUp      = -32001
	codePreflightFailure    = -32002
	codeSignature           = -32003
	codeBlockNotAvailable   = -32004
	codeUnsupportedVersion  = -32015
	codeMinContextSlot      = -32016
	codeNotFound            = -32020
	codeInvalidRequest      = -32600
	codeInvalidParams       = -32602
	codeInternal            = -32603
	maxAccounts             = 100
	maxSignatures           = 256
	supportedVersion        = 0
	maxHistory              = 1000
	maxFilters              = 4
	maxMemcmp               = 128
	maxBlockRange           = 500_000
	softwareVersion         = "4.2.2"
	featureSet              = 565236538
	maxRecentPrioritization = 150
	maxPrioritizedAccounts  = 128
)

var (
	parseError     = &Error{Code: -32700, Message: "Parse error"}
	invalidRequest = &Error{Code: codeInvalidRequest, Message: "Invalid request"}
	methodNotFound = &Error{Code: -32601, Message: "Method not found"}

	unsupportedProtocol = &Error{Code: codeInvalidRequest, Message: "Unsupported JSON-RPC protocol version"}
	namedParams         = &Error{Code: codeInvalidParams, Message: "`params` should be an array"}
)

func invalidParams(format string, arguments ...any) *Error {
	return &Error{Code: codeInvalidParams, Message: fmt.Sprintf(format, arguments...)}
}

// parameters holds a request's positional parameters.
type parameters []json.RawMessage

// check rejects a wrong number of parameters.
func (p parameters) check(required, most int) *Error {
	switch {
	case p == nil && required > 0 && required == most:
		return invalidParams("Invalid params: invalid type: null, expected a tuple of size %d.", most)
	case len(p) < required:
		return invalidParams("`params` should have at least %d argument(s)", required)
	case len(p) <= most:
		return nil
	case most == 0:
		return invalidParams("Invalid parameters: No parameters were expected")
	}
	return &Error{codeInvalidParams, fmt.Sprintf("Invalid parameters: Expected from %d to %d parameters.", required, most),
		fmt.Sprintf("%q", fmt.Sprintf("Got: %d", len(p)))}
}

// into decodes a required parameter. name is the structure's Rust type, for errors.
func (p parameters) into(index int, name string, target any) error {
	raw := p[index]
	err := json.Unmarshal(raw, target)
	if isNull(raw) && err == nil {
		err = &json.UnmarshalTypeError{Type: reflect.TypeOf(target).Elem()}
	}
	var exact *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exact):
		return exact
	}
	return invalidParams("Invalid params: %s.", mismatch(raw, err, name))
}

// optional decodes a configuration unless it is missing or null.
func (p parameters) optional(index int, name string, target any) error {
	if index >= len(p) || isNull(p[index]) {
		return nil
	}
	return p.into(index, name, target)
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }

func (p parameters) text(index int) (text string, err error) {
	err = p.into(index, "", &text)
	return text, err
}

func (p parameters) key(index int) (key solana.PublicKey, err error) {
	text, err := p.text(index)
	if err != nil {
		return key, err
	}
	return parseKey(text)
}

func parseKey(text string) (solana.PublicKey, error) {
	raw, err := fixedBytes(text, 44, len(solana.PublicKey{}))
	if err != nil {
		return solana.PublicKey{}, invalidParams("Invalid param: %v", err)
	}
	return solana.PublicKey(raw), nil
}

// Errors in address, hash and signature texts.
var (
	errWrongSize = errors.New("WrongSize")
	errInvalid   = errors.New("Invalid")
)

// fixedBytes decodes base58 with a known number of bytes and a maximum number of digits.
func fixedBytes(text string, longest, size int) ([]byte, error) {
	if len(text) > longest {
		return nil, errWrongSize
	}
	raw, err := decodeBase58(text)
	switch {
	case err != nil:
		return nil, errInvalid
	case len(raw) != size:
		return nil, errWrongSize
	}
	return raw, nil
}

func (p parameters) signature(index int) (signature solana.Signature, err error) {
	text, err := p.text(index)
	if err != nil {
		return signature, err
	}
	return parseSignature(text)
}

func parseSignature(text string) (solana.Signature, error) {
	raw, err := fixedBytes(text, 88, len(solana.Signature{}))
	if err != nil {
		return solana.Signature{}, invalidParams("Invalid param: %v", err)
	}
	return solana.Signature(raw), nil
}

// commitment returns the configured commitment. Like nodes, it ignores unknown names.
func commitment(name string) ledger.Commitment {
	level, _ := knownCommitment(name)
	return level
}

// knownCommitment also reports whether nodes know the name, or whether there is none.
func knownCommitment(name string) (level ledger.Commitment, known bool) {
	switch name {
	case "processed", "confirmed":
		return ledger.Commitment(name), true
	}
	return ledger.Finalized, name == "" || name == "finalized"
}

func (s *Server) answer(raw json.RawMessage) *response { return respond(raw, s.call) }

func (s *Server) call(r request) (any, *Error) {
	method, known := methods[r.method]
	if !known {
		return nil, methodNotFound
	}
	if err := r.params.check(method.required, method.most); err != nil {
		return nil, err
	}
	result, err := method.handle(s, r.params)
	if err == nil {
		return result, nil
	}
	var exact *Error
	if !errors.As(err, &exact) {
		exact = &Error{Code: codeInternal, Message: err.Error()}
	}
	return nil, exact
}
