package identity

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrServiceMismatch matches every *ServiceMismatch with errors.Is.
var ErrServiceMismatch = errors.New("haggle: the service's description does not match the negotiation's service hash")

// ServiceMismatch reports that a description has another hash than the negotiation. It does not contain the
// description.
type ServiceMismatch struct {
	// Expected is the negotiation's service_hash, and Got the SHA-256 of the description.
	Expected, Got [32]byte
}

func (e *ServiceMismatch) Error() string {
	return fmt.Sprintf("%v: its SHA-256 is %x, the negotiation's %x", ErrServiceMismatch, e.Got, e.Expected)
}

// Unwrap returns ErrServiceMismatch.
func (e *ServiceMismatch) Unwrap() error { return ErrServiceMismatch }

// CheckService compares the hash of a service's description, byte for byte, with the service_hash of an
// existing or planned negotiation. Call it before a seller accepts an invitation, and before a buyer
// deposits: otherwise the parties might bargain over different things. It returns a *ServiceMismatch if they
// differ. A negotiation whose hash is all zeros commits to nothing, and no description matches it.
func CheckService(description []byte, serviceHash [32]byte) error {
	got := protocol.ServiceHash(string(description))
	if got != serviceHash {
		return &ServiceMismatch{Expected: serviceHash, Got: got}
	}
	return nil
}
