package flow_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/tier"
)

// work counts the executions of the mappers of one flow, and records what its sinks got.
type work struct {
	mu   sync.Mutex
	done map[string]int // by mapper and argument
	got  []string
}

// mapper returns a mapper of the item v that may count its executions, and fails for arguments that bad accepts.
func (w *work) mapper(t *testing.T, name string, random, counts bool, bad func(string) bool) dataset.Transform {
	t.Helper()
	f := dataset.TransformFunc{Name: name, Code: key.Version("1"), In: []string{"v"}, Out: []string{"v"}, Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
		v, err := s.Value(ctx, "v")
		if err != nil {
			return dataset.Sample{}, err
		}
		text := v.(string)
		if bad(text) {
			return dataset.Sample{}, errors.New("it is bad")
		}
		if random {
			text += fmt.Sprint("~", dataset.Rand(ctx).IntN(1000))
		}
		if counts {
			w.mu.Lock()
			w.done[name+" "+text]++
			w.mu.Unlock()
		}
		return dataset.NewSample(dataset.Field{Key: "v", Item: dataset.NewItem("txt", text+name)}), nil
	}}
	if random {
		f.Random = &dataset.Random{Seed: 5}
	}
	m, err := dataset.NewTransform(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sink records the samples of all its datasets.
func (w *work) sink(ctx context.Context, in component.Data) error {
	for i, part := range in.Parts {
		for j := range part.Len() {
			s, err := part.At(ctx, j)
			if err != nil {
				return err
			}
			v, err := s.Value(ctx, "v")
			if err != nil {
				return err
			}
			w.mu.Lock()
			w.got = append(w.got, fmt.Sprint(i, " ", v))
			w.mu.Unlock()
		}
	}
	return nil
}

// flow returns a random flow over n different strings. With exact, no two shards of a
// stage need one result: no operator draws samples repeatedly, and equal samples are computed with different random
// numbers.
func (w *work) flow(t *testing.T, r *rand.Rand, n int, exact bool, bad func(string) bool) *flow.Flow {
	t.Helper()
	b := flow.NewBuilder("work", t.TempDir())
	nodes := []flow.Edge{b.Add("numbers", component.Samples(dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "v", Item: dataset.NewItem("txt", fmt.Sprint(i, "."))}), nil
	})))}
	read, equal := map[flow.Edge]bool{}, false // some samples may be equal
	for i := range 2 + r.IntN(7) {
		from := nodes[len(nodes)-1]
		if r.IntN(5) == 0 {
			from = nodes[r.IntN(len(nodes))]
		}
		name := fmt.Sprint("n", i)
		var node flow.Edge
		switch kind := r.IntN(14); {
		case kind < 6:
			keep := kind < 4
			node = b.Add(name, w.mapper(t, string(rune('a'+i)), kind%2 == 0 || equal, keep, bad), from).With(flow.Options{Keep: keep, Checkpoint: kind == 3})
		case kind == 6:
			node = b.Add(name, op.Shuffle{Seed: i}, from)
		case kind == 7:
			two := 2
			node = b.Add(name, op.Slice{Step: &two}, from)
		case kind == 8:
			node = b.Add(name, op.Filter{Where: `v[len(v)-1:] < "d" || v[:1] > "2"`}, from)
		case kind == 9:
			node = b.Add(name, op.Sort{By: "v"}, from)
		case kind == 10:
			node, equal = b.Add(name, op.Repeat{Times: 2}, from), true
		case kind == 11:
			other := nodes[r.IntN(len(nodes))]
			node, equal = b.Add(name, op.Cat{}, from, other), true
			read[other] = true
		case kind == 12 && !exact:
			node = b.Add(name, op.Sample{N: n, Seed: i}, from)
		default:
			node = b.Add(name, op.Reverse{}, from)
		}
		read[from] = true
		nodes = append(nodes, node)
	}
	for i, node := range nodes {
		if !read[node] {
			b.Add(fmt.Sprint("out", i), w.sink, node)
		}
	}
	f, err := b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A machine has the results of earlier stages, and puts its own aside.
type machine struct {
	store.Store // the results of earlier stages
	own         store.Store
}

func (m *machine) Put(ctx context.Context, records ...store.Record) error {
	return m.own.Put(ctx, records...)
}

// move moves all records from one store to another.
func move(t *testing.T, from, to store.Store) {
	t.Helper()
	for info, err := range from.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := from.Get(t.Context(), info.Key)
		if err != nil {
			t.Fatal(err)
		}
		if r.Provenance, err = from.Provenance(t.Context(), info.Key); err != nil {
			t.Fatal(err)
		}
		if err := to.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// shards computes all stages in shards, each on a machine of its own that sees nothing of the other shards of its stage.
func shards(t *testing.T, f *flow.Flow, count int, o flow.RunOptions) (shared store.Store, skips []flow.Skip) {
	t.Helper()
	shared = memory.New(memory.Options{})
	stages, err := f.Stages(o)
	if errors.Is(err, flow.ErrNoStages) {
		return shared, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range stages {
		own := make([]store.Store, count)
		for i := range count {
			own[i] = memory.New(memory.Options{})
			o.Larder = larderIn(t, tier.Share(memory.New(memory.Options{}), &machine{shared, own[i]}))
			r, err := f.RunShard(t.Context(), o, flow.Shard{Index: i + 1, Count: count}, stage.Number)
			if err != nil {
				t.Fatal(err)
			}
			skips = append(skips, r.Skips...)
			if err := o.Larder.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range own {
			move(t, s, shared)
		}
	}
	return shared, skips
}

// TestShardsAreOneRun checks on random flows that shards compute what one run computes, each result once, and that a run
// after them computes nothing and writes the same.
func TestShardsAreOneRun(t *testing.T) {
	never := func(string) bool { return false }
	compareShards(t, 60, never, flow.RunOptions{})
}

// TestShardsSkipWhatOneRunSkips checks the same for samples that cannot be computed, and that the reports of the shards
// list them as that of one run does.
func TestShardsSkipWhatOneRunSkips(t *testing.T) {
	bad := func(text string) bool { return text[:2] == "3." || strings.HasSuffix(text, "b") && text[:2] == "5." }
	compareShards(t, 30, bad, flow.RunOptions{OnError: flow.OnError{Skip: true}})
}

func compareShards(t *testing.T, flows int, bad func(string) bool, o flow.RunOptions) {
	t.Helper()
	r := testrand.New(t)
	for i := range flows {
		exact := i%3 > 0
		seed, n, count := r.Uint64(), r.IntN(12), 1+r.IntN(5)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			one := &work{done: map[string]int{}}
			f := one.flow(t, rand.New(rand.NewPCG(seed, 1)), n, exact, bad)
			o.Larder = newLarder(t, memory.New(memory.Options{}))
			report, err := f.Run(t.Context(), o)
			if errors.Is(err, flow.ErrTooManySkipped) {
				return // all samples
			}
			if err != nil {
				t.Fatal(err)
			}
			many := &work{done: map[string]int{}}
			f = many.flow(t, rand.New(rand.NewPCG(seed, 1)), n, exact, bad)
			shared, skips := shards(t, f, count, o)
			for text := range many.done { // results that an operator after several readers drops
				one.done[text] = max(1, one.done[text])
			}
			if diff := gocmp.Diff(one.done, many.done); diff != "" && exact {
				t.Errorf("executions of one run and of %d shards of\n%v\n%s", count, stagesOf(f, o), diff)
			}
			order := func(a, b flow.Skip) int { return cmp.Compare(a.Node, b.Node)*2 + cmp.Compare(a.Sample, b.Sample) }
			slices.SortFunc(report.Skips, order)
			slices.SortFunc(skips, order)
			if !slices.Equal(report.Skips, skips) {
				t.Errorf("one run skips %v and %d shards of\n%v\nskip %v", report.Skips, count, stagesOf(f, o), skips)
			}
			many.done = map[string]int{}
			o.Larder = larderIn(t, tier.Share(memory.New(memory.Options{}), shared))
			if _, err := f.Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			slices.Sort(one.got) // sinks run concurrently
			slices.Sort(many.got)
			if diff := gocmp.Diff(one.got, many.got); diff != "" || len(many.done) > 0 {
				t.Errorf("a run after %d shards of\n%v\ncomputes %v and differs by %s", count, stagesOf(f, o), many.done, diff)
			}
		})
	}
}

// stagesOf describes the stages of a flow.
func stagesOf(f *flow.Flow, o flow.RunOptions) string {
	var all []string
	for _, n := range f.Nodes {
		all = append(all, fmt.Sprintf("%s: %s %v of %v", n.Name, n.Component.Name, n.Options.Keep, n.From))
	}
	stages, err := f.Stages(o)
	return strings.Join(append(all, fmt.Sprint(stages, err)), "\n")
}

func larderIn(t *testing.T, s store.Store) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
