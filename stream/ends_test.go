package stream_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/stream"
)

var errBad = errors.New("bad")

// failing returns numbers, of which one cannot be read.
func failing(at int) stream.Stream[int] {
	return stream.Map(stream.Of(rangeOf(40)...), func(_ context.Context, n int) (int, error) {
		if n == at {
			return 0, errBad
		}
		return n, nil
	})
}

// TestErrorsComeThrough checks that every operator returns an error of its input unchanged,
// with its position. It ends the reader, and the state before it leads to the same error.
func TestErrorsComeThrough(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			if k.name == "shard" {
				t.Skip("a shard does not make what others have")
			}
			for at := range 10 {
				s := k.of(fixed(at), failing(at))
				r, err := s.Open(t.Context(), stream.State{})
				if err != nil {
					t.Fatal(err)
				}
				var first error
				n := 0
				for _, err := range r.All(t.Context()) {
					if first = err; err == nil {
						n++
					}
				}
				if first == nil {
					r.Close() // it has ended before
					continue
				}
				e, ok := errors.AsType[*stream.Error](first)
				if !ok || e.Op != "map" || e.At != uint64(at) || !errors.Is(first, errBad) {
					t.Fatalf("the error of element %d is %v", at, first)
				}
				if _, err := r.Next(t.Context()); !errors.Is(err, errBad) {
					t.Errorf("after the error comes %v", err)
				}
				left, err := s.Open(t.Context(), r.State())
				if err != nil {
					t.Fatal(err)
				}
				if v, err := left.Next(t.Context()); !errors.Is(err, errBad) {
					t.Errorf("the state before the error goes on with %d, %v", v, err)
				}
				left.Close()
				r.Close()
			}
		})
	}
}

// blocked returns three numbers, and then waits until its context ends.
func blocked() stream.Stream[int] {
	return stream.From(stream.Source[int]{Name: "blocked", Open: func(context.Context, int64) (stream.Feed[int], error) { return &blockedFeed{}, nil }})
}

type blockedFeed struct{ n int }

func (b *blockedFeed) Next(ctx context.Context) (int, error) {
	if b.n++; b.n <= 3 {
		return b.n, nil
	}
	<-ctx.Done()
	return 0, context.Cause(ctx)
}

func (b *blockedFeed) Close() error { return nil }

// TestEndsWhileItWaits checks that a wait for input ends with the context of the call, that
// of the reader, and Close. The bubble fails if goroutines are blocked or left over.
func TestEndsWhileItWaits(t *testing.T) {
	for _, k := range kinds() {
		for name, end := range map[string]func(cancel, cancelCall context.CancelFunc, r *stream.Reader[int]){
			"reader": func(cancel, _ context.CancelFunc, _ *stream.Reader[int]) { cancel() },
			"call":   func(_, cancelCall context.CancelFunc, _ *stream.Reader[int]) { cancelCall() },
			"close":  func(_, _ context.CancelFunc, r *stream.Reader[int]) { r.Close() },
		} {
			t.Run(k.name+" by "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					call, cancelCall := context.WithCancel(t.Context())
					defer cancel()
					defer cancelCall()
					r, err := k.of(fixed(3), blocked()).Open(ctx, stream.State{})
					if err != nil {
						t.Fatal(err)
					}
					ended := make(chan error, 1)
					go func() {
						for {
							if _, err := r.Next(call); err != nil {
								ended <- err
								return
							}
						}
					}()
					synctest.Wait()
					select {
					case err := <-ended:
						if !errors.Is(err, io.EOF) {
							t.Error(err)
						}
					default:
						end(cancel, cancelCall, r)
						if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, stream.ErrClosed) {
							t.Errorf("it ends with %v", err)
						}
					}
					r.Close()
					r.Close()
				})
			})
		}
	}
}

// TestFunctionsThatFail checks that a function's own end-of-stream value is an error, and
// so is a panic in a goroutine.
func TestFunctionsThatFail(t *testing.T) {
	eof := stream.Map(stream.Of(1, 2), func(context.Context, int) (int, error) { return 0, io.EOF })
	panics := stream.MapParallel(stream.Of(1, 2), pool.New(2), func(_ context.Context, n int) (int, error) { panic("no") })
	for name, c := range map[string]struct {
		s    stream.Stream[int]
		want string
	}{"EOF": {eof, "unexpected EOF"}, "panic": {panics, "panic: no"}, "ahead of a panic": {stream.Prefetch(mapped(stream.Of(1), func(int) int { panic("no") }), stream.Ahead{}, nil), "panic: no"}} {
		all, err := stream.Collect(t.Context(), c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(all) > 0 {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}

// TestAPanicEndsAReader checks that after a panic in a function, a reader returns no more
// elements, because some may be missing. Its state is right.
func TestAPanicEndsAReader(t *testing.T) {
	bad := true
	s := stream.Batch(mapped(stream.Of(rangeOf(9)...), func(n int) int {
		if n == 4 && bad {
			panic("no")
		}
		return n
	}), 3, false)
	r, err := s.Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		_, _ = r.Next(t.Context())
	}()
	if v, err := r.Next(t.Context()); err == nil {
		t.Errorf("after a panic comes %v", v)
	}
	bad = false
	again, err := s.Open(t.Context(), r.State())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if v, err := again.Next(t.Context()); err != nil || !slices.Equal(v, []int{3, 4, 5}) {
		t.Errorf("the state goes on with %v, %v", v, err)
	}
}

// TestRefusedParameters checks that Open returns the error of invalid parameters, also for
// a nested stream.
func TestRefusedParameters(t *testing.T) {
	s := stream.Of(1, 2, 3)
	one := func(n int) int { return n }
	for name, s := range map[string]stream.Stream[int]{
		"batch":      stream.Unbatch(stream.Batch(s, 0, false)),
		"bucket":     stream.Unbatch(stream.Bucket(s, stream.Bucketing{}, one)),
		"bounds":     stream.Unbatch(stream.Bucket(s, stream.Bucketing{Size: 1, Bounds: []int{2, 1}}, one)),
		"group":      grouped(stream.Group(s, stream.Grouping{Size: 1, AtLeast: 2}, one)),
		"shuffle":    stream.Shuffle(s, 0, 1),
		"shard":      stream.Shard(s, 2, 2),
		"limit":      stream.Limit(s, -1),
		"skip":       stream.Skip(s, -1),
		"repeat":     stream.Repeat(s, 0),
		"cycle":      stream.Cycle(s, -1),
		"prefetch":   stream.Prefetch(s, stream.Ahead{Elements: -1}, nil),
		"interleave": stream.Interleave(stream.Mixing{Weights: []float64{1}}, s, s),
		"weights":    stream.Interleave(stream.Mixing{Weights: []float64{1, 0}}, s, s),
		"source":     stream.From(stream.Source[int]{}),
		"fork":       stream.Fork(stream.Limit(s, -1), 2, stream.Forking[int]{})[1],
	} {
		for _, s := range []stream.Stream[int]{s, stream.Concat(stream.Of(1), s), mapped(s, one)} {
			r, err := s.Open(t.Context(), stream.State{})
			if err == nil {
				r.Close()
				t.Errorf("%s is accepted", name)
			} else if !strings.HasPrefix(err.Error(), "stream: ") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestReadersOfOneStream checks that readers of one stream are independent and read nothing
// before it is requested.
func TestReadersOfOneStream(t *testing.T) {
	read := 0
	s := stream.Shuffle(stream.Prefetch(mapped(stream.Of(rangeOf(20)...), func(n int) int { read++; return n }), stream.Ahead{}, nil), 4, 1)
	a, err := s.Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if read != 0 {
		t.Errorf("%d elements were read", read)
	}
	if _, err := a.Next(t.Context()); !errors.Is(err, stream.ErrClosed) {
		t.Errorf("a closed reader: %v", err)
	}
	one, err := stream.Collect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	two, err := stream.Collect(t.Context(), s)
	if err != nil || !slices.Equal(one, two) {
		t.Errorf("%v, %v", two, err)
	}
}

// TestASourceThatCannotSeek checks that a source that claims to seek and cannot is not read
// from a wrong position.
func TestASourceThatCannotSeek(t *testing.T) {
	s := replaying(3)
	s.Kind = stream.Seeks
	if all, err := stream.Collect(t.Context(), stream.From(s)); err == nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestFunctionsThatDoNotReturn checks that a function that panics or ends its goroutine
// during a prefetch fails that element, and leaks nothing.
func TestFunctionsThatDoNotReturn(t *testing.T) {
	for what, boom := range map[string]func(){"PANIC": func() { panic("PANIC") }, "Goexit": runtime.Goexit} {
		at := func(n int) int {
			if n == 7 {
				boom()
			}
			return n
		}
		all := stream.Of(rangeOf(30)...)
		made := func(_ context.Context, n int) (int, error) { return at(n), nil }
		encoded := &codec.Value[int]{
			ID: "byte", Encode: func(b []byte, n int) ([]byte, error) { return append(b, byte(at(n))), nil },
			Decode: func(b []byte) (int, error) { return int(b[0]), nil },
		}
		spooled := stream.Fork(all, 2, stream.Forking[int]{Elements: 1, Codec: encoded})
		for name, s := range map[string]stream.Stream[int]{
			"route":         stream.Concat(stream.Route(all, 2, stream.Forking[int]{}, func(n int) int { return at(n) % 2 })...),
			"fork size":     stream.Concat(stream.Fork(all, 2, stream.Forking[int]{Size: func(n int) int64 { return int64(at(n)) }})...),
			"fork codec":    pairs(stream.ZipLongest(spooled[0], stream.Skip(spooled[1], 20))),
			"prefetch size": stream.Prefetch(all, stream.Ahead{}, func(n int) int64 { return int64(at(n)) }),
			"map parallel":  stream.MapParallel(all, pool.New(2), made),
			"map ahead":     stream.Prefetch(stream.Map(all, made), stream.Ahead{}, nil),
			"map forked":    stream.Fork(stream.Map(all, made), 1, stream.Forking[int]{})[0],
		} {
			_, err := stream.Collect(t.Context(), s)
			if err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s, %s: the error is %v", name, what, err)
			}
		}
	}
}

// TestCallsOfGeneratorsEnd checks that a call ends with its context while a generator waits
// for its own.
func TestCallsOfGeneratorsEnd(t *testing.T) {
	waits := stream.FromSeq("waits", func(ctx context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			if yield(1, nil) {
				<-ctx.Done()
				yield(0, ctx.Err())
			}
		}
	})
	why := errors.New("enough")
	for name, s := range map[string]stream.Stream[int]{"alone": waits, "shuffled": stream.Shuffle(waits, 5, 1), "ahead": stream.Prefetch(waits, stream.Ahead{}, nil)} {
		r, err := s.Open(t.Context(), stream.State{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(why) })
		for err == nil {
			_, err = r.Next(ctx)
		}
		if !errors.Is(err, why) {
			t.Errorf("%s: the error is %v", name, err)
		}
		r.Close()
	}
	r, err := waits.Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Millisecond, r.Close)
	for err == nil {
		_, err = r.Next(t.Context())
	}
	if !errors.Is(err, stream.ErrClosed) {
		t.Errorf("closed during the read: %v", err)
	}
	r.Close()
}

// TestSkippersPassOver checks that elements that a source skips itself are not requested,
// and that a state behind its end is an error.
func TestSkippersPassOver(t *testing.T) {
	returned := 0
	r, err := stream.From(skipping(100, &returned)).Open(t.Context(), stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 70 {
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	returned = 0
	if all, _ := rest(t, stream.From(skipping(100, &returned)), r.State()); len(all) != 30 || returned != 31 {
		t.Errorf("%d elements are left, and the source was requested %d", len(all), returned)
	}
	shorter, err := stream.From(skipping(60, &returned)).Open(t.Context(), r.State())
	if err != nil {
		t.Fatal(err)
	}
	defer shorter.Close()
	if _, err := shorter.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "element 60: the state is behind the end") {
		t.Errorf("a state behind the end: %v", err)
	}
}
