package rpcpool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/tidwall/gjson"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ErrCompressed: a response contains compressed data, which the pool never requests.
var ErrCompressed = errors.New("the node returns compressed data, which was not requested")

// refuseCompressed finds data in a response that would be decompressed while it is decoded: a few kilobytes
// could exceed the memory.
func refuseCompressed(result []byte) error {
	// A JSON string can spell the encoding's name with escapes.
	if !bytes.Contains(result, []byte("zstd")) && !bytes.Contains(result, []byte(`\u`)) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(result))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if token == string(solana.EncodingBase64Zstd) {
			return ErrCompressed
		}
	}
}

// malformedError is an error about a response that also matches [transaction.ErrMalformed].
type malformedError struct{ error }

func (e malformedError) Unwrap() []error { return []error{e.error, transaction.ErrMalformed} }

// Malformed returns a [transaction.ErrMalformed] with a description.
func Malformed(text string, values ...any) error { return malformedError{fmt.Errorf(text, values...)} }

// errOther: a response is about an object that was not requested.
var errOther = errors.New("the node's answer is about something else")

// nullable lists the reads that return null if the node does not have the object.
var nullable = []string{"getTransaction", "getBlock", "getBlockTime"}

// check returns an error if a response is visibly about an object that was not requested, or about none.
func (r *request) check(result []byte) error {
	if err := refuseCompressed(result); err != nil {
		return err
	}
	if r.kind == read && string(bytes.TrimSpace(result)) == "null" && !slices.Contains(nullable, r.method) {
		return fmt.Errorf("%w: null", errOther)
	}
	if len(r.params) == 0 {
		return nil
	}
	switch r.method {
	case "getMultipleAccounts", "getSignatureStatuses":
		asked := reflect.ValueOf(r.params[0])
		values := gjson.GetBytes(result, "value.#")
		if asked.Kind() == reflect.Slice && values.Exists() && int(values.Int()) != asked.Len() {
			return fmt.Errorf("%w: %d values instead of %d", errOther, values.Int(), asked.Len())
		}
	case "getTransaction":
		found := gjson.GetBytes(result, "transaction")
		if has := firstSignature(found); has != "" && has != fmt.Sprint(r.params[0]) {
			return fmt.Errorf("%w: transaction %s", errOther, has)
		}
	case "sendTransaction":
		if len(r.params) < 2 || fmt.Sprint(optionsIn(r.params[1])["encoding"]) != string(solana.EncodingBase64) {
			return nil // base58 is indistinguishable from base64 here
		}
		encoded, _ := r.params[0].(string)
		sent, ok := signatureOf(encoded)
		if answered := gjson.ParseBytes(result).String(); ok && answered != sent.String() {
			return fmt.Errorf("%w: it has taken another transaction", errOther)
		}
	}
	return nil
}

// firstSignature returns a transaction's first signature in any of the encodings that nodes use, or an empty
// string.
func firstSignature(transaction gjson.Result) string {
	if transaction.IsArray() && transaction.Get("1").String() == string(solana.EncodingBase64) {
		if signature, ok := signatureOf(transaction.Get("0").String()); ok {
			return signature.String()
		}
		return ""
	}
	return transaction.Get("signatures.0").String()
}

// signatureOf returns a base64 transaction's first signature.
func signatureOf(encoded string) (signature solana.Signature, ok bool) {
	tx, err := solana.TransactionFromBase64(encoded)
	if err != nil || len(tx.Signatures) == 0 {
		return signature, false
	}
	return tx.Signatures[0], true
}

// happenedAt returns the newest slot mentioned in a response that does not show its own slot, or 0.
func (r *request) happenedAt(result []byte) uint64 {
	switch r.method {
	case "getSignaturesForAddress":
		return gjson.GetBytes(result, "0.slot").Uint() // the newest is first
	case "getTransaction":
		return gjson.GetBytes(result, "slot").Uint()
	}
	return 0
}

// slotOf returns the slot that a response shows as its own.
func (r *request) slotOf(result []byte) (slot uint64, ok bool) {
	var found gjson.Result
	switch r.method {
	case "getSlot":
		found = gjson.ParseBytes(result)
	case "getEpochInfo":
		found = gjson.GetBytes(result, "absoluteSlot")
	default:
		found = gjson.GetBytes(result, "context.slot")
	}
	return found.Uint(), found.Type == gjson.Number
}
