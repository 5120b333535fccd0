package members

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// key returns the key of the r-th run of members.
func (b *Builder) key(r int) []byte {
	from := 0
	if r > 0 {
		from = b.ends[r-1]
	}
	return b.keys[from:b.ends[r]]
}

// end returns the end of a run.
func (b *Builder) end(r int) uint32 {
	if r+1 < len(b.firsts) {
		return b.firsts[r+1]
	}
	return uint32(len(b.kinds))
}

// join merges the runs with one key into the first of them. It needs no map of keys,
// because most archives are in the order of their keys, and then there is nothing to do.
func (b *Builder) join() {
	order := make([]int, len(b.firsts)) // of runs
	for r := range order {
		order[r] = r
	}
	byKey := func(r, s int) int { return bytes.Compare(b.key(r), b.key(s)) }
	if !slices.IsSortedFunc(order, byKey) {
		slices.SortStableFunc(order, byKey)
	}
	first, twice := make([]int, len(order)), false // of each run, the first one with its key
	for i, r := range order {
		if first[r] = r; i > 0 && bytes.Equal(b.key(order[i-1]), b.key(r)) {
			first[r], twice = first[order[i-1]], true
		}
	}
	if !twice {
		return
	}
	slices.SortFunc(order, func(r, s int) int { return cmp.Or(cmp.Compare(first[r], first[s]), cmp.Compare(r, s)) })
	to := &Builder{width: b.width, known: b.known, suffixes: b.suffixes, suffixEnds: b.suffixEnds}
	for _, r := range order {
		if first[r] == r {
			to.firsts = append(to.firsts, uint32(len(to.kinds)))
			to.keys = append(to.keys, b.key(r)...)
			to.ends = append(to.ends, len(to.keys))
		}
		from, end := b.firsts[r], b.end(r)
		to.kinds = append(to.kinds, b.kinds[from:end]...)
		to.places = append(to.places, b.places[int(from)*b.width:int(end)*b.width]...)
	}
	*b = *to
}

// checkTwice refuses a sample with a duplicate member.
func (b *Builder) checkTwice() error {
	last := make([]int, len(b.suffixEnds)) // the last sample, from 1, with the suffix
	for r := range b.firsts {
		for _, kind := range b.kinds[b.firsts[r]:b.end(r)] {
			if last[kind] == r+1 {
				return fmt.Errorf("%s.%s occurs twice; give each sample a unique name", b.key(r), b.suffix(kind))
			}
			last[kind] = r + 1
		}
	}
	return nil
}

func (b *Builder) suffix(kind uint32) []byte {
	from := 0
	if kind > 0 {
		from = b.suffixEnds[kind-1]
	}
	return b.suffixes[from:b.suffixEnds[kind]]
}
