package jsonrpc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/base58"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

const (
	wireType = "solana_transaction::versioned::VersionedTransaction"
	// The longest texts of a transaction of 1,232 bytes.
	maxBase58Text = 1683
	maxBase64Text = 1644
)

// wire decodes the transaction of the first parameter.
func wire(p parameters, encoding string) ([]byte, error) {
	var text string
	if err := p.into(0, &text); err != nil {
		return nil, err
	}
	var decoded []byte
	var err error
	longest := maxBase58Text
	if encoding == "base64" {
		longest = maxBase64Text
	} else if encoding != "" && encoding != "base58" {
		return nil, invalidParams("unsupported encoding: %s. Supported encodings: base58, base64", encoding)
	} else {
		encoding = "base58"
	}
	if len(text) > longest {
		return nil, invalidParams("%s encoded %s too large: %d bytes (max: encoded/raw %d/%d)", encoding, wireType, len(text),
			longest, engine.MaxTransactionBytes)
	}
	if encoding == "base64" {
		decoded, err = base64.StdEncoding.DecodeString(text)
	} else {
		decoded, err = base58.Decode(text)
	}
	if err != nil {
		return nil, invalidParams("invalid %s encoding: %v", encoding, err)
	}
	return decoded, nil
}

// refusal turns an error of the ledger into the error of a response.
func refusal(err error) error {
	var invalid *ledger.DecodeError
	var refused *ledger.TransactionError
	switch {
	case errors.As(err, &invalid):
		return invalidParams("failed to deserialize %s: %s", wireType, invalid.Reason)
	case errors.Is(err, ledger.ErrSignature):
		return &Error{Code: codeSignature, Message: "Transaction signature verification failure"}
	case errors.As(err, &refused):
		return preflightFailure(&engine.Result{Err: refused.Err, Logs: refused.Logs})
	}
	return err
}

func preflightFailure(result *engine.Result) *Error {
	return &Error{codePreflightFailure, "Transaction simulation failed: " + describe(result.Err), object{
		"err": result.Err, "logs": list(result.Logs), "accounts": nil, "unitsConsumed": result.ComputeUnits,
		"returnData": encodeReturnData(result), "innerInstructions": nil,
	}}
}

// descriptions are the texts of common errors; clients look for some of them.
var descriptions = map[string]string{
	"AccountNotFound":         "Attempt to debit an account but found no record of a prior credit.",
	"AlreadyProcessed":        "This transaction has already been processed",
	"BlockhashNotFound":       "Blockhash not found",
	"InsufficientFundsForFee": "Insufficient funds for fee",
	"InvalidAccountForFee":    "This account may not be used to pay transaction fees",
	"ProgramAccountNotFound":  "Attempt to load a program that does not exist",
}

func describe(raw json.RawMessage) string {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		if text, known := descriptions[name]; known {
			return text
		}
		return name
	}
	var failed struct{ InstructionError []json.RawMessage }
	if json.Unmarshal(raw, &failed) != nil || len(failed.InstructionError) != 2 {
		return string(raw)
	}
	var custom struct{ Custom *uint32 }
	reason := string(failed.InstructionError[1])
	if json.Unmarshal(failed.InstructionError[1], &custom) == nil && custom.Custom != nil {
		reason = fmt.Sprintf("custom program error: %#x", *custom.Custom)
	} else if json.Unmarshal(failed.InstructionError[1], &name) == nil {
		reason = name
	}
	return fmt.Sprintf("Error processing Instruction %s: %s", failed.InstructionError[0], reason)
}

func (s *Server) sendTransaction(p parameters) (any, error) {
	var config struct {
		Encoding            string `json:"encoding"`
		SkipPreflight       bool   `json:"skipPreflight"`
		PreflightCommitment string `json:"preflightCommitment"`
		MinContextSlot      uint64 `json:"minContextSlot"`
	}
	if err := p.optional(1, &config); err != nil {
		return nil, err
	}
	raw, err := wire(p, config.Encoding)
	if err != nil {
		return nil, err
	}
	if _, err := s.at(readConfig{config.PreflightCommitment, config.MinContextSlot}); err != nil {
		return nil, err
	}
	if !config.SkipPreflight {
		result, err := s.ledger.Simulate(raw, ledger.Simulation{VerifySignatures: true})
		if err != nil {
			return nil, refusal(err)
		}
		if result.Err != nil {
			return nil, preflightFailure(result)
		}
	}
	executed, err := s.ledger.Send(raw)
	if err == nil {
		return executed.Signature, nil
	}
	// Without preflight a node answers before it executes the transaction.
	var refused *ledger.TransactionError
	if config.SkipPreflight && (errors.As(err, &refused) || errors.Is(err, ledger.ErrSignature)) {
		return solana.SignatureFromBytes(raw[1:65]), nil
	}
	return nil, refusal(err)
}

func (s *Server) simulateTransaction(p parameters) (any, error) {
	config := struct {
		readConfig
		Encoding               string `json:"encoding"`
		SigVerify              bool   `json:"sigVerify"`
		ReplaceRecentBlockhash bool   `json:"replaceRecentBlockhash"`
		InnerInstructions      bool   `json:"innerInstructions"`
		Accounts               *struct {
			Addresses []string `json:"addresses"`
			Encoding  string   `json:"encoding"`
		} `json:"accounts"`
	}{}
	if err := p.optional(1, &config); err != nil {
		return nil, err
	}
	raw, err := wire(p, config.Encoding)
	if err != nil {
		return nil, err
	}
	level, err := s.at(config.readConfig)
	if err != nil {
		return nil, err
	}
	if config.SigVerify && config.ReplaceRecentBlockhash {
		return nil, invalidParams("sigVerify may not be used with replaceRecentBlockhash")
	}
	result, err := s.ledger.Simulate(raw, ledger.Simulation{
		VerifySignatures: config.SigVerify, ReplaceBlockhash: config.ReplaceRecentBlockhash,
	})
	if err != nil {
		return nil, refusal(err)
	}
	value := object{
		"err": nullable(result.Err), "logs": list(result.Logs), "accounts": nil, "unitsConsumed": result.ComputeUnits,
		"returnData": encodeReturnData(result), "innerInstructions": nil, "fee": result.Fee,
	}
	if config.InnerInstructions {
		value["innerInstructions"] = encodeInner(result)
	}
	if config.ReplaceRecentBlockhash {
		latest := s.ledger.LatestBlockhash(level)
		value["replacementBlockhash"] = object{"blockhash": latest.Hash, "lastValidBlockHeight": latest.LastValidHeight}
	}
	if config.Accounts != nil {
		if value["accounts"], err = s.accountsAfter(result, config.Accounts.Addresses); err != nil {
			return nil, err
		}
	}
	return withContext(s.ledger.Slot(level), value), nil
}

// accountsAfter encodes accounts as a simulation leaves them.
func (s *Server) accountsAfter(result *engine.Result, addresses []string) (any, error) {
	if len(addresses) > maxAccounts {
		return nil, invalidParams("Too many accounts provided; max %d", maxAccounts)
	}
	values := make([]any, len(addresses))
	for i, text := range addresses {
		key, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		account := s.ledger.Account(key, ledger.Processed)
		for _, change := range result.Changes {
			if change.Address == key {
				if account = &change.Account; !account.Exists() {
					account = nil
				}
			}
		}
		if values[i], err = (accountEncoding{Encoding: "base64"}).encode(account); err != nil {
			return nil, err
		}
	}
	if result.Err != nil {
		return nil, nil
	}
	return values, nil
}

func (s *Server) requestAirdrop(p parameters) (any, error) {
	key, err := p.key(0)
	if err != nil {
		return nil, err
	}
	var lamports uint64
	if err := p.into(1, &lamports); err != nil {
		return nil, err
	}
	executed, err := s.ledger.Airdrop(key, lamports)
	if err != nil {
		return nil, &Error{Code: codeInternal, Message: err.Error()}
	}
	return executed.Signature, nil
}
