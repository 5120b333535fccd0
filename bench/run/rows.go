package main

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A Row is one task for all systems.
type Row struct {
	Name        string
	Job         string // the task, if several rows have the same
	Title       string
	Work        string // the text above the table: the task and the method
	Note        string // the text below it
	Phases      []string
	Contestants []Contestant
	Columns     []Column
	Main        string // the system that the others are compared with
	N, Quick    int    // keys, values, nodes or samples
	Sizes       []int  // in place of N
	Large       int    // one more size, measured once
	Bytes       int
	Processes   int
	// Data creates the input of all systems in a directory.
	Data func(dir string, n int) error
	// Before is called before each phase.
	Before func(dir, phase string, run int) error
	Least  int // size in the table; smaller ones count in the exponents and charts
}

// A Contestant is a system under test, used in one way.
type Contestant struct {
	Name   string
	Python bool
	N      int    // its share of the work if all of it takes too long
	Most   int    // the largest size it is measured at; 0 means all
	Not    string // why it is not run
	Own    func(data, dir string, n int) (string, error)
}

// A Column is one figure of each system.
type Column struct {
	Figure, Title string
	Kind          Kind
	Chart         bool // has a panel in the chart
	Hidden        bool // from the table
}

// A Kind is the unit of a figure.
type Kind int

// The kinds.
const (
	Time Kind = iota // seconds
	Bytes
	Count
	Part // a fraction, in percent
)

func (r Row) n(quick bool) int {
	if quick {
		return r.Quick
	}
	return r.N
}

// sizes returns what a run measures.
func (r Row) sizes(quick bool, run int) []int {
	switch {
	case r.Sizes == nil:
		return []int{r.n(quick)}
	case quick:
		return r.Sizes[:2]
	case run == 0 && r.Large > 0:
		return append(slices.Clip(r.Sizes), r.Large)
	}
	return r.Sizes
}

// turn returns the systems in rotated order, beginning with first, so that none always
// follows the same one.
func (r Row) turn(first int) []Contestant {
	return slices.Concat(r.Contestants[first:], r.Contestants[:first])
}

func (r Row) phases() []string {
	if r.Phases == nil {
		return []string{""}
	}
	return r.Phases
}

func (c Contestant) n(size int, quick bool) int {
	if c.N == 0 {
		return size
	}
	if quick {
		return min(c.N, size)
	}
	return c.N
}

func inGo(names ...string) (list []Contestant) {
	for _, n := range names {
		list = append(list, Contestant{Name: n})
	}
	return list
}

func inPython(names ...string) (list []Contestant) {
	for _, n := range names {
		list = append(list, Contestant{Name: n, Python: true})
	}
	return list
}

func all(lists ...[]Contestant) (list []Contestant) {
	for _, l := range lists {
		list = append(list, l...)
	}
	return list
}

func not(name, why string) []Contestant { return []Contestant{{Name: name, Not: why}} }

var coldWarm = []string{"cold", "warm"}

// memoColumns are the columns of rows that call a memoized function.
var memoColumns = []Column{
	{Figure: "warm", Title: "hit", Chart: true},
	{Figure: "cold", Title: "computed and stored"},
}

var storeColumns = []Column{
	{Figure: "put", Title: "put", Chart: true},
	{Figure: "get", Title: "get", Chart: true},
	{Figure: "open", Title: "open and first get"},
	{Figure: "disk", Title: "on disk", Kind: Bytes},
	{Figure: "anon", Title: "memory of its own", Kind: Bytes},
	{Figure: "mapped", Title: "mapped from files", Kind: Bytes},
}

var rows = []Row{
	{
		Name: "hit", Title: "A hit of a tiny result", N: 200, Quick: 20, Phases: coldWarm, Main: "Larder, on disk", Columns: memoColumns,
		Work: "A function from integer to integer is called with 200 arguments in one process, then in the next. Figures are per call, key included.",
		Note: "In-memory caches start empty in each process. They are faster because they compare arguments with `==` in one process; Larder computes SHA-256, so that other processes find the result.",
		Contestants: all(inGo("Larder, on disk", "Larder, in memory", "Larder lazy, on disk", "Larder lazy, in memory", "otter, in memory", "groupcache, in memory"),
			not("groupcache-go", "could not be fetched"), inPython("evalcache", "diskcache", "joblib", "cachew", "redun")),
	},
	{
		Name: "result", Title: "A result of 1 MiB", N: 8, Quick: 2, Phases: coldWarm, Main: "Larder, on disk, array", Columns: memoColumns,
		Work: "A function returns 262 144 float32. The caller reads one value of each page.",
		Note: "The Python caches store such a result faster, because Larder also computes its SHA-256 and creates directories. cachew cannot infer a type for arrays.",
		Contestants: all(inGo("Larder, on disk, array", "Larder, on disk, slice", "Larder, in memory, array", "Larder, in memory, slice"),
			inPython("evalcache", "diskcache", "joblib", "joblib, mmap_mode r", "cachew", "redun")),
	},
	{
		Name: "argument", Title: "An argument of 1 MiB", N: 2, Quick: 1, Phases: coldWarm, Main: "Larder, on disk", Columns: memoColumns,
		Work: "A function sums 131 072 float64. Each call identifies its argument by content.",
		Contestants: all(inGo("Larder, on disk", "Larder, in memory", "Larder lazy, on disk"),
			inPython("diskcache", "joblib", "redun", "evalcache"), not("cachew", "uses `str()` of arguments, which leaves out the middle of an array")),
	},
	{
		Name: "key", Title: "A struct as a key", N: 1, Quick: 1, Main: "Larder",
		Work:    "The key of a call with a struct (in Python, a dataclass) of a string, an integer, a float and a boolean.",
		Note:    "`encoding/json` hashes once; Larder computes a digest of the argument and one of the action.",
		Columns: []Column{{Figure: "key", Title: "one key", Chart: true}},
		Contestants: all(inGo("Larder", "encoding/json and SHA-256", "encoding/gob and SHA-256"),
			inPython("diskcache", "evalcache", "joblib", "redun", "datasets"), not("cachew", "has no separate step")),
	},
	{
		Name: "chain", Title: "A chain of 1000 nodes", N: 1000, Quick: 100, Phases: coldWarm, Main: "Larder lazy, on disk",
		Work: "Each node adds one to the previous one. The warm process builds the chain again and requests the last value.",
		Columns: []Column{
			{Figure: "warm", Title: "warm", Chart: true}, {Figure: "cold", Title: "cold", Chart: true},
		},
		Contestants: all(inGo("Larder lazy, on disk", "Larder, on disk"),
			inPython("evalcache", "evalcache, recursion limit raised", "diskcache", "joblib", "redun"),
			[]Contestant{{Name: "redun, recursion limit raised, only 100 nodes", Python: true, N: 100}},
			not("cachew", "stores one result for each function")),
	},
	{
		Name: "stampede", Title: "8 processes, 200 equal keys", N: 200, Quick: 10, Processes: 8, Main: "Larder, on disk",
		Work: "Eight processes call a function with the same 200 arguments in the same order. It hashes 8 MiB. 200 executions are ideal.",
		Columns: []Column{
			{Figure: "seconds", Title: "until the last is done", Chart: true},
			{Figure: "executions", Title: "executions", Kind: Count, Chart: true},
		},
		Contestants: all(inGo("Larder, on disk", "Larder lazy, on disk"), inPython("diskcache", "diskcache, barrier", "joblib", "evalcache", "cachew"),
			[]Contestant{{Name: "redun, only 20 keys", Python: true, N: 20}},
			not("otter, ristretto, golang-lru, groupcache, bbolt, badger, pebble", "no results on disk, or one process at a time")),
	},
	{
		Name: "store", Title: "100 000 values of 4 KiB", N: 100_000, Quick: 2000, Bytes: 4096, Phases: []string{"put", "get"}, Main: "Larder", Columns: storeColumns,
		Work:        "Values do not compress; keys are SHA-256. No put waits for the disk: pebble with `NoSync`, badger without `SyncWrites`, SQLite and diskcache in WAL mode with `synchronous=NORMAL`, bbolt with `NoSync`. Gets are random, in a new process. Larder verifies every value and pebble every block; the others do not verify.",
		Note:        "bbolt returns unchecked pages of its mapped file. Larder reads with a system call and verifies, and holds a table of what was written since the last merge of its indexes.",
		Contestants: all(inGo("Larder"), []Contestant{{Name: "bbolt, only 20 000 values", N: 20_000}}, inGo("bbolt, 1000 a transaction", "badger", "pebble", "SQLite", "SQLite, 1000 a transaction"), inPython("diskcache")),
	},
	{
		Name: "store-sync", Title: "The same, surviving a loss of power", N: 500, Quick: 20, Bytes: 4096, Phases: []string{"put"}, Main: "Larder", Columns: storeColumns[:1],
		Work:        "500 values, each on the disk when its put returns: Larder and pebble with `Sync`, badger with `SyncWrites`, SQLite and diskcache with `synchronous=FULL`.",
		Contestants: all(inGo("Larder", "bbolt", "badger", "pebble", "SQLite"), inPython("diskcache")),
	},
	{
		Name: "incremental", Title: "10 000 images, of which 1 % changes", N: 10_000, Quick: 200, Phases: []string{"cold", "same", "changed"}, Main: "Larder flow, 1 worker",
		Work: "Mean and deviation of the channels of 10 000 JPEG files of 64 x 64; then again unchanged; then with 100 files replaced. Larder runs a flow with `checkpoint: true`. The Python systems decode with libjpeg-turbo and compute with NumPy; Larder uses Go's decoder.",
		Columns: []Column{
			{Figure: "changed", Title: "1 % changed", Chart: true}, {Figure: "changed_executions", Title: "computed again", Kind: Count},
			{Figure: "same", Title: "nothing changed", Chart: true},
			{Figure: "cold", Title: "cold", Chart: true},
		},
		Contestants: all(inGo("Larder flow, 1 worker", "Larder flow, all processors"), inPython("datasets", "joblib", "diskcache"),
			[]Contestant{{Name: "redun, only 100 images", Python: true, N: 100, Own: someImages}}),
		Data: makeImages, Before: changeImages,
	},
	{
		Name: "policies", Title: "Caches in memory, by policy", N: 1_000_000, Quick: 20_000, Main: "Larder lru",
		Work: "1024 entries of integers; time per access, and hits on a Zipf distribution (s = 1.01) over 65 536 keys. The caches ristretto and otter evict later, on other goroutines, and ristretto drops puts under load. `memo` evicts nothing and is not included.",
		Note: "For such keys choose `w-tinylfu`, `s3-fifo` or `sieve` instead of `lru`.\n\n`auto` follows up to 2048 entries exactly and samples larger caches. Once the cache has been full, a read takes about ten times as long as with `lru`. Each entry then takes 850 bytes, at most 1.7 MiB in all, or four times that if entries shrink later.",
		Columns: []Column{
			{Figure: "get", Title: "get", Chart: true},
			{Figure: "put", Title: "put", Chart: true},
			{Figure: "hits", Title: "Zipf hits", Kind: Part},
		},
		Contestants: all(inGo("Larder lru", "Larder auto", "Larder cost", "Larder fifo", "Larder hold", "Larder lifo", "Larder mru", "Larder rr", "Larder s3-fifo", "Larder sieve", "Larder w-tinylfu",
			"otter", "golang-lru", "ristretto", "groupcache/lru, with a lock")),
	},
	{
		Name: "letters", Title: "The letters example", N: 26, Quick: 26, Phases: coldWarm, Main: "Larder flow",
		Work: "`examples/letters/flow.yaml`: reads 26 images, writes 260 samples. Cold it measures 26 images, warm none. The time of `larder run` includes its start.",
		Columns: []Column{
			{Figure: "cold", Title: "cold", Chart: true}, {Figure: "warm", Title: "warm", Chart: true},
		},
		Contestants: inGo("Larder flow", "larder run"),
		Data:        copyLetters,
	},
	{
		Name: "memory", Title: "Memory of a cache of 64 MiB", N: 1, Quick: 1, Bytes: 4096, Main: "Larder lru", Columns: memoryColumns,
		Work:        "A cache bounded to 64 MiB is filled with 128 MiB of values of 4 KiB.",
		Contestants: bounded,
	},
	{
		Name: "memory-100", Job: "memory", Title: "The same with values of 100 bytes", N: 1, Quick: 1, Bytes: 100, Main: "Larder lru", Columns: memoryColumns,
		Work:        "An allocation of 100 bytes takes 112 bytes of Go's heap.",
		Contestants: bounded,
	},
	{
		Name: "records", Title: "Growth: records in a store", Job: "records", Sizes: []int{1000, 10_000, 100_000, 1_000_000}, Large: 10_000_000, Least: 100_000, Bytes: 100, Phases: []string{"put", "get"}, Main: "Larder",
		Work: "Values of 100 bytes. The exponent is b where a figure grows as n^b, by least squares over all sizes from 1000.",
		Note: "Larder needs more disk because each record has a header with key, type, cost, times and checksums, and entries in two indexes.",
		Columns: []Column{
			{Figure: "put_all", Title: "put all", Chart: true}, {Figure: "open", Title: "open and first get", Chart: true},
			{Figure: "get", Title: "get one", Chart: true}, {Figure: "open_anon", Title: "memory when open", Kind: Bytes, Chart: true, Hidden: true},
			{Figure: "disk", Title: "on disk", Kind: Bytes},
		},
		Contestants: []Contestant{{Name: "Larder"}, {Name: "badger", Most: 1_000_000}, {Name: "pebble", Most: 1_000_000}, {Name: "SQLite, 1000 a transaction", Most: 100_000}},
	},
	{
		Name: "samples", Title: "Growth: samples of a dataset", Sizes: []int{1000, 10_000, 100_000, 1_000_000}, Phases: coldWarm, Main: "Larder",
		Work: "Each sample has one computed and cached item. Warm reads all of them in the next process.",
		Columns: []Column{
			{Figure: "cold", Title: "cold", Chart: true}, {Figure: "warm", Title: "warm", Chart: true},
			{Figure: "cold_anon", Title: "memory, cold", Kind: Bytes, Chart: true}, {Figure: "warm_anon", Title: "memory, warm", Kind: Bytes, Chart: true},
		},
		Contestants: inGo("Larder"),
	},
}

var memoryColumns = []Column{
	{Figure: "heap", Title: "heap", Kind: Bytes, Chart: true}, {Figure: "rss", Title: "memory of the process", Kind: Bytes, Chart: true, Hidden: true},
	{Figure: "overhead", Title: "beyond the value, per entry", Kind: Bytes},
}

var bounded = all(inGo("Larder lru", "Larder sieve", "Larder w-tinylfu", "otter", "ristretto", "golang-lru, bounded in entries", "groupcache/lru, bounded in entries"))

// makeImages writes n small photographs.
func makeImages(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for w := range errs {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += len(errs) {
				errs[w] = writeImage(imagePath(dir, i), uint64(i))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func imagePath(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("%05d.jpg", i)) }

// writeImage writes a JPEG of 64 x 64: a gradient with noise.
func writeImage(path string, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 1))
	base, noise := random.IntN(128), 8+random.IntN(64)
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			v := base + random.IntN(noise)
			img.SetRGBA(x, y, color.RGBA{uint8(v), uint8(v/2 + x), uint8(v/2 + y), 255})
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(jpeg.Encode(f, img, nil), f.Close())
}

// changeImages restores one image in a hundred, or replaces it, depending on the phase.
func changeImages(dir, phase string, run int) error {
	if phase == "same" {
		return nil
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for i := 0; i < len(list); i += 100 {
		seed := uint64(i)
		if phase == "changed" {
			seed += uint64(run+1) << 32
		}
		if err := writeImage(imagePath(dir, i), seed); err != nil {
			return err
		}
	}
	return nil
}

// someImages copies the first n images into a directory of the system's own.
func someImages(data, dir string, n int) (string, error) {
	own := filepath.Join(dir, "images")
	if err := os.Mkdir(own, 0o777); err != nil {
		return "", err
	}
	for i := range n {
		b, err := os.ReadFile(imagePath(data, i))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(imagePath(own, i), b, 0o666); err != nil {
			return "", err
		}
	}
	return own, nil
}

func copyLetters(dir string, _ int) error {
	letters := filepath.Join("..", "examples", "letters")
	return errors.Join(os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(letters, "data"))), copyFile(filepath.Join(letters, "flow.yaml"), filepath.Join(dir, "flow.yaml")))
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o666)
}
