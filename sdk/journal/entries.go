package journal

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// Sequence returns the sequence of a list of entries, for [haggle.Journal].Unfinished. The list is read as a
// whole before the first entry is yielded, because the loop may write to the journal.
func Sequence(list func() ([]haggle.JournalEntry, error)) iter.Seq2[haggle.JournalEntry, error] {
	return func(yield func(haggle.JournalEntry, error) bool) {
		entries, err := list()
		if err != nil {
			yield(haggle.JournalEntry{}, err)
			return
		}
		for _, entry := range entries {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// DecodeEntry decodes an entry that a database has as JSON. If signature is not empty, it returns an error
// for an entry of another transaction or wallet.
func DecodeEntry(encoded, signature string, wallet solana.PublicKey) (entry haggle.JournalEntry, err error) {
	decoder := json.NewDecoder(strings.NewReader(encoded))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&entry); err != nil {
		return haggle.JournalEntry{}, err
	}
	if err := entry.Validate(); err != nil {
		return entry, err
	}
	if signature != "" && (entry.Signature.String() != signature || entry.Wallet != wallet) {
		return entry, errors.New("the entry is another one's")
	}
	return entry, nil
}
