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
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sources returns the same numbers from sources of all kinds.
func sources(n int) map[string]stream.Stream[int] {
	var list []int
	all := &numbers{n: n}
	for v, err := all.Next(context.Background()); err == nil; v, err = all.Next(context.Background()) {
		list = append(list, v)
	}
	return map[string]stream.Stream[int]{
		"replays": stream.From(replaying(n)),
		"seeks":   stream.From(seeking(n)),
		"skips":   stream.From(skipping(n, new(int))),
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

// rest reads the remaining elements from a state, and the state after each.
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

// checkCuts checks that a stream cut anywhere continues as if it were not cut, and that its
// states do too.
func checkCuts(t *testing.T, s stream.Stream[int]) (n int) {
	t.Helper()
	all, states := rest(t, s, stream.State{})
	step := 1 + len(states)/testrand.Rounds(40, 1000)
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
	// The states of a resumed reader are right, too.
	for _, cut := range []int{1, len(states) / 3, len(states) * 2 / 3} {
		if cut >= len(states) {
			continue
		}
		_, again := rest(t, s, states[cut])
		for _, at := range []int{len(again) / 4, len(again) / 2} {
			left, _ := rest(t, s, again[at])
			if !slices.Equal(left, all[cut+at:]) {
				t.Fatalf("cut behind %d, and behind %d more, of %d: it goes on with\n%v instead of\n%v", cut, at, len(all), left, all[cut+at:])
			}
		}
	}
	return len(all)
}

// TestCutAnywhere checks each operator separately, over each kind of source.
func TestCutAnywhere(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			random := testrand.New(t)
			some := 0
			for range testrand.Rounds(3, 40) {
				seed := random.Uint64()
				for name, s := range sources(random.IntN(40)) {
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

// TestCutAnywhereOfMany checks operators of operators.
func TestCutAnywhereOfMany(t *testing.T) {
	random, all := testrand.New(t), kinds()
	for range testrand.Rounds(60, 1000) {
		s, name := sources(random.IntN(25))["replays"], "numbers"
		for range 2 + random.IntN(3) {
			k := all[random.IntN(len(all))]
			s, name = stream.Limit(k.of(random, s), 60), k.name+" of "+name
		}
		t.Run(name, func(t *testing.T) { checkCuts(t, s) })
	}
}

// TestShuffleIsResumedFromWhereItsOldestElementWas checks that resuming a shuffle of many
// elements reads only part of them.
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

// TestStatesOfOtherStreams checks that a state of another stream is refused with the
// difference.
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

// TestInputsThatAreShorterNow checks that an input that became shorter than its state is an
// error, not a silent end.
func TestInputsThatAreShorterNow(t *testing.T) {
	long, short := stream.Shuffle(stream.From(replaying(30)), 5, 1), stream.Shuffle(stream.From(replaying(20)), 5, 1)
	_, states := rest(t, long, stream.State{})
	for _, cut := range []int{22, 29} {
		r, err := short.Open(t.Context(), states[cut])
		if err != nil {
			t.Fatal(err)
		}
		if v, err := r.Next(t.Context()); err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "behind the end") {
			t.Errorf("behind %d comes %d, %v", cut, v, err)
		}
		r.Close()
	}
}

// TestLiveSources checks that only the beginning of a live source is a state, because it
// cannot be read again.
func TestLiveSources(t *testing.T) {
	live := replaying(5)
	live.Kind = stream.Live
	s := mapped(stream.Batch(stream.From(live), 2, false), sum)
	_, states := rest(t, s, stream.State{})
	for i, state := range states {
		r, err := s.Open(t.Context(), state)
		if err == nil {
			r.Close()
		}
		if (i > 0) != errors.Is(err, stream.ErrLive) {
			t.Errorf("behind %d batches: %v", i, err)
		}
	}
}

// TestStatesAreSmall checks that states stay small, whatever operators hold.
func TestStatesAreSmall(t *testing.T) {
	s := stream.From(replaying(100_000))
	s = stream.Unbatch(stream.Batch(stream.Prefetch(stream.Shuffle(stream.Filter(mapped(s, func(n int) int { return n + 1 }), func(context.Context, int) (bool, error) { return true, nil }), 10_000, 1), stream.Ahead{}, nil), 32, false))
	r, err := s.Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	most := 0
	for _, err := range r.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(r.State().String()))
	}
	t.Logf("%d bytes at most", most)
	if most > 100 {
		t.Errorf("a state of seven operators takes %d bytes", most)
	}
}

// FuzzState checks that only strings returned as states are accepted, and that no string
// causes a panic.
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
