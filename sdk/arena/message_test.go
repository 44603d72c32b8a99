package arena

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// keyOf returns a test key.
func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))
}

// idOf returns the id of keyOf.
func idOf(seed byte) string { return Address(keyOf(seed).Public().(ed25519.PublicKey)) }

// signed returns a signed message for market "m".
func signed(t require.TestingT, seed byte, sequence, seen uint64, now time.Time, action Action) *Message {
	m, err := Sign(keyOf(seed), Draft{
		Market: "m", Sequence: sequence, Seen: seen, Expires: now.Add(time.Minute), Action: action,
	})
	require.NoError(t, err)
	return m
}

// Rule 43.
func TestEveryActionAndFactIsReadAsItWasWritten(t *testing.T) {
	// filled sets all fields, so that none is lost.
	var filled func(v reflect.Value)
	filled = func(v reflect.Value) {
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(opens))
			return
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				filled(v.Field(i))
			}
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			filled(v.Elem())
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			filled(v.Index(0))
		case reflect.String:
			v.SetString("<é> & \u2028")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(7)
		default:
			v.SetUint(9)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(actions)) {
		value := reflect.New(actions[kind])
		filled(value.Elem())
		action := value.Elem().Interface().(Action)
		m := signed(t, 1, 3, 4, opens, action)
		again, err := Parse(m.Text())
		require.NoError(t, err, kind)
		require.Equal(t, action, again.Draft().Action)
		require.NoError(t, again.Verify())
		empty := reflect.Zero(actions[kind]).Interface().(Action)
		require.Equal(t, empty, signed(t, 1, 1, 0, opens, empty).Draft().Action)
	}
	for _, kind := range slices.Sorted(maps.Keys(facts)) {
		value := reflect.New(facts[kind])
		filled(value.Elem())
		event := Shown{Number: 5, At: opens, Fact: value.Elem().Interface().(Fact)}
		text, err := json.Marshal(event)
		require.NoError(t, err)
		var again Shown
		require.NoError(t, json.Unmarshal(text, &again), string(text))
		require.Equal(t, event, again)
	}
}

// Rules 43 and 46.
func TestMessageThatIsNotAsDocumentedIsRefused(t *testing.T) {
	good := string(signed(t, 1, 1, 0, opens, Say{Text: "hi"}).Text())
	for name, bad := range map[string]string{
		"empty":             "",
		"no object":         `["say"]`,
		"two messages":      good + good,
		"unknown field":     strings.Replace(good, `{"action"`, `{"extra":1,"action"`, 1),
		"repeated field":    strings.Replace(good, `{"action"`, `{"kind":"say","action"`, 1),
		"other spelling":    strings.Replace(good, `"market"`, `"Market"`, 1),
		"unknown in action": strings.Replace(good, `"text"`, `"texts"`, 1),
		"null":              strings.Replace(good, `{"text":"hi"}`, `{"text":"hi","want":null}`, 1),
		"unknown kind":      strings.Replace(good, `"kind":"say"`, `"kind":"shout"`, 1),
		"other version":     strings.Replace(good, `"arena/1"`, `"arena/2"`, 1),
		"sequence 0":        strings.Replace(good, `"sequence":1`, `"sequence":0`, 1),
		"sequence of 2^53":  strings.Replace(good, `"sequence":1`, `"sequence":9007199254740992`, 1),
		"time with offset":  strings.Replace(good, `12:01:00Z`, `13:01:00+01:00`, 1),
		"short signature":   strings.Replace(good, `"signature":"`, `"signature":"","x":"`, 1),
		"10 MB of text":     strings.Replace(good, `"hi"`, `"`+strings.Repeat("x", 10<<20)+`"`, 1),
		"deep":              strings.Replace(good, `"hi"`, strings.Repeat("[", 50)+strings.Repeat("]", 50), 1),
		"not UTF-8":         strings.Replace(good, `"hi"`, "\"\xff\"", 1),
	} {
		_, err := Parse([]byte(bad))
		refusal := new(Refusal)
		require.True(t, errors.As(err, &refusal), "%s: %v", name, err)
		require.Equal(t, CodeMalformed, refusal.Code, name)
	}
	// The signature covers every message byte.
	for _, forged := range []string{
		strings.Replace(good, `"hi"`, `"ho"`, 1), strings.Replace(good, `"market":"m"`, `"market":"n"`, 1),
		strings.Replace(good, `"seen":0`, `"seen":1`, 1), strings.Replace(good, `"sequence":1`, `"sequence":2`, 1),
		strings.Replace(good, `12:01:00Z`, `12:02:00Z`, 1), strings.Replace(good, idOf(1), idOf(2), 1),
		strings.Replace(good, idOf(1), "nobody", 1),
	} {
		m, err := Parse([]byte(forged))
		require.NoError(t, err)
		refusal := new(Refusal)
		require.True(t, errors.As(m.Verify(), &refusal), forged)
		require.Equal(t, CodeSignature, refusal.Code)
	}
}

func FuzzParse(f *testing.F) {
	for kind := range maps.Keys(actions) {
		f.Add([]byte(signed(f, 1, 1, 0, opens, reflect.Zero(actions[kind]).Interface().(Action)).Text()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			require.IsType(t, &Refusal{}, err)
			return
		}
		again, err := Parse(m.Text())
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}
