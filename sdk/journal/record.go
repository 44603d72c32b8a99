package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// magic is the beginning of the file: its kind, and the version of its format.
const magic = "haggle journal 2\n"

const (
	// A record: the content's length (4 bytes, little endian), the checksum of those 4 bytes, the content,
	// the content's checksum.
	headSize = 8
	tailSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is the beginning or the end of an entry, or in a compacted file a confirmed entry without its
// transaction.
type record struct {
	Begin     *haggle.JournalEntry `json:"begin,omitempty"`
	Finish    *finish              `json:"finish,omitempty"`
	Confirmed *confirmed           `json:"confirmed,omitempty"`
}

type finish struct {
	Signature solana.Signature    `json:"signature"`
	Outcome   transaction.Outcome `json:"outcome"`
	// Acknowledged reports whether the caller of the action has received the outcome.
	Acknowledged bool `json:"acknowledged,omitempty"`
	// At is the time of the outcome by the machine's clock.
	At time.Time `json:"at"`
}

// confirmed is an entry whose transaction is confirmed.
type confirmed struct {
	Entry        haggle.JournalEntry `json:"entry"`
	Acknowledged bool                `json:"acknowledged,omitempty"`
	At           time.Time           `json:"at"`
}

func (r record) check() error {
	switch {
	case r.Begin != nil && r.Finish == nil && r.Confirmed == nil:
		return r.Begin.Validate()
	case r.Finish != nil && r.Begin == nil && r.Confirmed == nil && r.Finish.Outcome.IsFinal():
		return nil
	case r.Confirmed != nil && r.Begin == nil && r.Finish == nil && !r.Confirmed.Entry.Signature.IsZero():
		return nil
	}
	return errors.New("neither the beginning of an entry nor its end")
}

// appendRecord appends a record in the file's format.
func appendRecord(dst []byte, r record) ([]byte, error) {
	content, err := json.Marshal(r)
	if err != nil {
		return dst, err
	}
	return append(dst, framed(content)...), nil
}

// framed returns a content with its length and the checksums.
func framed(content []byte) []byte {
	length := binary.LittleEndian.AppendUint32(nil, uint32(len(content)))
	dst := binary.LittleEndian.AppendUint32(length, crc32.Checksum(length, castagnoli))
	dst = append(dst, content...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(content, castagnoli))
}

// errTorn reports that the file ends within a record, as after an interrupted write.
var errTorn = errors.New("the record is not complete")

// nextRecord decodes the first record of the rest of the file. It returns errTorn if an interrupted write can
// have left these bytes: the front of a record and nothing behind it, or blocks that were never written,
// which are zeros. Any other failure is damage: it may hide a record that Begin or Finish has promised to
// keep.
func nextRecord(rest []byte) (r record, size int, err error) {
	if len(rest) < headSize {
		return r, 0, errTorn
	}
	if length, sum := rest[:4], binary.LittleEndian.Uint32(rest[4:headSize]); sum != crc32.Checksum(length, castagnoli) {
		if unwritten(rest[headSize:]) {
			return r, 0, errTorn
		}
		return r, 0, errors.New("the length's checksum is wrong")
	}
	length := int(binary.LittleEndian.Uint32(rest))
	size = headSize + length + tailSize
	if len(rest) < size {
		return r, 0, errTorn
	}
	content, tail := rest[headSize:headSize+length], rest[headSize+length:size]
	if sum := binary.LittleEndian.AppendUint32(nil, crc32.Checksum(content, castagnoli)); !bytes.Equal(tail, sum) {
		if isCutOff(content, sum, rest[headSize+length:]) {
			return r, 0, errTorn
		}
		return r, 0, errors.New("the content's checksum is wrong")
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return record{}, 0, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return record{}, 0, errors.New("there is something behind the record's content")
	}
	if err := r.check(); err != nil {
		return record{}, 0, err
	}
	return r, size, nil
}

// isCutOff reports whether a record with a wrong checksum was written up to some place, and is zeros from
// there to the end of the file.
func isCutOff(content, sum, rest []byte) bool {
	if len(content) > 0 && content[len(content)-1] == 0 && unwritten(rest) {
		return true // within the content, which is JSON and does not end with a zero
	}
	for written := range sum {
		if bytes.HasPrefix(rest, sum[:written]) && unwritten(rest[written:]) {
			return true
		}
	}
	return false
}

// unwritten reports whether a part of the file is zeros up to its end.
func unwritten(rest []byte) bool {
	for _, b := range rest {
		if b != 0 {
			return false
		}
	}
	return true
}
