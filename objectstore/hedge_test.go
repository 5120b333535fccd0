package objectstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// patient opens a file on a server that has answered enough reads for its response time to be known.
func patient(t *testing.T, want []byte) (*objectstoretest.Server, *objectstore.File) {
	t.Helper()
	s := objectstoretest.Serve(t)
	f := open(t, s.Put("a", want))
	for range objectstore.Fewest {
		if b, err := read(t, f, 5, 10); err != nil || !bytes.Equal(b, want[5:15]) {
			t.Fatalf("%q, %v", b, err)
		}
	}
	s.Requests()
	return s, f
}

// stalled stalls the first request until it is late, and fails the second in some way.
func stalled(s *objectstoretest.Server, late chan<- time.Time, second objectstoretest.Fault) {
	s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
		if n > 0 {
			return second
		}
		late <- time.Time{}
		return objectstoretest.Fault{Latency: time.Hour}
	})
}

// TestLateAnswers checks that a late request is sent once more and the first answer counts. The stalled request ends,
// with everything that waited for it.
func TestLateAnswers(t *testing.T) {
	want := content(300_000)
	objectstore.Hurry(t, time.Minute)
	for name, c := range map[string]struct {
		second   objectstoretest.Fault
		err      error
		requests int
	}{
		"right":           {objectstoretest.Fault{}, nil, 2},
		"another version": {objectstoretest.Fault{Tag: `"another"`}, objectstore.ErrChanged, 2},
		"gone":            {objectstoretest.Fault{Status: 404}, objectstore.ErrChanged, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s, f := patient(t, want)
			stalled(s, objectstore.Late(t), c.second)
			before := goleak.IgnoreCurrent()
			var traffic objectstore.Traffic
			r, err := f.Reader(objectstore.Count(t.Context(), &traffic), 1000, 250_000)
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if err == nil {
				b := make([]byte, 250_000)
				if n, err := io.ReadFull(r, b); err != nil || !bytes.Equal(b, want[1000:251_000]) {
					t.Errorf("%d bytes, %v", n, err)
				}
				_ = r.Close()
			}
			n := len(s.Requests())
			if n != c.requests || traffic.Requests.Load() != int64(n) || traffic.Hedges.Load() != 1 || traffic.Retries.Load() != 0 {
				t.Errorf("%d requests, %d counted, %d hedges, %d retries", n, traffic.Requests.Load(), traffic.Hedges.Load(), traffic.Retries.Load())
			}
			s.CloseClientConnections()
			http.DefaultClient.CloseIdleConnections()
			goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("net/http.(*conn).serve"), goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
		})
	}
}

// TestBothFail checks that a temporary failure waits for the other request, which may succeed. If both fail, the usual
// retries follow.
func TestBothFail(t *testing.T) {
	want := content(1000)
	waits := objectstore.Hurry(t, time.Minute)
	s, f := patient(t, want)
	late := objectstore.Late(t)
	failed := make(chan struct{})
	var hold atomic.Bool
	s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
		switch n {
		case 0:
			late <- time.Time{}
			<-failed
			if hold.Load() {
				return objectstoretest.Fault{}
			}
			return objectstoretest.Fault{Status: 500}
		case 1:
			close(failed)
			return objectstoretest.Fault{Status: 500}
		}
		return objectstoretest.Fault{}
	})
	for _, right := range []bool{true, false} {
		failed = make(chan struct{})
		hold.Store(right)
		s.Requests()
		if b, err := read(t, f, 0, 1000); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%d bytes, %v", len(b), err)
		}
		if n, w := len(s.Requests()), len(waits()); right && (n != 2 || w != 0) || !right && (n != 3 || w != 1) {
			t.Errorf("%v: %d requests, %d waits", right, n, w)
		}
	}
}

// slow is a driver whose answers take a given time, by the clock of a bubble.
type slow struct {
	takes func(n int64) (time.Duration, error)
	asked *atomic.Int64
	open  *atomic.Int64 // bodies that were not closed
}

var slowOnes = map[string]slow{}

func init() { objectstore.Register("slow", slowDriver{}) }

type slowDriver struct{}

func (slowDriver) Stat(context.Context, *url.URL) (objectstore.Version, error) {
	return objectstore.Version{Size: 1000, Tag: "1", Firm: true}, nil
}

func (slowDriver) List(context.Context, *url.URL) iter.Seq2[*url.URL, error] { return nil }

func (slowDriver) Read(ctx context.Context, u *url.URL, _ objectstore.Version, at, n int64) (objectstore.Body, error) {
	s := slowOnes[u.Host]
	d, err := s.takes(s.asked.Add(1) - 1)
	select {
	case <-time.After(d):
	case <-ctx.Done():
		if d < time.Second { // answers despite cancellation
			s.open.Add(1)
			return &slowBody{strings.NewReader(strings.Repeat("x", int(n))), s.open}, nil
		}
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.open.Add(1)
	return &slowBody{strings.NewReader(strings.Repeat("x", int(n))), s.open}, nil
}

type slowBody struct {
	*strings.Reader
	open *atomic.Int64
}

func (b *slowBody) Close() error { b.open.Add(-1); return nil }

// asks reads n times from a host. It returns the numbers of requests and hedges, and the duration of the last read.
func asks(t *testing.T, host string, reads int, takes func(n int64) (time.Duration, error)) (requests, hedges int64, last time.Duration) {
	t.Helper()
	s, ok := slowOnes[host]
	if !ok {
		s = slow{asked: new(atomic.Int64), open: new(atomic.Int64)}
	}
	s.takes = takes
	s.asked.Store(0)
	slowOnes[host] = s
	f := open(t, "slow://"+host+"/a")
	var traffic objectstore.Traffic
	ctx := objectstore.Count(t.Context(), &traffic)
	for range reads {
		began := time.Now()
		if err := f.ReadAt(ctx, make([]byte, 10), 5); err != nil {
			t.Fatal(err)
		}
		last = time.Since(began)
	}
	if n := s.open.Load(); n != 0 {
		t.Errorf("%s: %d bodies are open", host, n)
	}
	return s.asked.Load(), traffic.Hedges.Load(), last
}

// TestShareOfHedges checks that no request is sent twice before the response time of a host is known. Hedges stay within
// their share if all answers are late or the host is overloaded. The wait of a hedged read is that of the second
// request.
func TestShareOfHedges(t *testing.T) {
	steady := func(d time.Duration) func(int64) (time.Duration, error) {
		return func(int64) (time.Duration, error) { return d, nil }
	}
	oneIn := func(k int64) func(int64) (time.Duration, error) {
		return func(n int64) (time.Duration, error) {
			if n%k == k-1 {
				return 20 * time.Second, nil
			}
			return 20 * time.Millisecond, nil
		}
	}
	synctest.Test(t, func(t *testing.T) {
		if n, h, _ := asks(t, "early", objectstore.Fewest, oneIn(4)); n != objectstore.Fewest || h != 0 {
			t.Errorf("%d requests, %d hedges before anything is known", n, h)
		}
		if n, h, _ := asks(t, "same", 1000, steady(50*time.Millisecond)); n != 1000 || h != 0 {
			t.Errorf("%d requests, %d hedges of what takes equally long", n, h)
		}
		asks(t, "some", 200, steady(20*time.Millisecond))
		// The last of these reads is late.
		if n, h, last := asks(t, "some", 991, oneIn(100)); n != 1001 || h != 10 || last != 50*time.Millisecond {
			t.Errorf("%d requests, %d hedges of some that are late, and %v", n, h, last)
		}
		asks(t, "all", 1000, steady(20*time.Millisecond))
		// From now on all reads take ten times as long.
		if n, h, _ := asks(t, "all", 1000, steady(200*time.Millisecond)); n != 1000+h || h == 0 || h > 1000/objectstore.Dear+objectstore.Saved {
			t.Errorf("%d requests, %d hedges where all are late", n, h)
		}
		busy := func(n int64) (time.Duration, error) {
			switch n {
			case 0:
				return 0, &objectstore.RetryableError{Err: errors.New("enough"), Busy: true}
			case 50:
				return time.Second, nil
			}
			return 20 * time.Millisecond, nil
		}
		asks(t, "busy", 500, steady(20*time.Millisecond))
		if _, h, _ := asks(t, "busy", 60, busy); h != 0 {
			t.Errorf("%d hedges of a host that has too much to do", h)
		}
		<-time.After(objectstore.Quiet)
		if _, h, _ := asks(t, "busy", 60, oneIn(50)); h != 1 {
			t.Errorf("%d hedges when that is over", h)
		}
		objectstore.AskOnce.Store(true)
		defer objectstore.AskOnce.Store(false)
		asks(t, "off", 200, steady(20*time.Millisecond))
		if n, h, _ := asks(t, "off", 200, oneIn(50)); n != 200 || h != 0 {
			t.Errorf("%d requests, %d hedges where they are turned off", n, h)
		}
	})
}
