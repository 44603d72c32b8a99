package strategy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	registerLock sync.RWMutex
	// registered maps the names to their strategies.
	registered = map[string]Entry{}
)

// namePattern matches strategy and parameter names. It excludes the characters that separate them in texts
// and lists.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

const maxName = 32

// reserved lists the names for package game's optimal player, and for language models in tournaments.
var reserved = []string{"optimal", "llm"}

// Register makes a strategy available by name: [Parse] reads it, [List] lists it, and proofs replay it, like
// this package's strategies. Call Register during program start, usually from an init function. The strategy
// exists in this program only: any other program must register the strategy to verify its proofs.
//
// Register panics if a name is taken or reserved, or contains characters other than lower-case letters,
// digits and hyphens; if the summary or the strategy is missing; or if a parameter's default is out of range.
func Register(e Entry) {
	if err := e.complete(); err != nil {
		panic(fmt.Sprintf("strategy: Register %q: %v", e.Name, err))
	}
	registerLock.Lock()
	defer registerLock.Unlock()
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		for _, other := range registered {
			if other.goesBy(name) {
				panic(fmt.Sprintf("strategy: Register %q: the name %q is taken", e.Name, name))
			}
		}
	}
	registered[e.Name] = e
}

// complete checks an entry, and sets Strategy if there are parameters.
func (e *Entry) complete() error {
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		switch {
		case len(name) > maxName || !namePattern.MatchString(name):
			return fmt.Errorf("the name %q must be up to %d lower-case letters, digits and hyphens", name, maxName)
		case slices.Contains(reserved, name):
			return fmt.Errorf("the name %q is reserved", name)
		}
	}
	if e.Summary == "" || strings.ContainsAny(e.Summary, "\n\t") {
		return fmt.Errorf("the summary must be one line")
	}
	e.Aliases, e.Parameters = slices.Clone(e.Aliases), slices.Clone(e.Parameters)
	e.values = nil
	for i, p := range e.Parameters {
		switch {
		case len(p.Name) > maxName || !namePattern.MatchString(p.Name):
			return fmt.Errorf("the parameter's name %q must be up to %d lower-case letters, digits and hyphens",
				p.Name, maxName)
		case slices.ContainsFunc(e.Parameters[:i], func(other Parameter) bool { return other.Name == p.Name }):
			return fmt.Errorf("two parameters are named %q", p.Name)
		case !p.allows(p.Default):
			return fmt.Errorf("parameter %s: the default %s must be %s", p.Name, p.Default, p.limits())
		}
	}
	switch {
	case (e.New == nil) != (len(e.Parameters) == 0):
		return fmt.Errorf("parameters and New belong together")
	case e.New != nil && e.Strategy != nil:
		return fmt.Errorf("set New or Strategy, not both")
	case e.New != nil:
		e.Strategy = e.New(defaults(e.Parameters))
	}
	if e.Strategy == nil {
		return fmt.Errorf("strategy not set")
	}
	return nil
}

// List returns the registered strategies with the defaults of their parameters, sorted by name.
func List() []Entry {
	registerLock.RLock()
	defer registerLock.RUnlock()
	return slices.SortedFunc(maps.Values(registered), func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
}
