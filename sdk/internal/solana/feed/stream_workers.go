package feed

// schedule queues a watcher for a worker.
func (f *Feed) schedule(w *watcher) {
	f.readyLock.Lock()
	defer f.readyLock.Unlock()
	f.ready = append(f.ready, w)
	if f.workers < maxWorkers && f.start(f.work) {
		f.workers++
	}
}

func (f *Feed) work() {
	for w := f.nextReady(); w != nil; w = f.nextReady() {
		w.work()
	}
}

// nextReady returns the next watcher. If none is ready, it returns nil and the worker ends.
func (f *Feed) nextReady() *watcher {
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
