package strategy

// Unregister removes a strategy.
func Unregister(name string) {
	registerLock.Lock()
	defer registerLock.Unlock()
	delete(registered, name)
}
