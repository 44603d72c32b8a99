package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// Error is the error of a response, with the codes and texts of a node.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// The codes of JSON-RPC 2.0 and of Agave's rpc-client-api.
const (
	codeBlockCleanedUp      = -32001
	codePreflightFailure    = -32002
	codeSignature           = -32003
	codeBlockNotAvailable   = -32004
	codeUnsupportedVersion  = -32015
	codeMinContextSlot      = -32016
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
	maxRecentPrioritization = 150
)

var (
	parseError     = &Error{Code: -32700, Message: "Parse error"}
	invalidRequest = &Error{Code: -32600, Message: "Invalid request"}
	methodNotFound = &Error{Code: -32601, Message: "Method not found"}
)

func invalidParams(format string, arguments ...any) *Error {
	return &Error{Code: codeInvalidParams, Message: fmt.Sprintf(format, arguments...)}
}

type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
	ID      json.RawMessage `json:"id"`
}

// MarshalJSON keeps a null result and a null ID, which omitempty would drop.
func (r response) MarshalJSON() ([]byte, error) {
	id := r.ID
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	if r.Error != nil {
		return json.Marshal(map[string]any{"jsonrpc": "2.0", "error": r.Error, "id": id})
	}
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "result": r.Result, "id": id})
}

func failure(id json.RawMessage, err *Error) response { return response{Error: err, ID: id} }

// parameters are the positional parameters of a request.
type parameters []json.RawMessage

func parseRequest(raw json.RawMessage) (request, parameters, *Error) {
	var r request
	if err := json.Unmarshal(raw, &r); err != nil || r.Method == "" {
		return r, nil, invalidRequest
	}
	if len(r.Params) == 0 || bytes.Equal(r.Params, []byte("null")) {
		return r, nil, nil
	}
	var positional parameters
	if err := json.Unmarshal(r.Params, &positional); err != nil {
		return r, nil, invalidParams("Invalid params: invalid type: map, expected a sequence")
	}
	return r, positional, nil
}

// into decodes a required parameter.
func (p parameters) into(index int, target any) error {
	if index >= len(p) {
		return invalidParams("`params` should have at least %d argument(s)", index+1)
	}
	if err := json.Unmarshal(p[index], target); err != nil {
		return invalidParams("Invalid params: %v", err)
	}
	return nil
}

func (p parameters) key(index int) (key solana.PublicKey, err error) {
	var text string
	if err := p.into(index, &text); err != nil {
		return key, err
	}
	return parseKey(text)
}

func parseKey(text string) (solana.PublicKey, error) {
	if len(text) > 44 {
		return solana.PublicKey{}, invalidParams("Invalid param: WrongSize")
	}
	key, err := solana.PublicKeyFromBase58(text)
	if err != nil {
		return key, invalidParams("Invalid param: Invalid")
	}
	return key, nil
}

func (p parameters) signature(index int) (signature solana.Signature, err error) {
	var text string
	if err := p.into(index, &text); err != nil {
		return signature, err
	}
	return parseSignature(text)
}

func parseSignature(text string) (solana.Signature, error) {
	if len(text) > 88 {
		return solana.Signature{}, invalidParams("Invalid param: WrongSize")
	}
	signature, err := solana.SignatureFromBase58(text)
	if err != nil {
		return signature, invalidParams("Invalid param: Invalid")
	}
	return signature, nil
}

// optional decodes a configuration if it is there.
func (p parameters) optional(index int, target any) error {
	if index >= len(p) {
		return nil
	}
	return p.into(index, target)
}

// commitment returns the commitment of a configuration.
func commitment(name string) (ledger.Commitment, error) {
	switch name {
	case "", "finalized":
		return ledger.Finalized, nil
	case "processed", "confirmed":
		return ledger.Commitment(name), nil
	}
	return "", invalidParams("Invalid params: unknown variant `%s`, expected one of `processed`, `confirmed`, `finalized`", name)
}

func (s *Server) answer(raw json.RawMessage) (answer response) {
	r, positional, invalid := parseRequest(raw)
	if invalid != nil {
		return failure(r.ID, invalid)
	}
	method, known := methods[r.Method]
	if !known {
		return failure(r.ID, methodNotFound)
	}
	result, err := method(s, positional)
	if err == nil {
		return response{Result: result, ID: r.ID}
	}
	var exact *Error
	if !errors.As(err, &exact) {
		exact = &Error{Code: codeInternal, Message: err.Error()}
	}
	return failure(r.ID, exact)
}
