package flow

import (
	"maps"
	"slices"

	"github.com/larder-data/larder/key"
)

// use is one cached result that was returned.
type use struct {
	record key.Key // key of the stored result
	action key.Key // key of the request, if different
}

// uses are the uses of a node, by sample. There may be millions, usually of
// neighbouring samples. Pages hold them without overhead and are never moved.
type uses struct {
	n       int
	pages   map[int]*usePage
	actions map[int]key.Key // of the few that have one
}

const usesInPage = 256

// usePage holds the keys of consecutive samples; the key of an unused sample is
// zero.
type usePage [usesInPage]key.Key

func (u *uses) set(i int, of use) {
	p := u.pages[i/usesInPage]
	if p == nil {
		if u.pages == nil {
			u.pages, u.actions = map[int]*usePage{}, map[int]key.Key{}
		}
		p = &usePage{}
		u.pages[i/usesInPage] = p
	}
	if p[i%usesInPage].IsZero() {
		u.n++
	}
	p[i%usesInPage] = of.record
	if of.action.IsZero() {
		delete(u.actions, i)
	} else {
		u.actions[i] = of.action
	}
}

func (u *uses) at(i int) (of use, ok bool) {
	p := u.pages[i/usesInPage]
	if p == nil || p[i%usesInPage].IsZero() {
		return of, false
	}
	return use{p[i%usesInPage], u.actions[i]}, true
}

func (u *uses) all(yield func(int, use) bool) {
	for _, page := range slices.Sorted(maps.Keys(u.pages)) {
		for i := page * usesInPage; i < (page+1)*usesInPage; i++ {
			if of, ok := u.at(i); ok && !yield(i, of) {
				return
			}
		}
	}
}
