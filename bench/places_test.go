package bench

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/webdataset"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/order"
	"github.com/larder-data/larder/pool"
)

// shards returns the number of archives: 2, or LARDER_SHARDS.
func shards(b *testing.B) int {
	n, err := strconv.Atoi(os.Getenv("LARDER_SHARDS"))
	if os.Getenv("LARDER_SHARDS") == "" {
		return 2
	}
	if err != nil {
		b.Fatal("LARDER_SHARDS is not a number: ", err)
	}
	return n
}

const samplesOfShard = 1000

// shard returns an archive of samples of one member each, of about n bytes.
func shard(b *testing.B, random *rand.Rand, size int) []byte {
	var to bytes.Buffer
	w := tar.NewWriter(&to)
	noise := make([]byte, 2*size)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for i := range samplesOfShard {
		n := size/2 + random.IntN(size)
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%06d.bin", i), Mode: 0o644, Size: int64(n)}); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write(noise[:n]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return to.Bytes()
}

// farServer serves n archives of the given size, with a delay.
func farServer(b *testing.B, size int) (s *objectstoretest.Server, n int, bytes int64) {
	s = objectstoretest.Serve(b)
	random := rand.New(rand.NewPCG(1, uint64(size)))
	n = shards(b)
	for i := range n {
		content := shard(b, random, size)
		bytes += int64(len(content))
		s.Put(fmt.Sprintf("%03d.tar", i), content)
	}
	s.Fail(func(int, *http.Request) objectstoretest.Fault {
		return objectstoretest.Fault{Latency: 20 * time.Millisecond}
	})
	return s, n, bytes
}

// BenchmarkPlaces reads an epoch of archives with 32 readers from a server that takes 20 ms
// per request. Samples are shuffled or in order, and the cache holds a tenth of the data or
// all. It reports the requests that find and read samples, and the bytes sent per byte
// read.
func BenchmarkPlaces(b *testing.B) {
	for _, size := range []int{5 << 10, 100 << 10} {
		s, n, bytes := farServer(b, size)
		url := fmt.Sprintf("%s/{000..%03d}.tar", s.URL, n-1)
		for _, c := range []struct {
			name  string
			share int64 // cache size in percent of the data
			mixed bool
		}{{"shuffled/cache=10%", 10, true}, {"shuffled/cache=200%", 200, true}, {"in-order/cache=10%", 10, false}, {"in-order/cache=200%", 200, false}} {
			b.Run(fmt.Sprintf("sample=%dKiB/%s", size>>10, c.name), func(b *testing.B) {
				for range b.N {
					epoch(b, s, url, bytes, bytes*c.share/100, c.mixed)
				}
			})
		}
	}
}

// BenchmarkPlacesNextToWebDataset measures webdataset in Python, which reads whole archives
// in sequence and shuffles in a buffer. LARDER_PYTHON is a Python that has it.
func BenchmarkPlacesNextToWebDataset(b *testing.B) {
	python := os.Getenv("LARDER_PYTHON")
	if python == "" {
		b.Skip("LARDER_PYTHON names no Python with webdataset")
	}
	for _, size := range []int{5 << 10, 100 << 10} {
		s, n, bytes := farServer(b, size)
		b.Run(fmt.Sprintf("sample=%dKiB/buffer=1000", size>>10), func(b *testing.B) {
			for range b.N {
				s.Requests()
				s.Sent()
				began := time.Now()
				out, err := exec.CommandContext(b.Context(), python, "python/far.py", fmt.Sprintf("%s/{000..%03d}.tar", s.URL, n-1), "1000").Output()
				if err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(n*samplesOfShard) {
					b.Fatalf("%s, %v", out, err)
				}
				b.ReportMetric(float64(n*samplesOfShard)/time.Since(began).Seconds(), "samples/s")
				b.ReportMetric(float64(len(s.Requests())), "requests")
				b.ReportMetric(float64(s.Sent())/float64(bytes), "sent/byte")
			}
		})
	}
}

// epoch reads all samples once, with a new cache.
func epoch(b *testing.B, s *objectstoretest.Server, url string, bytes, most int64, mixed bool) {
	l, err := larder.Open(larder.Options{Dir: b.TempDir(), MaxBytes: most, MemoryBytes: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	s.Requests()
	s.Sent()
	env := &component.Env{Larder: l, Pool: pool.New(32)}
	began := time.Now()
	ds, err := webdataset.Source{}.Open(b.Context(), url, env)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(began).Seconds(), "index-s")
	b.ReportMetric(float64(len(s.Requests())), "index-requests")
	b.ReportMetric(float64(s.Sent())/float64(bytes), "index-sent/byte")
	if mixed {
		o, err := order.Shuffle(ds.Len(), 1, 0)
		if err != nil {
			b.Fatal(err)
		}
		ds = dataset.Reorder(ds, o)
	}
	began = time.Now()
	items := dataset.Func(ds.Len(), func(ctx context.Context, i int) (int, error) {
		sample, err := ds.At(ctx, i)
		if err != nil {
			return 0, err
		}
		it, err := sample.Item("bin")
		if err != nil {
			return 0, err
		}
		content, err := it.Bytes(ctx)
		return len(content), err
	})
	for _, err := range dataset.Stream(b.Context(), items, env.Pool) {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(ds.Len())/time.Since(began).Seconds(), "samples/s")
	b.ReportMetric(float64(len(s.Requests())), "requests")
	b.ReportMetric(float64(s.Sent())/float64(bytes), "sent/byte")
}
