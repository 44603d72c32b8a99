// Package sessionid derives the session ids of negotiations from the keys of their creations.
package sessionid

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
)

// domain separates session ids from other hashes.
const domain = "haggle-session:"

// exact is the prefix of keys that contain their session id. Its zero byte distinguishes them from the names of
// purchases.
const exact = "\x00session "

// Of returns the session id that follows from a creation's key: an id below 2^53, which a float64 holds exactly,
// or the id of [KeyOf].
func Of(key string) uint64 {
	if digits, found := strings.CutPrefix(key, exact); found {
		if id, err := strconv.ParseUint(digits, 10, 64); err == nil && key == KeyOf(id) {
			return id
		}
	}
	hash := sha256.Sum256([]byte(domain + key))
	return binary.LittleEndian.Uint64(hash[:]) >> 11
}

// KeyOf returns the key whose session id is id. It serves protocols that fix the session ids of their negotiations:
// HIRE/1.0 derives an agreement's id from the accepting messages.
func KeyOf(id uint64) string { return exact + strconv.FormatUint(id, 10) }
