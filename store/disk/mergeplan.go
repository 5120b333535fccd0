package disk

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// A mergePlan is the input of a merged index.
type mergePlan struct {
	packs   []format.MergedPack
	order   []uint32 // position in packs by number in this process
	base    *base
	numbers []uint32         // of the packs of base
	frozen  []format.Located // ordered
	latest  int64
}

// plan returns the base and the frozen records to write, which are all records in the
// covered part of packs.
func (x *index) plan(covered []format.MergedPack) *mergePlan {
	x.mu.RLock()
	defer x.mu.RUnlock()
	plan := &mergePlan{base: x.base, latest: x.latest.Load(), order: make([]uint32, len(x.packs))}
	if x.base != nil {
		plan.numbers = slices.Clone(x.base.numbers)
	}
	for i, p := range x.packs {
		plan.order[i] = noPack
		if p != nil && i < len(covered) && covered[i].Covered > 0 {
			plan.order[i] = uint32(len(plan.packs))
			plan.packs = append(plan.packs, covered[i])
		}
	}
	plan.frozen = make([]format.Located, 0, len(x.frozen))
	for fp, at := range x.frozen {
		plan.frozen = append(plan.frozen, format.Located{FP: fp, Place: at})
	}
	slices.SortFunc(plan.frozen, func(a, b format.Located) int { return cmp.Compare(a.FP, b.FP) })
	return plan
}

// each yields the latest records, ordered, with the positions of their packs.
func (p *mergePlan) each(yield func(format.Located) error) error {
	emit := func(l format.Located) error {
		if l.Pack == noPack || p.order[l.Pack] == noPack {
			return nil
		}
		l.Pack = p.order[l.Pack]
		return yield(l)
	}
	frozen := p.frozen
	for i := range p.base.len() {
		l, ok := p.base.entry(i, p.numbers)
		if !ok {
			return fmt.Errorf("%w: entry %d", format.ErrDamaged, i)
		}
		for len(frozen) > 0 && frozen[0].FP < l.FP {
			if err := emit(frozen[0]); err != nil {
				return err
			}
			frozen = frozen[1:]
		}
		if len(frozen) > 0 && frozen[0].FP == l.FP {
			continue // the later one counts
		}
		if err := emit(l); err != nil {
			return err
		}
	}
	for _, l := range frozen {
		if err := emit(l); err != nil {
			return err
		}
	}
	return nil
}

// writeMerged writes the merged index of plan.
func (s *Store) writeMerged(plan *mergePlan) error {
	return s.files.WriteBy(s.mergedPath(), func(w io.Writer) error {
		return format.WriteMerged(w, plan.latest, plan.packs, plan.base.len()+len(plan.frozen), plan.each)
	})
}
