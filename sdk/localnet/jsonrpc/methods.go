package jsonrpc

import "github.com/haggle-protocol/haggle/sdk/localnet/ledger"

// method is a JSON-RPC method with the minimum and maximum parameter counts.
type method struct {
	required, most int
	handle         func(*Server, parameters) (any, error)
}

// methods lists the HTTP methods. WebSocket connections offer subscriptions, in websocket.go, and getVersion.
var methods map[string]method

func init() {
	methods = map[string]method{
		"getAccountInfo":                    {1, 2, (*Server).getAccountInfo},
		"getBalance":                        {1, 2, (*Server).getBalance},
		"getBlock":                          {1, 2, (*Server).getBlock},
		"getBlockHeight":                    {0, 1, (*Server).getSlot},
		"getBlockTime":                      {1, 1, (*Server).getBlockTime},
		"getBlocks":                         {1, 3, (*Server).getBlocks},
		"getBlocksWithLimit":                {2, 3, (*Server).getBlocksWithLimit},
		"getEpochInfo":                      {0, 1, (*Server).getEpochInfo},
		"getFeeForMessage":                  {1, 2, (*Server).getFeeForMessage},
		"getFirstAvailableBlock":            {0, 0, (*Server).getFirstAvailableBlock},
		"getGenesisHash":                    {0, 0, (*Server).getGenesisHash},
		"getHealth":                         {0, 0, func(*Server, parameters) (any, error) { return "ok", nil }},
		"getIdentity":                       {0, 0, (*Server).getIdentity},
		"getLatestBlockhash":                {0, 1, (*Server).getLatestBlockhash},
		"getMinimumBalanceForRentExemption": {1, 2, (*Server).getMinimumBalance},
		"getMultipleAccounts":               {1, 2, (*Server).getMultipleAccounts},
		"getProgramAccounts":                {1, 2, (*Server).getProgramAccounts},
		"getRecentPrioritizationFees":       {0, 1, (*Server).getRecentPrioritizationFees},
		"getSignatureStatuses":              {1, 2, (*Server).getSignatureStatuses},
		"getSignaturesForAddress":           {1, 2, (*Server).getSignaturesForAddress},
		"getSlot":                           {0, 1, (*Server).getSlot},
		"getTokenAccountBalance":            {1, 2, (*Server).getTokenAccountBalance},
		"getTokenAccountsByOwner":           {2, 3, (*Server).getTokenAccountsByOwner},
		"getTokenSupply":                    {1, 2, (*Server).getTokenSupply},
		"getTransaction":                    {1, 2, (*Server).getTransaction},
		"getTransactionCount":               {0, 1, (*Server).getTransactionCount},
		"getVersion":                        {0, 0, (*Server).getVersion},
		"isBlockhashValid":                  {1, 2, (*Server).isBlockhashValid},
		"minimumLedgerSlot":                 {0, 0, (*Server).getFirstAvailableBlock},
		"requestAirdrop":                    {2, 3, (*Server).requestAirdrop},
		"sendTransaction":                   {1, 2, (*Server).sendTransaction},
		"simulateTransaction":               {1, 2, (*Server).simulateTransaction},
	}
}

// readConfig configures methods that read at a commitment level.
type readConfig struct {
	Commitment     string `json:"commitment"`
	MinContextSlot uint64 `json:"minContextSlot"`
}

// at returns the configured commitment, after comparing the slot with the caller's minimum slot.
func (s *Server) at(config readConfig) (ledger.Commitment, error) {
	level := commitment(config.Commitment)
	if slot := s.ledger.Slot(level); config.MinContextSlot > slot {
		return "", &Error{codeMinContextSlot, "Minimum context slot has not been reached", object{"contextSlot": slot}}
	}
	return level, nil
}

// read decodes the configuration parameter and returns the commitment.
func (s *Server) read(p parameters, index int) (ledger.Commitment, error) {
	var config readConfig
	if err := p.optional(index, "RpcContextConfig", &config); err != nil {
		return "", err
	}
	return s.at(config)
}

func withContext(slot uint64, value any) object {
	return object{"context": object{"slot": slot, "apiVersion": softwareVersion}, "value": value}
}
