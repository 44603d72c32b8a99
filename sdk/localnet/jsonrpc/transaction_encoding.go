package jsonrpc

import (
	"encoding/base64"
	"encoding/json"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/base58"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// transactionConfig is how transactions are encoded.
type transactionConfig struct {
	Encoding   string `json:"encoding"`
	MaxVersion *uint8 `json:"maxSupportedTransactionVersion"`
	// Rewards reports whether the metadata has rewards, which are always none. If nil, it has.
	Rewards *bool `json:"rewards"`
}

// parsed is the encoding that names the accounts of instructions. Nodes also parse the instructions of some
// programs.
const parsed = "jsonParsed"

func (c transactionConfig) check() error {
	switch c.Encoding {
	case "", "json", "base64", "base58", parsed:
		return nil
	}
	return invalidParams("Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.")
}

// version returns the transaction version, or nil if the client accepts only legacy transactions.
func (c transactionConfig) version(t *ledger.Transaction) (any, error) {
	legacy := t.Decoded.Message.GetVersion() != solana.MessageVersionV0
	switch {
	case c.MaxVersion == nil && legacy:
		return nil, nil
	case c.MaxVersion == nil:
		return nil, &Error{
			Code: codeUnsupportedVersion,
			Message: "Transaction version (0) is not supported by the requesting client. Please try the request again " +
				"with the following configuration parameter: \"maxSupportedTransactionVersion\": 0",
		}
	case legacy:
		return "legacy", nil
	}
	return supportedVersion, nil
}

func (c transactionConfig) encode(t *ledger.Transaction) (object, error) {
	encoded := object{"meta": c.meta(t)}
	switch c.Encoding {
	case "base64":
		encoded["transaction"] = []string{base64.StdEncoding.EncodeToString(t.Wire), "base64"}
	case "base58":
		encoded["transaction"] = []string{base58.Encode(t.Wire), "base58"}
	default:
		encoded["transaction"] = object{"signatures": t.Decoded.Signatures, "message": c.message(t)}
	}
	return c.withVersion(t, encoded)
}

// encodeAccounts returns a transaction's accounts instead of the message.
func (c transactionConfig) encodeAccounts(t *ledger.Transaction) (object, error) {
	meta := c.meta(t)
	for _, field := range []string{
		"innerInstructions", "logMessages", "loadedAddresses", "returnData", "computeUnitsConsumed", "costUnits",
	} {
		delete(meta, field)
	}
	if meta["rewards"] == nil {
		delete(meta, "rewards")
	}
	return c.withVersion(t, object{
		"meta": meta, "transaction": object{"signatures": t.Decoded.Signatures, "accountKeys": accountsOf(t)},
	})
}

func (c transactionConfig) withVersion(t *ledger.Transaction, encoded object) (object, error) {
	version, err := c.version(t)
	if version != nil {
		encoded["version"] = version
	}
	return encoded, err
}

func (c transactionConfig) message(t *ledger.Transaction) object {
	message := &t.Decoded.Message
	instructions := []any{}
	for _, each := range message.Instructions {
		if c.Encoding == parsed {
			instructions = append(instructions, addressed(t, each.ProgramIDIndex, each.Accounts, each.Data, transactionStackHeight))
		} else {
			instructions = append(instructions, indexed(each.ProgramIDIndex, each.Accounts, each.Data, transactionStackHeight))
		}
	}
	encoded := object{"recentBlockhash": message.RecentBlockhash, "instructions": instructions}
	if c.Encoding == parsed {
		encoded["accountKeys"] = accountsOf(t)
	} else {
		encoded["header"], encoded["accountKeys"] = message.Header, message.AccountKeys
	}
	if message.GetVersion() == solana.MessageVersionV0 {
		tables := []any{}
		for _, table := range message.AddressTableLookups {
			tables = append(tables, object{
				"accountKey": table.AccountKey, "writableIndexes": numbers(table.WritableIndexes),
				"readonlyIndexes": numbers(table.ReadonlyIndexes),
			})
		}
		encoded["addressTableLookups"] = tables
	}
	return encoded
}

func (c transactionConfig) meta(t *ledger.Transaction) object {
	meta := object{
		"err": nullable(t.Result.Err), "status": status(t.Result.Err), "fee": t.Result.Fee,
		"preBalances": t.Before.Lamports, "postBalances": t.After.Lamports,
		"preTokenBalances": encodeTokens(t.Before.Tokens), "postTokenBalances": encodeTokens(t.After.Tokens),
		"innerInstructions": encodeCalls(t, c.Encoding == parsed), "logMessages": list(t.Result.Logs), "rewards": nil,
		"computeUnitsConsumed": t.Result.ComputeUnits, "costUnits": t.Cost(),
	}
	if c.Rewards == nil || *c.Rewards {
		meta["rewards"] = []any{}
	}
	if c.Encoding != parsed {
		meta["loadedAddresses"] = encodeLoaded(t)
	}
	if data := encodeReturnData(t.Result); data != nil {
		meta["returnData"] = data
	}
	return meta
}

func encodeLoaded(t *ledger.Transaction) object {
	return object{"writable": list(t.LoadedWritable), "readonly": list(t.LoadedReadonly)}
}

// accountsOf returns a transaction's accounts with their roles.
func accountsOf(t *ledger.Transaction) []any {
	accounts := []any{}
	for i, key := range t.Keys {
		source := "transaction"
		if i >= len(t.Decoded.Message.AccountKeys) {
			source = "lookupTable"
		}
		accounts = append(accounts, object{
			"pubkey": key, "writable": t.IsWritable(i), "signer": i < len(t.Decoded.Signatures), "source": source,
		})
	}
	return accounts
}

// transactionStackHeight is the stack height for top-level instructions.
const transactionStackHeight = 1

// encodeCalls encodes the cross-program calls in a transaction, using addresses or indexes.
func encodeCalls(t *ledger.Transaction, addresses bool) []any {
	encoded := []any{}
	for index, calls := range t.Result.Inner {
		if len(calls) == 0 {
			continue
		}
		var instructions []any
		for _, call := range calls {
			if addresses {
				instructions = append(instructions, addressed(t, call.Program, call.Accounts, call.Data, int(call.StackHeight)))
			} else {
				instructions = append(instructions, indexed(call.Program, call.Accounts, call.Data, int(call.StackHeight)))
			}
		}
		encoded = append(encoded, object{"index": index, "instructions": instructions})
	}
	return encoded
}

func indexed[I byte | uint16](program I, accounts []I, data []byte, height int) object {
	return object{
		"programIdIndex": program, "accounts": numbers(accounts), "data": base58.Encode(data), "stackHeight": height,
	}
}

func addressed[I byte | uint16](t *ledger.Transaction, program I, accounts []I, data []byte, height int) object {
	addresses := []solana.PublicKey{}
	for _, index := range accounts {
		addresses = append(addresses, t.Keys[index])
	}
	return object{
		"programId": t.Keys[program], "accounts": addresses, "data": base58.Encode(data), "stackHeight": height,
	}
}

// numbers returns a list that JSON shows as numbers, also of bytes.
func numbers[I byte | uint16](indexes []I) []int {
	converted := make([]int, len(indexes))
	for i, index := range indexes {
		converted[i] = int(index)
	}
	return converted
}

// nullable returns the transaction's error, or null.
func nullable(err json.RawMessage) any {
	if err == nil {
		return nil
	}
	return err
}

func status(err json.RawMessage) object {
	if err == nil {
		return object{"Ok": nil}
	}
	return object{"Err": err}
}

func encodeReturnData(result *engine.Result) any {
	if len(result.ReturnData) == 0 {
		return nil
	}
	return object{
		"programId": result.ReturnProgram, "data": []string{base64.StdEncoding.EncodeToString(result.ReturnData), "base64"},
	}
}
