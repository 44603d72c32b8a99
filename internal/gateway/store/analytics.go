package store

import (
	"context"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Day describes the negotiations that began on a day in UTC and share a status.
type Day struct {
	// Start is when the day begins.
	Start  time.Time     `json:"date"`
	Status engine.Status `json:"status"`
	Count  int64         `json:"count"`
	// AverageRounds is the mean of CurrentRound.
	AverageRounds float64 `json:"average_rounds"`
	// AverageSeconds is the mean time from start to end; zero unless the status is final.
	AverageSeconds float64 `json:"average_seconds"`
	// AveragePriceMicro is the mean agreed price per fetch in millionths of the publisher's currency; zero
	// unless the status is accepted. It is rounded to 53 bits.
	AveragePriceMicro float64 `json:"average_price_micro"`
}

// MaxDays is the longest period of Analytics.
const MaxDays = 366

// Analytics returns figures for a publisher's negotiations that began at or after from and before until,
// ordered by day and status. Days and statuses without negotiations are left out. Publisher 0 selects all
// publishers; average prices are then meaningful only if all use the same currency. The period is at most
// [MaxDays].
func (s *Store) Analytics(ctx context.Context, publisher int64, from, until time.Time) ([]Day, error) {
	if !from.Before(until) || until.Sub(from) > MaxDays*24*time.Hour {
		return nil, fmt.Errorf("analytics: the period must be positive and at most %d days", MaxDays)
	}
	since, before := queries.NullTime(from), queries.NullTime(until)
	if publisher == 0 {
		return several(dayOf)(s.read.Days(ctx, since, before))
	}
	return several(func(row queries.DaysOfPublisherRow) Day { return dayOf(queries.DaysRow(row)) })(
		s.read.DaysOfPublisher(ctx, queries.DaysOfPublisherParams{
			FromTime: since, UntilTime: before, PublisherID: publisher,
		}))
}

func dayOf(row queries.DaysRow) Day {
	return Day{
		Start:  time.Unix(row.Day*int64(24*time.Hour/time.Second), 0).UTC(),
		Status: engine.Status(row.Status), Count: row.Count, AverageRounds: row.Rounds,
		AverageSeconds: row.Micros / float64(time.Second/time.Microsecond), AveragePriceMicro: row.PriceMicro,
	}
}

// Total describes all negotiations with a status.
type Total struct {
	Status engine.Status
	Count  int64
	// Rounds is the sum of CurrentRound.
	Rounds int64
	// Duration is the sum of the times from start to end, precise to 1 microsecond; zero unless the status is
	// final.
	Duration time.Duration
}

func totalOf(row queries.EndedTotalsRow) Total {
	return Total{engine.Status(row.Status), row.Count, row.Rounds, time.Duration(row.Micros) * time.Microsecond}
}

// EndedTotals returns the figures by status of the negotiations that ended after a time and until another. Statuses
// without negotiations are left out.
func (s *Store) EndedTotals(ctx context.Context, after, until time.Time) ([]Total, error) {
	return several(totalOf)(s.read.EndedTotals(ctx, queries.NullTime(after), queries.NullTime(until)))
}

// RecentTotals returns the figures by status of the open negotiations, and of those that ended after a time.
func (s *Store) RecentTotals(ctx context.Context, after time.Time) ([]Total, error) {
	return several(func(row queries.RecentTotalsRow) Total {
		return totalOf(queries.EndedTotalsRow(row))
	})(s.read.RecentTotals(ctx, queries.NullTime(after)))
}
