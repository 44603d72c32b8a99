package httpsig

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	"github.com/dunglas/httpsfv"
)

// ContentDigest returns the value of the field Content-Digest (RFC 9530) for a body, by SHA-256.
func ContentDigest(body []byte) string {
	sum := sha256.Sum256(body)
	digests := httpsfv.NewDictionary()
	digests.Add("sha-256", httpsfv.NewItem(sum[:]))
	text, err := httpsfv.Marshal(digests)
	if err != nil {
		panic(err) // Every byte sequence has a serialization.
	}
	return text
}

// VerifyContentDigest returns an error if the field Content-Digest contains neither the SHA-256 nor the
// SHA-512 digest of body, or if either differs. It ignores other algorithms.
func VerifyContentDigest(header http.Header, body []byte) error {
	digests, err := httpsfv.UnmarshalDictionary(header.Values("Content-Digest"))
	if err != nil {
		return fmt.Errorf("field Content-Digest: not a dictionary: %w", err)
	}
	sha2, sha5 := sha256.Sum256(body), sha512.Sum512(body)
	known := false
	for name, expected := range map[string][]byte{"sha-256": sha2[:], "sha-512": sha5[:]} {
		member, ok := digests.Get(name)
		if !ok {
			continue
		}
		known = true
		item, _ := member.(httpsfv.Item)
		actual, _ := item.Value.([]byte)
		if subtle.ConstantTimeCompare(actual, expected) == 0 {
			return fmt.Errorf("field Content-Digest: %s is not the digest of the body; send the signed body",
				name)
		}
	}
	if !known {
		return errors.New("field Content-Digest: has neither sha-256 nor sha-512; send one of them")
	}
	return nil
}
