package stream_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/stream"
)

// shown returns the elements of a stream as a string, followed by its error.
func shown[T any](s stream.Stream[T]) string {
	var all []string
	for v, err := range s.All(context.Background()) {
		if err != nil {
			all = append(all, "error: "+err.Error())
			break
		}
		all = append(all, fmt.Sprint(v))
	}
	return strings.Join(all, " ")
}

func double(_ context.Context, n int) (int, error) { return 2 * n, nil }

func odd(_ context.Context, n int) (bool, error) { return n%2 == 1, nil }

func letter(s string) string { return s[:1] }

func length(s string) int { return len(s) }

func key(p pair) string { return p.key }

type pair struct {
	key   string
	value int
}

// TestConformance checks the documented behaviour of torchdata's pipes. It gives the reason
// where these operators differ on purpose.
func TestConformance(t *testing.T) {
	numbers := stream.Of(0, 1, 2, 3, 4, 5, 6)
	words := stream.Of("a1", "b1", "a2", "c1", "a3", "b2")
	for _, c := range []struct {
		pipe string
		note string // the difference
		got  string
		want string
	}{
		{"IterableWrapper", "it is not copied for each reader: elements are not to be changed", shown(numbers), "0 1 2 3 4 5 6"},
		{"Mapper", "", shown(stream.Map(numbers, double)), "0 2 4 6 8 10 12"},
		{"BatchMapper", "a map of batches", shown(stream.Unbatch(stream.Map(stream.Batch(numbers, 3, false), func(_ context.Context, b []int) ([]int, error) { slices.Reverse(b); return b, nil }))), "2 1 0 5 4 3 6"},
		{"ThreadPoolMapper", "", shown(stream.MapParallel(numbers, pool.New(3), double)), "0 2 4 6 8 10 12"},
		{"FlatMapper", "", shown(stream.FlatMap(numbers, func(_ context.Context, n int) ([]int, error) { return []int{n, n}[:n%3], nil })), "1 2 2 4 5 5"},
		{"Filter", "a function returns a bool by its type; nothing is dropped because it is empty", shown(stream.Filter(numbers, odd)), "1 3 5"},
		{"Enumerator", "", shown(stream.Enumerate(stream.Of("a", "b"), 1)), "{1 a} {2 b}"},
		{"Header", "it reads no element beyond those that it returns", shown(stream.Limit(numbers, 2)), "0 1"},
		{"Cycler", "a stream without elements ends, where a cycler runs for ever", shown(stream.Cycle(stream.Of(1, 2), 2)) + ";" + shown(stream.Cycle(stream.Of[int](), 0)), "1 2 1 2;"},
		{"Repeater", "once is taken, too", shown(stream.Repeat(stream.Of(1, 2), 2)) + ";" + shown(stream.Repeat(stream.Of(1, 2), 1)), "1 1 2 2;1 2"},

		{"Batcher", "", shown(stream.Batch(numbers, 3, false)), "[0 1 2] [3 4 5] [6]"},
		{"Batcher drop_last", "", shown(stream.Batch(numbers, 3, true)), "[0 1 2] [3 4 5]"},
		{"UnBatcher", "a level at a time, by type", shown(stream.Unbatch(stream.Unbatch(stream.Of([][]int{{1}, {2, 3}}, nil, [][]int{{}, {4}})))), "1 2 3 4"},
		{"Grouper", "what is left comes in the order in which it began, and not the largest first", shown(stream.Group(words, stream.Grouping{}, letter)), "{a [a1 a2 a3]} {b [b1 b2]} {c [c1]}"},
		{"Grouper group_size", "", shown(stream.Group(words, stream.Grouping{Size: 2}, letter)), "{a [a1 a2]} {b [b1 b2]} {c [c1]} {a [a3]}"},
		{"Grouper keep_key of a full buffer", "the group that leaves has its own key, and not that of the element at hand", shown(stream.Group(words, stream.Grouping{Buffer: 3}, letter)), "{a [a1 a2]} {b [b1]} {c [c1]} {a [a3]} {b [b2]}"},
		{"Grouper guaranteed_group_size", "it does not depend on size", shown(stream.Group(words, stream.Grouping{Buffer: 4, AtLeast: 2}, letter)), "{a [a1 a2]} {b [b1 b2]} error: group: element 5: a group with too few elements must be returned; raise Buffer, or set Drop: the group c has 1 of 2"},
		{"Grouper drop_remaining", "", shown(stream.Group(words, stream.Grouping{AtLeast: 2, Drop: true}, letter)), "{a [a1 a2 a3]} {b [b1 b2]}"},
		{"BucketBatcher", "buckets have bounds, and nothing is shuffled unasked", shown(stream.Bucket(stream.Of("aaa", "b", "cccc", "d", "ee"), stream.Bucketing{Bounds: []int{3}, Size: 2}, length)), "[aaa cccc] [b d] [ee]"},
		{"BucketBatcher sort_key", "elements of one length keep their order", shown(stream.Bucket(stream.Of("aaa", "b", "cc", "d", "ee"), stream.Bucketing{Size: 2, Buffer: 4}, length)), "[b d] [cc aaa] [ee]"},
		{"MaxTokenBucketizer", "without a buffer in the order of the input", shown(stream.Tokens(stream.Of("aaa", "b", "cc", "d"), 4, length)), "[aaa b] [cc d]"},
		{"MaxTokenBucketizer include_padding", "", shown(stream.Bucket(stream.Of("aaa", "b", "cc", "d"), stream.Bucketing{Tokens: 4, Padding: true}, length)), "[aaa] [b cc] [d]"},
		{"MaxTokenBucketizer max_len", "what is too long is an error, and dropped only if that is said", shown(stream.Tokens(stream.Of("a", "bbbbb", "c"), 4, length)) + ";" + shown(stream.Bucket(stream.Of("a", "bbbbb", "c"), stream.Bucketing{Tokens: 4, Long: true}, length)), "error: bucket: element 1: longer than a batch; raise Tokens, or set Long to omit such elements: it has 5 of 4;[a c]"},
		{"ParagraphAggregator", "", shown(stream.Runs(stream.Of(pair{"a", 1}, pair{"a", 2}, pair{"b", 3}, pair{"a", 4}), 0, key)), "{a [{a 1} {a 2}]} {b [{b 3}]} {a [{a 4}]}"},
		{"WebDataset", "consecutive members of one prefix, as there", shown(stream.Runs(stream.Of("1.jpg", "1.cls", "2.jpg"), 0, func(s string) string { p, _, _ := strings.Cut(s, "."); return p })), "{1 [1.jpg 1.cls]} {2 [2.jpg]}"},

		{"Concater", "", shown(stream.Concat(stream.Of(1, 2), stream.Of(3))), "1 2 3"},
		{"Zipper", "", shown(stream.Zip(numbers, stream.Of("a", "b"))), "{0 a false false} {1 b false false}"},
		{"ZipperLongest", "what is not there is said, and is not a value that could be an element", shown(stream.ZipLongest(stream.Of(1), stream.Of("a", "b"))), "{1 a false false} {0 b true false}"},
		{"Multiplexer", "the elements before the stream that has ended come, also where they are no whole round", shown(stream.Interleave(stream.Mixing{}, stream.Of(1, 2, 3), stream.Of(10))), "1 10 2"},
		{"MultiplexerLongest", "", shown(stream.Interleave(stream.Mixing{Longest: true}, stream.Of(1, 2, 3), stream.Of(10))), "1 10 2 3"},
		{"IterKeyZipper", "", shown(joinOf(stream.JoinOptions{}, "b", "a")), "{{b 0} {b 10} false false} {{a 1} {a 11} false false}"},
		{"IterKeyZipper without a partner", "an error, unless it is said that such elements are left out", shown(joinOf(stream.JoinOptions{}, "x")) + ";" + shown(joinOf(stream.JoinOptions{Unmatched: true, Rest: true}, "x", "c")), "error: join: element 0: no element of the right stream has this key, or it was evicted; set Unmatched to omit such elements: x;{{c 1} {c 12} false false}"},
		{"IterKeyZipper full", "an error, or the oldest goes, as is said", shown(joinOf(stream.JoinOptions{Buffer: 1}, "a")) + ";" + shown(joinOf(stream.JoinOptions{Buffer: 2, Oldest: true, Unmatched: true, Rest: true}, "c", "b", "a")), "error: join: element 1: too many unmatched elements of the right stream; raise Buffer, or set Oldest: 1;{{c 0} {c 12} false false} {{a 2} {a 11} false false}"},
		{"IterKeyZipper twice", "", shown(stream.Join(stream.Of(pair{"z", 0}), stream.Of(pair{"a", 1}, pair{"a", 2}), stream.JoinOptions{}, key, key)), "error: join: element 1: the right stream has the key twice, and the first element is still unmatched: a"},
		{"IterKeyZipper left over", "an error, unless that is said", shown(joinOf(stream.JoinOptions{}, "a")), "{{a 0} {a 11} false false} error: join: element 1: elements of the right stream have no partner in the left stream; set Rest to ignore them: 1, one of them with the key b"},
		{"Forker", "branches drift as far as they like", shown(stream.Zip(stream.Skip(forks(numbers)[0], 5), forks(numbers)[1])), "{5 0 false false} {6 1 false false}"},
		{"Demultiplexer", "", shown(stream.Route(numbers, 2, stream.Forking[int]{Elements: 1}, func(n int) int { return n % 2 })[1]), "1 3 5"},
		{"RoundRobinDemultiplexer", "a route by number", shown(stream.Route(stream.Enumerate(numbers, 0), 3, stream.Forking[stream.Indexed[int]]{}, func(i stream.Indexed[int]) int { return i.Index % 3 })[2]), "{2 2} {5 5}"},
		{"ShardingFilter", "", shown(stream.Shard(numbers, 1, 3)), "1 4"},
		{"Prefetcher", "", shown(stream.Prefetch(numbers, stream.Ahead{}, nil)), "0 1 2 3 4 5 6"},
	} {
		t.Run(c.pipe, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("it has\n%s\ninstead of\n%s\n(%s)", c.got, c.want, c.note)
			}
		})
	}
}

func forks(s stream.Stream[int]) []stream.Stream[int] {
	return stream.Fork(s, 2, stream.Forking[int]{Elements: 1})
}

// joinOf joins keys with the pairs b, a, c.
func joinOf(j stream.JoinOptions, keys ...string) stream.Stream[stream.Pair[pair, pair]] {
	var left []pair
	for i, k := range keys {
		left = append(left, pair{k, i})
	}
	return stream.Join(stream.Of(left...), stream.Of(pair{"b", 10}, pair{"a", 11}, pair{"c", 12}), j, key, key)
}

// TestTheLargestGroupLeaves checks against a full search that the group that leaves a full
// buffer is the largest, or the oldest of these.
func TestTheLargestGroupLeaves(t *testing.T) {
	random := testrand.New(t)
	for range testrand.Rounds(20, 500) {
		buffer, keys := 1+random.IntN(12), make([]int, 60)
		for i := range keys {
			keys[i] = random.IntN(1 + random.IntN(9))
		}
		var want []int // sizes
		var held [][]int
		for _, k := range keys {
			n := 0
			at := slices.IndexFunc(held, func(g []int) bool { return g[0] == k })
			if at < 0 {
				at, held = len(held), append(held, nil)
			}
			held[at] = append(held[at], k)
			most := 0
			for i, g := range held {
				if n += len(g); len(g) > len(held[most]) {
					most = i
				}
			}
			if n == buffer {
				want = append(want, held[most][0]*100+len(held[most]))
				held = slices.Delete(held, most, most+1)
			}
		}
		for _, g := range held {
			want = append(want, g[0]*100+len(g))
		}
		groups := stream.Group(stream.Of(keys...), stream.Grouping{Buffer: buffer}, func(k int) int { return k })
		got, err := stream.Collect(t.Context(), mapped(groups, func(g stream.Grouped[int, int]) int { return g.Key*100 + len(g.Values) }))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("of %v in a buffer of %d come\n%v instead of\n%v, %v", keys, buffer, got, want, err)
		}
	}
}

// TestConformanceOfRandomness checks that Shuffler and SampleMultiplexer return all elements:
// in the same order for the same seed, in another order for another seed.
func TestConformanceOfRandomness(t *testing.T) {
	all := rangeOf(100)
	shuffled := func(seed uint64) []int {
		got, err := stream.Collect(t.Context(), stream.Shuffle(stream.Of(all...), 10, seed))
		if err != nil || !slices.Equal(slices.Sorted(slices.Values(got)), all) {
			t.Fatalf("%v, %v", got, err)
		}
		for i, v := range got {
			if v > i+9 {
				t.Errorf("%d comes at %d, before it could have been read", v, i)
			}
		}
		return got
	}
	if slices.Equal(shuffled(1), shuffled(2)) || !slices.Equal(shuffled(1), shuffled(1)) || slices.Equal(shuffled(1), all) {
		t.Error("the order is not a function of the seed")
	}
	mix := func(seed uint64) []int {
		m := stream.Mixing{Weights: []float64{3, 1}, Seed: seed, Longest: true}
		got, err := stream.Collect(t.Context(), stream.Interleave(m, stream.Of(make([]int, 3000)...), stream.Cycle(stream.Of(1), 1000)))
		if err != nil || len(got) != 4000 {
			t.Fatal(len(got), err)
		}
		return got
	}
	got := mix(1)
	ones := 0
	for _, v := range got[:2000] {
		ones += v
	}
	if ones < 400 || ones > 600 {
		t.Errorf("of 2000 drawn, %d are from the stream with a quarter of the weight", ones)
	}
	if !slices.Equal(got, mix(1)) || slices.Equal(got, mix(2)) {
		t.Error("what is drawn is not a function of the seed")
	}
}

// TestErrorsAreKnown checks that callers can distinguish the errors of operators.
func TestErrorsAreKnown(t *testing.T) {
	for want, s := range map[error]stream.Stream[string]{
		stream.ErrSmallGroup: stream.Map(stream.Group(stream.Of("a"), stream.Grouping{AtLeast: 2}, letter), func(context.Context, stream.Grouped[string, string]) (string, error) { return "", nil }),
		stream.ErrTooLong:    stream.Unbatch(stream.Tokens(stream.Of("aa"), 1, length)),
		stream.ErrLongRun:    stream.Map(stream.Runs(stream.Of("a", "a"), 1, letter), func(context.Context, stream.Grouped[string, string]) (string, error) { return "", nil }),
	} {
		if _, err := stream.Collect(t.Context(), s); !errors.Is(err, want) {
			t.Errorf("%v is not %v", err, want)
		}
	}
}
