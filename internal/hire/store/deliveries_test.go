package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/pinstest"
)

func TestDeliveryIsReadByBothParties(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		k, other := talks(1)[0], talks(1)[0]
		content := bytes.Repeat([]byte{0, 255, '\n', 'x'}, 1<<20)
		deliver := func(k *hiretest.Talk, now time.Time) (count, size int64) {
			tx, err := h.Begin(t.Context())
			require.NoError(t, err)
			defer tx.Cancel()
			c, err := tx.LockExisting(t.Context(), store.ConversationID(k.Conversation, k.Seeker.ID, k.Worker.ID))
			require.NoError(t, err)
			require.NoError(t, tx.AddDelivery(t.Context(), c, content, now))
			count, size, err = tx.CountDeliveries(t.Context(), c, "another")
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
			return count, size
		}
		h.append(t, k, hire.RoleSeeker, hire.TypeProposal)
		h.append(t, other, hire.RoleSeeker, hire.TypeProposal)
		size := int64(len(content))
		for range 2 {
			count, all := deliver(k, start)
			require.EqualValues(t, 1, count, "the same content is stored once")
			require.Equal(t, size, all)
		}
		_, all := deliver(other, start.Add(time.Hour))
		require.Equal(t, 2*size, all)
		sum := sha256.Sum256(content)
		hash := hex.EncodeToString(sum[:])
		for _, agent := range []string{k.Seeker.ID, k.Worker.ID} {
			got, err := h.Delivery(t.Context(), hash, agent)
			require.NoError(t, err)
			require.True(t, bytes.Equal(content, got))
		}
		_, err := h.Delivery(t.Context(), hash, "stranger")
		require.ErrorIs(t, err, store.ErrNotFound)
		deleted, err := h.DeleteDeliveries(t.Context(), start.Add(time.Second))
		require.NoError(t, err)
		require.EqualValues(t, 1, deleted)
		_, err = h.Delivery(t.Context(), hash, k.Seeker.ID)
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = h.Delivery(t.Context(), hash, other.Seeker.ID)
		require.NoError(t, err)
		kept, err := h.Deliveries(t.Context(), store.ConversationID(k.Conversation, k.Seeker.ID, k.Worker.ID))
		require.NoError(t, err)
		require.Equal(t, []store.Delivered{{Hash: hash, At: start, Size: -1}}, kept, "the delivery remains known")
		deleted, err = h.DeleteDeliveries(t.Context(), start.Add(time.Second))
		require.NoError(t, err)
		require.Zero(t, deleted)
		_, all = deliver(k, start.Add(time.Hour))
		require.Equal(t, 2*size, all, "delivered again")
		_, err = h.Delivery(t.Context(), hash, k.Seeker.ID)
		require.NoError(t, err)
	})
}

func TestPins(t *testing.T) {
	onBoth(t, func(t *testing.T, h *home) {
		pinstest.Run(t, func() hire.Pins { return open(t, h.address) })
	})
}
