// Package strictjson reads and writes JSON that is signed, so that every reader reads the same: one object with known
// fields, in the canonical form of RFC 8785.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Check returns an error unless data is one JSON object in UTF-8 with at most size bytes and at most depth nested
// values, and nothing after it. A decoder does not check these.
func Check(data []byte, size, depth int) error {
	switch {
	case len(data) > size:
		return fmt.Errorf("%d bytes, at most %d", len(data), size)
	case !utf8.Valid(data):
		return errors.New("not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	for nested, first := 0, true; ; first = false {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && !first && nested == 0:
			return nil
		case err != nil:
			return errors.New("not JSON")
		case !first && nested == 0:
			return errors.New("data after the message")
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			nested++
		case json.Delim('}'), json.Delim(']'):
			nested--
		}
		if first && token != json.Delim('{') {
			return errors.New("not an object")
		}
		if nested > depth {
			return fmt.Errorf("more than %d nested values", depth)
		}
	}
}

// Decode reads a JSON value with known fields only.
func Decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// Canonical returns the canonical form of a value.
func Canonical(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(text)
}
