package rows_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/pool"

	_ "github.com/larder-data/larder/format/arrow"
	_ "github.com/larder-data/larder/format/csv"
	_ "github.com/larder-data/larder/format/jsonl"
	_ "github.com/larder-data/larder/format/parquet"
	_ "github.com/larder-data/larder/format/text"
	_ "github.com/larder-data/larder/format/tfrecord"
	_ "github.com/larder-data/larder/format/webdataset"
)

// sharded has the sinks that write several files, with their extensions.
var sharded = map[string]string{
	"arrow": ".arrow", "csv": ".csv", "jsonl": ".jsonl", "parquet": ".parquet", "text": ".txt", "tfrecord": ".tfrecord", "webdataset": ".tar",
}

func shardEnv() *component.Env {
	return &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
}

// sinkOf returns a sink and parameters: a path, overwrite: replace, and named others.
func sinkOf(t *testing.T, name, dir string, with map[string]any) (*component.Component, any) {
	t.Helper()
	c, err := component.Find(component.Sink, name)
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.New(c.Type).Elem()
	all := map[string]any{"path": dir, "overwrite": "replace", "header": true}
	maps.Copy(all, with)
	for _, p := range c.Params {
		if given, ok := all[p.Name]; ok {
			v.Field(p.Field).Set(reflect.ValueOf(given).Convert(p.Type))
		}
	}
	return c, v.Interface()
}

// put writes samples to a directory, and counts the files.
func put(t *testing.T, name, dir string, with map[string]any, in component.Data) (*dataset.NodeStats, error) {
	t.Helper()
	c, params := sinkOf(t, name, dir, with)
	env := shardEnv()
	return env.Stats, c.Write(t.Context(), env, params, in)
}

// texts returns samples of the given lengths. Those with even numbers compress well.
func texts(name string, lengths []int) (all []dataset.Sample) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, n := range lengths {
		text := []byte(strconv.Itoa(i) + " ")
		for len(text) < n {
			c := byte('x')
			if i%2 > 0 {
				c = byte('!' + r.IntN(90))
			}
			text = append(text, c)
		}
		fields := []dataset.Field{{Key: "text", Item: dataset.NewItem("txt", string(text))}}
		switch name {
		case "arrow", "parquet", "tfrecord", "webdataset":
			list, _ := array.New(array.Uint8, []int{i % 7}, make([]byte, i%7)) // both belong together
			fields = append(fields, dataset.Field{Key: "list", Item: dataset.NewItem("npy", list)})
		}
		all = append(all, dataset.NewSample(fields...))
	}
	return all
}

// numbersIn reads the samples in a directory, or one file of it, and returns their numbers.
func numbersIn(t *testing.T, name, path string) (numbers []int) {
	t.Helper()
	c, err := component.Find(component.Source, name)
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.New(c.Type).Elem()
	for _, p := range c.Params {
		if p.Name == "path" {
			v.Field(p.Field).SetString(path)
		}
		if p.Name == "formats" {
			v.Field(p.Field).Set(reflect.ValueOf(map[string]string{"text": "txt"}).Convert(p.Type))
		}
	}
	ds, err := c.OpenSource(t.Context(), shardEnv(), v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	key := "text"
	if name == "webdataset" {
		key = "txt"
	}
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		k := key
		if _, ok := s.Field(k); !ok {
			k = "text"
		}
		text, err := s.Value(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.Fields(fmt.Sprint(text))[0])
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// directory returns the files in a directory, by name.
func directory(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

// TestShards checks that files keep their bounds, except those of a single sample, and
// together have all samples in order. A second run writes nothing.
func TestShards(t *testing.T) {
	for name, ending := range sharded {
		t.Run(name, func(t *testing.T) {
			random := testrand.New(t)
			for range testrand.Rounds(6, 60) {
				lengths := make([]int, random.IntN(60))
				for i := range lengths {
					if lengths[i] = random.IntN(400); random.IntN(20) == 0 {
						lengths[i] = 30_000
					}
				}
				bytes, most := 1+random.IntN(20_000), random.IntN(12)
				dir := filepath.Join(t.TempDir(), "shards")
				with := map[string]any{"shard-bytes": strconv.Itoa(bytes), "shard-samples": most}
				if len(lengths) == 0 {
					continue // a table without samples has no columns: see TestShardsOfNothing
				}
				in := component.One(dataset.List(texts(name, lengths)...))
				stats, err := put(t, name, dir, with, in)
				if err != nil {
					t.Fatal(err)
				}
				files := directory(t, dir)
				next := 0
				for i, file := range slices.Sorted(maps.Keys(files)) {
					if want := fmt.Sprintf("%06d%s", i, ending); file != want {
						t.Fatalf("file %d is %s, not %s", i, file, want)
					}
					numbers := numbersIn(t, name, filepath.Join(dir, file))
					if len(numbers) == 0 || most > 0 && len(numbers) > most || len(numbers) > 1 && len(files[file]) > bytes {
						t.Fatalf("%s has %d samples and %d bytes, of at most %d and %d", file, len(numbers), len(files[file]), most, bytes)
					}
					for _, n := range numbers {
						if n != next {
							t.Fatalf("%s has sample %d in the place of %d", file, n, next)
						}
						next++
					}
				}
				if next != len(lengths) || stats.Computed.Load() != int64(next) || stats.Done.Load() != int64(next) {
					t.Fatalf("%d of %d samples, %d computed", next, len(lengths), stats.Computed.Load())
				}
				if stats, err := put(t, name, dir, with, in); err != nil || stats.BytesWritten.Load() != 0 || stats.FromStore.Load() != int64(next) {
					t.Fatalf("%d bytes written again, %v", stats.BytesWritten.Load(), err)
				}
				if name == "csv" {
					continue // read from one file only
				}
				if all := numbersIn(t, name, dir); len(all) != next || !slices.IsSorted(all) {
					t.Fatalf("the directory is read as %v", all)
				}
			}
		})
	}
}

// TestShardsAreFull checks that a file of strings or records has all samples that fit, and
// that one of a table is almost full.
func TestShardsAreFull(t *testing.T) {
	lengths := make([]int, 2000)
	for i := range lengths {
		lengths[i] = 100
	}
	for name, least := range map[string]int{"jsonl": 9_880, "csv": 9_880, "text": 9_890, "tfrecord": 9_700, "webdataset": 7_000, "arrow": 8_000, "parquet": 6_000} {
		dir := t.TempDir()
		if _, err := put(t, name, dir, map[string]any{"shard-bytes": "10kB"}, component.One(dataset.List(texts(name, lengths)...))); err != nil {
			t.Fatal(err)
		}
		files := directory(t, dir)
		for _, file := range slices.Sorted(maps.Keys(files))[:len(files)-1] {
			if n := len(files[file]); n < least || n > 10_000 {
				t.Errorf("%s of %s has %d bytes", file, name, n)
			}
		}
	}
}

// TestShardsGoOn checks that after a failed or killed run the complete files stay, and that
// all files get the usual bytes. Tables whose types depend on all samples have no file
// before the last sample.
func TestShardsGoOn(t *testing.T) {
	lengths := make([]int, 100)
	for i := range lengths {
		lengths[i] = 50 + i*7%200
	}
	with := map[string]any{"shard-bytes": "4KiB"}
	for name, ending := range sharded {
		samples := texts(name, lengths)
		whole, dir := t.TempDir(), t.TempDir()
		if _, err := put(t, name, whole, with, component.One(dataset.List(samples...))); err != nil {
			t.Fatal(err)
		}
		broken := dataset.Func(len(samples), func(_ context.Context, i int) (dataset.Sample, error) {
			if i == 70 {
				return dataset.Sample{}, errors.New("no such sample")
			}
			return samples[i], nil
		})
		if _, err := put(t, name, dir, with, component.One(broken)); err == nil {
			t.Fatal("a sample that cannot be made is not an error")
		}
		begun, want := directory(t, dir), directory(t, whole)
		inferred := name == "arrow" || name == "parquet" // nothing is written before all samples were read
		if inferred != (len(begun) == 0) || len(begun) >= len(want) {
			t.Fatalf("%s: %d of %d files were complete", name, len(begun), len(want))
		}
		left := filepath.Join(dir, fmt.Sprintf(".%06d%s.larder-123", len(begun), ending))
		other := filepath.Join(dir, ".mine.larder-123")
		if err := errors.Join(os.WriteFile(left, []byte("half"), 0o600), os.WriteFile(other, []byte("whole"), 0o600)); err != nil {
			t.Fatal(err)
		}
		stats, err := put(t, name, dir, with, component.One(dataset.List(samples...)))
		if err != nil {
			t.Fatal(err)
		}
		written := 0
		for file := range want {
			if _, ok := begun[file]; !ok {
				written += len(want[file])
			}
		}
		if stats.BytesWritten.Load() != int64(written) {
			t.Errorf("%s: %d bytes were written, not the %d of what was missing", name, stats.BytesWritten.Load(), written)
		}
		want[filepath.Base(other)] = "whole"
		if runtime.GOOS == "linux" { // other systems cannot detect a killed writer
			if got := directory(t, dir); !maps.Equal(got, want) {
				t.Errorf("%s: there is %v, and of a run without an end before %v", name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
		}
	}
}

// TestShardsThatAreThere checks that old shards are an error, or are replaced, including
// superfluous ones. Other files stay.
func TestShardsThatAreThere(t *testing.T) {
	dir := t.TempDir()
	ten := component.One(dataset.List(texts("jsonl", make([]int, 10))...))
	if _, err := put(t, "jsonl", dir, map[string]any{"shard-samples": 1}, ten); err != nil {
		t.Fatal(err)
	}
	others := []string{"0000003.jsonl", "a-000003.jsonl", "000003.json", "000004.jsonl.gz", "00004.jsonl", "x000004.jsonl"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := directory(t, dir)
	if _, err := put(t, "jsonl", dir, map[string]any{"shard-samples": 4, "overwrite": "forbid"}, ten); !errors.Is(err, fs.ErrExist) || !maps.Equal(directory(t, dir), before) {
		t.Errorf("over files that are there: %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "000000.jsonl")), os.Remove(filepath.Join(dir, "000001.jsonl"))); err != nil {
		t.Fatal(err)
	}
	if _, err := put(t, "jsonl", dir, map[string]any{"shard-bytes": "1TB", "overwrite": "forbid"}, ten); !errors.Is(err, fs.ErrExist) {
		t.Errorf("next to files that would be read with it: %v", err)
	}
	if _, err := put(t, "jsonl", dir, map[string]any{"shard-samples": 4}, ten); err != nil {
		t.Fatal(err)
	}
	want := append([]string{"000000.jsonl", "000001.jsonl", "000002.jsonl"}, others...)
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(directory(t, dir))); !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
}

// TestShardsThatAreRead checks that a superfluous file that the flow reads is not deleted.
func TestShardsThatAreRead(t *testing.T) {
	dir := t.TempDir()
	read := filepath.Join(dir, "000007.jsonl")
	if err := os.WriteFile(read, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, params := sinkOf(t, "jsonl", dir, map[string]any{"shard-samples": 5})
	env := shardEnv()
	env.Inputs = &pathguard.Inputs{}
	env.Inputs.Add(pathguard.Input{Owner: "node in", Path: read})
	err := c.Write(t.Context(), env, params, component.One(dataset.List(texts("jsonl", make([]int, 10))...)))
	if _, gone := os.Stat(read); err == nil || gone != nil {
		t.Errorf("%v, %v", err, gone)
	}
}

// TestShardsOfSeveral checks that each output has its own shards under its name.
func TestShardsOfSeveral(t *testing.T) {
	dir := t.TempDir()
	in := component.Data{Names: []string{"train", "test"}}
	for _, n := range []int{5, 2} {
		in.Parts = append(in.Parts, dataset.List(texts("text", make([]int, n))...))
	}
	if _, err := put(t, "text", dir, map[string]any{"shard-samples": 2, "compress": "gzip"}, in); err != nil {
		t.Fatal(err)
	}
	want := []string{"test-000000.txt.gz", "train-000000.txt.gz", "train-000001.txt.gz", "train-000002.txt.gz"}
	if got := slices.Sorted(maps.Keys(directory(t, dir))); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := numbersIn(t, "text", filepath.Join(dir, "train-{000000..000002}.txt.gz")); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("%v", got)
	}
	in.Names[0] = "../train"
	if _, err := put(t, "text", dir, map[string]any{"shard-samples": 2}, in); err == nil {
		t.Error("the name of an output leads out of the directory")
	}
}

// TestShardsOfNothing checks that a dataset without samples gives one empty file.
func TestShardsOfNothing(t *testing.T) {
	for _, name := range []string{"jsonl", "text", "tfrecord", "webdataset"} {
		dir := t.TempDir()
		if _, err := put(t, name, dir, map[string]any{"shard-bytes": "1MiB"}, component.One(dataset.List[dataset.Sample]())); err != nil {
			t.Fatal(err)
		}
		if got := directory(t, dir); len(got) != 1 || len(numbersIn(t, name, dir)) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestBoundsOfShards checks that invalid bounds are refused, and so is a directory named
// like a file.
func TestBoundsOfShards(t *testing.T) {
	for _, c := range []struct {
		rows.Shards
		want string
	}{
		{rows.Shards{Bytes: "many"}, `shard-bytes: "many" is not a size such as 256MiB`},
		{rows.Shards{Bytes: "-1"}, `"-1" is not a size`},
		{rows.Shards{Bytes: "0"}, "shard-bytes is 0; give at least 1"},
		{rows.Shards{Samples: -1}, "shard-samples is -1; give at least 1"},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
	for name, ending := range sharded {
		for path, ok := range map[string]bool{"out": true, "out" + ending: false, "out" + ending + ".gz": false} {
			_, params := sinkOf(t, name, path, map[string]any{"shard-bytes": "1MiB"})
			single, _ := component.As[component.SingleChecker](params)
			if err := single.CheckSingle(); (err == nil) != ok {
				t.Errorf("%s into %s: %v", name, path, err)
			}
		}
	}
}
