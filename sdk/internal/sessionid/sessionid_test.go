package sessionid

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// The ids of recorded negotiations must stay the same.
func TestSessionIDOfAName(t *testing.T) {
	assert.EqualValues(t, 1530243796207118, Of("order 1234"))
	assert.NotEqual(t, Of("order 1234"), Of("order 1235"))
	assert.NotEqualValues(t, 7, Of("session 7"), "a name is never read as an id")
	rapid.Check(t, func(t *rapid.T) {
		assert.Less(t, Of(rapid.StringMatching(`[^\x00].*`).Draw(t, "name")), uint64(1)<<53)
	})
}

func TestKeyOfASessionID(t *testing.T) {
	for _, id := range []uint64{0, 7, 1 << 53, math.MaxUint64} {
		assert.Equal(t, id, Of(KeyOf(id)))
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Uint64().Draw(t, "id")
		assert.Equal(t, id, Of(KeyOf(id)))
	})
	// Only KeyOf's own spelling is an id, so that no two keys share one by design.
	for _, key := range []string{exact, exact + "07", exact + "+7", exact + "7 ", exact + "18446744073709551616", "7"} {
		assert.NotEqualValues(t, 7, Of(key), "%q", key)
		assert.Less(t, Of(key), uint64(1)<<53, "%q", key)
	}
}
