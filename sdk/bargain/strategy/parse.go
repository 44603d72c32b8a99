package strategy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Parse returns the strategy and parameter values described by text, in any of these forms:
//
//	negmas-boulware
//	negmas-boulware:e=6
//	faratin-exponential:k=0.2,e=0.5
//	{"name":"faratin-exponential","parameters":{"k":0.2,"e":0.5}}
//
// Names are taken from [List], or are aliases. Omitted parameters take their defaults. others adds strategies
// to List's. Errors list the allowed names, parameters or range.
func Parse(text string, others ...Entry) (Entry, error) {
	text = strings.TrimSpace(text)
	var name string
	var given []argument
	var err error
	if strings.HasPrefix(text, "{") {
		name, given, err = readJSON(text)
	} else {
		name, given, err = readArguments(text)
	}
	if err != nil {
		return Entry{}, err
	}
	list := append(List(), others...)
	at := slices.IndexFunc(list, func(e Entry) bool { return e.goesBy(name) })
	if at < 0 {
		var names []string
		for _, entry := range list {
			names = append(names, entry.Name)
		}
		return Entry{}, fmt.Errorf("%q is none of %s", name, strings.Join(names, ", "))
	}
	return list[at].with(given)
}

// argument is a parameter's name and value, as text.
type argument struct{ name, value string }

// readArguments reads "name" or "name:key=value,key=value".
func readArguments(text string) (name string, given []argument, err error) {
	name, list, has := strings.Cut(text, ":")
	if !has {
		return name, nil, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return "", nil, fmt.Errorf("%s: %q is not a parameter with its value, such as e=4", name, part)
		}
		given = append(given, argument{key, value})
	}
	return name, given, nil
}

// parse reads a value.
func (p Parameter) parse(text string) (fixed.Number, error) {
	value, err := fixed.Parse(text)
	switch {
	case err != nil && !errors.Is(err, fixed.ErrRange):
		return 0, fmt.Errorf("%s: %q is not a decimal number", p.Name, text)
	case err != nil || !p.allows(value):
		return 0, fmt.Errorf("%s must be %s, not %s", p.Name, p.limits(), text)
	}
	return value, nil
}

var errForm = errors.New(`JSON must be {"name":"...","parameters":{"key":number}}`)

// readJSON reads a strategy in JSON. It reads token by token, because package json accepts a repeated key.
func readJSON(text string) (name string, given []argument, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	seen := map[string]bool{}
	err = object(decoder, func(key string) error {
		if seen[key] {
			return fmt.Errorf("%w: %q is given twice", errForm, key)
		}
		seen[key] = true
		switch key {
		case "name":
			name, err = scalar[string](decoder)
			return err
		case "parameters":
			return object(decoder, func(key string) error {
				value, err := scalar[json.Number](decoder)
				given = append(given, argument{key, string(value)})
				return err
			})
		}
		return fmt.Errorf("%w: unknown field %q", errForm, key)
	})
	if err != nil {
		return "", nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", nil, fmt.Errorf("%w: text after the object", errForm)
	}
	if name == "" {
		return "", nil, fmt.Errorf("%w: name not set", errForm)
	}
	return name, given, nil
}

// object reads an object. It calls member with each key, to read the value.
func object(decoder *json.Decoder, member func(key string) error) error {
	if err := delimiter(decoder, '{'); err != nil {
		return err
	}
	for decoder.More() {
		key, err := scalar[string](decoder)
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
	}
	return delimiter(decoder, '}')
}

// delimiter reads a brace.
func delimiter(decoder *json.Decoder, want json.Delim) error {
	token, err := decoder.Token()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errForm, err)
	case token != want:
		return fmt.Errorf("%w: %v where %v must be", errForm, token, want)
	}
	return nil
}

// scalar reads a string or a number.
func scalar[T string | json.Number](decoder *json.Decoder) (value T, err error) {
	token, err := decoder.Token()
	if err != nil {
		return value, fmt.Errorf("%w: %w", errForm, err)
	}
	value, is := token.(T)
	if !is {
		return value, fmt.Errorf("%w: wrong value %v", errForm, token)
	}
	return value, nil
}
