// Command proxy simulates network latency before an object server: it delays each
// request, and counts the requests with the bytes of their responses.
//
//	proxy LISTEN BEHIND LATENCY
//
// GET /-/counts of LISTEN returns the counts since the previous such request.
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

// counts are the counters of requests, of writes and reads together, as a peer may use
// either.
type counts struct {
	requests, bytes atomic.Int64
}

// counted is a response whose bytes are counted.
type counted struct {
	http.ResponseWriter
	of *counts
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.of.bytes.Add(int64(n))
	return n, err
}

// Unwrap lets http.ResponseController find the flusher.
func (c counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// handler forwards to behind, after latency. The host stays the requested one, as
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
