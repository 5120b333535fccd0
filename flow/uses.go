package flow

import (
	"maps"
	"slices"

	"github.com/larder-data/larder/key"
)

// use is one kept result that was handed out.
type use struct {
	record key.Key // under which it is kept
	action key.Key // by which it was asked for, if that is another
}

// uses are those of a node, by sample. There may be millions, of neighbours as a rule:
// so they lie in pages, which take what the keys take, and are never moved.
type uses struct {
	n       int
	pages   map[int]*usePage
	actions map[int]key.Key // of the few that have one
}

const usesInPage = 256

// usePage is the keys of some samples. Of those that were not used it is zero.
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

// all yields them, by sample.
func (u *uses) all(yield func(int, use) bool) {
	for _, page := range slices.Sorted(maps.Keys(u.pages)) {
		for i := page * usesInPage; i < (page+1)*usesInPage; i++ {
			if of, ok := u.at(i); ok && !yield(i, of) {
				return
			}
		}
	}
}
