package cache

import "slices"

// filling is the policy until the cache is full. It records the order in which entries
// were put and last read, and how often.
type filling[K comparable, V any] struct {
	list[K, V] // by the last read
	came       int32
}

func newFilling[K comparable, V any]() *filling[K, V] {
	return &filling[K, V]{list: newList[K, V]()}
}

func (f *filling[K, V]) insert(e *entry[K, V]) {
	e.place, e.rank = f.came, 0
	f.came++
	f.list.insert(e)
}

func (f *filling[K, V]) hit(e *entry[K, V]) {
	e.rank++
	f.renew(e)
}

func (f *filling[K, V]) victim(*entry[K, V]) *entry[K, V] { return nil }

// event is a put or a read of an entry.
type event[K comparable, V any] struct {
	entry *entry[K, V]
	read  bool
}

// past removes all entries. It returns events that bring any policy to nearly the state
// that the real accesses would have given.
func (f *filling[K, V]) past() []event[K, V] {
	var used []*entry[K, V]
	for e := f.oldest(); e != nil; e = f.oldest() {
		used = append(used, e)
		f.remove(e)
	}
	came := slices.Clone(used)
	slices.SortFunc(came, func(a, b *entry[K, V]) int { return int(a.place) - int(b.place) })
	var all []event[K, V]
	for _, e := range used {
		for len(came) > 0 && came[0].place <= e.place {
			all = append(all, event[K, V]{entry: came[0]})
			for range int(min(came[0].rank, maxCount)) - 1 {
				all = append(all, event[K, V]{came[0], true})
			}
			came = came[1:]
		}
		if e.rank > 0 {
			all = append(all, event[K, V]{e, true})
		}
	}
	for _, e := range used {
		e.place, e.rank = 0, 0
	}
	return all
}

// comings returns a put for each entry, in any order.
func comings[K comparable, V any](entries index[K, V]) []event[K, V] {
	var all []event[K, V]
	for e := range entries.all() {
		e.place, e.rank, e.visited = 0, 0, false
		all = append(all, event[K, V]{entry: e})
	}
	return all
}
