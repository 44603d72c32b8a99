package protocol

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The reasons why a transaction's logs are incomplete.
var (
	// ErrLogsTruncated: the validator has truncated the logs, so later events are missing.
	ErrLogsTruncated = errors.New("logs are truncated")
	// ErrMalformedLogs: the lines are not a validator's logs of whole instructions.
	ErrMalformedLogs = errors.New("malformed logs")
)

// ParseLogs returns the program's events in a transaction's logs, in order.
//
// ParseLogs follows the calls in the logs and reads "Program data:" lines only from frames of this program,
// even if another program called it; it ignores other programs' output. It drops all events if a program
// failed in the transaction, because they had no effect. A transaction can also fail with no failure in the
// logs; then only the transaction status shows it.
//
// The error is ErrLogsTruncated or ErrMalformedLogs, where ParseLogs stops, or contains a *DecodeError per
// undecodable event. The decoded events are returned with it.
func ParseLogs(logs []string) ([]Event, error) {
	var p logParser
	for _, line := range logs {
		if line == "Log truncated" {
			return p.events, errors.Join(append(p.undecodable, ErrLogsTruncated)...)
		}
		if err := p.line(line); err != nil {
			return p.events, errors.Join(append(p.undecodable, err)...)
		}
		if p.failed {
			return nil, nil
		}
	}
	if len(p.frames) > 0 {
		return p.events, errors.Join(append(p.undecodable, fmt.Errorf("%w: they end within a call", ErrMalformedLogs))...)
	}
	return p.events, errors.Join(p.undecodable...)
}

// logParser holds the current call stack's programs, innermost last.
type logParser struct {
	frames      []string
	events      []Event
	undecodable []error
	failed      bool
}

func (p *logParser) line(line string) error {
	rest, ok := strings.CutPrefix(line, "Program ")
	if !ok {
		return nil
	}
	if data, ok := strings.CutPrefix(rest, "data: "); ok {
		p.data(data)
		return nil
	}
	program, what, ok := strings.Cut(rest, " ")
	if !ok || strings.HasSuffix(program, ":") {
		return nil
	}
	if depth, ok := strings.CutPrefix(what, "invoke ["); ok {
		return p.enter(program, strings.TrimSuffix(depth, "]"))
	}
	if what == "success" {
		return p.leave(program)
	}
	p.failed = p.failed || strings.HasPrefix(what, "failed: ")
	return nil
}

func (p *logParser) enter(program, depth string) error {
	if depth != strconv.Itoa(len(p.frames)+1) {
		return fmt.Errorf("%w: %s is called at depth %s below %d others", ErrMalformedLogs, program, depth, len(p.frames))
	}
	p.frames = append(p.frames, program)
	return nil
}

func (p *logParser) leave(program string) error {
	last := len(p.frames) - 1
	if last < 0 || p.frames[last] != program {
		return fmt.Errorf("%w: %s returns and was not called", ErrMalformedLogs, program)
	}
	p.frames = p.frames[:last]
	return nil
}

func (p *logParser) data(encoded string) {
	if len(p.frames) == 0 || p.frames[len(p.frames)-1] != ProgramAddress {
		return
	}
	event, err := decodeLogged(encoded)
	if err != nil {
		p.undecodable = append(p.undecodable, err)
		return
	}
	p.events = append(p.events, event)
}

func decodeLogged(encoded string) (Event, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	// The decoder would skip line breaks.
	if err != nil || strings.ContainsAny(encoded, "\r\n") {
		return nil, fmt.Errorf("%w: an event is not one slice in base 64: %.80q", ErrMalformedLogs, encoded)
	}
	return DecodeEvent(data)
}
