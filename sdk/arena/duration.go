package arena

import "time"

// Duration is a time in whole milliseconds.
type Duration int64

// Units of durations.
const (
	Second Duration = 1000
	Minute          = 60 * Second
	Day             = 24 * 60 * Minute
)

// NewDuration truncates a duration to milliseconds.
func NewDuration(d time.Duration) Duration { return Duration(d.Milliseconds()) }

// after returns the time that is later by the duration.
func (d Duration) after(t time.Time) time.Time { return t.Add(time.Duration(d) * time.Millisecond) }
