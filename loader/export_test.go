package loader

import "runtime"

// AwaitUsers waits until so many use the sample of a number.
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
