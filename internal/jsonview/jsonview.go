// Package jsonview converts the SDK's accounts and events to JSON objects with IDL names in IDL order.
package jsonview

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// Field is an object member.
type Field struct {
	// Name is the field's name in the IDL.
	Name string
	// Value is the argument of [json.Marshal].
	Value any
}

// List is an object.
type List []Field

// Of lists the struct fields behind a pointer. Unsigned 64-bit numbers are decimal strings, keys are in
// base58, other bytes in hex, enums are names.
func Of(pointer any) List {
	value := reflect.ValueOf(pointer).Elem()
	list := make(List, value.NumField())
	for i := range list {
		list[i] = Field{snakeCase(value.Type().Field(i).Name), plain(value.Field(i))}
	}
	return list
}

// MarshalJSON keeps field order.
func (l List) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, field := range l {
		if i > 0 {
			text = append(text, ',')
		}
		encoded, err := json.Marshal(field.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
		text = append(text, `"`+field.Name+`":`...)
		text = append(text, encoded...)
	}
	return append(text, '}'), nil
}

func plain(value reflect.Value) any {
	switch typed := value.Interface().(type) {
	case uint64:
		return strconv.FormatUint(typed, 10)
	case fmt.Stringer:
		return typed.String()
	}
	if value.Kind() == reflect.Array && value.Type().Elem().Kind() == reflect.Uint8 {
		content := make([]byte, value.Len())
		reflect.Copy(reflect.ValueOf(content), value)
		return hex.EncodeToString(content)
	}
	return value.Interface()
}

// snakeCase converts SessionID to session_id.
func snakeCase(name string) string {
	var text strings.Builder
	letters := []rune(name)
	for i, letter := range letters {
		begins := i > 0 && unicode.IsUpper(letter) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			text.WriteByte('_')
		}
		text.WriteRune(unicode.ToLower(letter))
	}
	return text.String()
}
