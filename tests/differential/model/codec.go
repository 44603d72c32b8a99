package model

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
)

// discriminator returns the first 8 bytes of an account, an event or an instruction.
func discriminator(namespace, name string) []byte {
	hash := sha256.Sum256([]byte(namespace + ":" + name))
	return hash[:8]
}

// appendValue appends a value in Borsh: integers in little endian, bools as one byte, arrays and structs
// without padding.
func appendValue(data []byte, value reflect.Value) []byte {
	switch value.Kind() {
	case reflect.Uint8:
		return append(data, byte(value.Uint()))
	case reflect.Uint16:
		return binary.LittleEndian.AppendUint16(data, uint16(value.Uint()))
	case reflect.Uint32:
		return binary.LittleEndian.AppendUint32(data, uint32(value.Uint()))
	case reflect.Uint64:
		return binary.LittleEndian.AppendUint64(data, value.Uint())
	case reflect.Int64:
		return binary.LittleEndian.AppendUint64(data, uint64(value.Int()))
	case reflect.Bool:
		if value.Bool() {
			return append(data, 1)
		}
		return append(data, 0)
	case reflect.Array:
		if value.CanAddr() && value.Type().Elem().Kind() == reflect.Uint8 {
			return append(data, value.Bytes()...)
		}
		for i := range value.Len() {
			data = appendValue(data, value.Index(i))
		}
		return data
	case reflect.Struct:
		for i := range value.NumField() {
			data = appendValue(data, value.Field(i))
		}
		return data
	}
	panic(fmt.Sprintf("%s: not a type of the protocol", value.Type()))
}

// readValue reads a value from data, which must be long enough, and returns the rest.
func readValue(data []byte, value reflect.Value) []byte {
	switch value.Kind() {
	case reflect.Uint8:
		value.SetUint(uint64(data[0]))
		return data[1:]
	case reflect.Uint16:
		value.SetUint(uint64(binary.LittleEndian.Uint16(data)))
		return data[2:]
	case reflect.Uint32:
		value.SetUint(uint64(binary.LittleEndian.Uint32(data)))
		return data[4:]
	case reflect.Uint64:
		value.SetUint(binary.LittleEndian.Uint64(data))
		return data[8:]
	case reflect.Int64:
		value.SetInt(int64(binary.LittleEndian.Uint64(data)))
		return data[8:]
	case reflect.Bool:
		value.SetBool(data[0] != 0)
		return data[1:]
	case reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return data[reflect.Copy(value, reflect.ValueOf(data[:value.Len()])):]
		}
		for i := range value.Len() {
			data = readValue(data, value.Index(i))
		}
		return data
	case reflect.Struct:
		for i := range value.NumField() {
			data = readValue(data, value.Field(i))
		}
		return data
	}
	panic(fmt.Sprintf("%s: not a type of the protocol", value.Type()))
}

// encodeAccount returns an account's data: the discriminator, then the fields of the struct that record
// points to.
func encodeAccount(discriminator []byte, record any) []byte {
	return appendValue(append([]byte(nil), discriminator...), reflect.ValueOf(record).Elem())
}

// decodeAccount reads an account's data into the struct that record points to. It returns false if the size
// or the discriminator is wrong.
func decodeAccount(data, discriminator []byte, size int, record any) bool {
	if len(data) != size || string(data[:8]) != string(discriminator) {
		return false
	}
	readValue(data[8:], reflect.ValueOf(record).Elem())
	return true
}
