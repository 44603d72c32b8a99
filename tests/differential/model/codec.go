package model

import (
	"crypto/sha256"
	"encoding/binary"
)

// discriminator returns the first 8 bytes of an account, event or instruction.
func discriminator(namespace, name string) []byte {
	hash := sha256.Sum256([]byte(namespace + ":" + name))
	return hash[:8]
}

// appendValue appends a value, which can be a pointer. For the types of the protocol, integers, bools, arrays
// and structs, Borsh is the packed little-endian form of encoding/binary.
func appendValue(data []byte, value any) []byte {
	data, err := binary.Append(data, binary.LittleEndian, value)
	if err != nil {
		panic(err) // not a type of the protocol
	}
	return data
}

// readValue reads a pointer's target from data, which must be long enough, and returns the rest.
func readValue(data []byte, pointer any) []byte {
	size, err := binary.Decode(data, binary.LittleEndian, pointer)
	if err != nil {
		panic(err) // not a type of the protocol
	}
	return data[size:]
}

// encodeAccount encodes an account: the discriminator, then the fields in the struct that record points to.
func encodeAccount(discriminator []byte, record any) []byte {
	return appendValue(append([]byte(nil), discriminator...), record)
}

// decodeAccount reads an account's data into the struct that record points to. It returns false for a wrong
// size or discriminator.
func decodeAccount(data, discriminator []byte, size int, record any) bool {
	if len(data) != size || string(data[:8]) != string(discriminator) {
		return false
	}
	readValue(data[8:], record)
	return true
}
