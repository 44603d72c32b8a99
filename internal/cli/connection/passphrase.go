package connection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/term"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/userinput"
)

// PassphraseFileVariable is an environment variable naming a file, or an open descriptor such as /dev/fd/3. The
// file's first line is the wallet's passphrase.
const PassphraseFileVariable = "HAGGLE_PASSPHRASE_FILE"

// longestPassphrase limits the file size in bytes.
const longestPassphrase = 4 << 10

// Passphrase reads a passphrase from the file that the environment names, otherwise from the terminal without
// echo.
func (f *Flags) Passphrase(ctx context.Context, question string) (string, error) {
	if path := os.Getenv(PassphraseFileVariable); path != "" {
		return readPassphrase(path)
	}
	return f.typedPassphrase(ctx, question)
}

// NewPassphrase reads a passphrase for a new wallet. The terminal prompts for it twice.
func (f *Flags) NewPassphrase(ctx context.Context, question string) (string, error) {
	first, err := f.Passphrase(ctx, question)
	if err != nil || os.Getenv(PassphraseFileVariable) != "" {
		return first, err
	}
	second, err := f.typedPassphrase(ctx, "the same again")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", exitcode.Usagef("the passphrases differ: nothing was written")
	}
	return first, nil
}

func readPassphrase(path string) (string, error) {
	content, err := readPrivate(path)
	if err == nil && len(content) > longestPassphrase {
		err = fmt.Errorf("%s is longer than %d bytes", path, longestPassphrase)
	}
	line, rest, _ := bytes.Cut(content, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	switch {
	case err != nil:
	case len(line) == 0:
		err = fmt.Errorf("the first line of %s is empty", path)
	case len(bytes.TrimSpace(rest)) > 0:
		err = fmt.Errorf("%s has more than one line", path)
	}
	if err != nil {
		return "", exitcode.Usagef("%s: %w", PassphraseFileVariable, err)
	}
	return string(line), nil
}

// readPrivate reads a file accessible only to the owner. It accepts any descriptor.
func readPrivate(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	const others fs.FileMode = 0o077
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&others != 0 {
		if behind, err := filepath.EvalSymlinks(path); err == nil {
			path = behind // the permissions of /dev/fd/3 cannot be changed
		}
		return nil, fmt.Errorf("%s: accessible to other users: chmod 600 %s", path, path)
	}
	return io.ReadAll(io.LimitReader(file, longestPassphrase+1))
}

// prompting announces a prompt. The returned function announces that the prompt has ended.
func (f *Flags) prompting() (done func()) {
	if f.Prompting == nil {
		return func() {}
	}
	return f.Prompting()
}

// attended reports whether questions can be answered at the terminal.
func (f *Flags) attended() bool {
	return !f.Unattended && term.IsTerminal(int(os.Stdin.Fd()))
}

func (f *Flags) typedPassphrase(ctx context.Context, question string) (string, error) {
	if !f.attended() {
		return "", &exitcode.Error{
			Kind: exitcode.Usage, Hint: "run it at a terminal, or set the file with the passphrase in " + PassphraseFileVariable,
			Err: fmt.Errorf("%s: no terminal to ask for it", question),
		}
	}
	defer f.prompting()()
	fmt.Fprintf(os.Stderr, "%s: ", question)
	typed, err := readUnseen(ctx, int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	if errors.Is(err, io.EOF) || err == nil && len(typed) == 0 {
		return "", exitcode.Usagef("%s: is empty", question)
	}
	return string(typed), err
}

// readUnseen reads a line without echo. If it is interrupted, it restores the terminal.
func readUnseen(ctx context.Context, terminal int) ([]byte, error) {
	before, err := term.GetState(terminal)
	if err != nil {
		return nil, err
	}
	typed, err := userinput.Await(ctx, func() ([]byte, error) { return term.ReadPassword(terminal) })
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), term.Restore(terminal, before))
	}
	return typed, err
}
