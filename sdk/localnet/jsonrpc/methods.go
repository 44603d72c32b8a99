package jsonrpc

import "github.com/haggle-protocol/haggle/sdk/localnet/ledger"

type method func(*Server, parameters) (any, error)

// methods are the methods of HTTP and WebSocket connections. Subscriptions are in websocket.go.
var methods map[string]method

func init() {
	methods = map[string]method{
		"getAccountInfo":                    (*Server).getAccountInfo,
		"getBalance":                        (*Server).getBalance,
		"getBlock":                          (*Server).getBlock,
		"getBlockHeight":                    (*Server).getSlot,
		"getBlockTime":                      (*Server).getBlockTime,
		"getBlocks":                         (*Server).getBlocks,
		"getBlocksWithLimit":                (*Server).getBlocksWithLimit,
		"getEpochInfo":                      (*Server).getEpochInfo,
		"getFeeForMessage":                  (*Server).getFeeForMessage,
		"getFirstAvailableBlock":            (*Server).getFirstAvailableBlock,
		"getGenesisHash":                    (*Server).getGenesisHash,
		"getHealth":                         func(*Server, parameters) (any, error) { return "ok", nil },
		"getIdentity":                       (*Server).getIdentity,
		"getLatestBlockhash":                (*Server).getLatestBlockhash,
		"getMinimumBalanceForRentExemption": (*Server).getMinimumBalance,
		"getMultipleAccounts":               (*Server).getMultipleAccounts,
		"getProgramAccounts":                (*Server).getProgramAccounts,
		"getRecentPrioritizationFees":       (*Server).getRecentPrioritizationFees,
		"getSignatureStatuses":              (*Server).getSignatureStatuses,
		"getSignaturesForAddress":           (*Server).getSignaturesForAddress,
		"getSlot":                           (*Server).getSlot,
		"getTokenAccountBalance":            (*Server).getTokenAccountBalance,
		"getTokenAccountsByOwner":           (*Server).getTokenAccountsByOwner,
		"getTokenSupply":                    (*Server).getTokenSupply,
		"getTransaction":                    (*Server).getTransaction,
		"getTransactionCount":               (*Server).getTransactionCount,
		"getVersion":                        (*Server).getVersion,
		"isBlockhashValid":                  (*Server).isBlockhashValid,
		"minimumLedgerSlot":                 (*Server).getFirstAvailableBlock,
		"requestAirdrop":                    (*Server).requestAirdrop,
		"sendTransaction":                   (*Server).sendTransaction,
		"simulateTransaction":               (*Server).simulateTransaction,
	}
}

// readConfig is the configuration of methods that read as of a commitment.
type readConfig struct {
	Commitment     string `json:"commitment"`
	MinContextSlot uint64 `json:"minContextSlot"`
}

// at returns the commitment of a configuration, after comparing its slot with the least one that the caller
// wants.
func (s *Server) at(config readConfig) (ledger.Commitment, error) {
	level, err := commitment(config.Commitment)
	if err != nil {
		return "", err
	}
	if slot := s.ledger.Slot(level); config.MinContextSlot > slot {
		return "", &Error{codeMinContextSlot, "Minimum context slot has not been reached", object{"contextSlot": slot}}
	}
	return level, nil
}

// read decodes the configuration at an index, and returns its commitment.
func (s *Server) read(p parameters, index int) (ledger.Commitment, error) {
	var config readConfig
	if err := p.optional(index, &config); err != nil {
		return "", err
	}
	return s.at(config)
}

func withContext(slot uint64, value any) object {
	return object{"context": object{"slot": slot, "apiVersion": softwareVersion}, "value": value}
}
