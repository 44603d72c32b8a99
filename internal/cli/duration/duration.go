// Package duration reads durations in whole seconds, which is the chain's unit: "90s", "30m", "1h30m", "2d".
// Go's own parser has no days and accepts fractions.
package duration

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var errForm = errors.New(`write it as "90s", "30m", "1h30m" or "2d"`)

var units = []struct {
	letter byte
	length time.Duration
}{
	{'d', 24 * time.Hour},
	{'h', time.Hour},
	{'m', time.Minute},
	{'s', time.Second},
}

// Parse reads numbers with units, the largest unit first and each at most once: d (24 hours), h, m and s.
func Parse(written string) (time.Duration, error) {
	refuse := func(why string) (time.Duration, error) {
		return 0, fmt.Errorf("%q is not a duration: %s; %w", written, why, errForm)
	}
	if written == "" {
		return refuse("it is empty")
	}
	var total time.Duration
	rest, smallest := written, 0
	for rest != "" {
		end := strings.IndexFunc(rest, func(char rune) bool { return char < '0' || char > '9' })
		if end < 0 {
			return refuse(fmt.Sprintf("%s has no unit", rest))
		}
		if end == 0 {
			return refuse("a number comes before each unit")
		}
		unit := smallest
		for unit < len(units) && units[unit].letter != rest[end] {
			unit++
		}
		if unit == len(units) {
			return refuse("the units are d, h, m and s, in this order, each at most once")
		}
		length := units[unit].length
		count, err := strconv.ParseInt(rest[:end], 10, 64)
		if err != nil || count > int64((math.MaxInt64-total)/length) {
			return refuse("it is too long")
		}
		total += time.Duration(count) * length
		rest, smallest = rest[end+1:], unit+1
	}
	return total, nil
}

// Format writes a duration, rounded to the second, so that Parse reads it.
func Format(d time.Duration) string {
	d = d.Round(time.Second)
	var text strings.Builder
	if d < 0 {
		text.WriteByte('-')
		d = -d
	}
	for _, unit := range units {
		if count := d / unit.length; count > 0 {
			fmt.Fprintf(&text, "%d%c", count, unit.letter)
			d -= count * unit.length
		}
	}
	if text.Len() == 0 {
		return "0s"
	}
	return text.String()
}

// Flag is a flag with a duration. The zero value is unset.
type Flag time.Duration

// Set calls Parse.
func (f *Flag) Set(written string) error {
	parsed, err := Parse(written)
	if err == nil {
		*f = Flag(parsed)
	}
	return err
}

// String calls Format. It returns an empty string if unset.
func (f *Flag) String() string {
	if *f == 0 {
		return ""
	}
	return Format(time.Duration(*f))
}

// Type is the flag's type in the help.
func (*Flag) Type() string { return "duration" }

// Seconds returns the whole seconds.
func (f Flag) Seconds() int64 { return int64(time.Duration(f) / time.Second) }
