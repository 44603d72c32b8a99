package arena

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// The players of --demo: their estimates differ, so that they have something to trade about.
const (
	firstEstimate = 42
	nextEstimate  = 3
	demoRisk      = 60 * arena.SetPrice
)

// showPage opens a page in the user's browser, if there is one.
func showPage(url string) {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	command := exec.Command(opener, url)
	// Ctrl-C must not terminate the browser.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if command.Start() == nil { // otherwise the address is printed
		go func() { _ = command.Wait() }()
	}
}

// play lets eight players trade, and prints what happens, until the context ends.
func (o *serveOptions) play(ctx context.Context, url, operator string) error {
	var players sync.WaitGroup
	defer players.Wait()
	for i, personality := range player.Personalities() {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return err
		}
		p, err := player.New(personality, player.Options{
			Estimate: arena.Price(firstEstimate + nextEstimate*i), Risk: demoRisk, Seed: uint64(i),
		})
		if err != nil {
			return err
		}
		grant, err := arena.ParseMoney(o.grant)
		if err != nil {
			return err
		}
		t, err := trader.New(p.Trader(trader.Config{
			URL: url, Operator: operator, Key: key, Name: personality.Name, Logger: o.Logger(slog.LevelError),
		}, grant))
		if err != nil {
			return err
		}
		players.Go(func() { _ = t.Run(ctx) })
	}
	follower := &watchOptions{Session: o.Session}
	return follow(ctx, client.Config{URL: url}, o.Logger(slog.LevelWarn), follower.printFact)
}
