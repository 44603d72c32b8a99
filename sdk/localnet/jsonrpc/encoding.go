package jsonrpc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/base58"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

type object = map[string]any

// maxBase58 is the largest account data that nodes encode as base58, in bytes.
const maxBase58 = 128

type dataSlice struct {
	Offset uint64 `json:"offset"`
	Length uint64 `json:"length"`
}

// accountEncoding is how an account's data is encoded.
type accountEncoding struct {
	Encoding  string     `json:"encoding"`
	DataSlice *dataSlice `json:"dataSlice"`
}

func (e accountEncoding) check() error {
	switch e.Encoding {
	case "", "base58", "base64", "jsonParsed":
		return nil
	}
	return invalidParams("Invalid params: unknown variant `%s`, expected one of `base58`, `base64`, `jsonParsed`", e.Encoding)
}

func (e accountEncoding) encode(account *engine.Account) (any, error) {
	if account == nil {
		return nil, nil
	}
	data := account.Data
	if e.DataSlice != nil {
		from := min(e.DataSlice.Offset, uint64(len(data)))
		data = data[from : from+min(e.DataSlice.Length, uint64(len(data))-from)]
	}
	var encoded any
	switch {
	case e.Encoding == "base64" || e.Encoding == "jsonParsed":
		encoded = []string{base64.StdEncoding.EncodeToString(data), "base64"}
	case len(data) > maxBase58:
		return nil, &Error{Code: -32600, Message: "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding."}
	case e.Encoding == "":
		encoded = base58.Encode(data)
	default:
		encoded = []string{base58.Encode(data), "base58"}
	}
	return object{
		"lamports": account.Lamports, "owner": account.Owner, "executable": account.Executable,
		"rentEpoch": account.RentEpoch, "space": len(account.Data), "data": encoded,
	}, nil
}

// nullable returns the error of a transaction, or null.
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

func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func encodeInner(result *engine.Result) []any {
	encoded := []any{}
	for index, calls := range result.Inner {
		if len(calls) == 0 {
			continue
		}
		var instructions []any
		for _, call := range calls {
			accounts := make([]int, len(call.Accounts))
			for i, account := range call.Accounts {
				accounts[i] = int(account)
			}
			instructions = append(instructions, object{
				"programIdIndex": call.Program, "accounts": accounts, "data": base58.Encode(call.Data),
				"stackHeight": call.StackHeight,
			})
		}
		encoded = append(encoded, object{"index": index, "instructions": instructions})
	}
	return encoded
}

func encodeReturnData(result *engine.Result) any {
	if len(result.ReturnData) == 0 {
		return nil
	}
	return object{
		"programId": result.ReturnProgram, "data": []string{base64.StdEncoding.EncodeToString(result.ReturnData), "base64"},
	}
}

func encodeTokens(balances []ledger.TokenBalance) []any {
	encoded := []any{}
	for _, balance := range balances {
		encoded = append(encoded, object{
			"accountIndex": balance.Account, "mint": balance.Mint, "owner": balance.Owner, "programId": balance.Program,
			"uiTokenAmount": tokenAmount(balance.Amount, balance.Decimals),
		})
	}
	return encoded
}

func tokenAmount(amount uint64, decimals byte) object {
	text := fmt.Sprint(amount)
	if decimals > 0 {
		text = strings.Repeat("0", max(0, int(decimals)+1-len(text))) + text
		point := len(text) - int(decimals)
		text = strings.TrimRight(strings.TrimRight(text[:point]+"."+text[point:], "0"), ".")
	}
	return object{
		"amount": fmt.Sprint(amount), "decimals": decimals, "uiAmount": json.RawMessage(text), "uiAmountString": text,
	}
}

func encodeMeta(t *ledger.Transaction) object {
	meta := object{
		"err": nullable(t.Result.Err), "status": status(t.Result.Err), "fee": t.Result.Fee,
		"preBalances": t.Before.Lamports, "postBalances": t.After.Lamports,
		"preTokenBalances": encodeTokens(t.Before.Tokens), "postTokenBalances": encodeTokens(t.After.Tokens),
		"innerInstructions": encodeInner(t.Result), "logMessages": list(t.Result.Logs), "rewards": []any{},
		"computeUnitsConsumed": t.Result.ComputeUnits,
		"loadedAddresses":      object{"writable": list(t.LoadedWritable), "readonly": list(t.LoadedReadonly)},
	}
	if data := encodeReturnData(t.Result); data != nil {
		meta["returnData"] = data
	}
	return meta
}

func encodeTransaction(t *ledger.Transaction, encoding string) (any, error) {
	switch encoding {
	case "base64":
		return []string{base64.StdEncoding.EncodeToString(t.Wire), "base64"}, nil
	case "base58":
		return []string{base58.Encode(t.Wire), "base58"}, nil
	case "", "json":
		return t.Decoded, nil
	}
	return nil, invalidParams("Invalid params: encoding %q is not supported, use json, base58 or base64", encoding)
}

// version returns 0, or "legacy".
func version(t *ledger.Transaction) any {
	if t.Decoded.Message.GetVersion() == solana.MessageVersionV0 {
		return supportedVersion
	}
	return "legacy"
}
