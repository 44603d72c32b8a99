package model

import (
	"crypto/sha256"
	"encoding/binary"
)

// fields visits the fields of an account in the order of its bytes, to read, write or show them. The pointers are to uint8,
// uint16, uint32, uint64, int64, bool, or arrays of bytes, uint16 or addresses.
type fields func(name string, field any)

// discriminator is what the bytes of an account, an event or an instruction begin with.
func discriminator(namespace, name string) []byte {
	hash := sha256.Sum256([]byte(namespace + ":" + name))
	return hash[:8]
}

// appendField appends a field as Borsh writes it. Pointers and values are the same.
func appendField(data []byte, field any) []byte {
	switch v := field.(type) {
	case *uint8:
		return append(data, *v)
	case *bool:
		return appendField(data, *v)
	case *uint16:
		return binary.LittleEndian.AppendUint16(data, *v)
	case *uint32:
		return binary.LittleEndian.AppendUint32(data, *v)
	case *uint64:
		return binary.LittleEndian.AppendUint64(data, *v)
	case *int64:
		return binary.LittleEndian.AppendUint64(data, uint64(*v))
	case *Address:
		return append(data, v[:]...)
	case *[32]byte:
		return append(data, v[:]...)
	case *[64]byte:
		return append(data, v[:]...)
	case *[8]uint16:
		return appendField(data, *v)
	case uint8:
		return append(data, v)
	case bool:
		if v {
			return append(data, 1)
		}
		return append(data, 0)
	case uint16:
		return binary.LittleEndian.AppendUint16(data, v)
	case uint64:
		return binary.LittleEndian.AppendUint64(data, v)
	case int64:
		return binary.LittleEndian.AppendUint64(data, uint64(v))
	case Address:
		return append(data, v[:]...)
	case [32]byte:
		return append(data, v[:]...)
	case [64]byte:
		return append(data, v[:]...)
	case [8]uint16:
		for _, n := range v {
			data = binary.LittleEndian.AppendUint16(data, n)
		}
		return data
	}
	panic("no field of the protocol has this type")
}

// reader reads fields from bytes that are known to be long enough.
type reader struct{ rest []byte }

func (r *reader) take(size int) []byte {
	taken := r.rest[:size]
	r.rest = r.rest[size:]
	return taken
}

func (r *reader) read(field any) {
	switch v := field.(type) {
	case *uint8:
		*v = r.take(1)[0]
	case *bool:
		*v = r.take(1)[0] != 0
	case *uint16:
		*v = binary.LittleEndian.Uint16(r.take(2))
	case *uint32:
		*v = binary.LittleEndian.Uint32(r.take(4))
	case *uint64:
		*v = binary.LittleEndian.Uint64(r.take(8))
	case *int64:
		*v = int64(binary.LittleEndian.Uint64(r.take(8)))
	case *Address:
		copy(v[:], r.take(32))
	case *[32]byte:
		copy(v[:], r.take(32))
	case *[64]byte:
		copy(v[:], r.take(64))
	case *[8]uint16:
		for i := range v {
			v[i] = binary.LittleEndian.Uint16(r.take(2))
		}
	default:
		panic("no field of the protocol has this type")
	}
}
