package gatewayload

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// script is a pgbench script executing the transactions of the sequence: each execution of the script runs
// the next transaction.
type script struct {
	text string
	// constants holds the values of variables that do not change.
	constants []string
	// statements counts each step's statements including BEGIN and COMMIT, and others counts the statements
	// that the gateway executes besides.
	statements, others []int
	seeds              *seeds
}

// The script variables. number is different for each negotiation, and now is in microseconds.
const scriptHead = `\set now :now + 1000
\set step (:step + 1) %% %d
`

const scriptOpening = `\set opened :opened + 1
\set number :first + :opened * 1000 + :client_id
\set client random(%d, %d)
\set publisher random(%d, %d)
`

var (
	numbered   = regexp.MustCompile(`\$\d+`)
	identifier = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	microtime  = regexp.MustCompile(`^1\d{15}$`)
)

// newScript writes the captured statements as a script. Ids, times and parties become variables, and all
// other arguments constants, so that pgbench sends the same documents to the server as the gateway.
func newScript(steps []capturedStep, negotiations []*tracked, s *seeds) (*script, error) {
	w := &script{seeds: s}
	var text strings.Builder
	fmt.Fprintf(&text, scriptHead, len(steps))
	names := map[string]string{}
	negotiationAt, ids := -1, 0
	for at, step := range steps {
		if sequence[at].operation == create {
			negotiationAt, ids, names = negotiationAt+1, 0, map[string]string{}
		}
		if at == 0 {
			text.WriteString("\\if :step = 0\n")
		} else {
			fmt.Fprintf(&text, "\\elif :step = %d\n", at)
		}
		if sequence[at].operation == create {
			fmt.Fprintf(&text, scriptOpening, firstClient, firstClient+s.clients-1, firstPublisher,
				firstPublisher+s.publishers-1)
		}
		text.WriteString("BEGIN;\n")
		name := func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprintf("('01900000-0000-7000-8%03d-' || :number)", ids)
				ids++
			}
			return names[id]
		}
		name(negotiations[negotiationAt].id)
		for _, executed := range step.transaction {
			sql, err := w.statement(executed, step.began, firstClient+negotiations[negotiationAt].client, name)
			if err != nil {
				return nil, fmt.Errorf("step %d of the sequence: %w", at, err)
			}
			text.WriteString(strings.Join(strings.Fields(sql), " ") + ";\n")
		}
		text.WriteString("COMMIT;\n")
		w.statements = append(w.statements, len(step.transaction)+2)
		w.others = append(w.others, step.others)
	}
	text.WriteString("\\endif\n")
	w.text = text.String()
	return w, nil
}

// statement returns a statement with variables and constants substituted for the arguments.
func (w *script) statement(
	s statement, began time.Time, client int, name func(string) string,
) (string, error) {
	if strings.ContainsAny(s.sql, ";'") && strings.Contains(s.sql, ":") {
		return "", errors.New("a statement has a colon in a text, which pgbench would read as a variable")
	}
	var failed error
	sql := numbered.ReplaceAllStringFunc(s.sql, func(found string) string {
		number, err := strconv.Atoi(found[1:])
		if err != nil || number < 1 || number > len(s.arguments) {
			failed = errors.Join(fmt.Errorf("argument %s: not in the log", found), err)
			return found
		}
		value := s.arguments[number-1]
		if value == nil {
			return "NULL"
		}
		if expression, varies := w.variable(*value, began, client, name); varies {
			return expression
		}
		return w.constant(*value)
	})
	return sql, failed
}

// variable returns the expression for an argument that differs between negotiations.
func (w *script) variable(
	value string, began time.Time, client int, name func(string) string,
) (string, bool) {
	number, err := strconv.ParseInt(value, 10, 64)
	switch {
	case value == fmt.Sprint(client):
		return ":client", true
	case value == fmt.Sprintf("client:%d", client):
		return "('client:' || :client)", true
	case err == nil && number >= firstPublisher && number < int64(firstPublisher+w.seeds.publishers):
		return ":publisher", true
	case microtime.MatchString(value):
		return fmt.Sprintf("(:now + %d::bigint)", number-began.UnixMicro()), true
	case identifier.MatchString(value) && value[14] == '4':
		return name(value), true // an idempotency key is text
	case identifier.MatchString(value):
		return name(value) + "::uuid", true
	}
	return "", false
}

func (w *script) constant(value string) string {
	if value == "" {
		return "''" // pgbench does not allow empty variables
	}
	at := slices.Index(w.constants, value)
	if at < 0 {
		at = len(w.constants)
		w.constants = append(w.constants, value)
	}
	return fmt.Sprintf(":c%d", at)
}
