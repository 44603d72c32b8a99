package agent

import "time"

// SetPreflightTimeout shortens the checks of Run.
func (r *Runtime) SetPreflightTimeout(limit time.Duration) { r.preflightTimeout = limit }
