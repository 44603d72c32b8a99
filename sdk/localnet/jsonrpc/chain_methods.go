package jsonrpc

import (
	"errors"
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
	return object{"solana-core": softwareVersion, "feature-set": featureSet}, nil
}

func (s *Server) getFirstAvailableBlock(parameters) (any, error) { return s.ledger.FirstSlot(), nil }

func (s *Server) getTransactionCount(p parameters) (any, error) {
	_, err := s.read(p, 0)
	return s.ledger.TransactionCount(), err
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
	var size uint
	if err := p.into(0, "", &size); err != nil {
		return nil, err
	}
	if size > engine.MaxAccountBytes {
		return nil, invalidRequest
	}
	return engine.MinimumBalance(int(size)), nil
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
	text, err := p.text(0)
	if err != nil {
		return nil, err
	}
	hash, err := fixedBytes(text, 44, len(solana.Hash{}))
	if err != nil {
		return nil, invalidParams("%v", err)
	}
	level, err := s.read(p, 1)
	return withContext(s.ledger.Slot(level), s.ledger.BlockhashValid(solana.Hash(hash), level)), err
}

// getFeeForMessage returns null if the message's blockhash has expired.
func (s *Server) getFeeForMessage(p parameters) (any, error) {
	raw, err := decodeText(p, "base64", messageType)
	if err != nil {
		return nil, err
	}
	level, err := s.read(p, 1)
	if err != nil {
		return nil, err
	}
	fee, valid, err := s.ledger.Fee(unsigned(raw))
	var invalid *ledger.DecodeError
	switch {
	case errors.As(err, &invalid):
		return nil, invalidParams("failed to deserialize %s: %s", messageType, invalid.Reason)
	case err != nil:
		return nil, invalidParams("invalid transaction message: %v", err)
	}
	if !valid {
		return withContext(s.ledger.Slot(level), nil), nil
	}
	return withContext(s.ledger.Slot(level), fee), nil
}

// unsigned wraps a message in a transaction with empty signatures. Their number is a legacy message's first
// byte, and otherwise follows the version byte.
func unsigned(message []byte) []byte {
	signatures := 0
	if len(message) > 0 {
		signatures = int(message[0])
	}
	if signatures&0x80 != 0 && len(message) > 1 {
		signatures = int(message[1])
	}
	signatures &= 0x7f
	wire := append([]byte{byte(signatures)}, make([]byte, signatures*len(solana.Signature{}))...)
	return append(wire, message...)
}

func (s *Server) getRecentPrioritizationFees(p parameters) (any, error) {
	var accounts []string
	if err := p.optional(0, "", &accounts); err != nil {
		return nil, err
	}
	if len(accounts) > maxPrioritizedAccounts {
		return nil, invalidParams("Too many inputs provided; max %d", maxPrioritizedAccounts)
	}
	for _, account := range accounts {
		if _, err := parseKey(account); err != nil {
			return nil, err
		}
	}
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
	if err := p.into(0, "", &slot); err != nil {
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
	block, err := s.block(p, level)
	if err != nil {
		return nil, err
	}
	encoded := object{
		"blockhash": block.Hash, "previousBlockhash": block.Previous, "parentSlot": block.Slot - 1,
		"blockTime": block.Time, "blockHeight": block.Slot,
	}
	if config.Rewards == nil || *config.Rewards {
		encoded["rewards"] = []any{}
	}
	return encoded, addTransactions(encoded, block, config.transactionConfig, config.TransactionDetails)
}

// addTransactions adds a block's transactions in some detail.
func addTransactions(encoded object, block ledger.Block, config transactionConfig, details string) error {
	encode := config.encode
	switch details {
	case "none":
		return nil
	case "signatures":
		signatures := []solana.Signature{}
		for _, transaction := range block.Transactions {
			signatures = append(signatures, transaction.Signature)
		}
		encoded["signatures"] = signatures
		return nil
	case "accounts":
		encode = config.encodeAccounts
	case "", "full":
	default:
		return invalidParams("Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.")
	}
	transactions := []any{}
	for _, transaction := range block.Transactions {
		each, err := encode(transaction)
		if err != nil {
			return err
		}
		transactions = append(transactions, each)
	}
	encoded["transactions"] = transactions
	return nil
}

// closedCommitment returns a commitment for methods that only consider closed blocks.
func closedCommitment(name string) (ledger.Commitment, error) {
	level := commitment(name)
	if level == ledger.Processed {
		return level, invalidParams("Method does not support commitment below `confirmed`")
	}
	return level, nil
}

func (s *Server) getBlocks(p parameters) (any, error) {
	var from uint64
	if err := p.into(0, "", &from); err != nil {
		return nil, err
	}
	level, index := ledger.Finalized, 1
	last := uint64(1<<64 - 1)
	if len(p) > 1 && p.into(1, "", &last) == nil {
		index = 2
	}
	var config readConfig
	err := p.optional(index, "RpcContextConfig", &config)
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
	if err := p.into(0, "", &from); err != nil {
		return nil, err
	}
	if err := p.into(1, "", &limit); err != nil {
		return nil, err
	}
	if limit > maxBlockRange {
		return nil, invalidParams("Limit too large; max %d", maxBlockRange)
	}
	if limit == 0 {
		return []uint64{}, nil
	}
	var config readConfig
	if err := p.optional(2, "RpcContextConfig", &config); err != nil {
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
