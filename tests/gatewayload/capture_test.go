package gatewayload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStatementsAreReadFromTheLog(t *testing.T) {
	log := `{"pid":1,"dbname":"captured","message":"statement: begin"}
{"pid":2,"dbname":"captured","message":"execute s1: SELECT id FROM api_keys","detail":"parameters: $1 = 'x'"}
{"pid":1,"dbname":"captured","message":"execute s2: -- name: AddRound :exec\nINSERT INTO negotiation_rounds VALUES ($1, $2)\n",` +
		`"detail":"parameters: $1 = 'it''s, $2 = ''y''', $2 = NULL"}
{"pid":3,"dbname":"loaded","message":"statement: begin"}
{"pid":1,"dbname":"captured","message":"statement: commit"}
{"pid":1,"dbname":"captured","message":"statement: begin"}
{"pid":1,"dbname":"captured","message":"execute s3: UPDATE river_job SET a = 1"}
{"pid":1,"dbname":"captured","message":"statement: commit"}
{"pid":1,"dbname":"capt`
	found, err := readLog([]byte(log))
	require.NoError(t, err)
	require.Len(t, found, 1, "only transactions that record rounds")
	text := "it's, $2 = 'y'"
	require.Equal(t, transaction{{
		"INSERT INTO negotiation_rounds VALUES ($1, $2)", []*string{&text, nil},
	}}, found[0].transaction)
	require.Equal(t, 1, found[0].others)
	_, err = readLog(
		[]byte(`{"pid":1,"dbname":"captured","message":"execute s: SELECT","detail":"parameters: $1 = x"}` + "\n"),
	)
	require.ErrorContains(t, err, "parameters in another form")
}

func TestTheScriptHasVariablesAndConstants(t *testing.T) {
	began := time.UnixMicro(1_700_000_000_000_000)
	w := &script{seeds: &seeds{publishers: 10, clients: 10}}
	values := []string{
		"2000004", "client:2000004", "1000002", "1700000000000250", "019a0000-0000-7000-8000-000000000001",
		"6ba7b810-9dad-41d1-80b4-00c04fd430c8", `{"price": "a:b"}`, "",
	}
	s := statement{sql: "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9"}
	for at := range values {
		s.arguments = append(s.arguments, &values[at])
	}
	s.arguments = append(s.arguments, nil)
	name := func(id string) string { return "<" + id[:4] + ">" }
	sql, err := w.statement(s, began, 2_000_004, name)
	require.NoError(t, err)
	require.Equal(
		t,
		"SELECT :client, ('client:' || :client), :publisher, (:now + 250::bigint), "+
			"<019a>::uuid, <6ba7>, :c0, '', NULL",
		sql,
	)
	require.Equal(t, []string{`{"price": "a:b"}`}, w.constants)
	_, err = w.statement(statement{sql: "SELECT ':name'"}, began, 1, name)
	require.ErrorContains(t, err, "pgbench would read as a variable")
	_, err = w.statement(statement{sql: "SELECT $1"}, began, 1, name)
	require.ErrorContains(t, err, "argument $1: not in the log")
}
