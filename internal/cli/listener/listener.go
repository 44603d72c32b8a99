// Package listener opens the address given by a flag such as --listen.
package listener

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

// Open listens at a flag's TCP address; port 0 selects any free port.
func Open(ctx context.Context, flag, address string) (net.Listener, error) {
	opened, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &exitcode.Error{
			Kind: exitcode.Usage, Err: fmt.Errorf("--%s: %s is already in use", flag, address),
			Hint: "stop the other server, or set another address; port 0 is any free one",
		}
	case err != nil:
		return nil, exitcode.Usagef("--%s: %s", flag, err)
	}
	return opened, nil
}
