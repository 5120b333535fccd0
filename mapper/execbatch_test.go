package mapper_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"
)

// batching is a command that records the samples of each of its runs, and computes from
// each what shout does.
const batching = `line=; for s in "$LARDER_BATCH"/*; do line="$line $(cat "$s/in/a.txt")"; shout "$s/in/a.txt" "$s/out"; done; echo "$line" >> "$RUNS"; `

// single does the same for one sample.
const single = `cat "$LARDER_IN/a.txt" >> "$RUNS"; echo >> "$RUNS"; shout "$LARDER_IN/a.txt" "$LARDER_OUT"; `

const shout = `shout() { { printf '!'; cat "$1"; printf '\0\n\n'; } > "$2/b.bin"; head -c 1 "$1" > "$2/c.txt"; }; `

// batches has the fixtures of a test of batches.
type batches struct {
	t     testing.TB
	store *memory.Store
	env   *component.Env
}

func newBatches(t *testing.T) *batches {
	t.Helper()
	runs := filepath.Join(t.TempDir(), "runs")
	t.Setenv("RUNS", runs)
	return &batches{t: t, store: memory.New(memory.Options{}), env: &component.Env{Dir: t.TempDir(), Node: "n"}}
}

// runs returns the samples of each run of the command since the last call.
func (b *batches) runs() (all [][]int) {
	b.t.Helper()
	text, err := os.ReadFile(os.Getenv("RUNS"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err = errors.Join(err, os.Remove(os.Getenv("RUNS"))); err != nil {
		b.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		samples := []int{}
		for _, word := range strings.Fields(line) {
			i, err := strconv.Atoi(word)
			if err != nil {
				b.t.Fatal(err)
			}
			samples = append(samples, i)
		}
		all = append(all, samples)
	}
	slices.SortFunc(all, slices.Compare[[]int])
	return all
}

// samples returns the first n results of the command for samples whose item a is their
// number.
func (b *batches) samples(n int, e mapper.Exec, keep bool) component.Samples {
	b.t.Helper()
	in := dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", fmt.Append(nil, i))}), nil
	})
	e.Items, e.Into, e.Env = []string{"a"}, []string{"b", "c"}, []string{"RUNS"}
	if err := e.Check(); err != nil {
		b.t.Fatal(err)
	}
	m, err := e.Transform(b.env)
	if err != nil {
		b.t.Fatal(err)
	}
	l, err := larder.Open(larder.Options{Store: b.store})
	if err != nil {
		b.t.Fatal(err)
	}
	return dataset.Map(in, m, dataset.MapOptions{Node: "n", Larder: l, Keep: keep})
}

// bytes returns the computed items of each sample, and the errors.
func (b *batches) bytes(ds component.Samples, workers int) ([]string, map[int]string) {
	b.t.Helper()
	all, failed := make([]string, ds.Len()), map[int]string{}
	ranges := dataset.RangesOf(ds)
	err := pool.New(workers).AtLeast(dataset.BatchOf(ds)).Ranges(b.t.Context(), ds.Len(), func(ctx context.Context, from, to int) (int, error) {
		samples, err := ranges.Range(ctx, from, to)
		for k, s := range samples {
			for _, item := range []string{"b", "c"} {
				it, err := s.Item(item)
				if err != nil {
					return 0, err
				}
				text, err := it.Bytes(ctx)
				if err != nil {
					return 0, err
				}
				all[from+k] += string(text) + "|"
			}
		}
		if err != nil {
			failed[from+len(samples)] = err.Error()
			return len(samples) + 1, nil
		}
		return len(samples), nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all, failed
}

func sh(script string) []string { return []string{"sh", "-c", script} }

// TestExecBatches checks that the command starts once for as many missing samples as it
// accepts, with the same results as one by one.
func TestExecBatches(t *testing.T) {
	testrand.Long(t)
	draw := testrand.New(t)
	for _, size := range []int{1, 4, 7} {
		for _, n := range testrand.Some(t, 21, 4) {
			b := newBatches(t)
			want, _ := b.bytes(b.samples(n, mapper.Exec{Command: sh(shout + single)}, false), 1)
			if got := b.runs(); len(got) != n {
				t.Fatalf("one by one: %v", got)
			}
			e := mapper.Exec{Command: sh(shout + batching), Batch: size}
			keep, workers := draw.IntN(3) > 0, 1+draw.IntN(2)
			before := map[int]bool{}
			if keep {
				ds := b.samples(n, e, keep)
				for range n / 2 {
					i := draw.IntN(n)
					s, err := ds.At(t.Context(), i)
					if err == nil {
						_, err = s.Value(t.Context(), "b")
					}
					if err != nil {
						t.Fatal(err)
					}
					before[i] = true
				}
			}
			for _, samples := range b.runs() {
				if len(samples) != 1 {
					t.Fatalf("one sample was requested, and made were %v", samples)
				}
			}
			got, failed := b.bytes(b.samples(n, e, keep), workers)
			runs := b.runs()
			what := fmt.Sprintf("batch %d, %d samples, of which %v are stored, %d workers: %v", size, n, slices.Sorted(maps.Keys(before)), workers, runs)
			if diff := cmp.Diff(want, got); diff != "" || len(failed) > 0 {
				t.Fatalf("%s: %v, (-one by one +batches)\n%s", what, failed, diff)
			}
			most := (n + size - 1) / size
			if len(runs) > most || len(before) == 0 && len(runs) != most {
				t.Errorf("%s: want %d runs", what, most)
			}
			var made []int
			for _, r := range runs {
				made = append(made, r...)
			}
			slices.Sort(made)
			missing := slices.DeleteFunc(slices.Collect(order(n)), func(i int) bool { return before[i] })
			if !slices.Equal(made, missing) {
				t.Errorf("%s: missing were %v", what, missing)
			}
			again, _ := b.bytes(b.samples(n, e, keep), workers)
			if got := b.runs(); !slices.Equal(again, want) || keep && got != nil {
				t.Errorf("%s: then %v", what, got)
			}
		}
	}
}

func order(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// TestExecBatchErrors checks that a sample that the command reports, or leaves without an
// item, fails separately, and that the others are cached. If the command itself fails, its
// files are ignored and the bad sample is found.
func TestExecBatchErrors(t *testing.T) {
	testrand.Long(t)
	t.Setenv("TMPDIR", t.TempDir())
	const each = shout + `for s in "$LARDER_BATCH"/*; do n=$(cat "$s/in/a.txt"); if [ $n = 2 ]; then BAD; else shout "$s/in/a.txt" "$s/out"; fi; done; for s in "$LARDER_BATCH"/*; do cat "$s/in/a.txt"; printf ' '; done >> "$RUNS"; echo >> "$RUNS"; `
	for name, c := range map[string]struct {
		bad, end string
		e        mapper.Exec
		error    string
		runs     [][]int
	}{
		"named": {bad: `echo "it is even" > "$s/error"`, error: "node n: sample 2: the command failed: it is even",
			runs: [][]int{{0, 1, 2, 3}, {4, 5}}},
		"named without a word":  {bad: `: > "$s/error"; shout "$s/in/a.txt" "$s/out"`, error: "an empty file error", runs: [][]int{{0, 1, 2, 3}, {4, 5}}},
		"named, as a directory": {bad: `mkdir "$s/error"`, error: "error, which is not a regular file", runs: [][]int{{0, 1, 2, 3}, {4, 5}}},
		"an item is missing":    {bad: `: > "$s/out/b.bin"`, error: "node n: sample 2: the command did not write item c", runs: [][]int{{0, 1, 2, 3}, {4, 5}}},
		"too many bytes": {bad: `seq 9 > "$s/out/b.bin"; : > "$s/out/c.txt"`, e: mapper.Exec{Bytes: 9}, error: "node n: sample 2: the command wrote more than 9 bytes",
			runs: [][]int{{0, 1, 2, 3}, {4, 5}}},
		// The files for 3 may be incomplete.
		"named, with a status": {bad: `echo even > "$s/error"; status=3`, end: `exit $status`, error: "node n: sample 2: the command failed: even",
			runs: [][]int{{0}, {0, 1, 2, 3}, {1}, {3}, {4, 5}}},
		"an unknown sample": {bad: `status=3`, end: `[ -z "$status" ] || echo oh >&2; exit $status`, error: "exit status 3; its stderr ends:\n    oh", runs: [][]int{{0, 1}, {0, 1, 2, 3}, {2}, {2, 3}, {3}, {4, 5}}},
		"it hangs":          {bad: `status=1`, end: `[ -z "$status" ] || exec sleep 1000`, e: mapper.Exec{Timeout: "400ms"}, error: "killed after the timeout of 400ms", runs: [][]int{{0, 1}, {0, 1, 2, 3}, {2}, {2, 3}, {3}, {4, 5}}},
	} {
		for _, keep := range []bool{true, false} {
			if !keep && c.e.Timeout != "" {
				continue // tested once, as it takes long
			}
			b := newBatches(t)
			c.e.Command, c.e.Batch = sh("status=; "+strings.Replace(each, "BAD", c.bad, 1)+c.end), 4
			got, failed := b.bytes(b.samples(6, c.e, keep), 1)
			if len(failed) != 1 || !strings.Contains(failed[2], c.error) || !strings.HasPrefix(failed[2], "node n: sample 2: ") {
				t.Errorf("%s, keep %v: the errors are %v, want %s", name, keep, failed, c.error)
			}
			for i, text := range got {
				if want := fmt.Sprintf("!%d\x00\n\n|%d|", i, i); i != 2 && text != want {
					t.Errorf("%s, keep %v: sample %d is %q, want %q", name, keep, i, text, want)
				}
			}
			runs := b.runs()
			if keep && cmp.Diff(c.runs, runs) != "" {
				t.Errorf("%s: runs for %v, want %v", name, runs, c.runs)
			}
			if !keep {
				continue
			}
			if _, failed := b.bytes(b.samples(6, c.e, keep), 1); len(failed) != 1 {
				t.Errorf("%s: then %v", name, failed)
			}
			if runs := b.runs(); len(runs) != 1 || !slices.Equal(runs[0], []int{2}) {
				t.Errorf("%s: the next run is for %v", name, runs)
			}
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestExecBatchLogs checks that stderr of a batch is in the log of each of its samples, and
// that a later log of one sample leaves the others.
func TestExecBatchLogs(t *testing.T) {
	b := newBatches(t)
	b.env.Logs = filepath.Join(t.TempDir(), "logs")
	e := mapper.Exec{Command: sh(shout + batching + `[ -n "${line##*0*}" ] || { echo "about$line" >&2; }`), Batch: 2}
	b.bytes(b.samples(4, e, false), 1)
	dir := filepath.Join(b.env.Logs, "n")
	if got, want := fmt.Sprint(logsIn(t, dir)), "map[000000.log:about 0 1\n 000001.log:about 0 1\n]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e.Batch = 0
	e.Command = sh(shout + single + `echo alone >&2`)
	b.bytes(b.samples(1, e, false), 1)
	if got, want := fmt.Sprint(logsIn(t, dir)), "map[000000.log:alone\n 000001.log:about 0 1\n]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestExecBatchIsNoPartOfTheKey checks this and the bounds of the batch size.
func TestExecBatchIsNoPartOfTheKey(t *testing.T) {
	var keys []string
	for _, n := range []int{0, 1, 512} {
		e := mapper.Exec{Command: []string{"true"}, Items: []string{"a"}, Into: []string{"b"}, Batch: n}
		m, err := e.Transform(&component.Env{Dir: t.TempDir()})
		if err = errors.Join(err, e.Check()); err != nil {
			t.Fatal(err)
		}
		op, err := m.Op(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, op.Key().String())
	}
	if len(slices.Compact(keys)) != 1 {
		t.Errorf("the keys are %v", keys)
	}
	for _, n := range []int{-1, 513} {
		if err := (mapper.Exec{Batch: n}).Check(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("batch is %d; give 1 to 512", n)) {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestExecIsCheckedBefore checks that errors that do not depend on samples occur before
// anything runs.
func TestExecIsCheckedBefore(t *testing.T) {
	for want, e := range map[string]mapper.Exec{
		"command is empty":                      {Items: []string{"a"}, Into: []string{"b"}},
		`items: item "a" is listed twice`:       {Command: []string{"true"}, Items: []string{"a", "a"}, Into: []string{"b"}},
		`into: item "b" is listed twice`:        {Command: []string{"true"}, Items: []string{"a"}, Into: []string{"b", "b"}},
		`into: item "b.c" is not a file name`:   {Command: []string{"true"}, Items: []string{"a"}, Into: []string{"b.c"}},
		`items: item "../a" is not a file name`: {Command: []string{"true"}, Items: []string{"../a"}, Into: []string{"b"}},
		`env: "A=1" is not a variable name`:     {Command: []string{"true"}, Items: []string{"a"}, Into: []string{"b"}, Env: []string{"A=1"}},
	} {
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
