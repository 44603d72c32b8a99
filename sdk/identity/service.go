package identity

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrServiceMismatch is what every *ServiceMismatch is, for errors.Is.
var ErrServiceMismatch = errors.New("haggle: the service's description is not the one that the negotiation commits to")

// ServiceMismatch says that a description has another hash than a negotiation. The description itself is no part of it.
type ServiceMismatch struct {
	// Expected is the negotiation's service_hash, and Got the description's SHA-256.
	Expected, Got [32]byte
}

func (e *ServiceMismatch) Error() string {
	return fmt.Sprintf("%v: its SHA-256 is %x, the negotiation's %x", ErrServiceMismatch, e.Got, e.Expected)
}

// Unwrap is ErrServiceMismatch.
func (e *ServiceMismatch) Unwrap() error { return ErrServiceMismatch }

// CheckService compares a service's description, byte for byte as it is, with the service_hash that a negotiation has or is about to
// get: before a seller accepts an invitation, and before a buyer deposits. Otherwise the two would bargain over different things.
// It fails with a *ServiceMismatch. A negotiation whose hash is all zeros commits to nothing, and no description fits it.
func CheckService(description []byte, serviceHash [32]byte) error {
	got := protocol.ServiceHash(string(description))
	if got != serviceHash {
		return &ServiceMismatch{Expected: serviceHash, Got: got}
	}
	return nil
}
