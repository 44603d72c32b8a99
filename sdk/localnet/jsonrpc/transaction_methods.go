package jsonrpc

import (
	"encoding/json"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// encodingOrConfig decodes a configuration, or the encoding alone as in old clients.
func (p parameters) encodingOrConfig(index int, encoding *string, config any) error {
	if index < len(p) && json.Unmarshal(p[index], encoding) == nil {
		return nil
	}
	return p.optional(index, "", config)
}

func (s *Server) getTransaction(p parameters) (any, error) {
	signature, err := p.signature(0)
	if err != nil {
		return nil, err
	}
	config := struct {
		readConfig
		transactionConfig
	}{}
	if err := p.encodingOrConfig(1, &config.Encoding, &config); err != nil {
		return nil, err
	}
	if err := config.check(); err != nil {
		return nil, err
	}
	level, err := closedCommitment(config.Commitment)
	if err != nil {
		return nil, err
	}
	status, known := s.ledger.Status(signature)
	if !known || status.Slot > s.ledger.Slot(level) {
		return nil, nil
	}
	answer, err := config.encode(status.Transaction)
	if err != nil {
		return nil, err
	}
	answer["slot"], answer["blockTime"], answer["transactionIndex"] = status.Slot, status.Time, status.Index
	return answer, nil
}

func (s *Server) getSignatureStatuses(p parameters) (any, error) {
	var texts []string
	if err := p.into(0, "", &texts); err != nil {
		return nil, err
	}
	if len(texts) > maxSignatures {
		return nil, invalidParams("Too many inputs provided; max %d", maxSignatures)
	}
	values := make([]any, len(texts))
	for i, text := range texts {
		signature, err := parseSignature(text)
		if err != nil {
			return nil, err
		}
		known, found := s.ledger.Status(signature)
		if !found {
			continue
		}
		var confirmations any
		if known.Commitment != ledger.Finalized {
			confirmations = known.Confirmations
		}
		values[i] = object{
			"slot": known.Slot, "confirmations": confirmations, "err": nullable(known.Result.Err),
			"status": status(known.Result.Err), "confirmationStatus": known.Commitment,
		}
	}
	return withContext(s.ledger.Slot(ledger.Processed), values), nil
}

func (s *Server) getSignaturesForAddress(p parameters) (any, error) {
	key, err := p.key(0)
	if err != nil {
		return nil, err
	}
	config := struct {
		readConfig
		Before string `json:"before"`
		Until  string `json:"until"`
		Limit  *uint  `json:"limit"`
	}{}
	if err := p.optional(1, "RpcSignaturesForAddressConfig", &config); err != nil {
		return nil, err
	}
	level, err := closedCommitment(config.Commitment)
	if err == nil {
		_, err = s.at(config.readConfig)
	}
	if err != nil {
		return nil, err
	}
	page := ledger.Page{Limit: maxHistory}
	if config.Limit != nil {
		if *config.Limit < 1 || *config.Limit > maxHistory {
			return nil, invalidParams("Invalid limit; max %d", maxHistory)
		}
		page.Limit = int(*config.Limit)
	}
	for _, end := range []struct {
		text string
		into *solana.Signature
	}{{config.Before, &page.Before}, {config.Until, &page.Until}} {
		if end.text == "" {
			continue
		}
		if *end.into, err = parseSignature(end.text); err != nil {
			return nil, err
		}
		if _, known := s.ledger.Status(*end.into); !known {
			return nil, &Error{Code: codeNotFound, Message: fmt.Sprintf("Transaction %s not found", end.text)}
		}
	}
	values := []any{}
	for _, status := range s.ledger.History(key, level, page) {
		values = append(values, object{
			"signature": status.Signature, "slot": status.Slot, "err": nullable(status.Result.Err), "memo": memo(status.Transaction),
			"blockTime": status.Time, "confirmationStatus": status.Commitment, "transactionIndex": status.Index,
		})
	}
	return values, nil
}

func memo(t *ledger.Transaction) any {
	if text := t.Memo(); text != "" {
		return text
	}
	return nil
}
