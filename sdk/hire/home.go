package hire

// Paths of a home, at its origin.
const (
	InboxPath         = "/hire/inbox"
	EventsPath        = "/hire/events"
	ConversationsPath = "/hire/conversations"
	LogPath           = "/hire/log"
	// DeliveriesPath is followed by the SHA-256 of a delivery.
	DeliveriesPath = "/hire/deliveries/"
)
