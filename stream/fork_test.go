package stream_test

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/stream"
)

// TestBranchesDrift checks that the input is read once however far branches drift apart.
// Each branch gets all of it, and its files on disk are deleted.
func TestBranchesDrift(t *testing.T) {
	const n = 3000
	random := testrand.New(t)
	for range testrand.Rounds(5, 100) {
		read, dir := 0, t.TempDir()
		counted := mapped(stream.Of(rangeOf(n)...), func(n int) int { read++; return n })
		branches := stream.Fork(counted, 3, stream.Forking[int]{Elements: 1 + random.IntN(100), Dir: dir})
		readers, err := stream.Together(t.Context(), nil, branches...)
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]int, len(readers))
		left := []int{0, 1, 2}
		for len(left) > 0 {
			k := left[random.IntN(len(left))]
			for range 1 + random.IntN(400) {
				v, err := readers[k].Next(t.Context())
				if errors.Is(err, io.EOF) {
					left = slices.DeleteFunc(left, func(i int) bool { return i == k })
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got[k] = append(got[k], v)
			}
		}
		for k, r := range readers {
			if !slices.Equal(got[k], rangeOf(n)) {
				t.Errorf("branch %d has %d elements, not in order", k, len(got[k]))
			}
			r.Close()
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 || read != n {
			t.Errorf("%d files are left, and %d of %d elements were read: %v", len(files), read, n, err)
		}
	}
}

// TestPositionsOfResumedBranches checks that resumed branches keep their own positions,
// also when the state of one grows while another rests. An operator takes one byte of a
// state for 120 elements, and two for 130.
func TestPositionsOfResumedBranches(t *testing.T) {
	in := stream.From(replaying(300))
	for range 8 {
		in = stream.Limit(in, 300)
	}
	b := stream.Fork(in, 2, stream.Forking[int]{})
	s := stream.Interleave(stream.Mixing{Weights: []float64{20, 1}}, b[0], b[1])
	all, states := rest(t, s, stream.State{})
	_, again := rest(t, s, states[120])
	for at, from := range again {
		if left, _ := rest(t, s, from); !slices.Equal(left, all[120+at:]) {
			t.Fatalf("resumed at 120, and again %d later, it goes on with\n%v instead of\n%v", at, left, all[120+at:])
		}
	}
}

// TestBranchesAtOnce checks that goroutines may read branches of their own; one of them
// leaves early.
func TestBranchesAtOnce(t *testing.T) {
	const n = 2000
	branches := stream.Fork(stream.Of(rangeOf(n)...), 3, stream.Forking[int]{Elements: 20})
	readers, err := stream.Together(t.Context(), nil, branches...)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for k, r := range readers {
		wait.Go(func() {
			defer r.Close()
			i := 0
			for v, err := range r.All(t.Context()) {
				if err != nil || v != i {
					t.Errorf("branch %d has %d at %d, %v", k, v, i, err)
					return
				}
				if i++; k == 1 && i == 100 {
					return
				}
			}
			if i != n {
				t.Errorf("branch %d ends after %d", k, i)
			}
		})
	}
	wait.Wait()
}

// TestBranchesAreResumed checks that branches are resumed together, each at its position.
// The input is read from the position of the last one.
func TestBranchesAreResumed(t *testing.T) {
	read := 0
	source := stream.FromDataset(dataset.Func(100, func(_ context.Context, i int) (int, error) { read++; return i, nil }), "")
	branches := stream.Route(source, 2, stream.Forking[int]{Elements: 3}, func(n int) int { return n % 2 })
	open := func(from []stream.State) []*stream.Reader[int] {
		readers, err := stream.Together(t.Context(), from, branches...)
		if err != nil {
			t.Fatal(err)
		}
		return readers
	}
	next := func(r *stream.Reader[int], want int) {
		t.Helper()
		if v, err := r.Next(t.Context()); err != nil || v != want {
			t.Fatalf("%d, %v instead of %d", v, err, want)
		}
	}
	readers := open(nil)
	for i := range 20 {
		next(readers[0], 2*i)
	}
	for i := range 10 {
		next(readers[1], 2*i+1)
	}
	states := []stream.State{readers[0].State(), readers[1].State()}
	for _, r := range readers {
		r.Close()
	}
	read = 0
	readers = open(states)
	for i := 10; i < 30; i++ {
		next(readers[1], 2*i+1)
	}
	next(readers[0], 40)
	if read != 40 {
		t.Errorf("%d elements were read to go from 20 to 60", read)
	}
	for _, r := range readers {
		r.Close()
	}
	if _, err := stream.Together(t.Context(), states[:1], branches...); err == nil {
		t.Error("one state for two branches is accepted")
	}
}

// TestABranchThatEnds checks that a branch without readers delays no other branch.
func TestABranchThatEnds(t *testing.T) {
	dir := t.TempDir()
	branches := stream.Fork(stream.Of(rangeOf(5000)...), 2, stream.Forking[int]{Elements: 10, Dir: dir})
	r, err := stream.ZipLongest(stream.Limit(branches[0], 3), branches[1]).Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for _, err := range r.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 4000 {
			if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
				t.Errorf("%d files, %v", len(files), err)
			}
		}
	}
	if n != 5000 {
		t.Errorf("%d elements", n)
	}
}

// TestBranchesOfSamples checks that samples that wait on disk are unchanged.
func TestBranchesOfSamples(t *testing.T) {
	samples := stream.Map(stream.Of(rangeOf(50)...), func(_ context.Context, n int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(n))}, dataset.Field{Key: "s", Item: dataset.NewBytes("bin", []byte{1}), Shared: true}), nil
	})
	b := stream.Fork(samples, 2, stream.Forking[dataset.Sample]{Elements: 2})
	all, err := stream.Collect(t.Context(), stream.Concat(stream.Zip(stream.Skip(b[0], 40), b[1])))
	if err != nil || len(all) != 10 {
		t.Fatal(len(all), err)
	}
	for i, p := range all {
		a, err := p.A.Value(t.Context(), "n")
		if err != nil || a != int64(40+i) {
			t.Errorf("%v, %v", a, err)
		}
		v, err := p.B.Value(t.Context(), "n")
		f, _ := p.B.Field("s")
		if err != nil || v != int64(i) || !f.Shared {
			t.Errorf("%v, %v, shared: %v", v, err, f.Shared)
		}
	}
}

// TestBranchesShareTheirInputEachTime checks that the input of branches is read once each
// time that they are opened together: in each pass, and below other branches.
func TestBranchesShareTheirInputEachTime(t *testing.T) {
	read := 0
	counted := mapped(stream.Of(rangeOf(50)...), func(n int) int { read++; return n })
	halves := func(s stream.Stream[int]) stream.Stream[int] {
		b := stream.Fork(s, 2, stream.Forking[int]{Elements: 4})
		return mapped(stream.Zip(b[0], b[1]), func(p stream.Pair[int, int]) int { return p.A + p.B })
	}
	for name, c := range map[string]struct {
		s    stream.Stream[int]
		n    int
		read int
	}{
		"passes":      {stream.Cycle(halves(counted), 3), 150, 150},
		"of branches": {halves(halves(counted)), 50, 50},
		"one by one":  {stream.Concat(stream.Fork(counted, 2, stream.Forking[int]{})...), 100, 100},
	} {
		read = 0
		all, err := stream.Collect(t.Context(), c.s)
		if err != nil || len(all) != c.n || read != c.read {
			t.Errorf("%s: %d elements, and %d were read, which should be %d and %d: %v", name, len(all), read, c.n, c.read, err)
		}
	}
}

// TestBranchesThatFail checks that an element that belongs to no branch is an error, and so
// is one that cannot be written.
func TestBranchesThatFail(t *testing.T) {
	b := stream.Route(stream.Of(0, 1, 2), 2, stream.Forking[int]{}, func(n int) int { return n })
	if all, err := stream.Collect(t.Context(), b[1]); err == nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	f := stream.Fork(stream.Of(rangeOf(9)...), 2, stream.Forking[int]{Elements: 1, Dir: t.TempDir() + "/none"})
	if all, err := stream.Collect(t.Context(), stream.Zip(stream.Skip(f[0], 5), f[1])); err == nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	funcs := stream.Fork(stream.Of(func() {}), 2, stream.Forking[func()]{})
	if _, err := funcs[0].Open(t.Context(), stream.State{}); err == nil {
		t.Error("functions can be written to a file")
	}
}
