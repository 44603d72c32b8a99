package jsonrpc

import (
	"encoding/base64"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

func (s *Server) getSlot(p parameters) (any, error) {
	level, err := s.read(p, 0)
	return s.ledger.Slot(level), err
}

func (s *Server) getGenesisHash(parameters) (any, error) { return s.ledger.Genesis(), nil }

func (s *Server) getIdentity(parameters) (any, error) {
	return object{"identity": s.ledger.Faucet()}, nil
}

func (s *Server) getVersion(parameters) (any, error) {
	return object{"solana-core": softwareVersion, "feature-set": 0}, nil
}

func (s *Server) getFirstAvailableBlock(parameters) (any, error) { return s.ledger.FirstSlot(), nil }

func (s *Server) getTransactionCount(parameters) (any, error) {
	return s.ledger.TransactionCount(), nil
}

func (s *Server) getEpochInfo(p parameters) (any, error) {
	level, err := s.read(p, 0)
	slot := s.ledger.Slot(level)
	return object{
		"absoluteSlot": slot, "blockHeight": slot, "epoch": slot / ledger.SlotsPerEpoch,
		"slotIndex": slot % ledger.SlotsPerEpoch, "slotsInEpoch": ledger.SlotsPerEpoch,
		"transactionCount": s.ledger.TransactionCount(),
	}, err
}

func (s *Server) getMinimumBalance(p parameters) (any, error) {
	var size uint32
	err := p.into(0, &size)
	return engine.MinimumBalance(int(size)), err
}

func (s *Server) getLatestBlockhash(p parameters) (any, error) {
	level, err := s.read(p, 0)
	if err != nil {
		return nil, err
	}
	latest := s.ledger.LatestBlockhash(level)
	return withContext(latest.Slot, object{"blockhash": latest.Hash, "lastValidBlockHeight": latest.LastValidHeight}), nil
}

func (s *Server) isBlockhashValid(p parameters) (any, error) {
	key, err := p.key(0)
	if err != nil {
		return nil, err
	}
	level, err := s.read(p, 1)
	return withContext(s.ledger.Slot(level), s.ledger.BlockhashValid(solana.Hash(key), level)), err
}

// getFeeForMessage returns the fee of the signatures, without a priority fee.
func (s *Server) getFeeForMessage(p parameters) (any, error) {
	var text string
	if err := p.into(0, &text); err != nil {
		return nil, err
	}
	level, err := s.read(p, 1)
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) == 0 || len(raw) > engine.MaxTransactionBytes {
		return nil, invalidParams("invalid base64 encoding: %v", err)
	}
	// The number of signatures is the first byte of a legacy message, and follows the version of others.
	if raw[0]&0x80 != 0 {
		if raw = raw[1:]; len(raw) == 0 {
			return nil, invalidParams("failed to deserialize message")
		}
	}
	return withContext(s.ledger.Slot(level), ledger.LamportsPerSignature*int(raw[0])), nil
}

func (s *Server) getRecentPrioritizationFees(parameters) (any, error) {
	fees := []any{}
	last := s.ledger.Slot(ledger.Confirmed)
	for slot := max(s.ledger.FirstSlot(), last-min(last, maxRecentPrioritization-1)); slot <= last; slot++ {
		fees = append(fees, object{"slot": slot, "prioritizationFee": 0})
	}
	return fees, nil
}

func notAvailable(slot uint64) *Error {
	return &Error{Code: codeBlockNotAvailable, Message: fmt.Sprintf("Block not available for slot %d", slot)}
}

// block returns a closed block of the first parameter.
func (s *Server) block(p parameters, level ledger.Commitment) (ledger.Block, error) {
	var slot uint64
	if err := p.into(0, &slot); err != nil {
		return ledger.Block{}, err
	}
	if first := s.ledger.FirstSlot(); slot < first {
		return ledger.Block{}, &Error{
			Code:    codeBlockCleanedUp,
			Message: fmt.Sprintf("Block %d cleaned up, does not exist on node. First available block: %d", slot, first),
		}
	}
	block, visible := s.ledger.Block(slot, level)
	if !visible {
		return block, notAvailable(slot)
	}
	return block, nil
}

func (s *Server) getBlockTime(p parameters) (any, error) {
	block, err := s.block(p, ledger.Confirmed)
	return block.Time, err
}

func (s *Server) getBlock(p parameters) (any, error) {
	config := struct {
		readConfig
		transactionConfig
		TransactionDetails string `json:"transactionDetails"`
	}{}
	if err := p.optional(1, &config); err != nil {
		return nil, err
	}
	level, err := closedCommitment(config.Commitment)
	if err != nil {
		return nil, err
	}
	block, err := s.block(p, level)
	if err != nil {
		return nil, err
	}
	answer := object{
		"blockhash": block.Hash, "previousBlockhash": block.Previous, "parentSlot": block.Slot - 1,
		"blockTime": block.Time, "blockHeight": block.Slot, "rewards": []any{},
	}
	switch config.TransactionDetails {
	case "none":
	case "signatures":
		signatures := []solana.Signature{}
		for _, transaction := range block.Transactions {
			signatures = append(signatures, transaction.Signature)
		}
		answer["signatures"] = signatures
	case "", "full":
		transactions := []any{}
		for _, transaction := range block.Transactions {
			encoded, err := config.encode(transaction)
			if err != nil {
				return nil, err
			}
			transactions = append(transactions, encoded)
		}
		answer["transactions"] = transactions
	default:
		return nil, invalidParams("Invalid params: transactionDetails %q is not supported", config.TransactionDetails)
	}
	return answer, nil
}

// closedCommitment returns a commitment of methods that answer about closed blocks alone.
func closedCommitment(name string) (ledger.Commitment, error) {
	level, err := commitment(name)
	if err == nil && level == ledger.Processed {
		err = invalidParams("Method does not support commitment below `confirmed`")
	}
	return level, err
}

func (s *Server) getBlocks(p parameters) (any, error) {
	var from uint64
	if err := p.into(0, &from); err != nil {
		return nil, err
	}
	level, index := ledger.Finalized, 1
	last := uint64(1<<64 - 1)
	if len(p) > 1 && p.into(1, &last) == nil {
		index = 2
	}
	var config readConfig
	err := p.optional(index, &config)
	if err == nil {
		level, err = closedCommitment(config.Commitment)
	}
	if err != nil {
		return nil, err
	}
	return s.slots(from, min(last, s.ledger.Slot(level)))
}

func (s *Server) getBlocksWithLimit(p parameters) (any, error) {
	var from, limit uint64
	if err := p.into(0, &from); err != nil {
		return nil, err
	}
	if err := p.into(1, &limit); err != nil {
		return nil, err
	}
	if limit == 0 {
		return []uint64{}, nil
	}
	var config readConfig
	if err := p.optional(2, &config); err != nil {
		return nil, err
	}
	level, err := closedCommitment(config.Commitment)
	if err != nil {
		return nil, err
	}
	last := s.ledger.Slot(level)
	if from > last {
		return []uint64{}, nil
	}
	return s.slots(from, from+min(limit-1, last-from))
}

func (s *Server) slots(from, last uint64) (any, error) {
	from = max(from, s.ledger.FirstSlot())
	if last > from && last-from > maxBlockRange {
		return nil, invalidParams("Slot range too large; max %d", maxBlockRange)
	}
	slots := []uint64{}
	for slot := from; slot <= last; slot++ {
		slots = append(slots, slot)
	}
	return slots, nil
}
