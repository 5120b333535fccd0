package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/order"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// calls records the inputs of a transform of several samples.
type calls struct {
	mu   sync.Mutex
	list [][]string
}

func (c *calls) note(texts []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, texts)
}

func (c *calls) sizes() (sizes []int) {
	for _, texts := range c.list {
		sizes = append(sizes, len(texts))
	}
	return sizes
}

// times counts the calls with each string.
func (c *calls) times() map[string]int {
	times := map[string]int{}
	for _, texts := range c.list {
		for _, text := range texts {
			times[text]++
		}
	}
	return times
}

// louder returns a transform of at most n samples per call, which makes item b from item from.
// If fail is not nil, it returns the error for some strings.
func louder(t testing.TB, n int, from string, c *calls, fail func(texts []string) error) dataset.Transform {
	t.Helper()
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "louder", Code: key.Version("1"), In: []string{from}, Out: []string{"b"}, Formats: []string{"txt"},
		Batch: n,
		BatchFunc: func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) {
			texts, outs := make([]string, len(in)), make([]dataset.Sample, len(in))
			for i, s := range in {
				v, err := s.Value(ctx, from)
				if err != nil {
					return nil, err
				}
				texts[i] = v.(string)
				outs[i] = dataset.NewSample(dataset.Field{Key: "b", Item: dataset.NewItem("txt", strings.ToUpper(texts[i])+"!")})
			}
			c.note(texts)
			if fail != nil {
				return outs, fail(texts)
			}
			return outs, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openOn(t testing.TB, s store.Store) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// read reads a dataset in one of several ways, and returns one item of each sample.
func read(ctx context.Context, way int, ds dataset.Dataset[dataset.Sample], p *pool.Pool, item string) (texts []string, err error) {
	texts = make([]string, ds.Len())
	value := func(ctx context.Context, i int, s dataset.Sample) error {
		v, err := s.Value(ctx, item)
		if err == nil {
			texts[i] = v.(string)
		}
		return err
	}
	switch way {
	case 0:
		return texts, dataset.Pass(ctx, ds, p, value)
	case 1:
		i := 0
		for s, err := range dataset.Stream(ctx, ds, p) {
			if err == nil {
				err = value(ctx, i, s)
			}
			if err != nil {
				return texts, err
			}
			i++
		}
		return texts, nil
	default:
		op, err := key.NewOp("look", key.Version("1"))
		if err != nil {
			return nil, err
		}
		return dataset.Scan[string]{Op: op, Reads: []string{item}, Pool: p, Each: func(ctx context.Context, s dataset.Sample) (string, error) {
			v, err := s.Value(ctx, item)
			text, _ := v.(string)
			return text, err
		}}.Run(ctx, ds)
	}
}

// TestBatchesAreThoseThatAreMissing checks that samples missing in the cache are computed
// once each, in batches of the requested size, with the same results as one by one. It
// covers all ways of reading, with and without caches, and mappers, chains and operators.
func TestBatchesAreThoseThatAreMissing(t *testing.T) {
	draw := testrand.New(t)
	for range testrand.Rounds(150, 3000) {
		n, batch, way, workers, shape := draw.IntN(21), []int{1, 2, 4, 7, 32}[draw.IntN(5)], draw.IntN(3), 1+draw.IntN(3), draw.IntN(6)
		keep := draw.IntN(3) > 0
		s := memory.New(memory.Options{})
		build := func(c *calls, batch int) dataset.Dataset[dataset.Sample] {
			o := dataset.MapOptions{Node: "n", Larder: openOn(t, s), Keep: keep}
			var m dataset.Mapper = louder(t, batch, "a", c, nil)
			switch shape {
			case 1: // read after it is computed
				later := o
				later.Node = "later"
				later.Keep = draw.IntN(2) == 0
				return dataset.Map(dataset.Map(texts(n, "a"), m, o), louder(t, 1, "b", new(calls), nil), later)
			case 2:
				m, _ = dataset.Compose(m, louder(t, 1, "b", new(calls), nil))
			case 3: // each sample separately, as operators do
				in := texts(n, "a")
				each := dataset.Each(in, func(ctx context.Context, i int, s dataset.Sample) (dataset.Sample, error) {
					return dataset.Map(dataset.Func(n, func(context.Context, int) (dataset.Sample, error) { return s, nil }), m, o).At(ctx, i)
				})
				return dataset.WithMinBatch(each, batch)
			case 4:
				return dataset.WithCaching(dataset.Cat(dataset.Map(texts(n/2, "a"), m, o), dataset.Map(shifted(n-n/2, n/2), m, o)))
			}
			return dataset.Map(texts(n, "a"), m, o)
		}
		before := map[string]bool{}
		var one calls
		singles := build(&one, 1)
		if keep || shape == 4 {
			for i := range n {
				if draw.IntN(3) == 0 {
					s, err := singles.At(t.Context(), i)
					if err == nil {
						_, err = s.Value(t.Context(), "b")
					}
					if err != nil {
						t.Fatal(err)
					}
					before[fmt.Sprint("a", i)] = true
				}
			}
		}
		var c calls
		got, err := read(t.Context(), way, build(&c, batch), pool.New(workers), "b")
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%d samples of which %v are cached, batches of %d, way %d, shape %d, keep %v, %d workers: %v", n, before, batch, way, shape, keep, workers, c.list)
		times := c.times()
		for i := range n {
			a := fmt.Sprint("a", i)
			if before[a] && times[a] != 0 || !before[a] && times[a] != 1 {
				t.Fatalf("%s: sample %d is made %d times", what, i, times[a])
			}
			want := strings.ToUpper(a) + "!"
			if shape == 1 || shape == 2 {
				want += "!"
			}
			if got[i] != want {
				t.Fatalf("%s: sample %d is %q, want %q", what, i, got[i], want)
			}
		}
		if len(c.list) > 0 && slices.Max(c.sizes()) > batch {
			t.Fatalf("%s: too large a batch", what)
		}
		if most := (n + batch - 1) / batch; shape != 4 && len(c.list) > most || len(before) == 0 && shape != 4 && len(c.list) != most {
			t.Fatalf("%s: %d calls, want %d", what, len(c.list), most)
		}
		if again, err := read(t.Context(), way, build(&c, batch), pool.New(workers), "b"); err != nil || !slices.Equal(again, got) {
			t.Fatalf("%s: then %v, %v", what, again, err)
		}
		if now := len(c.times()); keep && now > n || keep && slices.ContainsFunc(slices.Collect(mapsValues(c.times())), func(n int) bool { return n > 1 }) {
			t.Fatalf("%s: what is cached is made again: %v", what, c.list)
		}
	}
}

func mapsValues(m map[string]int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// shifted returns strings from a number on.
func shifted(n, from int) dataset.Dataset[dataset.Sample] {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewItem("txt", fmt.Sprint("a", from+i))}), nil
	})
}

// TestBatchLooksNoFurther checks that only requested samples are computed, and no unread
// items except those of the batch.
func TestBatchLooksNoFurther(t *testing.T) {
	var c calls
	ds := dataset.Map(texts(20, "a"), louder(t, 4, "a", &c, nil), dataset.MapOptions{})
	s, err := ds.At(t.Context(), 3)
	if err != nil || len(c.list) != 0 {
		t.Fatal(err, c.list)
	}
	if _, err := s.Value(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.RangesOf(ds).Range(t.Context(), 5, 11); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a3"}, {"a5", "a6", "a7", "a8"}, {"a9", "a10"}}, c.list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBatchIsNoPartOfTheKey checks that the size of batches changes no key.
func TestBatchIsNoPartOfTheKey(t *testing.T) {
	a, aerr := louder(t, 1, "a", nil, nil).Op(t.Context(), nil)
	b, berr := louder(t, 32, "a", nil, nil).Op(t.Context(), nil)
	if aerr != nil || berr != nil || a.Key() != b.Key() {
		t.Errorf("%v %v, %v %v", a, aerr, b, berr)
	}
}

// failures reads a dataset sample by sample and returns the errors by position.
func failures(t *testing.T, ds dataset.Dataset[dataset.Sample]) map[int]string {
	t.Helper()
	failed, ranges := map[int]string{}, dataset.RangesOf(ds)
	for i := 0; i < ds.Len(); {
		samples, err := ranges.Range(t.Context(), i, min(i+4, ds.Len()))
		for k, s := range samples {
			if _, err := s.Value(t.Context(), "b"); err != nil {
				failed[i+k] = err.Error()
			}
		}
		if i += len(samples); err != nil {
			failed[i] = err.Error()
			i++
		}
	}
	return failed
}

// TestBatchNamesItsFailures checks that samples that a batch reports as failed are errors
// of their own and executed once. The others are cached.
func TestBatchNamesItsFailures(t *testing.T) {
	for _, keep := range []bool{true, false} {
		s := memory.New(memory.Options{})
		bad := func(texts []string) error {
			errs := map[int]error{}
			for i, text := range texts {
				if text == "a1" || text == "a3" || text == "a6" {
					errs[i] = errors.New(text + " is bad")
				}
			}
			if len(errs) > 0 {
				return fmt.Errorf("some: %w", &dataset.PartialError{Errs: errs})
			}
			return nil
		}
		var c calls
		var stats dataset.NodeStats
		o := dataset.MapOptions{Node: "n", Larder: openOn(t, s), Keep: keep, Stats: &stats}
		got := failures(t, dataset.Map(texts(8, "a"), louder(t, 4, "a", &c, bad), o))
		want := map[int]string{1: "node n: sample 1: a1 is bad", 3: "node n: sample 3: a3 is bad", 6: "node n: sample 6: a6 is bad"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("keep %v (-want +got):\n%s", keep, diff)
		}
		for text, n := range c.times() {
			if n != 1 {
				t.Errorf("keep %v: %s is made %d times: %v", keep, text, n, c.list)
			}
		}
		if stats.Computed.Load() != 5 || stats.Failed.Load() != 3 {
			t.Errorf("keep %v: %d computed, %d failed", keep, stats.Computed.Load(), stats.Failed.Load())
		}
		if !keep {
			continue
		}
		var again calls
		o.Larder = openOn(t, s)
		failures(t, dataset.Map(texts(8, "a"), louder(t, 4, "a", &again, nil), o))
		if diff := cmp.Diff(map[string]int{"a1": 1, "a3": 1, "a6": 1}, again.times()); diff != "" {
			t.Errorf("made by the next run (-want +got):\n%s", diff)
		}
	}
}

// TestBatchThatFailsAsAWhole checks that samples of a failed batch are computed one by one
// up to the bad one, which gets the error. Later samples are batched again.
func TestBatchThatFailsAsAWhole(t *testing.T) {
	for _, keep := range []bool{true, false} {
		var c calls
		bad := func(texts []string) error {
			if slices.Contains(texts, "a2") {
				return errors.New("broken")
			}
			return nil
		}
		o := dataset.MapOptions{Node: "n", Larder: openOn(t, memory.New(memory.Options{})), Keep: keep}
		got := failures(t, dataset.Map(texts(8, "a"), louder(t, 4, "a", &c, bad), o))
		if diff := cmp.Diff(map[int]string{2: "node n: sample 2: broken"}, got); diff != "" {
			t.Errorf("keep %v (-want +got):\n%s", keep, diff)
		}
		want := [][]string{{"a0", "a1", "a2", "a3"}, {"a0", "a1"}, {"a2", "a3"}, {"a2"}, {"a3"}, {"a4", "a5", "a6"}, {"a7"}}
		if diff := cmp.Diff(want, c.list); diff != "" {
			t.Errorf("keep %v (-want +got):\n%s", keep, diff)
		}
	}
}

// TestBatchesThatAllFail checks that no sample is executed more often than its batch can be
// halved.
func TestBatchesThatAllFail(t *testing.T) {
	for _, keep := range []bool{true, false} {
		var c calls
		o := dataset.MapOptions{Node: "n", Larder: openOn(t, memory.New(memory.Options{})), Keep: keep}
		got := failures(t, dataset.Map(texts(64, "a"), louder(t, 64, "a", &c, func([]string) error { return errBad }), o))
		if len(got) != 64 {
			t.Errorf("keep %v: %d samples failed", keep, len(got))
		}
		executed := map[string]int{}
		for _, batch := range c.list {
			for _, text := range batch {
				executed[text]++
			}
		}
		for text, n := range executed {
			if n > 7 {
				t.Errorf("keep %v: %s was executed %d times", keep, text, n)
			}
		}
		if len(c.list) > 2*64 {
			t.Errorf("keep %v: %d batches", keep, len(c.list))
		}
	}
}

// TestBatchThatPanicsOrReturnsOthers checks that both are errors of the samples.
func TestBatchThatPanicsOrReturnsOthers(t *testing.T) {
	for want, together := range map[string]func(context.Context, []dataset.Sample) ([]dataset.Sample, error){
		"panic: oh no": func(context.Context, []dataset.Sample) ([]dataset.Sample, error) { panic("oh no") },
		"wrong received 1 samples but returned 2": func(context.Context, []dataset.Sample) ([]dataset.Sample, error) {
			return make([]dataset.Sample, 2), nil
		},
		"received 1 samples and reports failure of number 7": func(_ context.Context, in []dataset.Sample) ([]dataset.Sample, error) {
			return in, &dataset.PartialError{Errs: map[int]error{7: errBad}}
		},
		"wrong did not return item b": func(_ context.Context, in []dataset.Sample) ([]dataset.Sample, error) { return in, nil },
	} {
		m, err := dataset.NewTransform(dataset.TransformFunc{Name: "wrong", Code: key.Version("1"), In: []string{"a"}, Out: []string{"b"}, Batch: 3, BatchFunc: together})
		if err != nil {
			t.Fatal(err)
		}
		for _, keep := range []bool{true, false} {
			ds := dataset.Map(texts(3, "a"), m, dataset.MapOptions{Node: "n", Larder: openOn(t, memory.New(memory.Options{})), Keep: keep})
			_, err := dataset.RangesOf(ds).Range(t.Context(), 0, 3)
			if err == nil || !strings.HasPrefix(err.Error(), "node n: sample 0: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("keep %v: the error is %v, want %s", keep, err, want)
			}
		}
	}
}

// TestWrongBatches checks that wrong batches are refused at construction.
func TestWrongBatches(t *testing.T) {
	one := func(_ context.Context, s dataset.Sample) (dataset.Sample, error) { return s, nil }
	some := func(_ context.Context, s []dataset.Sample) ([]dataset.Sample, error) { return s, nil }
	for want, f := range map[string]dataset.TransformFunc{
		"BatchFunc is missing":    {Func: one, Batch: 2},
		"remove one":              {Func: one, BatchFunc: some},
		"Random is not supported": {BatchFunc: some, Random: &dataset.Random{}},
		"give 0 to 512":           {BatchFunc: some, Batch: 513},
		"Batch is -1":             {BatchFunc: some, Batch: -1},
	} {
		f.Name, f.Code = "x", key.Version("1")
		if _, err := dataset.NewTransform(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// TestBatchSharesItsCost checks that samples share the time of a call equally, and that
// each keeps its own time.
func TestBatchSharesItsCost(t *testing.T) {
	s := memory.New(memory.Options{})
	var places []dataset.Place
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "places", Code: key.Version("1"), In: []string{"a"}, Out: []string{"a"}, Batch: 4,
		BatchFunc: func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) {
			places = append(places, dataset.PlacesOf(ctx)...)
			return in, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ds := dataset.Map(texts(4, "a"), m, dataset.MapOptions{Node: "n", Larder: openOn(t, s), Keep: true})
	samples, err := dataset.RangesOf(ds).Range(t.Context(), 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	costs := map[int64]bool{}
	for _, s := range samples {
		cost, err := s.Executions()[0].Cost(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		costs[int64(cost)] = true
	}
	if len(costs) != 1 {
		t.Errorf("the costs are %v", costs)
	}
	if want := []dataset.Place{{Node: "n", Index: 0}, {Node: "n", Index: 1}, {Node: "n", Index: 2}, {Node: "n", Index: 3}}; !slices.Equal(places, want) {
		t.Errorf("the places are %v", places)
	}
}

// TestBatchesThatOverlap checks that readers in different orders and batches, of two nodes
// of which one reads the other, compute each sample once without deadlock.
func TestBatchesThatOverlap(t *testing.T) {
	draw := testrand.New(t)
	for range testrand.Rounds(20, 300) {
		l := openOn(t, memory.New(memory.Options{}))
		const n = 30
		var first, second calls
		var wait sync.WaitGroup
		errs := make([]error, 6)
		for k := range errs {
			a, b := 1+draw.IntN(9), 1+draw.IntN(9)
			indices := draw.Perm(n)
			wait.Go(func() {
				o := dataset.MapOptions{Node: "first", Larder: l, Keep: true}
				made := dataset.Map(texts(n, "a"), louder(t, a, "a", &first, nil), o)
				o.Node = "second"
				made = dataset.Map(made, louder(t, b, "b", &second, nil), o)
				shuffled, err := order.Index(n, indices)
				if err != nil {
					errs[k] = err
					return
				}
				got, err := read(t.Context(), k%3, dataset.Reorder(made, shuffled), pool.New(2), "b")
				for i, text := range got {
					if want := fmt.Sprintf("A%d!!", indices[i]); err == nil && text != want {
						err = fmt.Errorf("%s, want %s", text, want)
					}
				}
				errs[k] = err
			})
		}
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*calls{&first, &second} {
			times := c.times()
			for text, times := range times {
				if times != 1 {
					t.Fatalf("%s is made %d times", text, times)
				}
			}
			if len(times) != n {
				t.Fatalf("%d samples are made", len(times))
			}
		}
	}
}
