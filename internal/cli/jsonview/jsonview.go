// Package jsonview turns the SDK's accounts and events into JSON objects whose members are named as in the IDL and stand in its order.
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

// Field is a member of an object.
type Field struct {
	// Name is the field's in the IDL.
	Name string
	// Value is what [json.Marshal] makes the field's value of.
	Value any
}

// List is an object.
type List []Field

// Of lists the fields of a struct that it is given a pointer to. Numbers of 64 bits without sign are decimal strings, keys are in
// base 58, other bytes in hex, enums by name.
func Of(pointer any) List {
	value := reflect.ValueOf(pointer).Elem()
	list := make(List, value.NumField())
	for i := range list {
		list[i] = Field{snakeCase(value.Type().Field(i).Name), plain(value.Field(i))}
	}
	return list
}

// MarshalJSON keeps the order of the fields.
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

// snakeCase turns SessionID into session_id.
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
