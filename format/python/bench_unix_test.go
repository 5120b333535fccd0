//go:build unix

package python_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/python"
	"github.com/larder-data/larder/stream"
)

const yielding = `
import time
def f(n, size):
    start = time.process_time()
    for i in range(n):
        yield i.to_bytes(8, "little") + bytes(size - 8)
    yield str(time.process_time() - start)
`

const others = `
import json, sys, time
import f
way, n, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if way == "torch":
    import torch
    class Rows(torch.utils.data.IterableDataset):
        def __iter__(self): return f.f(n, size)
    rows = iter(torch.utils.data.DataLoader(Rows(), batch_size=None, num_workers=1))
else:
    rows = f.f(n, size)
first = next(rows)
start, own = time.perf_counter(), time.process_time()
count = 0
for last in rows:
    count += 1
assert count == n, count
theirs = float(last) if way == "torch" else 0.0
print(json.dumps({"wall": time.perf_counter() - start, "cpu": time.process_time() - own + theirs}))
`

// BenchmarkGenerator measures the cost of an element that a generator yields as bytes,
// without caching. It compares iteration in the generator's own process and a DataLoader of
// torch with one worker. The processor time is that of all processes.
func BenchmarkGenerator(b *testing.B) {
	held := make([]byte, 128<<20) // as the program does, so that garbage collections are rare
	defer runtime.KeepAlive(held)
	p := newPlace(b, yielding)
	p.write("others.py", others)
	for _, size := range []int{100, 100_000} {
		b.Run(strconv.Itoa(size)+"B/larder", func(b *testing.B) {
			ending := &component.Cleanup{}
			defer ending.Wait()
			s, _, err := python.Source{
				Function: "f:f", Into: []string{"a"}, Version: "1", Args: map[string]any{"n": int64(b.N), "size": int64(size)},
			}.Open(&component.Env{Dir: p.dir, Node: "n", Cleanup: ending})
			if err != nil {
				b.Fatal(err)
			}
			r, err := s.Open(b.Context(), stream.State{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			sample, err := r.Next(b.Context()) // starts the worker
			b.SetBytes(int64(size))
			b.ReportAllocs()
			own := processorTime(b)
			b.ResetTimer()
			for err == nil {
				last := sample
				if sample, err = r.Next(b.Context()); errors.Is(err, io.EOF) {
					sample = last
				}
			}
			b.StopTimer()
			if !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
			v, err := sample.Value(b.Context(), "a")
			if err != nil {
				b.Fatal(err)
			}
			theirs, err := strconv.ParseFloat(v.(string), 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric((float64(processorTime(b)-own)+1e9*theirs)/float64(b.N), "cpu-ns/op")
		})
		for _, way := range []string{"plain", "torch"} {
			b.Run(strconv.Itoa(size)+"B/"+way, func(b *testing.B) {
				interpreter := os.Getenv("LARDER_PYTHON")
				if way == "torch" && exec.CommandContext(b.Context(), interpreter, "-c", "import torch").Run() != nil {
					b.Skip("the Python of this machine has no torch")
				}
				n := max(b.N, 20_000_000/size) // the start would dominate, so it does not count
				cmd := exec.CommandContext(b.Context(), interpreter, "others.py", way, strconv.Itoa(n), strconv.Itoa(size))
				cmd.Dir, cmd.Stderr = p.dir, os.Stderr
				out, err := cmd.Output()
				var took struct{ Wall, CPU float64 }
				if err == nil {
					err = json.Unmarshal(out, &took)
				}
				if err != nil {
					b.Fatalf("%v: %s", err, strings.TrimSpace(string(out)))
				}
				b.ReportMetric(1e9*took.Wall/float64(n), "ns/op")
				b.ReportMetric(1e9*took.CPU/float64(n), "cpu-ns/op")
			})
		}
	}
}

// processorTime returns the processor time of this process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
