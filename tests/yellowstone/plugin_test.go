package yellowstone_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/yellowstone"
)

// envPlugin is the path of the plugin's shared library.
const envPlugin = "HAGGLE_YELLOWSTONE_PLUGIN"

// startLimit is the time limit for starting the validator and funding the agents.
const startLimit = 5 * time.Minute

type object = map[string]any

// station is a validator with the plugin, and two agents.
type station struct {
	*localnet.Net
	// address is the plugin's gRPC address, with TLS; trusted contains the certificate's issuer.
	address string
	trusted *x509.CertPool
	token   string
}

// limits contains the plugin settings that differ from the defaults.
type limits struct {
	// replayedSlots is the number of slots that it can repeat, at least. If zero, it repeats none.
	replayedSlots int
	// addresses is the largest number of addresses in a filter. If zero, any number is allowed.
	addresses int
}

// startStation starts a validator with the plugin.
func startStation(t *testing.T, with limits) *station {
	t.Helper()
	library := os.Getenv(envPlugin)
	require.FileExists(t, library, "%s has to be the file of Yellowstone's plugin: toolchain/yellowstone", envPlugin)
	folder := t.TempDir()
	certificate, key, trusted := writeCertificate(t, folder)
	s := &station{address: freeAddress(t), trusted: trusted, token: rand.Text()}
	service := object{
		"listen": []object{{
			"address": s.address,
			"tls":     object{"identity": object{"cert_path": certificate, "key_path": key}},
		}},
		"x_token": s.token, "replay_stored_slots": with.replayedSlots,
	}
	if with.addresses > 0 {
		service["filter_limits"] = object{"transactions": object{"account_include_max": with.addresses, "any": false}}
	}
	config, err := json.Marshal(object{"libpath": library, "log": object{"level": "info"}, "tokio": object{"worker_threads": 2}, "grpc": service})
	require.NoError(t, err)
	file := filepath.Join(folder, "plugin.json")
	require.NoError(t, os.WriteFile(file, config, 0o600))

	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	s.Net, err = localnet.Start(ctx, localnet.Options{
		Kind: localnet.Validator, GeyserPlugin: file, Progress: func(line string) { t.Log(line) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	s.awaitSlot(t, ctx, oldEnough)
	return s
}

// oldEnough is the first slot where a client starts a new stream some slots before the end of the previous
// stream; on a younger chain it does not.
const oldEnough = 40

// awaitSlot waits until the chain has finalized a slot.
func (s *station) awaitSlot(t *testing.T, ctx context.Context, slot uint64) {
	t.Helper()
	for {
		finalized, err := s.Chain.Client().GetSlot(ctx, rpc.CommitmentFinalized)
		require.NoError(t, err)
		if finalized >= slot {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// writeCertificate writes a certificate for 127.0.0.1 and the certificate's key.
func writeCertificate(t *testing.T, folder string) (certificate, key string, trusted *x509.CertPool) {
	t.Helper()
	issuer := httptest.NewTLSServer(nil)
	defer issuer.Close()
	made := issuer.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	require.NoError(t, err)
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
		return path
	}
	trusted = x509.NewCertPool()
	trusted.AddCert(issuer.Certificate())
	return write("certificate.pem", "CERTIFICATE", made.Certificate[0]), write("key.pem", "PRIVATE KEY", private), trusted
}

// freeAddress returns an address where nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// source returns a source that uses the plugin at an address, which may be a proxy's.
func (s *station) source(t *testing.T, address string, maxAddresses int) *yellowstone.Source {
	t.Helper()
	source, err := yellowstone.New(yellowstone.Config{
		Endpoint: fmt.Sprintf("https://%s", address), Token: s.token, TLS: &tls.Config{RootCAs: s.trusted}, MaxAddresses: maxAddresses,
	})
	require.NoError(t, err)
	return source
}
