package store

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRevokedKeyIsForgotten(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		key, _, err := f.CreateKey(t.Context(), APIKey{Hash: "h1", Name: "ci", Publisher: f.publisher.ID}, nil)
		require.NoError(t, err)
		other, err := Open(t.Context(), Config{Address: f.address})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, other.Close()) })
		for _, s := range []*Store{f.Store, other} {
			found, _, err := s.KeyWithOwner(t.Context(), "h1")
			require.NoError(t, err)
			require.True(t, found.RevokedAt.IsZero())
		}
		_, err = f.RevokeKey(t.Context(), key.ID)
		require.NoError(t, err)
		found, _, err := f.KeyWithOwner(t.Context(), "h1")
		require.NoError(t, err)
		require.False(t, found.RevokedAt.IsZero(), "this process knows it at once")
		require.Eventually(t, func() bool {
			found, _, err := other.KeyWithOwner(t.Context(), "h1")
			return err == nil && !found.RevokedAt.IsZero()
		}, time.Minute, 10*time.Millisecond, "another one after %s", keyLifetime)
	})
}

func TestKeyThatEndsWhileItIsReadIsNotKept(t *testing.T) {
	var keys recentKeys
	reads := 0
	read := func() (APIKey, string, error) {
		if reads++; reads == 1 {
			keys.forget("h1")
		}
		return APIKey{Hash: "h1"}, "", nil
	}
	for range 3 {
		_, _, err := keys.get("h1", read)
		require.NoError(t, err)
	}
	require.Equal(t, 2, reads, "the second answer is kept, and the first one is not")
}

func TestUnknownChangeForgetsAllKeys(t *testing.T) {
	var keys recentKeys
	reads := 0
	read := func() (APIKey, string, error) { reads++; return APIKey{Hash: "h1"}, "", nil }
	for range 2 {
		_, _, err := keys.get("h1", read)
		require.NoError(t, err)
	}
	require.Equal(t, 1, reads)
	keys.forget("")
	_, _, err := keys.get("h1", read)
	require.NoError(t, err)
	require.Equal(t, 2, reads)
}

func TestRecentKeysAreBounded(t *testing.T) {
	var keys recentKeys
	for n := range maxRecentKeys + 1 {
		_, _, err := keys.get(strconv.Itoa(n), func() (APIKey, string, error) { return APIKey{}, "", nil })
		require.NoError(t, err)
		require.LessOrEqual(t, len(keys.byHash), maxRecentKeys)
	}
}
