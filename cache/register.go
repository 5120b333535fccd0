package cache

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Policy decides which element of a source to evict from a full cache. It is for
// policies that are registered from outside; built-in ones implement policy. A cache calls
// it from one goroutine at a time.
type Policy interface {
	// Insert is called when the element at pos was stored, with its bytes and its cost
	// to compute.
	Insert(pos int, bytes int64, cost time.Duration)
	// Hit is called when a stored element was read or replaced.
	Hit(pos int)
	// Remove is called when an element was removed, evicted or not.
	Remove(pos int)
	// Victim returns the element to evict for an incoming one. If ok is false, the
	// incoming one is rejected.
	Victim(incoming int) (pos int, ok bool)
}

var (
	registryMu sync.Mutex
	registered = map[string]func() Policy{}
)

// Register adds a policy under a name, for caches whose keys are positions (ints), such
// as those of datasets. build returns a policy for one empty cache. Call Register from
// an init function; it panics if the name is taken.
func Register(name string, build func() Policy) {
	if slices.Contains(Policies(), name) || name == "opt" {
		panic(fmt.Sprintf("cache: policy %s is registered twice", name))
	}
	registryMu.Lock()
	defer registryMu.Unlock()
	registered[name] = build
}

func newRegistered[K comparable, V any](name string, held index[K, V]) (policy[K, V], error) {
	registryMu.Lock()
	build := registered[name]
	registryMu.Unlock()
	positions, ok := any(held).(index[int, V])
	if !ok {
		var k K
		return nil, fmt.Errorf("cache: policy %s needs integer positions as keys, not %T", name, k)
	}
	return any(foreign[V]{build(), positions}).(policy[K, V]), nil
}

type foreign[V any] struct {
	Policy
	held index[int, V]
}

func (f foreign[V]) insert(e *entry[int, V]) { f.Insert(e.key, e.bytes, e.cost) }
func (f foreign[V]) hit(e *entry[int, V])    { f.Hit(e.key) }
func (f foreign[V]) remove(e *entry[int, V]) { f.Remove(e.key) }

// victim also returns nil if the policy returns an element that is not stored.
func (f foreign[V]) victim(incoming *entry[int, V]) *entry[int, V] {
	pos, ok := f.Victim(incoming.key)
	if !ok {
		return nil
	}
	return f.held.get(pos)
}
