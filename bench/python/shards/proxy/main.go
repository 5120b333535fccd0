// Command proxy stands before a server of objects, as a network would: each request takes its time
// before it goes on, and is counted with the bytes that come back.
//
//	proxy LISTEN BEHIND LATENCY
//
// GET /-/counts of LISTEN says what was counted since it was asked last.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync/atomic"
	"time"
)

// counts are what was asked for. Of writes and reads alike, as a peer may do either.
type counts struct {
	requests, bytes atomic.Int64
}

// counted is a response whose bytes count.
type counted struct {
	http.ResponseWriter
	of *counts
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.of.bytes.Add(int64(n))
	return n, err
}

// Unwrap has http.ResponseController find what flushes.
func (c counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// handler hands on to behind, after latency. The host stays the one that was asked for, as
// signatures cover it.
func handler(behind *url.URL, latency time.Duration) http.Handler {
	var of counts
	on := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = behind.Scheme, behind.Host, r.In.Host
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/counts", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]int64{"requests": of.requests.Swap(0), "bytes": of.bytes.Swap(0)})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		of.requests.Add(1)
		wait := time.NewTimer(latency)
		defer wait.Stop()
		select {
		case <-wait.C:
			on.ServeHTTP(counted{w, &of}, r)
		case <-r.Context().Done():
		}
	})
	return mux
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: proxy LISTEN BEHIND LATENCY")
	}
	behind, err := url.Parse("http://" + os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	latency, err := time.ParseDuration(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], handler(behind, latency)))
}
