package gatewayload

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// rows counts the rows in a database.
type rows struct{ negotiations, rounds, entries, keys int }

// compareAll compares the gateway's database with the responses, and pgbench's with the pgbench log, and
// verifies the audit log.
func (r *run) compareAll(ctx context.Context, result *Result) (err error) {
	err = connected(ctx, r.server.Address(loaded), func(connection *pgx.Conn) error {
		return errors.Join(r.compareAnswers(ctx, connection), countRows(ctx, connection, &result.rows))
	})
	if err != nil {
		return err
	}
	err = connected(ctx, r.server.Address(compared), func(connection *pgx.Conn) error {
		return countRows(ctx, connection, &result.comparedRows)
	})
	if err != nil {
		return err
	}
	result.answered, result.refusals = answered(r.sender.negotiations()), r.sender.refusals()
	if result.rows != result.answered {
		r.sender.findings.Add("the database has %+v, and the answers are %+v", result.rows, result.answered)
	}
	if want := transactionRows(r.pgbench.transactions); result.comparedRows != want {
		r.sender.findings.Add("pgbench's database has %+v, and its transactions are %+v: not the same transactions",
			result.comparedRows, want)
	}
	r.printf("verifying the audit log")
	if result.verified, err = verify(ctx, r.Program, r.server.Address(loaded), r.folder); err != nil {
		return err
	}
	v := result.verified
	if !v.Valid || v.Uncovered != 0 || v.Chains != result.answered.negotiations ||
		v.Entries != int64(result.answered.entries) {
		r.sender.findings.Add("audit log: %+v, want %d entries of %d negotiations", v, result.answered.entries,
			result.answered.negotiations)
	}
	result.Findings = r.sender.findings.Texts()
	return nil
}

// compareAnswers compares each negotiation with the last response about it.
func (r *run) compareAnswers(ctx context.Context, connection *pgx.Conn) error {
	known := map[string]*tracked{}
	for _, d := range r.sender.negotiations() {
		if known[d.id] != nil {
			r.sender.findings.Add("negotiation %s: two answers have its id", d.id)
		}
		known[d.id] = d
	}
	found, err := connection.Query(ctx, `SELECT n.id::text, n.client_id, n.status, n.current_round, count(r.id)
		FROM negotiations n LEFT JOIN negotiation_rounds r ON r.negotiation_id = n.id GROUP BY n.id`)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var got tracked
		if err := found.Scan(&got.id, &got.client, &got.status, &got.rounds, &got.rows); err != nil {
			return err
		}
		got.client -= firstClient
		if want := known[got.id]; want == nil {
			r.sender.findings.Add("negotiation %s: no answer has its id", got.id)
		} else if got != *want {
			r.sender.findings.Add("negotiation %s: is %+v instead of %+v", got.id, got, *want)
		}
		delete(known, got.id)
	}
	for id := range known {
		r.sender.findings.Add("negotiation %s: lost", id)
	}
	return found.Err()
}

func countRows(ctx context.Context, connection *pgx.Conn, n *rows) error {
	return connection.QueryRow(ctx, `SELECT (SELECT count(*) FROM negotiations),
		(SELECT count(*) FROM negotiation_rounds), (SELECT count(*) FROM audit_entries),
		(SELECT count(*) FROM idempotency_keys)`).Scan(&n.negotiations, &n.rounds, &n.entries, &n.keys)
}

// answered returns the rows that belong to the responses. The log contains an entry for each recorded action,
// an entry for the first status and, if the negotiation ended later, an entry for the last status.
func answered(negotiations []*tracked) (n rows) {
	for _, d := range negotiations {
		n.negotiations++
		n.rounds += d.rows
		n.keys += d.rounds
		n.entries += d.rows + 1
		if d.status != "negotiating" && d.rounds > 1 {
			n.entries++
		}
	}
	return n
}

// transactionRows returns the rows that belong to the transactions of the sequence.
func transactionRows(done [operations]int) rows {
	all := done[create] + done[counter] + done[accept] + done[reject]
	actions := 2*all - done[accept]
	return rows{
		negotiations: done[create], rounds: actions, keys: all,
		entries: actions + done[create] + done[accept] + done[reject],
	}
}

// version returns the server version: PostgreSQL 15.14.
func (r *run) version(ctx context.Context) (text string, err error) {
	err = connected(ctx, r.server.Address(loaded), func(connection *pgx.Conn) error {
		return connection.QueryRow(ctx, `SELECT 'PostgreSQL ' ||
			split_part(current_setting('server_version'), ' ', 1)`).Scan(&text)
	})
	return text, err
}
