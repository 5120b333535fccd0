package objectstoretest

import (
	"net/http"
	"sync"
)

// failedOnce records the requests seen.
type failedOnce struct {
	mu   sync.Mutex
	seen map[string]bool
}

// first reports whether a request is new.
func (f *failedOnce) first(r *http.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := r.Method + " " + r.URL.String()
	if f.seen[name] {
		return false
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[name] = true
	return true
}
