package jsonrpc_test

import (
	"path"
	"regexp"
	"strings"
)

// differences are the fields of responses that differ from a validator's, with the reasons: "step: field". A
// step is a pattern of path.Match. A field stands for the fields below it, too.
var differences = map[string]string{}

var index = regexp.MustCompile(`\[\d+\]`)

// acceptedDifference returns the entry of the list that a difference belongs to.
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
