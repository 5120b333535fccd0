//go:build unix

package mapper_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/pythontest"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"
)

// pythons has the fixtures of a test of Python functions.
type pythons struct {
	testing.TB
	dir    string
	store  *memory.Store
	stats  dataset.NodeStats
	passes bool // request samples as passes do, not one by one
}

func newPythons(t *testing.T, source string) *pythons {
	t.Helper()
	pythontest.Need(t)
	p := &pythons{TB: t, dir: t.TempDir(), store: memory.New(memory.Options{})}
	p.write("f.py", source)
	return p
}

func (p *pythons) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o666); err != nil {
		p.Fatal(err)
	}
}

// all maps samples of item a, each time with new workers as another program would. It
// returns the items out as strings, and the errors.
func (p *pythons) all(m mapper.Python, as ...*dataset.Item) ([]string, map[int]string) {
	p.Helper()
	ending := &component.Cleanup{}
	defer ending.Wait()
	return p.with(&component.Env{Dir: p.dir, Node: "n", Pool: pool.New(2), Cleanup: ending}, m, as...)
}

func (p *pythons) with(env *component.Env, m mapper.Python, as ...*dataset.Item) ([]string, map[int]string) {
	p.Helper()
	ds, err := p.dataset(env, m, as...)
	if err != nil {
		return nil, map[int]string{-1: err.Error()}
	}
	outs, failed, mu := make([]string, len(as)), map[int]string{}, sync.Mutex{}
	one := func(ctx context.Context, i int) error {
		text, err := read(ctx, ds, i)
		mu.Lock()
		defer mu.Unlock()
		if outs[i] = text; err != nil {
			failed[i] = err.Error()
		}
		return nil
	}
	if m.Batch == 0 && !p.passes {
		err = env.Pool.Each(p.Context(), len(as), one)
	} else {
		ranges := dataset.RangesOf(ds)
		err = env.Pool.AtLeast(m.Batch).Ranges(p.Context(), len(as), func(ctx context.Context, from, to int) (int, error) {
			samples, err := ranges.Range(ctx, from, to)
			for k := range samples {
				_ = one(ctx, from+k)
			}
			if err != nil && len(samples) < to-from {
				mu.Lock()
				failed[from+len(samples)] = err.Error()
				mu.Unlock()
				return len(samples) + 1, nil
			}
			return len(samples), nil
		})
	}
	if err != nil {
		p.Fatal(err)
	}
	return outs, failed
}

func (p *pythons) dataset(env *component.Env, m mapper.Python, as ...*dataset.Item) (component.Samples, error) {
	in := dataset.Func(len(as), func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "a", Item: as[i]}), nil
	})
	if m.Function == "" {
		m.Function = "f:f"
	}
	if m.Into == nil {
		m.Into = []string{"out"}
	}
	if m.Items == nil {
		m.Items = []string{"a"}
	}
	transform, err := m.Transform(env)
	if err != nil {
		return nil, err
	}
	l, err := larder.Open(larder.Options{Store: p.store})
	if err != nil {
		p.Fatal(err)
	}
	return dataset.Map(in, transform, dataset.MapOptions{Node: "n", Larder: l, Keep: true, Stats: &p.stats}), nil
}

// read returns item out, or all others under their names, as a string.
func read(ctx context.Context, ds component.Samples, i int) (string, error) {
	s, err := ds.At(ctx, i)
	if err != nil {
		return "", err
	}
	var all []string
	for f := range s.Fields() {
		if f.Key == "a" {
			continue
		}
		v, err := f.Item.Value(ctx)
		if err != nil {
			return "", err
		}
		ext, err := f.Item.Ext(ctx)
		if err != nil {
			return "", err
		}
		text := fmt.Sprint(v)
		if b, err := f.Item.Bytes(ctx); err == nil && ext != "npy" {
			text = string(b)
		}
		all = append(all, fmt.Sprintf("%s.%s=%s", f.Key, ext, text))
	}
	return strings.Join(all, " "), nil
}

// computed returns the number of samples computed since the last call.
func (p *pythons) computed() int64 {
	n := p.stats.Computed.Load()
	p.stats.Computed.Store(0)
	return n
}

func texts(n int) (all []*dataset.Item) {
	for i := range n {
		all = append(all, dataset.NewItem("txt", strconv.Itoa(i)))
	}
	return all
}

func TestPythonValues(t *testing.T) {
	p := newPythons(t, `
def f(a):
    return a
def shown(a):
    return f"{type(a).__name__} {a!r}"
def raw(a: bytes):
    return f"{type(a).__name__} {a!r}"
def two(a):
    return a + "!", {"of": a}
def named(a):
    return {"y": [1, 2.5, None, True], "x": b"\x00\xff"}
`)
	items := map[string]*dataset.Item{
		"text":          dataset.NewItem("txt", "héllo\n"),
		"empty text":    dataset.NewItem("txt", ""),
		"bytes":         dataset.NewBytes("bin", []byte{0, 255, 10}),
		"document":      dataset.NewBytes("json", []byte(`{"b": [1, 2.0, null, true, -0.0], "a": {"z": "\u00e9"}, "big": 123456789012345678901234567890}`)),
		"yaml":          dataset.NewBytes("yaml", []byte("a: [1, 2.5]\n")),
		"number":        dataset.NewItem("json", int64(7)),
		"unknown files": dataset.NewBytes("xyz", []byte("as they are")),
	}
	for _, c := range []struct{ item, function, want string }{
		{"text", "f:f", "out.txt=héllo\n"},
		{"empty text", "f:f", "out.txt="},
		{"bytes", "f:f", "out.bin=\x00\xff\n"},
		{"document", "f:f", `out.json={"b":[1,2.0,null,true,-0.0],"a":{"z":"é"},"big":123456789012345678901234567890}`},
		{"document", "f:shown", `out.txt=dict {'b': [1, 2.0, None, True, -0.0], 'a': {'z': 'é'}, 'big': 123456789012345678901234567890}`},
		{"yaml", "f:shown", `out.txt=dict {'a': [1, 2.5]}`},
		{"number", "f:shown", `out.txt=int 7`},
		{"unknown files", "f:shown", `out.txt=bytes b'as they are'`},
		{"text", "f:raw", `out.txt=bytes b'h\xc3\xa9llo\n'`},
		{"yaml", "f:raw", `out.txt=bytes b'a: [1, 2.5]\n'`},
	} {
		got, failed := p.all(mapper.Python{Function: c.function}, items[c.item])
		if len(failed) > 0 || got[0] != c.want {
			t.Errorf("%s of %s: %q, %v; want %q", c.function, c.item, got, failed, c.want)
		}
	}
	got, failed := p.all(mapper.Python{Function: "f:two", Into: []string{"x", "y"}}, items["text"])
	if want := "x.txt=héllo\n! y.json={\"of\":\"héllo\\n\"}"; len(failed) > 0 || got[0] != want {
		t.Errorf("two items: %q, %v", got, failed)
	}
	got, failed = p.all(mapper.Python{Function: "f:named", Into: []string{"x", "y"}}, items["text"])
	if want := "x.bin=\x00\xff y.json=[1,2.5,null,true]"; len(failed) > 0 || got[0] != want {
		t.Errorf("named items: %q, %v", got, failed)
	}
	got, failed = p.all(mapper.Python{Function: "f:shown", As: map[string]string{"a": "bytes"}}, items["document"])
	if len(failed) > 0 || !strings.HasPrefix(got[0], `out.txt=bytes b'{"b": [1, 2.0`) {
		t.Errorf("as bytes: %q, %v", got, failed)
	}
}

// TestPythonEdits checks the identity of a function: each edit makes another result, except
// those that change nothing.
func TestPythonEdits(t *testing.T) {
	testrand.Long(t)
	const start = `
import helper
LIMIT = 3
def f(a, extra="", table=None):
    return f"{a} {LIMIT} {helper.g(a)} {extra} {open(table).read() if table else ''}"
`
	p := newPythons(t, "")
	source := strings.Replace(start, "def f(a, extra=\"\", table=None)", "import larder\ndef f(a, extra=\"\", table: larder.File | None = None)", 1)
	source += "\ndef plain(a, table: larder.File):\n    return a + open(table).read()\n"
	source += "\ndef load():\n    return 1\ndef with_model(model, a):\n    return f'{model} {a}'\n"
	write := func(old, new string) {
		t.Helper()
		if !strings.Contains(source, old) {
			t.Fatalf("there is no %q", old)
		}
		p.write("f.py", strings.Replace(source, old, new, 1))
	}
	helper := "def g(a):\n    return len(a)\n"
	m := mapper.Python{}
	for _, c := range []struct {
		name string
		edit func()
		want int64 // computed
		out  string
	}{
		{"the first time", func() {}, 1, "out.txt=abc 3 3  "},
		{"again", func() {}, 0, "out.txt=abc 3 3  "},
		{"a comment", func() { write("LIMIT = 3", "# said\n\nLIMIT = 3") }, 0, "out.txt=abc 3 3  "},
		{"a constant", func() { write("LIMIT = 3", "LIMIT = 4") }, 1, "out.txt=abc 4 3  "},
		{"back", func() { write("LIMIT = 3", "LIMIT = 3") }, 0, "out.txt=abc 3 3  "},
		{"the body", func() { write("{a} {LIMIT}", "{a}, {LIMIT}") }, 1, "out.txt=abc, 3 3  "},
		{"the helper", func() { write("{a} {LIMIT}", "{a} {LIMIT}"); p.write("helper.py", "def g(a):\n    return 9+9\n") }, 1, "out.txt=abc 3 18  "},
		{"the helper, as large and in the same second", func() { p.write("helper.py", "def g(a):\n    return 8+8\n") }, 1, "out.txt=abc 3 16  "},
		{"an argument", func() { p.write("helper.py", helper); m.Args = map[string]any{"extra": "x"} }, 1, "out.txt=abc 3 3 x "},
		{"another argument", func() { m.Args["extra"] = int64(1) }, 1, "out.txt=abc 3 3 1 "},
		{"an argument of another type", func() { m.Args["extra"] = 1.5 }, 1, "out.txt=abc 3 3 1.5 "},
		{"a file", func() { p.write("t.txt", "one"); m.Args = nil; m.Files = map[string]component.Path{"table": "t.txt"} }, 1, "out.txt=abc 3 3  one"},
		{"its content", func() { p.write("t.txt", "two") }, 1, "out.txt=abc 3 3  two"},
		{"its name, which may be in the text", func() { p.write("u.txt", "two"); m.Files = map[string]component.Path{"table": "u.txt"} }, 1, "out.txt=abc 3 3  two"},
		{"a function that makes no text", func() { m.Function = "f:plain" }, 1, "out.txt=abctwo"},
		{"its name", func() { m.Files = map[string]component.Path{"table": "t.txt"} }, 0, "out.txt=abctwo"},
		{"a setup", func() { m = mapper.Python{Function: "f:with_model", Setup: "f:load"} }, 1, "out.txt=1 abc"},
		{"the setup's body", func() { write("return 1", "return 2") }, 1, "out.txt=2 abc"},
		{"how many there may be", func() { m.Workers, m.Timeout, m.Bytes = 1, "1h", 1000 }, 0, "out.txt=2 abc"},
	} {
		if c.name == "the first time" {
			p.write("helper.py", helper)
			p.write("f.py", source)
		}
		c.edit()
		got, failed := p.all(m, dataset.NewItem("txt", "abc"))
		if len(failed) > 0 || got[0] != c.out {
			t.Errorf("%s: %q, %v; want %q", c.name, got, failed, c.out)
		}
		if n := p.computed(); n != c.want {
			t.Errorf("%s: %d computed, want %d", c.name, n, c.want)
		}
	}
}

// TestPythonFailures checks that a failure affects its sample only, and that the error has
// the reason, the line and stderr.
func TestPythonFailures(t *testing.T) {
	p := newPythons(t, `
import os, sys, signal, time, larder
def inner(a):
    raise ValueError(f"no good: {a}")
def f(a):
    print("working on", a)
    os.write(1, b"on the standard output itself\n")
    if a == "1":
        inner(a)
    if a == "2":
        print("the last words", file=sys.stderr)
        os._exit(3)
    if a == "3":
        os.kill(os.getpid(), signal.SIGKILL)
    if a == "4":
        time.sleep(1000)
    if a == "5":
        return {1: 2}
    if a == "6":
        return float("nan")
    if a == "7":
        return object()
    if a == "8":
        sys.exit("ended")
    if a == "9":
        return "x" * 2000
    return a
`)
	m := mapper.Python{Version: "1", Timeout: "2s", Bytes: 1500}
	got, failed := p.all(m, texts(12)...)
	for i, text := range got {
		if want := fmt.Sprintf("out.txt=%d", i); (i == 0 || i > 9) && text != want {
			t.Errorf("sample %d: %q, %s", i, text, failed[i])
		}
	}
	for i, want := range map[int][]string{
		1: {"f:f: ValueError: no good: 1", "f.py:4, in inner"},
		2: {"the worker ended: exit status 3", "its stderr ends:", "working on 2", "on the standard output itself", "the last words"},
		3: {"the worker ended: signal: killed", "working on 3"},
		4: {"f:f took longer than the timeout of 2s, and its worker was ended", "working on 4"},
		5: {"item out has the key 1; keys of documents are strings"},
		6: {"item out is nan, which is not allowed in a document"},
		7: {"item out is of the type builtins.object, which cannot be an item"},
		8: {"f:f: SystemExit: ended"},
		9: {"bytes, but max-bytes is 1500"},
	} {
		for _, part := range want {
			if !strings.Contains(failed[i], part) {
				t.Errorf("sample %d: no %q in: %s", i, part, failed[i])
			}
		}
	}
}

// TestPythonRefusals checks that unusable functions are errors when the mapper is made.
func TestPythonRefusals(t *testing.T) {
	testrand.Long(t)
	p := newPythons(t, `
import time, random
def f(a): return a
def clock(a): return time.time()
def unseeded(a): return random.random()
def several(a): yield a
async def later(a): return a
COUNT = []
def counting(a):
    COUNT.append(a)
    return len(COUNT)
number = 3
`)
	p.write("broken.py", "def f(a:\n")
	for _, c := range []struct {
		m    mapper.Python
		want string
	}{
		{mapper.Python{Function: "f:g"}, "there is no g in f"},
		{mapper.Python{Function: "nowhere:f"}, "No module named 'nowhere'"},
		{mapper.Python{Function: "broken:f"}, "broken.py"},
		{mapper.Python{Function: "f:number"}, "f:number is not a function but a int"},
		{mapper.Python{Function: "f:clock"}, `time.time reaches the clock; pass its result as an argument, pass allow=["time.time"]`},
		{mapper.Python{Function: "f:unseeded"}, "random"},
		{mapper.Python{Function: "f:several"}, "f.several yields"},
		{mapper.Python{Function: "f:later"}, "asynchronous"},
		{mapper.Python{Args: map[string]any{"size": int64(1)}}, "size is given, and f.f has no parameter of that name"},
		{mapper.Python{As: map[string]string{"a": "jpeg"}}, `a is given as 'jpeg'`},
		{mapper.Python{As: map[string]string{"b": "pil"}}, `as: b is not an item`},
		{mapper.Python{Interpreter: "no-such-python"}, "the interpreter no-such-python cannot be run"},
		{mapper.Python{Files: map[string]component.Path{"a": "missing.bin"}, Items: []string{}}, "missing.bin"},
		{mapper.Python{Function: "f"}, "name it with its module"},
		{mapper.Python{Into: []string{}}, "into is empty; name at least one item"},
		{mapper.Python{Timeout: "soon"}, "timeout"},
		{mapper.Python{Allow: []string{"time.time", ""}}, "allow: a name is empty"},
		{mapper.Python{Batch: -1}, "batch"},
		{mapper.Python{Workers: -1}, "workers"},
		{mapper.Python{Into: []string{"r", "r"}}, "into has r twice"},
		{mapper.Python{Path: []component.Path{"nope"}}, "no directory"},
		{mapper.Python{Args: map[string]any{"a": 1e30}, Items: []string{}}, "more than 64 bits; give it as a string"},
	} {
		_, failed := p.all(c.m, texts(1)...)
		if !strings.Contains(failed[-1], c.want) {
			t.Errorf("%+v: no %q in %v", c.m, c.want, failed)
		}
	}
	_, failed := p.all(mapper.Python{Function: "f:counting"}, texts(1)...)
	if !strings.Contains(failed[0], "changed a variable that it uses") {
		t.Errorf("a function that counts: %v", failed)
	}
}

// TestPythonOfEachProcess checks that a value that differs between processes is an error
// that names it, once a second process runs.
func TestPythonOfEachProcess(t *testing.T) {
	p := newPythons(t, "import time\nNOW = time.time()\ndef f(a):\n    while a == '0': pass\n    return NOW\n")
	ending := &component.Cleanup{}
	defer ending.Wait()
	env := &component.Env{Dir: p.dir, Node: "n", Pool: pool.New(1), Cleanup: ending}
	ds, err := p.dataset(env, mapper.Python{Timeout: "100ms"}, texts(2)...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(t.Context(), ds, 0); err == nil || !strings.Contains(err.Error(), "100ms") {
		t.Fatalf("a process that has to be ended: %v", err)
	}
	_, err = read(t.Context(), ds, 1)
	if !errors.Is(err, dataset.ErrChanged) || !strings.Contains(err.Error(), "f:f reaches f.NOW = ") || !strings.Contains(err.Error(), "pass it as an argument") {
		t.Errorf("a time of each process: %v", err)
	}
}

func TestPythonBatches(t *testing.T) {
	p := newPythons(t, `
def f(values):
    return [v + "!" for v in values]
def yields(values):
    for v in values: yield f"{v} of {len(values)}"
def two(values):
    return [v + "!" for v in values], [len(values)] * len(values)
def some(values):
    return [ValueError("bad " + v) if v == "5" else v for v in values]
def hard(values):
    if "5" in values: raise ValueError("bad 5")
    return values
def short(values):
    return values[1:]
def unordered(values):
    return set(values)
def endless(values):
    while True: yield "x"
`)
	shouted := make([]string, 20)
	for i := range shouted {
		shouted[i] = fmt.Sprintf("out.txt=%d!", i)
	}
	got, failed := p.all(mapper.Python{Batch: 8}, texts(20)...)
	if d := cmp.Diff(shouted, got); d != "" || len(failed) > 0 {
		t.Error(d, failed)
	}
	got, failed = p.all(mapper.Python{Function: "f:yields", Batch: 20}, texts(20)...)
	if got[3] != "out.txt=3 of 20" || len(failed) > 0 {
		t.Errorf("%q %v", got[3], failed)
	}
	got, failed = p.all(mapper.Python{Function: "f:two", Batch: 4, Into: []string{"x", "y"}}, texts(4)...)
	if got[3] != "x.txt=3! y.json=4" || len(failed) > 0 {
		t.Errorf("%q %v", got[3], failed)
	}
	for _, function := range []string{"f:some", "f:hard"} {
		got, failed = p.all(mapper.Python{Function: function, Batch: 8}, texts(20)...)
		if len(failed) != 1 || !strings.Contains(failed[5], "ValueError: bad 5") {
			t.Errorf("%s: %v", function, failed)
		}
		if others := slices.Delete(slices.Clone(got), 5, 6); slices.Contains(others, "") {
			t.Errorf("%s: %q", function, got)
		}
	}
	_, failed = p.all(mapper.Python{Function: "f:short", Batch: 8}, texts(1)...)
	if !strings.Contains(failed[0], "was given 1 samples and returned a list of 0 for out") {
		t.Error(failed)
	}
	for function, message := range map[string]string{"f:unordered": "returned a set", "f:endless": "was given 1 samples and yielded more"} {
		if _, failed = p.all(mapper.Python{Function: function, Batch: 8}, texts(3)...); len(failed) != 3 || !strings.Contains(failed[0], message) {
			t.Errorf("%s: %v", function, failed)
		}
	}
}

// TestPythonFew checks that workers receive several fast samples at a time, without an
// effect on results or failures.
func TestPythonFew(t *testing.T) {
	testrand.Long(t)
	p := newPythons(t, `
import os, time
def load(): return bytearray(5)
def f(buffer, a):
    if a == "100":
        raise ValueError("no good")
    if a == "200":
        os._exit(3)
    if a == "300":
        return b"long" * 100
    buffer[:] = f"{int(a):5}".encode()
    return memoryview(buffer)
def forks(buffer, a):
    if a in ("3", "5"):
        if os.fork() == 0:
            if a == "5": raise ValueError("of the child")
            time.sleep(0.02)
            return "of the child"
    if a == "7":
        try:
            while True: os.waitpid(-1, 0) # samples may come in another order
        except ChildProcessError:
            pass
    return a
def again(values):
    buffer = bytearray(5)
    for v in values:
        buffer[:] = f"{int(v):5}".encode()
        yield buffer
def exact(a): return bytes(1000 + int(a))
def more(values):
    yield from values
    yield 1
def meet(a):
    here = os.path.dirname(__file__)
    open(os.path.join(here, "at-" + a), "w").close()
    for _ in range(3000):
        if len([name for name in os.listdir(here) if name.startswith("at-")]) >= 2:
            return a
        time.sleep(0.01)
    raise TimeoutError("no other worker came")
`)
	p.passes = true
	got, failed := p.all(mapper.Python{Setup: "f:load", Version: "1", Bytes: 100}, texts(400)...)
	for i, text := range got {
		if want := fmt.Sprintf("out.bin=%5d", i); text != want && failed[i] == "" {
			t.Errorf("sample %d: %q", i, text)
		}
	}
	if len(failed) != 3 {
		t.Errorf("%d samples failed", len(failed))
	}
	for i, want := range map[int]string{100: "ValueError: no good", 200: "exit status 3", 300: "but max-bytes is 100"} {
		if !strings.Contains(failed[i], want) || !strings.Contains(failed[i], fmt.Sprintf("sample %d", i)) {
			t.Errorf("sample %d: %s", i, failed[i])
		}
	}
	for _, function := range []string{"f:forks", "f:again"} {
		m := mapper.Python{Function: function, Version: "1", Workers: 1}
		if function == "f:forks" {
			m.Setup = "f:load"
		} else {
			m.Batch = 4
		}
		got, failed = p.all(m, texts(40)...)
		for i, text := range got {
			if text != fmt.Sprintf("out.txt=%d", i) && text != fmt.Sprintf("out.bin=%5d", i) {
				t.Errorf("%s: sample %d: %q, %s", function, i, text, failed[i])
			}
		}
	}
	if _, failed = p.all(mapper.Python{Function: "f:more", Version: "1", Batch: 4}, texts(1)...); !strings.Contains(failed[0], "was given 1 samples and yielded more") {
		t.Errorf("one too many: %v", failed)
	}
	if _, failed = p.all(mapper.Python{Function: "f:exact", Version: "1", Bytes: 1000}, texts(2)...); len(failed) != 1 || !strings.Contains(failed[1], "has 1001 bytes, but max-bytes is 1000") {
		t.Errorf("the most that there may be: %v", failed)
	}
	if got, failed = p.all(mapper.Python{Function: "f:meet", Version: "1"}, texts(4)...); len(failed) > 0 {
		t.Errorf("those that take long wait for each other: %q, %v", got, failed)
	}
}

// TestPythonProcesses checks that processes stay within their limit, call setup once each,
// and all end.
func TestPythonProcesses(t *testing.T) {
	p := newPythons(t, `
import os
def load():
    with open(os.path.join(os.path.dirname(__file__), f"started-{os.getpid()}"), "x"): pass
    return os.getpid()
def f(pid, a):
    assert pid == os.getpid()
    return str(pid)
`)
	ending := &component.Cleanup{}
	env := &component.Env{Dir: p.dir, Node: "n", Pool: pool.New(8), Cleanup: ending}
	got, failed := p.with(env, mapper.Python{Setup: "f:load", Version: "1", Workers: 2}, texts(64)...)
	slices.Sort(got)
	pids := slices.Compact(got)
	if len(failed) > 0 || len(pids) > 2 {
		t.Fatalf("%q, %v", pids, failed)
	}
	started, err := filepath.Glob(filepath.Join(p.dir, "started-*"))
	if err != nil || len(started) != len(pids) {
		t.Errorf("%d setups of %d workers, %v", len(started), len(pids), err)
	}
	ending.Wait()
	for _, text := range pids {
		pid, err := strconv.Atoi(strings.TrimPrefix(text, "out.txt="))
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("worker %d is left", pid)
		}
	}
}

// TestPythonSlowSetup checks that the timeout of a sample excludes setup, such as loading a
// model.
func TestPythonSlowSetup(t *testing.T) {
	testrand.Long(t)
	p := newPythons(t, `
import time
def load():
    time.sleep(1)
    return "loaded"
def fail(): raise ValueError("no model")
def f(model, a): return model
`)
	got, failed := p.all(mapper.Python{Setup: "f:load", Version: "1", Timeout: "500ms"}, texts(2)...)
	if got[0] != "out.txt=loaded" || len(failed) > 0 {
		t.Errorf("%q %v", got, failed)
	}
	_, failed = p.all(mapper.Python{Setup: "f:fail", Version: "1", Timeout: "500ms"}, texts(2)...)
	if len(failed) != 2 || !strings.Contains(failed[0], "ValueError: no model") {
		t.Error(failed)
	}
}

// TestPythonWorkersOutlastFailures checks that neither a failed sample in a batch nor a
// long error ends a worker.
func TestPythonWorkersOutlastFailures(t *testing.T) {
	p := newPythons(t, `
import os
def some(values): return [ValueError("bad " + v) if int(v) % 3 == 0 else str(os.getpid()) for v in values]
def long(a):
    if int(a) % 3 == 0: raise ValueError("m" * 1000)
    return str(os.getpid())
`)
	for _, m := range []mapper.Python{{Function: "f:some", Batch: 4}, {Function: "f:long", Bytes: 100}} {
		m.Version, m.Workers = "1", 1
		got, failed := p.all(m, texts(12)...)
		slices.Sort(got)
		if pids := slices.Compact(got); len(failed) != 4 || len(pids) != 2 || pids[0] != "" {
			t.Errorf("%s: %q, %v", m.Function, pids, failed)
		}
		if text := failed[3]; !strings.Contains(text, "ValueError: ") {
			t.Error(text)
		}
	}
}

// TestPythonCancelled checks that cancelling a computation ends its worker immediately.
func TestPythonCancelled(t *testing.T) {
	p := newPythons(t, `
import os, time
def f(a):
    open(os.path.join(os.path.dirname(__file__), "begun"), "w").close()
    time.sleep(1000)
`)
	begun := filepath.Join(p.dir, "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	ending := &component.Cleanup{}
	env := &component.Env{Dir: p.dir, Node: "n", Pool: pool.New(2), Cleanup: ending}
	ds, err := p.dataset(env, mapper.Python{Version: "1"}, texts(1)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no more")
	go func() {
		_, _ = os.ReadFile(begun) // until the function has started
		cancel(why)
	}()
	if _, err := read(ctx, ds, 0); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	ending.Wait()
}

// TestPythonArrays checks that arrays pass unchanged in both directions, and that the
// memory of large ones is released.
func TestPythonArrays(t *testing.T) {
	p := newPythons(t, `
def f(a):
    return a
`)
	if exec.CommandContext(t.Context(), os.Getenv("LARDER_PYTHON"), "-c", "import numpy").Run() != nil {
		t.Skip("the Python of this machine has no NumPy")
	}
	var as []*dataset.Item
	for n := range 40 {
		size := n * n * 100
		if n == 20 {
			size = 100 << 20
		}
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * n)
		}
		a, err := array.New(array.Uint8, []int{size}, data)
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, dataset.NewItem("npy", a))
	}
	ending := &component.Cleanup{}
	defer ending.Wait()
	ds, err := p.dataset(&component.Env{Dir: p.dir, Node: "n", Pool: pool.New(2), Cleanup: ending}, mapper.Python{}, as...)
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range as {
		want, err := it.Bytes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Item("out")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := out.Bytes(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Fatalf("array %d is not what it was: %v", i, err)
		}
	}
}

// TestPythonArguments checks that arguments keep the types with which they are written.
func TestPythonArguments(t *testing.T) {
	testrand.Long(t)
	p := newPythons(t, `
def f(a, given):
    return repr(given)
`)
	for _, c := range []struct {
		given any
		want  string
	}{
		{int64(1), "1"}, {1.0, "1.0"}, {0.0, "0.0"}, {math.Copysign(0, -1), "-0.0"}, {1e3, "1000.0"}, {1e-7, "1e-07"}, {0.1, "0.1"},
		{int64(math.MaxInt64), "9223372036854775807"}, {"1", "'1'"}, {true, "True"}, {nil, "None"},
		{[]any{0.5, 1.0, int64(1)}, "[0.5, 1.0, 1]"},
		{[]component.Entry{{Key: "b", Value: 2.0}, {Key: "a", Value: []any{}}}, "{'b': 2.0, 'a': []}"},
	} {
		got, failed := p.all(mapper.Python{Args: map[string]any{"given": c.given}}, texts(1)...)
		if len(failed) > 0 || got[0] != "out.txt="+c.want {
			t.Errorf("%v: %q, %v; want %s", c.given, got, failed, c.want)
		}
		if n := p.computed(); n != 1 {
			t.Errorf("%v: %d computed, so another argument has its key", c.given, n)
		}
	}
}

// TestPythonMischief checks that the effects of a function on its process fail no other
// sample and leave nothing behind.
func TestPythonMischief(t *testing.T) {
	p := newPythons(t, `
import os, subprocess, sys
def f(a):
    if a == "1":
        for n in range(3, 10):
            try: os.close(n)
            except OSError: pass
    if a == "2":
        sys.stdout = sys.stderr = None
    if a == "3":
        raise ValueError("m" * 50_000_000)
    if a == "4":
        class Own(BaseException): pass
        raise Own("mine")
    if a == "5":
        raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])
    if a == "6":
        return str(subprocess.Popen(["sleep", "1234"], start_new_session=True).pid)
    return a
`)
	got, failed := p.all(mapper.Python{Version: "1"}, texts(10)...)
	for i, text := range got {
		if want := fmt.Sprintf("out.txt=%d", i); (i < 3 || i > 6) && text != want {
			t.Errorf("sample %d: %q, %s", i, text, failed[i])
		}
	}
	if n := len(failed[3]); n == 0 || n > 10_000 {
		t.Errorf("an error of %d bytes", n)
	}
	for i, want := range map[int]string{4: "Own: mine", 5: "with TypeError: two"} {
		if !strings.Contains(failed[i], want) {
			t.Errorf("sample %d: %s", i, failed[i])
		}
	}
	pid, err := strconv.Atoi(strings.TrimPrefix(got[6], "out.txt="))
	if err != nil {
		t.Fatal(err, failed[6])
	}
	// A killed process exists until its processor handles the signal.
	for end := time.Now().Add(time.Minute); runtime.GOOS == "linux"; runtime.Gosched() {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(state), ") Z ") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("what a function started is left: %s", state)
		}
	}
}
