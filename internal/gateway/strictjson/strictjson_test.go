package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
)

type document struct {
	Price  uint64   `json:"price"`
	Names  []string `json:"names,omitempty"`
	Nested *struct {
		Hours uint32 `json:"hours"`
	} `json:"nested,omitempty"`
}

func TestDecodeKeepsFieldsThatAreMissing(t *testing.T) {
	value := document{Price: 1, Names: []string{"a"}}
	require.NoError(t, strictjson.Decode([]byte(` {"price": 18446744073709551615} `), 100, &value, "price"))
	require.Equal(t, document{Price: 1<<64 - 1, Names: []string{"a"}}, value)
}

func TestInvalidDocuments(t *testing.T) {
	for input, problem := range map[string]string{
		``:                               `the document ends early`,
		`null`:                           `null: leave the key out instead`,
		`[]`:                             `not an object`,
		`7`:                              `not an object`,
		`{}`:                             `price: missing; the document has no keys`,
		`{"names":[]}`:                   `price: missing; the document has names`,
		`{"price":1} {}`:                 `data after the document`,
		`{"price":1`:                     `EOF`,
		`{"price":1,"price":2}`:          `price: duplicate key`,
		`{"price":1,"Price":2}`:          `key "Price": write keys in lower case`,
		`{"price":1,"nameſ":["a"]}`:      `key "nameſ": write keys in lower case`,
		`{"price":1,"":2}`:               `key "": write keys in lower case`,
		`{"price":1,"prices":2}`:         `unknown field "prices"`,
		`{"price":null}`:                 `price: null: leave the key out instead`,
		`{"price":1,"names":[null]}`:     `names[0]: null: leave the key out instead`,
		`{"price":-1}`:                   `cannot unmarshal number -1`,
		`{"price":1.5}`:                  `cannot unmarshal number 1.5`,
		`{"price":1e3}`:                  `cannot unmarshal number 1e3`,
		`{"price":18446744073709551616}`: `cannot unmarshal number 18446744073709551616`,
		`{"price":"1"}`:                  `cannot unmarshal string`,
		`{"price":01}`:                   `invalid character '1'`,
		`{"price":1,"nested":{"hours":1,"hours":1}}`:               `nested.hours: duplicate key`,
		`{"price":1,"nested":{"hours":4294967296}}`:                `cannot unmarshal number 4294967296`,
		"{\"price\":1,\"names\":[\"\xff\"]}":                       `not valid UTF-8`,
		strings.Repeat(`{"a":`, 9) + `1` + strings.Repeat(`}`, 9):  `more than 8 nested values`,
		`{"price":1,"names":["` + strings.Repeat("a", 200) + `"]}`: `224 bytes: send at most 200`,
	} {
		var value document
		err := strictjson.Decode([]byte(input), 200, &value, "price")
		require.ErrorIs(t, err, strictjson.ErrInvalid, "%s", input)
		require.ErrorContains(t, err, problem, "%s", input)
	}
}

// JSON Schema allows integers such as 2.0, so valid documents can contain them.
func TestIntegersHaveSeveralForms(t *testing.T) {
	for _, text := range []string{"1500", "1500.0", "1500.000"} {
		var value document
		require.NoError(t, strictjson.Decode([]byte(`{"names":["1.0", "2e0"],"price": `+text+` }`), 1<<10, &value))
		require.Equal(t, document{Price: 1500, Names: []string{"1.0", "2e0"}}, value, text)
	}
	for _, text := range []string{"1.5", "1500.01", "1.0e3", "-1.0", "1."} {
		require.ErrorIs(t, strictjson.Decode([]byte(`{"price":`+text+`}`), 1<<10, new(document)), strictjson.ErrInvalid)
	}
}

// FuzzDecode checks that an accepted document is unambiguous: the encoded value decodes to the same value.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"price":1}`, `{"price":1,"names":["a","b"],"nested":{"hours":3}}`, `{"Price":1}`, `{`, `[[`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value, again document
		if strictjson.Decode(data, 1<<10, &value, "price") != nil {
			return
		}
		written, err := json.Marshal(value)
		require.NoError(t, err)
		require.NoError(t, strictjson.Decode(written, 1<<13, &again, "price"))
		if len(value.Names) == 0 {
			value.Names = nil
		}
		require.Equal(t, value, again)
	})
}
