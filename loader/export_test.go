package loader

import "runtime"

// AwaitUsers waits until n users share the sample at index i.
func AwaitUsers(l *Loader, number, users int) {
	for {
		l.shelf.mu.Lock()
		h := l.shelf.of[place{number: number}]
		there := h != nil && h.users >= users
		l.shelf.mu.Unlock()
		if there {
			return
		}
		runtime.Gosched()
	}
}
