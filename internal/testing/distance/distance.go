// Package distance forwards connections with the latency of a distant server.
package distance

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy listens on a port of this machine until the test ends, and forwards connections to
// the given address. Bytes arrive in both directions half of roundTrip later; the bandwidth
// is not limited. It returns the address of the port.
func Proxy(tb testing.TB, network, address string, roundTrip time.Duration) string {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var all sync.WaitGroup
	done := make(chan struct{})
	tb.Cleanup(func() {
		close(done)
		_ = l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { forward(client, network, address, roundTrip/2, done) })
		}
	})
	return l.Addr().String()
}

func forward(client net.Conn, network, address string, delay time.Duration, done <-chan struct{}) {
	server, err := new(net.Dialer).DialContext(context.Background(), network, address)
	if err != nil {
		_ = client.Close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { later(server, client, delay) })
	both.Go(func() { later(client, server, delay) })
	ended := make(chan struct{})
	go func() {
		both.Wait()
		close(ended)
	}()
	select {
	case <-done:
	case <-ended:
	}
	_ = client.Close()
	_ = server.Close()
	<-ended
}

// chunk is bytes and the time at which they arrive.
type chunk struct {
	bytes []byte
	at    time.Time
}

// later copies bytes, each after the delay, and then ends the connection to which it
// copies.
func later(to, from net.Conn, delay time.Duration) {
	line := make(chan chunk, 4096)
	go func() {
		defer close(line)
		for {
			b := make([]byte, 64<<10)
			n, err := from.Read(b)
			if n > 0 {
				line <- chunk{b[:n], time.Now().Add(delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	var err error
	for c := range line {
		<-time.After(time.Until(c.at))
		if err == nil {
			_, err = to.Write(c.bytes)
		}
		if err != nil {
			_ = from.Close() // ends the reading side, whose chunks are then discarded
		}
	}
	_, _ = io.Copy(io.Discard, from)
	_ = to.Close()
}
