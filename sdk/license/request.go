package license

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// ErrRequest is wrapped by errors for invalid requests. Nothing was sent.
var ErrRequest = errors.New("license: invalid request")

// [Request] defaults and limits.
const (
	// DefaultRounds is used if [Request.Rounds] is 0. It equals the gateway's default.
	DefaultRounds = 10
	// MaxRounds is the highest number of proposals.
	MaxRounds = 100
	// DefaultStrategy is the strategy of package bargain/strategy that on average saves the largest share of
	// the limit over the styles of the gateway's publishers; no deal saves nothing. docs/GATEWAY.md describes
	// the simulation.
	DefaultStrategy = "faratin-exponential"
	// DefaultCurrency is the currency if [Request.Currency] is empty.
	DefaultCurrency = "USD"
	maxPublishers   = 64
	maxID           = 253
)

// DefaultTTL and DefaultRPS are used if a [Request] leaves these ranges unset.
var (
	DefaultTTL = Range{Least: 60, Preferred: 600, Most: 86_400}
	DefaultRPS = Range{Least: 1, Preferred: 10, Most: 1_000}
)

// Request describes a purchase by [Client.Buy], including limits.
type Request struct {
	// ID names the purchase, in 1 to 253 bytes. A repetition of Buy with the same ID and the same request
	// continues an interrupted purchase and opens no second negotiation. It is required.
	ID string
	// Publishers lists 1 to 64 distinct hostnames. Buy buys one license from each.
	Publishers []string
	// Purposes lists the required uses: at least one. All are needed.
	Purposes []Purpose
	// Fetches is the number of prepaid fetches per license, 1 to [MaxFetches].
	Fetches uint64
	// TTL is the range for access token lifetimes in seconds, and RPS the burst rate range in requests per
	// second. If zero, [DefaultTTL] and [DefaultRPS] are used.
	TTL, RPS Range

	// MaxPriceMicro is the highest price per fetch, in micro units of Currency, 1 to [MaxPriceMicro]. It is
	// required.
	MaxPriceMicro uint64
	// BudgetMicro is the highest total cost of the request's licenses, in micro units: the sum of price times
	// fetches. It is required. All publishers share it equally, which lowers the highest price if necessary,
	// so publisher order and repetition do not change any limit.
	BudgetMicro uint64
	// Currency is used by both limits. Publishers with other currencies are refused. If empty,
	// [DefaultCurrency] is used.
	Currency string

	// OpeningMicro is the strategy's opening price, in micro units. If zero, the published floor is used, or
	// a tenth of the highest price if no floor is published. Lower prices are raised to the published floor.
	OpeningMicro uint64
	// Rounds is the number of proposals, 1 to [MaxRounds]. If zero, [DefaultRounds] is used.
	Rounds int
	// Strategy bargains over the price. It is required; package bargain/strategy provides the known
	// strategies.
	Strategy bargain.Strategy
	// Observe is called after each step, from the goroutine of Buy. If nil, it is not called.
	Observe func(publisher string, step Step)
}

// normal returns the request with defaults filled in, or an error with [ErrRequest].
func (r Request) normal() (Request, error) {
	r.TTL, r.RPS = cmp.Or(r.TTL, DefaultTTL), cmp.Or(r.RPS, DefaultRPS)
	r.Rounds, r.Currency = cmp.Or(r.Rounds, DefaultRounds), cmp.Or(r.Currency, DefaultCurrency)
	return r, r.check()
}

func (r *Request) check() error {
	wrong := func(field, format string, values ...any) error {
		return fmt.Errorf("%w: %s: %s", ErrRequest, field, fmt.Sprintf(format, values...))
	}
	switch {
	case r.ID == "" || len(r.ID) > maxID:
		return wrong("ID", "%d bytes; use 1 to %d", len(r.ID), maxID)
	case len(r.Publishers) == 0 || len(r.Publishers) > maxPublishers:
		return wrong("Publishers", "%d; name 1 to %d", len(r.Publishers), maxPublishers)
	case len(r.Purposes) == 0:
		return wrong("Purposes", "empty; name at least one of %v", Purposes())
	case r.Fetches == 0 || r.Fetches > MaxFetches:
		return wrong("Fetches", "%d; set 1 to %d", r.Fetches, uint64(MaxFetches))
	case r.MaxPriceMicro == 0 || r.MaxPriceMicro > MaxPriceMicro:
		return wrong("MaxPriceMicro", "%d; set 1 to %d", r.MaxPriceMicro, MaxPriceMicro)
	case r.BudgetMicro == 0:
		return wrong("BudgetMicro", "not set; set the most that all licenses may cost")
	case r.Limit() == 0:
		return wrong("BudgetMicro", "%d is less than one micro unit for each of %d fetches of %d publishers; "+
			"raise it or lower Fetches", r.BudgetMicro, r.Fetches, len(r.Publishers))
	case r.Rounds < 1 || r.Rounds > MaxRounds:
		return wrong("Rounds", "%d; set 1 to %d", r.Rounds, MaxRounds)
	case r.Strategy == nil:
		return wrong("Strategy", "not set; use one of package bargain/strategy, such as Named()[DefaultStrategy]")
	case r.OpeningMicro > r.MaxPriceMicro:
		return wrong("OpeningMicro", "%d is above MaxPriceMicro, %d", r.OpeningMicro, r.MaxPriceMicro)
	}
	for at, name := range r.Publishers {
		if name == "" || slices.Contains(r.Publishers[:at], name) {
			return wrong("Publishers", "%.253q is empty or occurs twice", name)
		}
	}
	for at, purpose := range r.Purposes {
		switch {
		case !knownPurpose(purpose):
			return wrong("Purposes", "unknown purpose %.40q; use %v", string(purpose), Purposes())
		case slices.Contains(r.Purposes[:at], purpose):
			return wrong("Purposes", "%s occurs twice", purpose)
		}
	}
	if err := r.TTL.check("TTL"); err != nil {
		return err
	}
	return r.RPS.check("RPS")
}

// Limit returns the highest price per fetch in micro units for each publisher: [Request.MaxPriceMicro], or
// less if the publisher's budget share does not suffice. If the request lacks publishers, fetches or money,
// it returns 0.
func (r *Request) Limit() uint64 {
	if r.Fetches == 0 || len(r.Publishers) == 0 {
		return 0
	}
	return min(r.MaxPriceMicro, r.BudgetMicro/uint64(len(r.Publishers))/r.Fetches)
}

// refusal returns the reason why terms are not acceptable, or "".
func (r *Request) refusal(t Terms) string {
	cost, ok := t.CostMicro()
	switch {
	case t.PriceMicro > r.Limit():
		return fmt.Sprintf("price of %d above the limit of %d", t.PriceMicro, r.Limit())
	case !ok || cost > r.BudgetMicro/uint64(len(r.Publishers)):
		return fmt.Sprintf("cost of %d fetches above the budget", t.PrepaidFetches)
	}
	return r.mismatch(t)
}

// mismatch describes the first unacceptable term other than price, or returns "".
func (r *Request) mismatch(t Terms) string {
	switch {
	case t.PrepaidFetches != r.Fetches:
		return fmt.Sprintf("%d prepaid fetches instead of %d", t.PrepaidFetches, r.Fetches)
	case !r.TTL.has(t.TokenTTLSeconds):
		return fmt.Sprintf("token lifetime of %d s outside %d to %d s", t.TokenTTLSeconds, r.TTL.Least, r.TTL.Most)
	case !r.RPS.has(t.BurstRPS):
		return fmt.Sprintf("burst rate of %d outside %d to %d requests per second",
			t.BurstRPS, r.RPS.Least, r.RPS.Most)
	}
	for _, purpose := range r.Purposes {
		if !slices.Contains(t.Purposes, purpose) {
			return "purpose " + string(purpose) + " missing"
		}
	}
	return ""
}
