package arena_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
)

// hostileName and hostileMessage contain HTML, a stream event, and characters that reorder text.
const (
	hostileName    = "<img src=x onerror=alert(1)>\u202e"
	hostileMessage = "</q><script>alert(2)</script>\r\n\r\nevent: status\ndata: gone\u202e \u0000"
)

// pictures is the variable naming the directory for the pictures in docs/ARENA.md. If unset, nothing is
// written.
const pictures = "HAGGLE_ARENA_PICTURES"

// site returns the address of an arena's pages.
func site(url string) string {
	return "http" + strings.TrimSuffix(strings.TrimPrefix(url, "ws"), "/arena/m")
}

// tool runs a script of toolchain/, which prints a path.
func tool(t *testing.T, name string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "../../toolchain/"+name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(output))
}

// browser starts a Chromium. Any console output or dialog from a page is a failure.
func browser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(tool(t, "chromium")), chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator, chromedp.WithListener(func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			t.Errorf("console: %s", e.Args[0].Value)
		case *runtime.EventExceptionThrown:
			t.Errorf("exception: %v", e.ExceptionDetails)
		case *log.EventEntryAdded:
			t.Errorf("log: %s %s", e.Entry.Text, e.Entry.URL)
		case *page.EventJavascriptDialogOpening:
			t.Errorf("dialog: %s", e.Message)
		}
	}))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// get runs an action that must succeed, and returns the result.
func get[T any](t *testing.T, ctx context.Context, action chromedp.Action[T]) T {
	t.Helper()
	result, err := chromedp.Run(ctx, action)
	require.NoError(t, err)
	return result
}

// screen is how a page is looked at.
type screen struct {
	name          string
	width, height int64
	scheme        string
}

// text returns an element's text, at once: the page replaces elements.
func text(selector string) chromedp.Action[string] {
	return chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// count returns how many elements on a page match.
func count(selector string) chromedp.Action[int] {
	return chromedp.Evaluate[int](fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

func TestSpectatorsWatchInABrowser(t *testing.T) {
	url, _ := serve(t, nil)
	address := site(url)
	axe, err := os.ReadFile(tool(t, "axe"))
	require.NoError(t, err)
	for i, personality := range player.Personalities() {
		p, err := player.New(personality, player.Options{Estimate: arena.Price(42 + 3*i), Risk: 60 * arena.SetPrice, Seed: uint64(i)})
		require.NoError(t, err)
		run(t, p.Trader(config(url, byte(i+1), personality.Name), 100*arena.SetPrice))
	}
	attack(t, url)
	await(t, watch(t, url), func(arena.Traded) bool { return true })

	ctx := browser(t)
	for _, s := range []screen{
		{"desktop-light", 1280, 900, "light"}, {"desktop-dark", 1280, 900, "dark"}, {"phone-light", 390, 844, "light"}, {"phone-dark", 390, 844, "dark"},
	} {
		for name, path := range map[string]string{"list": "/markets", "live": "/markets/m", "replay": "/markets/m/replay"} {
			require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(s.width, s.height)))
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}},
			})
			require.NoError(t, err)
			require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(address+path), chromedp.WaitVisible("main")))
			if name != "list" {
				require.Eventually(t, func() bool { return get(t, ctx, count("canvas")) > 0 }, 10*time.Second, 20*time.Millisecond)
			}
			overflow := get(t, ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))
			require.LessOrEqual(t, overflow, 0, "%s %s: wider than the screen", s.name, name)
			require.Zero(t, get(t, ctx, count("main img, body script")))
			get(t, ctx, chromedp.Evaluate[chromedp.Void](string(axe)+";undefined"))
			broken := get(t, ctx, chromedp.Evaluate[[]string](
				`axe.run().then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html).join(" ")))`, chromedp.EvalAwaitPromise))
			require.Empty(t, broken, "%s %s", s.name, name)
			folder := os.Getenv(pictures)
			if folder != "" && name == "live" && (s.name == "desktop-light" || s.name == "phone-dark") {
				require.NoError(t, chromedp.Do(ctx, chromedp.Sleep(time.Second)))
				picture := get(t, ctx, chromedp.CaptureScreenshot())
				require.NoError(t, os.WriteFile(filepath.Join(folder, "arena-"+s.name+".png"), picture, 0o644))
			}
		}
	}
	checkLivePage(t, ctx, address)
	checkReplay(t, ctx, address)
}

// attack adds an agent with a hostile name, which writes hostile messages.
func attack(t *testing.T, url string) {
	t.Helper()
	c := join(t, url, arenatest.Key(90), hostileName)
	for _, message := range []string{strings.Repeat("W", arena.MaxText), hostileMessage} {
		_, err := c.Do(t.Context(), arena.State{Interest: arena.Interest{
			Interested: true, Message: message, Want: &arena.Want{Side: arena.Sell, Token: arena.No, Price: 45, Quantity: 5},
		}})
		require.NoError(t, err)
	}
}

// checkLivePage checks that a page follows the market and shows strangers' input as text.
func checkLivePage(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(address+"/markets/m")))
	before := get(t, ctx, text("#floor"))
	require.Eventually(t, func() bool { return get(t, ctx, text("#floor")) != before }, time.Minute, 100*time.Millisecond,
		"the floor does not change")
	require.Contains(t, get(t, ctx, text("#agents")), "<img src=x onerror=alert(1)>\ufffd")
	require.Contains(t, get(t, ctx, text("#status")), "Closes in")
}

// checkReplay checks that the slider leads to the state at an event.
func checkReplay(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(address+"/markets/m/replay")))
	moment := func() string { return get(t, ctx, text(".moment")) }
	move := func(event string) {
		get(t, ctx, chromedp.Evaluate[chromedp.Void](
			fmt.Sprintf(`slider.value = %s; slider.dispatchEvent(new Event("input", {bubbles: true})); undefined`, event)))
	}
	reaches := func(prefix string) {
		t.Helper()
		var latest string
		for end := time.Now().Add(10 * time.Second); !strings.HasPrefix(latest, prefix); latest = moment() {
			require.True(t, time.Now().Before(end), "%s, not %s", latest, prefix)
			time.Sleep(20 * time.Millisecond)
		}
	}
	last := moment()
	move("1")
	reaches("Event 1,")
	require.Equal(t, "No trades yet.", strings.TrimSpace(get(t, ctx, text("#trades"))))
	get(t, ctx, chromedp.Evaluate[chromedp.Void](`play.click(); undefined`))
	reaches("Event 4,")
	get(t, ctx, chromedp.Evaluate[chromedp.Void](`play.click(); undefined`))
	move("slider.max")
	reaches(last)
	require.Contains(t, get(t, ctx, text("#trades")), " YES ")
}

// Unused turns are not stored, so even many do not separate a page from the market.
func TestPageOfASilentMarket(t *testing.T) {
	url, _ := serve(t, func(c *arena.Config) { c.Pace, c.FloorTurn = 30, 30 })
	c := join(t, url, arenatest.Key(1), "ada")
	for turns := 0; turns < 200; { // with as many passes: more turns than a server keeps
		event, err := c.Next(t.Context())
		require.NoError(t, err)
		if _, is := event.Fact.(arena.Turn); is {
			turns++
		}
	}
	address := site(url)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/markets/m/events", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.ErrorIs(t, err, context.DeadlineExceeded, "the page no longer follows the market")
}

func TestPagesAnswerBadRequests(t *testing.T) {
	url, _ := serve(t, nil)
	address := site(url)
	var wait sync.WaitGroup
	for path, status := range map[string]int{
		"/": http.StatusOK, "/markets/none": http.StatusNotFound, "/markets/none/events": http.StatusNotFound,
		"/markets/none/replay": http.StatusNotFound, "/markets/m/replay?event=x": http.StatusBadRequest,
		"/markets/m/replay?event=-1": http.StatusBadRequest, "/markets/m/replay?event=99999999": http.StatusOK,
		"/assets/none.js": http.StatusNotFound, "/assets/%2e%2e%2fpages.go": http.StatusNotFound, "/markets/%2e%2e": http.StatusNotFound,
	} {
		wait.Go(func() {
			response, err := http.Get(address + path)
			if !assert.NoError(t, err) {
				return
			}
			defer response.Body.Close()
			assert.Equal(t, status, response.StatusCode, path)
			assert.Contains(t, response.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'", path)
		})
	}
	wait.Wait()
}
