package cache

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Policy decides which element of a source goes when a cache of elements is
// full. A cache calls it from one goroutine at a time.
type Policy interface {
	// Insert is told that the element at a position was taken in, what it
	// holds, and what it took to compute.
	Insert(pos int, bytes int64, cost time.Duration)
	// Hit is told that an element that is held was read or replaced.
	Hit(pos int)
	// Remove is told that an element is not held any more, evicted or not.
	Remove(pos int)
	// Victim names the element to evict for an incoming one. If ok is false
	// all are kept and the incoming one is not taken in.
	Victim(incoming int) (pos int, ok bool)
}

var (
	registryMu sync.Mutex
	registered = map[string]func() Policy{}
)

// Register makes a policy of one's own known by name, for caches whose keys
// are positions (ints), which those of datasets are. build returns a policy for
// one empty cache. Register is to be called from an init function; a name that
// is taken panics.
func Register(name string, build func() Policy) {
	if slices.Contains(Policies(), name) || name == "opt" {
		panic(fmt.Sprintf("cache: policy %s is registered twice", name))
	}
	registryMu.Lock()
	defer registryMu.Unlock()
	registered[name] = build
}

// newRegistered returns a registered policy, for entries that are found in
// held.
func newRegistered[K comparable, V any](name string, held index[K, V]) (policy[K, V], error) {
	registryMu.Lock()
	build := registered[name]
	registryMu.Unlock()
	positions, ok := any(held).(index[int, V])
	if !ok {
		var k K
		return nil, fmt.Errorf("cache: policy %s is for positions, and the keys are of type %T", name, k)
	}
	return any(foreign[V]{build(), positions}).(policy[K, V]), nil
}

// foreign is a registered policy.
type foreign[V any] struct {
	Policy
	held index[int, V]
}

func (f foreign[V]) insert(e *entry[int, V]) { f.Insert(e.key, e.bytes, e.cost) }
func (f foreign[V]) hit(e *entry[int, V])    { f.Hit(e.key) }
func (f foreign[V]) remove(e *entry[int, V]) { f.Remove(e.key) }

// victim is nil too if the policy names what is not held.
func (f foreign[V]) victim(incoming *entry[int, V]) *entry[int, V] {
	pos, ok := f.Victim(incoming.key)
	if !ok {
		return nil
	}
	return f.held.get(pos)
}
