package gatewayload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// logSettings let the server write statements with their parameters as JSON, for databases that enable it.
var logSettings = []string{
	"logging_collector = on", "log_destination = 'jsonlog'", "log_filename = 'statements.log'",
	"log_rotation_size = 0", "log_rotation_age = 0",
}

// statement is an executed statement. A nil argument is NULL.
type statement struct {
	sql       string
	arguments []*string
}

// transaction is a committed transaction without BEGIN and COMMIT.
type transaction []statement

// capturedStep is a step of the sequence as the database saw it.
type capturedStep struct {
	transaction
	// began is the time before the request.
	began time.Time
	// others is the number of further statements that the gateway executed for the request.
	others int
}

// readLog returns the transactions that record rounds, in commit order. Only complete lines are read.
func readLog(text []byte) (found []capturedStep, err error) {
	type session struct {
		transaction
		inside bool
		others int
	}
	sessions := map[int]*session{}
	lines := bytes.Split(text, []byte("\n"))
	for _, line := range lines[:len(lines)-1] {
		var entry struct {
			PID      int    `json:"pid"`
			Database string `json:"dbname"`
			Message  string `json:"message"`
			Detail   string `json:"detail"`
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			return nil, fmt.Errorf("log of PostgreSQL: %w", err)
		}
		sql, is := executed(entry.Message)
		if !is || entry.Database != captured {
			continue
		}
		on := sessions[entry.PID]
		if on == nil {
			on = &session{}
			sessions[entry.PID] = on
		}
		switch strings.ToLower(strings.Fields(sql)[0]) {
		case "begin":
			on.inside, on.transaction = true, nil
		case "commit", "rollback":
			if on.inside && on.records() {
				step := capturedStep{transaction: on.transaction}
				// A gateway serves one request at a time, but with any connection.
				for _, other := range sessions {
					step.others, other.others = step.others+other.others, 0
				}
				found = append(found, step)
			}
			on.inside = false
		default:
			arguments, err := parameters(entry.Detail)
			if err != nil {
				return nil, err
			}
			if on.inside {
				on.transaction = append(on.transaction, statement{sql, arguments})
			} else if strings.Contains(sql, "FROM api_keys") || strings.Contains(sql, "FROM clients") ||
				strings.Contains(sql, "FROM publishers") || strings.Contains(sql, "FROM negotiations") {
				on.others++
			}
		}
	}
	return found, nil
}

// records reports whether the transaction records a round.
func (t transaction) records() bool {
	for _, s := range t {
		if strings.Contains(s.sql, "INSERT INTO negotiation_rounds") {
			return true
		}
	}
	return false
}

var executedMessage = regexp.MustCompile(`(?s)^(?:statement|execute [^:]*): (?:-- name: [^\n]*\n)?(.*\S)\s*$`)

// executed returns the SQL of a message about an executed statement, without the name that sqlc writes before it: in a
// script of pgbench, where a statement is one line, the name would make a comment of the line.
func executed(message string) (sql string, is bool) {
	found := executedMessage.FindStringSubmatch(message)
	if found == nil {
		return "", false
	}
	return found[1], true
}

var parameter = regexp.MustCompile(`(?s)^\$(\d+) = (NULL|'(?:[^']|'')*')(?:, )?`)

// parameters parses the detail in a message: parameters: $1 = 'text', $2 = NULL.
func parameters(detail string) (arguments []*string, err error) {
	if detail == "" {
		return nil, nil
	}
	_, rest, is := strings.Cut(detail, ": ")
	for is && rest != "" {
		found := parameter.FindStringSubmatch(rest)
		if found == nil {
			is = false
			break
		}
		var value *string
		if found[2] != "NULL" {
			text := strings.ReplaceAll(found[2][1:len(found[2])-1], "''", "'")
			value = &text
		}
		arguments, rest = append(arguments, value), rest[len(found[0]):]
	}
	if !is {
		return nil, fmt.Errorf("log of PostgreSQL: parameters in another form: %.200q", detail)
	}
	return arguments, nil
}
