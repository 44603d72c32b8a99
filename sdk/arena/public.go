package arena

// IsPublic reports whether an action is public. Public logs contain these messages.
func IsPublic(action Action) bool {
	switch action.(type) {
	case Join, Connect, Leave, State, Say, Pass, Resolve:
		return true
	}
	return false
}
