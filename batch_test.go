package larder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
	"github.com/larder-data/larder/store/memory"
	"pgregory.net/rapid"
)

// squares returns one call, with its own key, for each number.
func squares(t testing.TB, numbers ...int) (calls []larder.Call[[]int]) {
	t.Helper()
	for _, n := range numbers {
		calls = append(calls, larder.Call[[]int]{
			Action:  action(t, "square", n),
			Compute: func(context.Context) ([]int, error) { return []int{n * n}, nil },
		})
	}
	return calls
}

func numbers(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

// passes counts the requests to a store.
type passes struct {
	store.Store
	many, one, puts atomic.Int64
}

func (p *passes) Get(ctx context.Context, k key.Key) (store.Record, error) {
	p.one.Add(1)
	return p.Store.Get(ctx, k)
}

func (p *passes) GetWithoutRefresh(ctx context.Context, k key.Key) (store.Record, error) {
	p.one.Add(1)
	return p.Store.GetWithoutRefresh(ctx, k)
}

func (p *passes) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	p.many.Add(1)
	return p.Store.GetMany(ctx, keys)
}

func (p *passes) Put(ctx context.Context, records ...store.Record) error {
	p.puts.Add(1)
	return p.Store.Put(ctx, records...)
}

// TestABatchMakesWhatIsMissing checks that a batch with 900 of 1000 values cached computes the others in one call, in
// order, and stores them in one write.
func TestABatchMakesWhatIsMissing(t *testing.T) {
	s := &passes{Store: memory.New(memory.Options{})}
	all, cached := numbers(0, 1000), []int{}
	for _, n := range all {
		if n%10 != 3 {
			cached = append(cached, n)
		}
	}
	if _, errs := (larder.Batch[[]int]{Calls: squares(t, cached...)}).Do(t.Context(), open(t, s)); errs != nil {
		t.Fatal(errs)
	}
	s.many.Store(0)
	s.one.Store(0)
	s.puts.Store(0)
	var asked [][]int
	b := larder.Batch[[]int]{Calls: squares(t, all...), Compute: func(_ context.Context, missing []int) (values [][]int, err error) {
		asked = append(asked, missing)
		for _, i := range missing {
			values = append(values, []int{all[i] * all[i]})
		}
		return values, nil
	}}
	for _, l := range []*larder.Larder{open(t, s), open(t, s)} { // the second Larder finds all values in the store
		results, errs := b.Do(t.Context(), l)
		if errs != nil {
			t.Fatal(errs)
		}
		for i, r := range results {
			if !slices.Equal(r.Value, []int{i * i}) {
				t.Fatalf("%d came out as %v", i, r.Value)
			}
			if want := len(asked) == 1 && i%10 == 3 && l.Metrics().Computed > 0; (r.From == larder.Computed) != want {
				t.Errorf("%d is from %v", i, r.From)
			}
		}
	}
	if len(asked) != 1 || len(asked[0]) != 100 || !slices.IsSorted(asked[0]) {
		t.Errorf("requested %v", asked)
	}
	if s.many.Load() != 3 || s.one.Load() != 0 || s.puts.Load() != 1 {
		t.Errorf("%d passes, %d single looks, %d writes; want 3, 0 and 1", s.many.Load(), s.one.Load(), s.puts.Load())
	}
}

// TestABatchOfOneKeyTwice checks that a repeated key is computed once and that each call gets its own copy.
func TestABatchOfOneKeyTwice(t *testing.T) {
	for _, o := range []larder.Options{{}, {MemoryBytes: -1}} {
		o.Store = memory.New(memory.Options{})
		l, err := larder.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		results, errs := larder.Batch[[]int]{Calls: squares(t, 2, 3, 2, 2)}.Do(t.Context(), l)
		if errs != nil || l.Metrics().Computed != 2 {
			t.Fatal(errs, l.Metrics().Computed)
		}
		results[0].Value[0] = -1
		if results[2].Value[0] != 4 || results[3].Value[0] != 4 {
			t.Errorf("they share a value: %v", results)
		}
	}
}

var errOdd = errors.New("odd")

// TestABatchThatFailsInPart checks that the results that did not fail are stored.
func TestABatchThatFailsInPart(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	b := larder.Batch[[]int]{Calls: squares(t, 0, 1, 2, 3), Compute: func(_ context.Context, missing []int) (values [][]int, err error) {
		errs := map[int]error{}
		for j, i := range missing {
			if values = append(values, []int{i * i}); i%2 == 1 {
				errs[j] = errOdd
			}
		}
		return values, &larder.PartialError{Errs: errs}
	}}
	results, errs := b.Do(t.Context(), l)
	for i, r := range results {
		if i%2 == 0 && (errs[i] != nil || r.Value[0] != i*i) || i%2 == 1 && !errors.Is(errs[i], errOdd) {
			t.Errorf("%d: %v, %v", i, r.Value, errs[i])
		}
	}
	b.Compute = func(context.Context, []int) ([][]int, error) { return nil, errOdd }
	if _, errs := b.Do(t.Context(), l); errs[0] != nil || errs[2] != nil || errs[1] == nil || errs[3] == nil {
		t.Errorf("what was made is not cached, or what failed is: %v", errs)
	}
	b.Compute = func(context.Context, []int) ([][]int, error) { return make([][]int, 1), nil }
	if _, errs := b.Do(t.Context(), l); errs[1] == nil || !strings.Contains(errs[1].Error(), "a batch of 2 was requested, but 1 values were returned") {
		t.Errorf("too few values: %v", errs)
	}
	b.Compute = func(context.Context, []int) ([][]int, error) { panic("no") }
	if _, errs := b.Do(t.Context(), l); errs[1] == nil || !strings.Contains(errs[1].Error(), "panic: no") {
		t.Errorf("a panic: %v", errs)
	}
}

// TestABatchThatLeavesSome checks that calls a batch did not start do not count as executions. A caller that waits for
// one of them computes it.
func TestABatchThatLeavesSome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, memory.New(memory.Options{}))
		b := larder.Batch[[]int]{Calls: squares(t, 0, 1, 2, 3), Compute: func(context.Context, []int) ([][]int, error) {
			time.Sleep(time.Second)
			return make([][]int, 4), &larder.PartialError{Errs: map[int]error{1: errOdd, 2: larder.ErrDeferred, 3: fmt.Errorf("later: %w", larder.ErrDeferred)}}
		}}
		var waiter sync.WaitGroup
		waiter.Go(func() {
			time.Sleep(time.Second / 2)
			if r, err := squares(t, 2)[0].Do(t.Context(), l); err != nil || r.Value[0] != 4 {
				t.Errorf("the caller that waited for one that was not begun got %v, %v", r.Value, err)
			}
		})
		results, errs := b.Do(t.Context(), l)
		if m := l.Metrics(); results[0].Cost != time.Second/2 || m.Failed != 1 || m.Computed < 2 || m.Computed > 3 {
			t.Errorf("cost %v, %d failed of %d", results[0].Cost, m.Failed, m.Computed)
		}
		if !errors.Is(errs[1], errOdd) || !errors.Is(errs[2], larder.ErrDeferred) || !errors.Is(errs[3], larder.ErrDeferred) {
			t.Error(errs)
		}
		if waiter.Wait(); l.Metrics().Computed != 3 {
			t.Errorf("%d executions", l.Metrics().Computed)
		}
	})
}

// TestABatchStopsAtAFailure checks that a batch starts nothing after a failure. A caller that waits for a later call
// computes it.
func TestABatchStopsAtAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, memory.New(memory.Options{}))
		calls := squares(t, 0, 1, 2)
		calls[1].Compute = func(context.Context) ([]int, error) {
			time.Sleep(time.Second)
			return nil, errOdd
		}
		var waiter sync.WaitGroup
		waiter.Go(func() {
			time.Sleep(time.Second / 2) // the batch is in its second call
			if r, err := squares(t, 2)[0].Do(t.Context(), l); err != nil || r.Value[0] != 4 {
				t.Errorf("the caller that waited got %v, %v", r.Value, err)
			}
		})
		results, errs := larder.Batch[[]int]{Calls: calls}.Do(t.Context(), l)
		if errs == nil || errs[0] != nil || results[0].Value[0] != 0 || !errors.Is(errs[1], errOdd) || !errors.Is(errs[2], larder.ErrDeferred) {
			t.Errorf("%v, %v", results, errs)
		}
		waiter.Wait()
		if got := l.Metrics().Computed; got != 3 {
			t.Errorf("%d computations, want 3", got)
		}
	})
}

// TestABatchHasPatience checks that a batch starts nothing after its patience ends.
func TestABatchHasPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := squares(t, 0, 1, 2)
		calls[1].Compute = func(context.Context) ([]int, error) {
			time.Sleep(time.Second)
			return []int{1}, nil
		}
		_, errs := larder.Batch[[]int]{Calls: calls, Patience: time.Second / 2}.Do(t.Context(), open(t, memory.New(memory.Options{})))
		if errs == nil || errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], larder.ErrDeferred) {
			t.Error(errs)
		}
	})
}

// TestABatchOfWhatIsResolved checks early cutoff: an unchanged input leads to the results computed from it.
func TestABatchOfWhatIsResolved(t *testing.T) {
	s := &passes{Store: memory.New(memory.Options{})}
	var runs atomic.Int64
	ask := func(version string) []larder.Result[string] {
		b := larder.Batch[string]{}
		for n := range 10 {
			op, err := key.NewOp("of", key.Version("1"))
			if err != nil {
				t.Fatal(err)
			}
			b.Calls = append(b.Calls, larder.Call[string]{
				Action:  op.Action(key.Input{Name: "x", Ref: key.Result(action(t, "x", version, n).Key(), "")}),
				Compute: func(context.Context) (string, error) { runs.Add(1); return fmt.Sprint("of ", n/2), nil },
				Resolve: func(context.Context) ([]key.Input, error) {
					return []key.Input{{Name: "x", Ref: key.Content(key.DigestOf([]byte{byte(n / 2)}))}}, nil
				},
			})
		}
		prepared := 0
		b.Prepare = func(_ context.Context, calls []int) { prepared += len(calls) }
		results, errs := b.Do(t.Context(), open(t, s))
		if errs != nil {
			t.Fatal(errs)
		}
		for n, r := range results {
			if r.Value != fmt.Sprint("of ", n/2) {
				t.Errorf("%d is %q", n, r.Value)
			}
		}
		if prepared != 0 && prepared != 10 {
			t.Errorf("prepared %d", prepared)
		}
		return results
	}
	ask("1")
	ask("2") // other computations with the same content
	if runs.Load() != 5 {
		t.Errorf("%d computations, want 5", runs.Load())
	}
	s.puts.Store(0)
	if r := ask("2"); r[0].From != larder.FromStore || runs.Load() != 5 || s.puts.Load() != 0 {
		t.Errorf("the links are not there: from %v, %d computations, %d writes", r[0].From, runs.Load(), s.puts.Load())
	}
}

// TestABatchOfWhatReadsFiles checks that each value depends on the files that its own computation read. Values computed
// together depend on all files read.
func TestABatchOfWhatReadsFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "1")
	write("b", "1")
	s := memory.New(memory.Options{})
	for _, joint := range []bool{false, true} {
		ask := func() (computed int64) {
			b := larder.Batch[string]{}
			read := func(ctx context.Context, name string) (string, error) {
				text, err := larder.ReadFile(ctx, filepath.Join(dir, name))
				return string(text), err
			}
			for _, name := range []string{"a", "b"} {
				b.Calls = append(b.Calls, larder.Call[string]{
					Action:  action(t, "read", name, joint),
					Compute: func(ctx context.Context) (string, error) { return read(ctx, name) },
				})
			}
			if joint {
				b.Compute = func(ctx context.Context, missing []int) (values []string, err error) {
					for _, i := range missing {
						v, err := read(ctx, string(rune('a'+i)))
						if err != nil {
							return nil, err
						}
						values = append(values, v)
					}
					return values, nil
				}
			}
			l := open(t, s)
			results, errs := b.Do(t.Context(), l)
			if errs != nil {
				t.Fatal(errs)
			}
			for i, name := range []string{"a", "b"} {
				if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || results[i].Value != string(text) {
					t.Errorf("joint %v: %s is %q: %v", joint, name, results[i].Value, err)
				}
			}
			return l.Metrics().Computed
		}
		want := int64(1)
		if joint {
			want = 2
		}
		if n := ask(); n != 2 {
			t.Errorf("joint %v: %d computed first", joint, n)
		}
		if n := ask(); n != 0 {
			t.Errorf("joint %v: %d computed again", joint, n)
		}
		write("a", "2"+fmt.Sprint(joint))
		if n := ask(); n != want {
			t.Errorf("joint %v: %d computed after a change, want %d", joint, n, want)
		}
	}
}

// TestABatchThatIsGivenUp checks that a canceled batch returns immediately and does not store later results.
func TestABatchThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, memory.New(memory.Options{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls := squares(t, 0, 1)
		calls[0].Compute = func(ctx context.Context) ([]int, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return []int{-1}, nil
		}
		start := time.Now()
		_, errs := larder.Batch[[]int]{Calls: calls}.Do(ctx, l)
		if errs == nil || !errors.Is(errs[0], context.DeadlineExceeded) || !errors.Is(errs[1], context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Error(errs, time.Since(start))
		}
		if r, err := squares(t, 0)[0].Do(t.Context(), l); err != nil || r.Value[0] != 0 {
			t.Errorf("what came too late was cached: %v, %v", r.Value, err)
		}
	})
}

// TestBatchesThatNeedEachOther checks that the cycle is reported instead of blocking.
func TestBatchesThatNeedEachOther(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	calls := squares(t, 1, 2)
	calls[0].Compute = func(ctx context.Context) ([]int, error) {
		r, err := squares(t, 2)[0].Do(ctx, l)
		return r.Value, err
	}
	if _, errs := (larder.Batch[[]int]{Calls: calls}).Do(t.Context(), l); errs == nil || !errors.Is(errs[0], larder.ErrCycle) {
		t.Error(errs)
	}
}

// TestCachedOnlyBatch checks that a dry batch computes nothing.
func TestCachedOnlyBatch(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	if _, errs := (larder.Batch[[]int]{Calls: squares(t, 1)}).Do(t.Context(), l); errs != nil {
		t.Fatal(errs)
	}
	results, errs := larder.Batch[[]int]{Calls: squares(t, 1, 2)}.Do(larder.CachedOnly(t.Context()), l)
	if errs == nil || errs[0] != nil || results[0].Value[0] != 1 || !errors.Is(errs[1], larder.ErrNotCached) {
		t.Error(results, errs)
	}
}

// TestOverlappingBatches checks that each key is computed once. Goroutines request random sets of keys in random orders,
// singly and as batches of both kinds.
func TestOverlappingBatches(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const keys = 12
		l := open(t, memory.New(memory.Options{}))
		var runs [keys]atomic.Int64
		var wait sync.WaitGroup
		for range rapid.IntRange(2, 8).Draw(rt, "goroutines") {
			wants := rapid.SliceOfN(rapid.IntRange(0, keys-1), 1, 2*keys).Draw(rt, "keys")
			how := rapid.IntRange(0, 2).Draw(rt, "how")
			wait.Go(func() {
				b := larder.Batch[[]int]{}
				make := func(n int) []int {
					runs[n].Add(1)
					return []int{n}
				}
				for _, n := range wants {
					b.Calls = append(b.Calls, larder.Call[[]int]{
						Action:  action(t, "n", n),
						Compute: func(context.Context) ([]int, error) { return make(n), nil },
					})
				}
				if how == 1 {
					b.Compute = func(_ context.Context, missing []int) (values [][]int, err error) {
						for _, i := range missing {
							values = append(values, make(wants[i]))
						}
						return values, nil
					}
				}
				if how == 2 {
					for i, n := range wants {
						if r, err := b.Calls[i].Do(t.Context(), l); err != nil || r.Value[0] != n {
							t.Errorf("%d: %v, %v", n, r.Value, err)
						}
					}
					return
				}
				results, errs := b.Do(t.Context(), l)
				for i, n := range wants {
					if errs != nil || results[i].Value[0] != n {
						t.Errorf("%d: %v, %v", n, results[i].Value, errs)
					}
				}
			})
		}
		wait.Wait()
		for n := range runs {
			if got := runs[n].Load(); got > 1 {
				rt.Errorf("%d was made %d times", n, got)
			}
		}
	})
}

// batchChild runs as a process of TestOverlappingBatchesOfProcesses: it requests batches of random keys and prints those
// it computes.
func batchChild(dir, seed string) int {
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return fail(err)
	}
	rnd := rand.New(rand.NewPCG(n, 0))
	l, err := larder.Open(larder.Options{Dir: dir})
	if err != nil {
		return fail(err)
	}
	defer l.Close()
	for range 40 {
		b := larder.Batch[int]{}
		wants := rnd.Perm(400)[:1+rnd.IntN(100)]
		for _, n := range wants {
			a, err := key.NewAction("n", key.Version("1"), n)
			if err != nil {
				return fail(err)
			}
			b.Calls = append(b.Calls, larder.Call[int]{Action: a})
		}
		b.Compute = func(_ context.Context, missing []int) (values []int, err error) {
			var output bytes.Buffer
			for _, i := range missing {
				values = append(values, wants[i])
				fmt.Fprintln(&output, wants[i])
			}
			_, err = os.Stdout.Write(output.Bytes())
			return values, err
		}
		results, errs := b.Do(context.Background(), l)
		for i, n := range wants {
			if errs != nil || results[i].Value != n {
				return fail(fmt.Errorf("%d came out as %d: %v", n, results[i].Value, errs))
			}
		}
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestOverlappingBatchesOfProcesses checks that eight processes with overlapping sets of keys, each in its own order,
// never deadlock and compute each key once.
func TestOverlappingBatchesOfProcesses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // processes that wait for each other fail
	defer cancel()
	var made, stderr [8]bytes.Buffer
	var wait sync.WaitGroup
	for i := range made {
		wait.Go(func() {
			cmd := exec.CommandContext(ctx, exe)
			cmd.Env = append(os.Environ(), "LARDER_TEST_BATCHES="+dir, "LARDER_TEST_SEED="+strconv.Itoa(i))
			cmd.Stdout, cmd.Stderr = &made[i], &stderr[i]
			if err := cmd.Run(); err != nil {
				t.Errorf("process %d: %v: %s", i, err, &stderr[i])
			}
		})
	}
	wait.Wait()
	times := map[string]int{}
	for i := range made {
		for line := range strings.Lines(made[i].String()) {
			times[line]++
		}
	}
	if len(times) < 390 {
		t.Errorf("only %d of 400 keys were requested", len(times))
	}
	for n, k := range times {
		if k != 1 {
			t.Errorf("%s was made %d times", strings.TrimSpace(n), k)
		}
	}
}

// late is a store to which another process writes just before a lease is acquired.
type late struct {
	store.Store
	before func()
}

func (s *late) TryLease(ctx context.Context, keys []key.Key) ([]bool, func(), error) {
	s.before()
	return s.Store.TryLease(ctx, keys)
}

// TestABatchLooksAgainOnceItHasItsLeases checks that a batch does not compute values that another process stored before
// it acquired its leases.
func TestABatchLooksAgainOnceItHasItsLeases(t *testing.T) {
	s := memory.New(memory.Options{})
	other := open(t, s)
	l := open(t, &late{s, func() {
		if _, errs := (larder.Batch[[]int]{Calls: squares(t, 1, 2)}).Do(t.Context(), other); errs != nil {
			t.Error(errs)
		}
	}})
	results, errs := larder.Batch[[]int]{Calls: squares(t, 1, 2, 3)}.Do(t.Context(), l)
	if errs != nil || l.Metrics().Computed != 1 || results[1].From != larder.FromStore || results[2].From != larder.Computed {
		t.Error(results, errs)
	}
}

// countingStore is a store that counts passes and reports new records.
type countingStore struct {
	passes
	counter store.ChangeCounter
	before  func()
}

func (s *countingStore) Changes(look bool) uint64 { return s.counter.Changes(look) }

func (s *countingStore) TryLease(ctx context.Context, keys []key.Key) ([]bool, func(), error) {
	s.before()
	return s.Store.TryLease(ctx, keys)
}

// TestABatchLooksAgainOnlyIfThereIsNews checks that a batch scans the store once if nothing new was stored. It finds a
// record that another process stored just before the leases were acquired, even the first of the directory.
func TestABatchLooksAgainOnlyIfThereIsNews(t *testing.T) {
	dir := t.TempDir()
	other := open(t, opened(t, dir))
	on := opened(t, dir)
	news := []int{}
	s := &countingStore{passes: passes{Store: on}, counter: on, before: func() {
		if _, errs := (larder.Batch[[]int]{Calls: squares(t, news...)}).Do(t.Context(), other); errs != nil {
			t.Error(errs)
		}
	}}
	l := open(t, s)
	for i, c := range []struct {
		news, all           []int
		passes, made, found int64
	}{
		{[]int{1}, []int{1, 2}, 2, 1, 1},
		{nil, []int{3, 4}, 1, 2, 0},
		{[]int{7}, []int{5, 6}, 2, 2, 0},
		{[]int{8, 9}, []int{8, 9, 10}, 2, 1, 2},
		{nil, []int{7, 11}, 1, 1, 1},
	} {
		news = c.news
		s.many.Store(0)
		before := l.Metrics()
		if _, errs := (larder.Batch[[]int]{Calls: squares(t, c.all...)}).Do(t.Context(), l); errs != nil {
			t.Fatal(errs)
		}
		m := l.Metrics()
		if passes, made, found := s.many.Load(), m.Computed-before.Computed, m.StoreHits-before.StoreHits; passes != c.passes || made != c.made || found != c.found {
			t.Errorf("batch %d: %d passes, %d made and %d found, want %d, %d, %d", i, passes, made, found, c.passes, c.made, c.found)
		}
	}
}

func opened(t *testing.T, dir string) *disk.Store {
	t.Helper()
	s, err := disk.Open(disk.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestASmallResultOfABatchIsHeldOnceItIsAskedFor checks that results do not accumulate in memory before they are
// requested, and that results the store cannot take stay in memory.
func TestASmallResultOfABatchIsHeldOnceItIsAskedFor(t *testing.T) {
	small := func(l *larder.Larder) (from larder.From) {
		results, errs := larder.Batch[[]int]{Calls: squares(t, 7)}.Do(t.Context(), l)
		if errs != nil {
			t.Fatal(errs)
		}
		return results[0].From
	}
	for _, c := range []struct {
		name string
		in   store.Store
		want []larder.From
	}{
		{"a store", memory.New(memory.Options{}), []larder.From{larder.Computed, larder.FromStore, larder.FromMemory}},
		{"a full store", full{memory.New(memory.Options{})}, []larder.From{larder.Computed, larder.FromMemory, larder.FromMemory}},
	} {
		l := open(t, c.in)
		if got := []larder.From{small(l), small(l), small(l)}; !slices.Equal(got, c.want) {
			t.Errorf("%s: from %v, want %v", c.name, got, c.want)
		}
	}
	l := open(t, memory.New(memory.Options{}))
	large := larder.Call[[]byte]{Action: action(t, "large"), Compute: func(context.Context) ([]byte, error) { return make([]byte, 2<<10), nil }}
	for _, want := range []larder.From{larder.Computed, larder.FromMemory} {
		results, errs := larder.Batch[[]byte]{Calls: []larder.Call[[]byte]{large}}.Do(t.Context(), l)
		if errs != nil || results[0].From != want {
			t.Errorf("2 KiB are from %v, want %v: %v", results[0].From, want, errs)
		}
	}
}

// TestABatchWhoseParametersChange checks that no result of an operation with a changed parameter is stored, and all
// results of another operation are.
func TestABatchWhoseParametersChange(t *testing.T) {
	s := memory.New(memory.Options{})
	l, log := logging(t, s)
	list := []int{3, 1, 2}
	first, err := key.NewOp("first", key.Version("1"), key.Param{Name: "list", Value: list})
	if err != nil {
		t.Fatal(err)
	}
	var b larder.Batch[[]int]
	for i := range 4 {
		a, err := first.Call(i)
		if err != nil {
			t.Fatal(err)
		}
		b.Calls = append(b.Calls, larder.Call[[]int]{Action: a, Compute: func(context.Context) ([]int, error) {
			if i == 2 {
				slices.Sort(list)
			}
			return list[:1], nil
		}})
	}
	b.Calls = append(b.Calls, squares(t, 5)...)
	results, errs := b.Do(t.Context(), l)
	if errs != nil || !strings.Contains(log.String(), "a parameter has changed") {
		t.Errorf("%v: %s", errs, log)
	}
	for i, c := range b.Calls {
		cached, err := s.Has(t.Context(), c.Action.Key())
		if want := i == 4; cached != want || (results[i].Uncached == nil) != want || err != nil {
			t.Errorf("%d is cached: %v, uncached: %v, error: %v", i, cached, results[i].Uncached, err)
		}
	}
}
