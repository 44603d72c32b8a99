package hire

// Paths of a home.
const (
	// InboxPath is the path of the inbox.
	InboxPath = "/hire/inbox"
)
