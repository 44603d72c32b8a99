// Package strictjson reads JSON documents of other parties. It refuses input that readers could understand
// differently: duplicate, unknown or differently written keys, null, invalid UTF-8, data after the document.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth limits the nesting of arrays and objects in a document.
const maxDepth = 8

// ErrInvalid is in the chain of every error of this package.
var ErrInvalid = errors.New("invalid JSON")

// Decode reads one object of at most limit bytes into value, a pointer to a struct. Keys consist of
// lower-case letters, digits and underscores. Fields missing from the document keep their values; each key of
// required must be present. It returns an error with [ErrInvalid] and the path of the invalid key. An integer
// may be written with a fraction of zeros, as in JSON Schema: 2.0 is 2.
func Decode(data []byte, limit int, value any, required ...string) error {
	if len(data) > limit {
		return invalid("", "%d bytes: send at most %d", len(data), limit)
	}
	if !utf8.Valid(data) {
		return invalid("", "not valid UTF-8")
	}
	reader := json.NewDecoder(bytes.NewReader(data))
	reader.UseNumber()
	walk := walker{reader: reader, top: map[string]bool{}}
	if err := walk.value("", 0); err != nil {
		return err
	}
	if _, err := reader.Token(); !errors.Is(err, io.EOF) {
		return invalid("", "data after the document")
	}
	if !walk.object {
		return invalid("", "not an object")
	}
	for _, key := range required {
		if !walk.top[key] {
			return invalid(key, "missing; the document has %s", listed(walk.top))
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(walk.rewritten(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return invalid("", "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func listed(keys map[string]bool) string {
	if len(keys) == 0 {
		return "no keys"
	}
	return strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
}

func invalid(path, format string, arguments ...any) error {
	text := fmt.Sprintf(format, arguments...)
	if path != "" {
		text = path + ": " + text
	}
	return fmt.Errorf("%w: %s", ErrInvalid, text)
}

// walker checks a document before it is decoded.
type walker struct {
	reader *json.Decoder
	// object reports whether the document is an object, and top holds the keys.
	object bool
	top    map[string]bool
	// integers lists the numbers with a fraction of zeros.
	integers []integer
}

// integer is a number in a document, from one offset to another, and the text without the fraction.
type integer struct {
	from, to int64
	text     string
}

// number records a number that encoding/json does not read as an integer although it is one.
func (w *walker) number(text string) {
	whole, fraction, has := strings.Cut(text, ".")
	if has && strings.Trim(fraction, "0") == "" {
		end := w.reader.InputOffset()
		w.integers = append(w.integers, integer{end - int64(len(text)), end, whole})
	}
}

// rewritten returns the document with the integers in their usual form.
func (w *walker) rewritten(data []byte) []byte {
	if len(w.integers) == 0 {
		return data
	}
	var text []byte
	from := int64(0)
	for _, found := range w.integers {
		text = append(append(text, data[from:found.from]...), found.text...)
		from = found.to
	}
	return append(text, data[from:]...)
}

func (w *walker) value(path string, depth int) error {
	token, err := w.reader.Token()
	switch {
	case errors.Is(err, io.EOF):
		return invalid(path, "the document ends early")
	case err != nil:
		return invalid(path, "%s", err)
	case token == nil:
		return invalid(path, "null: leave the key out instead")
	}
	if number, is := token.(json.Number); is {
		w.number(number.String())
	}
	opening, nested := token.(json.Delim)
	switch {
	case !nested:
		return nil
	case depth >= maxDepth:
		return invalid(path, "more than %d nested values", maxDepth)
	case opening == '{':
		return w.members(path, depth)
	}
	for index := 0; w.reader.More(); index++ {
		if err := w.value(fmt.Sprintf("%s[%d]", path, index), depth+1); err != nil {
			return err
		}
	}
	return w.end(path)
}

func (w *walker) members(path string, depth int) error {
	keys := map[string]bool{}
	if depth == 0 {
		w.object, w.top = true, keys
	}
	for w.reader.More() {
		token, err := w.reader.Token()
		if err != nil {
			return invalid(path, "%s", err)
		}
		key, _ := token.(string)
		// encoding/json ignores the case of keys, so only one way to write a key is accepted.
		if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || key == "" {
			return invalid(path, "key %.40q: write keys in lower case", key)
		}
		inner := key
		if path != "" {
			inner = path + "." + key
		}
		if keys[key] {
			return invalid(inner, "duplicate key")
		}
		keys[key] = true
		if err := w.value(inner, depth+1); err != nil {
			return err
		}
	}
	return w.end(path)
}

// end reads the closing bracket.
func (w *walker) end(path string) error {
	if _, err := w.reader.Token(); err != nil {
		return invalid(path, "%s", err)
	}
	return nil
}
