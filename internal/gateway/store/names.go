package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// forms holds the forms used to compare names. Two names must not share a form. Neither database offers such
// a comparison. The forms are stored: a migration must fill them again if later code computes others.
type forms struct {
	// key is the lower-case skeleton: it finds "openai" with a Cyrillic o beside OpenAI.
	key queries.NullText
	// skeleton is the skeleton of the name as written: it finds "OpenAl", ending in the letter l, beside
	// OpenAI.
	skeleton queries.NullText
}

func formsOf(name string) forms {
	return forms{
		key:      queries.NullText(folded(skeleton(folded(name)))),
		skeleton: queries.NullText(folded(skeleton(name))),
	}
}

// folded returns a name without spaces and differences of case, of width and of composition.
func folded(name string) string {
	text := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
	return strings.Join(strings.Fields(text), "")
}

// skeleton returns the UTS 39 skeleton of a text. Texts that look alike share a skeleton. The library's own
// function also removes characters newer than Go's Unicode tables, so that names using them would be equal.
// The standard also removes ignorable characters, but a name contains none.
func skeleton(text string) string {
	var replaced strings.Builder
	for _, char := range norm.NFD.String(text) {
		if prototype := confusable.GetReplacement(char); prototype != "" {
			replaced.WriteString(prototype)
		} else {
			replaced.WriteRune(char)
		}
	}
	return norm.NFD.String(replaced.String())
}

// NameError means that another client or publisher uses the name or a name that looks like it. It matches
// [ErrNameTaken].
type NameError struct {
	// Owner is "client" or "publisher"; ID and Name identify the existing client or publisher.
	Owner string
	ID    int64
	Name  string
	// Confusable reports whether the names differ, and only look alike.
	Confusable bool
}

func (e *NameError) Error() string {
	if e.Confusable {
		return fmt.Sprintf("name confusable with %q of %s %d: their Unicode UTS 39 skeletons are equal: choose another one",
			e.Name, e.Owner, e.ID)
	}
	return fmt.Sprintf("%s %d: %s", e.Owner, e.ID, ErrNameTaken)
}

// Is reports whether target is [ErrNameTaken].
func (e *NameError) Is(target error) bool { return target == ErrNameTaken }

func nameError(owner string, id int64, other, name string) *NameError {
	return &NameError{owner, id, other, folded(other) != folded(name)}
}

// NameOwner is a client or a publisher, with the name.
type NameOwner struct {
	// Owner is "client" or "publisher".
	Owner string
	ID    int64
	Name  string
}

// UnreservedNames returns the first [MaxPage] owners of names that lack forms. An older haggle stored such a
// name although an earlier client or publisher had a confusable name.
func (s *Store) UnreservedNames(ctx context.Context) ([]NameOwner, error) {
	return several(func(row queries.UnreservedNamesRow) NameOwner { return NameOwner(row) })(
		s.read.UnreservedNames(ctx, MaxPage))
}

// fillNames sets the forms of the names stored by an older haggle. The first of several clients or publishers
// that share a form keeps it; the others keep their names only. It belongs to migration 10, so it uses only
// columns that exist then.
func fillNames(ctx context.Context, tx *sql.Tx) error {
	for _, table := range []string{"clients", "publishers"} {
		names, err := namesOf(ctx, tx, table)
		if err != nil {
			return err
		}
		for _, owner := range names {
			f := formsOf(owner.Name)
			if _, err := tx.ExecContext(ctx, `UPDATE `+table+` SET name_key = $2, skeleton = $3 WHERE id = $1 AND NOT EXISTS
				(SELECT 1 FROM `+table+` AS other WHERE other.name_key = $2 OR other.skeleton = $3)`,
				owner.ID, f.key, f.skeleton); err != nil {
				return err
			}
		}
	}
	return nil
}

func namesOf(ctx context.Context, tx *sql.Tx, table string) (owners []NameOwner, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, name FROM `+table+` WHERE name IS NOT NULL ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // see Err
	for rows.Next() {
		owner := NameOwner{Owner: table}
		if err := rows.Scan(&owner.ID, &owner.Name); err != nil {
			return nil, err
		}
		owners = append(owners, owner)
	}
	return owners, rows.Err()
}
