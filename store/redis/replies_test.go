package redis

import (
	"bytes"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// answer starts a server that calls say for everything it receives.
func answer(t *testing.T, say func(c net.Conn)) (url string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				b := make([]byte, 64<<10)
				for {
					if _, err := c.Read(b); err != nil {
						return
					}
					say(c)
				}
			}()
		}
	}()
	return "redis://" + listener.Addr().String()
}

// always sends the same answer to everything, as often as a client may expect it.
func always(text string) func(c net.Conn) {
	return func(c net.Conn) { _, _ = c.Write(bytes.Repeat([]byte(text), 8)) }
}

// TestAnswersThatClaimTooMuch checks that lengths claimed by a server allocate no memory and are rejected.
func TestAnswersThatClaimTooMuch(t *testing.T) {
	endless := func(head, text string) func(c net.Conn) {
		return func(c net.Conn) {
			if _, err := c.Write([]byte(head)); err != nil {
				return
			}
			for some := []byte(strings.Repeat(text, 1<<15)); ; {
				if _, err := c.Write(some); err != nil {
					return
				}
			}
		}
	}
	for name, say := range map[string]func(c net.Conn){
		"a list":          always("*100000000\r\n"),
		"a map":           always("%2147483647\r\n"),
		"a string":        always("$536870912\r\n"),
		"a large number":  always("$99999999999999999999\r\n"),
		"a long line":     endless("+", "aaaa"),
		"a long length":   endless("$", "0000"),
		"nested lists":    endless("", "*1\r\n"),
		"no end of it":    endless("", "$4\r\nabcd\r\n"),
		"another service": always("HTTP/1.1 400 Bad Request\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			log := &logged{}
			s := open(t, Options{URL: answer(t, say), Logger: log.logger()})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := s.Get(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("Get: %v", err)
			}
			if _, err := s.Usage(t.Context()); !errors.Is(err, ErrAway) {
				t.Errorf("Usage: %v", err)
			}
			runtime.ReadMemStats(&after)
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 200 {
				t.Errorf("%d MiB were reserved", used)
			}
			if text := log.String(); strings.Count(text, "cannot be used") != 1 || len(text) > 1000 {
				t.Errorf("the log says\n%.2000s", text)
			}
		})
	}
}

// TestAnswersThatSayNothing checks that a lease does not wait for a server with meaningless answers.
func TestAnswersThatSayNothing(t *testing.T) {
	for _, text := range []string{"$-1\r\n", "+OK\r\n", "*0\r\n", ":0\r\n"} {
		say := func(c net.Conn) { _, _ = c.Write([]byte(text)) }
		s := open(t, Options{URL: answer(t, say), Timeout: 200 * time.Millisecond, LeaseTime: 100 * time.Millisecond})
		release, err := s.Lease(t.Context(), storetest.Key(1))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		release()
	}
}

// FuzzReplies checks that the split of answers into reads changes nothing, and that no accepted length exceeds the
// limit.
func FuzzReplies(f *testing.F) {
	for _, text := range []string{"+OK\r\n:1\r\n", "$3\r\nabc\r\n$-1\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$0\r\n\r\n", "*100000000\r\n", "$x\r\n", "-ERR no\r\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, parts := replies{maxBulk: 100}, replies{maxBulk: 100}
		want := whole.take(b)
		var got error
		for i := 0; i < len(b) && got == nil; i++ {
			got = parts.take(b[i : i+1])
		}
		if (want == nil) != (got == nil) {
			t.Errorf("%q: %v as a whole and %v byte by byte", b, want, got)
		}
		if whole.skip > 102 || len(whole.open) > maxDepth {
			t.Errorf("%q: %+v", b, whole)
		}
	})
}
