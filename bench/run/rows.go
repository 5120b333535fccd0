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

// A Row is one piece of work that all contestants do.
type Row struct {
	Name        string
	Job         string // what the contestants do, if several rows do the same
	Title       string
	Work        string // what is done, and how
	Phases      []string
	Contestants []Contestant
	Columns     []Column
	Main        string // the contestant that the others are held against
	N, Quick    int    // keys, values, nodes or samples
	Sizes       []int  // in place of N
	Large       int    // one more of them, measured once
	Bytes       int
	Processes   int
	// Data makes the input of all contestants in a folder.
	Data func(dir string, n int) error
	// Before is called before each phase.
	Before func(dir, phase string, run int) error
	// Why says why a contestant is better than Larder, where a profile shows
	// it: by its name, or by its name (or all) and a column's title.
	Why map[string]string
}

// A Contestant is a piece of software, used in one way.
type Contestant struct {
	Name   string
	Python bool
	N      int    // its share of the work where all of it takes too long
	Most   int    // the largest size it is measured at; 0 means all
	Not    string // why it is not run
	Own    func(data, dir string, n int) (string, error)
}

// A Column is one figure of each contestant.
type Column struct {
	Figure, Title string
	Kind          Kind
	More          bool // is better
	Chart         bool
}

// A Kind says how a figure is written.
type Kind int

// The kinds.
const (
	Time Kind = iota // seconds
	Bytes
	Count
	Part // of one, in percent
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

// turn returns the contestants in turn, beginning with another one each run: so
// nobody always follows the same.
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

// memoColumns are those of the rows that call a function that remembers.
var memoColumns = []Column{
	{Figure: "warm", Title: "hit", Chart: true},
	{Figure: "first", Title: "hit, first pass"},
	{Figure: "cold", Title: "computed and kept"},
	{Figure: "executions", Title: "executions when warm", Kind: Count},
}

const notYet = "groupcache-go, its successor, could not be fetched: the module proxy answered 403 Forbidden, \"This module version is not available\""

var noStampede = "keeps no results on disk, or lets one process use its file at a time"

var storeColumns = []Column{
	{Figure: "put", Title: "put", Chart: true},
	{Figure: "get", Title: "get", Chart: true},
	{Figure: "open", Title: "open and first get"},
	{Figure: "disk", Title: "on disk", Kind: Bytes},
	{Figure: "anon", Title: "memory of its own", Kind: Bytes},
	{Figure: "mapped", Title: "mapped from files", Kind: Bytes},
}

// why holds sentences that several rows need.
const (
	whyInProcess = "it keeps values in the memory of one process and names them by Go's own `==`; Larder names a call by SHA-256 of its arguments, so that other processes and later runs find it"
	whyMapped    = "it maps the file and checks nothing; Larder checks the payload on every read"
	whyNamed     = "Larder also names the payload by its SHA-256, on another processor while it writes, and makes folders for the file; most of its time is writing, as theirs is"
	whyOneHash   = "it hashes once, two blocks; Larder takes a digest of the argument and then one of the action, four blocks of SHA-256, which is half of its time"
	whyNoCopy    = "it hands out the page of its mapped file, unchecked; Larder reads each record with a system call, which is most of its time, and checks it"
	whyNoIndex   = "it opens one file; Larder opens each of its packs and maps their merged index, and reads into a table what was written since indexes were merged"
	whyNoTable   = "it keeps nothing for each value; Larder has a table of what was written since indexes were merged"
	whyMerged    = "Larder's processes map the merged index, and share it"
	whyHeader    = "each of Larder's records has a header (key, type, cost, times, checksums), which is larger than such a value, and entries in the index of its pack and in the merged one"
)

// whyStores says why stores that are trees in a file are better than Larder's.
var whyStores = map[string]string{
	"all: open and first get": whyNoIndex, "all: memory of its own": whyNoTable, "all: memory when open": whyNoTable, "all: on disk": whyHeader, "all: mapped from files": whyMerged,
	"bbolt, 1000 a transaction: get": whyNoCopy,
}

var rows = []Row{
	{
		Name: "hit", Title: "A hit of a tiny result", N: 200, Quick: 20, Phases: coldWarm, Main: "Larder, on disk", Columns: memoColumns,
		Work: "A function from an integer to an integer, called with 200 arguments. One process computes and keeps all, the next calls with the same arguments: one pass that is timed as the first, then passes for 0.3 s. Time a call, key included. What lives in memory alone starts empty in each process.",
		Contestants: all(inGo("Larder, on disk", "Larder, in memory", "Larder lazy, on disk", "Larder lazy, in memory", "otter, in memory", "groupcache, in memory"),
			not("groupcache-go", notYet), inPython("evalcache", "diskcache", "joblib", "cachew", "redun")),
		Why: map[string]string{"otter, in memory": whyInProcess, "groupcache, in memory": whyInProcess},
	},
	{
		Name: "result", Title: "A result of 1 MiB", N: 8, Quick: 2, Phases: coldWarm, Main: "Larder, on disk, array", Columns: memoColumns,
		Work: "A function that returns 262 144 float32: a NumPy array, a `*array.Array` or a `[]float32`. As above with 8 arguments; the caller reads one value of each page of 4 KiB.",
		Contestants: all(inGo("Larder, on disk, array", "Larder, on disk, slice", "Larder, in memory, array", "Larder, in memory, slice"),
			inPython("evalcache", "diskcache", "joblib", "joblib, mmap_mode r", "cachew", "redun")),
		Why: map[string]string{"all: computed and kept": whyNamed, "joblib, mmap_mode r: hit": whyMapped},
	},
	{
		Name: "argument", Title: "An argument of 1 MiB", N: 2, Quick: 1, Phases: coldWarm, Main: "Larder, on disk", Columns: memoColumns,
		Work: "A function from 131 072 float64 to their sum, called with the same 2 arrays. Each call has to name its argument by content.",
		Contestants: all(inGo("Larder, on disk", "Larder, in memory", "Larder lazy, on disk"),
			inPython("diskcache", "joblib", "redun", "evalcache"), not("cachew", "names the arguments by str(), which leaves out the middle of an array: another array would be a hit")),
	},
	{
		Name: "key", Title: "A struct as a key", N: 1, Quick: 1, Main: "Larder",
		Work:    "Names a call by a struct (in Python, a dataclass) of a string, an integer, a float and a boolean; another integer each time.",
		Columns: []Column{{Figure: "key", Title: "one key", Chart: true}},
		Contestants: all(inGo("Larder", "encoding/json and SHA-256", "encoding/gob and SHA-256"),
			inPython("diskcache", "evalcache", "joblib", "redun", "datasets"), not("cachew", "names arguments by str(); it has no step of its own for that")),
		Why: map[string]string{"encoding/json and SHA-256": whyOneHash},
	},
	{
		Name: "chain", Title: "A chain of 1000 nodes", N: 1000, Quick: 100, Phases: coldWarm, Main: "Larder lazy, on disk",
		Work: "Each node adds one to the one before. Cold computes and keeps all, in a process of its own; warm builds the chain again in the next process and asks for the last. Lazy tools read only the last; the others look up each.",
		Columns: []Column{
			{Figure: "warm", Title: "warm", Chart: true}, {Figure: "cold", Title: "cold", Chart: true},
			{Figure: "executions", Title: "executions when warm", Kind: Count},
		},
		Contestants: all(inGo("Larder lazy, on disk", "Larder, on disk"),
			inPython("evalcache", "evalcache, recursion limit raised", "diskcache", "joblib", "redun"),
			[]Contestant{{Name: "redun, recursion limit raised, only 100 nodes", Python: true, N: 100}},
			not("cachew", "keeps one result for each function; with one file for each argument a call takes what the first table says")),
	},
	{
		Name: "stampede", Title: "8 processes, 200 equal keys", N: 200, Quick: 10, Processes: 8, Main: "Larder, on disk",
		Work: "Eight processes begin together and each calls the function with the same 200 arguments in the same order. It hashes 8 MiB with SHA-256, so computing each once takes about a second of one processor. 200 executions are ideal.",
		Columns: []Column{
			{Figure: "seconds", Title: "until the last is done", Chart: true},
			{Figure: "executions", Title: "executions", Kind: Count, Chart: true},
		},
		Contestants: all(inGo("Larder, on disk", "Larder lazy, on disk"), inPython("diskcache", "diskcache, barrier", "joblib", "evalcache", "cachew"),
			[]Contestant{{Name: "redun, only 20 keys", Python: true, N: 20}},
			not("otter, ristretto, golang-lru, groupcache, bbolt, badger, pebble", noStampede)),
	},
	{
		Name: "store", Title: "100 000 values of 4 KiB", N: 100_000, Quick: 2000, Bytes: 4096, Phases: []string{"put", "get"}, Main: "Larder", Columns: storeColumns,
		Work:        "Values that do not compress, under SHA-256 digests. Put: each put is complete when it returns, closing included, time a value. Nobody waits for the medium: Larder as it comes; pebble `NoSync`; badger without `SyncWrites`; SQLite and diskcache in WAL mode with `synchronous=NORMAL`; bbolt with `NoSync`, which may be damaged by a loss of power where the others only lose what was last. Get: a new process opens and gets 100 000 at random; what was put is still in the page cache. Larder checks every value on every read, pebble every block that it reads; the others do not check. Memory is that of the whole process, its runtime with it.",
		Contestants: all(inGo("Larder"), []Contestant{{Name: "bbolt, only 20 000 values", N: 20_000}}, inGo("bbolt, 1000 a transaction", "badger", "pebble", "SQLite", "SQLite, 1000 a transaction"), inPython("diskcache")),
		Why:         whyStores,
	},
	{
		Name: "store-sync", Title: "The same, surviving a loss of power", N: 500, Quick: 20, Bytes: 4096, Phases: []string{"put"}, Main: "Larder", Columns: storeColumns[:1],
		Work:        "500 values of 4 KiB, each on the medium when its put returns: Larder with `Sync`, bbolt as it comes, badger with `SyncWrites`, pebble with `Sync`, SQLite and diskcache with `synchronous=FULL`.",
		Contestants: all(inGo("Larder", "bbolt", "badger", "pebble", "SQLite"), inPython("diskcache")),
	},
	{
		Name: "incremental", Title: "10 000 images, of which 1 % changes", N: 10_000, Quick: 200, Phases: []string{"cold", "same", "changed"}, Main: "Larder flow, 1 worker",
		Work: "Mean and standard deviation of each channel of 10 000 JPEG files of 64 x 64; then again with nothing changed; then with 100 files replaced. All results are read each time. Each run is a process of its own, timed without its start. Larder: a flow with `checkpoint: true`; datasets: `imagefolder` and `map`; joblib and diskcache: a function of the file's bytes; redun: a task of a `File`. One worker, where nothing else is said. The Python contestants decode with libjpeg-turbo and compute with NumPy, Larder with Go's own decoder.",
		Columns: []Column{
			{Figure: "changed", Title: "1 % changed", Chart: true}, {Figure: "changed_executions", Title: "computed again", Kind: Count},
			{Figure: "same", Title: "nothing changed", Chart: true}, {Figure: "same_executions", Title: "computed again", Kind: Count},
			{Figure: "cold", Title: "cold", Chart: true},
		},
		Contestants: all(inGo("Larder flow, 1 worker", "Larder flow, all processors"), inPython("datasets", "joblib", "diskcache"),
			[]Contestant{{Name: "redun, only 100 images", Python: true, N: 100, Own: someImages}}),
		Data: makeImages, Before: changeImages,
	},
	{
		Name: "policies", Title: "Caches in memory, by policy", N: 1_000_000, Quick: 20_000, Main: "Larder lru",
		Work: "1024 entries of integers. Time of an access from one goroutine, and from as many as there are processors (an access of all together): a get that hits; a put into a full cache. Last, which part of a Zipf distribution (s = 1.01) over 65 536 keys hits. Larder's policy `memo` evicts nothing and is no part of this. ristretto and otter evict later, on goroutines or at turns of their own; ristretto drops puts when it is busy.",
		Columns: []Column{
			{Figure: "get", Title: "get", Chart: true}, {Figure: "get_parallel", Title: "get, all processors"},
			{Figure: "put", Title: "put", Chart: true}, {Figure: "put_parallel", Title: "put, all processors"},
			{Figure: "hits", Title: "Zipf hits", Kind: Part, More: true},
		},
		Contestants: all(inGo("Larder lru", "Larder auto", "Larder cost", "Larder fifo", "Larder hold", "Larder lifo", "Larder mru", "Larder rr", "Larder s3-fifo", "Larder sieve", "Larder w-tinylfu",
			"otter", "golang-lru", "ristretto", "groupcache/lru, with a lock")),
		Why: map[string]string{"all: Zipf hits": "lru is beside them because all have it; Larder's w-tinylfu, s3-fifo and sieve are the ones to choose for such keys"},
	},
	{
		Name: "letters", Title: "The example with the letters", N: 26, Quick: 26, Phases: coldWarm, Main: "Larder flow",
		Work: "`examples/letters/flow.yaml`: reads 26 images, measures them, repeats them ten times, groups them by colour and writes 260 samples. Cold in one process, warm in the next. As a call in a process, and as the command `larder run` with its start.",
		Columns: []Column{
			{Figure: "cold", Title: "cold", Chart: true}, {Figure: "warm", Title: "warm", Chart: true},
			{Figure: "cold_executions", Title: "images measured, cold", Kind: Count}, {Figure: "warm_executions", Title: "warm", Kind: Count},
		},
		Contestants: inGo("Larder flow", "larder run"),
		Data:        copyLetters,
	},
	{
		Name: "memory", Title: "Memory held by a cache of 64 MiB", N: 1, Quick: 1, Bytes: 4096, Main: "Larder lru", Columns: memoryColumns,
		Work:        "A cache bounded to 64 MiB of values is filled with 128 MiB of values of 4 KiB. Heap after a collection, memory of the process, entries held, and heap beyond the values, per entry.",
		Contestants: bounded,
	},
	{
		Name: "memory-100", Job: "memory", Title: "The same with values of 100 bytes", N: 1, Quick: 1, Bytes: 100, Main: "Larder lru", Columns: memoryColumns,
		Work:        "An allocation of 100 bytes takes 112 of Go's heap, which is part of what is beyond the values.",
		Contestants: bounded,
	},
	{
		Name: "records", Title: "Growth: records in a store", Job: "records", Sizes: []int{1000, 10_000, 100_000, 1_000_000}, Large: 10_000_000, Bytes: 100, Phases: []string{"put", "get"}, Main: "Larder",
		Work: "Values of 100 bytes: time to put all, to open the store and get one, for one of at most 100 000 gets at random, and memory of its own (anonymous) after opening. Ten million are measured once.",
		Columns: []Column{
			{Figure: "put_all", Title: "put all", Chart: true}, {Figure: "open", Title: "open and first get", Chart: true},
			{Figure: "get", Title: "get one", Chart: true}, {Figure: "open_anon", Title: "memory when open", Kind: Bytes, Chart: true},
			{Figure: "disk", Title: "on disk", Kind: Bytes},
		},
		Contestants: []Contestant{{Name: "Larder"}, {Name: "badger", Most: 1_000_000}, {Name: "pebble", Most: 1_000_000}, {Name: "SQLite, 1000 a transaction", Most: 100_000}},
		Why:         whyStores,
	},
	{
		Name: "samples", Title: "Growth: samples of a dataset", Sizes: []int{1000, 10_000, 100_000, 1_000_000}, Phases: coldWarm, Main: "Larder",
		Work: "A dataset whose samples have an item made by a mapper and kept: time to make and keep all of them, time to read all of them in the next process, and memory of its own at the end of each.",
		Columns: []Column{
			{Figure: "cold", Title: "cold", Chart: true}, {Figure: "warm", Title: "warm", Chart: true},
			{Figure: "cold_anon", Title: "memory, cold", Kind: Bytes, Chart: true}, {Figure: "warm_anon", Title: "memory, warm", Kind: Bytes, Chart: true},
		},
		Contestants: inGo("Larder"),
	},
}

var memoryColumns = []Column{
	{Figure: "heap", Title: "heap", Kind: Bytes, Chart: true}, {Figure: "rss", Title: "memory of the process", Kind: Bytes, Chart: true},
	{Figure: "held", Title: "entries held", Kind: Count, More: true}, {Figure: "overhead", Title: "beyond the value, per entry", Kind: Bytes},
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

// changeImages has one image in a hundred as it was at first, or replaced.
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

// someImages copies the first n images into a folder of the contestant's own.
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
