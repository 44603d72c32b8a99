package zopastore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

var buyer, seller = solana.PublicKey{1}, solana.PublicKey{2}

func seal(t *testing.T, negotiation, agent solana.PublicKey, price uint64) *protocol.SealedPrice {
	t.Helper()
	n := &haggle.Snapshot{Address: negotiation}
	n.Buyer, n.Seller, n.EscrowAmount = buyer, seller, 5_000_000
	sealed, err := protocol.SealPrice(n.Address, &n.Negotiation, agent, price)
	require.NoError(t, err)
	return sealed
}

func TestWhatIsKeptIsFound(t *testing.T) {
	store := Store{Dir: filepath.Join(t.TempDir(), "state", "sealed")}
	negotiation, other := solana.PublicKey{8}, solana.PublicKey{9}
	found, err := store.Find(negotiation, buyer)
	require.NoError(t, err)
	require.Empty(t, found)

	first, second := seal(t, negotiation, buyer, 3_000_000), seal(t, negotiation, buyer, 3_000_000)
	for _, price := range []*protocol.SealedPrice{first, second, first, seal(t, negotiation, seller, 1),
		seal(t, other, buyer, 2)} {
		require.NoError(t, store.Keep(price))
	}
	found, err = store.Find(negotiation, buyer)
	require.NoError(t, err)
	require.Len(t, found, 2, "each nonce is stored once")
	commitments := map[[32]byte]bool{found[0].Commitment(): true, found[1].Commitment(): true}
	require.True(t, commitments[first.Commitment()] && commitments[second.Commitment()])
	require.Equal(t, uint64(3_000_000), found[0].Price())

	require.NoError(t, store.Forget(negotiation, buyer))
	require.NoError(t, store.Forget(negotiation, buyer), "a second call does nothing")
	found, err = store.Find(negotiation, buyer)
	require.NoError(t, err)
	require.Empty(t, found)
	for _, left := range [][2]solana.PublicKey{{negotiation, seller}, {other, buyer}} {
		found, err = store.Find(left[0], left[1])
		require.NoError(t, err)
		require.Len(t, found, 1, "the files of others remain")
	}
}

func TestOnlyItsOwnerCanReadIt(t *testing.T) {
	store := Store{Dir: filepath.Join(t.TempDir(), "sealed")}
	price := seal(t, solana.PublicKey{8}, seller, 7)
	require.NoError(t, store.Keep(price))
	folder, err := os.Stat(store.Dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), folder.Mode().Perm())
	file, err := os.Stat(store.Path(price))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), file.Mode().Perm())
	entries, err := os.ReadDir(store.Dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no partial file is left")
}

func TestADamagedFileIsNotPassedOver(t *testing.T) {
	store := Store{Dir: t.TempDir()}
	price := seal(t, solana.PublicKey{8}, buyer, 7)
	require.NoError(t, store.Keep(price))
	require.NoError(t, os.WriteFile(store.Path(price), []byte(`{"version":1`), 0o600))
	_, err := store.Find(solana.PublicKey{8}, buyer)
	require.ErrorIs(t, err, protocol.ErrSealedPrice)
	require.ErrorContains(t, err, store.Path(price))

	other := seal(t, solana.PublicKey{7}, buyer, 7)
	secret, err := other.Secret()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(store.Path(price), secret, 0o600))
	_, err = store.Find(solana.PublicKey{8}, buyer)
	require.ErrorContains(t, err, "belongs to another negotiation")
}

func TestAFolderThatCannotBeWrittenTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	err := Store{Dir: filepath.Join(file, "sealed")}.Keep(seal(t, solana.PublicKey{8}, buyer, 7))
	require.ErrorContains(t, err, "store the committed price")
}
