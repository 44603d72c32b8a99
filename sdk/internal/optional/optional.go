// Package optional reads the fields of requests that have a default.
package optional

import "time"

// Or returns the value of a pointer, or the default if the pointer is nil.
func Or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// Seconds returns a duration in seconds, rounded up, or the default if the duration is zero.
func Seconds(given time.Duration, otherwise int64) int64 {
	if given == 0 {
		return otherwise
	}
	seconds := int64(given / time.Second)
	if given%time.Second > 0 {
		seconds++
	}
	return seconds
}
