// Package flags defines flags shared by several commands.
package flags

import (
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

// FileOrHash reads 32 bytes in hex, or returns the SHA-256 of the file of that name.
func FileOrHash(flag, written string) ([32]byte, error) {
	if hash, err := hex.DecodeString(written); err == nil && len(hash) == 32 {
		return [32]byte(hash), nil
	}
	content, err := os.ReadFile(written)
	if err != nil {
		return [32]byte{}, exitcode.Usagef("%s: neither 32 bytes in hex nor a file: %w", flag, err)
	}
	return sha256.Sum256(content), nil
}

// ParseHash reads 32 bytes in hex.
func ParseHash(flag, written string) (hash [32]byte, err error) {
	content, err := hex.DecodeString(written)
	if err != nil || len(content) != len(hash) {
		return hash, exitcode.Usagef("%s: %q is not 32 bytes in hex", flag, written)
	}
	return [32]byte(content), nil
}
