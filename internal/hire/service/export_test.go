package service

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// SetPushLimit changes the time for the attempt to push an event.
func (s *Service) SetPushLimit(limit time.Duration) { s.pusher.limit.Store(int64(limit)) }

// SendCopy stores a contract copy as the home does.
func (s *Service) SendCopy(ctx context.Context, id string, m *hire.Message) error {
	return s.accept(ctx, m, id)
}

// LookForEscrows looks once for the escrows that are due.
func (s *Service) LookForEscrows(ctx context.Context) error { return s.lookForEscrows(ctx) }
