package haggle

// schedule queues a watcher for a worker.
func (f *stream) schedule(w *watcher) {
	f.readyLock.Lock()
	defer f.readyLock.Unlock()
	f.ready = append(f.ready, w)
	if f.workers < maxWorkers && f.client.start(f.work) {
		f.workers++
	}
}

func (f *stream) work() {
	for w := f.nextReady(); w != nil; w = f.nextReady() {
		w.work()
	}
}

// nextReady returns the next watcher. If there is none, it returns nil and the worker ends.
func (f *stream) nextReady() *watcher {
	f.readyLock.Lock()
	defer f.readyLock.Unlock()
	if len(f.ready) == 0 {
		f.ready = nil
		f.workers--
		return nil
	}
	w := f.ready[0]
	f.ready[0] = nil
	f.ready = f.ready[1:]
	return w
}
