package arena

// IsPublic reports whether everybody learns of an action. Public logs have these messages.
func IsPublic(action Action) bool {
	switch action.(type) {
	case Join, Connect, Leave, State, Say, Pass, Resolve:
		return true
	}
	return false
}
