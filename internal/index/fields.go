package index

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/gagliardetto/solana-go"
)

// fieldsOf is a struct of the SDK's as a JSON object, its fields in their order and named as in the IDL: 64-bit numbers without
// sign are decimal strings, keys are in base 58, other bytes in hex, enums by name.
func fieldsOf(value reflect.Value) (string, error) {
	text := []byte{'{'}
	for i := range value.NumField() {
		if i > 0 {
			text = append(text, ',')
		}
		encoded, err := json.Marshal(plain(value.Field(i)))
		if err != nil {
			return "", err
		}
		text = append(text, '"')
		text = append(text, snakeCase(value.Type().Field(i).Name)...)
		text = append(text, '"', ':')
		text = append(text, encoded...)
	}
	return string(append(text, '}')), nil
}

func plain(value reflect.Value) any {
	switch typed := value.Interface().(type) {
	case solana.PublicKey:
		return typed.String()
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
