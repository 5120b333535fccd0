package redis

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/distance"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/storetest"
)

// BenchmarkDistance computes 10,000 results of 4 KiB, and then reads them on a machine that has none, through a server
// next door and through one that is 20 ms away. Both machines have two workers.
func BenchmarkDistance(b *testing.B) {
	server := startServer(b)
	b.Run("next door", func(b *testing.B) { jobs(b, server.url()) })
	b.Run("20 ms away", func(b *testing.B) {
		jobs(b, "redis://"+distance.Proxy(b, "unix", server.socket, 20*time.Millisecond))
	})
}

func jobs(b *testing.B, url string) {
	for run := range b.N {
		for _, job := range []string{"cold", "warm"} {
			shared := open(b, Options{URL: url, Prefix: fmt.Sprint(b.Name(), run, ":"), MaxBytes: -1})
			l, err := larder.Open(larder.Options{Dir: b.TempDir(), Shared: shared})
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			if err := pass(b.Context(), l, 10_000); err != nil {
				b.Fatal(err)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(time.Since(start).Seconds(), job+"-s")
			b.ReportMetric(float64(l.Metrics().Computed), job+"-computed")
		}
	}
}

// pass reads n results of 4 KiB.
func pass(ctx context.Context, l *larder.Larder, n int) error {
	numbers := dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "number", Item: dataset.NewItem("txt", strconv.Itoa(i))}), nil
	})
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "payload", Code: key.Version("1"), In: []string{"number"}, Out: []string{"payload"}, Formats: []string{"bin"},
		Func: func(ctx context.Context, in dataset.Sample) (dataset.Sample, error) {
			text, err := in.Value(ctx, "number")
			if err != nil {
				return dataset.Sample{}, err
			}
			i, err := strconv.Atoi(text.(string))
			return dataset.NewSample(dataset.Field{Key: "payload", Item: dataset.NewItem("bin", storetest.Payload(uint64(i), 4096))}), err
		},
	})
	if err != nil {
		return err
	}
	payloads := dataset.Map(numbers, m, dataset.MapOptions{Node: "payloads", Larder: l, Keep: true})
	ranges := dataset.RangesOf(payloads)
	return pool.New(2).Ranges(ctx, n, func(ctx context.Context, from, to int) (int, error) {
		samples, err := ranges.Range(ctx, from, to)
		return len(samples), err
	})
}
