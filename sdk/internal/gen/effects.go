package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// effects is an instruction's entry in idl/effects.json. Accounts and arguments are named as in the IDL.
type effects struct {
	Name        string    `json:"name"`
	Result      string    `json:"result"`
	Actors      []actor   `json:"actors"`
	Guards      []guard   `json:"guards"`
	Idempotency string    `json:"idempotency"`
	Deadlines   []string  `json:"deadlines"`
	Payments    []payment `json:"payments"`
	Events      []string  `json:"events"`
}

type actor struct {
	Account string `json:"account"`
	Role    string `json:"role"`
}

type guard struct {
	State    string `json:"state"`
	Argument string `json:"argument"`
}

type payment struct {
	Money       string `json:"money"`
	From        string `json:"from"`
	Source      string `json:"source"`
	To          string `json:"to"`
	Destination string `json:"destination"`
}

// rent is the only payment in lamports.
const rent = "rent"

// readEffects returns the entries of idl/effects.json by the instructions' names.
func readEffects(path string) (map[string]effects, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Docs         []string  `json:"docs"`
		Instructions []effects `json:"instructions"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rows := map[string]effects{}
	for _, row := range file.Instructions {
		if _, twice := rows[row.Name]; twice {
			return nil, fmt.Errorf("%s: duplicate instruction %s", path, row.Name)
		}
		rows[row.Name] = row
	}
	return rows, nil
}

// addEffects sets the effects of the instructions. Entries and instructions must match.
func (p *program) addEffects(rows map[string]effects) error {
	for i := range p.Instructions {
		ix := &p.Instructions[i]
		row, ok := rows[ix.IDLName]
		if !ok {
			return fmt.Errorf("effects: no entry for instruction %s", ix.IDLName)
		}
		if err := row.check(ix); err != nil {
			return fmt.Errorf("effects of %s: %w", ix.IDLName, err)
		}
		ix.Effects = row
	}
	if len(rows) != len(p.Instructions) {
		return fmt.Errorf("effects: %d entries for %d instructions", len(rows), len(p.Instructions))
	}
	return nil
}

// check requires that the entry is complete, and that the accounts and arguments are the instruction's.
func (e *effects) check(ix *instruction) error {
	hasAccount := func(name string) bool {
		return slices.ContainsFunc(ix.Accounts, func(a account) bool { return a.IDLName == name })
	}
	hasArgument := func(name string) bool {
		return slices.ContainsFunc(ix.Fields, func(f field) bool { return f.Name == goName(name) })
	}
	if e.Result == "" || e.Idempotency == "" || len(e.Events) == 0 {
		return errors.New("incomplete entry")
	}
	for _, a := range e.Actors {
		if !hasAccount(a.Account) {
			return fmt.Errorf("actor: no account %s", a.Account)
		}
	}
	for _, g := range e.Guards {
		if g.Argument != "" && !hasArgument(g.Argument) {
			return fmt.Errorf("guard %s: no argument %s", g.State, g.Argument)
		}
	}
	for _, p := range e.Payments {
		if !hasAccount(p.Source) || !hasAccount(p.Destination) {
			return fmt.Errorf("payment %s: no account %s or %s", p.Money, p.Source, p.Destination)
		}
		if p.Money != rent && !(hasAccount("token_mint") && hasAccount("token_program")) {
			return fmt.Errorf("payment %s: no account token_mint or token_program", p.Money)
		}
	}
	return nil
}

// Deal names the argument that the program compares with the negotiation's time of creation; empty if there
// is none.
func (e effects) Deal() string {
	for _, g := range e.Guards {
		if g.State == "created_at" && g.Argument != "" {
			return goName(g.Argument)
		}
	}
	return ""
}

// GoIdempotency is the suffix of the Go constant's name.
func (e effects) GoIdempotency() string { return goName(e.Idempotency) }

// DeadlineFields lists the Go selectors of the arguments with deadlines.
func (e effects) DeadlineFields() []string {
	fields := make([]string, len(e.Deadlines))
	for i, path := range e.Deadlines {
		var names []string
		for part := range strings.SplitSeq(path, ".") {
			names = append(names, goName(part))
		}
		fields[i] = strings.Join(names, ".")
	}
	return fields
}

// Go returns the actor in Go.
func (a actor) Go() string {
	return fmt.Sprintf("{Role: Role%s, Account: v.%s}", goName(a.Role), goName(a.Account))
}

// Go returns the guard in Go.
func (g guard) Go() string {
	out := "{State: Guard" + goName(g.State)
	if g.State == "milestone" {
		out += ", Milestone: v." + goName(g.Argument)
	}
	return out + "}"
}

// Go returns the payment in Go.
func (p payment) Go() string {
	out := fmt.Sprintf("{Money: Money%s, From: Role%s, Source: v.%s, To: Role%s, Destination: v.%s", goName(p.Money),
		goName(p.From), goName(p.Source), goName(p.To), goName(p.Destination))
	if p.Money != rent {
		out += ", Mint: v.TokenMint, TokenProgram: v.TokenProgram"
	}
	return out + "}"
}
