package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/rest"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
)

func newServer(t *testing.T, handler http.Handler) string {
	t.Helper()
	s := httptest.NewServer(conforming(t, handler))
	t.Cleanup(s.Close)
	return s.URL
}

// childVariable passes the database address to a server to be killed.
const childVariable = "HAGGLE_TEST_GATEWAY_REST"

// child serves the negotiation API until it is killed. It writes the URL.
func child() int {
	err := serveForever(os.Getenv(childVariable))
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func serveForever(address string) error {
	database, err := store.Open(context.Background(), store.Config{Address: address, Limits: store.Limits{
		PerClientHour: 1_000_000, OpenPerClient: 1_000_000, OpenPerPublisher: 1_000_000,
	}})
	if err != nil {
		return err
	}
	cases, err := service.New(service.Config{Store: database})
	if err != nil {
		return err
	}
	authenticator, err := identity.New(identity.Config{Registry: service.Registry{Store: database}})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	handler := rest.Negotiation(rest.Config{Service: cases, Authenticator: authenticator})
	return rest.NewServer(handler).Serve(listener)
}

func startChild(t *testing.T, address string) (url string, process *exec.Cmd) {
	t.Helper()
	process = exec.Command(os.Args[0])
	process.Env = append(os.Environ(), childVariable+"="+address)
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Kill() // already ended if the test killed it
		_ = process.Wait()
	})
	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan())
	return lines.Text(), process
}

// Two gateways answer the same negotiation at once: each proposal is a separate round or gets 409.
func TestTwoGatewaysOnOneDatabase(t *testing.T) {
	address := server.Create(t)
	first, second := open(t, address), open(t, address)
	k := first.register(t)
	opened := must(t, 201, call(t, "POST", first.negotiation+"/api/negotiations", k.client,
		fmt.Sprintf(proposal, 1100)))
	id := fmt.Sprint(inner(opened, "negotiation", "id"))
	must(t, 200, call(t, "GET", second.negotiation+"/api/negotiations/"+id, k.client, ""))

	var answered, busy atomic.Int64
	var group sync.WaitGroup
	begin := make(chan struct{})
	for at := range 8 {
		g := []*gateway{first, second}[at%2]
		group.Go(func() {
			<-begin
			body := fmt.Sprintf(proposal, 1100+at)
			terms := body[strings.Index(body, `"proposed_terms"`):]
			got := call(t, "POST", g.negotiation+"/api/negotiations/"+id+"/counter", k.client, "{"+terms)
			switch got.status {
			case 200:
				answered.Add(1)
			case 409:
				busy.Add(1)
				if got.body["detail"] != "Negotiation in progress" || got.header.Get("Retry-After") != "1" {
					t.Errorf("409: %s", got.text)
				}
			default:
				t.Errorf("%d: %s", got.status, got.text)
			}
		})
	}
	close(begin)
	group.Wait()
	require.EqualValues(t, 8, answered.Load()+busy.Load())
	require.Positive(t, answered.Load())
	status := must(t, 200, call(t, "GET", second.negotiation+"/api/negotiations/"+id, k.client, ""))
	require.EqualValues(t, answered.Load()+1, status["current_round"])
	rounds, _ := status["rounds"].([]any)
	require.Len(t, rounds, int(2*(answered.Load()+1)))
}

// A lock that another process holds is answered at once, not waited for.
func TestALockedNegotiationIsInProgress(t *testing.T) {
	address := server.Create(t)
	g := open(t, address)
	k := g.register(t)
	opened := must(t, 201, call(t, "POST", g.negotiation+"/api/negotiations", k.client,
		fmt.Sprintf(proposal, 1100)))
	id := fmt.Sprint(inner(opened, "negotiation", "id"))
	locked, release := make(chan struct{}), make(chan struct{})
	other := open(t, address)
	done := make(chan error)
	stop := errors.New("stop")
	go func() {
		_, err := storetest.Decided(context.Background(), func([]store.State) (store.Outcome, error) {
			close(locked)
			<-release
			return store.Outcome{}, stop
		})(
			other.store.BeginRound(context.Background(), store.RoundRequest{Negotiations: []string{id}}))
		done <- err
	}()
	<-locked
	path := g.negotiation + "/api/negotiations/" + id
	refused := call(t, "POST", path+"/accept", k.client, `{"current_round":1}`)
	require.Equal(t, "urn:haggle:problem:negotiation-in-progress", must(t, 409, refused)["type"])
	require.Equal(t, "Negotiation in progress", refused.body["detail"])
	must(t, 200, call(t, "GET", path, k.client, ""))
	close(release)
	require.ErrorIs(t, <-done, stop)
	must(t, 200, call(t, "POST", path+"/accept", k.client, `{"current_round":1}`))
}

// One of two gateways is killed during requests. Clients repeat them on the other gateway with the same keys:
// every negotiation exists once.
func TestAKilledGatewayLosesAndRepeatsNothing(t *testing.T) {
	address := server.Create(t)
	g := open(t, address)
	k := g.register(t)
	doomed, process := startChild(t, address)
	const workers, deals = 4, 12
	var confirmed atomic.Int64
	var mutex sync.Mutex
	ids := map[string]string{}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			url := doomed
			for deal := range deals {
				key := fmt.Sprintf("%d-%d", worker, deal)
				body := fmt.Sprintf(proposal, 1500)
				var id string
				for id == "" {
					got, err := try(t.Context(), url+"/api/negotiations", k.client, key, body)
					switch {
					case err != nil && url == doomed:
						url = g.negotiation // the connection broke: it is unknown whether the server acted
					case err != nil:
						t.Errorf("the other gateway: %s", err)
						return
					default:
						id = got
					}
				}
				mutex.Lock()
				ids[key] = id
				mutex.Unlock()
				if confirmed.Add(1) == workers*deals/3 {
					_ = process.Process.Kill()
				}
			}
		})
	}
	group.Wait()
	require.Len(t, ids, workers*deals)
	listed := map[string]bool{}
	for cursor := ""; ; {
		path := g.negotiation + "/api/negotiations?limit=20&cursor=" + cursor
		page := must(t, 200, call(t, "GET", path, k.client, ""))
		items, _ := page["items"].([]any)
		for _, item := range items {
			fields, _ := item.(map[string]any)
			listed[fmt.Sprint(fields["id"])] = true
			require.EqualValues(t, 1, fields["current_round"])
		}
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		cursor = next
	}
	require.Len(t, listed, workers*deals, "none is doubled")
	for key, id := range ids {
		require.True(t, listed[id], "negotiation of key %s is lost", key)
	}
}

// try proposes once. It retries while the gateway is busy.
func try(ctx context.Context, url, client, key, body string) (id string, err error) {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Header.Set("Authorization", "Bearer "+client)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		sent, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		var answer struct {
			Negotiation struct{ ID string }
			Detail      string
		}
		err = errors.Join(json.NewDecoder(sent.Body).Decode(&answer), sent.Body.Close())
		switch {
		case err != nil:
			return "", err
		case sent.StatusCode == http.StatusCreated:
			return answer.Negotiation.ID, nil
		case sent.StatusCode != http.StatusConflict:
			return "", fmt.Errorf("status %d: %s", sent.StatusCode, answer.Detail)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
