package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/trial"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A kind is an operator with random parameters, of numbers and to numbers.
type kind struct {
	name string
	of   func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int]
}

func sum(all []int) (n int) {
	for i, v := range all {
		n = n*31 + v + i
	}
	return n
}

func mapped[T any](s stream.Stream[T], f func(T) int) stream.Stream[int] {
	return stream.Map(s, func(_ context.Context, v T) (int, error) { return f(v), nil })
}

func pairs(s stream.Stream[stream.Pair[int, int]]) stream.Stream[int] {
	return mapped(s, func(p stream.Pair[int, int]) int {
		if p.NoA || p.NoB {
			return -p.A - p.B - 1
		}
		return p.A*1000 + p.B
	})
}

func grouped(s stream.Stream[stream.Grouped[int, int]]) stream.Stream[int] {
	return mapped(s, func(g stream.Grouped[int, int]) int { return g.Key*1000 + sum(g.Values) })
}

func positive(n int) int { return max(n, -n) % 1000 }

// joined are the numbers of a stream, by position, with those of another one that has them
// in another order.
func joined(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
	near := stream.Shuffle(stream.Enumerate(s, 0), 1+r.IntN(5), r.Uint64())
	by := func(i stream.Indexed[int]) int { return i.Index }
	j := stream.Join(stream.Enumerate(s, 0), near, stream.Joining{Buffer: 50, Rest: true}, by, by)
	return mapped(j, func(p stream.Pair[stream.Indexed[int], stream.Indexed[int]]) int { return p.A.Value*3 + p.B.Value })
}

func kinds() []kind {
	return []kind{
		{"map", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return mapped(s, func(n int) int { return n*2 + 1 })
		}},
		{"map-parallel", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.MapParallel(s, pool.New(1+r.IntN(4)), func(_ context.Context, n int) (int, error) { return n * 3, nil })
		}},
		{"filter", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Filter(s, func(_ context.Context, n int) (bool, error) { return n%3 != 0, nil })
		}},
		{"flat-map", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.FlatMap(s, func(_ context.Context, n int) ([]int, error) { return make([]int, positive(n)%4), nil })
		}},
		{"expand", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Expand(s, "numbers", func(_ context.Context, n int) (stream.Source[int], error) {
				return replaying(positive(n) % 4), nil
			})
		}},
		{"batch", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return mapped(stream.Batch(s, 1+r.IntN(4), r.IntN(2) == 0), sum)
		}},
		{"unbatch", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Unbatch(stream.Batch(s, 1+r.IntN(4), false))
		}},
		{"group", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			g := stream.Grouping{Buffer: 1 + r.IntN(6), Size: r.IntN(4), Every: r.IntN(2) * 7, AtLeast: r.IntN(2), Drop: true}
			if g.Size == 0 && g.AtLeast > 0 {
				g.AtLeast = 1
			}
			return grouped(stream.Group(s, g, func(n int) int { return positive(n) % 3 }))
		}},
		{"runs", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return grouped(stream.Runs(s, 0, func(n int) int { return positive(n) / 3 % 2 }))
		}},
		{"bucket", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			b := stream.Bucketing{Bounds: []int{3, 6}, Size: r.IntN(3), Tokens: 9 + r.IntN(9), Padding: r.IntN(2) == 0, Buffer: r.IntN(5), Drop: r.IntN(2) == 0, Every: r.IntN(2) * 5, Long: true}
			return mapped(stream.Bucket(s, b, func(n int) int { return positive(n) % 10 }), sum)
		}},
		{"shuffle", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Shuffle(s, 1+r.IntN(9), r.Uint64())
		}},
		{"zip", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return pairs(stream.Zip(s, stream.Limit(s, r.IntN(20))))
		}},
		{"zip-equal", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return pairs(stream.ZipEqual(s, s))
		}},
		{"zip-longest", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return pairs(stream.ZipLongest(stream.Limit(s, r.IntN(20)), s))
		}},
		{"join", joined},
		{"concat", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Concat(s, stream.Of[int](), stream.Of(1, 2), stream.Stream[int]{}, s)
		}},
		{"interleave", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Interleave(stream.Mixing{Longest: r.IntN(2) == 0}, s, stream.Limit(s, r.IntN(9)), stream.Of(7, 8, 9))
		}},
		{"interleave by weights", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Interleave(stream.Mixing{Weights: []float64{1, 2}, Seed: r.Uint64(), Longest: r.IntN(2) == 0}, s, stream.Limit(s, r.IntN(9)))
		}},
		{"fork", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			b := stream.Fork(s, 2, stream.Forking[int]{Elements: 1 + r.IntN(4)})
			return pairs(stream.ZipLongest(stream.Skip(b[0], r.IntN(9)), b[1]))
		}},
		{"route", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			b := stream.Route(s, 2, stream.Forking[int]{Elements: 1 + r.IntN(4)}, func(n int) int { return positive(n) % 2 })
			return pairs(stream.ZipLongest(b[0], stream.Prefetch(b[1], stream.Ahead{}, nil)))
		}},
		{"a branch that is opened later", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			b := stream.Fork(s, 2, stream.Forking[int]{})
			return stream.Concat(b[0], b[1])
		}},
		{"shard", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			n := 1 + r.IntN(4)
			return stream.Shard(s, r.IntN(n), n)
		}},
		{"prefetch", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Prefetch(s, stream.Ahead{Elements: 1 + r.IntN(4), Bytes: int64(r.IntN(200))}, nil)
		}},
		{"limit", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] { return stream.Limit(s, r.IntN(30)) }},
		{"skip", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] { return stream.Skip(s, r.IntN(9)) }},
		{"repeat", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] { return stream.Repeat(s, 1+r.IntN(3)) }},
		{"cycle", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] { return stream.Cycle(s, 1+r.IntN(3)) }},
		{"enumerate", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return mapped(stream.Enumerate(s, r.IntN(9)), func(i stream.Indexed[int]) int { return i.Index*100 + i.Value })
		}},
	}
}

func replaying(n int) stream.Source[int] {
	return stream.Source[int]{Name: "numbers", Open: func(context.Context, int64) (stream.Feed[int], error) { return &numbers{n: n}, nil }}
}

func seeking(n int) stream.Source[int] {
	return stream.Source[int]{Name: "numbers", Kind: stream.Seeks, Open: func(_ context.Context, from int64) (stream.Feed[int], error) {
		return &seekable{numbers{at: int(from) / 10, n: n}}, nil
	}}
}

type numbers struct{ at, n int }

func (f *numbers) Next(context.Context) (int, error) {
	if f.at >= f.n {
		return 0, io.EOF
	}
	f.at++
	return (f.at*7 + 1) % 11, nil
}

func (f *numbers) Close() error { return nil }

// seekable has positions that are no numbers of elements.
type seekable struct{ numbers }

func (f *seekable) Position() int64 { return int64(f.at) * 10 }

// sources are the same numbers, from sources of all kinds.
func sources(n int) map[string]stream.Stream[int] {
	var list []int
	all := &numbers{n: n}
	for v, err := all.Next(context.Background()); err == nil; v, err = all.Next(context.Background()) {
		list = append(list, v)
	}
	return map[string]stream.Stream[int]{
		"replays": stream.From(replaying(n)),
		"seeks":   stream.From(seeking(n)),
		"values":  stream.Of(list...),
		"dataset": stream.FromDataset(dataset.List(list...), ""),
		"generator": stream.FromSeq("numbers", func(context.Context) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				for _, v := range list {
					if !yield(v, nil) {
						return
					}
				}
			}
		}),
	}
}

// rest reads what is left from a state, and the states after each element.
func rest(t *testing.T, s stream.Stream[int], from stream.State) (all []int, states []stream.State) {
	t.Helper()
	r, err := s.Open(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	states = append(states, r.State())
	for v, err := range r.All(t.Context()) {
		if err != nil {
			t.Fatalf("after %v: %v", all, err)
		}
		if all = append(all, v); len(all) > 50_000 {
			t.Fatal("it does not end")
		}
		states = append(states, r.State())
	}
	if got := r.State(); got != states[len(states)-1] {
		t.Errorf("at the end the state is %s, and %s behind the last element", got, states[len(states)-1])
	}
	return all, states
}

// checkCuts holds a stream to the law: cut anywhere, it goes on as if it had not been, and
// so do the states on the way.
func checkCuts(t *testing.T, s stream.Stream[int]) (n int) {
	t.Helper()
	all, states := rest(t, s, stream.State{})
	step := 1 + len(states)/trial.Rounds(40, 1000)
	for cut := 0; cut < len(states); cut += step {
		b, err := json.Marshal(states[cut])
		if err != nil {
			t.Fatal(err)
		}
		var from stream.State
		if err := json.Unmarshal(b, &from); err != nil {
			t.Fatal(err)
		}
		left, _ := rest(t, s, from)
		if !slices.Equal(left, all[cut:]) {
			t.Fatalf("cut behind %d of %d: it goes on with\n%v instead of\n%v", cut, len(all), left, all[cut:])
		}
	}
	// A reader that was resumed has right states, too.
	if len(states) > 2 {
		cut := len(states) / 3
		_, again := rest(t, s, states[cut])
		at := len(again) / 2
		left, _ := rest(t, s, again[at])
		if !slices.Equal(left, all[cut+at:]) {
			t.Fatalf("cut behind %d, and behind %d more, of %d: it goes on with\n%v instead of\n%v", cut, at, len(all), left, all[cut+at:])
		}
	}
	return len(all)
}

// Each operator by itself, over each kind of source.
func TestCutAnywhere(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			chance := trial.Chance(t)
			some := 0
			for range trial.Rounds(3, 40) {
				seed := chance.Uint64()
				for name, s := range sources(chance.IntN(40)) {
					n := checkCuts(t, k.of(rand.New(rand.NewPCG(seed, 0)), s))
					some += n
					if t.Failed() {
						t.Fatalf("of %s", name)
					}
				}
			}
			if some == 0 {
				t.Error("no elements came in any round")
			}
		})
	}
}

// Operators of operators.
func TestCutAnywhereOfMany(t *testing.T) {
	chance, all := trial.Chance(t), kinds()
	for range trial.Rounds(60, 1000) {
		s, name := sources(chance.IntN(25))["replays"], "numbers"
		for range 2 + chance.IntN(3) {
			k := all[chance.IntN(len(all))]
			s, name = stream.Limit(k.of(chance, s), 60), k.name+" of "+name
		}
		t.Run(name, func(t *testing.T) { checkCuts(t, s) })
	}
}

// A shuffle of many elements is resumed by reading a part of them.
func TestShuffleIsResumedFromWhereItsOldestElementWas(t *testing.T) {
	const n, size = 20_000, 50
	asked := 0
	source := stream.FromDataset(dataset.Func(n, func(_ context.Context, i int) (int, error) { asked++; return i, nil }), "")
	s := stream.Shuffle(source, size, 3)
	all, states := rest(t, s, stream.State{})
	if !slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(rangeOf(n)))) {
		t.Fatal("some elements are missing or there twice")
	}
	for _, cut := range []int{1, 49, 500, 9_999, 19_900, 19_990, n - 1} {
		asked = 0
		r, err := s.Open(t.Context(), states[cut])
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Next(t.Context())
		if err != nil || v != all[cut] {
			t.Errorf("behind %d comes %d, %v instead of %d", cut, v, err, all[cut])
		}
		if asked > 15*size {
			t.Errorf("behind %d, %d elements were read for one", cut, asked)
		}
		r.Close()
	}
	for _, s := range states {
		if n := len(s.String()); n > 60 {
			t.Fatalf("a state takes %d bytes", n)
		}
	}
}

func rangeOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// A state of another stream is refused with what differs.
func TestStatesOfOtherStreams(t *testing.T) {
	s := func(size int, seed uint64) stream.Stream[[]int] {
		return stream.Batch(stream.Shuffle(stream.Of(1, 2, 3, 4, 5), size, seed), 2, false)
	}
	r, err := s(3, 1).Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		other stream.Stream[[]int]
		want  string
	}{
		{s(4, 1), "shuffle(size=4 seed=1)"},
		{s(3, 2), "shuffle(size=3 seed=2)"},
		{stream.Batch(stream.Of(1, 2, 3, 4, 5), 2, false), "values("},
		{stream.Batch(stream.Shuffle(stream.Of(1, 2, 3, 4), 3, 1), 2, false), "values(len=4"},
		{stream.Batch(stream.Shuffle(stream.Of(1, 2, 3, 4, 5), 3, 1), 3, false), "batch(n=3"},
	} {
		_, err := c.other.Open(t.Context(), r.State())
		if _, ok := errors.AsType[*stream.StateError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, which does not say %s", err, c.want)
		}
	}
}

// FuzzState: no text but that of a state is one, and whatever it says, nothing panics.
func FuzzState(f *testing.F) {
	s := stream.Batch(stream.Shuffle(stream.Of(rangeOf(50)...), 5, 1), 2, false)
	r, err := s.Open(f.Context(), stream.State{})
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	for range 9 {
		if _, err := r.Next(f.Context()); err != nil {
			f.Fatal(err)
		}
		f.Add(r.State().String(), uint8(0), uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, at, to uint8) {
		state, err := stream.ParseState(text)
		if err != nil {
			return
		}
		if state.String() != text {
			t.Fatalf("%q is read as %q", text, state)
		}
		r, err := s.Open(t.Context(), stream.Damaged(state, int(at), to))
		if err != nil {
			return
		}
		defer r.Close()
		n := 0
		for _, err := range r.All(t.Context()) {
			if n++; err != nil || n > 100 {
				break
			}
		}
	})
}

func fixed(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 9)) }
