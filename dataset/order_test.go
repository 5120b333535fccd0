package dataset

import (
	"fmt"
	"slices"
	"testing"
)

// wide returns a sample of n items, of which the last repeats the first.
func wide(n int) Sample {
	fields := make([]Field, n)
	for i := range fields {
		fields[i] = Field{Key: fmt.Sprintf("%06d", i), Item: NewItem("json", int64(i))}
	}
	fields[n-1].Item = fields[0].Item
	return Sample{fields}
}

// TestNoItemIsGivenTwice checks samples of many items, in any order.
func TestNoItemIsGivenTwice(t *testing.T) {
	for _, n := range []int{2, fewItems, fewItems + 1, 1000} {
		for _, reversed := range []bool{false, true} {
			s := wide(n)
			if reversed {
				slices.Reverse(s.fields)
			}
			given := s.inOrder()
			all := map[*Item]bool{}
			for i, f := range given.fields {
				all[f.Item] = true
				if want := fmt.Sprintf("%06d", i); f.Key != want || i < n-1 && f.Item != wideItem(s, want) {
					t.Fatalf("of %d, number %d is %s, or not the item of that name", n, i, f.Key)
				}
			}
			if last := given.fields[n-1].Item; len(all) != n || last.origin != given.fields[0].Item.origin {
				t.Errorf("of %d items %d differ, or one has lost where it is from", n, len(all))
			}
		}
		if s := (Sample{wide(n).fields[:n-1]}); &s.inOrder().fields[0] != &s.fields[0] {
			t.Errorf("a sample of %d items that is in order is copied", n-1)
		}
	}
}

func wideItem(s Sample, key string) *Item {
	f, _ := s.Field(key)
	return f.Item
}

func BenchmarkInOrder(b *testing.B) {
	for _, n := range []int{1, 10, 100, fewItems, 200, 10_000} {
		b.Run(fmt.Sprintf("%d items", n), func(b *testing.B) {
			s := Sample{wide(n + 1).fields[:n]}
			b.ReportAllocs()
			for b.Loop() {
				s.inOrder()
			}
		})
	}
}
