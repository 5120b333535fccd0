package bucket_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/distance"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/bucket"
	"github.com/larder-data/larder/store/storetest"
)

// BenchmarkDistance measures a machine that stores 10,000 results of 4 KiB in a bucket, and one that reads them. The
// service is next door, or behind a proxy that adds 20 ms to each round trip.
func BenchmarkDistance(b *testing.B) {
	for _, away := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(away.String(), func(b *testing.B) {
			server, _ := objectstoretest.S3(b)
			u, err := url.Parse(server.URL)
			if err != nil {
				b.Fatal(err)
			}
			if away > 0 {
				b.Setenv("AWS_ENDPOINT_URL_S3", "http://"+distance.Proxy(b, "tcp", u.Host, away))
			}
			for b.Loop() {
				o := bucket.Options{URL: "s3://bucket/" + time.Now().Format("150405.000000"), Delay: time.Hour, Refresh: -1}
				b.ReportMetric(timed(b, o, write), "write-s")
				b.ReportMetric(float64(len(server.Requests())), "write-requests")
				b.ReportMetric(timed(b, o, read), "read-s")
				b.ReportMetric(float64(len(server.Requests())), "read-requests")
			}
		})
	}
}

const results = 10_000

func timed(b *testing.B, o bucket.Options, job func(ctx context.Context, s *bucket.Store) error) (seconds float64) {
	s, err := bucket.Open(o)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := errors.Join(job(b.Context(), s), s.Close()); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds()
}

func write(ctx context.Context, s *bucket.Store) error {
	for i := range results {
		if err := s.Put(ctx, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 4096)}); err != nil {
			return err
		}
	}
	return nil
}

func read(ctx context.Context, s *bucket.Store) error {
	const together = 500
	for from := 0; from < results; from += together {
		keys := make([]key.Key, together)
		for i := range keys {
			keys[i] = storetest.Key(from + i)
		}
		records, err := s.GetMany(ctx, keys)
		if err != nil {
			return err
		}
		for _, r := range records {
			if len(r.Payload) != 4096 {
				return os.ErrNotExist
			}
		}
	}
	return nil
}
