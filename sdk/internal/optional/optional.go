// Package optional reads the fields of requests that have a default.
package optional

import "time"

// Or returns the value that a pointer holds, otherwise the default.
func Or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// Seconds returns a duration in whole seconds, rounded up. Zero is the default.
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
