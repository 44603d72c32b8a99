package jsonrpc

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// refusal turns a ledger error into a response error.
func refusal(err error) error {
	var invalid *ledger.DecodeError
	var unsanitary *ledger.SanitizeError
	var refused *ledger.TransactionError
	switch {
	case errors.As(err, &invalid):
		return invalidParams("failed to deserialize %s: %s", transactionType, invalid.Reason)
	case errors.As(err, &unsanitary):
		return invalidParams("invalid transaction: %s", transactionErrors["SanitizeFailure"])
	case errors.As(err, &refused):
		return preflightFailure(&ledger.Transaction{Result: &engine.Result{Err: refused.Err, Logs: refused.Logs}})
	}
	return err
}

// simulate simulates a transaction. Wrong signatures are reported in the simulation result.
func (s *Server) simulate(raw []byte, options ledger.Simulation) (*ledger.Transaction, error) {
	simulated, err := s.ledger.Simulate(raw, options)
	if errors.Is(err, ledger.ErrSignature) {
		return &ledger.Transaction{Result: &engine.Result{Err: json.RawMessage(`"SignatureFailure"`)}}, nil
	}
	if err != nil {
		return nil, refusal(err)
	}
	return simulated, nil
}

// encodeSimulation returns the fields shared by failed preflights and simulations.
func encodeSimulation(simulated *ledger.Transaction) object {
	result := simulated.Result
	encoded := object{
		"err": nullable(result.Err), "logs": list(result.Logs), "accounts": nil, "unitsConsumed": result.ComputeUnits,
		"loadedAccountsDataSize": simulated.LoadedBytes, "returnData": encodeReturnData(result), "innerInstructions": nil,
		"replacementBlockhash": nil, "fee": nil, "preBalances": nil, "postBalances": nil, "preTokenBalances": nil,
		"postTokenBalances": nil, "loadedAddresses": nil,
	}
	if result.Charged {
		encoded["fee"] = result.Fee
	}
	return encoded
}

func preflightFailure(simulated *ledger.Transaction) *Error {
	return &Error{
		codePreflightFailure, "Transaction simulation failed: " + describe(simulated.Result.Err), encodeSimulation(simulated),
	}
}

func (s *Server) sendTransaction(p parameters) (any, error) {
	var config struct {
		Encoding            string `json:"encoding"`
		SkipPreflight       bool   `json:"skipPreflight"`
		PreflightCommitment string `json:"preflightCommitment"`
		MinContextSlot      uint64 `json:"minContextSlot"`
	}
	if err := p.optional(1, "RpcSendTransactionConfig", &config); err != nil {
		return nil, err
	}
	raw, err := decodeText(p, config.Encoding, transactionType)
	if err != nil {
		return nil, err
	}
	if _, known := knownCommitment(config.PreflightCommitment); !known { // only here nodes refuse it
		return nil, invalidParams("Invalid params: unknown variant `%s`, expected one of `processed`, `confirmed`, `finalized`.",
			config.PreflightCommitment)
	}
	if _, err := s.at(readConfig{config.PreflightCommitment, config.MinContextSlot}); err != nil {
		return nil, err
	}
	if !config.SkipPreflight {
		simulated, err := s.simulate(raw, ledger.Simulation{VerifySignatures: true})
		if err != nil {
			return nil, err
		}
		if simulated.Result.Err != nil {
			return nil, preflightFailure(simulated)
		}
	}
	executed, err := s.ledger.Send(raw)
	if err == nil {
		return executed.Signature, nil
	}
	// Without preflight a node responds before executing the transaction.
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
	if err := p.optional(1, "RpcSimulateTransactionConfig", &config); err != nil {
		return nil, err
	}
	raw, err := decodeText(p, config.Encoding, transactionType)
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
	simulated, err := s.simulate(raw, ledger.Simulation{
		VerifySignatures: config.SigVerify, ReplaceBlockhash: config.ReplaceRecentBlockhash,
	})
	if err != nil {
		return nil, err
	}
	value := encodeSimulation(simulated)
	if simulated.Decoded != nil {
		before, after := simulated.Before, simulated.After
		value["preBalances"], value["postBalances"] = before.Lamports, after.Lamports
		value["preTokenBalances"], value["postTokenBalances"] = encodeTokens(before.Tokens), encodeTokens(after.Tokens)
	}
	value["loadedAddresses"] = encodeLoaded(simulated)
	if config.InnerInstructions && simulated.Result.Charged {
		value["innerInstructions"] = encodeCalls(simulated, true)
	}
	if config.ReplaceRecentBlockhash {
		latest := s.ledger.LatestBlockhash(level)
		value["replacementBlockhash"] = object{"blockhash": latest.Hash, "lastValidBlockHeight": latest.LastValidHeight}
	}
	if config.Accounts != nil {
		if value["accounts"], err = s.accountsAfter(simulated, accountEncoding{Encoding: config.Accounts.Encoding},
			config.Accounts.Addresses); err != nil {
			return nil, err
		}
	}
	return withContext(s.ledger.Slot(level), value), nil
}

// accountsAfter encodes accounts as a simulation leaves them. If the simulation fails, they are null.
func (s *Server) accountsAfter(simulated *ledger.Transaction, encoding accountEncoding, addresses []string) (any, error) {
	switch encoding.Encoding {
	case "":
		encoding.Encoding = "base64"
	case "base58":
		return nil, invalidParams("base58 encoding not supported")
	}
	if err := encoding.check(); err != nil {
		return nil, err
	}
	if most := len(simulated.Keys); len(addresses) > most {
		return nil, invalidParams("Too many accounts provided; max %d", most)
	}
	values := make([]any, len(addresses))
	if simulated.Result.Err != nil {
		return values, nil
	}
	for i, text := range addresses {
		key, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		account := s.ledger.Account(key, ledger.Processed)
		if account == nil && slices.Contains(simulated.Keys, key) {
			account = &engine.Account{RentEpoch: math.MaxUint64}
		}
		for _, change := range simulated.Result.Changes {
			if change.Address == key {
				account = &change.Account
			}
		}
		if values[i], err = encoding.encode(account); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (s *Server) requestAirdrop(p parameters) (any, error) {
	key, err := p.key(0)
	if err != nil {
		return nil, err
	}
	var lamports uint64
	if err := p.into(1, "", &lamports); err != nil {
		return nil, err
	}
	executed, err := s.ledger.Airdrop(key, lamports)
	if err != nil {
		return nil, &Error{Code: codeInternal, Message: err.Error()}
	}
	return executed.Signature, nil
}
