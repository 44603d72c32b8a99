package store

import (
	"context"
	"fmt"
	"time"
)

// Day has the figures of the negotiations that began on one day in UTC and have one status.
type Day struct {
	// Start is the beginning of the day.
	Start  time.Time
	Status Status
	Count  int64
	// AverageRounds is the mean of CurrentRound.
	AverageRounds float64
	// AverageSeconds is the mean time from the start to the end; zero for a status that is not final.
	AverageSeconds float64
	// AveragePriceMicro is the mean of the agreed prices per fetch, in millionths of the publisher's currency;
	// zero unless the status is accepted. It is rounded to 53 bits.
	AveragePriceMicro float64
}

// MaxDays is the longest period of Analytics.
const MaxDays = 366

// Analytics returns the figures of a publisher's negotiations that began from one time until before another
// one, ordered by day and status. Days and statuses without negotiations are left out. Publisher 0 is all
// publishers, whose average prices are meaningful only if they have one currency. The period is at most
// [MaxDays].
func (s *Store) Analytics(ctx context.Context, publisher int64, from, until time.Time) ([]Day, error) {
	if !from.Before(until) || until.Sub(from) > MaxDays*24*time.Hour {
		return nil, fmt.Errorf("analytics: the period must be positive and at most %d days", MaxDays)
	}
	const day = int64(24 * time.Hour / time.Microsecond)
	statement := `SELECT created_at / 86400000000, status, COUNT(*), CAST(AVG(current_round) AS DOUBLE
		PRECISION),
		CAST(COALESCE(AVG(completed_at - initiated_at), 0) AS DOUBLE PRECISION),
		CAST(COALESCE(AVG(agreed_price_micro), 0) AS DOUBLE PRECISION)
		FROM negotiations WHERE created_at >= $1 AND created_at < $2`
	arguments := []any{micro(from), micro(until)}
	if publisher != 0 {
		statement += ` AND publisher_id = $3`
		arguments = append(arguments, publisher)
	}
	return many(ctx, s.reader, func(scan func(...any) error) (d Day, err error) {
		var number int64
		err = scan(&number, &d.Status, &d.Count, &d.AverageRounds, &d.AverageSeconds, &d.AveragePriceMicro)
		d.Start = time.UnixMicro(number * day).UTC()
		d.AverageSeconds /= float64(time.Second / time.Microsecond)
		return d, err
	}, statement+` GROUP BY 1, 2 ORDER BY 1, 2`, arguments...)
}

// Total has the figures of all negotiations that have one status.
type Total struct {
	Status Status
	Count  int64
	// Rounds is the sum of CurrentRound.
	Rounds int64
	// Duration is the sum of the times from the start to the end; zero for a status that is not final. Its
	// precision is 1 microsecond.
	Duration time.Duration
}

// Totals returns the figures of all negotiations by status. Statuses without negotiations are left out. It
// reads every negotiation.
func (s *Store) Totals(ctx context.Context) ([]Total, error) {
	return many(ctx, s.reader, func(scan func(...any) error) (t Total, err error) {
		var micros int64
		err = scan(&t.Status, &t.Count, &t.Rounds, &micros)
		t.Duration = time.Duration(micros) * time.Microsecond
		return t, err
	}, `SELECT status, COUNT(*), CAST(SUM(current_round) AS BIGINT),
		CAST(COALESCE(SUM(completed_at - initiated_at), 0) AS BIGINT)
		FROM negotiations GROUP BY status ORDER BY status`)
}
