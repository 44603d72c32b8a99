package fifocache

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOldestValuesAreDropped(t *testing.T) {
	kept := NewMap[int, string](2)
	kept.Put(1, "a")
	kept.Put(2, "b")
	kept.Put(1, "c")
	kept.Put(3, "d")
	_, ok := kept.Get(1)
	require.False(t, ok)
	kept.Put(4, "e")
	for key, want := range map[int]string{3: "d", 4: "e"} {
		value, ok := kept.Get(key)
		require.True(t, ok)
		require.Equal(t, want, value)
	}
	require.Equal(t, 2, kept.Len())
}
