package jsonrpc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// difference is a field that two responses do not share.
type difference struct{ step, path, want, got string }

func (d difference) String() string {
	return strings.TrimPrefix(fmt.Sprintf("%s%s: recorded %s, this chain %s", d.step, d.path, d.want, d.got), ".")
}

const missingField = "(missing)"

// compare returns the differences of two decoded JSON values: fields, types, lengths and values.
func compare(path string, want, got any) []difference {
	switch want := want.(type) {
	case object:
		got, is := got.(object)
		if !is {
			break
		}
		keys := slices.Collect(maps.Keys(want))
		for key := range got {
			if _, shared := want[key]; !shared {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		var found []difference
		for _, key := range keys {
			a, inWant := want[key]
			b, inGot := got[key]
			switch field := path + "." + key; {
			case !inGot:
				found = append(found, difference{"", field, text(a), missingField})
			case !inWant:
				found = append(found, difference{"", field, missingField, text(b)})
			default:
				found = append(found, compare(field, a, b)...)
			}
		}
		return found
	case []any:
		got, is := got.([]any)
		if !is || len(got) != len(want) {
			break
		}
		var found []difference
		for i := range want {
			found = append(found, compare(fmt.Sprintf("%s[%d]", path, i), want[i], got[i])...)
		}
		return found
	}
	if a, b := text(want), text(got); a != b && !sameNumber(want, got) {
		return []difference{{"", path, a, b}}
	}
	return nil
}

// sameNumber reports whether two numbers have the same value in different digits: 0 and 0.0.
func sameNumber(want, got any) bool {
	a, first := want.(json.Number)
	b, second := got.(json.Number)
	if !first || !second {
		return false
	}
	x, known := new(big.Rat).SetString(a.String())
	y, alsoKnown := new(big.Rat).SetString(b.String())
	return known && alsoKnown && x.Cmp(y) == 0
}

func text(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

func TestComparisonFindsEveryDifference(t *testing.T) {
	want := `{"a":1,"b":{"c":[1,"x"]},"d":null,"e":18446744073709551615,"f":[1]}`
	for got, expected := range map[string]string{
		want: "",
		`{"a":1.0,"b":{"c":[1,"x"]},"d":null,"e":18446744073709551615,"f":[1]}`:        "",
		`{"a":"1","b":{"c":[1,"x"]},"d":null,"e":18446744073709551615,"f":[1]}`:        `result.a: recorded 1, this chain "1"`,
		`{"a":1,"b":{"c":[1,"y"]},"d":null,"e":18446744073709551615,"f":[1]}`:          `result.b.c[1]: recorded "x", this chain "y"`,
		`{"a":1,"b":{"c":[1,"x"]},"e":18446744073709551615,"f":[1]}`:                   `result.d: recorded null, this chain (missing)`,
		`{"a":1,"b":{"c":[1,"x"]},"d":null,"e":18446744073709551614,"f":[1]}`:          `result.e: recorded 18446744073709551615, this chain 18446744073709551614`,
		`{"a":1,"b":{"c":[1,"x"]},"d":null,"e":18446744073709551615,"f":[1,2]}`:        `result.f: recorded [1], this chain [1,2]`,
		`{"a":1,"b":{"c":[1,"x"]},"d":null,"e":18446744073709551615,"f":[1],"g":true}`: `result.g: recorded (missing), this chain true`,
		`[]`: `result: recorded ` + want + `, this chain []`,
	} {
		var a, b any
		require.NoError(t, decodeExact([]byte(want), &a))
		require.NoError(t, decodeExact([]byte(got), &b))
		var lines []string
		for _, found := range compare("result", a, b) {
			lines = append(lines, found.String())
		}
		require.Equal(t, expected, strings.Join(lines, "\n"))
	}
}
