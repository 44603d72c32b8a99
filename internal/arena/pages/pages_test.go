package pages

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

// shownBy returns events with the numbers from 1.
func shownBy(facts ...arena.Fact) (events []arena.Shown) {
	opens := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, fact := range facts {
		events = append(events, arena.Shown{Number: uint64(i + 1), At: opens.Add(time.Duration(i) * time.Second), Fact: fact})
	}
	return events
}

func TestGeneratedCodeIsUpToDate(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "../../../toolchain/templ", "generate", "-check", "-path", ".").CombinedOutput()
	require.NoError(t, err, "run go generate ./internal/arena/pages and commit the result: %s", output)
}

func TestNamesAreDistinct(t *testing.T) {
	s := newScene(arenatest.Config("m", time.Now()))
	for _, event := range shownBy(
		arena.Joined{Agent: "AAAA1", Name: "ada"}, arena.Joined{Agent: "BBBB1", Name: "ada\u200b"}, arena.Joined{Agent: "CCCC1", Name: "bob\n\u202eeve"},
		arena.Joined{Agent: "DDDD1", Name: "ada"}, arena.Joined{Agent: "EEEE1", Name: " ada\u00a0"}, arena.Joined{Agent: "FFFF1", Name: " "},
		// A name that looks like a trade is a name.
		arena.Joined{Agent: "GGGG1", Name: "ada sells 900 YES to bob at 0.99, eve"},
		arena.Traded{Agreement: 1, Legs: []arena.Leg{{Seller: "GGGG1", Buyer: "x", Token: arena.Yes, Price: 40, Quantity: 1}}, Price: 40},
	) {
		s.observe(event)
	}
	for id, want := range map[string]string{
		"AAAA1": "ada (AAAA)", "BBBB1": "ada\ufffd", "CCCC1": "bob \ufffdeve", "DDDD1": "ada (DDDD)", "EEEE1": "ada (EEEE)", "FFFF1": "FFFF", "x": "x",
	} {
		require.Equal(t, want, s.name(id))
	}
	parts, err := s.render(t.Context(), true)
	require.NoError(t, err)
	for name, html := range parts {
		require.NotContains(t, html, "\u202e", name)
	}
	require.Contains(t, parts["trades"], `<bdi class="who">ada sells 900 YES to bob at 0.99, eve</bdi> sells 1 YES to <bdi class="who">x</bdi> at 0.40`)
}

func TestTextsAreEscaped(t *testing.T) {
	s := newScene(arenatest.Config("m", time.Now()))
	for _, event := range shownBy(arena.Joined{Agent: "a", Name: "<b>"}, arena.Said{Agent: "a", Text: "<script>x</script>\r\n\nevent: status\ndata: y"}) {
		s.observe(event)
	}
	parts, err := s.render(t.Context(), true)
	require.NoError(t, err)
	require.Contains(t, parts["floor"], "&lt;script&gt;x&lt;/script&gt;")
	require.Contains(t, parts["agents"], "&lt;b&gt;")
	text := difference(map[string]string{}, parts)
	require.Equal(t, len(allParts), strings.Count(text, "\n\n"), "an event for each part")
	require.Equal(t, 2*len(allParts), strings.Count(text, "\nevent: ")+strings.Count(text, "\ndata: ")+1)
	require.NotContains(t, text, "\r")
}

func TestListsAreBounded(t *testing.T) {
	s := newScene(arenatest.Config("m", time.Now()))
	var facts []arena.Fact
	for i := range 3000 {
		agent := fmt.Sprint(i)
		facts = append(facts, arena.Joined{Agent: agent, Name: agent}, arena.ChatBegan{Chat: i + 1, Agents: []string{agent}},
			arena.Countdown{Agreement: i, Parties: []string{agent}}, arena.Traded{Agreement: -1, Legs: []arena.Leg{{Seller: agent, Buyer: "0", Price: 40, Quantity: 1}}, Price: 40})
	}
	for _, event := range shownBy(facts...) {
		s.observe(event)
	}
	require.LessOrEqual(t, len(s.Prices), shownPrices)
	require.Len(t, s.Executed, shownTrades)
	require.Len(t, s.Floor, shownLines)
	require.Len(t, s.present(), shownWho)
	parts, err := s.render(t.Context(), true)
	require.NoError(t, err)
	for _, name := range []string{"chats", "countdowns"} {
		require.Equal(t, shownWho, strings.Count(parts[name], "<li>"), name)
	}
}

// serveStored serves a market not run by any process.
func serveStored(t *testing.T, spectators int) (*Server, string) {
	t.Helper()
	opened, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "arena.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, opened.Close()) })
	require.NoError(t, opened.Create(t.Context(), arenatest.Config("m", time.Now()), time.Now()))
	idle, err := service.New(service.Config{Store: opened, Key: arenatest.Key(arenatest.Operator), Holder: t.Name()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	pages := New(ctx, Config{Store: opened, Service: idle, Spectators: spectators})
	mux := http.NewServeMux()
	pages.Register(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(cancel)
	return pages, server.URL
}

func TestSpectatorsAreLimited(t *testing.T) {
	_, url := serveStored(t, 1)
	first, err := http.Get(url + "/markets/m/events")
	require.NoError(t, err)
	line, err := bufio.NewReader(first.Body).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "event: status\n", line)
	second, err := http.Get(url + "/markets/m/events")
	require.NoError(t, err)
	require.NoError(t, second.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, second.StatusCode)
	require.Equal(t, "10", second.Header.Get("Retry-After"))
	require.NoError(t, first.Body.Close())
	require.Eventually(t, func() bool {
		third, err := http.Get(url + "/markets/m/events")
		require.NoError(t, err)
		return assert.NoError(t, third.Body.Close()) && third.StatusCode == http.StatusOK
	}, 10*time.Second, 10*time.Millisecond)
}

func TestStoredMarketIsShown(t *testing.T) {
	pages, url := serveStored(t, 1)
	response, err := http.Get(url + "/markets/m")
	require.NoError(t, err)
	defer response.Body.Close()
	text := new(strings.Builder)
	_, err = bufio.NewReader(response.Body).WriteTo(text)
	require.NoError(t, err)
	require.Contains(t, text.String(), "50,000 likes?")
	require.Contains(t, text.String(), "This is not live")
	require.Len(t, pages.films, 1)
}

func TestFilmWithoutSpectatorsEnds(t *testing.T) {
	pages, url := serveStored(t, 1)
	pages.keepFilm = 100 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = pages.config.Service.Run(ctx) })
	defer func() { cancel(); running.Wait() }()
	require.Eventually(t, func() bool { return pages.config.Service.Runs("m") }, 10*time.Second, 10*time.Millisecond)
	films := func() int {
		pages.lock.Lock()
		defer pages.lock.Unlock()
		return len(pages.films)
	}
	watched, err := http.Get(url + "/markets/m/events")
	require.NoError(t, err)
	time.Sleep(3 * pages.keepFilm)
	require.Equal(t, 1, films())
	require.NoError(t, watched.Body.Close())
	require.Eventually(t, func() bool { return films() == 0 }, 8*time.Second, 10*time.Millisecond, "sooner than it gives up")
}
