package jsonrpc_test

import (
	"path"
	"regexp"
	"strings"
)

// differences lists response fields that differ from a validator's, with the reasons: "step: field". A step
// is a pattern of path.Match. A field stands for all nested fields, too.
var differences = map[string]string{
	"fees/*: error.message":                                               decoderText,
	"sending/empty text: error.message":                                   decoderText,
	"sending/empty transaction: error.message":                            decoderText,
	"sending/short transaction: error.message":                            decoderText,
	"simulations/empty text: error.message":                               decoderText,
	"simulations/empty transaction: error.message":                        decoderText,
	"simulations/short transaction: error.message":                        decoderText,
	"blocks/block in jsonParsed: result.transactions.transaction.message": notParsed,
	"transactions/version 0 in jsonParsed: result.transaction.message":    notParsed,
	"simulations/inner instructions: result.value.innerInstructions":      notParsed,
	"simulations/accounts in jsonParsed: result.value.accounts.data":      notParsed,
	"accounts/*in jsonParsed: result.value.data":                          notParsed,
	"program_accounts/jsonParsed: result.account.data":                    notParsed,
	"token_accounts/by mint in jsonParsed: result.value.account.data":     notParsed,
	"sending/preflight of a missing program: error":                       missingProgram,
	"simulations/simulate of a missing program: result.value.err":         missingProgram,
	"simulations/bytes after the transaction: result.value.preBalances":   newestState,
	"simulations/bytes after the transaction: result.value.postBalances":  newestState,
	"blocks/block in the old form: result.rewards":                        "no node earns fees",
	"accounts/mint in base64+zstd: result.value.data":                     "another compressor, the same content",
	"accounts/sysvar: result.value.lamports":                              "LiteSVM gives each sysvar one lamport",
	"accounts/native mint: result.value.rentEpoch":                        "the validator's genesis has an old one",
	"protocol/parameters that the method lacks: body.error.data":          "Rust's debug text of the parameters",
}

const (
	decoderText    = "the text of Agave's decoder"
	notParsed      = "jsonParsed parses neither instructions nor accounts"
	missingProgram = "LiteSVM's loader has another error for it"
	newestState    = "simulations take the newest state, whatever their commitment"
)

var index = regexp.MustCompile(`\[\d+\]`)

// acceptedDifference returns the list entry for a difference.
func acceptedDifference(found difference) (string, bool) {
	field := index.ReplaceAllString(strings.TrimPrefix(found.path, "."), "")
	for key := range differences {
		steps, fields, _ := strings.Cut(key, ": ")
		matches, err := path.Match(steps, found.step)
		if err == nil && matches && (field == fields || strings.HasPrefix(field, fields+".")) {
			return key, true
		}
	}
	return "", false
}
