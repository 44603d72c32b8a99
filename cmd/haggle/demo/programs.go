package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// program is an agent process's command line.
type program struct {
	path string
	// subcommand is the agent's subcommand of "haggle demo". If it is "", path names the agent's binary.
	subcommand string
}

func (p program) command(ctx context.Context, arguments []string) *exec.Cmd {
	if p.subcommand == "" {
		return exec.CommandContext(ctx, p.path, arguments...)
	}
	command := exec.CommandContext(ctx, p.path, append([]string{"demo", p.subcommand}, arguments...)...)
	// A test's binary decides by this name whether it is haggle.
	command.Args[0] = os.Args[0]
	return command
}

// programs holds the two agents' programs.
type programs struct{ buyer, seller program }

// findPrograms returns the binaries buyer and seller in folder. If folder is "", it returns this binary's
// commands "haggle demo buyer" and "haggle demo seller".
func findPrograms(folder string) (programs, error) {
	if folder != "" {
		found := programs{
			buyer:  program{path: filepath.Join(folder, "buyer")},
			seller: program{path: filepath.Join(folder, "seller")},
		}
		for _, path := range []string{found.buyer.path, found.seller.path} {
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				return found, fmt.Errorf("binaries buyer and seller not found in %s", folder)
			}
		}
		return found, nil
	}
	own, err := os.Executable()
	if err != nil {
		return programs{}, err
	}
	return programs{buyer: program{own, "buyer"}, seller: program{own, "seller"}}, nil
}
