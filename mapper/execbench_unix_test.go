//go:build unix

package mapper_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/store/memory"
)

const pythonBatch = `
import hashlib, json, os, pathlib
for s in sorted(pathlib.Path(os.environ["LARDER_BATCH"]).iterdir()):
    digest = hashlib.sha256((s / "in" / "a.txt").read_bytes() * 1000).hexdigest()
    (s / "out" / "b.json").write_text(json.dumps({"digest": digest}))
    (s / "out" / "c.txt").write_text("c")
`

// BenchmarkExecBatch computes 200 samples by a Python script, with several batch sizes, and
// reports the total processor time.
func BenchmarkExecBatch(b *testing.B) {
	if _, err := exec.LookPath("python3"); err != nil {
		b.Skip("there is no python3: ", err)
	}
	script := filepath.Join(b.TempDir(), "batch.py")
	if err := os.WriteFile(script, []byte(pythonBatch), 0o666); err != nil {
		b.Fatal(err)
	}
	const samples = 200
	for _, n := range []int{1, 8, 32} {
		b.Run(fmt.Sprint("batch=", n), func(b *testing.B) {
			start := processorTime(b)
			for range b.N {
				t := &batches{t: b, store: memory.New(memory.Options{}), env: &component.Env{Dir: b.TempDir(), Node: "n"}}
				ds := t.samples(samples, mapper.Exec{Command: []string{"python3", script}, Batch: n}, true)
				if all, failed := t.bytes(ds, 2); len(failed) > 0 || len(all) != samples || dataset.BatchOf(ds) != n {
					b.Fatal(failed)
				}
			}
			b.ReportMetric((processorTime(b)-start).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// processorTime returns the processor time of this process and its finished children.
func processorTime(tb testing.TB) (all time.Duration) {
	tb.Helper()
	for _, owner := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(owner, &u); err != nil {
			tb.Fatal(err)
		}
		all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return all
}
