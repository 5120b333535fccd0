package embedproxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/larder-data/larder"
)

// BenchmarkHits answers requests of 100 cached strings, of 1536 numbers each.
func BenchmarkHits(b *testing.B) {
	for _, format := range []string{"base64", "float"} {
		b.Run(format, func(b *testing.B) {
			l, err := larder.Open(larder.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			h, err := New(Options{Larder: l, Upstream: fakeURL, Transport: &fake{seen: map[string]int{}}})
			if err != nil {
				b.Fatal(err)
			}
			var all []string
			for i := range 100 {
				all = append(all, fmt.Sprintf("%q", strings.Repeat(fmt.Sprint("text ", i, " "), 30)))
			}
			body := fmt.Sprintf(`{"model": "m", "dimensions": 1536, "encoding_format": %q, "input": [%s]}`, format, strings.Join(all, ","))
			post := func() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/v1/embeddings", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
			post()
			for b.Loop() {
				post()
			}
		})
	}
}
