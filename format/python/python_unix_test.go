//go:build unix

package python_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/python"
	"github.com/larder-data/larder/internal/testing/pythontest"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/stream"
)

// noting has helpers for functions that record their calls. No key of their code covers
// these, so they need a version.
const noting = `
import os, signal, time
def note(what, text="x"):
    with open(os.path.join(os.path.dirname(__file__), what), "a") as f:
        f.write(text)
`

// A place is a directory with the file f.py.
type place struct {
	testing.TB
	dir string
}

func newPlace(tb testing.TB, source string) place {
	tb.Helper()
	pythontest.Need(tb)
	p := place{tb, tb.TempDir()}
	p.write("f.py", source)
	return p
}

func (p place) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o666); err != nil {
		p.Fatal(err)
	}
}

// noted returns how often an event was recorded since the last call.
func (p place) noted(what string) int {
	p.Helper()
	path := filepath.Join(p.dir, what)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.Fatal(err)
	}
	_ = os.Remove(path)
	return len(b)
}

// stream returns the stream of a function. The test ends all that it started.
func (p place) stream(s python.Source) component.Stream {
	p.Helper()
	if s.Into == nil {
		s.Into = []string{"a"}
	}
	ending := &component.Cleanup{}
	p.Cleanup(ending.Wait)
	out, _, err := s.Open(&component.Env{Dir: p.dir, Node: "n", Cleanup: ending})
	if err != nil {
		p.Fatal(err)
	}
	return out
}

// open opens a stream, which the test must close.
func (p place) open(s component.Stream, from stream.State) *stream.Reader[dataset.Sample] {
	p.Helper()
	r, err := s.Open(p.Context(), from)
	if err != nil {
		p.Fatal(err)
	}
	return r
}

// content returns an item as its file has it.
func (p place) content(s dataset.Sample, item string) []byte {
	p.Helper()
	it, err := s.Item(item)
	if err != nil {
		p.Fatal(err)
	}
	b, err := it.Bytes(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	return b
}

// texts returns the items a of all elements, and the error after them.
func (p place) texts(s python.Source) (all []string, err error) {
	p.Helper()
	for sample, err := range p.stream(s).All(p.Context()) {
		if err != nil {
			return all, err
		}
		all = append(all, strings.TrimSuffix(string(p.content(sample, "a")), "\n"))
	}
	return all, nil
}

// TestStreamIsWhatTheFunctionYields checks that elements of all sizes arrive as yielded,
// from the beginning and from any position of a reader.
func TestStreamIsWhatTheFunctionYields(t *testing.T) {
	testrand.Long(t)
	p := newPlace(t, noting+`
def f(sizes):
    note("begun")
    for i, n in enumerate(sizes):
        yield bytes([(i * 7 + n) % 256]) * n, i
`)
	random := testrand.New(t)
	for range testrand.Rounds(3, 40) {
		sizes := make([]any, random.IntN(testrand.Rounds(1000, 5000)))
		large := 0
		for i := range sizes {
			n := []int{random.IntN(10), random.IntN(300), random.IntN(300), random.IntN(20_000), 0}[random.IntN(5)]
			if large < 6 && random.IntN(100) == 0 {
				n = random.IntN(5 << 20)
				large++
			}
			sizes[i] = int64(n)
		}
		s := p.stream(python.Source{Function: "f:f", Into: []string{"a", "i"}, Args: map[string]any{"sizes": sizes}, Version: "1"})
		read := func(r *stream.Reader[dataset.Sample], from, to int) {
			t.Helper()
			defer r.Close()
			for i := from; i < to; i++ {
				sample, err := r.Next(t.Context())
				if err != nil {
					t.Fatalf("element %d of %d from %d on: %v", i, len(sizes), from, err)
				}
				n := int(sizes[i].(int64))
				if want := bytes.Repeat([]byte{byte(i*7 + n)}, n); !bytes.Equal(p.content(sample, "a"), want) {
					t.Fatalf("element %d of %d bytes is another one", i, n)
				}
				if got := strings.TrimSpace(string(p.content(sample, "i"))); got != fmt.Sprint(i) {
					t.Fatalf("element %d says that it is %s", i, got)
				}
			}
			if to == len(sizes) {
				if _, err := r.Next(t.Context()); !errors.Is(err, io.EOF) {
					t.Fatalf("behind the last element: %v", err)
				}
			}
		}
		whole := p.open(s, stream.State{})
		read(whole, 0, len(sizes))
		for range 3 {
			cut := random.IntN(len(sizes) + 1)
			r := p.open(s, stream.State{})
			read(r, 0, cut)
			state, err := stream.ParseState(r.State().String())
			if err != nil {
				t.Fatal(err)
			}
			read(p.open(s, state), cut, len(sizes))
		}
		if n := p.noted("begun"); n > 7 { // one without elements to read does not begin
			t.Errorf("the function was called %d times by 7 readers", n)
		}
	}
}

// TestNoMoreIsMadeThanIsTaken checks that a stopped reader has computed at most one extra
// element, or half as many as it read, and that the generator is closed.
func TestNoMoreIsMadeThanIsTaken(t *testing.T) {
	p := newPlace(t, noting+`
def f(stop=None):
    note("begun")
    try:
        i = 0
        while True:
            note("made")
            if i == stop:
                time.sleep(1000)
            yield str(i)
            i += 1
    finally:
        note("closed")
`)
	for _, n := range []int{0, 1, 2, 3, 10, 100, 1000} {
		for _, stop := range []int{-1, n} { // it may wait for the element after the last one
			s := p.stream(python.Source{Function: "f:f", Version: "1", Args: map[string]any{"stop": int64(stop)}})
			r := p.open(stream.Limit(s, n), stream.State{})
			for range n {
				if _, err := r.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("after %d: %v", n, err)
			}
			r.Close()
			begun, made, closed := p.noted("begun"), p.noted("made"), p.noted("closed")
			if most := n + max(1, n/2); made < n || made > most || begun != min(n, 1) || closed != begun {
				t.Errorf("%d taken, waiting at %d: %d begun, %d made, %d closed", n, stop, begun, made, closed)
			}
		}
	}
}

// TestErrorsOfElements checks that an error names its element, after the elements before it
// are returned.
func TestErrorsOfElements(t *testing.T) {
	testrand.Long(t)
	p := newPlace(t, noting+`
import sys
def inner(n):
    raise ValueError(f"no good: {n}")
def f(how, at):
    for n in range(1000):
        if n == at:
            print("the last words")
            if how == "raise": inner(n)
            if how == "exit": os._exit(3)
            if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
            if how == "sleep": time.sleep(1000)
            if how == "type": yield object()
            if how == "nan": yield float("nan")
            if how == "large": yield "x" * 2000
            if how == "long": yield "x" * 3_000_000
            if how == "sys.exit": sys.exit("ended")
            if how == "interrupt": raise KeyboardInterrupt
            if how == "stop": raise StopIteration
        yield str(n)
def two(at):
    for n in range(1000):
        yield (n, n) if n < at else (n, n, n)
def named(at):
    for n in range(1000):
        yield {"a": n, "b": n} if n < at else {"a": n}
def fails(how, at): raise ValueError("before the first")
def none(how, at): pass
def text(how, at): return "abc"
def unordered(how, at): return {1, 2}
def mapping(how, at): return {"a": 1}
def lists(how, at): return [str(n) for n in range(at)]
`)
	for _, c := range []struct {
		function, how string
		at            int
		want          []string
	}{
		{"f:f", "raise", 0, []string{"element 0: f:f: ValueError: no good: 0", "f.py:9, in inner", "f.py:14, in f"}},
		{"f:f", "raise", 700, []string{"element 700: f:f: ValueError: no good: 700"}},
		{"f:f", "exit", 333, []string{"element 333: f:f: the worker ended: exit status 3", "its stderr ends:", "the last words"}},
		{"f:f", "kill", 500, []string{"element 500: f:f: the worker ended: signal: killed", "the last words"}},
		{"f:f", "kill", 0, []string{"element 0: f:f: the worker ended: signal: killed"}},
		{"f:f", "sleep", 41, []string{"element 41: f:f took longer than the timeout of 2s, and its worker was ended", "the last words"}},
		{"f:f", "type", 7, []string{"element 7: f:f: TypeError: item a is of the type builtins.object, which cannot be an item"}},
		{"f:f", "nan", 8, []string{"element 8: f:f: ValueError: item a is nan"}},
		{"f:f", "large", 9, []string{"element 9: f:f: ValueError: the yielded value has 2000 bytes, but max-bytes is 1500"}},
		{"f:f", "long", 600, []string{"element 600: f:f: ValueError: the yielded value has 3000000 bytes"}},
		{"f:f", "sys.exit", 10, []string{"element 10: f:f: SystemExit: ended"}},
		{"f:f", "interrupt", 11, []string{"element 11: f:f: KeyboardInterrupt"}},
		{"f:f", "stop", 12, []string{"element 12: f:f: RuntimeError: generator raised StopIteration"}},
		{"f:two", "", 300, []string{"element 300: f:two: TypeError: f:two yielded a tuple of 3, and is to make 2 items: yield a tuple of them, or a dict"}},
		{"f:named", "", 300, []string{"element 300: f:named: TypeError: f:named yielded a dict of 1"}},
		{"f:fails", "", 0, []string{"element 0: f:fails: ValueError: before the first"}},
		{"f:none", "", 0, []string{"element 0: f:none: TypeError: f:none returned a NoneType, which has no elements in an order"}},
		{"f:text", "", 0, []string{"f:text returned a str, which has no elements"}},
		{"f:unordered", "", 0, []string{"f:unordered returned a set"}},
		{"f:mapping", "", 0, []string{"f:mapping returned a dict of 1"}},
		{"f:lists", "", 5, nil},
	} {
		s := python.Source{Function: c.function, Version: "1", Timeout: "2s", Bytes: 1500, Args: map[string]any{"how": c.how, "at": int64(c.at)}}
		if c.how == "" && (c.function == "f:two" || c.function == "f:named") {
			s.Into, s.Args = []string{"a", "b"}, map[string]any{"at": int64(c.at)}
		}
		all, err := p.texts(s)
		if len(all) != c.at || len(all) > 0 && all[len(all)-1] != fmt.Sprint(c.at-1) {
			t.Errorf("%s %s: %d elements before %d", c.function, c.how, len(all), c.at)
		}
		if c.want == nil && err != nil {
			t.Errorf("%s: %v", c.function, err)
		}
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s %s: no %q in: %v", c.function, c.how, part, err)
			}
		}
	}
}

// TestErrorsWhilePassingOver checks that errors of skipped elements name them, too.
func TestErrorsWhilePassingOver(t *testing.T) {
	p := newPlace(t, noting+`
def f():
    again = os.path.exists(os.path.join(os.path.dirname(__file__), "how"))
    how = open(os.path.join(os.path.dirname(__file__), "how")).read() if again else ""
    for n in range(1000):
        if n == 300 and how == "raise": raise ValueError("not again")
        if n == 300 and how == "kill": os.kill(os.getpid(), signal.SIGKILL)
        if n == 300 and how == "end": return
        yield str(n)
`)
	s := p.stream(python.Source{Function: "f:f", Version: "1"})
	r := p.open(s, stream.State{})
	for range 600 {
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	for how, want := range map[string]string{
		"raise": "element 300: f:f: ValueError: not again", "kill": "element 300: f:f: the worker ended: signal: killed",
		"end": "element 300: the state is behind the end",
	} {
		p.write("how", how)
		again := p.open(s, r.State())
		if _, err := again.Next(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", how, err)
		}
		again.Close()
	}
}

// TestWhatNoKeyTellsIsRefused checks the refusals that apply to functions that map samples,
// too.
func TestWhatNoKeyTellsIsRefused(t *testing.T) {
	p := newPlace(t, `
import larder, random, time
from statistics import NormalDist
def clock():
    yield time.time()
def unseeded():
    yield random.random()
async def later():
    yield 1
def draws():
    for n in range(100):
        yield NormalDist(0, 1).samples(1) if n == 50 else n
def seeded():
    draw = random.Random(3)
    for n in range(100):
        yield draw.random()
def reads(words: larder.File):
    for n in range(100):
        yield words.read_text() + (open(f"{words}.more").read() if n == 50 else "")
COUNT = []
def counting():
    for n in range(100):
        COUNT.append(n)
        yield len(COUNT)
`)
	p.write("words", "w")
	p.write("words.more", "m")
	for _, c := range []struct {
		s    python.Source
		want string
	}{
		{python.Source{Function: "f:clock"}, `time.time reaches the clock; pass its result as an argument, pass allow=["time.time"]`},
		{python.Source{Function: "f:unseeded"}, "random"},
		{python.Source{Function: "f:later"}, "asynchronous"},
		{python.Source{Function: "f:nowhere"}, "there is no nowhere in f"},
		{python.Source{Function: "f:seeded", Args: map[string]any{"n": int64(1)}}, "n is given, and f.seeded has no parameter of that name"},
		{python.Source{Function: "f:draws"}, "it drew random numbers from the generator of random"},
		{python.Source{Function: "f:reads", Files: map[string]component.Path{"words": "words"}}, "words.more, which is not a file that it was given"},
		{python.Source{Function: "f:counting"}, "changed a variable that it uses"},
		{python.Source{Function: "f:seeded", Interpreter: "no-such-python"}, "the interpreter no-such-python cannot be run"},
	} {
		if _, err := p.texts(c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: no %q in: %v", c.s.Function, c.want, err)
		}
	}
	if all, err := p.texts(python.Source{Function: "f:seeded"}); err != nil || len(all) != 100 {
		t.Errorf("one with a seed: %d elements, %v", len(all), err)
	}
	for _, c := range []struct {
		s    python.Source
		want string
	}{
		{python.Source{Function: "f"}, "name it with its module"},
		{python.Source{Function: "f:f", Into: []string{}}, "into is empty; name at least one item"},
		{python.Source{Function: "f:f", Into: []string{"a", "a"}}, "into has a twice"},
		{python.Source{Function: "f:f", Into: []string{"a"}, Timeout: "soon"}, "timeout"},
		{python.Source{Function: "f:f", Into: []string{"a"}, Bytes: -1}, "max-bytes"},
	} {
		if err := c.s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
}

// TestGeneratorsMayDoMuch checks that the effects of a function on its process change no
// element.
func TestGeneratorsMayDoMuch(t *testing.T) {
	p := newPlace(t, noting+`
import subprocess, sys, threading
def f():
    found = []
    for n in range(500):
        if n < 3: # behind it stdout is closed as well
            print("element", n)
        if n == 3:
            for k in range(3, 10):
                try: os.close(k)
                except OSError: pass
        if n == 4 and os.fork() == 0:
            yield "of the child"
        if n == 5:
            t = threading.Thread(target=found.append, args=(5,))
            t.start(); t.join()
        if n == 6:
            sys.stdout = sys.stderr = None
        if n == 7:
            subprocess.run(["true"], check=True)
        yield str(n)
def mapped():
    def own():
        try:
            yield from range(100)
        finally:
            note("closed")
    return map(str, own())
`)
	all, err := p.texts(python.Source{Function: "f:f", Version: "1"})
	if err != nil || len(all) != 500 || all[499] != "499" || all[4] != "4" {
		t.Errorf("%d elements: %v", len(all), err)
	}
	r := p.open(p.stream(python.Source{Function: "f:mapped", Version: "1"}), stream.State{})
	if _, err := r.Next(t.Context()); err != nil {
		t.Error(err)
	}
	r.Close()
	if p.noted("closed") != 1 {
		t.Error("a generator in an iterator is not closed")
	}
}

func mustRead(t *testing.T, p place, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCancelledGenerator checks that a cancelled wait for an element ends immediately, and
// that the generator is closed before the reader.
func TestCancelledGenerator(t *testing.T) {
	p := newPlace(t, noting+`
def f():
    try:
        yield "first"
        with open(os.path.join(os.path.dirname(__file__), "waiting"), "w"): pass
        time.sleep(1000)
    finally:
        note("closed", str(os.getpid()))
`)
	waiting := filepath.Join(p.dir, "waiting")
	if err := syscall.Mkfifo(waiting, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no more")
	r, err := p.stream(python.Source{Function: "f:f", Version: "1"}).Open(ctx, stream.State{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(ctx); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = os.ReadFile(waiting) // until it waits
		cancel(why)
	}()
	if _, err := r.Next(ctx); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	r.Close()
	var pid int
	if _, err := fmt.Sscan(mustRead(t, p, "closed"), &pid); err != nil {
		t.Fatal(err)
	}
	if syscall.Kill(pid, 0) == nil {
		t.Errorf("process %d is left", pid)
	}
}

// TestReadersHaveProcessesOfTheirOwn checks that each reader calls the function and its
// setup again, and that none waits for another.
func TestReadersHaveProcessesOfTheirOwn(t *testing.T) {
	p := newPlace(t, noting+`
BEGUN = []
def load(scale):
    note("loaded")
    return scale
def f(factor):
    BEGUN.append(1)
    for n in range(50):
        yield f"{n * factor} {len(BEGUN)}"
`)
	s := p.stream(python.Source{Function: "f:f", Setup: "f:load", Args: map[string]any{"scale": int64(2)}, Version: "1"})
	both, err := stream.Collect(t.Context(), stream.Zip(s, s))
	if err != nil || len(both) != 50 {
		t.Fatalf("%d pairs, %v", len(both), err)
	}
	if a, b := p.content(both[49].A, "a"), p.content(both[49].B, "a"); string(a) != "98 1" || string(b) != "98 1" {
		t.Errorf("the last ones are %q and %q", a, b)
	}
	if n := p.noted("loaded"); n != 2 {
		t.Errorf("%d setups of two readers", n)
	}
}
