package differential

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// compare compares an instruction's outcome with the model's result.
func (f *fixture) compare(call *model.Instruction, expected *model.Result, found *outcome) error {
	name := model.NameOf(call.Data)
	if found.code != expected.Code.String() {
		return failuref(name+": "+found.code+" instead of "+expected.Code.String(),
			"%s: program returns %s, model %v\n%s", name, found.code, expected.Code,
			strings.Join(found.log, "\n"))
	}
	if found.failed() {
		return nil
	}
	events, err := eventsOf(found.log)
	if err != nil {
		return err
	}
	if err := f.compareEvents(name, expected.Events, events); err != nil {
		return err
	}
	return f.compareAccounts(name, expected.Changed, found.changed)
}

func (f *fixture) compareAccounts(name string, expected, found map[model.Address]model.Account) error {
	all := maps.Clone(found)
	maps.Copy(all, expected)
	after := func(changed map[model.Address]model.Account, address model.Address) model.Account {
		if account, ok := changed[address]; ok {
			return account
		}
		return f.environment.Accounts[address]
	}
	for _, address := range slices.SortedFunc(maps.Keys(all), compareAddresses) {
		if program, model := after(found, address), after(expected, address); !program.Equal(model) {
			account := f.participants.name(address)
			return failuref(name+": "+account, "%s: account %s differs:\n%s", name, account,
				accountDifferences(program, model))
		}
	}
	return nil
}

func compareAddresses(a, b model.Address) int { return slices.Compare(a[:], b[:]) }

// eventsOf returns the events in a log.
func eventsOf(log []string) ([][]byte, error) {
	var events [][]byte
	for _, line := range log {
		if text, ok := strings.CutPrefix(line, eventPrefix); ok {
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, failuref("log", "log line %q: %v", line, err)
			}
			events = append(events, data)
		}
	}
	return events, nil
}

func (f *fixture) compareEvents(name string, expected []model.Event, found [][]byte) error {
	if slices.EqualFunc(expected, found, func(e model.Event, f []byte) bool {
		return bytes.Equal(e.Bytes(),
			f)
	}) {
		return nil
	}
	var ofProgram, ofModel strings.Builder
	for _, data := range found {
		fmt.Fprintf(&ofProgram, "\n  %s", f.formatEventBytes(data, expected))
	}
	for _, event := range expected {
		fmt.Fprintf(&ofModel, "\n  %s", f.formatEvent(event))
	}
	return failuref(name+": events", "%s: program logs%s\nmodel%s", name, ofProgram.String(),
		ofModel.String())
}
