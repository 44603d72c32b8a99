package jsonrpc

import (
	"maps"
	"slices"
)

// Methods returns the names of all methods, subscriptions included.
func Methods() []string {
	names := slices.Collect(maps.Keys(methods))
	for kind := range kinds {
		names = append(names, kind+"Subscribe", kind+"Unsubscribe")
	}
	slices.Sort(names)
	return names
}
