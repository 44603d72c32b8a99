package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// mismatch returns the error text of the Rust library serde for a value with an unexpected type. name is the
// structure's Rust type.
func mismatch(raw json.RawMessage, err error, name string) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	value := field(raw, wrong.Field)
	expected := expectation(wrong.Type, name)
	if (expected == "u64" || expected == "usize") && strings.HasPrefix(string(value), "-") {
		return fmt.Sprintf("invalid value: integer `%s`, expected %s", value, expected)
	}
	return fmt.Sprintf("invalid type: %s, expected %s", describeValue(value), expected)
}

// field returns the value at a path of names, or in a list of texts the first that is none.
func field(raw json.RawMessage, path string) json.RawMessage {
	for name := range strings.SplitSeq(path, ".") {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) == nil && fields[name] != nil {
			raw = fields[name]
		}
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		for _, item := range items {
			if item[0] != '"' {
				return item
			}
		}
	}
	return raw
}

func describeValue(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "string " + string(raw)
	case 'n':
		return "null"
	case 't', 'f':
		return fmt.Sprintf("boolean `%s`", raw)
	case '[':
		return "sequence"
	case '{':
		return "map"
	}
	if strings.ContainsAny(string(raw), ".eE") {
		return fmt.Sprintf("floating point `%s`", raw)
	}
	return fmt.Sprintf("integer `%s`", raw)
}

func expectation(expected reflect.Type, name string) string {
	switch expected.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		return "a sequence"
	case reflect.Pointer:
		return expectation(expected.Elem(), name)
	case reflect.Struct:
		return "struct " + name
	case reflect.Uint8:
		return "u8"
	case reflect.Uint:
		return "usize"
	}
	return "u64"
}
