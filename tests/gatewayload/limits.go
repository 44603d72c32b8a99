package gatewayload

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// The limits of a new installation, and the number of concurrent requests that try them.
const (
	negotiationsPerHour = store.DefaultPerClientHour
	openPerPublisher    = store.DefaultOpenPerPublisher
	// limitTries is the number of publishers and clients that the limits are tried with.
	limitTries = 20
	atOnce     = 5
	perClient  = 12
)

// limitTry counts the responses when requests try a limit.
type limitTry struct{ sent, created, refused int }

// limitResults contains the results for both limits.
type limitResults struct{ open, hour limitTry }

// tryLimits exceeds each limit with requests at once. Each publisher must get exactly as many negotiations as
// it can hold, and each client open as many as it can in an hour.
func (c *sender) tryLimits(ctx context.Context) (l limitResults, err error) {
	for try := range limitTries {
		client := c.seeds.clients - 2*limitTries + try
		// A rejected negotiation is not open, so only the limit of the client counts.
		created, err := c.burst(ctx, perClient, step{create, belowFloor, "reject", "rejected"},
			func(at int) (int, string) { return client, hostname((try*perClient + at) % c.publishers) }, &l.hour)
		if err != nil {
			return l, err
		}
		if created != negotiationsPerHour {
			c.findings.Add("client %d opened %d negotiations within an hour instead of %d", firstClient+client, created,
				negotiationsPerHour)
		}
	}
	for try := range limitTries {
		created, err := c.burst(ctx, atOnce, sequence[0],
			func(at int) (int, string) { return c.seeds.clients - limitTries + (try+at)%limitTries, hostname(try) },
			&l.open)
		if err != nil {
			return l, err
		}
		if created != openPerPublisher {
			c.findings.Add("publisher %s held %d open negotiations instead of %d", hostname(try), created,
				openPerPublisher)
		}
	}
	return l, nil
}

// burst sends creations at once. parties returns each creation's client and publisher.
func (c *sender) burst(
	ctx context.Context, count int, s step, parties func(at int) (client int, publisher string),
	counts *limitTry,
) (created int, err error) {
	opened := make([]*tracked, count)
	group, ctx := errgroup.WithContext(ctx)
	for at := range count {
		w := c.workers[at%len(c.workers)]
		group.Go(func() error {
			client, publisher := parties(at)
			path, body := s.request(publisher, nil)
			a, _, err := c.post(ctx, c.http.Do, w.url+path, client, body)
			if err != nil {
				return err
			}
			if a.status == http.StatusTooManyRequests {
				if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 1 {
					return fmt.Errorf("429 with Retry-After %q: %s", a.header.Get("Retry-After"), a.body)
				}
				return nil
			}
			n, err := decode(a, s)
			if err != nil {
				return err
			}
			opened[at] = &tracked{id: n.ID, client: client}
			opened[at].record(create, n)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	for _, d := range opened {
		if d != nil {
			created++
			c.workers[0].negotiations = append(c.workers[0].negotiations, d)
		}
	}
	counts.sent, counts.created, counts.refused = counts.sent+count, counts.created+created,
		counts.refused+count-created
	return created, nil
}
